// Looking for somebody to play with, on the first page and in the lobby: what is chosen there, and what it leads to.
import { games } from "./games.js";
import { patienceMs } from "./meeting.js";
import { browser } from "./storage.js";
import { draw } from "./views/seeking.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./games.js").GameView} GameView */

export class Seeking {
  /** Whether an invitation is being made. */
  busy = false;

  /** @param {App} app @param {(game: GameView) => void} rival plays a rival, or the computer, meanwhile @param {boolean} [inLobby] */
  constructor(app, rival, inLobby = false) {
    this.app = app;
    this.rival = rival;
    this.inLobby = inLobby;
  }

  /** The game that is chosen. @returns {GameView} */
  get game() {
    const kept = browser.read("seeking")?.rules;
    return games.find(({ rules }) => rules === kept) ?? games[0];
  }

  /** Seconds of its first clock, as chosen. */
  get pace() {
    const { values } = this.game.clocks[0];
    const kept = browser.read("seeking")?.pace;
    return values.includes(kept) ? kept : values[0];
  }

  /** @param {{rules?: string, pace?: number}} choice */
  choose(choice) {
    browser.write("seeking", { rules: this.game.rules, pace: this.pace, ...choice });
    this.app.changed();
  }

  /** What the next invitation is made with. */
  get settings() {
    const { clocks, settings } = this.game;
    const pace = this.pace;
    // One choice sets every clock of the game in proportion.
    const times = clocks.map(({ setting, values }) => [setting, values[clocks[0].values.indexOf(pace)]]);
    return { ...settings?.(), ...Object.fromEntries(times) };
  }

  /** @param {boolean} listed */
  async invite(listed) {
    if (this.busy) return;
    this.busy = true;
    await this.app.meeting.invite(this.game.rules, this.settings, listed);
    this.busy = false;
    this.app.changed();
  }

  draw() {
    const { app, game } = this;
    const { meeting } = app;
    const since = meeting.since(game.rules);
    return draw({
      game, games,
      inLobby: this.inLobby,
      pace: this.pace,
      busy: this.busy,
      mine: meeting.games,
      waited: since === null ? null : Math.max(0, Math.floor((Date.now() - since) / 1000)),
      patient: since !== null && Date.now() - since >= patienceMs,
      refusal: meeting.refused(game.rules) ?? meeting.refusal,
    }, {
      choose: (choice) => this.choose(choice),
      wait: () => meeting.wait(game.rules),
      stop: () => meeting.stop(game.rules),
      invite: (listed) => void this.invite(listed),
      rival: () => this.rival(game),
    });
  }
}
