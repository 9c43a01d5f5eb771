// What stands above a table that is looked at again: the scrub bar, the buttons, the viewpoint, the open hands.
import { html, nothing } from "../vendor/lit/lit-html.js";

/**
 * @typedef {object} Look
 * @property {number} version shown, or asked for
 * @property {number} first
 * @property {number} last the log's head, as far as it is known
 * @property {boolean} over
 * @property {boolean} playing
 * @property {number} speed
 * @property {readonly number[]} speeds
 * @property {import("../route.js").View} as
 * @property {readonly import("../route.js").View[]} views
 * @property {readonly {seat: number, cards: readonly number[]}[]} hands
 * @property {((cards: readonly number[]) => unknown) | undefined} laid draws a hand
 * @property {import("./opponent.js").Names} names of both seats
 * @property {string} words what happened last
 * @property {boolean} copied
 * @property {string} live where the game goes on
 * @property {Acts} acts
 *
 * @typedef {object} Acts
 * @property {(version: number) => void} seek
 * @property {(by: number) => void} step
 * @property {(by: 1 | -1) => void} stepBattle
 * @property {() => void} toggle
 * @property {(speed: number) => void} setSpeed
 * @property {(view: import("../route.js").View) => void} setView
 * @property {() => void} copy
 */

/** @type {Record<string, string>} */
const happened = {
  Opened: "The game is opened", Reserved: "A seat is kept", Seated: "The seats are taken", Mixed: "A player’s chance is mixed in", Dealt: "The cards are dealt",
  Committed: "A card is sealed", Revealed: "A sealed card is shown", Played: "A card is played", Captured: "The lower card is captured", RoundEnded: "The round is over",
  Readied: "A seat is ready to turn", Turned: "Both top cards are turned", Laid: "A war: cards are laid face down", Taken: "The cards are taken",
  Resigned: "A player leaves", TimeUp: "Time is up", Credited: "Time is given back", Lost: "A part of it is lost", Finished: "The game is over", Unsealed: "The server’s secret is published",
};

/** @param {import("../gamelog.js").Fact | undefined} fact @param {string} title of the table after it */
export const place = (fact, title) => `${happened[fact?.type ?? ""] ?? fact?.type ?? ""} · ${title}`;

/** @param {Look} look */
export function player(look) {
  const { version, first, last, over, playing, words, acts, live } = look;
  return html`
    <section class="player" aria-label="Replay">
      <p class="player-place"><b>${over ? "Replay" : "Looking back"}</b> <span class="player-words">${words}</span> <span class="player-count">${version} of ${last}</span></p>
      <input
        class="scrub" id="scrub" type="range" min=${first} max=${last} step="1" .value=${String(version)} .style=${`--done:${percent(look)}%`}
        aria-label="Moment of the game" aria-valuetext="Event ${version} of ${last}: ${words}"
        @input=${(/** @type {Event} */ event) => acts.seek(Number(/** @type {HTMLInputElement} */ (event.target).value))}
      />
      <div class="player-row">
        <div class="player-keys" role="group" aria-label="Moving">
          ${step("Back a battle", "M6 5v14M19 5l-9 7 9 7z", () => acts.stepBattle(-1))}
          ${step("Back an event", "m16 5-9 7 9 7z", () => acts.step(-1))}
          <button class="button primary play" @click=${acts.toggle}>${icon(playing ? "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z" : "m8 5 11 7-11 7z")}<span>${playing ? "Pause" : "Play"}</span></button>
          ${step("On an event", "m8 5 9 7-9 7z", () => acts.step(1))}
          ${step("On a battle", "M18 5v14M5 5l9 7-9 7z", () => acts.stepBattle(1))}
        </div>
        ${speed(look)} ${viewpoint(look)}
        <button class="button small" @click=${acts.copy}>${look.copied ? "Link copied" : "Copy link"}</button>
        ${over ? html`<a class="more" href=${live}>To the table</a>` : html`<a class="button small live" href=${live}>Live${last > version ? html`<span class="unseen">, ${last - version} events on</span>` : nothing}</a>`}
      </div>
      ${hands(look)}
    </section>
  `;
}

/** @param {Look} look */
const percent = ({ version, first, last }) => (last > first ? Math.round((1000 * (version - first)) / (last - first)) / 10 : 100);

/** @param {string} path */
const icon = (path) => html`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${path} /></svg>`;

/** @param {string} words @param {string} path @param {() => void} act */
const step = (words, path, act) => html`<button class="button step" aria-label=${words} title=${words} @click=${act}>${icon(path)}</button>`;

/** @param {Look} look */
const speed = ({ speed, speeds, acts }) => html`
  <label class="chosen-of">Speed
    <select id="speed" @change=${(/** @type {Event} */ event) => acts.setSpeed(Number(/** @type {HTMLSelectElement} */ (event.target).value))}>
      ${speeds.map((each) => html`<option value=${each} .selected=${each === speed}>${each}×</option>`)}
    </select>
  </label>
`;

/** Whose cards are seen. A game that runs has its public view alone. @param {Look} look */
function viewpoint({ as, views, over, names: [first, second], acts }) {
  if (!over || views.length < 2) return nothing;
  const named = { public: "Public", 0: first, 1: second, open: "Open cards" };
  return html`
    <label class="chosen-of">Seen by
      <select id="viewpoint" @change=${(/** @type {Event} */ event) => acts.setView(/** @type {any} */ (/** @type {HTMLSelectElement} */ (event.target).value))}>
        ${views.map((each) => html`<option value=${each} .selected=${each === as}>${named[each]}</option>`)}
      </select>
    </label>
  `;
}

/** @param {Look} look */
function hands({ hands, laid, names }) {
  if (!laid || !hands.length) return nothing;
  return html`
    <div class="open-hands">
      ${hands.map(({ seat, cards }) => html`
        <section class="open-hand" data-seat=${seat}>
          <h2 class="label">${names[seat]} holds ${cards.length}</h2>
          ${cards.length ? laid(cards) : html`<p class="none">no card</p>`}
        </section>
      `)}
    </div>
  `;
}
