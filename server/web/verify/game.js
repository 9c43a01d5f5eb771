// The life of any game: opening, seats, mixing, dealing, the end. What a game adds of its own is one value, `Rules` of rules.js.
import { rivalOf } from "./chance.js";
import * as shape from "./facts.js";
import { equal, worded } from "./facts.js";
import { Fault } from "./fault.js";
import { hex, same } from "./hash.js";
import { Log, LogEnds, endings, order } from "./log.js";
import { entropyHash, noEntropy, secretHash, seedOf, strategyHash } from "./promises.js";
import { Clock } from "./timing.js";

/** @typedef {import("./facts.js").Event} Event */
/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./fault.js").Tally} Tally */
/** @typedef {import("./rules.js").Battle} Battle */
/** @typedef {import("./rules.js").Rules} Rules */
/** @typedef {import("./rules.js").Settings} Settings */

/** @typedef {{over: boolean, mode: string, settings: Settings, openDeal: boolean, seed: Uint8Array | null, hands: number[][] | null, battles: Battle[], fault: Fault | null}} Walked */

const { bytes, flag, int, listOf, seat, seatOrNobody, settings, text, time } = shape;
/** @type {Facts} */
export const lifeFacts = {
  Opened: {
    rules: text, mode: text, settings, counts: flag, witnessed: flag, at_ms: time, key: int,
    secret_hash: bytes(0, 32), strategy_hash: bytes(32),
  },
  Seated: { seat, player: bytes(0, 16), rival: text, entropy_hash: bytes(0, 32) },
  Reserved: { seat, player: bytes(16) },
  Mixed: { seat, entropy: bytes(32) },
  Dealt: { counts: listOf(int, 2) },
  Resigned: { seat },
  TimeUp: { owing: listOf(seat) },
  Credited: { ms: shape.between(1, Number.MAX_SAFE_INTEGER) },
  Lost: { version: int, hash: bytes(32) },
  Finished: { winner: seatOrNobody, reason: text },
  Unsealed: { secret: bytes(32) },
};

/** @param {string} name @param {string} what @returns {Check} */
const check = (name, what) => ({ name, what });
const opening = check("opening", "The game was opened under rules, in a mode and with settings that are known here.");
const promise = check("secret", "The secret shown at the end is the one promised in the first event.");
const policy = check("policy", "The way the rival plays, promised in the first event, is the published one.");
const rival = check("rival", "The rival is the one that the secret draws.");
const seats = check("seats", "Each seat was taken once, by whom it is for, and nobody sat twice.");
const mixing = check("entropy", "One piece of entropy for each person went into the mix, as promised where it was.");
const dealing = check("deal", "The cards were dealt as soon as they could be, as many as the rules say.");
const deadline = check("deadline", "Time was up only when it had run out, for the seats that owed an action.");
const ending = check("result", "The result is the one that follows from all before it.");

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
  const { over, mode, settings, openDeal, seed, hands, battles } = life;
  return { over, mode, settings, openDeal, seed, hands, battles, fault };
}

class Life {
  /** @param {Uint8Array} game @param {Log} log @param {Rules} rules */
  constructor(game, log, rules) {
    this.game = game;
    this.log = log;
    this.rules = rules;
    this.over = false;
    this.mode = "";
    /** @type {Settings} */
    this.settings = {};
    /** Whether the settings fix the deal: there is neither a secret nor entropy then. */
    this.openDeal = false;
    this.dealt = false;
    /** @type {Uint8Array | null} */
    this.seed = null;
    /** @type {number[][] | null} */
    this.hands = null;
    /** @type {Battle[]} */
    this.battles = [];
    /** @type {readonly number[]} the seats that people have */
    this.people = [0];
    /** @type {(Uint8Array | null)[]} between people, for whom each seat is kept; null for whoever comes first */
    this.reserved = [null, null];
    /** @type {(Uint8Array | null)[]} who sits in each seat, empty for the house; null while it is free */
    this.seated = [null, null];
    /** @type {Uint8Array[]} what each seat promised of its entropy; empty for no promise */
    this.promised = [];
    /** @type {(Uint8Array | null)[]} */
    this.entropies = [null, noEntropy];
  }

  /** Every fact from the first to the last. */
  whole() {
    this.open();
    const outcome = !this.seat() ? { owing: this.free() } : !this.mix() ? { owing: this.unmixed() } : this.play();
    const result = "owing" in outcome ? this.ended(outcome.owing) : outcome;
    this.log.due("Finished", result, ending, "The result is another.");
    this.log.tally.passed(ending);
    if (!this.openDeal) this.unseal();
    const after = this.log.peek();
    if (after) throw new Fault(order, after.version, "The game is over: nothing may follow.", "nothing", after.type);
    this.over = true;
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
    const { people, policy: published, settings } = this.rules.modes[fields.mode];
    if (!settings.fits(fields.settings)) {
      throw new Fault(opening, version, "It can’t be played with these settings.", settings.what, worded(fields.settings));
    }
    this.mode = fields.mode;
    this.settings = Object.fromEntries(fields.settings);
    this.people = people;
    if (!this.house) this.entropies = [null, null];
    this.clock = new Clock(this.opened, this.settings);
    if (!this.house) this.log.clock = this.clock;
    this.fix();
    this.log.tally.passed(opening);
    const promised = published === null ? new Uint8Array(32) : strategyHash(published);
    if (!same(fields.strategy_hash, promised)) {
      throw new Fault(policy, version, "It promises another policy.", hex(promised), hex(fields.strategy_hash));
    }
    if (published !== null) this.log.tally.passed(policy);
    this.secret = this.secretShown();
  }

  /** The hands of an open deal, which promises no secret and counts nowhere. */
  fix() {
    const { version, fields } = this.log.events[0];
    this.hands = this.rules.openDeal?.(this.settings) ?? null;
    this.openDeal = this.hands !== null;
    const promised = this.openDeal ? 0 : 32;
    if (fields.secret_hash.length !== promised) {
      const expected = this.openDeal ? "empty: the settings fix the deal" : "32 bytes";
      throw new Fault(opening, version, "Its secret_hash must be another.", expected, worded(fields.secret_hash));
    }
    if (this.openDeal && fields.counts) {
      throw new Fault(opening, version, "An open deal can’t count: whoever chose it could know its result.", "counts false", "counts true");
    }
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
    if (!this.house) return this.seatPeople();
    this.sit(0, "");
    this.seatHouse();
    return true;
  }

  seatHouse() {
    const { cast } = this.rules;
    if (cast.length === 0) return this.sit(1, "");
    const drawn = this.secret ? rivalOf(this.secret, cast) : undefined;
    this.sit(1, drawn);
    if (drawn !== undefined) this.log.tally.passed(rival);
  }

  /** Two people, in either order. @returns {boolean} */
  seatPeople() {
    const opened = this.log.last;
    do this.reserve();
    while (this.log.goesOn("Reserved"));
    if (this.reserved.includes(null) && opened.fields.counts && this.log.peek()) {
      throw new Fault(opening, opened.version, "A game with a seat for whoever comes can’t count.", "counts false", "counts true");
    }
    this.clock?.begin(this.reserved.includes(null) ? "meeting" : "pairing", opened);
    while (this.free().length > 0) {
      if (!this.log.turn("Seated")) return false;
      const next = this.log.peek();
      const seat = next?.fields.seat;
      if (next && !this.free().includes(seat)) throw new Fault(seats, next.version, "This seat is taken.", `seat ${this.free().join(" or ")}`, `seat ${seat}`);
      this.sit(seat, "");
    }
    this.clock?.begin("mix", this.log.last);
    return true;
  }

  /** A seat that is kept for somebody, from the opening on. */
  reserve() {
    const { version, fields } = this.log.take("Reserved");
    const [first, second] = this.reserved;
    if (second !== null || (first !== null && fields.seat === 0)) {
      throw new Fault(seats, version, "This seat is kept for somebody already.", "nobody, or seat 1 behind seat 0", `seat ${fields.seat}`);
    }
    if (first !== null && same(first, fields.player)) {
      throw new Fault(seats, version, "Both seats are kept for the same player.", "another player", hex(fields.player));
    }
    this.reserved[fields.seat] = fields.player;
    this.log.tally.passed(seats);
  }

  /** The seats nobody sits in yet. */
  free() {
    return this.people.filter((seat) => this.seated[seat] === null);
  }

  /** @param {number} seat @param {string | undefined} name of the rival; empty for none, undefined if nobody can know it yet */
  sit(seat, name) {
    const { version, fields } = this.log.take("Seated");
    const person = this.people.includes(seat);
    /** @param {boolean} holds @param {Check} check @param {string} field @param {string} expected */
    const must = (holds, check, field, expected) => {
      if (!holds) throw new Fault(check, version, `Its ${field} must be another.`, expected, worded(fields[field]));
    };
    must(fields.seat === seat, seats, "seat", String(seat));
    must(fields.player.length === (person ? 16 : 0), seats, "player", person ? "16 bytes" : "empty");
    if (!this.house) {
      const [kept, other] = [this.reserved[seat], this.reserved[1 - seat] ?? this.seated[1 - seat]];
      must(kept === null || same(kept, fields.player), seats, "player", `${hex(kept ?? fields.player)}, for whom the seat is kept`);
      must(other === null || !same(other, fields.player), seats, "player", "another player than the other seat’s");
    }
    must(fields.entropy_hash.length === (this.house ? 0 : 32), seats, "entropy_hash", this.house ? "empty" : "32 bytes");
    if (person) must(fields.rival === "", seats, "rival", "empty");
    else if (name === undefined) must(this.rules.cast.includes(fields.rival), rival, "rival", "one of the cast");
    else must(fields.rival === name, rival, "rival", name || "empty");
    this.promised[seat] = fields.entropy_hash;
    this.seated[seat] = fields.player;
    this.log.tally.passed(seats);
  }

  /** The people who still owe their entropy. */
  unmixed() {
    return this.people.filter((seat) => this.entropies[seat] === null);
  }

  /** Whether everybody's entropy came, where any is needed. */
  mix() {
    if (this.openDeal) return true;
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
    const { game, mode, settings, people, battles } = this;
    const clock = this.house ? null : (this.clock ?? null);
    if (!this.openDeal) this.deal();
    const { seed, hands } = this;
    this.log.due("Dealt", { counts: this.rules.counts }, dealing, "Another number of cards was dealt.");
    this.log.tally.passed(dealing);
    this.dealt = true;
    return this.rules.play(this.log, { game, mode, settings, people, seed, hands, battles, clock });
  }

  /** The seed and the hands, if the secret is out. */
  deal() {
    const [one, other] = this.entropies;
    if (!one || !other) throw new Error("dealt before both have mixed");
    this.seed = this.secret ? seedOf(this.secret, this.game, [one, other]) : null;
    this.hands = this.seed && this.rules.deal(this.seed);
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
      const earliest = this.clock?.latestMs ?? 0n;
      if (BigInt(at) < earliest) throw new Fault(deadline, version, "Time was not up yet.", `${earliest} or later`, worded(at));
      if (!equal(fields.owing, [...owing])) {
        throw new Fault(deadline, version, "Other seats owed an action.", worded([...owing]), worded(fields.owing));
      }
      this.log.tally.passed(deadline);
    }
    if (type === "Lost") {
      if (fields.version >= version) throw new Fault(ending, version, "What was lost came after what is left.", `less than ${version}`, worded(fields.version));
      return { winner: null, reason: "lost" };
    }
    // Before any entropy stands in the log nobody can have seen a card, so nobody can have lost.
    if (!this.dealt && this.people.length === this.unmixed().length) return { winner: null, reason: "void" };
    if (type === "Resigned" && this.house && this.rules.cast.length === 0) return { winner: null, reason: "left" };
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
  }
}
