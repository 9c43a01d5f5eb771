// Play a person: quick match, an invitation by link, an open seat, and the games that wait for you.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { inWords } from "../reasons.js";
import { lobby, toGame } from "../route.js";
import { clockWords, span } from "./people.js";

/** @typedef {import("../games.js").GameView} GameView */
/**
 * @typedef {object} Sought
 * @property {GameView} game
 * @property {readonly GameView[]} games
 * @property {number} pace seconds of the game's first clock
 * @property {boolean} busy
 * @property {readonly import("../meeting.js").Mine[]} mine unfinished games
 * @property {number | null} waited seconds in the queue; null: not in it
 * @property {boolean} patient whether that is so long that a rival is offered
 * @property {string | null} refusal
 * @property {boolean} inLobby whether this stands in the lobby itself
 *
 * @typedef {object} SoughtActs
 * @property {(choice: {rules?: string, pace?: number}) => void} choose
 * @property {() => void} wait
 * @property {() => void} stop
 * @property {(listed: boolean) => void} invite
 * @property {() => void} rival
 */

/** @param {Sought} sought @param {SoughtActs} acts */
export function draw(sought, acts) {
  return html`
    <section class="seeking" aria-labelledby="seeking">
      <div class="section"><h2 id="seeking">Play a person</h2>${sought.inLobby ? nothing : html`<a class="more" href=${lobby}>Lobby and live games</a>`}</div>
      ${sought.mine.map((mine) => waitingGame(mine, sought.games))}
      <div class="seek">
        <div class="choice-of games-of" role="group" aria-label="Game">
          ${sought.games.map((game) => html`<button class="button small" aria-pressed=${game === sought.game ? "true" : "false"} @click=${() => acts.choose({ rules: game.rules })}>${game.name}</button>`)}
        </div>
        <div class="seek-ways">
          ${sought.waited === null ? quick(sought, acts) : waiting(sought, acts)}
          ${invite(sought, acts)}
        </div>
        ${sought.refusal ? html`<p class="refusal">${inWords(sought.refusal)}</p>` : nothing}
      </div>
    </section>
  `;
}

/** @param {import("../meeting.js").Mine} mine @param {readonly GameView[]} games */
function waitingGame({ game, rules, counts }, games) {
  const name = games.find((each) => each.rules === rules)?.name ?? rules;
  return html`<p class="notice"><span>Your game of ${name} with a person waits${counts ? "" : " (for nothing)"}.</span><a class="button small" href=${toGame(game)}>Go to the table</a></p>`;
}

/** @param {Sought} sought @param {SoughtActs} acts */
function quick({ game }, acts) {
  return html`
    <div class="way">
      <h3>Quick match</h3>
      <p>Whoever waits too, near your rating if there is one. It counts${game.luck ? ", luck as it is" : " for the gold ladder"}.</p>
      <button class="button primary" @click=${acts.wait}>Find somebody</button>
    </div>
  `;
}

/** @param {Sought} sought @param {SoughtActs} acts */
function waiting({ waited, patient, game }, acts) {
  return html`
    <div class="way looking">
      <h3>Looking for somebody … <b class="waited" role="timer" aria-live="off">${clockWords(Number(waited))}</b></h3>
      ${patient
        ? html`<p>Nobody has come yet. ${game.luck ? "Play the computer" : "Play a rival"} meanwhile: your place is kept, and you are called.</p>`
        : html`<p>You go to the table by itself once somebody is found. ${game.name} counts.</p>`}
      <p class="buttons">
        ${patient ? html`<button class="button primary" @click=${acts.rival}>${game.luck ? "Meanwhile, the computer" : "Meanwhile, a rival"}</button>` : nothing}
        <button class="button" @click=${acts.stop}>Stop waiting</button>
      </p>
    </div>
  `;
}

/** @param {Sought} sought @param {SoughtActs} acts */
function invite({ game, pace, busy }, acts) {
  const [clock] = game.clocks;
  return html`
    <div class="way">
      <h3>Invite by link</h3>
      <p>One link seats you both. It counts for nothing.</p>
      <label class="pace"><span>${clock.line}</span>
        <select @change=${(/** @type {Event} */ event) => acts.choose({ pace: Number(/** @type {HTMLSelectElement} */ (event.target).value) })}>
          ${clock.values.map((value) => html`<option value=${value} ?selected=${value === pace}>${span(value)}</option>`)}
        </select>
      </label>
      <p class="buttons">
        <button class="button" aria-disabled=${busy ? "true" : "false"} @click=${() => acts.invite(false)}>Invite by link</button>
        <button class="button quiet" aria-disabled=${busy ? "true" : "false"} @click=${() => acts.invite(true)}>Open a seat in the lobby</button>
      </p>
    </div>
  `;
}
