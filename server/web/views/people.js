// What stands at a table between people, whatever they play: the clock, who is there, whether it counts, the way to a rematch.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { names } from "./opponent.js";

/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {import("../games.js").Acts} Acts */

/** @param {number} seconds */
export function clockWords(seconds) {
  if (seconds >= 5400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The strip between the two sides. @param {Seen} seen */
export function strip(seen) {
  const { table, people } = seen;
  const watchers = people?.presence?.watchers ?? 0;
  return html`
    <section class="strip" aria-label="The clock">
      ${table.finished ? nothing : clock(seen)}
      ${table.finished ? nothing : away(seen)}
      <p class="strip-note">${counting(table)}${watchers ? html` <span class="nobreak">${watching(watchers)}.</span>` : nothing}</p>
    </section>
  `;
}

/** @param {number} watchers */
export const watching = (watchers) => `${watchers} ${watchers === 1 ? "is" : "are"} watching`;

/** What is at stake. @param {any} table */
export const counting = (table) => (table.opened.counts ? "This game counts." : "Played for nothing.");

/** @param {Seen} seen */
function clock(seen) {
  const left = seen.people?.left ?? null;
  if (left === null) return nothing;
  const mine = seen.seat !== null && seen.owing.includes(seen.seat);
  return html`
    <p class="clock ${mine ? "mine" : ""} ${mine && left <= 10 ? "short" : ""}">
      <span>${whoseMove(seen)}</span> <b role="timer" aria-live="off">${clockWords(left)}</b>
    </p>
  `;
}

/** @param {Seen} seen */
function whoseMove(seen) {
  const { table, seat, owing } = seen;
  if (!table.position) return "The deal";
  if (seat !== null && owing.includes(seat)) return "Your move";
  return owing.length === 1 ? `${names(seen)[owing[0]]} to move` : "Both to move";
}

/** Somebody whose connection is gone, and what comes of it. @param {Seen} seen */
function away(seen) {
  const { seat, owing, people, turnedByClock } = seen;
  const gone = [0, 1].filter((each) => each !== seat && people?.presence?.seats[each] === false);
  return gone.map((each) => {
    const late = owing.includes(each) && people?.left != null;
    const what = !late ? "" : turnedByClock && seen.table.position ? "; the clock turns in their place" : seen.table.position || seen.table.mixed.some(Boolean) ? html` and loses in ${clockWords(people?.left ?? 0)} unless back` : html`; without them the game is void in ${clockWords(people?.left ?? 0)}`;
    return html`<p class="away">${names(seen)[each]} is away${what}.</p>`;
  });
}

/** What can be done when it is over. @param {Seen} seen @param {Acts} acts */
export function papers({ people }, acts) {
  const asked = people?.rematch === "asked";
  const words = asked ? "Rematch asked …" : people?.rematch === "offered" ? "Accept the rematch" : "Rematch";
  return html`
    <button class="button primary" aria-disabled=${asked ? "true" : "false"} @click=${() => !asked && acts.rematch()}>${words}</button>
    <a class="button" href=${acts.links.lobby}>To the lobby</a>
  `;
}

const lengths = { full: "full length", short: "a hundred battles" };

/** The settings of a game between people, in words. @param {Readonly<Record<string, any>>} settings */
export function settingWords({ commit_seconds, reveal_seconds, turn_seconds, down, length, seed }) {
  return [
    commit_seconds && `${span(commit_seconds)} to seal, ${span(reveal_seconds)} to show`,
    turn_seconds && `${span(turn_seconds)} a turn`,
    down && `${down} down in a war`,
    length && lengths[/** @type {keyof typeof lengths} */ (length)],
    seed !== undefined && `open deal ${seed}`,
  ].filter(Boolean).join(" · ");
}

/** @param {number} seconds */
export function span(seconds) {
  if (seconds % 3600 === 0) return seconds === 3600 ? "an hour" : `${seconds / 3600} hours`;
  if (seconds % 60 === 0) return seconds === 60 ? "a minute" : `${seconds / 60} minutes`;
  return `${seconds} s`;
}
