// A finished game's choices from round two on, each held against perfect play.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { face, spokenCard, stateOf, tag } from "./cards.js";
import { battles, openHands } from "./fifty_states_battles.js";
import { possessive } from "./fifty_states_words.js";
import { steward } from "./opponent.js";

/**
 * @typedef {{card: number, worth: string, cost: string}} Choice
 * @typedef {{battle: number, round: number, value: string, chosen: number, choices: Choice[]}} Position
 * @typedef {{game: string, rules: string, positions: Position[], cost: string}} Review fractions as "12/35"
 */

/** @param {Review} told @param {import("../games.js").Seen} seen */
export function review(told, { table, facts, seat }) {
  const rival = steward(table.seats[1].rival);
  const all = battles(facts);
  const theirs = openHands(all, 1 - (seat ?? 0));
  const you = seat === null ? "the player" : "you";
  return html`
    <p class="lead">
      Round one is all chance: neither side has seen a card of the other. From round two on all cards lie open, and each position has an
      exact value: the chance that ${you} would win if both sides played perfectly from there on.
    </p>
    ${told.positions.length ? summary(told, you) : html`<p class="empty">This game ended before round two, so there was nothing to choose but luck.</p>`}
    <ol class="positions">
      ${told.positions.map((position) => one(position, all.find((battle) => battle.battle === position.battle), theirs.get(position.battle) ?? [], rival.name.split(" ")[0]))}
    </ol>
  `;
}

/** @param {Review} told @param {string} you */
function summary({ positions, cost }, you) {
  const perfect = isZero(cost);
  const dear = positions.filter((position) => !isZero(costOf(position))).length;
  const whose = you === "you" ? "Your" : "The player’s";
  return html`
    <p class="summary">
      ${perfect
        ? html`<b>Flawless.</b> ${whose} ${positions.length === 1 ? "one choice was" : `${positions.length} choices were all`} as good as any.`
        : html`${whose} choices gave away <b>${points(cost)}</b> ${exact(cost)} of winning chance, in ${dear} of ${positions.length} matches.`}
    </p>
  `;
}

/** @param {Position} position */
function costOf({ choices, chosen }) {
  return choices.find((choice) => choice.card === chosen)?.cost ?? "0";
}

/**
 * @param {Position} position
 * @param {import("./fifty_states_battles.js").Battle | undefined} battle
 * @param {readonly number[]} theirs
 * @param {string} short
 */
function one(position, battle, theirs, short) {
  const { round, value, chosen, choices } = position;
  const cost = costOf(position);
  const even = choices.every((choice) => isZero(choice.cost));
  return html`
    <li class="position">
      <header>
        <h2>Round ${round}, match ${battle?.match ?? "?"}</h2>
        <p class="value"><b>${percent(value)}</b> ${exact(value)} <span class="label">chance to win before it</span></p>
      </header>
      <div class="against">
        <span class="label" aria-hidden="true">${possessive(short)} hand</span>
        <ul class="tags" aria-label="${possessive(short)} hand">${theirs.map(tag)}</ul>
      </div>
      <ul class="choices" aria-label="Your choices">${choices.map((choice) => option(choice, choice.card === chosen, even))}</ul>
      <p class="verdict-line">${verdict(position, cost)}</p>
    </li>
  `;
}

/** @param {Choice} choice @param {boolean} mine @param {boolean} even whether all choices were worth the same */
function option({ card, worth, cost }, mine, even) {
  const best = isZero(cost);
  return html`
    <li class="option ${best ? "best" : ""} ${mine ? "mine" : ""}">
      ${face(card)}
      <span class="marks">
        <span class="unseen">${spokenCard(card)}. </span>
        ${mine ? html`<span class="mark">Chosen</span>` : nothing}
        ${best && !even ? html`<span class="mark good">Best</span>` : nothing}
      </span>
      <span class="option-words">
        <meter class="bar" min="0" max="1" value=${number(worth)} aria-label="Chance to win with ${stateOf(card).name}"></meter>
        <span class="worth">${percent(worth)}</span>
        ${exact(worth)}
        ${best ? nothing : html`<span class="price">costs ${points(cost)}</span>${exact(cost)}`}
      </span>
    </li>
  `;
}

/** @param {Position} position @param {string} cost */
function verdict({ choices, chosen }, cost) {
  const name = stateOf(chosen).name;
  if (choices.length === 1) return `${name} was the only card to play.`;
  if (choices.every((choice) => isZero(choice.cost))) return `Every card was worth the same here. You played ${name}.`;
  if (isZero(cost)) return `${name} cost nothing: no card was worth more.`;
  const best = choices.filter((choice) => isZero(choice.cost)).map((choice) => stateOf(choice.card).name);
  return `${name} cost ${points(cost)} of winning chance. ${best.join(" or ")} would have kept it.`;
}

/** @param {string} fraction "12/35", "0" or "1" */
export function number(fraction) {
  const [over, under = "1"] = fraction.split("/");
  // Twelve digits of the quotient in whole numbers first: both parts can be far beyond 2^53.
  return Number((BigInt(over) * 10n ** 12n) / BigInt(under)) / 1e12;
}

/** @param {string} fraction where it says more than the rounded number does */
const exact = (fraction) => (fraction.includes("/") ? html`<span class="exact">${fraction}</span>` : nothing);
/** @param {string} fraction */
const isZero = (fraction) => /^0(\/|$)/.test(fraction);
/** @param {string} fraction @returns {string} with one decimal */
const percent = (fraction) => `${(100 * number(fraction)).toFixed(1)} %`;
/** @param {string} fraction */
function points(fraction) {
  const shown = (100 * number(fraction)).toFixed(1);
  return shown === "0.0" ? "less than 0.1 points" : shown === "1.0" ? "1.0 point" : `${shown} points`;
}
