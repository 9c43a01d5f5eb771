// The life of any game: opening, seats, mixing, dealing, the end. What a game adds of its own is one value, `Rules`.
import { rivalOf } from "./chance.js";
import * as shape from "./facts.js";
import { equal, worded } from "./facts.js";
import { Fault } from "./fault.js";
import { hex, same } from "./hash.js";
import { Log, LogEnds, endings, order } from "./log.js";
import { entropyHash, noEntropy, secretHash, seedOf, strategyHash } from "./promises.js";

/** @typedef {import("./facts.js").Event} Event */
/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./fault.js").Tally} Tally */

/**
 * One game, as a verifier knows it.
 * @typedef {object} Rules
 * @property {string} name with the rules' version, as `Opened` has it
 * @property {string} title for people
 * @property {Facts} facts its own, beside those of every game
 * @property {Readonly<Record<string, {policy: string | null}>>} modes the house's whole policy as published; null between people
 * @property {readonly string[]} cast the house's rivals, in the order a draw indexes
 * @property {readonly number[]} counts how many cards each seat is dealt
 * @property {(seed: Uint8Array) => number[][]} deal both hands
 * @property {(log: Log, table: Table) => Outcome} play from the deal to the result, or to where somebody resigned or was late
 * @property {(card: number) => string} cardName
 */

/**
 * What the checks know when the cards are dealt. Without the secret of a finished game, seed and hands are null.
 * @typedef {object} Table
 * @property {Uint8Array} game
 * @property {string} mode
 * @property {Uint8Array | null} seed
 * @property {number[][] | null} hands
 * @property {Battle[]} battles what `play` leaves for the reader of the report
 */

/** @typedef {{winner: number | null, reason: string} | {owing: readonly number[]}} Outcome a result, or who owed an action when the game was ended from outside */

/**
 * @typedef {object} Battle
 * @property {number} battle
 * @property {number} round
 * @property {{seal: string, card: number | null, salt: string | null, opens: boolean}} house seal and salt in hex; null before they are shown
 * @property {number | null} person
 * @property {number | null} winner seat
 */

/** @typedef {{over: boolean, seed: Uint8Array | null, hands: number[][] | null, battles: Battle[], fault: Fault | null}} Walked */

const { bytes, flag, int, listOf, seat, seatOrNobody, settings, text, time } = shape;
/** @type {Facts} */
export const lifeFacts = {
  Opened: {
    rules: text, mode: text, settings, counts: flag, witnessed: flag, at_ms: time, key: int,
    secret_hash: bytes(32), strategy_hash: bytes(32),
  },
  Seated: { seat, player: bytes(0, 16), rival: text, entropy_hash: bytes(0, 32) },
  Mixed: { seat, entropy: bytes(32) },
  Dealt: { counts: listOf(int, 2) },
  Resigned: { seat },
  TimeUp: { owing: listOf(seat) },
  Finished: { winner: seatOrNobody, reason: text },
  Unsealed: { secret: bytes(32) },
};

/** @param {string} name @param {string} what @returns {Check} */
const check = (name, what) => ({ name, what });
const opening = check("opening", "The game was opened under rules and in a mode that are known here; against the house nothing else can be set.");
const promise = check("secret", "The secret shown at the end is the one promised in the first event.");
const policy = check("policy", "The way the rival plays, promised in the first event, is the published one.");
const rival = check("rival", "The rival is the one that the secret draws.");
const seats = check("seats", "Each seat was taken once, in order, by whom it is for.");
const mixing = check("entropy", "One piece of entropy for each person went into the mix, as promised where it was.");
const dealing = check("deal", "The cards were dealt when the entropy was mixed, as many as the rules say.");
const deadline = check("deadline", "Time was up only after seven days, for the seats that owed an action.");
const ending = check("result", "The result is the one that follows from all before it.");

const openMsMax = 7 * 24 * 3600 * 1000;

/**
 * Walks a game's events in order and stops at the first that can't stand where it stands.
 * @param {Uint8Array} game
 * @param {readonly Event[]} events at least one, the first an `Opened` with these rules' name
 * @param {Rules} rules
 * @param {Tally} tally
 * @returns {Walked}
 */
export function walk(game, events, rules, tally) {
  const life = new Life(game, new Log(events, tally), rules);
  /** @type {Fault | null} */
  let fault = null;
  try {
    life.whole();
  } catch (stop) {
    if (stop instanceof Fault) fault = stop;
    else if (!(stop instanceof LogEnds)) throw stop;
  }
  const { over, seed, hands, battles } = life;
  return { over, seed, hands, battles, fault };
}

class Life {
  /** @param {Uint8Array} game @param {Log} log @param {Rules} rules */
  constructor(game, log, rules) {
    this.game = game;
    this.log = log;
    this.rules = rules;
    this.over = false;
    /** @type {Uint8Array | null} */
    this.seed = null;
    /** @type {number[][] | null} */
    this.hands = null;
    /** @type {Battle[]} */
    this.battles = [];
    /** @type {readonly number[]} the seats that people have */
    this.people = [0];
    /** @type {Uint8Array[]} what each seat promised of its entropy; empty for no promise */
    this.promised = [];
    /** @type {(Uint8Array | null)[]} */
    this.entropies = [null, noEntropy];
  }

  /** Every fact from the first to the last. */
  whole() {
    this.open();
    const dealt = this.seat() && this.mix();
    const outcome = dealt ? this.play() : { owing: this.unmixed() };
    const result = "owing" in outcome ? this.ended(outcome.owing) : outcome;
    this.log.due("Finished", result, ending, "The result is another.");
    this.log.tally.passed(ending);
    this.unseal();
  }

  open() {
    const { version, at, fields } = (this.opened = this.log.take("Opened"));
    if (fields.at_ms !== at) {
      throw new Fault(opening, version, "It names another time than its own.", worded(at), worded(fields.at_ms));
    }
    if (!Object.hasOwn(this.rules.modes, fields.mode)) {
      const known = Object.keys(this.rules.modes).join(", ");
      throw new Fault(opening, version, "Its mode is not known here.", known, fields.mode);
    }
    const { policy: published } = this.rules.modes[fields.mode];
    if (published === null) {
      this.people = [0, 1];
      this.entropies = [null, null];
    }
    if (this.house && fields.settings.length > 0) {
      throw new Fault(opening, version, "Against the house nothing can be set.", "no settings", worded(fields.settings));
    }
    this.log.tally.passed(opening);
    const promised = published === null ? new Uint8Array(32) : strategyHash(published);
    if (!same(fields.strategy_hash, promised)) {
      throw new Fault(policy, version, "It promises another policy.", hex(promised), hex(fields.strategy_hash));
    }
    if (published !== null) this.log.tally.passed(policy);
    this.secret = this.secretShown();
  }

  get house() {
    return this.people.length === 1;
  }

  /** S, if the log shows it and it is the one that was promised. */
  secretShown() {
    const secret = this.log.first("Unsealed")?.fields.secret ?? null;
    return secret && same(secretHash(this.game, secret), this.opened?.fields.secret_hash) ? secret : null;
  }

  /** Whether both seats were taken. */
  seat() {
    this.seated(0, "");
    if (this.house) {
      const drawn = this.secret ? rivalOf(this.secret, this.rules.cast) : undefined;
      this.seated(1, drawn);
      if (drawn !== undefined) this.log.tally.passed(rival);
      return true;
    }
    if (!this.log.turn("Seated")) return false;
    this.seated(1, "");
    return true;
  }

  /** @param {number} seat @param {string | undefined} name of the rival; empty for a person, undefined if nobody can know it yet */
  seated(seat, name) {
    const { version, fields } = this.log.take("Seated");
    const person = this.people.includes(seat);
    /** @param {boolean} holds @param {Check} check @param {string} field @param {string} expected */
    const must = (holds, check, field, expected) => {
      if (!holds) throw new Fault(check, version, `Its ${field} must be another.`, expected, worded(fields[field]));
    };
    must(fields.seat === seat, seats, "seat", String(seat));
    must(fields.player.length === (person ? 16 : 0), seats, "player", person ? "16 bytes" : "empty");
    must(fields.entropy_hash.length === (this.house ? 0 : 32), seats, "entropy_hash", this.house ? "empty" : "32 bytes");
    if (person) must(fields.rival === "", seats, "rival", "empty");
    else if (name === undefined) must(this.rules.cast.includes(fields.rival), rival, "rival", "one of the cast");
    else must(fields.rival === name, rival, "rival", name);
    this.promised[seat] = fields.entropy_hash;
    this.log.tally.passed(seats);
  }

  /** The people who still owe their entropy. */
  unmixed() {
    return this.people.filter((seat) => this.entropies[seat] === null);
  }

  /** Whether everybody's entropy came. */
  mix() {
    while (this.unmixed().length > 0) {
      if (!this.log.turn("Mixed")) return false;
      const mixed = this.log.take("Mixed");
      const { seat, entropy } = mixed.fields;
      if (!this.unmixed().includes(seat)) {
        throw new Fault(mixing, mixed.version, "This seat has no entropy to bring.", `seat ${this.unmixed().join(" or ")}`, `seat ${seat}`);
      }
      const hash = entropyHash(this.game, seat, entropy);
      if (this.promised[seat].length > 0 && !same(hash, this.promised[seat])) {
        throw new Fault(mixing, mixed.version, "It is not the entropy that was promised.", hex(this.promised[seat]), hex(hash));
      }
      this.entropies[seat] = entropy;
      this.log.tally.passed(mixing);
    }
    return true;
  }

  play() {
    const { game, opened, secret, entropies, battles } = this;
    if (!opened || !entropies[0] || !entropies[1]) throw new Error("dealt before both have mixed");
    this.seed = secret ? seedOf(secret, game, [entropies[0], entropies[1]]) : null;
    this.hands = this.seed ? this.rules.deal(this.seed) : null;
    this.log.due("Dealt", { counts: this.rules.counts }, dealing, "Another number of cards was dealt.");
    this.log.tally.passed(dealing);
    return this.rules.play(this.log, { game, mode: opened.fields.mode, seed: this.seed, hands: this.hands, battles });
  }

  /**
   * The result of a game that somebody resigned or that ran out of time.
   * @param {readonly number[]} owing the seats that owe an action
   */
  ended(owing) {
    const { version, type, at, fields } = this.log.take(...endings);
    if (type === "Resigned" && !this.people.includes(fields.seat)) {
      throw new Fault(ending, version, "The house never resigns.", `seat ${this.people.join(" or ")}`, `seat ${fields.seat}`);
    }
    if (type === "TimeUp") {
      const latest = BigInt(this.opened?.at ?? 0) + BigInt(openMsMax);
      if (BigInt(at) < latest) throw new Fault(deadline, version, "Time was not up yet.", `${latest} or later`, worded(at));
      if (!equal(fields.owing, [...owing])) {
        throw new Fault(deadline, version, "Other seats owed an action.", worded([...owing]), worded(fields.owing));
      }
      this.log.tally.passed(deadline);
    }
    // Before any entropy stands in the log nobody can have seen a card, so nobody can have lost.
    if (this.people.length === this.unmixed().length) return { winner: null, reason: "void" };
    if (type === "Resigned") return { winner: 1 - fields.seat, reason: "resigned" };
    return owing.length === 1 ? { winner: 1 - owing[0], reason: "time" } : { winner: null, reason: "both_late" };
  }

  unseal() {
    const { version, fields } = this.log.take("Unsealed");
    const promised = this.opened?.fields.secret_hash;
    const hash = secretHash(this.game, fields.secret);
    if (!same(hash, promised)) {
      throw new Fault(promise, version, "The secret is not the one promised in the first event.", hex(promised), hex(hash));
    }
    this.log.tally.passed(promise);
    const after = this.log.peek();
    if (after) throw new Fault(order, after.version, "The game is over: nothing may follow.", "nothing", after.type);
    this.over = true;
  }
}
