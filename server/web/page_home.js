// The first page's doings: meeting rivals, opening games, the records, the recovery link. Which games there are is told by games.js.
import { confirmed } from "./dialog.js";
import { games, shelves } from "./games.js";
import { get } from "./http.js";
import { openFresh, openGame } from "./opening.js";
import { recoveryLink } from "./session.js";
import { Seeking } from "./seeking.js";
import { newId } from "./socket.js";
import { browser } from "./storage.js";
import { draw } from "./views/home.js";

/** @typedef {import("./games.js").GameView} GameView */
/** @typedef {import("./main.js").Page} Page */
/** @typedef {import("./main.js").App} App */
/** @typedef {{game: string, rival: string, live: boolean}} Met */
/** @typedef {{met: Met | null, busy: boolean, refusal: string | null}} Desk where one mode of a game is played */

/** @type {Desk} */
const empty = { met: null, busy: false, refusal: null };

/** @implements {Page} */
export class HomePage {
  /** @type {Map<string, Desk>} by rules and mode */
  #desks = new Map();
  /** @type {Map<string, any>} what the server told, by path */
  #records = new Map();
  /** @type {import("./views/home.js").Recovery} */
  recovery = { kind: "closed" };

  waits = true;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.people = new Seeking(app, (game) => void this.play(game, game.modes[0].mode, openGame));
  }

  begin() {
    this.refresh();
    this.seen = () => document.visibilityState === "visible" && this.refresh();
    document.addEventListener("visibilitychange", this.seen);
  }

  end() {
    if (this.seen) document.removeEventListener("visibilitychange", this.seen);
  }

  /** What another tab may have changed meanwhile. */
  refresh() {
    for (const game of games) for (const { mode } of game.modes) if (!this.desk(game, mode).busy) void this.meet(game, mode);
    for (const { record } of shelves) void this.look(record.path);
  }

  /** @param {string} path @param {number} [tries] */
  async look(path, tries = looksMax) {
    const begun = performance.now();
    try {
      this.#records.set(path, await get(`${path}${afterLast()}`));
      // An answer that took all the time there was came without the game: on a busy server it needs a little longer.
      if (performance.now() - begun > waitMs && tries > 1) void this.look(path, tries - 1);
    } catch {
      // Trouble is shown by the socket; the record comes with the next visit.
    }
    this.app.changed();
  }

  /** @param {string} path @returns {any} null until it came */
  record(path) {
    return this.#records.get(path) ?? null;
  }

  /** @param {GameView} game @param {string} mode @returns {Desk} */
  desk({ rules }, mode) {
    return this.#desks.get(`${rules} ${mode}`) ?? empty;
  }

  /** @param {GameView} game @param {string} mode @param {Partial<Desk>} news */
  set(game, mode, news) {
    this.#desks.set(`${game.rules} ${mode}`, { ...this.desk(game, mode), ...news });
    this.app.changed();
  }

  /** @param {GameView} game @param {string} mode */
  async meet(game, mode) {
    const answer = await this.app.socket.ask({ type: "meet", id: newId(), rules: game.rules, mode });
    if (answer.type === "met") this.set(game, mode, { met: { game: answer.game, rival: answer.rival, live: answer.live } });
    else this.set(game, mode, { refusal: answer.reason });
  }

  /** @param {GameView} game @param {string} mode @param {typeof openGame} open */
  async play(game, mode, open) {
    if (this.desk(game, mode).busy) return;
    this.set(game, mode, { busy: true, refusal: null });
    const refusal = await open(this.app.socket, game, mode);
    this.set(game, mode, { busy: false, refusal });
  }

  /** @param {GameView} game @param {string} mode */
  async startOver(game, mode) {
    if (game.luck || (await confirmed(startingOver))) await this.play(game, mode, openFresh);
  }

  async makeLink() {
    if (this.recovery.kind === "making") return;
    this.recovery = { kind: "making" };
    this.app.changed();
    try {
      this.recovery = { kind: "made", link: await recoveryLink(), copied: false };
    } catch {
      this.recovery = { kind: "failed", why: "The server didn’t answer. Try again in a moment." };
    }
    this.app.changed();
    // The button that was pressed is gone: the link takes its place.
    document.getElementById("link")?.focus();
  }

  async copyLink() {
    if (this.recovery.kind !== "made") return;
    const { link } = this.recovery;
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      // No clipboard here (plain HTTP, or not allowed): the link is selected, for the keyboard to copy.
      const field = /** @type {HTMLInputElement | null} */ (document.getElementById("link"));
      field?.focus();
      field?.select();
      return;
    }
    this.recovery = { kind: "made", link, copied: true };
    this.app.say("The link is copied.");
    this.app.changed();
  }

  title() {
    return "Choose a game";
  }

  draw() {
    return draw(this, {
      play: (game, mode) => void this.play(game, mode, openGame),
      startOver: (game, mode) => void this.startOver(game, mode),
      makeLink: () => void this.makeLink(),
      copyLink: () => void this.copyLink(),
    });
  }
}

/** The longest that the server waits at once. */
const waitMs = 2000;
const looksMax = 5;

/** The game that this browser finished last is to be in a record, if it comes soon. */
function afterLast() {
  const game = browser.read("finished");
  return /^[0-9a-f]{32}$/.test(game) ? `?wait_game=${game}&wait_ms=${waitMs}` : "";
}

const startingOver = {
  title: "Start over?",
  text: "Starting over resigns the game that waits here. If its cards are dealt, that is a loss.",
  no: "Keep my game",
  yes: "Resign and start over",
};
