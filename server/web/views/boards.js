// A leaderboard: which ladder, measure and window, then the places, each with the ledger's entry that gave its value.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { repeat } from "../vendor/lit/directives/repeat.js";
import { called, grouped, ladderOf, measureColumn, measureName, remaining, valueOf, windowName } from "../ladders.js";
import { toBoard, toLeaf, toPlayer } from "../route.js";

export const pageRows = 20;

/** @typedef {import("../page_boards.js").BoardsPage} Boards */
/** @typedef {import("../page_boards.js").Place} Place */
/** @typedef {import("../route.js").Part} Part */
/** @typedef {{befriend: (text: string) => boolean, here: (part: Part) => string}} Acts */

/** @param {Boards} page @param {Acts} acts */
export function draw(page, acts) {
  const { catalogue, at } = page;
  const listed = catalogue?.ladders.find((each) => each.ladder === at.ladder);
  return html`
    <div class="boards-page">
      <h1 tabindex="-1">Leaderboards</h1>
      <p class="lead">Counted from the signed record of finished games. Each place names the entry that gave its value, so that anybody can count again.</p>
      ${catalogue ? choices(page, catalogue, listed) : nothing}
      <section class="standings" aria-labelledby="board-title">
        <h2 id="board-title" class="section">${measureName(at.measure)}<span class="board-ladder">${ladderOf(at.ladder).name}${metal(ladderOf(at.ladder).metal)}</span></h2>
        ${parts(at.part, acts)}
        ${page.why ? html`<p class="empty">${page.why}</p>` : !page.board ? html`<p class="empty">Looking it up …</p>` : places(page, acts)}
        ${at.part.of === "friends" ? befriending(page, acts) : nothing}
      </section>
    </div>
  `;
}

/** @param {string | null} colour */
export const metal = (colour) => (colour ? html`<span class="ladder ${colour}">${colour}</span>` : nothing);

/** @param {Boards} page @param {import("../page_boards.js").Catalogue} catalogue @param {import("../page_boards.js").Catalogued | undefined} listed */
function choices({ at }, catalogue, listed) {
  const measured = listed?.measures ?? [];
  const windows = measured.find((each) => each.measure === at.measure)?.windows ?? [];
  /** Another board keeps the window where it has one. @param {import("../page_boards.js").Catalogued} other @param {string} measure */
  const to = (other, measure) => {
    const found = other.measures.find((each) => each.measure === measure) ?? other.measures[0];
    return toBoard(other.ladder, found.measure, found.windows.includes(at.window) ? at.window : "all");
  };
  return html`
    <div class="board-choices">${shelves.map(({ name, holds }) => tabs(name, catalogue.ladders.filter((each) => holds(each.ladder)).map((each) => ({ name: ladderOf(each.ladder).short, href: to(each, at.measure), here: each.ladder === at.ladder })), name))}</div>
    <div class="board-choices">
    ${listed ? tabs("Measures", measured.map(({ measure }) => ({ name: measureName(measure), href: to(listed, measure), here: measure === at.measure }))) : nothing}
    ${windows.length > 1 ? tabs("Windows", windows.map((window) => ({ name: windowName(window), href: toBoard(at.ladder, at.measure, window), here: window === at.window }))) : nothing}
    </div>
  `;
}

const shelves = [
  { name: "50 States", holds: (/** @type {string} */ ladder) => ladder.startsWith("states-") },
  { name: "War between people", holds: (/** @type {string} */ ladder) => !ladder.startsWith("states-") },
];

/** @param {string} label @param {readonly {name: string, href: string, here: boolean}[]} all @param {string} [shown] */
function tabs(label, all, shown) {
  return html`
    <div class="board-choice">
      ${shown ? html`<span class="label" aria-hidden="true">${shown}</span>` : nothing}
      <nav class="chips" aria-label=${label}>
        ${all.map(({ name, href, here }) => html`<a class="chip" href=${href} aria-current=${here ? "page" : nothing}>${name}</a>`)}
      </nav>
    </div>
  `;
}

/** @param {Part} part @param {Acts} acts */
function parts(part, { here }) {
  return html`
    <nav class="chapters" aria-label="Parts of the board">
      <a href=${here({ of: "from", start: 0 })} aria-current=${part.of === "from" ? "page" : nothing}>From the top</a>
      <a href=${here({ of: "around", player: null })} aria-current=${part.of === "around" && !part.player ? "page" : nothing}>Around me</a>
      <a href=${here({ of: "friends" })} aria-current=${part.of === "friends" ? "page" : nothing}>Friends</a>
    </nav>
  `;
}

/** @param {Boards} page @param {Acts} acts */
function places(page, acts) {
  const board = /** @type {import("../page_boards.js").Board} */ (page.board);
  if (!board.places.length) return html`<p class="empty">${nobody(page)}</p>${stand(board)}`;
  return html`
    <table class="record places">
      <caption class="unseen">${measureName(board.measure)}, ${windowName(board.asked)}, ${ladderOf(board.ladder).name}</caption>
      <thead><tr><th scope="col" class="rank">Rank</th><th scope="col">Player</th><th scope="col">${measureColumn(board.measure)}</th><th scope="col">Entry</th></tr></thead>
      <tbody>${repeat(board.places, (place) => place.player, (place) => row(place, board.measure, page.me))}</tbody>
    </table>
    ${page.at.part.of === "from" ? paging(board, page.at.part.start, acts) : nothing}
    ${stand(board)}
  `;
}

/** @param {Boards} page */
function nobody({ at, board, catalogue }) {
  if (at.part.of === "around") return at.part.player ? "That player doesn’t stand on this board." : "You don’t stand on this board yet.";
  if (at.part.of === "friends") return "None of you stands on this board yet.";
  if (board?.size) return "The board ends before here.";
  if (at.measure === "win_rate") return `Nobody stands here yet: a win rate counts after ${catalogue?.win_rate_games_min ?? 100} games.`;
  return at.window === "all" ? "Nobody stands here yet. The first win does." : "Nobody has won here yet in this time. The first win does.";
}

/** @param {Place} place @param {string} measure @param {string | null} me */
function row({ rank, player, name, value, index }, measure, me) {
  return html`
    <tr class=${player === me ? "mine" : ""}>
      <td class="rank">${grouped(rank)}</td>
      <th scope="row"><a href=${toPlayer(player)}>${called(player, name)}</a>${player === me ? html` <span class="you">you</span>` : nothing}</th>
      <td>${valueOf(measure, value)}</td>
      <td class="entry"><a href=${toLeaf(index)}>${grouped(index)}</a></td>
    </tr>
  `;
}

/** @param {import("../page_boards.js").Board} board @param {number} start @param {Acts} acts */
function paging({ size, places }, start, { here }) {
  const end = start + places.length;
  if (start === 0 && end >= size) return nothing;
  return html`
    <nav class="paging" aria-label="Pages of the board">
      ${start > 0 ? html`<a class="button small" href=${here({ of: "from", start: Math.max(0, start - pageRows) })}>Higher places</a>` : html`<span></span>`}
      <span class="quiet">${grouped(start + 1)} to ${grouped(end)} of ${grouped(size)}</span>
      ${end < size ? html`<a class="button small" href=${here({ of: "from", start: end })}>Lower places</a>` : html`<span></span>`}
    </nav>
  `;
}

/** @param {import("../page_boards.js").Board} board */
function stand({ as_of, size, asked, window, until_ms }) {
  const who = size === 1 ? "1 player stands" : `${grouped(size)} players stand`;
  const turns = until_ms === null ? "" : ` ${asked === "week" ? "This week" : "Today"} is ${window} and ends in ${remaining(until_ms - Date.now())} (UTC).`;
  return html`<p class="quiet stand">${who} on this board, as of ${grouped(as_of)} signed entries of the ledger.${turns}</p>`;
}

/** @param {Boards} page @param {Acts} acts */
function befriending({ refusal }, { befriend }) {
  /** @param {SubmitEvent} event */
  const submitted = (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (document.getElementById("friend"));
    if (befriend(field.value)) field.value = "";
    field.focus();
  };
  return html`
    <form class="befriend" @submit=${submitted}>
      <label class="label" for="friend">Somebody’s id, or the address of their page</label>
      <div class="copy">
        <input id="friend" class="link" autocomplete="off" spellcheck="false" maxlength="300" aria-describedby="friend-told" aria-invalid=${refusal ? "true" : nothing} />
        <button class="button">Add</button>
      </div>
      <p id="friend-told" class=${refusal ? "refusal" : "quiet"}>${refusal ?? "The list stays in this browser. A player’s page has a button for it, too."}</p>
    </form>
  `;
}
