// The lobby: seats that are free, and games that are being played.
import { Feed } from "./feed.js";
import { openGame } from "./opening.js";
import { Seeking } from "./seeking.js";
import { draw } from "./views/lobby.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */

/** @implements {Page} */
export class LobbyPage {
  waits = true;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.lobby = new Feed(app.socket, "lobby", () => app.changed());
    this.people = new Seeking(app, (game) => void openGame(app.socket, game, game.modes[0].mode), true);
  }

  begin() {
    this.lobby.begin();
  }

  end() {
    this.lobby.end();
  }

  title() {
    return "Lobby";
  }

  draw() {
    const { lobby, app } = this;
    return draw({ seats: lobby.rows("seats"), live: lobby.rows("live"), come: lobby.state !== null, player: app.socket.player, nowMs: app.socket.nowMs, people: this.people.draw() });
  }
}
