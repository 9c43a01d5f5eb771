// The three Wars on the first page: a drawer each, and your record, which is games, wins and draws and no more.
import { html, nothing, svg } from "../vendor/lit/lit-html.js";
import { back } from "./cards.js";
import { drawer } from "./drawer.js";
import { emblem, face } from "./playing_cards.js";
import { variants } from "./war_variants.js";

/** @typedef {import("./war_variants.js").Variant} Variant */
/** @typedef {{ladder: string, games: number, wins: number, draws: number}} Row */

const [ace, king] = [12, 24];
/** Cards of the picture on each drawer: two that tie, and what settles it. */
const drawn = [
  { tie: 19, last: 51 },
  { tie: 36, last: 22 },
  { tie: 10, last: 12 },
];

export const frontispiece = () => [face(ace), face(king)];

/** The mark of a variant, as the stewards' portraits have their rim. @param {Variant} variant */
export function seal({ suit }) {
  return html`
    <span class="seal suit-${suit}" aria-hidden="true">
      ${svg`<svg viewBox="-48 -48 96 96" focusable="false">
        <circle r="43" class="seal-field" /><circle r="44" class="seal-rim" /><circle r="44" class="seal-beads" /><circle r="41.4" class="seal-line" /><circle r="46.9" class="seal-line" />
        ${Array.from({ length: 16 }, (_, at) => svg`<path class="seal-ray" d="M0 0L8 -41H-8Z" transform="rotate(${22.5 * at})" />`)}
      </svg>`}
      ${emblem(suit)}
    </span>
  `;
}

/** @param {Variant} variant @param {import("../page_home.js").Desk} desk @param {import("./drawer.js").DeskActs} acts */
export function panel(variant, desk, acts) {
  const { tie, last } = drawn[variants.indexOf(variant)];
  const inside = html`
    <div class="sample" aria-hidden="true">
      <span>${face(tie)}</span>${Array.from({ length: variant.down }, () => html`<span class="under">${back()}</span>`)}<span>${face(last)}</span>
    </div>
    <p class="style">${variant.line}</p>
  `;
  const id = variant.rules.split("/")[0];
  return drawer(desk, acts, { id, label: variant.name, where: `of ${variant.name}`, inside, over: variant.anew });
}

/** @param {{luck: readonly Row[]} | null} told */
export function record(told) {
  const rows = variants.flatMap(({ ladder, name }) => (told?.luck ?? []).filter((row) => row.ladder === ladder).map((row) => ({ ...row, name })));
  if (!rows.length) return nothing;
  return html`
    <section class="shelf" aria-labelledby="luck">
      <h2 id="luck" class="section">Your War record</h2>
      <table class="record">
        <thead><tr><th scope="col">Game</th><th scope="col">Games</th><th scope="col">Wins</th><th scope="col">Draws</th></tr></thead>
        <tbody>
          ${rows.map(({ name, games, wins, draws }) => html`<tr><th scope="row">${name}</th><td>${games}</td><td>${wins}</td><td>${draws}</td></tr>`)}
        </tbody>
      </table>
      <p class="quiet">It is luck, so it is counted and compared with nobody’s. Games left unfinished and open deals count nowhere.</p>
    </section>
  `;
}
