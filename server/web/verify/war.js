// War: deal, turns, wars and every fact from the deal to the result. One engine plays all variants.
import { Stream, purposes } from "./chance.js";
import { between, listOf, seat } from "./facts.js";
import { Fault } from "./fault.js";
import { same } from "./hash.js";
import { openDeal } from "./open_deal.js";
import { causeOf } from "./promises.js";
import { cardName, toldOf } from "./war_told.js";
import { variants } from "./war_variants.js";

/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./rules.js").Outcome} Outcome */
/** @typedef {import("./rules.js").Rules} Rules */
/** @typedef {import("./rules.js").Table} Table */
/** @typedef {import("./log.js").Log} Log */
/** @typedef {import("./war_told.js").Battle} Battle */
/** @typedef {import("./war_variants.js").Variant} Variant */
/** @typedef {{winner: number | null, reason: string}} Result */
/** @typedef {number | null} Slot a card's place in a pile; null while nobody can know which card lies there */

const cards = 52;
const ranks = 13;
const handCards = 26;
const seatNumbers = [0, 1];
/** In the causes of what the server asks itself. */
const serverSeat = 255;

const card = between(0, cards - 1);
const battle = between(1, 0xffff);

/** @param {string} name @param {string} what @returns {Check} */
const check = (name, what) => ({ name, what });
const agreeing = check("turns", "Each battle was turned as soon as its seats had agreed to it, and none was agreed to twice.");
const hurrying = check("overdue", "Where a turn was overdue, the clock made it, and not before its time.");
const turning = check("cards", "Each card that was turned was the top one of its pile, from the deal on.");
const unshown = check("cards", "No card was turned that was known to be elsewhere.");
const laying = check("wars", "Each war was fought after a tie only, with as many cards face down as the rules say.");
const taking = check("captures", "Each battle went to the higher rank, with all the cards in play.");

export const [playbook, gameweave, classic] = variants.map(rulesOf);

/** @param {Variant} variant @returns {Rules} */
function rulesOf(variant) {
  const { name, title, settings, timed } = variant;
  return {
    name,
    facts: {
      Readied: { seat, through: battle },
      Turned: { battle, cards: listOf(card, 2) },
      Laid: { battle, counts: listOf(between(0, cards), 2) },
      Taken: { battle, seat, count: between(0, cards) },
    },
    modes: { house: { people: [0], policy: null, settings }, versus: { people: [0, 1], policy: null, settings: timed } },
    cast: [],
    counts: [handCards, handCards],
    deal,
    openDeal: ({ seed }) => (seed === undefined ? null : openDeal(seed)),
    play: (log, table) => play(variant, log, table),
    told: toldOf(title),
  };
}

/**
 * Both piles, top card first.
 * @param {Uint8Array} seed
 */
export function deal(seed) {
  const deck = new Stream(seed, purposes.deal, 0).shuffled(Array.from({ length: cards }, (_, at) => at));
  return [deck.slice(0, handCards), deck.slice(handCards)];
}

/**
 * From the deal to the result, or to where the game was ended from outside.
 * @param {Variant} variant
 * @param {Log} log
 * @param {Table} table
 * @returns {Outcome}
 */
function play(variant, log, table) {
  const field = new Field(variant, log, table);
  const agreed = seatNumbers.map((seat) => (table.people.includes(seat) ? 0 : Infinity)); // the house always has
  for (let number = 1; ; number++) {
    const lacking = () => seatNumbers.filter((seat) => agreed[seat] < number);
    if (lacking().length > 0) table.clock?.begin("turn", log.last);
    while (lacking().length > 0) {
      if (!log.turn("Readied")) return { owing: lacking() };
      if (table.clock && madeByClock(log, table.game, table.clock)) overdue(log, lacking(), number, agreed, table.clock);
      else agree(log, lacking(), number, variant.timesMax, agreed);
    }
    const result = field.fight(number);
    if (result) return result;
  }
}

/**
 * A seat's consent to the next battles.
 * @param {Log} log
 * @param {readonly number[]} lacking the seats that haven't agreed to the next battle
 * @param {number} number of the next battle
 * @param {number} timesMax
 * @param {number[]} agreed the last battle that each seat has agreed to
 */
function agree(log, lacking, number, timesMax, agreed) {
  const { version, fields } = log.take("Readied");
  const { seat, through } = fields;
  if (!lacking.includes(seat)) {
    throw new Fault(agreeing, version, "This seat has nothing to agree to.", `seat ${lacking.join(" or ")}`, `seat ${seat}`);
  }
  const most = number + timesMax - 1;
  if (through < number || through > most) {
    const expected = most === number ? `battle ${number}` : `battle ${number} to ${most}`;
    throw new Fault(agreeing, version, "Nobody can agree to that many battles here.", expected, `battle ${through}`);
  }
  agreed[seat] = through;
  log.tally.passed(agreeing);
}

/**
 * Whether the next turn is the clock's: its cause says so.
 * @param {Log} log @param {Uint8Array} game @param {import("./timing.js").Clock} clock
 */
function madeByClock(log, game, { dueMs }) {
  const cause = log.peek()?.cause ?? new Uint8Array();
  return same(cause, causeOf(game, serverSeat, new Uint8Array(16), `time ${dueMs}`, "CallTime", 0));
}

/**
 * The overdue turn of every seat that lacks it, made by the clock in one append.
 * @param {Log} log @param {readonly number[]} lacking @param {number} number of the next battle @param {number[]} agreed
 * @param {import("./timing.js").Clock} clock
 */
function overdue(log, lacking, number, agreed, { earliestMs, endsMs }) {
  for (const seat of lacking) {
    const { version, at } = log.due("Readied", { seat, through: number }, hurrying, "The clock turns one battle, for who has not.");
    if (BigInt(at) < earliestMs || BigInt(at) >= endsMs) {
      throw new Fault(hurrying, version, "The clock turned at a wrong time.", `${earliestMs} or later, and before ${endsMs}`, String(at));
    }
    agreed[seat] = number;
    log.tally.passed(hurrying);
  }
}

/** Both piles, and what is done with them. While the deal is a secret (the game still runs), most slots are null. */
class Field {
  /** @type {Set<number>} cards of which everybody knows where they are */
  placed = new Set();

  /** @param {Variant} variant @param {Log} log @param {Table} table */
  constructor(variant, log, table) {
    this.variant = variant;
    this.log = log;
    this.table = table;
    /** @type {Slot[][]} top first */
    this.piles = table.hands?.map((pile) => [...pile]) ?? seatNumbers.map(() => Array(handCards).fill(null));
    this.turning = table.hands ? turning : unshown;
  }

  /**
   * One battle with all its wars.
   * @param {number} number
   * @returns {Result | null} null: another battle follows
   */
  fight(number) {
    /** @type {Battle} */
    const shown = { battle: number, turned: [], laid: [], taken: [], piles: [] };
    this.table.battles.push(shown);
    /** @type {Slot[][]} each seat's cards in play, in played order */
    const inPlay = [[], []];
    for (;;) {
      const [one, other] = this.turn(shown, inPlay).map((each) => each % ranks);
      if (one !== other) {
        const winner = one > other ? 0 : 1;
        this.take(shown, winner, [...inPlay[winner], ...inPlay[1 - winner]]);
        return this.after(number, winner);
      }
      const short = this.short(this.variant.leastBefore) ?? this.lay(shown, inPlay);
      if (short && this.variant.tableCleared) this.clear(shown, inPlay, short.winner);
      if (short) return short;
    }
  }

  /**
   * Each seat's top card, face up.
   * @param {Battle} shown
   * @param {Slot[][]} inPlay
   * @returns {number[]}
   */
  turn(shown, inPlay) {
    const tops = this.piles.map((pile) => pile.shift() ?? null);
    const cards = tops.includes(null) ? undefined : tops;
    const { version, fields } = this.log.due("Turned", { battle: shown.battle, cards }, this.turning, "Other cards lie on top of the piles.");
    for (const seat of seatNumbers) {
      if (!cards) this.appear(version, seat, tops[seat], fields.cards[seat]);
      this.placed.add(fields.cards[seat]);
      inPlay[seat].push(fields.cards[seat]);
    }
    this.log.tally.passed(this.turning);
    shown.turned.push(fields.cards);
    return fields.cards;
  }

  /**
   * A turned card, as far as anybody can know.
   * @param {number} version
   * @param {number} seat
   * @param {Slot} top
   * @param {number} turned
   */
  appear(version, seat, top, turned) {
    if (top === null ? !this.placed.has(turned) : top === turned) return;
    const expected = top === null ? "a card that was not shown yet" : cardName(top);
    throw new Fault(this.turning, version, `It can’t be the top card of seat ${seat}.`, expected, cardName(turned));
  }

  /**
   * The end of the game where a war can't be fought; null if it can.
   * @param {number} least how many cards each seat must have left
   * @returns {Result | null}
   */
  short(least) {
    const [one, other] = this.piles.map((pile) => pile.length);
    if (one >= least && other >= least) return null;
    const { fewer, alike } = this.variant.short;
    return one === other ? { winner: null, reason: alike } : { winner: one > other ? 0 : 1, reason: fewer };
  }

  /**
   * The cards of a war, face down.
   * @param {Battle} shown
   * @param {Slot[][]} inPlay
   */
  lay(shown, inPlay) {
    const counts = this.piles.map((pile) => this.variant.laid(pile.length, this.table.settings));
    this.log.due("Laid", { battle: shown.battle, counts }, laying, "Another number of cards must be laid.");
    this.log.tally.passed(laying);
    for (const seat of seatNumbers) inPlay[seat].push(...this.piles[seat].splice(0, counts[seat]));
    shown.laid.push(counts);
    return this.short(this.variant.leastAfter);
  }

  /**
   * @param {Battle} shown
   * @param {number} seat that takes them
   * @param {Slot[]} won in the order in which they go under its pile, if nothing is drawn
   */
  take(shown, seat, won) {
    const { battle } = shown;
    this.log.due("Taken", { battle, seat, count: won.length }, taking, "The battle has another outcome.");
    this.log.tally.passed(taking);
    this.piles[seat].push(...(this.variant.shuffled ? this.shuffled(won, battle) : won));
    shown.taken.push({ seat, count: won.length });
    shown.piles = this.piles.map((pile) => pile.length);
  }

  /** @param {Slot[]} won @param {number} battle @returns {Slot[]} */
  shuffled(won, battle) {
    const { seed } = this.table;
    if (seed) return new Stream(seed, purposes.returnOrder, battle).shuffled(won);
    for (const each of won) if (each !== null) this.placed.delete(each);
    return won.map(() => null);
  }

  /**
   * The cards in play go to the winner, or each seat's own back to it.
   * @param {Battle} shown
   * @param {Slot[][]} inPlay
   * @param {number | null} winner
   */
  clear(shown, inPlay, winner) {
    if (winner === null) for (const seat of seatNumbers) this.take(shown, seat, inPlay[seat]);
    else this.take(shown, winner, [...inPlay[winner], ...inPlay[1 - winner]]);
  }

  /**
   * What follows from a battle's end.
   * @param {number} number
   * @param {number} winner of the battle
   * @returns {Result | null}
   */
  after(number, winner) {
    const { variant, table, piles } = this;
    if (piles[1 - winner].length === 0) return { winner, reason: "all_cards" };
    if (number < variant.limit(table.settings)) return null;
    const [one, other] = piles.map((pile) => pile.length);
    const ahead = one === other || !variant.limitCounts ? null : one > other ? 0 : 1;
    return { winner: ahead, reason: "battle_limit" };
  }
}
