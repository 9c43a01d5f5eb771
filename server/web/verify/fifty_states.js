// The Game of 50 States, `fifty-states/1`: its deal, the house's two policies and every fact from the deal to the result.
import { cast } from "../art/cast.js";
import { Stream, purposes } from "./chance.js";
import { between, bytes, int, seat, settingsOf } from "./facts.js";
import { Fault } from "./fault.js";
import { told } from "./fifty_states_told.js";
import { hex } from "./hash.js";
import { sealOf } from "./promises.js";
import { strategicTable } from "./strategic.js";

/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./fifty_states_told.js").Battle} Battle */
/** @typedef {import("./fifty_states_told.js").Between} Between */
/** @typedef {import("./rules.js").Outcome} Outcome */
/** @typedef {import("./rules.js").Table} Table */
/** @typedef {import("./log.js").Log} Log */

const cards = 50;
const handCards = 7;
const person = 0;
const house = 1;
const seatNumbers = [0, 1];

const relaxedPolicy = "uniform over the current hand, in every round\n";
const card = between(1, cards);
const battle = between(1, 0xffff);

/** @param {string} name @param {string} what @returns {Check} */
const check = (name, what) => ({ name, what });
const choosing = check("choices", "Each card the rival sealed, and its salt, is the one that its published policy draws from the mix.");
const opening = check("seals", "Each card the rival showed opens the seal that stood in the log before the person could choose.");
const committing = check("commits", "In each battle both players sealed one card, and none was shown before both seals stood.");
const revealing = check("seals", "Each card that was shown opens the seal its player had put over it.");
const holding = check("cards", "Each card that was played was in its seat’s hand, from the deal on.");
const unshown = check("cards", "No card was played that was known to be elsewhere.");
const capturing = check("captures", "Each battle went to the higher card, and the lower one to its winner.");
const rounds = check("rounds", "Each round ended when a hand was empty, and not before.");

/** @param {string} policy @returns {import("./rules.js").Mode} */
const againstHouse = (policy) => ({ people: [person], policy, settings: settingsOf({}) });

const clocks = settingsOf({ commit_seconds: between(1, 3600), reveal_seconds: between(1, 3600) });

/** @type {import("./rules.js").Rules} */
export const fiftyStates = {
  name: "fifty-states/1",
  facts: {
    Committed: { seat, battle, seal: bytes(32) },
    Revealed: { seat, battle, card, salt: bytes(32) },
    Played: { seat, battle, card },
    Captured: { seat, battle, card, discarded: card },
    RoundEnded: { round: int },
  },
  modes: { relaxed: againstHouse(relaxedPolicy), strategic: againstHouse(strategicTable), versus: { people: seatNumbers, policy: null, settings: clocks } },
  cast: cast.map((steward) => steward.slug),
  counts: [handCards, handCards],
  deal,
  play,
  told,
};

/**
 * Both hands, rising.
 * @param {Uint8Array} seed
 */
export function deal(seed) {
  const deck = new Stream(seed, purposes.deal, 0).shuffled(Array.from({ length: cards }, (_, at) => at + 1));
  return [deck.slice(0, handCards), deck.slice(handCards, 2 * handCards)].map(rising);
}

/**
 * From the deal to the result, or to where the game was ended from outside.
 * @param {Log} log
 * @param {Table} table
 * @returns {Outcome}
 */
function play(log, table) {
  return table.clock ? playBetween(log, table, table.clock) : playHouse(log, table);
}

/** @param {Log} log @param {Table} table @param {import("./timing.js").Clock} clock @returns {Outcome} */
function playBetween(log, table, clock) {
  const sides = new Sides(table.hands);
  for (let number = 1, round = 1; ; number++) {
    /** @type {Between} */
    const shown = { battle: number, round, sides: seatNumbers.map(() => ({ seal: null, card: null, salt: null, opens: false })), winner: null };
    table.battles.push(shown);
    const late = commits(log, shown, clock) ?? reveals(log, table.game, sides, shown, clock);
    if (late) return { owing: late };
    capture(log, sides, shown, shown.sides.map((side) => Number(side.card)));
    const result = endOfRound(log, sides, round);
    if (result) return result;
    if (sides.fresh) round += 1;
  }
}

/**
 * Both seals, in either order.
 * @param {Log} log @param {Between} shown @param {import("./timing.js").Clock} clock
 * @returns {readonly number[] | null} who owed one when the game was ended from outside
 */
function commits(log, shown, clock) {
  clock.begin("commit", log.last);
  const lacking = () => seatNumbers.filter((each) => shown.sides[each].seal === null);
  while (lacking().length > 0) {
    if (!log.turn("Committed")) return lacking();
    const { version, fields } = log.due("Committed", { battle: shown.battle }, committing, "It is not a seal for this battle.");
    if (!lacking().includes(fields.seat)) {
      throw new Fault(committing, version, "This seat has sealed a card already.", `seat ${lacking().join(" or ")}`, `seat ${fields.seat}`);
    }
    shown.sides[fields.seat].seal = hex(fields.seal);
    log.tally.passed(committing);
  }
  return null;
}

/**
 * Both cards, in either order, once both seals stand.
 * @param {Log} log @param {Uint8Array} game @param {Sides} sides @param {Between} shown @param {import("./timing.js").Clock} clock
 * @returns {readonly number[] | null} who owed one when the game was ended from outside
 */
function reveals(log, game, sides, shown, clock) {
  clock.begin("reveal", log.last);
  const lacking = () => seatNumbers.filter((each) => shown.sides[each].card === null);
  while (lacking().length > 0) {
    if (!log.turn("Revealed")) return lacking();
    const { version, fields } = log.due("Revealed", { battle: shown.battle }, revealing, "It is not a card of this battle.");
    const { seat, card, salt } = fields;
    if (!lacking().includes(seat)) {
      throw new Fault(revealing, version, "This seat has shown its card already.", `seat ${lacking().join(" or ")}`, `seat ${seat}`);
    }
    const side = shown.sides[seat];
    const seal = hex(sealOf(game, seat, shown.battle, card, salt));
    Object.assign(side, { card, salt: hex(salt), opens: seal === side.seal });
    if (!side.opens) throw new Fault(revealing, version, "Card and salt do not open the seal.", `seal ${side.seal}`, `seal ${seal}`);
    log.tally.passed(revealing);
    sides.lay(log, version, seat, card);
  }
  return null;
}

/** Against the house. @param {Log} log @param {Table} table @returns {Outcome} */
function playHouse(log, table) {
  const sides = new Sides(table.hands);
  for (let number = 1, round = 1; ; number++) {
    const due = table.seed && sides.hands ? choice(table.mode, table.seed, number, round, sides) : null;
    const seal = due ? sealOf(table.game, house, number, due.card, due.salt) : undefined;
    const sealed = log.due("Committed", { seat: house, battle: number, seal }, choosing, "The rival’s policy and the mix give another seal here.");
    if (due) log.tally.passed(choosing);
    /** @type {Battle} */
    const shown = {
      battle: number, round, person: null, winner: null,
      house: { seal: hex(sealed.fields.seal), card: null, salt: null, opens: false },
    };
    table.battles.push(shown);
    if (!log.turn("Revealed")) return { owing: [person] };
    fight(log, table.game, sides, shown);
    const result = endOfRound(log, sides, round);
    if (result) return result;
    if (sides.fresh) round += 1;
  }
}

/**
 * The end of a round, where a hand is empty.
 * @param {Log} log @param {Sides} sides @param {number} round
 * @returns {{winner: number, reason: string} | null} the result, if that was the last one
 */
function endOfRound(log, sides, round) {
  sides.fresh = false;
  if (!sides.roundIsOver()) return null;
  log.due("RoundEnded", { round }, rounds, "Another round ended.");
  log.tally.passed(rounds);
  sides.endRound();
  const out = seatNumbers.find((each) => sides.sizes[each] === 0);
  return out === undefined ? null : { winner: 1 - out, reason: "all_cards" };
}

/** The higher card wins. @param {Log} log @param {Sides} sides @param {{battle: number, winner: number | null}} shown @param {readonly number[]} laid by seat */
function capture(log, sides, shown, laid) {
  const winner = laid[0] > laid[1] ? 0 : 1;
  const captured = { seat: winner, battle: shown.battle, card: Math.min(...laid), discarded: Math.max(...laid) };
  log.due("Captured", captured, capturing, "The battle has another outcome.");
  log.tally.passed(capturing);
  shown.winner = winner;
  sides.captured[winner].push(captured.card);
}

/**
 * One battle from the house's opened seal to the capture.
 * @param {Log} log
 * @param {Uint8Array} game
 * @param {Sides} sides
 * @param {Battle} shown filled in as it goes
 */
function fight(log, game, sides, shown) {
  const number = shown.battle;
  const revealed = log.due("Revealed", { seat: house, battle: number }, opening, "It is not the rival’s card of this battle.");
  const { card: theirs, salt } = revealed.fields;
  const seal = hex(sealOf(game, house, number, theirs, salt));
  Object.assign(shown.house, { card: theirs, salt: hex(salt), opens: seal === shown.house.seal });
  if (!shown.house.opens) {
    throw new Fault(opening, revealed.version, "Card and salt do not open the seal.", `seal ${shown.house.seal}`, `seal ${seal}`);
  }
  log.tally.passed(opening);
  sides.lay(log, revealed.version, house, theirs);
  const played = log.due("Played", { seat: person, battle: number }, sides.holding, "It is not the person’s card of this battle.");
  const ours = played.fields.card;
  shown.person = ours;
  sides.lay(log, played.version, person, ours);
  capture(log, sides, shown, [ours, theirs]);
}

/** Both seats' cards. While the deal is a secret (the game still runs), the hands of round one are null. */
class Sides {
  /** @type {[number[], number[]]} taken in this round, playable from the next one on */
  captured = [[], []];
  sizes = [handCards, handCards];
  /** Whether a round has just begun. */
  fresh = false;
  /** @type {Set<number>} */
  seen = new Set();

  /** @param {number[][] | null} hands as dealt */
  constructor(hands) {
    this.holding = hands ? holding : unshown;
    this.hands = hands?.map((hand) => [...hand]) ?? null;
  }

  /**
   * Takes a card out of a seat's hand.
   * @param {Log} log
   * @param {number} version
   * @param {number} seat
   * @param {number} number
   */
  lay(log, version, seat, number) {
    const hand = this.hands?.[seat] ?? null;
    const held = hand ? hand.includes(number) : !this.seen.has(number);
    if (!held) {
      const expected = hand ? `one of ${hand.join(", ")}` : "a card that was not shown yet";
      throw new Fault(this.holding, version, `Seat ${seat} does not hold this card.`, expected, `card ${number}`);
    }
    log.tally.passed(this.holding);
    hand?.splice(hand.indexOf(number), 1);
    this.seen.add(number);
    this.sizes[seat] -= 1;
  }

  roundIsOver() {
    return this.sizes.includes(0);
  }

  /** Captured cards join the unplayed ones. After round one every card has been shown, so both hands are known to all. */
  endRound() {
    const before = this.hands ?? [[], []];
    const after = before.map((hand, seat) => rising([...hand, ...this.captured[seat]]));
    this.hands = after;
    this.sizes = after.map((hand) => hand.length);
    this.captured = [[], []];
    this.fresh = true;
  }
}

/**
 * What the house must seal now: card and salt.
 * @param {string} mode
 * @param {Uint8Array} seed
 * @param {number} number of the battle
 * @param {number} round
 * @param {Sides} sides
 */
function choice(mode, seed, number, round, sides) {
  const [theirs, own] = sides.hands ?? [[], []];
  const stream = new Stream(seed, purposes.choice, number);
  const at = mode === "relaxed" || round === 1 ? stream.index(own.length) : stream.weighted(weightsAt(own, theirs, sides.captured));
  return { card: own[at], salt: new Stream(seed, purposes.salt, number).block() };
}

/** @type {ReadonlyMap<string, readonly number[]>} */
const strategic = new Map(
  strategicTable.split("\n").slice(0, -1).map((line) => {
    const [key, ...weights] = line.split(" ");
    return [key, weights.map(Number)];
  }),
);

/**
 * The table's row for a position: one letter for each live card in rising order.
 * @param {readonly number[]} own
 * @param {readonly number[]} theirs
 * @param {readonly (readonly number[])[]} captured
 */
function weightsAt(own, theirs, captured) {
  const letters = [[own, "a"], [theirs, "b"], [captured[house], "A"], [captured[person], "B"]];
  const live = letters.flatMap(([hand, letter]) => Array.from(/** @type {number[]} */ (hand), (each) => /** @type {const} */ ([each, letter])));
  const key = live.sort(([one], [other]) => one - other).map(([, letter]) => letter).join("");
  const weights = strategic.get(key);
  if (!weights) throw new Error(`the table has no row ${key}`);
  return weights;
}

/** @param {readonly number[]} hand */
function rising(hand) {
  return [...hand].sort((one, other) => one - other);
}
