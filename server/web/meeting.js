// How this browser meets people: the places in the queue, invitations, rematches, and the table that one is called to.
import { gameOf } from "./games.js";
import { Feed } from "./feed.js";
import { Game } from "./game.js";
import { keepAll } from "./gamelog.js";
import { toGame } from "./route.js";
import { secret } from "./session.js";
import { newId } from "./socket.js";
import { tab } from "./storage.js";

/** @typedef {import("./games.js").Settings} Settings */
/** @typedef {{game: string, rules: string, seat: number, counts: boolean}} Mine a game between people that isn't over */
/** @typedef {{game: string, rules: string, player: string}} Offer a rematch of that game, asked of us */
/** @typedef {Record<string, {sinceMs: number, refusal: string | null}>} Waiting by rules */

/** Without a partner for so long, a rival is offered meanwhile. */
export const patienceMs = 20_000;
const tickMs = 1000;
/** Games looked after beside the one that is shown. */
const tendedMax = 6;

export class Meeting {
  /** Why the last invitation or rematch came to nothing. @type {string | null} */
  refusal = null;
  /** Where this tab waits, also after it was loaded again. @type {Waiting} */
  #waiting = tab.read("waiting") ?? {};
  /** Games there were when we last looked; null before the first look. @type {Set<string> | null} */
  #known = null;
  /** Finished games for which this tab asked for a rematch. @type {Map<string, string>} rules by game */
  #asked = new Map();
  /** The table this tab was called to while it was busy elsewhere. @type {Mine | null} */
  #call = null;

  /** Games of ours that no page shows, so that what we pledged in them is kept all the same. @type {Map<string, Game>} */
  #tended = new Map();

  /** @param {import("./main.js").App} app */
  constructor(app) {
    this.app = app;
    this.me = new Feed(app.socket, "me", () => this.#moved());
  }

  begin() {
    this.me.begin();
    setInterval(() => this.app.page?.waits && this.app.changed(), tickMs);
  }

  // ---- what there is

  /** @returns {readonly Mine[]} */
  get games() {
    return this.me.rows("games");
  }

  /** @returns {readonly Offer[]} */
  get offers() {
    return this.me.rows("offers");
  }

  /** Since when this tab waits for a game, on its own clock; null: it doesn't. @param {string} rules @returns {number | null} */
  since(rules) {
    return this.#waiting[rules]?.sinceMs ?? null;
  }

  get waiting() {
    return Object.keys(this.#waiting);
  }

  /** Why we can't wait. @param {string} rules */
  refused(rules) {
    return this.me.missing ?? this.#refusals.get(rules) ?? null;
  }

  /** @type {Map<string, string>} by rules */
  #refusals = new Map();

  /** @param {string} game @returns {"none" | "asked" | "offered"} */
  rematchOf(game) {
    if (this.offers.some((offer) => offer.game === game)) return "offered";
    return this.#asked.has(game) ? "asked" : "none";
  }

  // ---- what can be done

  /** @param {string} rules */
  wait(rules) {
    this.#refusals.delete(rules);
    this.#keep({ ...this.#waiting, [rules]: { sinceMs: Date.now(), refusal: null } });
    void this.#queue(rules);
    this.app.changed();
  }

  /** @param {string} rules */
  async #queue(rules) {
    const answer = await this.app.socket.ask({ type: "queue", id: newId(), rules });
    if (answer.type === "queued") return;
    this.#refusals.set(rules, answer.reason);
    this.#forget(rules);
    this.app.changed();
  }

  /** @param {string} rules */
  stop(rules) {
    this.#forget(rules);
    void this.app.socket.ask({ type: "leave_queue", id: newId(), rules });
    this.app.changed();
  }

  /** A game that counts for nothing, and the way to its table. @param {string} rules @param {Settings} settings @param {boolean} listed whether the lobby shows its free seat */
  async invite(rules, settings, listed) {
    const answer = await this.app.socket.ask({ type: "invite", id: newId(), rules, settings, listed });
    if (answer.type === "done") this.#go(answer.game);
    this.refusal = answer.type === "done" ? null : answer.reason;
    this.app.changed();
  }

  /** Asks for a rematch, or accepts it. @param {string} game @param {string} rules */
  async rematch(game, rules) {
    this.#asked.set(game, rules);
    this.app.changed();
    const answer = await this.app.socket.ask({ type: "rematch", id: newId(), game });
    if (answer.type === "done") this.#go(answer.game);
    if (answer.type === "refused") {
      this.#asked.delete(game);
      this.refusal = answer.reason;
    }
    this.app.changed();
  }

  /** Notices over whatever page is shown. @returns {import("./views/frame.js").Notice[]} */
  notices() {
    const shown = this.app.page?.game?.id;
    const notices = [];
    if (this.#call && this.#call.game !== shown) {
      const { game, rules } = this.#call;
      notices.push({ text: `Your opponent for ${gameOf(rules)?.name ?? "a game"} is here. The seats are kept for a minute.`, button: { words: "Go to the table", act: () => this.#go(game) } });
    }
    for (const { game, rules } of this.offers) {
      if (game !== shown) notices.push({ text: `Your last opponent asks for another ${gameOf(rules)?.name ?? "game"}.`, button: { words: "Accept the rematch", act: () => void this.rematch(game, rules) } });
    }
    for (const rules of this.waiting) {
      if (!this.app.page?.waits) notices.push({ text: `You wait for somebody to play ${gameOf(rules)?.name ?? rules} with.`, button: { words: "Stop waiting", act: () => this.stop(rules) } });
    }
    return notices;
  }

  /** Looks after our games that no page shows: a sealed card is shown in its time, whatever we read meanwhile. */
  tend() {
    const due = this.games.filter(({ game, rules }) => game !== this.app.page?.game?.id && gameOf(rules)?.luck === false).slice(0, tendedMax);
    for (const [id, game] of this.#tended) {
      if (due.some((each) => each.game === id)) continue;
      this.#tended.delete(id);
      game.end();
    }
    for (const { game: id } of due) {
      if (this.#tended.has(id)) continue;
      const nothing = () => {};
      const game = new Game({
        socket: this.app.socket, id, secret, sits: false,
        toldOf: (rules) => gameOf(rules) ?? { facts: {}, keep: keepAll },
        changed: nothing, news: nothing, refused: nothing,
      });
      this.#tended.set(id, game);
      game.begin();
    }
  }

  // ---- what is heard

  #moved() {
    const { games } = this;
    if (this.me.state) {
      const before = this.#known;
      this.#known = new Set(games.map(({ game }) => game));
      const fresh = before ? games.filter(({ game }) => !before.has(game)) : games.filter(({ rules, counts }) => counts && this.since(rules) !== null);
      for (const each of fresh) this.#called(each);
      // A place in the queue ends with its connection; this tab still wants it.
      const queues = this.me.rows("queues");
      for (const rules of this.waiting) if (!queues.includes(rules) && !this.#queuing.has(rules)) this.#again(rules);
    }
    this.tend();
    if (this.#call && !games.some(({ game }) => game === this.#call?.game)) this.#call = null;
    this.app.changed();
  }

  /** @type {Set<string>} */
  #queuing = new Set();

  /** @param {string} rules */
  async #again(rules) {
    this.#queuing.add(rules);
    await this.#queue(rules);
    this.#queuing.delete(rules);
  }

  /** A table has our name on it. @param {Mine} mine */
  #called(mine) {
    const { game, rules, counts } = mine;
    const sought = this.since(rules) !== null && this.me.rows("queues").every((each) => each !== rules);
    const again = !counts && [...this.#asked.values()].includes(rules);
    if (!sought && !again) return;
    if (sought) this.#forget(rules);
    if (again) this.#asked = new Map([...this.#asked].filter(([, each]) => each !== rules));
    this.app.say("Your opponent is here.");
    if (this.app.page?.idle?.() ?? true) this.#go(game);
    else this.#call = mine;
  }

  /** @param {string} game */
  #go(game) {
    this.#call = null;
    location.hash = toGame(game);
  }

  /** @param {string} rules */
  #forget(rules) {
    const { [rules]: _, ...others } = this.#waiting;
    this.#keep(others);
  }

  /** @param {Waiting} waiting */
  #keep(waiting) {
    this.#waiting = waiting;
    tab.write("waiting", waiting);
  }
}
