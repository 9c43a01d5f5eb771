// Games of 50 States between two people, as the server stores them: whole ones, and a broken twin of each thing that is accepted.
import assert from "node:assert/strict";
import { test } from "node:test";

import { deal, fiftyStates } from "../../server/web/verify/fifty_states.js";
import { check } from "../../server/web/verify/index.js";
import * as promises from "../../server/web/verify/promises.js";
import { refused } from "./refusing.mjs";
import { saved } from "./twins.mjs";

const game = new Uint8Array(16).fill(7);
const secret = new Uint8Array(32).fill(9);
const entropies = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const players = [3, 4].map((byte) => new Uint8Array(16).fill(byte));
const salt = (seat, battle) => new Uint8Array(32).fill(16 * seat + battle);
const startMs = 1_790_000_000_000;
const clocks = [["commit_seconds", 30], ["reveal_seconds", 15]];
const bothFirst = [[0, 1], [1, 0]];

/** One append: its time, after the one before it, and its facts. */
const append = (afterMs, ...facts) => ({ afterMs, facts });

/** Opening, seats and entropies; `kept` are the seats that are kept for somebody. */
function begun({ kept = [0, 1], sits = [0, 1], mixes = [1, 0] } = {}) {
  const opened = ["Opened", "fifty-states/1", "versus", clocks, kept.length === 2, false, startMs, 0, promises.secretHash(game, secret), new Uint8Array(32)];
  const hash = (seat) => promises.entropyHash(game, seat, entropies[seat]);
  return [
    append(0, opened, ...kept.map((seat) => ["Reserved", seat, players[seat]])),
    ...sits.map((seat) => append(900, ["Seated", seat, players[seat], "", hash(seat)])),
    ...mixes.map((seat, at) => append(700, ["Mixed", seat, entropies[seat]], ...(at ? [["Dealt", [7, 7]]] : []))),
  ];
}

/** A whole game; in each battle the seats commit and reveal in the given orders, by turns. */
function whole(orders = bothFirst, options = {}) {
  const appends = begun(options);
  const hands = deal(promises.seedOf(secret, game, entropies));
  let captured = [[], []];
  for (let battle = 1, round = 1; ; battle++) {
    const laid = hands.map((hand, seat) => hand[(battle * (seat + 2)) % hand.length]);
    const [commits, reveals] = [orders[battle % 2], orders[(battle >> 1) % 2]];
    for (const seat of commits) appends.push(append(2000, ["Committed", seat, battle, promises.sealOf(game, seat, battle, laid[seat], salt(seat, battle))]));
    for (const seat of reveals) appends.push(append(800, ["Revealed", seat, battle, laid[seat], salt(seat, battle)]));
    hands.forEach((hand, seat) => hand.splice(hand.indexOf(laid[seat]), 1));
    const winner = Number(laid[1] > laid[0]);
    captured[winner].push(Math.min(...laid));
    const { facts } = appends.at(-1);
    facts.push(["Captured", winner, battle, Math.min(...laid), Math.max(...laid)]);
    if (hands.every((hand) => hand.length > 0)) continue;
    facts.push(["RoundEnded", round++]);
    hands.forEach((hand, seat) => hand.push(...captured[seat]));
    for (const hand of hands) hand.sort((one, other) => one - other);
    captured = [[], []];
    const out = hands.findIndex((hand) => hand.length === 0);
    if (out < 0) continue;
    facts.push(["Finished", 1 - out, "all_cards"], ["Unsealed", secret]);
    return appends;
  }
}

/** The file of such appends, each under a cause of its own. */
function filed(appends) {
  let at = startMs;
  return saved({ game, events: appends.flatMap(({ afterMs, facts }, number) => {
    at += afterMs;
    return facts.map(([type, ...fields]) => [1, type, at, new Uint8Array(16).fill(number + 1), ...fields]);
  }) });
}

/** The version of the nth fact of a type. */
function version(appends, type, nth = 1) {
  const facts = appends.flatMap(({ facts }) => facts);
  return facts.map((fact, at) => [fact, at + 1]).filter(([[each]]) => each === type)[nth - 1][1];
}

const end = (afterMs, ...facts) => append(afterMs, ...facts, ["Unsealed", secret]);
const accepted = (appends) => {
  const report = check(filed(appends));
  assert.deepEqual([report.failure, report.ok, report.over], [null, true, true]);
  return report;
};

for (const [what, orders] of Object.entries({ "seat 0 first": [[0, 1]], "seat 1 first": [[1, 0]], "by turns": bothFirst })) {
  test(`a whole game checks out, ${what}`, () => {
    const report = accepted(whole(orders.length > 1 ? orders : [orders[0], orders[0]]));
    assert.equal(report.mode, "versus");
    assert.ok(report.battles.length >= 7 && report.battles.every((battle) => battle.sides.every((side) => side.opens)));
  });
}

test("a seat that nobody kept is the first comer’s, in either order of sitting", () => {
  for (const kept of [[0], [1]]) for (const sits of [[0, 1], [1, 0]]) accepted(whole(bothFirst, { kept, sits }));
});

test("a running game checks out as far as it goes, at every length", () => {
  const all = filed(whole()).split("\n");
  for (let length = 2; length < all.length - 1; length++) {
    const report = check(all.slice(0, length).join("\n") + "\n");
    assert.deepEqual([report.failure, report.over], [null, false]);
  }
});

test("a report tells both seals of every battle", () => {
  const report = accepted(whole());
  const names = ["A", "B"];
  const columns = fiftyStates.told.columns(names, true);
  const rows = report.battles.map((battle) => fiftyStates.told.row(battle, names));
  assert.ok(rows.every((row) => row.cells.length === columns.length && !row.bad && row.cells.includes("both open their seals\u00a0✓")));
});

const broken = {
  // [what stands there, how to break it (giving the version at fault), the check that fails]
  "a third seat that is kept": [(all) => (all[0].facts.push(["Reserved", 1, players[1]]), 4), "seats"],
  "both seats kept for one player": [(all) => ((all[0].facts[2][2] = players[0]), 3), "seats"],
  "nobody for whom a seat is kept": [(all) => (all[0].facts.splice(1), 2), "order"],
  "somebody in a seat that is kept for another": [(all) => ((all[1].facts[0][2] = new Uint8Array(16).fill(8)), 4), "seats"],
  "somebody who sits twice": [(all) => (all.splice(2, 1, structuredClone(all[1])), 5), "seats"],
  "a rival’s name on a person": [(all) => ((all[1].facts[0][3] = "opal-winterbourne"), 4), "seats"],
  "entropy that was not promised": [(all) => ((all[3].facts[0][2] = new Uint8Array(32).fill(8)), 6), "entropy"],
  "a seal of another battle": [(all) => ((all[5].facts[0][2] = 2), version(all, "Committed")), "commits"],
  "a second seal of one seat": [(all) => ((all[6].facts[0][1] = all[5].facts[0][1]), version(all, "Committed", 2)), "commits"],
  "a card shown before both seals stand": [(all) => (all.splice(6, 1), version(all, "Revealed")), "order"],
  "a card shown twice": [(all) => ((all[8].facts = [structuredClone(all[7].facts[0])]), version(all, "Revealed", 2)), "seals"],
  "a card that doesn’t open its seal": [(all) => ((all[7].facts[0][3] = 1 + (all[7].facts[0][3] % 50)), version(all, "Revealed")), "seals"],
  "another salt": [(all) => ((all[7].facts[0][4] = new Uint8Array(32)), version(all, "Revealed")), "seals"],
  "a card that its seat doesn’t hold": [(all) => {
    const [, seat, battle] = all[7].facts[0];
    const dealt = deal(promises.seedOf(secret, game, entropies));
    const card = Array.from({ length: 50 }, (_, at) => at + 1).find((each) => !dealt[seat].includes(each));
    all[7].facts[0] = ["Revealed", seat, battle, card, salt(seat, battle)];
    const commit = all.slice(5, 7).find(({ facts }) => facts[0][1] === seat);
    commit.facts[0][3] = promises.sealOf(game, seat, battle, card, salt(seat, battle));
    return version(all, "Revealed");
  }, "cards"],
  "a battle that went to the lower card": [(all) => ((all[8].facts[1][1] = 1 - all[8].facts[1][1]), version(all, "Captured")), "captures"],
  "a person who plays as against the house": [(all) => ((all[7].facts[0] = ["Played", 0, 1, all[7].facts[0][3]]), version(all, "Played")), "order"],
};

for (const [what, [alter, failing]] of Object.entries(broken)) {
  test(`refused for ${what}`, () => {
    const appends = whole();
    const at = alter(appends);
    refused(filed(appends), at, failing);
  });
}

// ---------------------------------------------------------------- time

/** A stage, how many appends of a whole game stand when it begins, the seats that then owe, its length and the end it leads to. */
const stages = {
  pairing: { kept: 1, owing: [0, 1], ms: 60_000, finished: [null, "void"] },
  "pairing, one seated": { kept: 2, owing: [1], ms: 60_000 - 900, finished: [null, "void"] },
  mixing: { kept: 3, owing: [0, 1], ms: 30_000, finished: [null, "void"] },
  "mixing, one mixed": { kept: 4, owing: [0], ms: 30_000 - 700, finished: [1, "time"] },
  "the first commit": { kept: 5, owing: [0, 1], ms: 30_000, finished: [null, "both_late"] },
  "the second commit": { kept: 6, owing: [0], ms: 30_000 - 2000, finished: [1, "time"] },
  "the first reveal": { kept: 7, owing: [0, 1], ms: 15_000, finished: [null, "both_late"] },
  "the second reveal": { kept: 8, owing: [1], ms: 15_000 - 800, finished: [0, "time"] },
};
const toleranceMs = 2000;

for (const [stage, { kept, owing, ms, finished }] of Object.entries(stages)) {
  const late = (afterMs, seats = owing, before = []) => [...whole().slice(0, kept), ...before, end(afterMs, ["TimeUp", seats], ["Finished", ...finished])];
  const at = (appends) => version(appends, "TimeUp");
  test(`time is up when it has run out and not before, at ${stage}`, () => {
    accepted(late(ms));
    accepted(late(ms - toleranceMs));
    const early = late(ms - toleranceMs - 1);
    refused(filed(early), at(early), "deadline");
  });
  test(`time that was given back is not counted, at ${stage}`, () => {
    const credit = append(ms, ["Credited", 5000]);
    accepted(late(5000, owing, [credit]));
    const early = late(5000 - toleranceMs - 1, owing, [credit]);
    refused(filed(early), at(early), "deadline");
  });
  test(`time is given back only when it is up, and no more than has passed, at ${stage}`, () => {
    const soon = late(ms, owing, [append(ms - toleranceMs - 1, ["Credited", 1])]);
    refused(filed(soon), version(soon, "Credited"), "credit");
    const much = late(ms, owing, [append(ms, ["Credited", 86_500_000])]);
    refused(filed(much), version(much, "Credited"), "credit");
  });
  test(`only who owed is late, at ${stage}`, () => {
    for (const others of [[0, 1], [0], [1], []].filter((each) => String(each) !== String(owing))) {
      const wrong = late(ms, others);
      refused(filed(wrong), at(wrong), "deadline");
    }
  });
}

test("a seat that nobody took is waited for a day where nobody was paired", () => {
  const open = (afterMs) => [...begun({ kept: [0] }).slice(0, 2), end(afterMs, ["TimeUp", [1]], ["Finished", null, "void"])];
  accepted(open(86_400_000 - 900));
  refused(filed(open(86_400_000 - 900 - toleranceMs - 1)), 4, "deadline");
});

test("time given back is its stage’s own", () => {
  const [before, commits] = [whole().slice(0, 5), whole().slice(5, 7)];
  const end_ = (afterMs) => end(afterMs, ["TimeUp", [0, 1]], ["Finished", null, "both_late"]);
  const appends = (afterMs) => [...before, append(30_000, ["Credited", 20_000]), ...commits, end_(afterMs)];
  accepted(appends(15_000));
  refused(filed(appends(15_000 - toleranceMs - 1)), version(appends(0), "TimeUp"), "deadline");
});

test("a game with a seat for whoever comes counts for nothing", () => {
  const appends = whole(bothFirst, { kept: [0] });
  appends[0].facts[0][4] = true;
  refused(filed(appends), 1, "opening");
});

test("no time is given back inside an append", () => {
  const appends = whole();
  appends[8].facts.splice(1, 0, ["Credited", 5]);
  refused(filed(appends), version(appends, "Credited"), "order");
});

test("who leaves before any entropy stands leaves a void, and loses afterwards", () => {
  for (const [kept, seat, finished] of [[2, 0, [null, "void"]], [3, 1, [null, "void"]], [4, 0, [1, "resigned"]], [4, 1, [0, "resigned"]], [6, 1, [0, "resigned"]]]) {
    accepted([...whole().slice(0, kept), end(10, ["Resigned", seat], ["Finished", ...finished])]);
  }
  const wrong = [...whole().slice(0, 4), end(10, ["Resigned", 0], ["Finished", null, "void"])];
  refused(filed(wrong), version(wrong, "Finished"), "result");
});

test("whoever has a seat kept can’t take the free one too, before or after the own one", () => {
  for (const sits of [[0, 1], [1, 0]]) {
    const appends = whole(bothFirst, { kept: [0], sits });
    const at = appends.findIndex(({ facts: [[type, seat]] }) => type === "Seated" && seat === 1);
    appends[at].facts[0][2] = players[0];
    refused(filed(appends), 2 + at, "seats");
  }
});
