// The card index beside the table of the Game of 50 States: where each of the fifty is, and the matches so far.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { spokenCard, stateOf } from "./cards.js";
import { possessive, sentence } from "./fifty_states_words.js";

/** @typedef {import("./fifty_states.js").Look} Look */

/** @param {Look} look */
export function index(look) {
  const where = places(look);
  const count = (/** @type {string} */ kind) => [...where.values()].filter((each) => each.kind === kind).length;
  const legend = [
    ["yours", look.seat === null ? sentence(possessive(look.mine)) : "Yours"],
    ["taken", `${sentence(look.mine)} took`],
    ["theirs", sentence(possessive(look.short))],
    ["lost", `${sentence(look.short)} took`],
    ["gone", "Discarded"],
  ];
  return html`
    <aside class="index" aria-label="Card index">
      <h2 class="label">Card index</h2>
      <ol class="grid">
        ${Array.from({ length: 50 }, (_, at) => at + 1).map((card) => {
          const here = where.get(card);
          return html`<li class="cell ${here?.kind ?? "unknown"}" title="${spokenCard(card)}${here ? `: ${here.words}` : ""}"
            ><span aria-hidden="true">${card}</span><span class="unseen">${spokenCard(card)}: ${here?.words ?? "not seen"}</span></li>`;
        })}
      </ol>
      <ul class="legend">
        ${legend.map(([kind, words]) => html`<li><span class="cell ${kind}" aria-hidden="true"></span>${words} <b>${count(kind)}</b></li>`)}
        <li><span class="cell unknown" aria-hidden="true"></span>Not seen <b>${50 - where.size}</b></li>
      </ul>
      ${matches(look)}
    </aside>
  `;
}

/**
 * Where each card is that we know of.
 * @param {Look} look
 * @returns {Map<number, {kind: string, words: string}>}
 */
function places({ position, hand, seat, me, short, mine }) {
  const where = new Map();
  if (!position) return where;
  const put = (/** @type {readonly number[]} */ cards, /** @type {string} */ kind, /** @type {string} */ words) =>
    cards.forEach((card) => where.set(card, { kind, words }));
  put(position.discarded, "gone", "out of the game");
  put(position.known[1 - me], "theirs", `in ${possessive(short)} hand`);
  put(position.known[me], "yours", seat === null ? `in ${possessive(mine)} hand` : "in your hand");
  if (seat !== null) put(hand.filter((card) => !where.has(card)), "yours", "in your hand");
  put(position.captured[1 - me], "lost", `captured by ${short} this round`);
  put(position.captured[me], "taken", `captured by ${mine} this round`);
  return where;
}

/** @param {Look} look */
function matches({ all, me, seat, roomy }) {
  if (!all.length) return nothing;
  return html`
    <details class="matches" ?open=${roomy}>
      <summary>Matches so far <b>${all.length}</b></summary>
      <ol>
        ${[...all].reverse().map((battle) => {
          const [mine, other] = [battle.cards[me], battle.cards[1 - me]];
          const won = battle.winner === me;
          return html`
            <li class=${won ? "won" : "lost"}>
              <span class="where"><span class="unseen">Round </span>${battle.round}<span aria-hidden="true"> · </span><span class="unseen">, match </span>${battle.match}</span>
              ${short(mine)}
              <span class="beats">${won ? "beats" : "loses to"}</span>
              ${short(other)}
            </li>
          `;
        })}
      </ol>
      ${seat === null ? nothing : html`<p class="quiet">Yours first, the latest match on top.</p>`}
    </details>
  `;
}

/** @param {number} card */
function short(card) {
  const { name, postal } = stateOf(card);
  return html`<span title=${name}><b>${card}</b> <span aria-hidden="true">${postal}</span><span class="unseen">${name}</span></span>`;
}
