// A game looked at again, moment by moment. The log is chained here as everywhere; the server tells what stood at each version.
import { html } from "./vendor/lit/lit-html.js";
import { heldHead } from "./game.js";
import { GameLog, keepAll } from "./gamelog.js";
import { gameOf, shelfOf } from "./games.js";
import { inWords } from "./reasons.js";
import { home, lobby, moved, toExport, toFair, toGame, toHow, toReplay, toReview, views } from "./route.js";
import { hex } from "./verify/hash.js";
import { sentence, sheet } from "./views/frame.js";
import { names } from "./views/opponent.js";
import { place, player } from "./views/replay.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */
/** @typedef {import("./route.js").View} View */
/** @typedef {{seat: number, cards: readonly number[]}} Hand */
/** What stood after an event. @typedef {{version: number, table: any, hands: readonly Hand[]}} Moment */

export const speeds = [0.5, 1, 2, 4, 8];
/** Events after which a battle is decided. */
const decided = ["Captured", "Taken"];
/** Nobody sits at a table that is looked back at. */
const none = () => {};
const nobody = { auto: false, pace: "normal", closed: true, set: none, setPace: none, toggle: none, turnByHand: none, newGame: none };
/** Whose hands come with a table, in each view. @type {Record<View, readonly number[]>} */
const seatsOf = { public: [], 0: [0], 1: [1], open: [0, 1] };

/** @implements {Page} */
export class ReplayPage {
  /** @type {Moment | null} */
  moment = null;
  playing = false;
  speed = 1;
  copied = false;
  /** Why there is nothing to show. @type {string | null} */
  missing = null;
  forked = false;
  /** @type {import("./games.js").Called} */
  called = [null, null];
  /** The version asked for last; the one after it waits until that one has come. @type {number | null} */
  #asked = null;
  /** @type {number | null} */
  #wanted;
  /** What has come of a moment whose hands haven't. @type {Moment | null} */
  #coming = null;
  /** Whether what is played begins anew. */
  #anew = false;
  /** The version shown before, where the present one follows it. */
  #from = Infinity;

  /** @param {App} app @param {import("./route.js").Replay} route */
  constructor(app, { game, at, as }) {
    this.app = app;
    this.id = game;
    this.as = as;
    this.#wanted = at;
    this.log = this.#empty();
  }

  #empty() {
    const log = new GameLog(this.id, (rules) => ({ facts: gameOf(rules)?.facts ?? {}, keep: keepAll }));
    log.expect(heldHead(this.id));
    return log;
  }

  begin() {
    this.app.socket.subscribe(`game/${this.id}`, {
      after: () => (this.log.head.version ? [this.log.head.version, this.log.head.hash] : null),
      take: (message) => this.#learn(message),
    });
  }

  end() {
    this.app.socket.unsubscribe(`replay/${this.id}`);
    this.app.socket.unsubscribe(`game/${this.id}`);
  }

  // ---- the log, to its head

  /** @param {import("./socket.js").Message} message */
  #learn(message) {
    if (message.type === "not_subscribed") this.missing = message.reason;
    if (message.type === "names") this.called = message.names;
    if (message.type === "subscribed" && (!message.recovered || message.version !== this.log.head.version)) this.log = this.#empty();
    if (message.type === "events") {
      if (!this.log.take(message.events, message.version, message.hash8)) {
        // Another history, or a frame that was lost: from the beginning, not too fast.
        this.log = this.#empty();
        setTimeout(() => this.app.socket.resume(`game/${this.id}`), 500);
        return;
      }
      this.forked ||= this.log.strayed;
      if (message.table && !this.moment && this.#asked === null) this.#start();
    }
    this.app.changed();
  }

  get last() {
    return this.log.head.version;
  }

  /** The first version with both seats taken: before it there is no table. */
  get first() {
    const second = this.log.facts.filter(({ type }) => type === "Seated")[1];
    return second ? second.version : this.last;
  }

  get over() {
    return this.log.facts.some(({ type }) => type === "Finished");
  }

  #start() {
    if (!this.over) this.as = "public";
    this.#asked = this.#wanted = this.#within(this.#wanted ?? (this.over ? this.first : this.last));
    this.app.socket.subscribe(`replay/${this.id}`, { after: () => null, wish: () => this.#wish(), take: (message) => this.#take(message) });
  }

  /** @param {number} version */
  #within(version) {
    return Math.max(this.first, Math.min(this.last, version));
  }

  // ---- the moments

  #wish() {
    const at = (this.playing ? null : this.#asked) ?? (this.#anew ? null : this.moment?.version) ?? this.first;
    return { at, as: this.as, ...(this.playing ? { speed: this.speed } : { limit: 0 }) };
  }

  /** @param {import("./socket.js").Message} message */
  #take(message) {
    switch (message.type) {
      case "events": return this.#events(message);
      case "hand": return this.#hand(message);
      case "replayed": return this.#arrived(message);
      case "not_subscribed":
        this.playing = false;
        this.missing = message.reason;
        return this.app.changed();
      default: return undefined;
    }
  }

  /** @param {import("./socket.js").Message} message */
  #events({ version, hash8, table }) {
    // What was asked for before is no longer wanted.
    if (!table || (!this.playing && version !== this.#asked)) return;
    const own = this.log.facts[version - 1];
    if (own && hex(own.hash.subarray(0, 8)) !== hex(hash8)) this.forked = true;
    this.#coming = { version, table, hands: [] };
    this.#show();
  }

  /** @param {import("./socket.js").Message} message */
  #hand({ version, seat, cards }) {
    const coming = this.#coming;
    if (!coming || coming.version !== version || !seatsOf[this.as].includes(seat)) return;
    this.#coming = { ...coming, hands: [...coming.hands, { seat, cards }] };
    this.#show();
  }

  /** Shows what has come, once its hands have too. */
  #show() {
    const coming = this.#coming;
    const due = coming?.table.position ? seatsOf[this.as].length : 0;
    if (!coming || coming.hands.length < due) return;
    const before = this.moment?.version ?? Infinity;
    this.#from = coming.version > before ? before : Infinity;
    this.moment = coming;
    this.#coming = null;
    this.#anew = false;
    if (this.playing) this.#tell(before);
    else if (before < Infinity && document.activeElement?.id !== "scrub") this.#place();
    this.app.changed();
  }

  /** @param {import("./socket.js").Message} message */
  #arrived({ version, head }) {
    // The end of what was asked for before ends nothing.
    if (this.playing ? version < head : version !== this.#asked) return;
    this.playing = false;
    this.#asked = null;
    if (this.#wanted !== null && this.#wanted !== version) this.#ask(this.#wanted);
    else moved(toReplay(this.id, version, this.as));
    this.#wanted = null;
    this.app.changed();
  }

  /** @param {number} version */
  #ask(version) {
    this.#asked = version;
    this.app.socket.resume(`replay/${this.id}`);
  }

  /** What is new since a version, for the ear. @param {number} from */
  #tell(from) {
    const { seen, view } = this;
    if (seen && view) for (const line of view.news(seen.facts, from, seen)) this.app.say(line);
  }

  /** Where we are, for the ear. */
  #place() {
    const { seen, view, moment } = this;
    if (seen && view && moment) this.app.say(`${place(seen.facts[moment.version - 1], view.title(seen))}. Event ${moment.version} of ${this.last}.`);
  }

  // ---- what can be done

  /** Looks at another moment, and stays there. However fast it is asked, one question is under way at a time. @param {number} version */
  seek(version) {
    const to = this.#within(version);
    this.copied = false;
    if (this.#asked !== null && !this.playing) {
      this.#wanted = to;
      return;
    }
    const was = this.playing;
    this.playing = false;
    if (was || to !== this.moment?.version) this.#ask(to);
  }

  /** @param {number} by events */
  step(by) {
    if (this.moment) this.seek((this.#wanted ?? this.#asked ?? this.moment.version) + by);
  }

  /** @param {1 | -1} by battles */
  stepBattle(by) {
    const at = this.#wanted ?? (this.playing ? null : this.#asked) ?? this.moment?.version ?? 0;
    const ends = this.log.facts.filter(({ type, version }) => decided.includes(type) && (by > 0 ? version > at : version < at));
    this.seek(by > 0 ? (ends[0]?.version ?? this.last) : (ends[ends.length - 1]?.version ?? this.first));
  }

  toggle() {
    if (!this.moment) return;
    if (this.playing) return this.seek(this.moment.version);
    // At the end there is nothing to play: from the beginning, then.
    this.#anew = this.moment.version >= this.last;
    this.playing = true;
    this.#asked = this.#wanted = null;
    this.app.socket.resume(`replay/${this.id}`);
    this.app.changed();
  }

  /** @param {number} by steps in the list of speeds */
  faster(by) {
    this.setSpeed(speeds[Math.max(0, Math.min(speeds.length - 1, speeds.indexOf(this.speed) + by))]);
  }

  /** @param {number} speed */
  setSpeed(speed) {
    if (speed === this.speed) return;
    this.speed = speed;
    this.app.say(`Speed ${speed}.`);
    if (this.playing) this.app.socket.resume(`replay/${this.id}`);
    this.app.changed();
  }

  /** @param {View} as */
  setView(as) {
    if (as === this.as || !this.moment) return;
    this.as = as;
    if (this.playing) this.app.socket.resume(`replay/${this.id}`);
    else this.#ask(this.#asked ?? this.moment.version);
    this.app.changed();
  }

  async copy() {
    const link = location.origin + location.pathname + toReplay(this.id, this.moment?.version, this.as);
    moved(toReplay(this.id, this.moment?.version, this.as));
    try {
      await navigator.clipboard.writeText(link);
      this.copied = true;
      this.app.say("The link to this moment is copied.");
    } catch {
      // No clipboard here (plain HTTP, or not allowed): the address has it.
      this.app.say("The address of this page is the link to this moment.");
    }
    this.app.changed();
  }

  /** @param {KeyboardEvent} event pressed where no control has the focus @returns {boolean} whether it meant something */
  key({ key, shiftKey }) {
    if (!this.moment) return false;
    /** @type {Record<string, () => void>} */
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => (shiftKey ? this.stepBattle(1) : this.step(1)),
      ArrowLeft: () => (shiftKey ? this.stepBattle(-1) : this.step(-1)),
      Home: () => this.seek(this.first),
      End: () => this.seek(this.last),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
    };
    acts[key]?.();
    return key in acts;
  }

  // ---- what is shown

  get view() {
    return gameOf(this.moment?.table.opened?.rules);
  }

  /** @returns {import("./games.js").Seen | null} */
  get seen() {
    const { id, moment, view, as } = this;
    if (!moment?.table.seats[1]) return null;
    const facts = this.log.facts.slice(0, moment.version);
    const people = moment.table.opened.mode === "versus" ? { left: null, presence: null, rematch: /** @type {const} */ ("none") } : null;
    return {
      id, table: moment.table, facts, seat: null, side: people && view?.hand && as === "1" ? 1 : 0, hand: [], settled: true, chosen: null, pending: null, refusal: null, newsFrom: this.#from,
      roomy: false, leaving: false, replayed: true, sealed: null, owing: [], called: this.called, people, turnedByClock: Boolean(view?.luck),
    };
  }

  title() {
    const { seen, view } = this;
    return seen && view ? `Replay: ${view.title(seen)} · ${view.name}` : "Replay";
  }

  notices() {
    return this.forked ? [{ grave: true, text: "The server now tells a different history of this game than the one this browser saw. “How fair was this?” shows where." }] : [];
  }

  draw() {
    const { seen, view, id } = this;
    if (this.missing) return sheet("No replay here", sentence(inWords(this.missing), home, "Back to the desks"));
    if (!seen && this.moment) return sheet("Nothing to replay", sentence("The second seat was never taken, so no card was dealt.", home, "Back to the desks"));
    if (!seen) return sheet("Replay", html`<p class="lead">Fetching the record …</p>`);
    if (!view) return sheet("Another game", sentence(`This page doesn’t know the rules “${seen.table.opened.rules}”. Load it again: a newer one may.`, home, "Back to the desks"));
    const links = { home, lobby, review: toReview(id), replay: toReplay(id), fair: toFair(id), file: toExport(id), how: toHow(shelfOf(view).id) };
    return html`${player(this.#look(seen, view))}${view.draw(seen, { choose: none, play: none, resign: none, again: none, rematch: none, links }, nobody)}`;
  }

  /** @param {import("./games.js").Seen} seen @param {import("./games.js").GameView} view @returns {import("./views/replay.js").Look} */
  #look(seen, view) {
    const { first, last, over, playing, speed, as, copied } = this;
    const { version, hands } = /** @type {Moment} */ (this.moment);
    return {
      version: this.playing ? version : (this.#wanted ?? this.#asked ?? version), first, last, over, playing, speed, speeds, as, copied, hands,
      views: view.hand ? views : ["public"],
      laid: view.hand,
      names: seen.people ? names(seen) : ["The player", view.luck ? "The computer" : "The rival"],
      words: place(seen.facts[version - 1], view.title(seen)),
      live: toGame(this.id),
      acts: {
        seek: (to) => this.seek(to),
        step: (by) => this.step(by),
        stepBattle: (by) => this.stepBattle(by),
        toggle: () => this.toggle(),
        setSpeed: (to) => this.setSpeed(to),
        setView: (to) => this.setView(to),
        copy: () => void this.copy(),
      },
    };
  }
}
