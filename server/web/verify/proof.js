// A proof (docs/audit.md, The proof): one file that shows a finished game, its two leaves, and both under a signed checkpoint.
import { readSaved } from "./chain.js";
import { Fault, Tally } from "./fault.js";
import { fromBase64 } from "./hash.js";
import { check } from "./index.js";
import { leafOf, mustTell, told } from "./leaf.js";
import { checkpointOf, keyOf } from "./note.js";
import { Unproven, checkInclusion, leafHash } from "./tree.js";

/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./index.js").Report} Report */
/** @typedef {import("./note.js").Checkpoint} Checkpoint */
/** @typedef {{index: number, entry: Uint8Array, proof: Uint8Array[]}} Place a leaf, and the way from it to the root */

/**
 * @typedef {object} Proven
 * @property {Report} report of the game, with the proof's own checks before its; its failure is the game's own
 * @property {string | null} failure of everything but the game itself
 * @property {string} key as the file has it; empty if it has none
 * @property {Checkpoint | null} checkpoint null where it isn't signed by the key
 * @property {{opening: number, closing: number} | null} places of the leaves
 */

const headLines = 3;
const lineBytesMax = 1_000_000;
const start = '{"format":"statecraft-proof/';

/** @type {Check} */
const form = { name: "proof", what: "Key, checkpoint and leaves stand in the published form, to the byte." };
/** @type {Check} */
const signature = { name: "signature", what: "The checkpoint of the ledger is signed by the key that the file names." };
/** @type {Check} */
const inclusion = { name: "inclusion", what: "The game’s opening and closing are leaves of the ledger under that checkpoint." };
/** @type {Check} */
const leaves = { name: "leaves", what: "The leaves say what the game’s events say." };

/** @param {string} text */
export const isProof = (text) => text.startsWith(start);

/**
 * @param {string} text of the file, as `textOf` of chain.js makes it from bytes
 * @returns {Proven}
 */
export function checkProof(text) {
  const { lines, game } = split(text);
  const report = check(game);
  const tally = new Tally();
  /** @type {Proven} */
  const proven = { report, failure: null, key: "", checkpoint: null, places: null };
  try {
    judge(proven, lines, game, tally);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    proven.failure = fault.why;
    if (!tally.counts.has(fault.check)) tally.counts.set(fault.check, 0);
    const own = Array.from(tally.counts, ([{ name, what }, count]) => ({ name, what, count, ok: fault.check.name !== name }));
    return { ...proven, report: { ...report, checks: [...own, ...report.checks] } };
  }
  const own = Array.from(tally.counts, ([{ name, what }, count]) => ({ name, what, count, ok: true }));
  return { ...proven, report: { ...report, checks: [...own, ...report.checks] } };
}

/** @param {string} text */
function split(text) {
  let end = 0;
  const lines = [];
  for (let at = 0; at < headLines; at++) {
    const next = text.indexOf("\n", end);
    if (next < 0) break;
    lines.push(text.slice(end, next));
    end = next + 1;
  }
  return { lines, game: text.slice(end) };
}

/** @param {Proven} proven what is found is put in @param {readonly string[]} lines @param {string} text the game's @param {Tally} tally */
function judge(proven, lines, text, tally) {
  const { key, checkpoint: note } = within(form, () => headOf(lines));
  const places = within(form, () => lines.slice(1).map(placeOf));
  tally.passed(form);
  proven.key = key;
  const checkpoint = within(signature, () => checkpointOf(note, keyOf(key)));
  tally.passed(signature);
  proven.checkpoint = checkpoint;
  for (const { index, entry, proof } of places) {
    within(inclusion, () => checkInclusion(index, leafHash(entry), proof, checkpoint));
    tally.passed(inclusion);
  }
  const [opening, closing] = places;
  within(inclusion, () => {
    if (opening.index >= closing.index) throw new Unproven("The closing stands before the opening.");
  });
  proven.places = { opening: opening.index, closing: closing.index };
  const said = within(leaves, () => places.map(({ entry }) => leafOf(entry)));
  if (!proven.report.ok) return; // What the leaves are held against must hold itself.
  const { game, stored } = readSaved(text, new Tally());
  if (!game) throw new TypeError("a game that checks out has an id");
  const due = told(game, stored);
  for (const [at, leaf] of [due.opening, due.closing].entries()) {
    within(leaves, () => mustTell(said[at], leaf));
    tally.passed(leaves);
  }
}

/**
 * @template T
 * @param {Check} what is being checked @param {() => T} work
 * @returns {T}
 */
function within(what, work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unproven) throw new Fault(what, null, error.message, "", "");
    throw error;
  }
}

/** @param {readonly string[]} lines */
function headOf(lines) {
  must(lines.length === headLines && lines.every((line) => line.length <= lineBytesMax), "A proof begins with three lines: key and checkpoint, the opening’s leaf, the closing’s.");
  const { format, key, checkpoint } = objectOf(lines[0]);
  must(format === "statecraft-proof/1" && typeof key === "string" && typeof checkpoint === "string", "The first line has the format, the key and the checkpoint.");
  must(lines[0] === JSON.stringify({ format, key, checkpoint }), "The first line isn’t written in the one form that counts.");
  return { key, checkpoint };
}

/** @param {string} line @returns {Place} */
function placeOf(line) {
  const { index, entry, proof } = objectOf(line);
  must(Number.isSafeInteger(index) && typeof entry === "string" && Array.isArray(proof), "A leaf’s line has index, entry and proof.");
  must(line === JSON.stringify({ index, entry, proof }), "A leaf’s line isn’t written in the one form that counts.");
  return { index, entry: bytesOf(entry), proof: proof.map(bytesOf) };
}

/** @param {string} line @returns {any} */
function objectOf(line) {
  // What isn't UTF-8 was read as this character, and every byte counts.
  must(!line.includes("\ufffd"), "A line isn’t UTF-8.");
  let values;
  try {
    values = JSON.parse(line);
  } catch {
    throw new Unproven("A line isn’t JSON.");
  }
  must(values !== null && typeof values === "object" && !Array.isArray(values), "A line is a JSON object.");
  return values;
}

/** @param {unknown} text */
function bytesOf(text) {
  const found = typeof text === "string" ? fromBase64(text) : null;
  must(found, "Leaves and hashes are base64.");
  return found;
}

/** @param {unknown} holds @param {string} why @returns {asserts holds} */
function must(holds, why) {
  if (!holds) throw new Unproven(why);
}
