// The first page: the games on their shelves, your records, and the way to another device.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { games, shelves } from "../games.js";
import { toHow } from "../route.js";

/**
 * @typedef {{kind: "closed" | "making"} | {kind: "made", link: string, copied: boolean} | {kind: "failed", why: string}} Recovery
 * @typedef {import("../page_home.js").HomePage} Home
 * @typedef {import("../games.js").GameView} GameView
 *
 * @typedef {object} HomeActs
 * @property {(game: GameView, mode: string) => void} play
 * @property {(game: GameView, mode: string) => void} startOver
 * @property {() => void} makeLink
 * @property {(event: Event) => void} copyLink
 */

const numbers = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];
const fanned = 5;

/** @param {Home} home @param {HomeActs} acts */
export function draw(home, acts) {
  return html`
    <div class="home">
      <section class="hero">
        <div class="hero-words">
          <p class="kicker">A catalogue of games for two</p>
          <h1 tabindex="-1">${numbers[games.length] ?? games.length} games, <span class="nobreak">kept on record</span></h1>
          <p class="lead">Every game is a file of its own, and every card in it is fixed before anybody can know it. When the game is over you can check all of it, down to the last card.</p>
        </div>
        <div class="fan" aria-hidden="true">${frontispiece().map((card) => html`<span class="fan-card">${card}</span>`)}</div>
      </section>
      ${home.people.draw()}
      ${shelves.map((shelf) => html`
        <section class=${shelf.kind} aria-labelledby="shelf-${shelf.id}">
          <div class="section"><h2 id="shelf-${shelf.id}">${shelf.name}</h2><a class="more" href=${toHow(shelf.id)}>How to play<span class="unseen"> ${shelf.name}</span></a></div>
          <p class="shelf-line">${shelf.line}</p>
          <div class="drawers">${shelf.games.map((game) => panels(home, game, acts))}</div>
        </section>
      `)}
      <div class="shelves">
        <div class="records">${shelves.map(({ record }) => record.draw(home.record(record.path)))}</div>
        ${recovery(home.recovery, acts)}
      </div>
    </div>
  `;
}

/** A card of each shelf in turn, the first shelf's outermost. */
function frontispiece() {
  const decks = shelves.map((shelf) => shelf.frontispiece());
  const most = Math.max(...decks.map((deck) => deck.length));
  return Array.from({ length: most }, (_, at) => decks.flatMap((deck) => deck.slice(at, at + 1))).flat().slice(0, fanned);
}

/** @param {Home} home @param {GameView} game @param {HomeActs} acts */
function panels(home, game, acts) {
  return game.modes.map((mode) => game.panel(home.desk(game, mode.mode), mode, {
    play: () => acts.play(game, mode.mode),
    startOver: () => acts.startOver(game, mode.mode),
  }));
}

/** @param {Recovery} state @param {HomeActs} acts */
function recovery(state, acts) {
  return html`
    <section class="shelf" aria-labelledby="recovery">
      <h2 id="recovery" class="section">Take your game to another device</h2>
      <p>You play as a guest, known to this browser alone. A recovery link makes another browser the same player, with your games and your record.</p>
      ${state.kind === "made"
        ? html`
            <label class="label" for="link">Your recovery link</label>
            <div class="copy">
              <input id="link" class="link" readonly .value=${state.link} @focus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()} />
              <button class="button" @click=${acts.copyLink}>${state.copied ? "Copied" : "Copy"}</button>
            </div>
            <p class="quiet">Keep it like a key: whoever opens it plays as you.</p>
          `
        : html`
            <button class="button" aria-disabled=${state.kind === "making" ? "true" : "false"} @click=${acts.makeLink}>${state.kind === "making" ? "Making it …" : "Make a recovery link"}</button>
            ${state.kind === "failed" ? html`<p class="refusal">${state.why}</p>` : nothing}
          `}
    </section>
  `;
}
