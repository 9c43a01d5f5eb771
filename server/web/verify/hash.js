// Bytes: SHA-256, HMAC, hex, base64, fixed widths. The only place that knows how text and numbers become bytes to hash.
import { hmac as hmacOf } from "../vendor/noble/hmac.js";
import { sha256 as sha256Of } from "../vendor/noble/sha2.js";

const utf8Encoder = new TextEncoder();
const digitPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * @param {...Uint8Array} parts
 * @returns {Uint8Array} all parts behind each other
 */
export function join(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * SHA-256 (FIPS 180-4) of a domain string, its zero byte and the fields after it, 32 bytes.
 * @param {string} domain without the zero byte
 * @param {...Uint8Array} fields
 */
export function sha256(domain, ...fields) {
  return sha256Of(join(utf8(domain + "\0"), ...fields));
}

/** SHA-256 of what others have given a form of its own (RFC 6962, C2SP), without a domain. @param {...Uint8Array} parts */
export function plainSha256(...parts) {
  return sha256Of(join(...parts));
}

/**
 * HMAC-SHA256 (RFC 2104) of a domain string, its zero byte and the fields after it, 32 bytes.
 * @param {Uint8Array} key
 * @param {string} domain without the zero byte
 * @param {...Uint8Array} fields
 */
export function hmac(key, domain, ...fields) {
  return hmacOf(sha256Of, key, join(utf8(domain + "\0"), ...fields));
}

/**
 * @param {number} value
 * @param {number} width in bytes, at most 4
 * @returns {Uint8Array} big-endian
 */
export function wide(value, width) {
  if (!Number.isInteger(value) || value < 0 || value >= 256 ** width) throw new RangeError(`${value} in ${width} bytes`);
  return Uint8Array.from({ length: width }, (_, at) => Math.floor(value / 256 ** (width - 1 - at)) % 256);
}

/**
 * The same bytes, or a crash: a field of another width would let two different inputs hash alike.
 * @param {Uint8Array} field
 * @param {number} width in bytes
 */
export function exactly(field, width) {
  if (field.length !== width) throw new RangeError(`a field of ${width} bytes, not ${field.length}`);
  return field;
}

/** @param {string} text */
export function utf8(text) {
  return utf8Encoder.encode(text);
}

/**
 * @param {Uint8Array} bytes
 * @returns {string | null} null if the bytes are no UTF-8
 */
export function fromUtf8(bytes) {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} two lower-case digits a byte
 */
export function hex(bytes) {
  let digits = "";
  for (const byte of bytes) digits += digitPairs[byte];
  return digits;
}

/** @param {string} digits an even number of hex digits */
export function fromHex(digits) {
  if (!/^(?:[0-9a-f]{2})*$/.test(digits)) throw new RangeError("not lower-case hex");
  const bytes = new Uint8Array(digits.length / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = parseInt(digits.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

/**
 * @param {Uint8Array} bytes
 * @returns {string} RFC 4648 section 4, padded
 */
export function base64(bytes) {
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/**
 * @param {string} text
 * @returns {Uint8Array | null} null if `text` isn't the one padded base64 of any bytes
 */
export function fromBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return base64(bytes) === text ? bytes : null;
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
export function same(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
