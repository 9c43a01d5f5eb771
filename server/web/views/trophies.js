// Stars, medals, shields and flags as pictures. The only place that draws them; their colour is that of their ladder.
import { html, nothing, svg } from "../vendor/lit/lit-html.js";

/** @typedef {{stars: number, medals: number, shields: number, flags: number}} Trophies */
/** @typedef {"stars" | "medals" | "shields" | "flags"} Kind */

/** More flags than these are drawn as one with a number. */
const drawnMax = 10;

const star = "m0-15 4.2 9.5 10.3 1-7.8 6.8 2.4 10.1L0 7l-9.1 5.4 2.4-10.1-7.8-6.8 10.3-1z";

/** Each in a square of 40 around its middle. @type {Readonly<Record<Kind, unknown>>} */
const pictures = {
  stars: svg`<path class="body" d=${star} /><path class="shade" d="M0-15 4.2-5.5 0 7zM14.5-4.5 6.7 2.3 0 1zM9.1 12.4 0 7v-6zM-9.1 12.4l2.4-10.1L0 1zM-14.5-4.5l10.3-1L0 1z" />`,
  medals: svg`
    <path class="ribbon" d="M-10-18h7l6 14h-7zM10-18H3l-6 14h7z" />
    <circle class="body" cy="6" r="11" /><circle class="ring" cy="6" r="8.2" />
    <path class="mark" transform="translate(0 6) scale(.42)" d=${star} />`,
  shields: svg`
    <path class="body" d="M0-16c4.5 3 9 3.600 13 3.200V0c0 8-6 13-13 16-7-3-13-8-13-16v-12.800c4 .4 8.500-.2 13-3.200z" />
    <path class="shade" d="M0-16v32c7-3 13-8 13-16v-12.800c-4 .4-8.500-.2-13-3.200z" />
    <path class="ring" d="M0-12.400c3.400 2 6.600 2.600 10 2.500V0c0 6-4.600 9.900-10 12.400C-5.400 9.900-10 6-10 0v-9.900c3.400.1 6.600-.5 10-2.500z" />
    <path class="mark" transform="scale(.42)" d=${star} />`,
  flags: svg`
    <path class="pole" d="M-12-17v35" /><circle class="knob" cx="-12" cy="-17.500" r="2" />
    <path class="body" d="M-11-15.500c5-3 9 2 14 .5s6-1.500 10 0V3c-4-1.500-5-1.500-10 0s-9-3.500-14-.5z" />
    <path class="shade" d="M3-15c-2.500.7-4.800-.1-7-.800V1.300c2.200.9 4.500 2.200 7 1.500z" />
    <path class="mark" transform="translate(1 -6.300) scale(.36)" d=${star} />`,
};

/** @param {Kind} kind */
const picture = (kind) => html`<svg class="trophy" viewBox="-20 -20 40 40" width="40" height="40" aria-hidden="true" focusable="false">${pictures[kind]}</svg>`;

/** @type {readonly (readonly [Kind, string, string])[]} */
const kinds = [["flags", "flag", "flags"], ["shields", "shield", "shields"], ["medals", "medal", "medals"], ["stars", "star", "stars"]];

/**
 * All of one colour, the greatest first.
 * @param {Trophies} trophies @param {string} metal bronze, silver or gold
 */
export function cabinet(trophies, metal) {
  const held = kinds.filter(([kind]) => trophies[kind] > 0);
  if (!held.length) return html`<p class="empty">No star yet. Each win is one.</p>`;
  return html`
    <ul class="cabinet metal-${metal}">
      ${held.map(([kind, one, many]) => html`
        <li>
          <span class="pictures">${drawn(kind, trophies[kind])}</span>
          <span class="count">${trophies[kind]} ${trophies[kind] === 1 ? one : many}</span>
        </li>
      `)}
    </ul>
  `;
}

/** @param {Kind} kind @param {number} count */
function drawn(kind, count) {
  return count > drawnMax ? picture(kind) : Array.from({ length: count }, () => picture(kind));
}

/**
 * A milestone's badge, "5 in a row".
 * @param {string} big @param {string} small @param {string} earned @param {string} metal
 */
export const badge = (big, small, earned, metal) => html`
  <li class="badge metal-${metal}">
    <svg class="seal-badge" viewBox="-40 -40 80 80" width="80" height="80" aria-hidden="true" focusable="false">
      ${Array.from({ length: 24 }, (_, at) => svg`<path class="body" d="M-4.500-30 0-38 4.500-30z" transform="rotate(${15 * at})" />`)}
      <circle class="body" r="32" /><circle class="ring" r="28" /><text y="6.5">${big}</text>
    </svg>
    <span class="badge-words"><b>${big}</b> <span>${small}</span></span>
    ${earned ? html`<span class="earned">${earned}</span>` : nothing}
  </li>
`;
