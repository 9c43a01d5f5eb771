// The television: always a live game, and the next one when it is over.
import { html } from "./vendor/lit/lit-html.js";
import { Feed } from "./feed.js";
import { lobby, toGame } from "./route.js";
import { TablePage } from "./page_game.js";
import { sentence, sheet } from "./views/frame.js";
import { nameOf, who } from "./views/lobby.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */

/** How long an end is shown. */
const lingerMs = 6000;

/** @implements {Page} */
export class TvPage {
  /** The table that is shown. @type {TablePage | null} */
  #table = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next = undefined;
  /** Whether the end that lies on the table was shown long enough. */
  #lingered = false;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.lobby = new Feed(app.socket, "lobby", () => this.#moved());
  }

  begin() {
    this.lobby.begin();
  }

  end() {
    clearTimeout(this.#next);
    this.#table?.end();
    this.#table = null;
    this.lobby.end();
  }

  /** What is on: games between people first, then the most watched, then the newest. Never one's own. */
  #programme() {
    const { player } = this.app.socket;
    const live = this.lobby.rows("live").filter(({ game, players }) => game !== this.#table?.id && !players.includes(player));
    const [best] = [...live].sort((a, b) => Number(b.mode === "versus") - Number(a.mode === "versus") || b.watchers - a.watchers || b.since_ms - a.since_ms);
    return best ?? null;
  }

  #moved() {
    if (!this.#table || this.#lingered) this.#turn();
    this.app.changed();
  }

  #turn() {
    const next = this.#programme();
    if (!next) return;
    this.#lingered = false;
    this.#table?.end();
    this.#table = new TablePage(this.app, next.game, { watching: true });
    this.#table.begin();
    this.app.say(`Now on: ${nameOf(next.rules)}, ${who(next.players, next.names, next.rival, null)}.`);
  }

  /** An end lies on the table for a while, and so does whatever can't be shown. */
  #over() {
    return Boolean(this.#table && (this.#table.game.over || this.#table.game.missing));
  }

  drawn() {
    this.#table?.drawn();
    if (!this.#over() || this.#lingered || this.#next !== undefined) return;
    this.#next = setTimeout(() => {
      this.#next = undefined;
      this.#lingered = true;
      this.#turn();
      this.app.changed();
    }, lingerMs);
  }

  title() {
    return this.#table ? `${this.#table.title()} · Live` : "Live";
  }

  notices() {
    return this.#table?.notices() ?? [];
  }

  draw() {
    if (!this.#table) return sheet("Nothing is on", sentence(this.lobby.state ? "Nobody is playing just now. The next game that begins is shown here by itself." : "Looking for a game …", lobby, "To the lobby"));
    const more = this.#over() ? (this.#programme() ? "The next game follows in a moment." : "The next game that begins is shown here by itself.") : "The next game follows when this one is over.";
    return html`
      <div class="tv">
        <p class="on-air"><b>Live</b><span>${more}</span><a class="more" href=${toGame(this.#table.id)}>Stay at this table</a></p>
        ${this.#table.draw()}
      </div>
    `;
  }
}
