// One entry of the ledger: fetched with its way to the signed root, checked here, and told.
import { Declined, get } from "./http.js";
import { known } from "./ledger.js";
import { checkpointOf, keyOf } from "./verify/note.js";
import { entryOf } from "./verify/leaf.js";
import { fromBase64 } from "./verify/hash.js";
import { Unproven, checkInclusion, leafHash } from "./verify/tree.js";
import { draw } from "./views/leaf.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */
/** @typedef {{kind: string, fields: Readonly<Record<string, any>>, size: number}} Told `size`: of the signed tree it is in */

/** @implements {Page} */
export class LeafPage {
  /** @type {Told | null} */
  told = null;
  /** Why there is nothing to show. @type {string | null} */
  why = null;
  #ended = false;

  /** @param {App} app @param {number} index */
  constructor(app, index) {
    this.app = app;
    this.index = index;
  }

  begin() {
    void this.load();
  }

  end() {
    this.#ended = true;
  }

  async load() {
    try {
      this.told = proven(this.index, await get(`/api/ledger/leaves/${this.index}`));
    } catch (error) {
      if (error instanceof Unproven) this.why = `What the server gave doesn’t prove itself. ${error.message}`;
      else this.why = error instanceof Declined && error.status < 500 ? error.message : "The server didn’t answer. Load the page again in a moment.";
    }
    if (!this.#ended) this.app.changed();
  }

  title() {
    return `Entry ${this.index} of the ledger`;
  }

  draw() {
    return draw(this);
  }
}

/**
 * @param {number} index
 * @param {{index: number, entry: string, proof: string[], checkpoint: string, key: string}} told
 * @returns {Told}
 * @throws {Unproven}
 */
function proven(index, told) {
  const { key } = known();
  if (key !== null && key !== told.key) throw new Unproven("Its key is another than on your first visit.");
  const checkpoint = checkpointOf(told.checkpoint, keyOf(told.key));
  const entry = bytes(told.entry);
  checkInclusion(index, leafHash(entry), told.proof.map(bytes), checkpoint);
  return { ...entryOf(entry), size: checkpoint.size };
}

/** @param {string} text */
function bytes(text) {
  const found = fromBase64(text);
  if (!found) throw new Unproven("A part of it isn’t base64.");
  return found;
}
