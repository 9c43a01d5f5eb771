// A strict reader of event bodies: msgpack in the shortest form, without floats, maps and extensions, and nothing after it.
import { fromUtf8 } from "./hash.js";

/** @typedef {null | boolean | number | bigint | string | Uint8Array | Values} Value integers beyond 2^53 are bigints */
/** @typedef {Value[]} Values */

/** Arrays in arrays; an event needs two or three. */
const depthMax = 8;

/** These bytes are not one msgpack value in its shortest form. */
export class NotShortest extends Error {}

/**
 * @param {Uint8Array} bytes
 * @returns {Value}
 * @throws {NotShortest} with what is wrong, in words
 */
export function read(bytes) {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (reader.at !== bytes.length) throw new NotShortest(`${bytes.length - reader.at} bytes stand after the event`);
  return value;
}

class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /**
   * The next value. The bytes of the format are those of the msgpack specification, "Formats".
   * @param {number} depth
   * @returns {Value}
   */
  value(depth) {
    const byte = this.take(1)[0];
    if (byte <= 0x7f) return byte;
    if (byte >= 0xe0) return byte - 0x100;
    if (byte >= 0x90 && byte <= 0x9f) return this.array(byte - 0x90, depth);
    if (byte >= 0xa0 && byte <= 0xbf) return this.text(byte - 0xa0);
    switch (byte) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xc4: return this.take(this.size(1, 0));
      case 0xc5: return this.take(this.size(2, 0x100));
      case 0xc6: return this.take(this.size(4, 0x10000));
      case 0xcc: return this.positive(1, 0x80n);
      case 0xcd: return this.positive(2, 0x100n);
      case 0xce: return this.positive(4, 0x10000n);
      case 0xcf: return this.positive(8, 0x100000000n);
      case 0xd0: return this.negative(1, -0x20n);
      case 0xd1: return this.negative(2, -0x80n);
      case 0xd2: return this.negative(4, -0x8000n);
      case 0xd3: return this.negative(8, -0x80000000n);
      case 0xd9: return this.text(this.size(1, 0x20));
      case 0xda: return this.text(this.size(2, 0x100));
      case 0xdb: return this.text(this.size(4, 0x10000));
      case 0xdc: return this.array(this.size(2, 0x10), depth);
      case 0xdd: return this.array(this.size(4, 0x10000), depth);
      default: throw new NotShortest(`an event has no value that begins with byte 0x${byte.toString(16)}`);
    }
  }

  /** @param {number} length */
  take(length) {
    if (length > this.bytes.length - this.at) throw new NotShortest("the event ends too early");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** @param {number} width in bytes */
  unsigned(width) {
    return this.take(width).reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  }

  /**
   * @param {number} width of the length that follows, in bytes
   * @param {number} least the smallest length that no shorter form can hold
   */
  size(width, least) {
    const size = Number(this.unsigned(width));
    if (size < least) throw new NotShortest(`a length of ${size} stands in ${width} bytes`);
    return size;
  }

  /**
   * @param {number} width in bytes
   * @param {bigint} least the smallest value that no shorter form can hold
   */
  positive(width, least) {
    const value = this.unsigned(width);
    if (value < least) throw new NotShortest(`the number ${value} stands in ${width} bytes`);
    return integer(value);
  }

  /**
   * @param {number} width in bytes
   * @param {bigint} above the smallest value that a shorter form could hold; numbers from it on have one
   */
  negative(width, above) {
    const value = BigInt.asIntN(8 * width, this.unsigned(width));
    if (value >= above) throw new NotShortest(`the number ${value} stands in ${width} bytes`);
    return integer(value);
  }

  /** @param {number} length in bytes */
  text(length) {
    const text = fromUtf8(this.take(length));
    if (text === null) throw new NotShortest("a text is not UTF-8");
    return text;
  }

  /**
   * @param {number} length
   * @param {number} depth
   * @returns {Values}
   */
  array(length, depth) {
    if (depth === depthMax) throw new NotShortest(`more than ${depthMax} arrays in each other`);
    const values = [];
    for (let left = length; left > 0; left--) values.push(this.value(depth + 1));
    return values;
  }
}

/** @param {bigint} value */
function integer(value) {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
