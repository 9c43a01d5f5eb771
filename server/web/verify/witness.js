// Whether a game's opening is in the signed ledger: the leaf, its inclusion proof, the note's signature (docs/audit.md).
import { fromBase64, same } from "./hash.js";
import { NotShortest, read } from "./msgpack.js";
import { checkpointOf, keyOf } from "./note.js";
import { Unproven, checkInclusion, leafHash } from "./tree.js";

/**
 * @typedef {object} Told what the server answers
 * @property {string} key the ledger's verifier key
 * @property {number} index of the leaf
 * @property {string} entry the leaf, in base64
 * @property {readonly string[]} proof hashes, in base64
 * @property {string} checkpoint a signed note
 */

/**
 * @param {Told} told
 * @param {{game: Uint8Array, version: number, hash: Uint8Array}} opening where the game stood when both seats were taken
 * @returns {import("./note.js").Checkpoint} that it is under
 * @throws {Unproven}
 */
export function checkWitness(told, opening) {
  const entry = bytes(told.entry, "the leaf");
  const [format, kind, game, version, hash] = values(entry);
  must(format === 1 && (kind === "Opening" || kind === "OpeningAfter"), "The leaf is no opening.");
  must(game instanceof Uint8Array && same(game, opening.game), "The leaf is another game’s.");
  must(version === opening.version && hash instanceof Uint8Array && same(hash, opening.hash), "The leaf tells another history of the game.");
  const checkpoint = checkpointOf(told.checkpoint, keyOf(told.key));
  checkInclusion(told.index, leafHash(entry), told.proof.map((each) => bytes(each, "a hash of the proof")), checkpoint);
  return checkpoint;
}

/** @param {Uint8Array} entry @returns {any[]} */
function values(entry) {
  try {
    const found = read(entry);
    return Array.isArray(found) ? found : [];
  } catch (error) {
    if (error instanceof NotShortest) throw new Unproven("The leaf isn’t in the shortest form.");
    throw error;
  }
}

/** @param {string} text @param {string} what */
function bytes(text, what) {
  const found = fromBase64(text);
  must(found, `What stands for ${what} isn’t base64.`);
  return found;
}

/** @param {unknown} holds @param {string} why @returns {asserts holds} */
function must(holds, why) {
  if (!holds) throw new Unproven(why);
}
