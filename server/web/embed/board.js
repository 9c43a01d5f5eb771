// The page inside an embedded frame: one board's top, kept fresh, as high as it needs. What stands behind its # says which.
import { html, nothing, render } from "../vendor/lit/lit-html.js";
import { called, grouped, ladderOf, measureColumn, measureName, valueOf, windowName } from "../ladders.js";
import { toBoard, toPlayer } from "../route.js";

/** @typedef {import("../page_boards.js").Board} Board */

const refreshMs = 15_000;
const rowsMax = 100;
const main = /** @type {HTMLElement} */ (document.getElementById("board"));

/** @type {Board | null} */
let board = null;
/** @type {string | null} */
let why = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let next = undefined;
let asked = 0;

function wished() {
  const given = new URLSearchParams(location.hash.slice(1));
  const [ladder = "", measure = "", window = ""] = (given.get("board") ?? "").split("/").map(encodeURIComponent);
  const count = Math.min(rowsMax, Math.max(1, Math.floor(Number(given.get("count"))) || 10));
  return { ladder, measure, window, count, theme: given.get("theme") ?? "auto" };
}

async function refresh() {
  clearTimeout(next);
  const { ladder, measure, window, count } = wished();
  const mine = ++asked;
  try {
    // Nobody's cookie goes with it, whatever a browser makes of this frame.
    const answer = await fetch(`../api/boards/${ladder}/${measure}/${window}?count=${count}`, { credentials: "omit" });
    const told = await answer.json();
    if (mine !== asked) return; // Another board was asked for meanwhile.
    if (answer.ok) [board, why] = [told, null];
    else if (answer.status < 500) [board, why] = [null, told.what];
  } catch {
    why = board ? null : "The server didn’t answer.";
  }
  draw();
  if (document.visibilityState === "visible") next = setTimeout(() => void refresh(), refreshMs);
}

/** Addresses in full: in a frame they open outside it. @param {string} fragment */
const outside = (fragment) => new URL(`../${fragment}`, location.href.split("#")[0]).href;

function draw() {
  const { theme } = wished();
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  render(board ? shown(board) : html`<p role="status">${why ?? "Looking it up …"}</p>`, main);
}

/** @param {Board} board */
function shown({ ladder, measure, asked, size, as_of, places }) {
  return html`
    <h1>${measureName(measure)}, ${windowName(asked).toLowerCase()} <span>${ladderOf(ladder).name}</span></h1>
    ${places.length === 0 ? html`<p>Nobody stands here yet.</p>` : html`
      <table>
        <thead><tr><th scope="col"><span class="unseen">Rank</span></th><th scope="col">Player</th><th scope="col">${measureColumn(measure)}</th></tr></thead>
        <tbody>
          ${places.map(({ rank, player, name, value, index }) => html`
            <tr title="Entry ${index} of the ledger">
              <td>${grouped(rank)}</td>
              <th scope="row"><a href=${outside(toPlayer(player))} target="_blank" rel="noopener">${called(player, name)}</a></th>
              <td>${valueOf(measure, value)}</td>
            </tr>
          `)}
        </tbody>
      </table>`}
    <p>${size > places.length && places.length > 0 ? html`${grouped(places.length)} of ${grouped(size)} players. ` : nothing}As of ${grouped(as_of)} signed entries. <a href=${outside(toBoard(ladder, measure, asked))} target="_blank" rel="noopener">The whole board</a></p>
  `;
}

addEventListener("hashchange", () => {
  draw();
  void refresh();
});
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void refresh());
new ResizeObserver(() => parent.postMessage({ statecraftHeight: Math.ceil(main.getBoundingClientRect().height) }, "*")).observe(main);
draw();
void refresh();
