// The ledger's Merkle tree (RFC 6962 section 2.1): whether a leaf is in it, and whether one tree begins with another.
import { join, plainSha256, same } from "./hash.js";

/** Says what doesn't hold. */
export class Unproven extends Error {}

/** @typedef {{size: number, root: Uint8Array}} Tree how many leaves, and the hash over them all */

const hashBytes = 32;

/** @param {Uint8Array} entry */
export function leafHash(entry) {
  return plainSha256(Uint8Array.of(0), entry);
}

/** @param {Uint8Array} left @param {Uint8Array} right */
function nodeHash(left, right) {
  return plainSha256(Uint8Array.of(1), join(left, right));
}

/**
 * Whether the leaf at an index is in a tree (RFC 9162 section 2.1.3.2).
 * @param {number} index @param {Uint8Array} leaf its hash @param {readonly Uint8Array[]} proof @param {Tree} tree
 * @throws {Unproven}
 */
export function checkInclusion(index, leaf, proof, { size, root }) {
  must(Number.isSafeInteger(index) && index >= 0 && index < size, `A tree of ${size} leaves has no leaf ${index}.`);
  mustBeHashes([leaf, root, ...proof]);
  let hash = leaf;
  for (const { sibling, left } of climb(index, size - 1, proof)) hash = left ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  must(same(hash, root), `Leaf ${index} and its proof give another root.`);
}

/**
 * Whether a tree begins with an older one (RFC 9162 section 2.1.4.2). No proof is defined for an empty older tree.
 * @param {Tree} old @param {Tree} fresh @param {readonly Uint8Array[]} proof
 * @throws {Unproven}
 */
export function checkConsistency(old, fresh, proof) {
  must(Number.isSafeInteger(old.size) && Number.isSafeInteger(fresh.size) && old.size > 0 && old.size <= fresh.size, `No proof leads from ${old.size} leaves to ${fresh.size}.`);
  if (old.size === fresh.size) {
    must(proof.length === 0, "A tree needs no proof that it is itself.");
    must(same(old.root, fresh.root), `There are two trees of ${old.size} leaves.`);
    return;
  }
  must(proof.length > 0, "The proof is missing.");
  mustBeHashes([old.root, fresh.root, ...proof]);
  const whole = isPowerOfTwo(old.size);
  // Where the older tree is one node of the newer, its root is the hash that the proof leaves out.
  const [first, ...path] = whole ? [old.root, ...proof] : proof;
  let [node, last] = [old.size - 1, fresh.size - 1];
  while (node % 2 === 1) [node, last] = [half(node), half(last)];
  let [before, after] = [first, first];
  for (const { sibling, left } of climb(node, last, path)) {
    if (left) before = nodeHash(sibling, before);
    after = left ? nodeHash(sibling, after) : nodeHash(after, sibling);
  }
  must(same(before, old.root), `The proof gives another root for the ${old.size} leaves before.`);
  must(same(after, fresh.root), `The proof gives another root for the ${fresh.size} leaves after.`);
}

/**
 * Each hash of a path to the root, and whether it stands on the left.
 * @param {number} node where the path begins, in its level @param {number} last the level's last node
 * @param {readonly Uint8Array[]} path
 */
function climb(node, last, path) {
  const steps = [];
  for (const sibling of path) {
    must(last > 0, "The proof is too long.");
    const left = node % 2 === 1 || node === last;
    steps.push({ sibling, left });
    // A node without a right neighbour is its own parent.
    if (left) while (node % 2 === 0 && node > 0) [node, last] = [half(node), half(last)];
    [node, last] = [half(node), half(last)];
  }
  must(last === 0, "The proof is too short.");
  return steps;
}

/** @param {number} size */
function isPowerOfTwo(size) {
  while (size % 2 === 0) size /= 2;
  return size === 1;
}

/** Beyond 32 bits there are no shifts. @param {number} number */
const half = (number) => Math.floor(number / 2);

/** @param {readonly Uint8Array[]} hashes */
function mustBeHashes(hashes) {
  for (const each of hashes) must(each.length === hashBytes, `A hash has ${hashBytes} bytes, ${each.length} came.`);
}

/** @param {unknown} holds @param {string} why @returns {asserts holds} */
function must(holds, why) {
  if (!holds) throw new Unproven(why);
}
