// What a browser pledges between people, against a server that tells it whatever it likes: nothing goes out before its time.
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { test } from "node:test";

import { Game } from "../../server/web/game.js";
import { keepAll } from "../../server/web/gamelog.js";
import { browser } from "../../server/web/storage.js";
import { link, origin } from "../../server/web/verify/chain.js";
import { hex, same } from "../../server/web/verify/hash.js";
import { clientEntropy, clientSalt, entropyHash, sealOf } from "../../server/web/verify/promises.js";
import { packed } from "./twins.mjs";

// Node.js 18, which Debian 12 has, keeps it in a module of its own.
globalThis.crypto ??= /** @type {any} */ (webcrypto);

const secret = new Uint8Array(32).fill(5);
const us = new Uint8Array(16).fill(1);
const them = new Uint8Array(16).fill(2);
const hand = [3, 9, 27, 31, 40, 44, 50];
const facts = {
  Committed: ["seat", "battle", "seal"],
  Revealed: ["seat", "battle", "card", "salt"],
};
const theirs = (byte) => new Uint8Array(32).fill(byte);
let games = 0;

/** A browser at a game, and the server's side of its socket. */
class Told {
  constructor(id = new Uint8Array(16).fill(++games)) {
    this.id = id;
    this.topic = `game/${hex(id)}`;
    this.version = 0;
    this.hash = origin(id);
    this.table = { opened: null, seats: [null, null], mixed: [null, null], position: null, finished: null };
    this.asked = [];
    const socket = {
      player: hex(us),
      subscribe: (_, feed) => { feed.after(); this.feed = feed; },
      unsubscribe: () => {},
      resume: () => {},
      ask: (message) => { this.asked.push(message); return new Promise(() => {}); },
    };
    const nothing = () => {};
    this.game = new Game({ socket, id: hex(id), secret: () => secret, toldOf: () => ({ facts, keep: keepAll }), changed: nothing, news: nothing, refused: nothing });
    this.game.begin();
  }

  /** One append. */
  say(table, ...said) {
    const bodies = said.map(([type, ...fields]) => packed([1, type, 1, new Uint8Array(16), ...fields]));
    for (const body of bodies) this.hash = link(this.hash, body);
    this.version += bodies.length;
    Object.assign(this.table, table);
    this.feed.take({ type: "events", topic: this.topic, events: bodies, version: this.version, hash8: this.hash.subarray(0, 8), table: { ...this.table }, due_ms: null });
    if (this.table.position) this.feed.take({ type: "hand", topic: this.topic, version: this.version, seat: 0, cards: hand });
    return this;
  }

  open(secretHash = new Uint8Array(32).fill(7)) {
    const fields = ["Opened", "fifty-states/1", "versus", [["commit_seconds", 30], ["reveal_seconds", 15]], true, false, 1, 0, secretHash, new Uint8Array(32)];
    this.say({ opened: { rules: "fifty-states/1", mode: "versus" } }, fields, ["Reserved", 0, us], ["Reserved", 1, them]);
    this.opened = this.game.log.opening[0].hash;
    return this;
  }

  get promise() {
    return entropyHash(this.id, 0, clientEntropy(secret, this.opened));
  }

  seatUs(promise = this.promise) {
    return this.say({ seats: [{ seat: 0, player: us }, this.table.seats[1]] }, ["Seated", 0, us, "", promise]);
  }

  seatThem() {
    return this.say({ seats: [this.table.seats[0], { seat: 1, player: them }] }, ["Seated", 1, them, "", theirs(6)]);
  }

  deal() {
    return this.say({ position: { battle: 1 }, mixed: [1, 1] }, ["Mixed", 0, clientEntropy(secret, this.opened)], ["Mixed", 1, theirs(8)], ["Dealt", [7, 7]]);
  }

  seal(card, battle = 1) {
    return sealOf(this.id, 0, battle, card, clientSalt(secret, this.opened, battle, card));
  }

  commit(seat, seal, battle = 1) {
    return this.say({}, ["Committed", seat, battle, seal]);
  }

  /** What was asked of this kind. */
  of(kind) {
    return this.asked.filter((message) => message.type === kind || message.command?.do === kind);
  }
}

const dealt = (id) => new Told(id).open().seatUs().seatThem().deal();
const soon = () => new Promise((go) => setTimeout(go, 0));

test("the seat that is kept is taken with a promise of our chance, and the chance goes out when both sit", async () => {
  const told = new Told().open();
  const [sit] = told.of("sit");
  assert.ok(same(sit.entropy_hash, told.promise));
  told.seatUs();
  await soon();
  assert.equal(told.of("Mix").length, 0);
  told.seatThem();
  await soon();
  assert.deepEqual(told.of("Mix").map(({ command }) => command.entropy), [clientEntropy(secret, told.opened)]);
});

test("a seat taken with a promise that isn’t ours gets no chance of ours", async () => {
  const told = new Told().open().seatUs(theirs(3)).seatThem();
  await soon();
  assert.equal(told.of("Mix").length, 0);
  assert.equal(told.game.pledge.foreign, true);
});

test("a second opening of the same game is pledged nothing", async () => {
  const first = new Told().open();
  browser.write("heads", []); // even by a browser that has lost the heads it held
  const second = new Told(first.id).open(new Uint8Array(32).fill(8));
  await soon();
  assert.equal(second.of("sit").length, 0);
  assert.equal(second.game.forked, true);
});

test("a card is committed under a seal that only our secret opens, the same whenever it is made", () => {
  const told = dealt();
  told.game.ask({ do: "Commit", battle: 1, card: 27 });
  const [commit] = told.of("Commit");
  assert.deepEqual(commit.command, { do: "Commit", battle: 1, seal: told.seal(27) });
});

for (const order of [[0, 1], [1, 0]]) {
  test(`a card is shown when both seals stand, seat ${order[0]} first, and not before`, async () => {
    const told = dealt();
    const seals = [told.seal(31), theirs(4)];
    told.commit(order[0], seals[order[0]]);
    await soon();
    assert.equal(told.of("Reveal").length, 0);
    assert.equal(told.game.pledge.card, order[0] === 0 ? 31 : null);
    told.commit(order[1], seals[order[1]]);
    await soon();
    const salt = clientSalt(secret, told.opened, 1, 31);
    assert.deepEqual(told.of("Reveal").map(({ command }) => command), [{ do: "Reveal", battle: 1, card: 31, salt }]);
    assert.equal(told.game.pledge.card, 31);
    told.say({}, ["Revealed", 0, 1, 31, salt]);
    assert.equal(told.game.pledge.card, null);
  });
}

test("a browser that knows nothing but the secret shows the card too", async () => {
  const first = dealt();
  for (const name of ["heads", "shown", "openings"]) browser.write(name, []);
  const second = dealt(first.id).commit(1, theirs(4)).commit(0, first.seal(44));
  await soon();
  assert.equal(second.of("Reveal")[0].command.card, 44);
});

test("a seal that isn’t ours is opened by nothing", async () => {
  const told = dealt().commit(0, theirs(9)).commit(1, theirs(4));
  await soon();
  assert.equal(told.game.pledge.card, null);
  assert.equal(told.of("Reveal").length, 0);
});

test("a battle whose card was shown is never shown under other seals", async () => {
  const first = dealt();
  first.commit(0, first.seal(50)).commit(1, theirs(4));
  await soon();
  assert.equal(first.of("Reveal").length, 1);
  // The server takes the battle back. Even a browser that has lost the heads it held doesn't play it again.
  for (const [ours, other] of [[50, theirs(5)], [3, theirs(4)]]) {
    browser.write("heads", []);
    const second = dealt(first.id);
    second.commit(0, second.seal(ours)).commit(1, other);
    await soon();
    assert.equal(second.of("Reveal").length, 0);
    assert.equal(second.game.forked, true);
  }
  browser.write("heads", []);
  const again = dealt(first.id);
  again.commit(0, again.seal(50)).commit(1, theirs(4));
  await soon();
  assert.equal(again.of("Reveal").length, 1);
});

test("on a history that isn’t the one it saw a browser commits nothing", async () => {
  const first = dealt();
  first.commit(1, theirs(4));
  const second = dealt(first.id).commit(1, theirs(5));
  assert.equal(second.game.forked, true);
  second.game.ask({ do: "Commit", battle: 1, card: 3 });
  assert.equal(second.of("Commit").length, 0);
});
