// The ledger's trees and notes as the page checks them: published values, and every tree up to forty leaves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromBase64, fromHex, hex, plainSha256, same, utf8 } from "../../server/web/verify/hash.js";
import { checkpointOf, contradict, keyOf, keyText } from "../../server/web/verify/note.js";
import { Unproven, checkConsistency, checkInclusion, leafHash } from "../../server/web/verify/tree.js";

const known = JSON.parse(readFileSync(new URL("../vectors/tlog.json", import.meta.url), "utf8"));
const bytes = (text) => fromBase64(text ?? "") ?? new Uint8Array();
const taken = (work) => {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof Unproven)) throw error;
    return false;
  }
};

// ---------------------------------------------------------------- published proofs

for (const { file, leafIdx, treeSize, leafHash: leaf, root, proof, wantErr } of known.proof_vectors.inclusion) {
  test(`inclusion: ${file}`, () => {
    const tree = { size: treeSize, root: bytes(root) };
    assert.equal(taken(() => checkInclusion(leafIdx, bytes(leaf), (proof ?? []).map(bytes), tree)), !wantErr);
  });
}

for (const { file, size1, size2, root1, root2, proof, wantErr } of known.proof_vectors.consistency) {
  test(`consistency: ${file}`, () => {
    const [old, fresh] = [{ size: size1, root: bytes(root1) }, { size: size2, root: bytes(root2) }];
    assert.equal(taken(() => checkConsistency(old, fresh, (proof ?? []).map(bytes))), !wantErr);
  });
}

test("the hashes of leaves are the published ones", () => {
  const { leaf_of_empty, leaf_of_ascii_L123456 } = known.rfc6962_hasher;
  assert.equal(hex(leafHash(new Uint8Array())), leaf_of_empty);
  assert.equal(hex(leafHash(utf8("L123456"))), leaf_of_ascii_L123456);
});

// ---------------------------------------------------------------- every small tree, word for word as RFC 6962 has it

const leaves = Array.from({ length: 41 }, (_, at) => leafHash(utf8(`leaf ${at}`)));
const half = (n) => (n <= 2 ? 1 : 2 ** Math.floor(Math.log2(n - 1)));
const root = (first, end) => {
  if (end - first === 1) return leaves[first];
  const middle = first + half(end - first);
  return plainSha256(Uint8Array.of(1), root(first, middle), root(middle, end));
};
const path = (at, first, end) => {
  if (end - first === 1) return [];
  const middle = first + half(end - first);
  return at < middle ? [...path(at, first, middle), root(middle, end)] : [...path(at, middle, end), root(first, middle)];
};
const grown = (old, first, end, whole) => {
  if (old === end) return whole ? [] : [root(first, end)];
  const middle = first + half(end - first);
  return old <= middle ? [...grown(old, first, middle, whole), root(middle, end)] : [...grown(old, middle, end, false), root(first, middle)];
};
const flipped = (given) => given.map((each, at) => (at === 7 ? each ^ 4 : each));
const changed = (proof) => [...proof.map((_, at) => proof.map((each, index) => (index === at ? flipped(each) : each))), proof.slice(1), [...proof, leaves[0]]];

test("every leaf of every small tree is proved, and by no changed proof", () => {
  for (let size = 1; size <= 40; size++) {
    const tree = { size, root: root(0, size) };
    for (let at = 0; at < size; at++) {
      const proof = path(at, 0, size);
      checkInclusion(at, leaves[at], proof, tree);
      for (const wrong of proof.length ? changed(proof) : [[leaves[0]]]) assert.ok(!taken(() => checkInclusion(at, leaves[at], wrong, tree)));
      assert.ok(!taken(() => checkInclusion(at, flipped(leaves[at]), proof, tree)));
      assert.ok(!taken(() => checkInclusion(at, leaves[at], proof, { size, root: flipped(tree.root) })));
      assert.ok(!taken(() => checkInclusion(size, leaves[at], proof, tree)));
    }
  }
});

test("every small tree begins with every smaller one, and no changed proof says so", () => {
  for (let size = 1; size <= 40; size++) {
    for (let old = 1; old <= size; old++) {
      const [before, after] = [{ size: old, root: root(0, old) }, { size, root: root(0, size) }];
      const proof = grown(old, 0, size, true);
      checkConsistency(before, after, proof);
      const wrong = proof.length ? changed(proof) : [[leaves[0]]];
      for (const each of wrong) assert.ok(!taken(() => checkConsistency(before, after, each)), `${old} to ${size}`);
      assert.ok(!taken(() => checkConsistency({ size: old, root: flipped(before.root) }, after, proof)));
      assert.ok(!taken(() => checkConsistency(before, { size, root: flipped(after.root) }, proof)));
    }
  }
  assert.ok(!taken(() => checkConsistency({ size: 0, root: leaves[0] }, { size: 1, root: leaves[0] }, [])));
});

// ---------------------------------------------------------------- notes

// C2SP signed-note.md, Example, and golang/mod sumdb/note: see tests/test_notes.py.
const foo = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const peter = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const sum = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
const body = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";

test("published keys are read and written the same", () => {
  for (const each of [foo, peter, sum]) assert.equal(keyText(keyOf(each)), each);
});

test("keys of another form, length, algorithm or id are refused", () => {
  const { wrong_length, unknown_algorithm } = known.bad_vkeys;
  const shorter = Array.from(peter, (_, at) => peter.slice(0, at));
  const other = Array.from(peter, (each, at) => peter.slice(0, at) + String.fromCharCode(each.charCodeAt(0) + 1) + peter.slice(at + 1));
  for (const each of ["", wrong_length, unknown_algorithm, ...shorter, ...other]) assert.ok(!taken(() => keyOf(each)), each);
});

const own = JSON.parse(process.env.STATECRAFT_NOTES ?? "null");

test("a checkpoint signed in Python is read, and no changed character of it is taken", () => {
  assert.ok(own, "the notes come from tests/test_proof_js.py");
  const key = keyOf(own.key);
  const { size, root } = checkpointOf(own.note, key);
  assert.deepEqual({ size, root: hex(root) }, { size: own.size, root: own.root });
  for (let at = 0; at < own.note.length; at++) {
    const wrong = own.note.slice(0, at) + (own.note[at] === "a" ? "b" : "a") + own.note.slice(at + 1);
    assert.ok(!taken(() => checkpointOf(wrong, key)), JSON.stringify(wrong));
    assert.ok(!taken(() => checkpointOf(own.note.slice(0, at), key)));
  }
  for (const each of own.wrong) assert.ok(!taken(() => checkpointOf(each, key)), JSON.stringify(each));
  for (const each of own.right) assert.equal(checkpointOf(each, key).size, own.size);
  assert.ok(!taken(() => checkpointOf(own.note, keyOf(foo))));
});

test("a text that another key has signed is nobody's checkpoint", () => {
  assert.ok(!taken(() => checkpointOf(`${body}\n— example.com/behind-the-sofa ${"A".repeat(96)}\n`, keyOf(foo))));
});

test("two trees of one size contradict each other, two of other sizes don't by themselves", () => {
  const tree = { origin: "a", size: 3, root: fromHex("00".repeat(32)) };
  assert.ok(contradict(tree, { ...tree, root: leaves[0] }));
  assert.ok(!contradict(tree, { ...tree }));
  assert.ok(!contradict(tree, { ...tree, size: 4, root: leaves[0] }));
  assert.ok(!same(tree.root, leaves[0]));
});
