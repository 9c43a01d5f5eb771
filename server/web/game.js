// One game as this browser has it: the verified log, the table, the hand, the chosen card, and the command under way.
import { GameLog } from "./gamelog.js";
import { newId } from "./socket.js";
import { browser, tab } from "./storage.js";
import { Pledge } from "./pledge.js";
import { fromHex, hex } from "./verify/hash.js";

const headsMax = 60;
/** Mends without progress before the log is read from the beginning. */
const mendsMax = 3;

/**
 * @typedef {import("./gamelog.js").Fact} Fact
 * @typedef {import("./gamelog.js").Head} Head
 * @typedef {{id: string, command: {do: string, [field: string]: any}, version: number | null}} Pending
 *   `version`: of the head it made, once the server has said so
 * @typedef {{seats: readonly (boolean | null)[], watchers: number}} Presence whether each seat's player is connected
 */

export class Game {
  /** The public view after the last event; null until there is one. @type {any} */
  table = null;
  /** The cards that may be played; those of an older version until the server has told the next. @type {readonly number[]} */
  hand = [];
  #handVersion = -1;
  /** Why there is nothing to show: `unknown_game`, `damaged`. @type {string | null} */
  missing = null;
  /** Why the last command was refused. @type {string | null} */
  refusal = null;
  /** Whether the server tells another history than this browser has seen before. */
  forked = false;
  /** When the present deadline is, in Unix milliseconds on the server's clock; null: there is none. @type {number | null} */
  dueMs = null;
  /** Who is there, as the server tells of games between people. @type {Presence | null} */
  presence = null;
  /** What the players are called. @type {import("./games.js").Called} */
  called = [null, null];
  /** The version after which facts came live; what lies before was told as history. */
  liveFrom = Infinity;
  /** The last head that this tab saw move live, for what is drawn as news. */
  newsFrom = Infinity;
  /** @type {Pending | null} */
  pending;
  #mends = 0;
  /** The id of the command that this page has sent. @type {string | null} */
  #sent = null;

  /**
   * @param {object} with_
   * @param {import("./socket.js").Socket} with_.socket
   * @param {string} with_.id hex
   * @param {() => Uint8Array} with_.secret
   * @param {(rules: string) => import("./gamelog.js").Told} with_.toldOf
   * @param {() => void} with_.changed
   * @param {(facts: readonly Fact[], from: number) => void} with_.news facts above that version came live
   * @param {(reason: string) => void} with_.refused
   * @param {boolean} [with_.sits] whether somebody is there to take a seat that is kept for us
   */
  constructor({ socket, id, secret, toldOf, changed, news, refused, sits = true }) {
    this.socket = socket;
    this.id = id;
    this.secret = secret;
    this.on = { changed, news, refused };
    this.sits = sits;
    this.topic = `game/${id}`;
    this.log = new GameLog(id, toldOf);
    /** What every telling from now on must pass through. @type {Head | null} */
    this.held = null;
    this.pending = tab.read(`pending.${id}`);
    this.pledge = new Pledge(this);
  }

  begin() {
    this.socket.subscribe(this.topic, {
      after: () => {
        // Whatever any tab had chained before we ask, the answer must hold. (Not what one chains while it travels.)
        this.held = later(this.held, heldHead(this.id));
        this.log.expect(this.held);
        return this.log.head.version ? [this.log.head.version, this.log.head.hash] : null;
      },
      take: (message) => this.#take(message),
    });
  }

  end() {
    this.socket.unsubscribe(this.topic);
  }

  // ---- what there is

  get facts() {
    return this.log.facts;
  }

  /** The seat that is ours; null: we watch. @returns {number | null} */
  get seat() {
    const player = this.socket.player;
    const seated = this.table?.seats.find((/** @type {any} */ seat) => seat && seat.player.length && hex(seat.player) === player);
    return seated ? seated.seat : null;
  }

  get over() {
    return Boolean(this.table?.finished);
  }

  /** Whether two people play it. */
  get between() {
    return this.pledge.between;
  }

  /** Whether the hand is that of the table. */
  get settled() {
    return this.#handVersion === this.log.head.version;
  }

  /** The card held out for the next command, if it may still be played. @returns {number | null} */
  get chosen() {
    const kept = tab.read(`chosen.${this.id}`);
    return kept && kept.battle === this.table?.position?.battle && this.hand.includes(kept.card) ? kept.card : null;
  }

  // ---- what can be done

  /** @param {number} card */
  choose(card) {
    if (this.pending || this.over || !this.settled || !this.hand.includes(card)) return;
    tab.write(`chosen.${this.id}`, { battle: this.table.position.battle, card });
    this.refusal = null;
    this.on.changed();
  }

  /** @param {{do: string, [field: string]: any}} command */
  ask(command) {
    if (this.pending) return;
    this.refusal = null;
    this.pending = { id: newId(), command, version: null };
    // Kept before it is sent: a page that is loaded again in between asks again under the same id, and it happens once.
    tab.write(`pending.${this.id}`, this.pending);
    this.#send(this.pending);
    this.on.changed();
  }

  /** What a page that was loaded again had under way, once the log says what it is under way in. */
  #resend() {
    if (this.pending && this.#sent !== this.pending.id) void this.#send(this.pending);
  }

  /** @param {Pending} pending */
  async #send(pending) {
    const { id } = pending;
    const command = this.pledge.sealed(pending.command);
    if (!command) return this.#forget();
    this.#sent = id;
    const answer = await this.socket.ask({ type: "do", id, game: this.id, command });
    if (this.pending?.id !== id) return;
    if (answer.type === "done") this.pending.version = answer.version;
    else this.#refuse(answer.reason);
    this.#settle();
    this.on.changed();
  }

  /** @param {string} reason */
  #refuse(reason) {
    this.#forget();
    this.declined(reason);
  }

  /** Something of ours was refused. @param {string} reason */
  declined(reason) {
    this.refusal = reason;
    this.on.refused(reason);
    // What we believed was wrong: ask for what we may have missed.
    this.socket.resume(this.topic);
  }

  /** The server's history isn't the one this browser pledged itself to. */
  stray() {
    this.forked = true;
    this.on.changed();
  }

  #settle() {
    if (this.pending?.version != null && this.log.head.version >= this.pending.version) this.#forget();
  }

  #forget() {
    this.pending = null;
    tab.drop(`pending.${this.id}`);
  }

  // ---- what the server tells

  /** @param {import("./socket.js").Message} message */
  #take(message) {
    switch (message.type) {
      case "subscribed": return this.#subscribed(message);
      case "forked":
        // All of it again, so that the notice can say where it left what this browser holds.
        this.forked = true;
        this.#startOver();
        this.socket.resume(this.topic);
        return this.on.changed();
      case "events": return this.#events(message);
      case "hand": return this.#hand(message);
      case "presence":
        this.presence = { seats: message.seats, watchers: message.watchers };
        return this.on.changed();
      case "names":
        this.called = message.names;
        return this.on.changed();
      case "not_subscribed":
        this.missing = message.reason;
        return this.on.changed();
      default: return undefined;
    }
  }

  /** @param {any} message */
  #subscribed({ recovered, version, hash }) {
    this.missing = null;
    const { head } = this.log;
    if (recovered && version === head.version && hex(hash) === hex(head.hash)) return;
    if (head.version > 0) this.#startOver();
  }

  #startOver() {
    this.held = later(this.held, this.log.head);
    this.log = this.log.empty();
    this.log.expect(this.held);
    this.liveFrom = Infinity;
    this.newsFrom = Infinity;
  }

  /** @param {any} message */
  #events({ events, version, hash8, table, due_ms }) {
    const before = this.log.head.version;
    if (!this.log.take(events, version, hash8)) return this.#mend();
    this.#mends = 0;
    if (this.log.strayed) this.forked = true;
    if (!table) return;
    this.table = table;
    this.dueMs = due_ms ?? null;
    if (this.held && version < this.held.version && this.liveFrom === Infinity) this.forked = true;
    if (!this.forked) keepHead(this.id, this.log);
    this.pledge.check();
    this.#resend();
    this.#settle();
    if (this.liveFrom === Infinity) this.liveFrom = version;
    else {
      this.newsFrom = before;
      this.on.news(this.log.facts, before);
    }
    if (this.over) this.#end();
    this.pledge.heard();
    this.on.changed();
  }

  #end() {
    tab.drop(`chosen.${this.id}`);
    // Records are folded from what is signed, a moment later: whoever reads them next waits for this game.
    if (this.seat !== null) browser.write("finished", this.id);
  }

  #mend() {
    if (++this.#mends > mendsMax) this.#startOver();
    // Ever slower: a server that keeps sending what doesn't chain must not be asked in a circle.
    setTimeout(() => this.socket.resume(this.topic), Math.min(8000, 50 * 2 ** this.#mends));
  }

  /** @param {any} message */
  #hand({ version, cards }) {
    if (version !== this.log.head.version) return;
    this.hand = cards;
    this.#handVersion = version;
    this.pledge.heard();
    this.on.changed();
  }
}

/** @param {Head | null} one @param {Head | null} other */
function later(one, other) {
  return other && other.version > (one?.version ?? 0) ? other : one;
}

/** The last head of a game that this browser chained itself. @param {string} game @returns {Head | null} */
export function heldHead(game) {
  const held = heads().find(([id]) => id === game);
  return held ? { version: held[1], hash: fromHex(held[2]) } : null;
}

/** Only of a log that passed through all it was expected to: a head that it strayed from is the evidence. @param {string} game @param {GameLog} log */
function keepHead(game, log) {
  const held = heldHead(game);
  if (held && held.version >= log.head.version) return;
  const others = heads().filter(([id]) => id !== game);
  browser.write("heads", [...others, [game, log.head.version, hex(log.head.hash)]].slice(-headsMax));
}

/** @returns {[string, number, string][]} game, version, hash; the latest last */
function heads() {
  const kept = browser.read("heads");
  return Array.isArray(kept) ? kept : [];
}
