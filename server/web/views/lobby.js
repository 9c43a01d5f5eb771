// The lobby as a page: open seats, live games, and the way to the television.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { gameOf } from "../games.js";
import { toGame, tv } from "../route.js";
import { called } from "../ladders.js";
import { steward } from "./opponent.js";
import { settingWords, watching } from "./people.js";

/** @typedef {{game: string, rules: string, settings: Record<string, any>, player: string, name: string | null, since_ms: number}} OpenSeat */
/** @typedef {{game: string, rules: string, mode: string, players: [string, string], names: import("../games.js").Called, rival: string, battle: number, round: number, watchers: number, since_ms: number}} LiveGame */
/** @typedef {{seats: readonly OpenSeat[], live: readonly LiveGame[], come: boolean, player: string | null, nowMs: number, people: unknown}} Lobby */

/** @param {Lobby} lobby */
export function draw(lobby) {
  return html`
    <div class="lobby">
      <h1 tabindex="-1">The lobby</h1>
      <section aria-labelledby="seats">
        <div class="section"><h2 id="seats">Open seats</h2></div>
        ${lobby.seats.length ? html`<ul class="rows">${lobby.seats.map((seat) => openSeat(lobby, seat))}</ul>` : html`<p class="empty">${lobby.come ? "No seat is open just now. Open one, or find somebody by quick match." : "Looking …"}</p>`}
      </section>
      <section aria-labelledby="live">
        <div class="section"><h2 id="live">Being played</h2><a class="more" href=${tv}>Watch whatever is on</a></div>
        ${lobby.live.length ? html`<ul class="rows">${lobby.live.map((game) => liveGame(lobby, game))}</ul>` : html`<p class="empty">${lobby.come ? "Nobody is playing just now." : "Looking …"}</p>`}
      </section>
      ${lobby.people}
    </div>
  `;
}

/** @param {Lobby} lobby @param {OpenSeat} seat */
function openSeat({ player, nowMs }, { game, rules, settings, player: maker, name, since_ms }) {
  const own = maker === player;
  return html`
    <li class="row-of">
      <div><b>${nameOf(rules)}</b><span class="quiet">${settingWords(settings)}</span></div>
      <div class="quiet">${own ? "You" : called(maker, name)} · ${ago(nowMs - since_ms)}</div>
      <a class="button small ${own ? "" : "primary"}" href=${toGame(game)}>${own ? "Your table" : "Take the seat"}<span class="unseen"> ${nameOf(rules)}</span></a>
    </li>
  `;
}

/** @param {Lobby} lobby @param {LiveGame} live */
function liveGame({ player }, { game, rules, players, names, rival, battle, round, watchers }) {
  const mine = player !== null && players.includes(player);
  return html`
    <li class="row-of">
      <div><b>${nameOf(rules)}</b><span class="quiet">${who(players, names, rival, player)}</span></div>
      <div class="quiet">${round ? `Round ${round}, match ${battle}` : battle ? `Battle ${battle}` : "The deal"}${watchers ? ` · ${watching(watchers)}` : nothing}</div>
      <a class="button small" href=${toGame(game)}>${mine ? "Your table" : "Watch"}<span class="unseen"> ${nameOf(rules)}</span></a>
    </li>
  `;
}

/** @param {string} rules */
export const nameOf = (rules) => gameOf(rules)?.name ?? rules;

/** @param {readonly string[]} players @param {import("../games.js").Called} names @param {string} rival @param {string | null} player */
export function who(players, names, rival, player) {
  const [one, other] = players.map((each, seat) => (each === player ? "You" : each ? called(each, names[seat]) : rival ? steward(rival).name : "the computer"));
  return `${one} and ${other}`;
}

/** @param {number} ms */
function ago(ms) {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  return minutes < 1 ? "just now" : minutes < 60 ? `for ${minutes} min` : `for ${Math.floor(minutes / 60)} h`;
}
