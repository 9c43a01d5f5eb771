// The Game of 50 States in words: its cards, its table of battles and its end.
import { states } from "../art/states.js";

/**
 * @typedef {object} Battle
 * @property {number} battle
 * @property {number} round
 * @property {{seal: string, card: number | null, salt: string | null, opens: boolean}} house seal and salt in hex; null before they are shown
 * @property {number | null} person
 * @property {number | null} winner seat
 */

/** @type {import("./rules.js").Told} */
export const told = {
  title: (mode) => `The Game of 50 States, ${mode}`,
  cardName,
  dealt: "The hands as they were dealt",
  dealtFolded: false,
  explained: () => "The rival’s card lay sealed in the log before the player could choose. Seal, card and salt fit together in one way only.",
  columns: () => ["Rival’s seal", "Rival’s card", "Salt", "Opening", "Player’s card", "Winner"],
  row,
  endings: { all_cards: { won: "took every card" } },
};

/** @param {number} number */
function cardName(number) {
  return `${states[number - 1].name}\u00a0·\u00a0${number}`;
}

/** @param {Battle} battle @param {readonly string[]} names @returns {import("./rules.js").Row} */
function row({ battle, round, house, person, winner }, names) {
  const shown = house.card !== null;
  const opens = !shown ? "not opened" : house.opens ? "opens the seal\u00a0✓" : "does not open the seal\u00a0✗";
  const cells = [
    { digits: house.seal }, house.card === null ? "–" : cardName(house.card), house.salt === null ? "–" : { digits: house.salt },
    opens, person === null ? "–" : cardName(person), winner === null ? "–" : names[winner],
  ];
  return { title: `Battle ${battle}`, group: `Round ${round}`, cells, bad: shown && !house.opens };
}
