// The room before the table: who sits already, the link for whom you await, the seat that is free.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { inWords } from "../reasons.js";
import { clockWords, counting, settingWords } from "./people.js";
import { silhouette } from "./opponent.js";

/**
 * @typedef {object} Room
 * @property {import("../games.js").GameView} view
 * @property {any} table
 * @property {number | null} mine the seat that is ours or kept for us
 * @property {number | null} free the seat that we may take
 * @property {number | null} left seconds until it is given up
 * @property {string} link
 * @property {boolean} copied
 * @property {boolean} busy
 * @property {string | null} refusal
 * @property {Record<"home" | "lobby", string>} links
 *
 * @typedef {object} RoomActs
 * @property {() => void} sit
 * @property {() => void} copy
 * @property {(() => void) | null} share
 * @property {() => void} leave
 */

/** Whether somebody in particular is awaited in each seat. @param {any} table */
const paired = (table) => table.reserved.every(Boolean);

/** @param {Room} room */
export function title({ table, mine, free }) {
  if (table.finished) return "The game is void";
  if (mine !== null) return paired(table) ? "Your opponent is on the way" : "Waiting for your opponent";
  return free === null ? "The players take their seats" : "A seat is free for you";
}

/** @param {Room} room @param {RoomActs} acts */
export function draw(room, acts) {
  const { view, table, refusal, links } = room;
  const settings = Object.fromEntries(table.opened.settings);
  return html`
    <div class="sheet prose room">
      <p class="kicker">${view.name}</p>
      <h1 tabindex="-1">${title(room)}</h1>
      <div class="room-seats">${[0, 1].map((seat) => chair(room, seat))}</div>
      <p class="quiet">${settingWords(settings)}. ${counting(table)}${table.opened.counts ? "" : " It counts nowhere."}</p>
      ${refusal ? html`<p class="refusal">${inWords(refusal)}</p>` : nothing}
      ${table.finished ? html`<p class="lead">Not everybody came, so no card was dealt and nobody lost.</p><p class="buttons"><a class="button primary" href=${links.lobby}>To the lobby</a><a class="button" href=${links.home}>Back to the desks</a></p>` : waiting(room, acts)}
    </div>
  `;
}

/** @param {Room} room @param {number} seat */
function chair({ table, mine }, seat) {
  const sits = table.seats[seat] !== null;
  const who = seat === mine ? "You" : sits ? "Your opponent" : table.reserved[seat] ? "Expected" : "Free";
  const words = mine === null && sits ? "Taken" : who;
  return html`
    <figure class="chair ${sits ? "taken" : ""}">
      ${sits ? html`<img class="portrait" src=${silhouette(seat)} alt="" width="72" height="72" />` : html`<span class="portrait blank"></span>`}
      <figcaption>${words}</figcaption>
    </figure>
  `;
}

/** @param {Room} room @param {RoomActs} acts */
function waiting(room, acts) {
  const { table, mine, free, left, busy, view } = room;
  if (mine === null && free !== null) {
    return html`
      <p class="lead">Whoever opened this game waits for you. The cards are dealt when both sit.</p>
      <p class="buttons"><button class="button primary" aria-disabled=${busy ? "true" : "false"} @click=${acts.sit}>${busy ? "Taking it …" : "Take the seat"}</button></p>
    `;
  }
  if (mine === null) return html`<p class="lead">The game begins when both sit. This page shows it by itself.</p>`;
  const until = left === null ? "" : paired(table) ? ` If they don’t come within ${clockWords(left)}, the game is void.` : "";
  return html`
    <p class="lead">${paired(table) ? `You are paired for ${view.name}, and the cards are dealt as soon as both sit.${until}` : "Send the link to whom you like: the first to take the seat plays with you."}</p>
    ${paired(table) ? nothing : invitation(room, acts)}
    <p class="buttons"><button class="button quiet" @click=${acts.leave}>${paired(table) ? "Leave" : "Take the invitation back"}</button></p>
  `;
}

/** @param {Room} room @param {RoomActs} acts */
function invitation({ link, copied }, acts) {
  return html`
    <div>
      <label class="label" for="link">The link to this game</label>
      <div class="copy">
        <input id="link" class="link" readonly .value=${link} @focus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()} />
        <button class="button" @click=${acts.copy}>${copied ? "Copied" : "Copy"}</button>
        ${acts.share ? html`<button class="button" @click=${acts.share}>Share</button>` : nothing}
      </div>
    </div>
  `;
}
