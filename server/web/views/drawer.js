// A drawer of the catalogue: where one game, or one difficulty of it, stands on the first page.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { inWords } from "../reasons.js";

/** @typedef {import("../page_home.js").Desk} Desk */
/** @typedef {{play: () => void, startOver: () => void}} DeskActs */

/**
 * @param {Desk} desk
 * @param {DeskActs} acts
 * @param {object} shown
 * @param {string} shown.id
 * @param {unknown} shown.label on the drawer's holder
 * @param {string} shown.where heard after a button's words: "at the Relaxed desk"
 * @param {unknown} shown.inside
 * @param {string} shown.over the words for starting over
 * @param {string} [shown.kind]
 */
export function drawer({ met, busy, refusal }, acts, { id, label, where, inside, over, kind = "" }) {
  const play = busy ? "Opening …" : met?.live ? "Continue your game" : "Play";
  return html`
    <article class="drawer ${kind}" aria-labelledby="desk-${id}">
      <h3 id="desk-${id}" class="holder">${label}</h3>
      ${inside}
      ${refusal ? html`<p class="refusal">${inWords(refusal)}</p>` : nothing}
      <div class="buttons">
        <button class="button primary" aria-disabled=${met && !busy ? "false" : "true"} @click=${() => met && !busy && acts.play()}>
          ${play}<span class="unseen"> ${where}</span>
        </button>
        ${met?.live && !busy
          ? html`<button class="button quiet" @click=${acts.startOver}>${over}<span class="unseen"> ${where}</span></button>`
          : nothing}
      </div>
    </article>
  `;
}
