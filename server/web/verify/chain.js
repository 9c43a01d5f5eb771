// The saved file and its hash chain (docs/audit.md, The saved game and Hashes). Every byte of the file counts.
import { Fault } from "./fault.js";
import { fromBase64, fromHex, hex, sha256 } from "./hash.js";

/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./fault.js").Tally} Tally */
/** @typedef {{version: number, hash: Uint8Array, body: Uint8Array}} Stored an event as the log holds it */
/** @typedef {{game: Uint8Array | null, stored: Stored[], fault: Fault | null}} Saved what stands in the file before its first fault */

/** @type {Check} */
const form = { name: "form", what: "Every line stands in the published form, to the byte." };
/** @type {Check} */
const chain = { name: "chain", what: "Every event’s hash follows from its bytes and the hash before it, so that none can change without all that follow." };

const header = /^\{"format":"statecraft-game\/1","game":"([0-9a-f]{32})"\}$/;
const line = /^\{"version":([1-9][0-9]*),"hash":"([0-9a-f]{64})","body":"([A-Za-z0-9+/=]*)"\}$/;

const headerForm = '{"format":"statecraft-game/1","game":"32 hex digits"} and a line feed';
/** @param {number} version */
const lineForm = (version) => `{"version":${version},"hash":"64 hex digits","body":"base64"} and a line feed`;

/**
 * The text of a saved file. What isn't UTF-8 becomes a character that no line may hold, and a byte order mark stays.
 * @param {Uint8Array} bytes
 */
export function textOf(bytes) {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** The hash of an empty log. @param {Uint8Array} game 16 bytes */
export function origin(game) {
  return sha256("statecraft game v1", game);
}

/** The hash of the event with `body` behind the one with hash `before`. @param {Uint8Array} before @param {Uint8Array} body */
export function link(before, body) {
  return sha256("statecraft event v1", before, body);
}

/**
 * Reads up to the first line that is not in the form or not the next of the chain.
 * @param {string} text
 * @param {Tally} tally
 * @returns {Saved}
 */
export function readSaved(text, tally) {
  const lines = text.split("\n");
  const rest = lines.pop(); // what stands behind the last line feed: nothing, or the file was cut
  if (rest !== "") lines.push(rest + " (no line feed)");
  /** @type {Saved} */
  const saved = { game: null, stored: [], fault: null };
  try {
    saved.game = readHeader(lines[0] ?? "");
    tally.passed(form);
    /** @type {Uint8Array} */
    let before = origin(saved.game);
    for (let version = 1; version < lines.length; version++) {
      const next = readLine(lines[version], version);
      tally.passed(form);
      const due = link(before, next.body);
      if (hex(due) !== hex(next.hash)) {
        throw new Fault(chain, version, "Its bytes and the hash before it do not give its hash.", hex(due), hex(next.hash));
      }
      tally.passed(chain);
      saved.stored.push(next);
      before = next.hash;
    }
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    saved.fault = fault;
  }
  return saved;
}

/** @param {string} text */
function readHeader(text) {
  const found = header.exec(text);
  if (!found) throw new Fault(form, null, "The first line is not that of a saved game.", headerForm, shown(text));
  return fromHex(found[1]);
}

/**
 * @param {string} text
 * @param {number} version that must stand there
 * @returns {Stored}
 */
function readLine(text, version) {
  const found = line.exec(text);
  if (!found) throw new Fault(form, version, "Its line is not in the published form.", lineForm(version), shown(text));
  if (found[1] !== String(version)) {
    throw new Fault(form, version, "Another event stands in its place.", `event ${version}`, `event ${found[1]}`);
  }
  const body = fromBase64(found[3]);
  if (!body) throw new Fault(form, version, "Its body is not base64.", "padded base64 without spare bits", shown(found[3]));
  return { version, hash: fromHex(found[2]), body };
}

/** @param {string} text */
function shown(text) {
  return text === "" ? "nothing" : text.length > 200 ? text.slice(0, 200) + "…" : text;
}
