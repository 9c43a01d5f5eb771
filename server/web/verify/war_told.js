// War in words: its cards, its table of battles and its ends.
import { counted } from "./words.js";

/**
 * @typedef {object} Battle
 * @property {number} battle
 * @property {number[][]} turned each time both seats' card, face up; more than once in a war
 * @property {number[][]} laid each war's cards, face down: how many by seat
 * @property {{seat: number, count: number}[]} taken
 * @property {number[]} piles how many cards each seat has afterwards; empty while cards are in play
 */

const ranks = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
const suits = ["♠", "♥", "♣", "♦"];

const endings = {
  all_cards: { won: "took every card" },
  left: { drawn: "It was left before its end, and counts nowhere." },
  battle_limit: { won: "had more cards after the last battle", drawn: "After the last battle it was a draw." },
  shortage: { won: "won, because the other side was short of cards for a war" },
  equal_shortage: { drawn: "Nobody won: both sides were equally short of cards for a war." },
  cannot_flip: { won: "won, because the other side had no card left to turn in a war", drawn: "Nobody won: neither side had a card left to turn in a war." },
  no_cards_for_war: { won: "won, because the other side had no card left for a war" },
  both_out_at_war: { drawn: "Nobody won: neither side had a card left for a war." },
};

/** @param {string} title of the variant @returns {import("./rules.js").Told} */
export function toldOf(title) {
  return {
    title: (_, settings) => [title, ...Object.entries(settings).map(settingWord)].join(", "),
    cardName,
    dealt: "The piles as they were dealt, top card first",
    dealtFolded: true,
    explained,
    columns: (names) => [...names.map((name) => `${name}’s cards`), "Taken by", "Piles after"],
    row,
    endings,
  };
}

/** @param {number} card */
export function cardName(card) {
  return ranks[card % ranks.length] + suits[Math.floor(card / ranks.length)] + "\ufe0e"; // a suit as text, not as an emoji
}

/** @param {[string, number | string]} setting */
function settingWord([name, value]) {
  if (name === "turn_seconds") return `${value} seconds a turn`;
  if (name === "down") return `${value} face down in a war`;
  return name === "seed" ? `open deal ${value}` : `${value} length`;
}

/** A war is every tie, also one that can't be fought. @param {readonly import("./rules.js").Battle[]} battles */
function explained(battles) {
  const ties = battles.flatMap(({ turned }) => turned).filter(([one, other]) => one % ranks.length === other % ranks.length);
  return `Each side turned the top card of its pile, and the higher rank took every card in play. ${counted(battles.length, "battle")}, with ${counted(ties.length, "war")}.`;
}

/** @param {Battle} battle @param {readonly string[]} names @returns {import("./rules.js").Row} */
function row({ battle, turned, laid, taken, piles }, names) {
  const lines = [0, 1].map((seat) => turned.flatMap((cards, at) => [
    cardName(cards[seat]), ...(at < laid.length ? [`${laid[at][seat]}\u00a0down`] : []),
  ]).join(", "));
  const takers = taken.map(({ seat, count }) => `${names[seat]}, ${count}\u00a0cards`).join("; ");
  return { title: `Battle ${battle}`, group: null, cells: [...lines, takers || "–", piles.join("\u00a0:\u00a0") || "–"], bad: false };
}
