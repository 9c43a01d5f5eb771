// The first page: who sits opposite today, your record against them, and the way to another device.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { inWords } from "../reasons.js";
import { how } from "../route.js";
import { face } from "./cards.js";
import { picture } from "./fifty_states.js";

/**
 * @typedef {{game: string, rival: string, live: boolean}} Met
 * @typedef {{met: Met | null, busy: boolean, refusal: string | null}} Desk one difficulty
 * @typedef {{mode: string, rival: string, games: number, wins: number}} Row
 * @typedef {{kind: "closed" | "making"} | {kind: "made", link: string, copied: boolean} | {kind: "failed", why: string}} Recovery
 * @typedef {object} Home
 * @property {import("../games.js").GameView} game
 * @property {ReadonlyMap<string, Desk>} desks by mode
 * @property {readonly Row[] | null} record null until it came
 * @property {Recovery} recovery
 *
 * @typedef {object} HomeActs
 * @property {(mode: string) => void} play
 * @property {(mode: string) => void} startOver
 * @property {() => void} makeLink
 * @property {(event: Event) => void} copyLink
 */

/** The cards of the frontispiece: the first, the last, and three known by their outlines. */
const frontispiece = [1, 11, 28, 31, 50];

/** @param {Home} home @param {HomeActs} acts */
export function draw(home, acts) {
  return html`
    <div class="home">
      <section class="hero">
        <div class="hero-words">
          <p class="kicker">A card catalogue of the Union, Nos. 1–50</p>
          <h1 tabindex="-1">The Game of <span class="nobreak">50 States</span></h1>
          <p class="lead">Seven states against seven. The higher number wins the match and leaves; the loser changes sides. Your rival seals its card before you choose, and when the game is over you can check every card of it.</p>
          <p><a class="more" href=${how}>How to play</a></p>
        </div>
        <div class="fan" aria-hidden="true">${frontispiece.map((card) => html`<span class="fan-card">${face(card)}</span>`)}</div>
      </section>
      <section aria-labelledby="desks">
        <h2 id="desks" class="section">Choose a desk</h2>
        <div class="drawers">${home.game.modes.map((mode) => drawer(home, mode, acts))}</div>
      </section>
      <div class="shelves">
        ${record(home)} ${recovery(home.recovery, acts)}
      </div>
    </div>
  `;
}

/** @param {Home} home @param {import("../games.js").Mode} mode @param {HomeActs} acts */
function drawer({ game, desks }, { mode, name, ladder, line }, acts) {
  const { met, busy, refusal } = desks.get(mode) ?? { met: null, busy: false, refusal: null };
  const rival = met && game.steward(met.rival);
  const play = busy ? "Opening …" : met?.live ? "Continue your game" : "Play";
  return html`
    <article class="drawer ${ladder}" aria-labelledby="desk-${mode}">
      <h3 id="desk-${mode}" class="holder">${name}<span class="ladder ${ladder}">${ladder}</span></h3>
      <div class="opposite">
        ${rival ? html`<img class="portrait" src=${picture(rival.slug)} alt="" width="112" height="112" />` : html`<span class="portrait blank"></span>`}
        <div>
          <p class="label">${met?.live ? "Waiting for you" : "Across the desk"}</p>
          <p class="rival-name">${rival ? rival.name : "Somebody is coming …"}</p>
          <p class="line">${rival?.line ?? ""}</p>
        </div>
      </div>
      <p class="style">${line}</p>
      ${refusal ? html`<p class="refusal">${inWords(refusal)}</p>` : nothing}
      <div class="buttons">
        <button class="button primary" aria-disabled=${met && !busy ? "false" : "true"} @click=${() => met && !busy && acts.play(mode)}>
          ${play}<span class="unseen"> at the ${name} desk</span>
        </button>
        ${met?.live && !busy
          ? html`<button class="button quiet" @click=${() => acts.startOver(mode)}>Start over<span class="unseen"> at the ${name} desk</span></button>`
          : nothing}
      </div>
    </article>
  `;
}

/** @param {Home} home */
function record({ game, record: rows }) {
  return html`
    <section class="shelf" aria-labelledby="record">
      <h2 id="record" class="section">Your rival record</h2>
      ${rows === null ? html`<p class="empty">Looking it up …</p>` : rows.length === 0 ? html`<p class="empty">Finish a game to start your rival record.</p>` : ""}
      ${game.modes.map((mode) => ledger(game, mode, (rows ?? []).filter((row) => row.mode === mode.mode)))}
    </section>
  `;
}

/** @param {import("../games.js").GameView} game @param {import("../games.js").Mode} mode @param {readonly Row[]} rows */
function ledger(game, { name, ladder }, rows) {
  if (!rows.length) return nothing;
  const sorted = [...rows].sort((a, b) => b.games - a.games || b.wins - a.wins);
  const total = { games: sum(rows.map((row) => row.games)), wins: sum(rows.map((row) => row.wins)) };
  return html`
    <table class="record">
      <caption>${name}<span class="ladder ${ladder}">${ladder}</span></caption>
      <thead><tr><th scope="col">Rival</th><th scope="col">Games</th><th scope="col">Wins</th><th scope="col">Win %</th></tr></thead>
      <tbody>
        ${sorted.map((row) => html`
          <tr>
            <th scope="row"><img class="portrait" src=${picture(row.rival)} alt="" width="32" height="32" loading="lazy" />${game.steward(row.rival).name}</th>
            <td>${row.games}</td><td>${row.wins}</td><td>${share(row)}</td>
          </tr>
        `)}
      </tbody>
      ${rows.length > 1 ? html`<tfoot><tr><th scope="row">All</th><td>${total.games}</td><td>${total.wins}</td><td>${share(total)}</td></tr></tfoot>` : nothing}
    </table>
  `;
}

/** @param {readonly number[]} values */
const sum = (values) => values.reduce((all, value) => all + value, 0);
/** @param {{games: number, wins: number}} row */
const share = ({ games, wins }) => `${((100 * wins) / games).toFixed(0)} %`;

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
