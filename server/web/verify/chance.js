// Chance that anybody can recompute: one stream a purpose and battle, and the draws from it (docs/audit.md, Chance).
import { exactly, hmac, wide } from "./hash.js";

export const purposes = Object.freeze({ deal: 1, choice: 2, salt: 3, returnOrder: 4, rival: 5 });

/** A stream of big-endian 32-bit words. The key is the seed, but for the rival's draw S. */
export class Stream {
  /** @type {number[]} */
  #words = [];
  #block = 0;
  #key;
  #place;

  /**
   * @param {Uint8Array} key 32 bytes
   * @param {number} purpose one of `purposes`
   * @param {number} battle 0 where it isn't one battle's
   */
  constructor(key, purpose, battle) {
    this.#key = exactly(key, 32);
    this.#place = [wide(purpose, 1), wide(battle, 2)];
  }

  /** The next block of 32 bytes: the whole of a salt. */
  block() {
    return hmac(this.#key, "statecraft stream v1", ...this.#place, wide(this.#block++, 4));
  }

  /** The next word, 0 to 2^32 - 1. */
  word() {
    if (this.#words.length === 0) {
      const block = this.block();
      const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
      for (let at = 0; at < block.length; at += 4) this.#words.push(view.getUint32(at));
    }
    return /** @type {number} */ (this.#words.shift());
  }

  /**
   * An integer from 0 to bound - 1, each as likely as the others: what would favour some is thrown away.
   * @param {bigint} bound above 0
   */
  below(bound) {
    if (bound <= 0n) throw new RangeError(`below ${bound}`);
    const bits = bound === 1n ? 0 : (bound - 1n).toString(2).length;
    const words = Math.max(1, Math.ceil(bits / 32));
    const space = 1n << BigInt(32 * words);
    for (;;) {
      let drawn = 0n;
      for (let left = words; left > 0; left--) drawn = (drawn << 32n) + BigInt(this.word());
      if (drawn < space - (space % bound)) return drawn % bound;
    }
  }

  /**
   * An index into something of that many.
   * @param {number} count at least 1
   */
  index(count) {
    return Number(this.below(BigInt(count)));
  }

  /**
   * @template T
   * @param {readonly T[]} deck
   * @returns {T[]} a shuffled copy
   */
  shuffled(deck) {
    const cards = [...deck];
    for (let i = cards.length - 1; i > 0; i--) {
      const j = this.index(i + 1);
      [cards[i], cards[j]] = [cards[j], cards[i]];
    }
    return cards;
  }

  /**
   * An index drawn by weight.
   * @param {readonly number[]} weights whole numbers, at least one above 0
   */
  weighted(weights) {
    const drawn = this.below(weights.reduce((sum, weight) => sum + BigInt(weight), 0n));
    let sum = 0n;
    return weights.findIndex((weight) => (sum += BigInt(weight)) > drawn);
  }
}

/**
 * The rival that S draws.
 * @param {Uint8Array} secret S
 * @param {readonly string[]} cast slugs in their published order
 */
export function rivalOf(secret, cast) {
  return cast[new Stream(secret, purposes.rival, 0).index(cast.length)];
}
