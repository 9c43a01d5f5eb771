// One game as this browser has it: the verified log, the table, the hand, the chosen card, and the command under way.
import { GameLog } from "./gamelog.js";
import { newId } from "./socket.js";
import { browser, tab } from "./storage.js";
import { clientEntropy } from "./verify/promises.js";
import { fromHex, hex, same } from "./verify/hash.js";
import { witness } from "./witness.js";

const headsMax = 60;
/** Mends without progress before the log is read from the beginning. */
const mendsMax = 3;

/**
 * @typedef {import("./gamelog.js").Fact} Fact
 * @typedef {import("./gamelog.js").Head} Head
 * @typedef {{id: string, command: {do: string, [field: string]: any}, version: number | null}} Pending
 *   `version`: of the head it made, once the server has said so
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
  /** Whether the entropy that stands in the log for our seat isn't the one this browser made. */
  foreign = false;
  /** What the ledger said of the opening, if this tab asked. @type {import("./witness.js").Witness | null} */
  witness = null;
  /** The version after which facts came live; what lies before was told as history. */
  liveFrom = Infinity;
  /** The last head that this tab saw move live, for what is drawn as news. */
  newsFrom = Infinity;
  /** @type {Pending | null} */
  pending;
  #mends = 0;
  #mixing = false;

  /**
   * @param {object} with_
   * @param {import("./socket.js").Socket} with_.socket
   * @param {string} with_.id hex
   * @param {() => Uint8Array} with_.secret
   * @param {(rules: string) => import("./gamelog.js").Told} with_.toldOf
   * @param {() => void} with_.changed
   * @param {(facts: readonly Fact[], from: number) => void} with_.news facts above that version came live
   * @param {(reason: string) => void} with_.refused
   */
  constructor({ socket, id, secret, toldOf, changed, news, refused }) {
    this.socket = socket;
    this.id = id;
    this.secret = secret;
    this.on = { changed, news, refused };
    this.topic = `game/${id}`;
    this.log = new GameLog(id, toldOf);
    /** What every telling from now on must pass through. @type {Head | null} */
    this.held = null;
    this.pending = tab.read(`pending.${id}`);
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
    if (this.pending) this.#send(this.pending);
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

  /** Whether the hand is that of the table. */
  get settled() {
    return this.#handVersion === this.log.head.version;
  }

  /** The card held out for the next command, if it may still be played. @returns {number | null} */
  get chosen() {
    const kept = tab.read(`chosen.${this.id}`);
    return kept?.version === this.log.head.version && this.hand.includes(kept.card) ? kept.card : null;
  }

  // ---- what can be done

  /** @param {number} card */
  choose(card) {
    if (this.pending || this.over || !this.settled || !this.hand.includes(card)) return;
    tab.write(`chosen.${this.id}`, { version: this.log.head.version, card });
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

  /** @param {Pending} pending */
  async #send(pending) {
    const { id, command } = pending;
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
    this.refusal = reason;
    this.on.refused(reason);
    // What we believed was wrong: ask for what we may have missed.
    this.socket.resume(this.topic);
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
      case "events": return this.#events(message);
      case "hand": return this.#hand(message);
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
  #events({ events, version, hash8, table }) {
    const before = this.log.head.version;
    if (!this.log.take(events, version, hash8)) return this.#mend();
    this.#mends = 0;
    if (this.log.strayed) this.forked = true;
    if (!table) return;
    this.table = table;
    if (this.held && version < this.held.version && this.liveFrom === Infinity) this.forked = true;
    if (!this.forked) keepHead(this.id, this.log);
    this.#checkEntropy();
    this.#settle();
    if (this.liveFrom === Infinity) this.liveFrom = version;
    else {
      this.newsFrom = before;
      this.on.news(this.log.facts, before);
    }
    if (this.over) this.#end();
    this.#mix();
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
    this.on.changed();
  }

  /** The seat that the chained log gives us, whatever the server's view says. @returns {number | null} */
  get #ownSeat() {
    const seated = this.log.opening.find((fact) => fact.type === "Seated" && fact.player.length > 0 && hex(fact.player) === this.socket.player);
    return seated ? seated.seat : null;
  }

  /** Nobody but us may bring our chance: who knows the server's secret could try until the deal suits him. */
  #checkEntropy() {
    const seat = this.#ownSeat;
    const mixed = this.log.opening.find((fact) => fact.type === "Mixed" && fact.seat === seat);
    if (mixed) this.foreign = !same(mixed.entropy, clientEntropy(this.secret(), this.log.opening[0].hash));
  }

  /** Our own chance goes into the deal as soon as the opening, with the server's promise, stands in the log. */
  async #mix() {
    const opened = this.log.opening[0];
    const seat = this.#ownSeat;
    // An open deal is dealt with its opening and takes no chance of ours.
    if (this.#mixing || this.forked || seat === null || opened.type !== "Opened" || this.table.position || this.over) return;
    if (this.log.opening.some((fact) => fact.type === "Mixed" && fact.seat === seat)) return;
    if (!promisedOn(this.id, hex(opened.hash))) {
      // This game was opened before under another promise: mixing again would let the server choose between two deals.
      this.forked = true;
      return;
    }
    this.#mixing = true;
    if (opened.witnessed) {
      // Once the opening stands in the public ledger, nobody can open this game again unseen. A silent ledger keeps nobody from playing.
      this.witness = await witness(this.id, this.log.head);
      this.on.changed();
      if (this.forked || this.over) {
        this.#mixing = false;
        return;
      }
    }
    const entropy = clientEntropy(this.secret(), opened.hash);
    // The id is the game's: two tabs that both see the opening mix once.
    const answer = await this.socket.ask({ type: "do", id: `mix-${this.id}`, game: this.id, command: { do: "Mix", entropy } });
    this.#mixing = false;
    if (answer.type === "refused" && answer.reason !== "already_mixed") this.#refuse(answer.reason);
    this.on.changed();
  }
}

/** @param {Head | null} one @param {Head | null} other */
function later(one, other) {
  return other && other.version > (one?.version ?? 0) ? other : one;
}

/**
 * Whether this browser mixes on this opening of a game: on the first one that it sees, and on no other ever.
 * @param {string} game @param {string} opening the hash of `Opened`, in hex
 */
function promisedOn(game, opening) {
  const kept = browser.read("openings");
  /** @type {[string, string][]} */
  const openings = Array.isArray(kept) ? kept : [];
  const known = openings.find(([id]) => id === game);
  if (known) return known[1] === opening;
  browser.write("openings", [...openings, [game, opening]].slice(-headsMax));
  return true;
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
