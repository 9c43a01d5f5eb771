// What this browser knows of the signed ledger: its key, from the first visit, and the last checkpoint, against which it holds the next.
import { get } from "./http.js";
import { browser } from "./storage.js";
import { base64, fromBase64 } from "./verify/hash.js";
import { checkpointOf, keyOf } from "./verify/note.js";
import { Unproven, checkConsistency } from "./verify/tree.js";

/** @typedef {import("./verify/note.js").Checkpoint} Checkpoint */
/** @typedef {{size: number, proof: readonly string[] | null, checkpoint: string | null, key: string}} Told what the server answers */

const restMs = 60_000;

/** @returns {{key: string | null, checkpoint: Checkpoint | null}} */
export function known() {
  const kept = browser.read("checkpoint");
  const root = typeof kept?.root === "string" ? fromBase64(kept.root) : null;
  const checkpoint = root && Number.isSafeInteger(kept.size) ? { origin: String(kept.origin), size: kept.size, root } : null;
  return { key: browser.read("ledger"), checkpoint };
}

/** Holds the ledger against what was seen of it, at every visit and now and then, and says when it went another way. */
export class Ledger {
  /** What is wrong with it. @type {string | null} */
  why = null;
  #lookedAt = -restMs;

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.why = browser.read("ledger-fork")?.why ?? null;
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void this.look());
  }

  /** Looks, unless it did a moment ago. No answer is no news: there is a next time. */
  async look() {
    if (performance.now() - this.#lookedAt < restMs) return;
    this.#lookedAt = performance.now();
    const { checkpoint } = known();
    try {
      this.#take(await get(`/api/ledger/consistency?size=${checkpoint?.size ?? 0}`), checkpoint);
    } catch (error) {
      if (error instanceof Unproven) this.#alarm(error.message, null);
    }
    this.changed();
  }

  /** @param {Told} told @param {Checkpoint | null} before @throws {Unproven} */
  #take(told, before) {
    const key = browser.read("ledger");
    if (key !== null && key !== told.key) return this.#alarm("Its key is another than on your first visit.", told);
    const fresh = told.checkpoint === null ? null : checkpointOf(told.checkpoint, keyOf(told.key));
    if (before && (fresh === null || fresh.size < before.size)) return this.#alarm("It is shorter now than it was.", null);
    if (fresh === null) return;
    try {
      if (before) checkConsistency(before, fresh, (told.proof ?? []).map((each) => fromBase64(each) ?? new Uint8Array()));
    } catch (error) {
      if (error instanceof Unproven) return this.#alarm(error.message, told);
      throw error;
    }
    browser.write("ledger", told.key);
    browser.write("checkpoint", { origin: fresh.origin, size: fresh.size, root: base64(fresh.root), note: told.checkpoint });
    if (browser.read("ledger-fork")?.told === null) browser.drop("ledger-fork"); // It was only behind.
    this.why = browser.read("ledger-fork")?.why ?? null;
  }

  /** Two signed notes that don't fit are kept for good: they are proof against whoever signed them. @param {string} why @param {Told | null} told */
  #alarm(why, told) {
    this.why = why;
    if (browser.read("ledger-fork")?.told) return;
    browser.write("ledger-fork", { why, told, before: browser.read("checkpoint") });
  }

  /** @returns {import("./views/frame.js").Notice[]} */
  notices() {
    return this.why === null ? [] : [{ grave: true, text: `The ledger isn’t the one that this browser saw before. ${this.why} This browser keeps what it saw.` }];
  }
}
