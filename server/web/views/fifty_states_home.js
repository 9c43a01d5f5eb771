// The Game of 50 States on the first page: who sits opposite today, and your record against them.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { face } from "./cards.js";
import { drawer } from "./drawer.js";
import { picture, steward } from "./opponent.js";

/** @typedef {import("../page_home.js").Desk} Desk */
/** @typedef {{mode: string, name: string, ladder: string, line: string}} Difficulty */
/** @typedef {{mode: string, rival: string, games: number, wins: number}} Row */

/** @type {readonly Difficulty[]} */
export const difficulties = [
  { mode: "relaxed", name: "Relaxed", ladder: "bronze", line: "Plays any card it holds, at random, in every round. Good company for a first game." },
  { mode: "strategic", name: "Strategic", ladder: "silver", line: "From round two on, plays the exact best mix. In the long run nobody gets the better of it." },
];

/** The first, the last, and one known by its outline. */
export const frontispiece = () => [1, 28, 50].map(face);

/** @param {Desk} desk @param {{mode: string}} at @param {import("./drawer.js").DeskActs} acts */
export function panel(desk, at, acts) {
  const { mode, name, ladder, line } = difficulties.find((each) => each.mode === at.mode) ?? difficulties[0];
  const rival = desk.met && steward(desk.met.rival);
  const inside = html`
    <div class="opposite">
      ${rival ? html`<img class="portrait" src=${picture(rival.slug)} alt="" width="112" height="112" />` : html`<span class="portrait blank"></span>`}
      <div>
        <p class="label">${desk.met?.live ? "Waiting for you" : "Across the desk"}</p>
        <p class="rival-name">${rival ? rival.name : "Somebody is coming …"}</p>
        <p class="line">${rival?.line ?? ""}</p>
      </div>
    </div>
    <p class="style">${line}</p>
  `;
  const label = html`${name}<span class="ladder ${ladder}">${ladder}</span>`;
  return drawer(desk, acts, { id: mode, label, where: `at the ${name} desk`, inside, over: "Start over" });
}

/** @param {{rivals: readonly Row[]} | null} told */
export function record(told) {
  const rows = told?.rivals;
  return html`
    <section class="shelf" aria-labelledby="record">
      <h2 id="record" class="section">Your rival record</h2>
      ${!rows ? html`<p class="empty">Looking it up …</p>` : rows.length === 0 ? html`<p class="empty">Finish a game to start your rival record.</p>` : ""}
      ${difficulties.map((difficulty) => ledger(difficulty, (rows ?? []).filter((row) => row.mode === difficulty.mode)))}
    </section>
  `;
}

/** @param {Difficulty} difficulty @param {readonly Row[]} rows */
function ledger({ name, ladder }, rows) {
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
            <th scope="row"><img class="portrait" src=${picture(row.rival)} alt="" width="32" height="32" loading="lazy" />${steward(row.rival).name}</th>
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
