// The first page's doings: meeting rivals, opening games, the record, the recovery link.
import { games } from "./games.js";
import { get } from "./http.js";
import { toGame } from "./route.js";
import { recoveryLink } from "./session.js";
import { newId } from "./socket.js";
import { confirmed } from "./dialog.js";
import { draw } from "./views/home.js";

/** @typedef {import("./views/home.js").Desk} Desk */
/** @typedef {import("./main.js").Page} Page */
/** @typedef {import("./main.js").App} App */

/** @implements {Page} */
export class HomePage {
  game = games[0];
  /** @type {Map<string, Desk>} */
  desks = new Map();
  /** @type {readonly import("./views/home.js").Row[] | null} */
  record = null;
  /** @type {import("./views/home.js").Recovery} */
  recovery = { kind: "closed" };

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    for (const { mode } of this.game.modes) this.desks.set(mode, { met: null, busy: false, refusal: null });
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
    for (const { mode } of this.game.modes) if (!this.desks.get(mode)?.busy) this.meet(mode);
    this.look();
  }

  async look() {
    try {
      this.record = (await get("/api/me/rivals")).rivals;
    } catch {
      // Trouble is shown by the socket; the record comes with the next visit.
    }
    this.app.changed();
  }

  /** @param {string} mode @param {Partial<Desk>} news */
  set(mode, news) {
    const desk = this.desks.get(mode) ?? { met: null, busy: false, refusal: null };
    this.desks.set(mode, { ...desk, ...news });
    this.app.changed();
  }

  /** @param {string} mode */
  async meet(mode) {
    const answer = await this.app.socket.ask({ type: "meet", id: newId(), rules: this.game.rules, mode });
    if (answer.type === "met") {
      const { game, rival, live } = answer;
      this.set(mode, { met: { game, rival, live } });
    } else this.set(mode, { refusal: answer.reason });
  }

  /** @param {string} mode */
  async play(mode) {
    this.set(mode, { busy: true, refusal: null });
    const refusal = await openGame(this.app.socket, this.game.rules, mode);
    this.set(mode, { busy: false, refusal });
  }

  /** @param {string} mode */
  async startOver(mode) {
    const met = this.desks.get(mode)?.met;
    if (!met) return;
    const yes = await confirmed({
      title: "Start over?",
      text: "Starting over resigns the game that waits here. If its cards are dealt, that is a loss.",
      no: "Keep my game",
      yes: "Resign and start over",
    });
    if (!yes) return;
    this.set(mode, { busy: true, refusal: null });
    const answer = await this.app.socket.ask({ type: "do", id: newId(), game: met.game, command: { do: "Resign" } });
    if (answer.type === "done" || answer.reason === "over") return void this.play(mode);
    this.set(mode, { busy: false, refusal: answer.reason });
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
    return "The Game of 50 States";
  }

  draw() {
    return draw(this, {
      play: (mode) => void this.play(mode),
      startOver: (mode) => void this.startOver(mode),
      makeLink: () => void this.makeLink(),
      copyLink: () => void this.copyLink(),
    });
  }
}

/**
 * Opens a game, or the unfinished one there is, and goes to it.
 * @param {import("./socket.js").Socket} socket
 * @param {string} rules
 * @param {string} mode
 * @returns {Promise<string | null>} why not
 */
export async function openGame(socket, rules, mode) {
  const answer = await socket.ask({ type: "open", id: newId(), rules, mode, settings: {} });
  if (answer.type !== "done") return answer.reason;
  location.hash = toGame(answer.game);
  return null;
}
