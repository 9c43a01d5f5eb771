// One game's log as this browser has chained it: bytes in, facts out, and whether they follow from what we hold.
import { link, origin } from "./verify/chain.js";
import { lifeFacts } from "./verify/game.js";
import { fromHex, same } from "./verify/hash.js";
import { read } from "./verify/msgpack.js";

/**
 * @typedef {{version: number, hash: Uint8Array, type: string, at_ms: number, [field: string]: any}} Fact
 * @typedef {{version: number, hash: Uint8Array}} Head
 * @typedef {Readonly<Record<string, readonly string[]>>} Fields names of a fact's fields, in stored order
 */

export class GameLog {
  /** @type {readonly Fact[]} */
  facts = [];
  /** @type {Head} */
  head;

  /** @param {string} game hex @param {(rules: string) => Fields} fieldsOf names of the facts a game adds to those of all games */
  constructor(game, fieldsOf) {
    this.game = game;
    this.fieldsOf = fieldsOf;
    this.head = { version: 0, hash: origin(fromHex(game)) };
  }

  /** Nothing held. */
  empty() {
    return new GameLog(this.game, this.fieldsOf);
  }

  /**
   * Takes events that follow what is held, all or none.
   * @param {readonly Uint8Array[]} bodies
   * @param {number} version of the last
   * @param {Uint8Array} hash8 the first eight bytes of its hash
   * @returns {boolean} false for a gap, a repeat, a reorder or a fork: nothing was taken
   */
  take(bodies, version, hash8) {
    if (this.head.version + bodies.length !== version) return false;
    let { hash } = this.head;
    const hashes = bodies.map((body) => (hash = link(hash, body)));
    if (!same(hash.subarray(0, 8), hash8)) return false;
    const facts = [...this.facts];
    bodies.forEach((body, at) => facts.push(this.#fact(body, this.head.version + 1 + at, hashes[at], facts[0])));
    this.facts = facts;
    this.head = { version, hash };
    return true;
  }

  /** Whether a head that was held before still lies on this log; true where it lies beyond it. @param {Head} head */
  passes(head) {
    const fact = this.facts[head.version - 1];
    return !fact || same(fact.hash, head.hash);
  }

  /**
   * @param {Uint8Array} body
   * @param {number} version
   * @param {Uint8Array} hash
   * @param {Fact | undefined} opened
   * @returns {Fact}
   */
  #fact(body, version, hash, opened) {
    const [, type, at_ms, , ...values] = /** @type {any[]} */ (read(body));
    const names = lifeFacts[type] ? Object.keys(lifeFacts[type]) : (this.fieldsOf(opened?.rules)[type] ?? []);
    return { ...Object.fromEntries(names.map((name, at) => [name, values[at]])), version, hash, type, at_ms };
  }
}
