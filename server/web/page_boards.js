// The leaderboards' doings: which board and which part of it the address names, fetched, kept fresh, and drawn.
import { BoardFeed } from "./board_feed.js";
import { friends, friendsMax, keep, playerIn } from "./friends.js";
import { Declined, get } from "./http.js";
import { ladderOf, measureName, windowName } from "./ladders.js";
import { toBoard } from "./route.js";
import { whoever } from "./session.js";
import { draw, pageRows } from "./views/boards.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */
/** @typedef {import("./route.js").BoardAddress} BoardAddress */
/** @typedef {{rank: number, position: number, player: string, name: string | null, value: number, index: number}} Place */
/** @typedef {{ladder: string, measure: string, window: string, asked: string, until_ms: number | null, as_of: number, leaf_hash?: string, size: number, places: Place[]}} Board as docs/protocol.md has it */
/** @typedef {{ladder: string, colour: string | null, measures: {measure: string, windows: string[]}[]}} Catalogued */
/** @typedef {{ladders: Catalogued[], win_rate_games_min: number}} Catalogue */

const aroundRows = 10;
/** The feed tells what changes at the top; everything else is asked for again, then and now and then. */
const refreshMs = 30_000;
const newsMs = 1000;

/** @type {BoardAddress} */
const first = { ladder: "states-relaxed", measure: "wins", window: "all", part: { of: "from", start: 0 } };

/** @implements {Page} */
export class BoardsPage {
  /** @type {Catalogue | null} */
  catalogue = null;
  /** @type {Board | null} */
  board = null;
  /** Whoever this browser is. @type {string | null} */
  me = null;
  /** Why there is nothing to show. @type {string | null} */
  why = null;
  /** What is wrong with the id that was put in. @type {string | null} */
  refusal = null;
  #ended = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next = undefined;

  /** @param {App} app @param {BoardAddress | null} at */
  constructor(app, at) {
    this.app = app;
    this.at = at ?? first;
    this.feed = new BoardFeed(app.socket, this.at, () => this.news());
  }

  begin() {
    void this.load();
    if (["all", "week", "day"].includes(this.at.window)) this.feed.begin();
    this.seen = () => document.visibilityState === "visible" && void this.refresh();
    document.addEventListener("visibilitychange", this.seen);
  }

  end() {
    this.#ended = true;
    clearTimeout(this.#next);
    this.feed.end();
    if (this.seen) document.removeEventListener("visibilitychange", this.seen);
  }

  async load() {
    try {
      [this.catalogue, this.me] = await Promise.all([get("/api/boards"), whoever()]);
    } catch {
      this.why = "The server didn’t answer. Load the page again in a moment.";
      return this.app.changed();
    }
    if (!this.listed) this.why = "There is no such board.";
    this.app.changed();
    await this.refresh();
  }

  /** Whether there is such a board at all. */
  get listed() {
    const { ladder, measure, window } = this.at;
    const windows = this.catalogue?.ladders.find((each) => each.ladder === ladder)?.measures.find((each) => each.measure === measure)?.windows;
    // A week or a day by its name is a board where there is one of this week.
    return Boolean(windows?.includes(window) || (windows?.includes("week") && /^\d{4}-/.test(window)));
  }

  /** Asks again and again while somebody looks; the browser only fetches what has changed. */
  async refresh() {
    clearTimeout(this.#next);
    if (this.catalogue && this.listed) await this.fetch();
    this.#later(refreshMs);
  }

  /** The board's top changed: the rest of it may have, too. */
  news() {
    const { part } = this.at;
    if (part.of !== "from" || part.start > 0) return this.#later(newsMs);
    this.board = this.feed.board;
    this.why = null;
    this.app.changed();
  }

  /** @param {number} ms */
  #later(ms) {
    clearTimeout(this.#next);
    if (!this.#ended && document.visibilityState === "visible") this.#next = setTimeout(() => void this.refresh(), ms);
  }

  async fetch() {
    try {
      const told = await get(this.path);
      // An answer that was under way when the feed told of something newer is old.
      if (this.#ended || (this.board && told.as_of < this.board.as_of && told.window === this.board.window)) return;
      this.board = told;
      this.why = null;
    } catch (error) {
      // What was shown stays: trouble is told by the socket, and this comes again.
      if (error instanceof Declined && error.status < 500) this.why = error.message;
      else if (!this.board) this.why = "The server didn’t answer; this page keeps trying.";
    }
    this.app.changed();
  }

  get path() {
    const { ladder, measure, window, part } = this.at;
    const board = `/api/boards/${ladder}/${measure}/${window}`;
    if (part.of === "from") return `${board}?start=${part.start}&count=${pageRows}`;
    if (part.of === "around") return `${board}?around=${part.player ?? this.me ?? ""}&count=${aroundRows}`;
    return `${board}?players=${this.watched.join(",")}`;
  }

  /** This player's friends, and whoever looks. */
  get watched() {
    return [...new Set([...(this.me ? [this.me] : []), ...friends()])];
  }

  /** @param {string} text */
  befriend(text) {
    const player = playerIn(text);
    if (!player) this.refusal = "That is no player’s id. It has 32 digits from 0 to f; a player’s page has it in its address.";
    else if (!keep(player, true)) this.refusal = `This list has room for ${friendsMax} players.`;
    else this.refusal = null;
    this.app.changed();
    if (this.refusal === null) void this.refresh();
    return this.refusal === null;
  }

  title() {
    const { ladder, measure, window } = this.at;
    return `${measureName(measure)}, ${windowName(window)} · ${ladderOf(ladder).name}`;
  }

  draw() {
    return draw(this, { befriend: (text) => this.befriend(text), here: (part) => toBoard(this.at.ladder, this.at.measure, this.at.window, part) });
  }
}
