// Whether a game's opening is in the signed ledger: the leaf, its inclusion proof, the note's signature (docs/audit.md).
import { fromBase64, hex, plainSha256, same, utf8 } from "./hash.js";
import { read } from "./msgpack.js";

/** Says what doesn't hold. */
export class Unwitnessed extends Error {}

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
 * @throws {Unwitnessed}
 */
export async function checkWitness(told, opening) {
  const entry = bytes(told.entry, "the leaf");
  const [format, kind, game, version, hash] = /** @type {any[]} */ (read(entry));
  must(format === 1 && (kind === "Opening" || kind === "OpeningAfter"), "The leaf is no opening.");
  must(same(game, opening.game), "The leaf is another game’s.");
  must(version === opening.version && same(hash, opening.hash), "The leaf tells another history of the game.");
  const { size, root } = await signedTree(told.checkpoint, told.key);
  const proof = told.proof.map((each) => bytes(each, "a hash of the proof"));
  must(same(rootOf(told.index, size, leafHash(entry), proof), root), "The proof doesn’t lead to the signed tree.");
}

/** RFC 6962 section 2.1. @param {Uint8Array} entry */
function leafHash(entry) {
  return plainSha256(Uint8Array.of(0), entry);
}

/**
 * RFC 9162 section 2.1.3.2.
 * @param {number} index @param {number} size @param {Uint8Array} leaf @param {readonly Uint8Array[]} proof
 */
function rootOf(index, size, leaf, proof) {
  must(Number.isSafeInteger(index) && index >= 0 && index < size, "The leaf lies outside the signed tree.");
  let [at, last, hash] = [index, size - 1, leaf];
  for (const sibling of proof) {
    must(last > 0, "The proof is too long.");
    if (at % 2 === 1 || at === last) {
      hash = plainSha256(Uint8Array.of(1), sibling, hash);
      while (at % 2 === 0 && at > 0) [at, last] = [half(at), half(last)];
    } else {
      hash = plainSha256(Uint8Array.of(1), hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  must(last === 0, "The proof is too short.");
  return hash;
}

/** @param {number} number */
const half = (number) => Math.floor(number / 2);

/**
 * C2SP signed-note and tlog-checkpoint.
 * @param {string} note @param {string} key `name+hash+base64`
 * @returns {Promise<{size: number, root: Uint8Array}>}
 */
async function signedTree(note, key) {
  const [name, id, encoded] = key.split(/\+(?=[0-9a-f]{8}\+)|(?<=\+[0-9a-f]{8})\+/);
  const typed = bytes(encoded ?? "", "the key");
  must(typed.length === 33 && typed[0] === 1, "The key isn’t an Ed25519 key.");
  must(hex(plainSha256(utf8(`${name}\n`), typed).subarray(0, 4)) === id, "The key’s hash isn’t its own.");
  const split = note.indexOf("\n\n");
  const text = note.slice(0, split + 1);
  const [origin, size, root, ...rest] = text.split("\n");
  must(split > 0 && rest.length >= 1 && origin === name && /^(0|[1-9]\d{0,15})$/.test(size), "The checkpoint has another form.");
  const line = note.slice(split + 2).split("\n").find((each) => each.startsWith(`— ${name} `));
  const signature = bytes(line?.split(" ")[2] ?? "", "the signature");
  must(signature.length === 68 && hex(signature.subarray(0, 4)) === id, "No signature of this key stands there.");
  const raw = /** @type {Uint8Array<ArrayBuffer>} */ (typed.slice(1));
  const verifier = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
  const holds = await crypto.subtle.verify("Ed25519", verifier, new Uint8Array(signature.slice(4)), new Uint8Array(utf8(text)));
  must(holds, "The checkpoint’s signature isn’t this key’s.");
  return { size: Number(size), root: bytes(root, "the root") };
}

/** @param {string} text @param {string} what */
function bytes(text, what) {
  const found = fromBase64(text);
  if (!found) throw new Unwitnessed(`What stands for ${what} isn’t base64.`);
  return found;
}

/** @param {unknown} holds @param {string} why */
function must(holds, why) {
  if (!holds) throw new Unwitnessed(why);
}
