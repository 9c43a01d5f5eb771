// A player's page: the record, trophies, rivals, ranks and finished games; one's own has the settings, too.
import { isFriend, keep } from "./friends.js";
import { Declined, get } from "./http.js";
import { called } from "./ladders.js";
import { whoever } from "./session.js";
import { Settings } from "./settings.js";
import { draw } from "./views/player.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */

/** @typedef {{milestone: number, index: number, at_ms: number}} Badge */
/**
 * @typedef {object} LadderRecord
 * @property {string} ladder
 * @property {string | null} colour
 * @property {number} stars
 * @property {import("./views/trophies.js").Trophies} trophies
 * @property {number} games
 * @property {number} wins
 * @property {number} draws
 * @property {number | null} win_rate
 * @property {number} streak
 * @property {number} best_streak
 * @property {Badge | null} streak_badge
 * @property {Badge | null} win_rate_badge
 * @property {{games: number, wins: number, draws: number, stars: number}} imported
 */
/** @typedef {{ladder: string, rival: string, games: number, wins: number, win_rate: number | null, imported: {games: number, wins: number}}} RivalRow */
/** @typedef {{ladder: string, measure: string, rank: number, position: number, value: number, index: number, size: number}} Rank */
/**
 * @typedef {object} PlayerRecord as docs/protocol.md has it
 * @property {string} player
 * @property {string | null} name
 * @property {string | null} [barred] why the operator keeps the player out of games that count
 * @property {number} as_of
 * @property {LadderRecord[]} ladders
 * @property {RivalRow[]} rivals
 * @property {{ladder: string, games: number, wins: number, draws: number}[]} luck
 * @property {Rank[]} ranks
 */
/** @typedef {{game: string, rules: string, ladder: string, opponent: {player: string | null, name: string | null, rival: string | null}, result: string, reason: string, counts: boolean, at_ms: number, index: number}} Past */

const historyRows = 20;

/** @implements {Page} */
export class PlayerPage {
  /** @type {PlayerRecord | null} */
  record = null;
  /** Finished games, newest first, as many as were asked for. @type {Past[]} */
  games = [];
  /** Where the older ones begin; null: these are all. @type {string | null} */
  cursor = null;
  /** Whether older ones are on their way. */
  fetching = false;
  /** Why there is nothing to show. @type {string | null} */
  why = null;
  /** Whoever this browser is. @type {string | null} */
  me = null;
  #ended = false;

  /** @param {App} app @param {string | null} player null: whoever this browser is */
  constructor(app, player) {
    this.app = app;
    this.player = player;
    this.own = player === null;
    /** Only one's own page shows them. */
    this.settings = new Settings(app, (name) => {
      if (this.record) this.record = { ...this.record, name };
    });
  }

  begin() {
    void this.load();
  }

  end() {
    this.#ended = true;
  }

  async load() {
    try {
      this.me = await whoever();
      this.player ??= this.me;
      this.own = this.player === this.me;
      if (this.player === null) throw new TypeError("no session");
      const [record, page] = await Promise.all([get(`/api/players/${this.player}`), get(`/api/players/${this.player}/games?count=${historyRows}`)]);
      [this.record, this.games, this.cursor] = [record, page.games, page.next];
    } catch (error) {
      this.why = error instanceof Declined && error.status < 500 ? error.message : "The server didn’t answer. Load the page again in a moment.";
    }
    if (!this.#ended) this.app.changed();
  }

  /** The next older games, behind those that are here. */
  async older() {
    if (this.fetching || this.cursor === null) return;
    this.fetching = true;
    this.app.changed();
    const shown = this.games.length;
    try {
      const page = await get(`/api/players/${this.player}/games?count=${historyRows}&cursor=${this.cursor}`);
      this.games = [...this.games, ...page.games];
      this.cursor = page.next;
      this.app.say(`${page.games.length} older games.`);
    } catch {
      this.app.say("The server didn’t answer.");
    }
    this.fetching = false;
    if (this.#ended) return;
    this.app.changed();
    // The button may be gone: the first of the fresh games is where to go on.
    if (this.cursor === null) queueMicrotask(() => /** @type {HTMLElement | null} */ (document.querySelectorAll("#history .look a:first-child")[shown])?.focus());
  }

  get friend() {
    return this.player !== null && isFriend(this.player);
  }

  befriend() {
    if (this.player === null) return;
    const kept = keep(this.player, !this.friend);
    this.app.say(!kept ? "The list of friends is full." : this.friend ? "Put on the list of friends." : "Taken off the list of friends.");
    this.app.changed();
  }

  get name() {
    return this.record && this.player ? called(this.player, this.record.name) : null;
  }

  title() {
    return this.own ? "Your page" : this.name ?? "A player";
  }

  draw() {
    return draw(this, { older: () => void this.older(), befriend: () => this.befriend() });
  }
}
