// The fifty cards' faces, backs and small forms. The only place that draws a state.
import { html, svg } from "../vendor/lit/lit-html.js";
import { outlines } from "../art/outlines.js";
import { states } from "../art/states.js";

/** The last number of each wave of statehood: a card's tint tells about how high it is. */
const waves = [13, 24, 34, 45, 48, 50];
const longName = 10;

/** @param {number} number @returns {import("../art/states.js").State} */
export const stateOf = (number) => states[number - 1];
/** @param {number} number @returns {string} "Hawaii, 50" */
export const spokenCard = (number) => `${stateOf(number).name}, ${number}`;
/** @param {number} number @returns {string} a class that gives its tint */
export const wave = (number) => `wave-${waves.findIndex((last) => number <= last) + 1}`;

/**
 * A survey card. Silent: whoever places it names it.
 * @param {number} number
 */
export function face(number) {
  const { name, postal, statehood } = stateOf(number);
  const size = name.length > longName ? "long" : "";
  return html`
    <span class="card face ${wave(number)}" aria-hidden="true">
      <span class="card-number">${number}</span>
      <span class="card-corner"><b>${postal}</b><i>${statehood.slice(0, 4)}</i></span>
      ${outline(postal)}
      <span class="card-name ${size}">${name}</span>
    </span>
  `;
}

/** @param {string} postal */
function outline(postal) {
  const { box, path } = outlines[postal];
  // The land thrice: two lines of water along the coast, as engravers drew them, then the land with its hatching.
  return svg`
    <svg class="card-map" viewBox=${box} focusable="false">
      <path class="water far" d=${path} /><path class="water near" d=${path} />
      <path class="land" d=${path} /><path class="hatching" d=${path} fill="url(#hatching)" />
    </svg>
  `;
}

/** A card nobody has seen. */
export const back = () => html`<span class="card reverse" aria-hidden="true"></span>`;

/** Where a card will lie. @param {string} words */
export const place = (words) => html`<span class="card place" aria-hidden="true"><span>${words}</span></span>`;

/**
 * A card as a tab of a card index; says its own name.
 * @param {number} number
 */
export function tag(number) {
  const { name, postal } = stateOf(number);
  return html`
    <li class="tag ${wave(number)}" title="${name}, ${number}">
      <b>${number}</b><span aria-hidden="true">${postal}</span><span class="unseen"> ${name}</span>
    </li>
  `;
}
