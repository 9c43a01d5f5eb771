// The fifty-two playing cards' faces and names. The only place that draws one; backs are those of the house (cards.js).
import { html, svg } from "../vendor/lit/lit-html.js";

const ranks = 13;
const rankNames = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "jack", "queen", "king", "ace"];
const rankSigns = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
const suitNames = ["spades", "hearts", "clubs", "diamonds"];

/** Outlines of the suits on a 100 × 100 field. */
const suitPaths = [
  "M50 5C66 27 91 42 91 63C91 75 82 82 73 82C65 82 58 78 54 71C55 82 59 89 68 95H32C41 89 45 82 46 71C42 78 35 82 27 82C18 82 9 75 9 63C9 42 34 27 50 5Z",
  "M50 92C26 70 7 53 7 33C7 18 18 9 29 9C39 9 46 15 50 25C54 15 61 9 71 9C82 9 93 18 93 33C93 53 74 70 50 92Z",
  "M50 5A21 21 0 0 1 66 40A21 21 0 1 1 54 66C55 79 59 88 68 95H32C41 88 45 79 46 66A21 21 0 1 1 34 40A21 21 0 0 1 50 5Z",
  "M50 4C60 22 73 38 88 50C73 62 60 78 50 96C40 78 27 62 12 50C27 38 40 22 50 4Z",
];
/** Heads that wear something: what stands above the suit of jack, queen and king. */
const crowns = [
  "M22 34V20L33 27L42 12L50 25L58 12L67 27L78 20V34Z",
  "M20 34L17 15L33 25L50 8L67 25L83 15L80 34ZM17 12A4 4 0 1 0 17 4A4 4 0 1 0 17 12M50 6A4 4 0 1 0 50 -2A4 4 0 1 0 50 6M83 12A4 4 0 1 0 83 4A4 4 0 1 0 83 12",
  "M18 34L13 8L32 21L50 -3L68 21L87 8L82 34ZM18 38H82V43H18ZM47 -16H53V-12H57V-7H53V-3H47V-7H43V-12H47Z",
];

/** @param {number} card @returns {number} from 0 (two) to 12 (ace) */
export const rankOf = (card) => card % ranks;
/** @param {number} card @returns {number} 0 spades, 1 hearts, 2 clubs, 3 diamonds */
const suitOf = (card) => Math.floor(card / ranks);
/** @param {number} card @returns {string} "9 of hearts" */
export const spokenCard = (card) => `${rankNames[rankOf(card)]} of ${suitNames[suitOf(card)]}`;

/**
 * A playing card. Silent: whoever places it names it. Each suit has its shape, its colour, and its hatching as engravers
 * have drawn colours since the seventeenth century: black solid, red upright, green slanting, blue lying lines.
 * @param {number} card
 */
export function face(card) {
  const [rank, suit] = [rankOf(card), suitOf(card)];
  const corner = html`<b>${rankSigns[rank]}</b>${emblem(suit)}`;
  return html`
    <span class="card playing suit-${suit} ${rank > 8 ? "figure" : ""}" aria-hidden="true">
      <span class="corner ${rankSigns[rank].length > 1 ? "wide" : ""}">${corner}</span>
      <span class="middle">${rank === 12 ? rays : ""}${rank > 8 && rank < 12 ? svg`<svg class="crown" viewBox="0 -18 100 62" focusable="false"><path d=${crowns[rank - 9]} /></svg>` : ""}${emblem(suit)}</span>
      <span class="corner below ${rankSigns[rank].length > 1 ? "wide" : ""}">${corner}</span>
    </span>
  `;
}

/** @param {number} suit */
export function emblem(suit) {
  return svg`
    <svg class="suit" viewBox="0 0 100 100" focusable="false">
      <path class="ground" d=${suitPaths[suit]} /><path d=${suitPaths[suit]} fill="url(#suit-${suit})" />
    </svg>
  `;
}

/** Behind an ace, as they stand behind the stewards' heads. */
const rays = svg`
  <svg class="rays" viewBox="-50 -50 100 100" focusable="false">
    ${Array.from({ length: 24 }, (_, at) => svg`<path d="M0 -33L1.7 -47H-1.7Z" transform="rotate(${15 * at})" />`)}
  </svg>
`;
