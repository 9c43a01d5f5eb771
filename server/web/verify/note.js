// Signed notes and the checkpoints in them (C2SP signed-note, tlog-checkpoint), with Ed25519 (RFC 8032).
import { hashes, verify } from "../vendor/noble/ed25519.js";
import { sha512 } from "../vendor/noble/sha2.js";
import { base64, fromBase64, hex, plainSha256, same, utf8 } from "./hash.js";
import { Unproven } from "./tree.js";

hashes.sha512 = sha512;

/** @typedef {{name: string, id: string, public: Uint8Array}} Key who signs, the key's id in hex, its 32 bytes */
/** @typedef {{origin: string, size: number, root: Uint8Array}} Checkpoint the ledger's name, and its tree */

const noteBytesMax = 1_000_000;
const signaturesMax = 100;
const keyBytes = 32;
const idBytes = 4;
const lineStart = "— ";

/** Control characters but the line feed, and halves of characters. */
const unwritable = /[\0-\x09\x0b-\x1f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const space = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/**
 * @param {string} text NAME+ID+BASE64(0x01 ‖ public key)
 * @returns {Key}
 * @throws {Unproven}
 */
export function keyOf(text) {
  const [name, id, encoded, ...rest] = splitTwice(text);
  const typed = encoded === undefined || rest.length ? null : fromBase64(encoded);
  must(isName(name), "The key has no name.");
  must(typed !== null && typed.length === keyBytes + 1 && typed[0] === 1, "The key is no Ed25519 key.");
  must(hex(plainSha256(utf8(`${name}\n`), typed).subarray(0, idBytes)) === id, "The key’s id isn’t its own.");
  return { name, id, public: typed.slice(1) };
}

/** At the first two pluses: base64 may have more. @param {string} text */
function splitTwice(text) {
  const [name, id, ...rest] = text.split("+");
  return rest.length ? [name, id, rest.join("+")] : [name, id];
}

/**
 * The checkpoint in a note that this key has signed. One false signature of it, or a second one, refuses the note.
 * @param {string} note
 * @param {Key} key
 * @returns {Checkpoint}
 * @throws {Unproven}
 */
export function checkpointOf(note, key) {
  must(utf8(note).length <= noteBytesMax && !unwritable.test(note), "The checkpoint is no note.");
  const split = note.lastIndexOf("\n\n");
  must(split >= 0 && note.endsWith("\n") && split + 2 < note.length, "The checkpoint is no signed note.");
  const text = note.slice(0, split + 1);
  const lines = note.slice(split + 2, -1).split("\n");
  must(lines.length <= signaturesMax, "The checkpoint has too many signatures.");
  const own = lines.map(signatureOf).filter(({ name, id }) => name === key.name && id === key.id);
  must(own.length > 0, "The checkpoint isn’t signed by this key.");
  must(own.length === 1, "The checkpoint is signed twice by this key.");
  must(signed(own[0].signature, utf8(text), key.public), "The checkpoint’s signature doesn’t fit its text.");
  return treeOf(text, key.name);
}

/** @param {string} line @returns {{name: string, id: string, signature: Uint8Array}} */
function signatureOf(line) {
  const [name, ...rest] = line.slice(lineStart.length).split(" ");
  const raw = fromBase64(rest.join(" "));
  must(line.startsWith(lineStart) && isName(name) && raw !== null && raw.length > idBytes, "The checkpoint has a line that is no signature.");
  return { name, id: hex(raw.subarray(0, idBytes)), signature: raw.slice(idBytes) };
}

/** @param {Uint8Array} signature @param {Uint8Array} text @param {Uint8Array} key */
function signed(signature, text, key) {
  try {
    return verify(signature, text, key, { zip215: false });
  } catch {
    return false; // No signature, or no key: wrong lengths, points off the curve.
  }
}

/** @param {string} text @param {string} name @returns {Checkpoint} */
function treeOf(text, name) {
  const lines = text.split("\n").slice(0, -1);
  must(lines.length >= 3 && !lines.includes(""), "The checkpoint has another form.");
  const [origin, size, encoded] = lines;
  must(origin === name, "The checkpoint is another ledger’s.");
  must(/^(0|[1-9]\d*)$/.test(size) && Number.isSafeInteger(Number(size)), "The checkpoint names no size.");
  const root = fromBase64(encoded);
  must(root !== null && root.length === keyBytes, "The checkpoint names no root.");
  return { origin, size: Number(size), root };
}

/** @param {string | undefined} name @returns {name is string} */
function isName(name) {
  return name !== undefined && name !== "" && !/[+\n]/.test(name) && !unwritable.test(name) && !space.test(name);
}

/** Whether two checkpoints tell of the same tree, as far as their sizes let anybody say. @param {Checkpoint} one @param {Checkpoint} other */
export function contradict(one, other) {
  return one.size === other.size && !same(one.root, other.root);
}

/** @param {Key} key */
export function keyText(key) {
  return `${key.name}+${key.id}+${base64(Uint8Array.of(1, ...key.public))}`;
}

/** @param {unknown} holds @param {string} why @returns {asserts holds} */
function must(holds, why) {
  if (!holds) throw new Unproven(why);
}
