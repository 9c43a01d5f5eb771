// A reader's finger on a game's events: which comes next, whether it may, and whether it is the one that is due.
import { equal, worded, wordedFact } from "./facts.js";
import { Fault } from "./fault.js";
import { hex } from "./hash.js";

/** @typedef {import("./facts.js").Event} Event */
/** @typedef {import("./facts.js").Fields} Fields */
/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./fault.js").Tally} Tally */

/** @type {Check} */
export const order = { name: "order", what: "Every event is one that the rules call for or allow where it stands." };
/** @type {Check} */
const clock = { name: "clock", what: "Time never runs backwards from one event to the next." };
/** @type {Check} */
const append = { name: "append", what: "What followed from one command carries its time and cause, and no command was taken twice." };

/** @type {Check} */
const crediting = { name: "credit", what: "Time during which no server ran was given back, and only between people." };

/** What may end a game from outside wherever a person is asked for something. */
export const endings = Object.freeze(["Resigned", "TimeUp", "Lost"]);

/** The log has no further event: the game is still running. */
export class LogEnds extends Error {}

export class Log {
  #at = 0;
  /** Whether the next event answers a command, and isn't due by what stands before it. */
  #asked = true;
  /** @type {Set<string>} causes of the commands so far, in hex */
  #causes = new Set();
  /** Of a game between people; against the house no time is given back. @type {import("./timing.js").Clock | null} */
  clock = null;

  /** @param {readonly Event[]} events @param {Tally} tally */
  constructor(events, tally) {
    this.events = events;
    this.tally = tally;
  }

  /** The next event, or null at the end. */
  peek() {
    return this.#at < this.events.length ? this.events[this.#at] : null;
  }

  /** The first event of a type in the whole log, wherever the finger is. @param {string} type */
  first(type) {
    return this.events.find((event) => event.type === type) ?? null;
  }

  /**
   * The next event, which must be of one of these types.
   * @param {...string} types
   * @returns {Event}
   * @throws {LogEnds}
   * @throws {Fault}
   */
  take(...types) {
    const next = this.peek();
    if (!next) throw new LogEnds();
    if (!types.includes(next.type)) {
      throw new Fault(order, next.version, "Something else must stand here.", types.join(" or "), wordedFact(next.type, next.fields));
    }
    this.tally.passed(order);
    const before = this.#at > 0 ? this.events[this.#at - 1].at : 0;
    if (next.at < before) {
      throw new Fault(clock, next.version, "It is older than the event before it.", `${before} or later`, worded(next.at));
    }
    this.tally.passed(clock);
    this.#append(next);
    this.#at += 1;
    return next;
  }

  /** @param {Event} next */
  #append(next) {
    const cause = hex(next.cause);
    if (this.#asked) {
      if (this.#causes.has(cause)) throw new Fault(append, next.version, "A command was taken twice.", "another cause", cause);
      this.#causes.add(cause);
      this.#asked = false;
      this.tally.passed(append);
      return;
    }
    const before = this.events[this.#at - 1];
    if (!equal(next.cause, before.cause) || !equal(next.at, before.at)) {
      const expected = `${worded(before.at)}, ${hex(before.cause)}`;
      throw new Fault(append, next.version, "It has another time or cause than what it follows from.", expected, `${worded(next.at)}, ${cause}`);
    }
  }

  /**
   * The next event, which must be exactly this one. Whoever asks says what that has shown.
   * @param {string} type
   * @param {Fields} fields undefined where nobody can know the value yet
   * @param {Check} check
   * @param {string} why in words, if it is another
   */
  due(type, fields, check, why) {
    const next = this.take(type);
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined && !equal(value, next.fields[name])) {
        throw new Fault(check, next.version, why, wordedFact(type, fields), wordedFact(type, next.fields));
      }
    }
    return next;
  }

  /** The event that was taken last. */
  get last() {
    return this.events[this.#at - 1];
  }

  /** Whether the next event is of this type and part of the same append as the one before. @param {string} type */
  goesOn(type) {
    const next = this.peek();
    return next !== null && next.type === type && equal(next.cause, this.last.cause);
  }

  /**
   * Whether the next event is what a person was asked for; false if the game was ended there from outside.
   * @param {string} type
   */
  turn(type) {
    for (;;) {
      this.#asked = true;
      const next = this.peek();
      if (!next) throw new LogEnds();
      if (next.type === "Credited" && this.clock) this.#credit(this.clock);
      else if (next.type === type || endings.includes(next.type)) return next.type === type;
      else this.take(type, ...endings);
    }
  }

  /** @param {import("./timing.js").Clock} clock */
  #credit(clock) {
    const credited = this.take("Credited");
    const wrong = clock.credit(credited.fields.ms, credited);
    if (wrong) throw new Fault(crediting, credited.version, "This much time can’t be given back here.", wrong, `${credited.fields.ms} ms at ${worded(credited.at)}`);
    this.tally.passed(crediting);
  }
}
