// The second implementation of War against vectors, golden games and their broken twins.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromHex } from "../../server/web/verify/hash.js";
import { check } from "../../server/web/verify/index.js";
import { mulberry32, openDeal } from "../../server/web/verify/open_deal.js";
import * as promises from "../../server/web/verify/promises.js";
import { classic, deal, gameweave, playbook } from "../../server/web/verify/war.js";
import { cardName } from "../../server/web/verify/war_told.js";
import { dropping, flipped, golden, refused, refusedTwin, setting, tests, text, weekMs } from "./refusing.mjs";
import { find, opened, place, saved, twin } from "./twins.mjs";

const [ten, woven, left, full, short, seeded] = ["playbook", "gameweave", "left", "classic", "classic-short", "classic-seed-12"].map((name) => `war-${name}`);

// ---------------------------------------------------------------- vectors

const vectors = JSON.parse(readFileSync(new URL("vectors/classic_seeds.json", tests), "utf8"));
const written = (cards) => cards.map((card) => "23456789TJQKA"[card % 13] + "SHCD"[Math.floor(card / 13)]);

test("the generator of open deals gives the words of the vectors", () => {
  const word = mulberry32(12);
  assert.deepEqual(vectors.first_outputs_seed12.map(() => word() / 2 ** 32), vectors.first_outputs_seed12);
});

test("its words are those of whole-number arithmetic, from any seed", () => {
  const mask = 2n ** 32n - 1n;
  for (const seed of [0, 1, 2 ** 31, 2 ** 32 - 1, 0x92d68ca2]) {
    const word = mulberry32(seed);
    for (let state = BigInt(seed), left = 50; left > 0; left--) {
      state = (state + 0x6d2b79f5n) & mask;
      let mixed = ((state ^ (state >> 15n)) * (state | 1n)) & mask;
      mixed ^= (mixed + (((mixed ^ (mixed >> 7n)) * (mixed | 61n)) & mask)) & mask;
      assert.equal(word(), Number((mixed ^ (mixed >> 14n)) & mask));
    }
  }
});

for (const { seed, you_pile, computer_pile } of vectors.seeds) {
  test(`open deal ${seed} is dealt to the card`, () => {
    assert.deepEqual(openDeal(seed).map(written), [you_pile, computer_pile]);
  });
}

/** Gives the checks the very facts they ask for, and keeps those. */
class Obliging {
  facts = [];
  tally = { passed: () => undefined };
  turn = () => true;
  take = () => ({ fields: { seat: 0, through: this.facts.filter(([type]) => type === "Turned").at(-1)?.[1].battle + 1 || 1 } });
  due(type, fields) {
    this.facts.push([type, fields]);
    return { version: this.facts.length, fields };
  }
}

/** What a game's checks hold for its course, from these hands on. */
function coursed(rules, hands, settings = {}, seed = null) {
  const [log, battles] = [new Obliging(), []];
  const result = rules.play(log, { game: new Uint8Array(16), mode: "house", settings, people: [0], seed, hands, battles });
  return { ...result, facts: log.facts, battles };
}

const wars = (battles) => battles.flatMap(({ turned }) => turned).filter(([one, other]) => one % 13 === other % 13).length;

for (const { seed, games: expected } of vectors.seeds) {
  test(`open deal ${seed} ends as it must`, () => {
    for (const [terms, { battles, wars: ties, result, reason, you_count, computer_count }] of Object.entries(expected)) {
      const course = coursed(classic, openDeal(seed), { down: Number(terms[4]), length: terms.slice(6) });
      assert.deepEqual([course.battles.length, wars(course.battles), course.reason], [battles, ties, reason], terms);
      assert.equal(course.winner, { you: 0, computer: 1 }[result] ?? null);
      assert.deepEqual(course.battles.at(-1).piles, [you_count, computer_count]);
    }
  });
}

test("the fifth battle of open deal 12 is the one of the rules", () => {
  const { battles } = coursed(classic, openDeal(12), { down: 3, length: "full" });
  const { turned, laid, taken, piles } = battles[4];
  assert.deepEqual(turned.map(written), [["9H", "9C"], ["5S", "2C"]]);
  assert.deepEqual([laid, taken, piles], [[[3, 3]], [{ seat: 0, count: 10 }], [29, 23]]);
});

// ---------------------------------------------------------------- wars with few cards left

const pile = (...cards) => cards.map((card) => "23456789TJQKA".indexOf(card[0]) + 13 * "SHCD".indexOf(card[1]));
const down3 = { down: 3, length: "full" };
const ends = {
  // [rules, settings, piles, counts laid, counts taken, winner, reason]
  "playbook: one against none": [playbook, {}, [["2S", "3S"], ["2H"]], [], [], 0, "shortage"],
  "playbook: one against one": [playbook, {}, [["2S", "3S"], ["2H", "3H"]], [], [], null, "equal_shortage"],
  "playbook: none against none": [playbook, {}, [["2S"], ["2H"]], [], [], null, "equal_shortage"],
  "playbook: two against one": [playbook, {}, [["2S", "3S"], ["2H", "3H", "4H"]], [], [], 1, "shortage"],
  "playbook: a second war": [playbook, {}, [["2S", "3S", "4S"], ["2H", "3H", "4H", "5H"]], [[1, 1]], [], 1, "shortage"],
  "gameweave: none left": [gameweave, {}, [["2S"], ["2H", "3H"]], [[0, 1]], [], null, "cannot_flip"],
  "gameweave: none left to turn": [gameweave, {}, [["2S", "3S", "4S", "5S"], ["2H", "3H", "4H", "5H", "6H"]], [[3, 3]], [], 1, "cannot_flip"],
  "gameweave: laid unlike": [gameweave, {}, [["2S", "3S"], ["2H", "3H", "4H", "5H", "6H"]], [[1, 3]], [], 1, "cannot_flip"],
  "gameweave: neither": [gameweave, {}, [["2S", "3S"], ["2H", "3H"]], [[1, 1]], [], null, "cannot_flip"],
  "gameweave: neither, none to lay": [gameweave, {}, [["2S"], ["2H"]], [[0, 0]], [], null, "cannot_flip"],
  "classic, where the last card is kept to be turned": [classic, down3, [["2S", "3S"], ["2H", "4H", "5H", "6H", "7H", "8H"]], [[0, 3]], [[1, 7]], 1, "all_cards"],
  "classic: none left": [classic, down3, [["2S"], ["2H", "3H"]], [], [[1, 2]], 1, "no_cards_for_war"],
  "classic: none left after a war": [classic, down3, [["2S", "3S"], ["2H", "4H", "5H", "6H", "3H", "8H"]], [[0, 3]], [[1, 7]], 1, "no_cards_for_war"],
  "classic: both out": [classic, down3, [["2S"], ["2H"]], [], [[0, 1], [1, 1]], null, "both_out_at_war"],
  "classic: both out after a war": [classic, { down: 1, length: "full" }, [["2S", "4S", "3S"], ["2H", "5H", "3H"]], [[1, 1]], [[0, 3], [1, 3]], null, "both_out_at_war"],
};

for (const [what, [rules, settings, piles, laid, taken, winner, reason]] of Object.entries(ends)) {
  test(`a war ends the game in ${what}`, () => {
    const course = coursed(rules, piles.map((each) => pile(...each)), settings);
    assert.deepEqual([course.winner, course.reason], [winner, reason]);
    assert.deepEqual(course.battles.map((each) => each.laid), [laid]);
    assert.deepEqual(course.battles[0].taken.map(({ seat, count }) => [seat, count]), taken);
  });
}

test("the last battle is the last, whatever the piles then hold", () => {
  const endless = [[10], [22, 39, 40, 48, 33, 3, 2, 9, 36]];
  const courses = [
    [playbook, openDeal(14), {}, 500, null],
    [classic, endless, { down: 3, length: "full" }, 5000, null],
    [classic, openDeal(20), { down: 1, length: "short" }, 100, 0],
  ];
  for (const [rules, hands, settings, battles, winner] of courses) {
    const course = coursed(rules, hands, settings);
    assert.deepEqual([course.battles.length, course.reason, course.winner], [battles, "battle_limit", winner]);
    const [one, other] = course.battles.at(-1).piles;
    if (rules === classic) assert.equal(winner, one === other ? null : Number(other > one));
  }
});

// ---------------------------------------------------------------- golden games

test("there are golden games of every variant", () => {
  const ended = Object.keys(golden).filter((name) => name.startsWith("war-")).map((name) => {
    const { rules, facts } = check(text(name));
    return `${rules} ${facts.find((fact) => fact.type === "Finished").fields[1].value}`;
  });
  const expected = ["classic/1 all_cards", "classic/1 battle_limit", "classic/1 no_cards_for_war", "gameweave/1 cannot_flip", "gameweave/1 left", "playbook/1 shortage"];
  assert.deepEqual(ended.sort(), expected);
});

test("a report tells both piles and every battle of a War", () => {
  for (const name of [ten, woven, full, short, seeded]) {
    const { battles, deal: dealt, seed, settings, openDeal: open } = check(text(name));
    const { events } = opened(text(name));
    assert.deepEqual(dealt, open ? openDeal(settings.seed) : deal(fromHex(seed)));
    assert.deepEqual(battles.flatMap((each) => each.turned), events.filter((event) => event[1] === "Turned").map((event) => event[place.Turned.cards]));
    assert.deepEqual(battles.flatMap((each) => each.laid), events.filter((event) => event[1] === "Laid").map((event) => event[place.Laid.counts]));
    for (const { piles } of battles.slice(0, -1)) assert.equal(piles[0] + piles[1], 52);
  }
});

test("an open deal is over with its result, and shows that nothing was secret", () => {
  const report = check(text(seeded));
  assert.deepEqual([report.openDeal, report.over, report.seed, report.facts.at(-1).type], [true, true, null, "Finished"]);
  assert.deepEqual(report.settings, { down: 3, length: "full", seed: 12 });
  assert.equal(report.checks.some(({ name }) => ["secret", "entropy", "policy", "rival"].includes(name)), false);
});

test("a card is written with its rank and suit", () => {
  assert.deepEqual([0, 12, 21, 34, 51].map(cardName), ["2♠", "A♠", "10♥", "10♣", "A♦"].map((name) => name + "\ufe0e"));
});

// ---------------------------------------------------------------- facts that can't stand where they stand

/** Takes some facts out from the nth of a type on; the fault is the fact that now stands there. */
const dropped = (type, nth, count) => (events) => {
  const index = find(events, type, nth);
  events.splice(index, count);
  return index;
};

/** Puts a fact before the nth of a type, within its append. */
const inserted = (type, nth, name, ...fields) => (events) => {
  const index = find(events, type, nth);
  events.splice(index, 0, [1, name, events[index][place.at], events[index][place.cause], ...fields]);
  return index;
};

const appended = (name, ...fields) => (events) => (events.push([1, name, events.at(-1)[place.at], flipped(events[0][place.cause]), ...fields]), events.length - 1);
const ending = (winner, reason) => (events) => {
  const index = find(events, "Finished");
  events[index].splice(place.Finished.winner, 2, winner, reason);
  return index;
};

const set = (...settings) => setting("Opened", "settings", settings);
const otherCard = (cards) => [(cards[0] + 1) % 52, cards[1]];
const swapped = (cards) => [...cards].reverse();

/** Another S and its hash, so that only what comes from it is wrong. */
function otherSecret(events, game) {
  const secret = flipped(events.at(-1)[place.Unsealed.secret]);
  events.at(-1)[place.Unsealed.secret] = secret;
  events[0][place.Opened.secret_hash] = promises.secretHash(game, secret);
  return find(events, "Turned");
}

const factTwins = {
  // [golden game, how to alter it (giving the index of the faulty event), the check that fails]
  "another mode": [ten, setting("Opened", "mode", "relaxed"), "opening"],
  "settings where there are none": [ten, set(["down", 1]), "opening"],
  "a seed where no open deal is": [woven, set(["seed", 12]), "opening"],
  "no settings where there must be": [full, set(), "opening"],
  "no length": [full, set(["down", 3]), "opening"],
  "two cards down": [full, set(["down", 2], ["length", "full"]), "opening"],
  "a text for cards down": [full, set(["down", "3"], ["length", "full"]), "opening"],
  "another length": [full, set(["down", 3], ["length", "long"]), "opening"],
  "a further setting": [full, set(["down", 3], ["length", "full"], ["pace", 5]), "opening"],
  "a seed beyond 32 bits": [seeded, set(["down", 3], ["length", "full"], ["seed", 2 ** 32]), "opening"],
  "a seed far beyond": [seeded, set(["down", 3], ["length", "full"], ["seed", 2n ** 63n]), "opening"],
  "a seed below zero": [seeded, set(["down", 3], ["length", "full"], ["seed", -1]), "opening"],
  "a text for a seed": [seeded, set(["down", 3], ["length", "full"], ["seed", "12"]), "opening"],
  "another seed": [seeded, (events) => (set(["down", 3], ["length", "full"], ["seed", 13])(events), find(events, "Turned")), "cards"],
  "a seed taken away": [seeded, set(["down", 3], ["length", "full"]), "opening"],
  "a seed put in": [full, set(["down", 3], ["length", "full"], ["seed", 12]), "opening"],
  "a game of 1 down said to be of 3": [seeded, (events) => (set(["down", 1], ["length", "full"], ["seed", 12])(events), find(events, "Laid")), "wars"],
  "a short game said to be full": [short, (events) => (set(["down", 1], ["length", "full"])(events), find(events, "Finished")), "order"],
  "a full game said to be short": [seeded, (events) => (set(["down", 3], ["length", "short"], ["seed", 12])(events), find(events, "Taken", 100) + 1), "order"],
  "a promised secret in an open deal": [seeded, setting("Opened", "secret_hash", new Uint8Array(32)), "opening"],
  "no promised secret elsewhere": [woven, setting("Opened", "secret_hash", new Uint8Array()), "opening"],
  "an open deal that counts": [seeded, setting("Opened", "counts", true), "opening"],
  "a policy of the house": [woven, setting("Opened", "strategy_hash", flipped), "policy"],
  "a rival": [woven, setting("Seated", "rival", "opal-winterbourne", 2), "rival"],
  "a promise of entropy against the house": [woven, setting("Seated", "entropy_hash", new Uint8Array(32)), "seats"],
  "entropy in an open deal": [seeded, inserted("Dealt", 1, "Mixed", 0, new Uint8Array(32)), "order"],
  "entropy in an open deal after the cards": [seeded, inserted("Readied", 1, "Mixed", 0, new Uint8Array(32)), "order"],
  "a secret in an open deal": [seeded, appended("Unsealed", new Uint8Array(32)), "order"],
  "cards not dealt with the last seat of an open deal": [seeded, (events) => { const at = find(events, "Dealt"); events[at][place.cause] = flipped(events[at][place.cause]); return at; }, "append"],
  "no cards dealt": [seeded, dropping("Dealt"), "order"],
  "27 cards dealt for 26": [woven, setting("Dealt", "counts", [27, 25]), "deal"],
  "other entropy": [woven, (events) => { setting("Mixed", "entropy", flipped)(events); return find(events, "Turned"); }, "cards"],
  "another secret, promised as well": [woven, otherSecret, "cards"],
  "another secret": [woven, setting("Unsealed", "secret", flipped), "secret"],
  "a turn of the house": [ten, setting("Readied", "seat", 1, 2), "turns"],
  "eleven battles at once": [ten, setting("Readied", "through", (through) => through + 1, 2), "turns"],
  "no battle agreed to": [ten, setting("Readied", "through", (through) => through - 10, 2), "turns"],
  "two battles at once where one is the most": [woven, setting("Readied", "through", 2), "turns"],
  "fewer battles agreed to than were fought": [ten, (events) => { setting("Readied", "through", (through) => through - 1, 2)(events); return events.findIndex((event) => event[1] === "Turned" && event[place.Turned.battle] === 20); }, "order"],
  "nobody's turn": [woven, dropping("Readied", 2), "order"],
  "a turn agreed to twice": [woven, (events) => { const at = find(events, "Readied", 2) + 1; events.splice(at, 0, events[at - 1]); return at; }, "order"],
  "a battle skipped": [woven, dropped("Readied", 3, 3), "turns"],
  "a battle skipped within a turn": [ten, dropped("Turned", 3, 2), "cards"],
  "another card turned": [seeded, setting("Turned", "cards", otherCard, 40), "cards"],
  "the seats' cards turned the other way round": [full, setting("Turned", "cards", swapped, 5), "cards"],
  "another card turned in a war": [woven, setting("Turned", "cards", otherCard, 2), "cards"],
  "a card that is in another game": [woven, setting("Turned", "cards", [0, 52], 2), "event"],
  "cards turned for another battle": [full, setting("Turned", "battle", 9, 2), "cards"],
  "no card turned": [woven, dropping("Turned", 3), "order"],
  "too few cards laid": [woven, setting("Laid", "counts", [2, 3]), "wars"],
  "a war without cards laid": [woven, dropping("Laid"), "order"],
  "cards laid for another battle": [woven, setting("Laid", "battle", 2), "wars"],
  "cards laid without a tie": [full, inserted("Taken", 1, "Laid", 1, [3, 3]), "order"],
  "a war that isn't fought": [woven, dropped("Laid", 1, 2), "order"],
  "the wrong taker": [full, setting("Taken", "seat", (seat) => 1 - seat, 4), "captures"],
  "the wrong number taken": [full, setting("Taken", "count", (count) => count + 2, 4), "captures"],
  "another battle's cards taken": [full, setting("Taken", "battle", (battle) => battle + 1, 4), "captures"],
  "nothing taken": [full, dropping("Taken", 4), "order"],
  "the cards of a lost war not taken": [full, dropping("Taken", -1), "order"],
  "a result too early": [seeded, inserted("Readied", 9, "Finished", 0, "all_cards"), "order"],
  "no result": [woven, dropping("Finished"), "order"],
  "the wrong winner": [seeded, setting("Finished", "winner", (seat) => 1 - seat), "result"],
  "no winner of all cards": [seeded, setting("Finished", "winner", null), "result"],
  "another reason": [full, setting("Finished", "reason", "all_cards"), "result"],
  "a shortage called a draw": [ten, ending(null, "equal_shortage"), "result"],
  "a limit called a draw": [short, ending(null, "battle_limit"), "result"],
  "a lost war won": [woven, setting("Finished", "winner", (seat) => 1 - seat), "result"],
  "leaving called a resignation": [left, ending(1, "resigned"), "result"],
  "leaving with a winner": [left, ending(1, "left"), "result"],
  "leaving by the house": [left, setting("Resigned", "seat", 1), "result"],
  "leaving a game that is said to be void": [left, ending(null, "void"), "result"],
  "leaving within a battle": [woven, inserted("Taken", 3, "Resigned", 0), "order"],
  "an event after the end": [woven, appended("Readied", 0, 1), "order"],
  "an event after the end of an open deal": [seeded, appended("Readied", 0, 1), "order"],
  "another cause within a battle": [woven, setting("Taken", "cause", flipped), "append"],
  "a turn taken twice": [woven, (events) => {
    const at = find(events, "Readied", 2);
    for (const event of events.slice(at, at + 5)) event[place.cause] = events[0][place.cause];
    return at;
  }, "append"],
};

for (const [what, [name, alter, failing]] of Object.entries(factTwins)) {
  test(`a War is refused for ${what}`, () => refusedTwin(name, alter, failing));
}

/** The same game cut before its end and ended from outside there, within the open deal or not. */
function endedBy(name, turns, type, field, at, winner, reason) {
  return twin(text(name), (events) => {
    const kept = events.slice(0, find(events, "Readied", turns + 1));
    const cause = new Uint8Array(16);
    kept.push([1, type, at ?? kept.at(-1)[place.at], cause, field], [1, "Finished", at ?? kept.at(-1)[place.at], cause, winner, reason]);
    if (events.at(-1)[1] === "Unsealed") kept.push([1, "Unsealed", kept.at(-1)[place.at], cause, events.at(-1)[place.Unsealed.secret]]);
    return kept;
  });
}

test("who leaves the computer loses nothing, in an open deal neither", () => {
  for (const name of [ten, woven, short, seeded]) {
    assert.equal(check(endedBy(name, 2, "Resigned", 0, null, null, "left")).over, true, name);
    assert.equal(check(endedBy(name, 2, "Resigned", 0, null, 1, "resigned")).ok, false, name);
  }
});

test("who is late loses to the computer", () => {
  for (const name of [woven, seeded]) {
    const late = opened(text(name)).events[0][place.at] + weekMs;
    assert.equal(check(endedBy(name, 2, "TimeUp", [0], late, 1, "time")).over, true, name);
    assert.equal(check(endedBy(name, 2, "TimeUp", [0], late, null, "left")).ok, false, name);
    assert.equal(check(endedBy(name, 2, "TimeUp", [1], late, 0, "time")).ok, false, name);
    assert.equal(check(endedBy(name, 2, "TimeUp", [0], late - 1, 1, "time")).ok, false, name);
  }
});

test("a game left before any card was dealt is void", () => {
  const before = (winner, reason) => twin(text(left), (events) => {
    const kept = [...events.slice(0, 3), ...events.slice(find(events, "Resigned"))];
    ending(winner, reason)(kept);
    return kept;
  });
  assert.equal(check(before(null, "void")).over, true);
  refused(before(null, "left"), 5, "result");
});

// A running game's secret is not out: the same faults, as far as they can be seen without it.

const runningTwins = {
  "a card that lies in a pile": [ten, (events) => setting("Turned", "cards", ([, card]) => [events[find(events, "Turned")][place.Turned.cards][1], card], 4)(events), "cards"],
  "a card turned twice in a battle": [woven, (events) => setting("Turned", "cards", events[find(events, "Turned")][place.Turned.cards], 2)(events), "cards"],
  "too few cards laid": [woven, setting("Laid", "counts", [2, 3]), "wars"],
  "the wrong taker": [full, setting("Taken", "seat", (seat) => 1 - seat, 4), "captures"],
  "the wrong number taken": [full, setting("Taken", "count", (count) => count + 2, 4), "captures"],
  "a battle skipped": [woven, dropped("Readied", 3, 3), "turns"],
  "won cards that come back in another order": [short, (events) => setting("Turned", "cards", otherCard, 80)(events), "cards"],
  "a won card beside one that nobody knows": [short, setting("Turned", "cards", ([one, other]) => [one, other + 1], 31), "cards"],
  "another card in an open deal": [seeded, setting("Turned", "cards", otherCard, 40), "cards"],
};

for (const [what, [name, alter, failing]] of Object.entries(runningTwins)) {
  test(`a running War is refused for ${what}`, () => {
    refusedTwin(name, (events) => {
      const index = alter(events);
      return [index, events.slice(0, find(events, "Finished"))];
    }, failing);
  });
}

// ---------------------------------------------------------------- between people

/** The golden game as two people would have played it: one list of facts an append. */
function between(name, turn) {
  const { game, events } = opened(text(name));
  const open = find(events, "Dealt") === 3;
  const facts = events.map(([, type, , , ...fields]) => [type, ...fields]);
  facts[0][2] = "versus";
  facts[0][3] = [...facts[0][3], ["turn_seconds", 5]].sort(([one], [other]) => (one < other ? -1 : 1));
  const entropies = open ? [] : [facts[find(events, "Mixed")][2], promises.noEntropy];
  const player = (seat) => new Uint8Array(16).fill(seat + 1);
  const reserved = [0, 1].map((seat) => ["Reserved", seat, player(seat)]);
  const seated = [0, 1].map((seat) => ["Seated", seat, player(seat), "", open ? new Uint8Array(32) : promises.entropyHash(game, seat, entropies[seat])]);
  const dealt = ["Dealt", [26, 26]];
  const appends = open ? [[facts[0], ...reserved], [seated[0]], [seated[1], dealt]]
    : [[facts[0], ...reserved], [seated[0]], [seated[1]], [["Mixed", 1, entropies[1]]], [["Mixed", 0, entropies[0]], dealt]];
  const course = facts.slice(find(events, "Dealt") + 1).filter(([type]) => type !== "Readied");
  const agreed = [0, 0];
  for (let next = 1; course.length > 0; next = course[0]?.[1]) {
    const [seat, times] = turn(next, agreed);
    agreed[seat] = next + times - 1;
    const through = Math.min(...agreed);
    const behind = course.findIndex(([type, battle]) => ["Turned", "Laid", "Taken"].includes(type) && battle > through);
    appends.push([["Readied", seat, agreed[seat]], ...course.splice(0, behind < 0 ? course.length : behind)]);
  }
  return { game, appends };
}

/** The file of such appends, each under a cause of its own. */
function filed({ game, appends }) {
  const cause = (number) => new Uint8Array(16).fill(number >> 8, 0, 8).fill(number, 8);
  return saved({ game, events: appends.flatMap((facts, number) => facts.map(([type, ...fields]) => [1, type, facts.at_ms ?? appends[0][0][6], cause(number), ...fields])) });
}

const secondFirst = (next, agreed) => [Number(agreed[1] < next), 1];
const unlike = (next, agreed) => (agreed[0] < next ? [0, (next % 10) + 1] : [1, (next % 3) + 1]);

for (const [name, turn] of [[woven, secondFirst], [seeded, secondFirst], [full, secondFirst], [ten, secondFirst], [ten, unlike]]) {
  test(`between people a battle is turned when both have agreed to it, as in ${name}, ${turn.name}`, () => {
    const report = check(filed(between(name, turn)));
    assert.equal(report.failure, null);
    assert.equal(report.over, true);
  });
}

const betweenTwins = {
  // [golden game, how to alter its appends (giving the index of the faulty event), the check that fails]
  "one seat that agrees twice": [woven, ({ appends }) => { appends[6] = [["Readied", 1, 1]]; return 9; }, "turns"],
  "a seat that agrees to a battle behind the next": [woven, ({ appends }) => { appends[5][0][2] = 2; return 8; }, "turns"],
  "a battle that only one has agreed to": [woven, ({ appends }) => { appends.splice(5, 1); return 9; }, "order"],
  "other entropy than was promised": [woven, ({ appends }) => { appends[3][0][2] = new Uint8Array(32).fill(1); return 5; }, "entropy"],
  "no promise of entropy": [woven, ({ appends }) => { appends[1][0][4] = new Uint8Array(); return 3; }, "seats"],
  "no promise of entropy in an open deal": [seeded, ({ appends }) => { appends[2][0][4] = new Uint8Array(); return 4; }, "seats"],
  "the computer in a seat": [seeded, ({ appends }) => { appends[2][0][2] = new Uint8Array(); return 4; }, "seats"],
};

for (const [what, [name, alter, failing]] of Object.entries(betweenTwins)) {
  test(`between people a War is refused for ${what}`, () => {
    const of = between(name, secondFirst);
    const index = alter(of);
    refused(filed(of), index + 1, failing);
  });
}

test("between people leaving is a resignation, and both may be late", () => {
  const endedAfter = (after, name, kept, ...facts) => {
    const of = between(name, secondFirst);
    const end = [...facts, ...of.appends.at(-1).filter(([type]) => type === "Unsealed")];
    end.at_ms = of.appends[0][0][6] + after;
    return check(filed({ ...of, appends: [...of.appends.slice(0, kept), end] }));
  };
  const ended = (...given) => endedAfter(weekMs, ...given);
  // In a War nobody is late before the seven days are over: the clock turns.
  assert.equal(endedAfter(weekMs - 1, woven, 7, ["TimeUp", [0, 1]], ["Finished", null, "both_late"]).ok, false);
  for (const [name, dealt] of [[woven, 5], [seeded, 3]]) {
    for (const seat of [0, 1]) {
      assert.equal(ended(name, dealt + 2, ["Resigned", seat], ["Finished", 1 - seat, "resigned"]).over, true);
      assert.equal(ended(name, dealt + 2, ["Resigned", seat], ["Finished", null, "left"]).ok, false);
    }
    assert.equal(ended(name, dealt + 2, ["TimeUp", [0, 1]], ["Finished", null, "both_late"]).over, true);
    assert.equal(ended(name, dealt + 3, ["TimeUp", [0]], ["Finished", 1, "time"]).over, true);
    assert.equal(ended(name, dealt + 3, ["TimeUp", [0, 1]], ["Finished", null, "both_late"]).ok, false);
    assert.equal(ended(name, 1, ["Resigned", 0], ["Finished", null, "void"]).over, true);
    assert.equal(ended(name, 1, ["TimeUp", [0, 1]], ["Finished", null, "void"]).over, true);
    assert.equal(ended(name, 2, ["TimeUp", [1]], ["Finished", null, "void"]).over, true);
    assert.equal(ended(name, 2, ["TimeUp", [0, 1]], ["Finished", null, "void"]).ok, false);
  }
});

// ---------------------------------------------------------------- turns made by the clock

/** A War between people of which the first battle is turned by the clock, so long after both could turn it. */
function clocked(afterMs, seats = [0, 1], agreed = []) {
  const of = between(woven, (next, have) => [Number(have[1] < next), 1]);
  const { appends } = of;
  const first = appends.findIndex(([[type]]) => type === "Readied");
  const [, second] = appends.splice(first, 2);
  const battle = second.slice(1);
  for (const seat of agreed) appends.splice(first, 0, [["Readied", seat, 1]]);
  const at = appends[0][0][6] + afterMs;
  const turned = Object.assign([...seats.map((seat) => ["Readied", seat, 1]), ...battle], { at_ms: at, clock: true });
  appends.splice(first + agreed.length, 0, turned);
  for (const later of appends.slice(first + agreed.length + 1)) later.at_ms = at;
  return { of, version: appends.slice(0, first + agreed.length).flat().length + 1 };
}

/** Of the clock's append, whose deadline is five seconds after the start. */
const clocksCause = ({ game, appends }) => promises.causeOf(game, 255, new Uint8Array(16), `time ${appends[0][0][6] + 5000}`, "CallTime", 0);

function filedWithClock(of) {
  const { game, appends } = of;
  const cause = (facts, number) => (facts.clock ? clocksCause(of) : new Uint8Array(16).fill(number >> 8, 0, 8).fill(number, 8));
  return saved({ game, events: appends.flatMap((facts, number) => facts.map(([type, ...fields]) => [1, type, facts.at_ms ?? appends[0][0][6], cause(facts, number), ...fields])) });
}

test("an overdue turn is made by the clock, for both or for one", () => {
  for (const [seats, agreed] of [[[0, 1], []], [[0], [1]], [[1], [0]]]) {
    for (const afterMs of [5000, 3000]) {
      const report = check(filedWithClock(clocked(afterMs, seats, agreed).of));
      assert.deepEqual([report.failure, report.over], [null, true]);
    }
  }
});

test("the clock turns not before its time, and for nobody who has turned", () => {
  for (const [seats, agreed] of [[[0, 1], []], [[0], [1]], [[1], [0]]]) {
    const { of, version } = clocked(2999, seats, agreed);
    refused(filedWithClock(of), version, "overdue");
  }
  const { of, version } = clocked(5000, [1], []);
  refused(filedWithClock(of), version, "overdue");
});

test("two turns in one append are the clock’s, and its cause must say so", () => {
  const { of, version } = clocked(5000);
  refused(filed(of), version + 1, "append");
});
