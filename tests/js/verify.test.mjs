// The second implementation against vectors, golden games and their broken twins.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { cast } from "../../server/web/art/cast.js";
import { link, origin, textOf } from "../../server/web/verify/chain.js";
import { Stream, purposes, rivalOf } from "../../server/web/verify/chance.js";
import { bytes, equal, int, settings, settingsOf } from "../../server/web/verify/facts.js";
import { deal, fiftyStates } from "../../server/web/verify/fifty_states.js";
import { base64, fromBase64, fromHex, hex, wide } from "../../server/web/verify/hash.js";
import { check, tableOf } from "../../server/web/verify/index.js";
import { NotShortest, read } from "../../server/web/verify/msgpack.js";
import * as promises from "../../server/web/verify/promises.js";
import { strategicTable } from "../../server/web/verify/strategic.js";
import { dropping, flipped, golden, refused, refusedTwin, setting, tests, text, weekMs } from "./refusing.mjs";
import { find, opened, packed, place, random, saved, twin } from "./twins.mjs";

const [relaxed, strategic, late, resigned, voided] = ["relaxed", "strategic", "time", "resigned", "void"].map((name) => `fifty-states-${name}`);

// ---------------------------------------------------------------- vectors

const vectors = JSON.parse(readFileSync(new URL("vectors/fairness.json", tests), "utf8"));
const game = fromHex(vectors.game);
const secret = fromHex(vectors.secret);
const entropies = vectors.entropies.map(fromHex);
const seed = fromHex(vectors.seed);
const drawn = (count, draw) => Array.from({ length: count }, draw);

/** One test a key of the vectors, so that a key without one is seen. Some are only inputs of others. */
const vectorTests = {
  game: null,
  operator_key: null,
  entropies: () => assert.deepEqual(entropies[1], promises.noEntropy),
  secret: (expected) => assert.equal(hex(promises.secretOf(fromHex(vectors.operator_key), game)), expected),
  secret_hash: (expected) => assert.equal(hex(promises.secretHash(game, secret)), expected),
  entropy_hash_seat_1: (expected) => assert.equal(hex(promises.entropyHash(game, 1, entropies[0])), expected),
  seed: (expected) => assert.equal(hex(promises.seedOf(secret, game, entropies)), expected),
  stream_choice_battle_3_words: (expected) => {
    const stream = new Stream(seed, purposes.choice, 3);
    assert.deepEqual(drawn(expected.length, () => stream.word()), expected);
  },
  below: (expected) => {
    for (const { purpose, battle, bound, draws } of expected) {
      const stream = new Stream(seed, purpose, battle);
      assert.deepEqual(drawn(draws.length, () => stream.below(BigInt(bound))), draws.map(BigInt));
    }
  },
  shuffle_of_1_to_10_purpose_4_battle_2: (expected) => {
    const deck = Array.from({ length: 10 }, (_, at) => at + 1);
    assert.deepEqual(new Stream(seed, purposes.returnOrder, 2).shuffled(deck), expected);
  },
  weighted_2_0_3_purpose_2_battle_6: (expected) => {
    const stream = new Stream(seed, purposes.choice, 6);
    assert.deepEqual(drawn(expected.length, () => stream.weighted([2, 0, 3])), expected);
  },
  salt_battle_1: (expected) => assert.equal(hex(new Stream(seed, purposes.salt, 1).block()), expected),
  seal: ({ seat, battle, card, salt, seal }) =>
    assert.equal(hex(promises.sealOf(game, seat, battle, card, fromHex(salt))), seal),
  deal_fifty_states: (expected) => assert.deepEqual(deal(seed), expected),
  rival: (expected) => assert.equal(rivalOf(secret, cast.map((steward) => steward.slug)), expected),
  strategy_hash: (expected) => {
    const hashes = Object.entries(fiftyStates.modes).filter(([mode]) => mode !== "versus").map(([mode, { policy }]) => [mode, hex(promises.strategyHash(policy))]);
    assert.deepEqual(Object.fromEntries(hashes), expected);
  },
  cause: ({ seat, player, command_id, kind, battle, cause }) =>
    assert.equal(hex(promises.causeOf(game, seat, fromHex(player), command_id, kind, battle)), cause),
  chain: ([first, ...events]) => {
    let hash = origin(game);
    assert.deepEqual({ version: 0, hash: hex(hash) }, first);
    for (const event of events) {
      const body = fromBase64(event.body);
      hash = link(hash, body);
      assert.equal(hex(hash), event.hash);
      assert.deepEqual(packed(read(body)), body);
    }
  },
  client_entropy: ({ client_secret, hash_1, entropy }) =>
    assert.equal(hex(promises.clientEntropy(fromHex(client_secret), fromHex(hash_1))), entropy),
};

test("every vector has its test", () => {
  assert.deepEqual(Object.keys(vectors).sort(), Object.keys(vectorTests).sort());
});

for (const [name, holds] of Object.entries(vectorTests)) if (holds) test(`vector ${name}`, () => holds(vectors[name]));

test("the policy of Strategic is the published text", () => {
  assert.equal(strategicTable, readFileSync(new URL("../server/web/verify/strategic.txt", tests), "ascii"));
});

test("a draw that would favour some results is thrown away", () => {
  class Scripted extends Stream {
    words = [];
    word() {
      return this.words.shift();
    }
  }
  const stream = new Scripted(seed, purposes.choice, 1);
  stream.words.push(2 ** 32 - 1, 2 ** 32 - 2, 2 ** 32 - 1, 7);
  assert.deepEqual([stream.below(3n), stream.below(2n ** 31n + 1n)], [2n, 7n]);
});

// ---------------------------------------------------------------- golden games

test("there are golden games of every end", () => {
  for (const name of [relaxed, strategic, late, resigned, voided]) assert.ok(golden[name], name);
});

for (const name of Object.keys(golden)) {
  test(`${name} checks out`, () => {
    const report = check(text(name));
    assert.equal(report.failure, null);
    assert.equal(report.ok, true);
    assert.equal(report.over, true);
    assert.equal(report.events, report.facts.length);
    assert.equal(report.headHash, report.facts.at(-1).hash);
    assert.ok(report.checks.every((each) => each.ok && each.count > 0));
  });

  test(`${name} without its end is a running game, wherever it stops`, () => {
    const lines = text(name).split("\n").slice(0, -1);
    const step = Math.ceil(lines.length / 100); // a long game stops at some places of every kind
    for (let kept = 2; kept < lines.length; kept += step) {
      const report = check(lines.slice(0, kept).join("\n") + "\n");
      assert.deepEqual([report.ok, report.over, report.events], [true, false, kept - 1]);
      assert.equal(report.deal === null, !report.openDeal);
      const secrets = ["secret", "rival", "choices"]; // what only the secret can show is not said to be shown
      assert.equal(report.checks.some((each) => secrets.includes(each.name)), false);
    }
  });

  test(`${name} is the same when written again`, () => {
    assert.equal(twin(text(name), () => undefined), text(name));
  });
}

test("a report tells the battles, both hands and the seed", () => {
  const report = check(text(relaxed));
  const { events } = opened(text(relaxed));
  const seals = events.filter((event) => event[1] === "Committed").map((event) => hex(event[place.Committed.seal]));
  assert.deepEqual(report.battles.map((each) => each.house.seal), seals);
  assert.deepEqual(report.deal, deal(fromHex(report.seed)));
  const finished = events[find(events, "Finished")];
  assert.equal(report.battles.at(-1).winner, finished[place.Finished.winner]);
  assert.ok(report.battles.every((each) => each.winner === (each.person > each.house.card ? 0 : 1)));
  assert.ok(report.battles.every(({ house }) => house.opens && house.card !== null));
});

test("a report can be written as JSON", () => {
  const { events, game } = opened(text(voided));
  events[0][place.Opened.key] = 2n ** 63n;
  const report = check(saved({ game, events }));
  assert.equal(report.ok, true);
  assert.match(JSON.stringify(report), /9223372036854775808/);
});

// ---------------------------------------------------------------- one bit

/** Which event's line a byte is in: its version, 0 for the first line. A line's feed belongs to it. */
function versionAt(file, offset) {
  return file.subarray(0, offset).filter((byte) => byte === 10).length;
}

/** A flip in the line of event k is refused at k. One in the first line names that line or, if it left a game's id, event 1. */
function flipIsRefused(file, offset, bit) {
  const altered = Uint8Array.from(file);
  altered[offset] ^= 1 << bit;
  const { ok, failure } = check(textOf(altered));
  assert.equal(ok, false, `byte ${offset}, bit ${bit}`);
  const line = versionAt(file, offset);
  const named = line > 0 ? [line] : [null, 1];
  assert.ok(named.includes(failure.version), `byte ${offset}, bit ${bit} of line ${line}: event ${failure.version}`);
}

test("every bit of a short game counts", () => {
  const file = golden[voided];
  for (let offset = 0; offset < file.length; offset++) for (let bit = 0; bit < 8; bit++) flipIsRefused(file, offset, bit);
});

test("every byte of longer games counts", () => {
  const below = random(50);
  for (const file of [golden[resigned], golden["war-left"]]) {
    for (let offset = 0; offset < file.length; offset++) flipIsRefused(file, offset, below(8));
  }
});

test("bits anywhere in any game count", () => {
  const below = random(1959);
  for (const file of Object.values(golden)) for (let tries = 0; tries < 150; tries++) flipIsRefused(file, below(file.length), below(8));
});

// ---------------------------------------------------------------- the file's form

const formTwins = {
  "an empty file": ["", null],
  "a byte order mark": [textOf(new Uint8Array([0xef, 0xbb, 0xbf, ...golden[voided]])), null],
  "another format": [text(voided).replace("statecraft-game/1", "statecraft-game/2"), null],
  "a game's id in capitals": [text(voided).replace(/"game":"[0-9a-f]+/, (id) => `"game":"${id.slice(8).toUpperCase()}`), null],
  "a space after a colon": [text(voided).replace('"version":2', '"version": 2'), 2],
  "a version with a leading zero": [text(voided).replace('"version":2', '"version":02'), 2],
  "keys in another order": [text(voided).replace(/("version":3),("hash":"[0-9a-f]+")/, "$2,$1"), 3],
  "a further key": [text(voided).replace('"version":3', '"version":3,"note":""'), 3],
  "carriage returns": [text(voided).replaceAll("\n", "\r\n"), null],
  "no last line feed": [text(voided).slice(0, -1), 6],
  "a second last line feed": [text(voided) + "\n", 7],
  "a line missing": [text(voided).replace(/\{"version":4.*\n/, ""), 4],
  "a line twice": [text(voided).replace(/\{"version":4.*\n/, "$&$&"), 5],
  "two lines swapped": [text(voided).replace(/(\{"version":3.*\n)(\{"version":4.*\n)/, "$2$1"), 3],
  "a hash in capitals": [text(voided).replace(/("version":2,"hash":")([0-9a-f]+)/, (_, before, hash) => before + hash.toUpperCase()), 2],
  "base64 without padding": [text(voided).replace(/=+"\}\n/, '"}\n'), 1],
  "a game of no event": [text(voided).split("\n")[0] + "\n", 1],
};

for (const [what, [file, version]] of Object.entries(formTwins)) {
  test(`a file is refused for ${what}`, () => {
    assert.notEqual(file, text(voided));
    refused(file, version);
  });
}

test("base64 has one form for any bytes", () => {
  for (const bytes of [[], [0], [1, 2], [255, 254, 253]]) {
    const written = base64(Uint8Array.from(bytes));
    assert.equal(written, Buffer.from(bytes).toString("base64"));
    assert.deepEqual(Array.from(fromBase64(written)), bytes);
  }
  for (const wrong of ["A", "AA", "AAA", "AB==", "AAB=", "A===", "====", "AA==AA==", " AA=", "AA=\n", "AA-_"]) {
    assert.equal(fromBase64(wrong), null, wrong);
  }
});

// ---------------------------------------------------------------- an event's form

test("msgpack is read in its shortest form only", () => {
  const numbers = [0, 1, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2n ** 53n, 2n ** 64n - 1n];
  const below = [-1, -32, -33, -128, -129, -32768, -32769, -(2 ** 31), -(2 ** 31) - 1, -(2n ** 63n)];
  const texts = [0, 31, 32, 255, 256, 65535, 65536].map((length) => "ü".repeat(length / 2) + "u".repeat(length % 2));
  const blobs = [0, 255, 256, 65535, 65536].map((length) => new Uint8Array(length));
  const lists = [0, 15, 16, 65535, 65536].map((length) => Array(length).fill(7));
  for (const value of [null, true, false, ...numbers, ...below, ...texts, ...blobs, ...lists, [[1, ["a"]]]]) {
    assert.deepEqual(read(packed(value)), value);
  }
  const longer = [
    "cc7f", "cd00ff", "ce0000ffff", "cf00000000ffffffff", "d0e0", "d07f", "d1ff80", "d2ffff8000", "d3ffffffff80000000",
    "d9017a", "da00017a", "db000000017a", "c5000100", "c60000000100", "dc000107", "dd0000000107",
  ];
  const other = ["ca3f800000", "cb3ff0000000000000", "80", "8101a0", "de0000", "df00000000", "c1", "d40000", "c70000", "d6ff00000000"];
  const torn = ["", "cd01", "a3616", "c403ff", "92c0", "dcffff", "ddffffffff", "c6ffffffff", "c0c0", "a1ff", "a3eda080"];
  for (const wrong of [...longer, ...other, ...torn, "91".repeat(100000)]) {
    assert.throws(() => read(fromHex(wrong.length % 2 ? wrong + "0" : wrong)), NotShortest, wrong);
  }
});

const bodyTwins = {
  "a byte after it": (body) => Uint8Array.of(...body, 0xc0),
  "a byte less": (body) => body.slice(0, -1),
  "a longer form of its format": (body) => Uint8Array.of(body[0], 0xcc, ...body.slice(1)),
  "a longer form of its array": (body) => Uint8Array.of(0xdc, 0, body[0] - 0x90, ...body.slice(1)),
  "a map for an array": (body) => Uint8Array.of(body[0] - 0x10, ...body.slice(1)),
  "no bytes": () => new Uint8Array(),
  "a number for all of it": () => packed(7),
  "nothing for all of it": () => packed(null),
  "no values": () => packed([]),
  "a format and no more": () => packed([1]),
};

for (const [what, alter] of Object.entries(bodyTwins)) {
  test(`an event is refused for ${what}`, () => {
    refusedTwin(resigned, (events) => {
      events[7] = alter(packed(events[7]));
      return 7;
    }, "event");
  });
}

const fieldTwins = {
  "another format": (event) => (event[0] = 2),
  "a fact that no game has": (event) => (event[1] = "Guessed"),
  "a fact with a property of every object for its name": (event) => (event[1] = "constructor"),
  "a number for its name": (event) => (event[1] = 7),
  "a time before 1970": (event) => (event[place.at] = -1),
  "a text for its time": (event) => (event[place.at] = "now"),
  "a cause of 15 bytes": (event) => (event[place.cause] = event[place.cause].slice(1)),
  "a field less": (event) => event.pop(),
  "a field more": (event) => event.push(0),
  "seat 2": (event) => (event[place.Revealed.seat] = 2),
  "a text for its battle": (event) => (event[place.Revealed.battle] = "1"),
  "card 51": (event) => (event[place.Revealed.card] = 51),
  "card 0": (event) => (event[place.Revealed.card] = 0),
  "a salt of 33 bytes": (event) => (event[place.Revealed.salt] = new Uint8Array(33)),
  "a text for its salt": (event) => (event[place.Revealed.salt] = "salt"),
};

for (const [what, alter] of Object.entries(fieldTwins)) {
  test(`a fact is refused for ${what}`, () => {
    refusedTwin(resigned, (events) => {
      const index = find(events, "Revealed", 2);
      alter(events[index]);
      return index;
    }, "event");
  });
}

test("settings rise by name, in the order of code points", () => {
  for (const fit of [[], [["a", 1], ["b", "x"]], [["a", 1], ["aa", 1]], [["\uffff", 1], ["\u{10000}", 1]]]) assert.ok(settings.fits(fit));
  for (const unfit of [[["b", 1], ["a", 1]], [["a", 1], ["a", 1]], [["aa", 1], ["a", 1]], [["a", null]], [["a"]], [[1, 1]], ["a"], 1, [["\u{10000}", 1], ["\uffff", 1]]]) {
    assert.equal(settings.fits(unfit), false, JSON.stringify(unfit));
  }
});

test("settings are those of their mode, all of them and no others", () => {
  const most = { what: "up to 3", fits: (value) => value <= 3 };
  const shape = settingsOf({ a: most }, { b: most });
  for (const fit of [[["a", 3]], [["a", 1], ["b", 2]]]) assert.ok(shape.fits(fit));
  for (const unfit of [[], [["b", 1]], [["a", 4]], [["a", 1], ["b", 4]], [["a", 1], ["c", 1]], [["constructor", 1]]]) {
    assert.equal(shape.fits(unfit), false, JSON.stringify(unfit));
  }
  assert.ok(settingsOf({}).fits([]));
  assert.equal(settingsOf({}).fits([["a", 1]]), false);
});

test("values are equal only if their bytes are", () => {
  const values = [null, false, true, 0, 1, -1, 2n ** 60n, 2n ** 61n, "", "0", "nobody", Uint8Array.of(), Uint8Array.of(48), [], [0], [0, 1], [[0], 1]];
  values.forEach((one, at) => values.forEach((other, index) => assert.equal(equal(one, other), at === index)));
});

// ---------------------------------------------------------------- facts that can't stand where they stand

/** A house hand's card other than the sealed one, sealed and revealed as well as can be. */
function otherCard(nth) {
  return (events, game) => {
    const [committed, revealed] = [find(events, "Committed", nth), find(events, "Revealed", nth)];
    const later = events[find(events, "Revealed", nth + 1)][place.Revealed.card];
    events[revealed][place.Revealed.card] = later;
    const battle = events[committed][place.Committed.battle];
    events[committed][place.Committed.seal] = promises.sealOf(game, 1, battle, later, events[revealed][place.Revealed.salt]);
    return committed;
  };
}

/** The sealed card under another salt, whose seal it opens. */
function otherSalt(nth) {
  return (events, game) => {
    const [committed, revealed] = [find(events, "Committed", nth), find(events, "Revealed", nth)];
    const salt = flipped(events[revealed][place.Revealed.salt]);
    const [, , , , , battle, card] = events[revealed];
    events[revealed][place.Revealed.salt] = salt;
    events[committed][place.Committed.seal] = promises.sealOf(game, 1, battle, card, salt);
    return committed;
  };
}

/** The person plays a card that `pick` finds in what was dealt and shown. */
function playing(nth, pick) {
  return (events) => {
    const index = find(events, "Played", nth);
    events[index][place.Played.card] = pick(check(text(relaxed)), events);
    return index;
  };
}

/** Battle by which the person has captured a card in round one, and the card. */
function firstCapture() {
  const mine = check(text(relaxed)).battles.find((each) => each.winner === 0 && each.battle < 7);
  return { nth: mine.battle + 1, card: mine.house.card };
}

const factTwins = {
  // [golden game, how to alter it (giving the index of the faulty event), the check that fails]
  "an opening of another time": [voided, setting("Opened", "at_ms", (at) => at + 1), "opening"],
  "a mode that isn't known": [voided, setting("Opened", "mode", "friendly"), "opening"],
  "the settings of a game between people": [voided, setting("Opened", "settings", [["commit_seconds", 30], ["reveal_seconds", 15]]), "opening"],
  "a mode with a property of every object for its name": [voided, setting("Opened", "mode", "constructor"), "opening"],
  "rules that aren't known": [voided, setting("Opened", "rules", "fifty-states/2"), "event"],
  "settings against the house": [voided, setting("Opened", "settings", [["commit_seconds", 30]]), "opening"],
  "another policy": [voided, setting("Opened", "strategy_hash", flipped), "policy"],
  "the policy of the other mode": [relaxed, setting("Opened", "mode", "strategic"), "policy"],
  "a game that doesn't begin with its opening": [voided, dropping("Opened"), "event"],
  "a second opening": [voided, (events) => (events.splice(1, 0, events[0]), 1), "order"],
  "no first seat": [voided, dropping("Seated"), "seats"],
  "no second seat": [voided, dropping("Seated", 2), "order"],
  "a person in the other seat": [voided, setting("Seated", "seat", 1), "seats"],
  "a person without a name": [voided, setting("Seated", "player", new Uint8Array()), "seats"],
  "a person who is a rival": [voided, setting("Seated", "rival", "opal-winterbourne"), "seats"],
  "a promise of entropy against the house": [voided, setting("Seated", "entropy_hash", new Uint8Array(32)), "seats"],
  "a player in the house's seat": [voided, setting("Seated", "player", new Uint8Array(16), 2), "seats"],
  "another rival": [voided, setting("Seated", "rival", (slug) => cast.find((each) => each.slug !== slug).slug, 2), "rival"],
  "a rival nobody knows": [voided, setting("Seated", "rival", "nobody", 2), "rival"],
  "entropy from the house": [relaxed, setting("Mixed", "seat", 1), "entropy"],
  "entropy twice": [relaxed, (events) => { const at = find(events, "Mixed") + 1; events.splice(at, 0, events[at - 1]); return at; }, "order"],
  "cards dealt before the entropy": [relaxed, dropping("Mixed"), "order"],
  "cards never dealt": [relaxed, dropping("Dealt"), "order"],
  "six cards dealt for seven": [relaxed, setting("Dealt", "counts", [6, 8]), "deal"],
  "a deal from other entropy": [relaxed, (events) => { setting("Mixed", "entropy", flipped)(events); return find(events, "Committed"); }, "choices"],
  "a seal over another card, opened well": [relaxed, otherCard(3), "choices"],
  "a seal over another card in Strategic, after round one": [strategic, otherCard(8), "choices"],
  "a seal under another salt, opened well": [relaxed, otherSalt(1), "choices"],
  "a seal of nothing": [relaxed, setting("Committed", "seal", new Uint8Array(32), 4), "choices"],
  "a seal by the person": [relaxed, setting("Committed", "seat", 0, 2), "choices"],
  "no seal before the reveal": [relaxed, dropping("Committed", 2), "order"],
  "a card that doesn't open the seal": [relaxed, setting("Revealed", "card", (card) => (card % 50) + 1, 3), "seals"],
  "a salt that doesn't open the seal": [relaxed, setting("Revealed", "salt", flipped, 3), "seals"],
  "a reveal of another battle": [relaxed, setting("Revealed", "battle", 2), "seals"],
  "the person's card before the house's": [relaxed, (events) => { const at = find(events, "Revealed"); events.splice(at, 2, events[at + 1], events[at]); return at; }, "order"],
  "a card for another battle": [relaxed, setting("Played", "battle", 9, 2), "cards"],
  "a card played by the house": [relaxed, setting("Played", "seat", 1, 2), "cards"],
  "a card that sits out": [relaxed, playing(2, ({ deal }) => Array.from({ length: 50 }, (_, at) => at + 1).find((card) => !deal.flat().includes(card))), "cards"],
  "the rival's card": [relaxed, playing(2, ({ battles }) => battles[3].house.card), "cards"],
  "a card played before": [relaxed, playing(2, ({ battles }) => battles[0].person), "cards"],
  "a card captured in this round": [relaxed, playing(firstCapture().nth, () => firstCapture().card), "cards"],
  "the wrong winner of a battle": [relaxed, setting("Captured", "seat", (seat) => 1 - seat, 3), "captures"],
  "the higher card captured": [relaxed, (events) => { const at = find(events, "Captured", 2); events[at].splice(6, 2, events[at][7], events[at][6]); return at; }, "captures"],
  "another card captured": [relaxed, setting("Captured", "card", (card) => (card % 50) + 1, 2), "captures"],
  "no capture": [relaxed, dropping("Captured", 2), "order"],
  "a capture twice": [relaxed, (events) => { const at = find(events, "Captured") + 1; events.splice(at, 0, events[at - 1]); return at; }, "order"],
  "no end of a round": [relaxed, dropping("RoundEnded"), "order"],
  "a round ended early": [relaxed, (events) => { const at = find(events, "Captured", 3) + 1; events.splice(at, 0, events[find(events, "RoundEnded")]); return at; }, "order"],
  "another round ended": [relaxed, setting("RoundEnded", "round", 2), "rounds"],
  "a result too early": [relaxed, (events) => { const at = find(events, "Captured", 3) + 1; events.splice(at, 0, events[find(events, "Finished")]); return at; }, "order"],
  "no result": [relaxed, dropping("Finished"), "order"],
  "the wrong winner": [relaxed, setting("Finished", "winner", (seat) => 1 - seat), "result"],
  "no winner": [relaxed, setting("Finished", "winner", null), "result"],
  "another reason": [relaxed, setting("Finished", "reason", "resigned"), "result"],
  "the wrong winner of a resigned game": [resigned, setting("Finished", "winner", 0), "result"],
  "a resigned game called void": [resigned, (events) => { const at = find(events, "Finished"); events[at].splice(4, 2, null, "void"); return at; }, "result"],
  "a void game with a winner": [voided, (events) => { const at = find(events, "Finished"); events[at].splice(4, 2, 1, "resigned"); return at; }, "result"],
  "a house that resigns": [resigned, setting("Resigned", "seat", 1), "result"],
  "a resignation within a battle": [relaxed, (events) => { const at = find(events, "Played", 2); events.splice(at, 0, [1, "Resigned", events[at][2], events[at][3], 0]); return at; }, "order"],
  "a game that goes on after a resignation": [resigned, (events) => { const at = find(events, "Resigned") + 1; events.splice(at, 0, events[find(events, "Revealed")]); return at; }, "order"],
  "time up a millisecond before seven days": [late, (events) => {
    const [from, end] = [find(events, "TimeUp"), events[0][place.at] + weekMs - 1];
    for (const event of events.slice(from)) event[place.at] = end;
    return from;
  }, "deadline"],
  "time up for the house": [late, setting("TimeUp", "owing", [1]), "deadline"],
  "time up for both": [late, setting("TimeUp", "owing", [0, 1]), "deadline"],
  "time up for nobody": [late, setting("TimeUp", "owing", []), "deadline"],
  "a late game won by who was late": [late, setting("Finished", "winner", 0), "result"],
  "a late game lost by both": [late, (events) => { const at = find(events, "Finished"); events[at].splice(4, 2, null, "both_late"); return at; }, "result"],
  "another secret": [relaxed, setting("Unsealed", "secret", flipped), "secret"],
  "a promise of another secret": [relaxed, (events) => { setting("Opened", "secret_hash", flipped)(events); return events.length - 1; }, "secret"],
  "a secret shown while the game runs": [relaxed, (events) => { const at = find(events, "Revealed", 4); events.splice(at, 0, events.at(-1)); return at; }, "order"],
  "an event after the end": [relaxed, (events) => (events.push([1, "Resigned", events.at(-1)[2], events[0][3], 0]), events.length - 1), "order"],
  "the secret twice": [relaxed, (events) => (events.push(events.at(-1)), events.length - 1), "order"],
  "another time within an append": [relaxed, (events) => {
    const at = find(events, "Captured", 3);
    for (const event of events.slice(at)) event[place.at] += 1;
    return at;
  }, "append"],
  "another cause within an append": [relaxed, setting("Captured", "cause", flipped), "append"],
  "a command taken twice": [relaxed, (events) => {
    const at = find(events, "Revealed", 3);
    const taken = events[at][place.cause];
    for (const event of events) if (event[place.cause].every((byte, index) => byte === taken[index])) event[place.cause] = events[0][place.cause];
    return at;
  }, "append"],
  "falling time": [relaxed, (events) => { const at = find(events, "Revealed", 5); events[at][place.at] = events[at - 1][place.at] - 1; return at; }, "clock"],
};

for (const [what, [name, alter, failing]] of Object.entries(factTwins)) {
  test(`a game is refused for ${what}`, () => refusedTwin(name, alter, failing));
}

test("what may stand where a person is asked is told in full", () => {
  const file = twin(text(relaxed), (events) => void dropping("Revealed", 2)(events));
  assert.equal(check(file).failure.expected, "Revealed or Resigned or TimeUp or Lost");
});

test("of two faults the first is named", () => {
  const early = (events) => setting("Captured", "seat", (seat) => 1 - seat, 2)(events);
  refusedTwin(relaxed, (events) => (events.pop(), events.push(Uint8Array.of(0x90)), early(events)), "captures");
  refusedTwin(relaxed, (events) => (setting("Finished", "winner", null)(events), early(events)), "captures");
  const file = twin(text(relaxed), (events) => void early(events)).slice(0, -9);
  refused(file, find(opened(text(relaxed)).events, "Captured", 2) + 1, "captures");
});

test("time up at seven days to the millisecond is time up", () => {
  const file = twin(text(late), (events) => {
    for (const event of events.slice(find(events, "TimeUp"))) event[place.at] = events[0][place.at] + weekMs;
  });
  assert.equal(check(file).ok, true);
});

test("time up before any entropy makes a game void", () => {
  const ends = (reason, winner) => twin(text(voided), (events) => {
    const from = find(events, "Resigned");
    events[from].splice(1, 1, "TimeUp");
    events[from][4] = [0];
    events[from + 1].splice(4, 2, winner, reason);
    for (const event of events.slice(from)) event[place.at] = events[0][place.at] + weekMs;
  });
  assert.equal(check(ends("void", null)).over, true);
  refused(ends("time", 1), 5, "result");
});

// A running game's secret is not out: the same faults, as far as they can be seen without it.

const runningTwins = {
  "a card that doesn't open the seal": [setting("Revealed", "card", (card) => (card % 50) + 1, 3), "seals"],
  "a card the rival has shown": [(events) => setting("Played", "card", events[find(events, "Revealed")][place.Revealed.card], 3)(events), "cards"],
  "a card played before": [(events) => setting("Played", "card", events[find(events, "Played")][place.Played.card], 3)(events), "cards"],
  "a card nobody has after round one": [(events) => setting("Played", "card", events[find(events, "Captured")][place.Captured.discarded], 8)(events), "cards"],
  "a rival nobody knows": [setting("Seated", "rival", "nobody", 2), "rival"],
  "no end of a round": [dropping("RoundEnded"), "order"],
};

for (const [what, [alter, failing]] of Object.entries(runningTwins)) {
  test(`a running game is refused for ${what}`, () => {
    refusedTwin(relaxed, (events) => {
      const index = alter(events);
      return [index, events.slice(0, find(events, "Finished"))];
    }, failing);
  });
}

test("no nonsense in a field makes a check fall over", () => {
  const below = random(1787);
  const nonsense = [null, true, -1, 0, 1, 2, 7, 13, 50, 255, 65536, 2n ** 63n, -(2n ** 40n), "", "void", "versus", [], [0], [1, 0], [[]], new Uint8Array(), new Uint8Array(16), new Uint8Array(32)];
  for (const name of Object.keys(golden)) {
    for (let tries = 0; tries < 50; tries++) {
      const file = twin(text(name), (events) => {
        const event = events[below(events.length)];
        event[below(event.length)] = nonsense[below(nonsense.length)];
      });
      const { ok, failure } = check(file);
      assert.equal(ok, failure === null);
    }
  }
});

// ---------------------------------------------------------------- a further game

/** The smallest game: whoever has the higher of two dealt cards wins. Between people, or against the house. */
const higher = {
  name: "higher/1",
  facts: { Cut: { proof: bytes(1) } },
  modes: { house: { people: [0], policy: "none\n", settings: settingsOf({}) }, versus: { people: [0, 1], policy: null, settings: settingsOf({ pace: int }) } },
  cast: ["anybody"],
  counts: [1, 1],
  deal: (seed) => [[seed[0]], [seed[1]]],
  play: (log, { hands }) => {
    if (!log.turn("Cut")) return { owing: [0, 1] };
    log.take("Cut");
    return { winner: hands ? Number(hands[1][0] > hands[0][0]) : 0, reason: "all_cards" };
  },
};
const withHigher = tableOf(fiftyStates, higher);

/** A game of it between two people. */
function higherGame(after) {
  const events = [[1, "Opened", 5, "higher/1", "versus", [["pace", 5]], false, false, 5, 0, promises.secretHash(game, secret), new Uint8Array(32)]];
  const people = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const players = [3, 4].map((byte) => new Uint8Array(16).fill(byte));
  players.forEach((player, seat) => events.push([1, "Reserved", 5, seat, player]));
  people.forEach((entropy, seat) => events.push([1, "Seated", 5 + seat, seat, players[seat], "", promises.entropyHash(game, seat, entropy)]));
  for (const seat of [1, 0]) events.push([1, "Mixed", 7, seat, people[seat]]);
  events.push([1, "Dealt", 7, [1, 1]]);
  const [[one], [other]] = higher.deal(promises.seedOf(secret, game, people));
  events.push(...structuredClone(after ?? [[1, "Cut", 8, Uint8Array.of(9)], [1, "Finished", 8, Number(other > one), "all_cards"]]));
  events.push([1, "Unsealed", events.at(-1)[place.at], secret]);
  for (const event of events) event.splice(place.cause, 0, new Uint8Array(16));
  return caused(events);
}

/** Each command of that game under a cause of its own. */
function caused(events) {
  let number = 0;
  for (const event of events) {
    const [, type] = event;
    if (["Opened", "Seated", "Mixed", "Cut", "Resigned", "TimeUp"].includes(type)) number += 1;
    event[place.cause] = new Uint8Array(16).fill(number);
  }
  return events;
}

test("a further game is one module and one line in the table", () => {
  const events = higherGame();
  assert.equal(check(saved({ game, events }), withHigher).over, true);
  assert.equal(check(text(relaxed), withHigher).over, true);
  refused(saved({ game, events }), 1, "event");
  refused(twin(text(relaxed), (events) => void events.splice(10, 0, higherGame()[8])), 11, "event", withHigher);
});

test("between people the promised entropy is mixed, in either order", () => {
  const altered = (alter) => {
    const events = higherGame();
    alter(events);
    return saved({ game, events: caused(events) });
  };
  assert.equal(check(altered((events) => events.splice(5, 2, events[6], events[5])), withHigher).over, true);
  refused(altered((events) => (events[5][place.Mixed.entropy] = new Uint8Array(32))), 6, "entropy", withHigher);
  refused(altered((events) => events.splice(6, 0, [...events[5]])), 7, "entropy", withHigher);
  refused(altered((events) => (events[3][place.Seated.entropy_hash] = new Uint8Array())), 4, "seats", withHigher);
  refused(altered((events) => (events[0][place.Opened.strategy_hash] = new Uint8Array(32).fill(1))), 1, "policy", withHigher);
});

test("between people both may be late, and either may resign", () => {
  const ends = (...after) => saved({ game, events: higherGame(after) });
  const late = [1, "TimeUp", weekMs + 9, [0, 1]];
  assert.equal(check(ends(late, [1, "Finished", weekMs + 9, null, "both_late"]), withHigher).over, true);
  refused(ends(late, [1, "Finished", weekMs + 9, 0, "time"]), 10, "result", withHigher);
  assert.equal(check(ends([1, "Resigned", 9, 1], [1, "Finished", 9, 0, "resigned"]), withHigher).over, true);
  const alone = higherGame([[1, "Resigned", 9, 0], [1, "Finished", 9, null, "void"]]).filter((_, at) => at < 4 || at > 7);
  assert.equal(check(saved({ game, events: alone }), withHigher).over, true);
});

test("numbers and fields of the wrong width are our own mistake and crash", () => {
  assert.deepEqual(Array.from(wide(0x01020304, 4)), [1, 2, 3, 4]);
  assert.throws(() => wide(256, 1), RangeError);
  assert.throws(() => wide(-1, 2), RangeError);
  assert.throws(() => promises.sealOf(game, 1, 1, 1, new Uint8Array(31)), RangeError);
  assert.throws(() => new Stream(new Uint8Array(31), 1, 0), RangeError);
  assert.throws(() => new Stream(seed, 1, 0).below(0n), RangeError);
});
