// One game's log as this browser has chained it: bytes in, facts out, and whether they follow from what we hold.
import { link, origin } from "./verify/chain.js";
import { lifeFacts } from "./verify/game.js";
import { fromHex, same } from "./verify/hash.js";
import { read } from "./verify/msgpack.js";

/**
 * @typedef {{version: number, hash: Uint8Array, type: string, at_ms: number, [field: string]: any}} Fact
 * @typedef {{version: number, hash: Uint8Array}} Head
 * @typedef {Readonly<Record<string, readonly string[]>>} Fields names of a fact's fields, in stored order
 * @typedef {(kept: readonly Fact[], fresh: readonly Fact[]) => readonly Fact[]} Keep what stays in mind; the opening must
 * @typedef {{facts: Fields, keep: Keep}} Told what must be known of a game to read its log
 */

export class GameLog {
  /** What is kept of them, rising. @type {readonly Fact[]} */
  facts = [];
  /** Opening, seats and entropies, always kept. @type {readonly Fact[]} */
  opening = [];
  /** @type {Head} */
  head;
  /** Whether a head that was expected doesn't lie on this log. */
  strayed = false;
  /** A head seen before, which must lie on this log. @type {Head | null} */
  #expected = null;

  /**
   * @param {string} game hex
   * @param {(rules: string) => Told} toldOf
   */
  constructor(game, toldOf) {
    this.game = game;
    this.toldOf = toldOf;
    this.head = { version: 0, hash: origin(fromHex(game)) };
  }

  /** Nothing held. */
  empty() {
    return new GameLog(this.game, this.toldOf);
  }

  /** This log must pass through a head that was seen before, if it hasn't come so far. @param {Head | null} head */
  expect(head) {
    if (head && head.version > this.head.version) this.#expected = head;
  }

  /**
   * Takes events that follow what is held, all or none.
   * @param {readonly Uint8Array[]} bodies
   * @param {number} version of the last
   * @param {Uint8Array} hash8 the first eight bytes of its hash
   * @returns {boolean} false for a gap, a repeat, a reorder or a fork: nothing was taken
   */
  take(bodies, version, hash8) {
    const head = this.head;
    const expected = this.#expected;
    if (head.version + bodies.length !== version) return false;
    let { hash } = head;
    const hashes = bodies.map((body) => (hash = link(hash, body)));
    if (!same(hash.subarray(0, 8), hash8)) return false;
    /** @type {Fact[]} */
    const fresh = [];
    bodies.forEach((body, at) => fresh.push(this.#fact(body, head.version + 1 + at, hashes[at], this.facts[0] ?? fresh[0])));
    if (expected && head.version < expected.version && expected.version <= version) {
      this.strayed ||= !same(hashes[expected.version - head.version - 1], expected.hash);
    }
    this.opening = [...this.opening, ...fresh.filter(({ type }) => ["Opened", "Reserved", "Seated", "Mixed"].includes(type))];
    this.facts = this.toldOf((this.facts[0] ?? fresh[0])?.rules).keep(this.facts, fresh);
    this.head = { version, hash };
    return true;
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
    const names = lifeFacts[type] ? Object.keys(lifeFacts[type]) : (this.toldOf(opened?.rules).facts[type] ?? []);
    return { ...Object.fromEntries(names.map((name, at) => [name, values[at]])), version, hash, type, at_ms };
  }
}

/** All of them. @type {Keep} */
export const keepAll = (kept, fresh) => [...kept, ...fresh];
