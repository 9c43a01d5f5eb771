// An entry of the ledger in words: a game that began, a game that ended, or what else stands there.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { called, grouped, ladderOf } from "../ladders.js";
import { boards, toFair, toGame, toLeaf, toPlayer } from "../route.js";
import { worded } from "../verify/facts.js";
import { hex } from "../verify/hash.js";
import { steward } from "./opponent.js";
import { sentence, sheet } from "./frame.js";

/** @typedef {import("../page_leaf.js").LeafPage} Page */
/** @typedef {Readonly<Record<string, any>>} Fields */

/** @type {Readonly<Record<string, string>>} */
const kinds = {
  Opening: "A game began: both seats were taken.",
  OpeningAfter: "A game began: both seats were taken.",
  Closing: "A game ended.",
  Imported: "Old games of a player came from an older site.",
  Barred: "The operator keeps a player out of games that count, and off the boards.",
  Lifted: "A player’s bar is over.",
};

/** @param {Page} page */
export function draw({ index, told, why }) {
  const title = `Entry ${grouped(index)} of the ledger`;
  const back = html`<a class="more" href=${boards}>Leaderboards</a>`;
  if (why) return sheet(title, sentence(why), back);
  if (!told) return sheet(title, html`<p class="lead">Looking it up …</p>`, back);
  const { kind, fields, size } = told;
  return sheet(title, html`
    <p class="lead">${kinds[kind] ?? `It is of the kind “${kind}”.`}</p>
    <dl class="leaf">${"game" in fields ? ofGame(fields) : Object.entries(fields).map(([name, value]) => row(name.replaceAll("_", " "), name === "player" ? who(value, "") : worded(value)))}</dl>
    <p class="checked">✓ Checked here: it is leaf ${grouped(index)} of the ${grouped(size)} that are signed.</p>
    <nav class="buttons" aria-label="Entries">
      ${index > 0 ? html`<a class="button small" href=${toLeaf(index - 1)}>Entry ${grouped(index - 1)}</a>` : nothing}
      ${index + 1 < size ? html`<a class="button small" href=${toLeaf(index + 1)}>Entry ${grouped(index + 1)}</a>` : nothing}
    </nav>
  `, back);
}

/** @param {Fields} fields */
function ofGame({ game, version, hash, at_ms, ladder, counts, players, rival, winner, reason }) {
  const id = hex(game);
  const seats = [0, 1].map((seat) => who(players[seat], seat === 1 ? rival : ""));
  return html`
    ${row("Game", html`<code>${id}</code>`)}
    ${row("Look", html`<a href=${toGame(id)}>Replay</a> <a href=${toFair(id)}>Verify</a>`)}
    ${row("Ladder", `${ladderOf(ladder).name}${counts ? "" : ", for nothing"}`)}
    ${row("Seats", html`${seats[0]} and ${seats[1]}`)}
    ${reason === undefined ? nothing : row("Won by", winner === null ? "nobody" : seats[winner])}
    ${reason === undefined ? nothing : row("Because", String(reason).replaceAll("_", " "))}
    ${row("When", new Date(Number(at_ms)).toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC"))}
    ${row("Its log then", html`${version} events, the last with the hash <code>${hex(hash)}</code>`)}
  `;
}

/** @param {Uint8Array} player @param {string} rival */
function who(player, rival) {
  if (player.length) return html`<a href=${toPlayer(hex(player))}>${called(hex(player), null)}</a>`;
  return rival ? steward(rival).name : "the computer";
}

/** @param {string} term @param {unknown} value */
const row = (term, value) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
