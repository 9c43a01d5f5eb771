// The sheet beside a table of War: how the fifty-two cards are shared, the settings, and the keys.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { fullScreen } from "./war_sitting.js";
import { sides } from "./war_words.js";
import { settingWords } from "./people.js";

/** @typedef {import("./war.js").Look} Look */

/** @param {Look} look @param {import("../games.js").Acts} acts */
export function register(look, acts) {
  return html`
    <aside class="index register" aria-label="About this game">
      ${shares(look)} ${settings(look)} ${openDeal(look)}
      ${look.variant.why ? html`<p class="note">${look.variant.why}</p>` : nothing}
      ${look.replayed ? nothing : keys(look)}
      <p class="links"><a class="more" href=${acts.links.how}>How to play</a></p>
    </aside>
  `;
}

/** @param {Look} look */
function shares({ position, me, seen }) {
  if (!position) return nothing;
  const { sizes } = position;
  const { labels } = sides(seen);
  const table = 52 - sizes[0] - sizes[1];
  const part = (/** @type {number} */ count) => `flex-grow:${count}`;
  return html`
    <div class="shares">
      <h2 class="label">The fifty-two cards</h2>
      <div class="share" aria-hidden="true">
        <span class="share-mine" .style=${part(sizes[me])}></span>${table ? html`<span class="share-table" .style=${part(table)}></span>` : nothing}<span class="share-theirs" .style=${part(sizes[1 - me])}></span>
      </div>
      <ul class="legend">
        <li><span class="cell yours" aria-hidden="true"></span>${labels.mine} <b>${sizes[me]}</b></li>
        <li><span class="cell theirs" aria-hidden="true"></span>${labels.theirs} <b>${sizes[1 - me]}</b></li>
        ${table ? html`<li><span class="cell unknown" aria-hidden="true"></span>Left lying <b>${table}</b></li>` : nothing}
      </ul>
    </div>
  `;
}

/** @param {Look} look */
function settings({ variant, sitting, table, seat, people }) {
  if (!variant.given.length) return nothing;
  if (people) return html`<p class="note">${settingWords(Object.fromEntries(table.opened.settings))}</p>`;
  const now = variant.settings(table);
  return html`
    <div class="given">
      <h2 class="label">Settings</h2>
      ${variant.given.map(({ name, label, values }) => html`
        <div class="setting">
          <span id="setting-${name}">${label}</span>
          <div class="choice-of" role="group" aria-labelledby="setting-${name}">
            ${values.map(({ value, label: words }) => html`
              <button class="button small" aria-pressed=${now[name] === value ? "true" : "false"} aria-disabled=${seat === null ? "true" : "false"} @click=${() => sitting.set(name, value)}>${words}</button>
            `)}
          </div>
        </div>
      `)}
      <p class="quiet">A change deals a new game at once.</p>
    </div>
  `;
}

/** @param {Look} look */
function openDeal({ variant, table }) {
  const seed = variant.seed(table);
  if (seed === null) return nothing;
  return html`<p class="note"><b>Open deal, seed ${seed}.</b> Everybody who opens this address is dealt these cards. It counts nowhere.</p>`;
}

/** @param {Look} look */
function keys({ variant, people, seat }) {
  return html`
    <div class="keys">
      <h2 class="label">Keys</h2>
      <ul>
        ${seat === null ? nothing : html`<li><kbd>Space</kbd> turn</li>`}
        ${variant.auto && seat !== null ? html`<li><kbd>A</kbd> auto-play</li>` : nothing}
        ${people || seat === null ? nothing : html`<li><kbd>N</kbd> ${variant.anew.toLowerCase()}</li>`}
        <li><kbd>F</kbd> full screen</li>
      </ul>
      ${document.fullscreenEnabled ? html`<button class="button small" @click=${fullScreen}>Full screen</button>` : nothing}
    </div>
  `;
}
