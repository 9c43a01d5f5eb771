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

/**
 * Between people.
 * @typedef {object} Between
 * @property {number} battle
 * @property {number} round
 * @property {{seal: string | null, card: number | null, salt: string | null, opens: boolean}[]} sides by seat; null before they stand in the log
 * @property {number | null} winner seat
 */

/** @type {import("./rules.js").Told} */
export const told = {
  title: (mode) => mode === "versus" ? "The Game of 50 States" : `The Game of 50 States, ${mode}`,
  cardName,
  dealt: "The hands as they were dealt",
  dealtFolded: false,
  explained: (_, between) =>
    `${between ? "Both cards lay sealed in the log before either was shown." : "The rival’s card lay sealed in the log before the player could choose."} Seal, card and salt fit together in one way only.`,
  columns: (names, between) => (between
    ? [...names.flatMap((name) => [`${name}’s seal`, `${name}’s card`]), "Opening", "Winner"]
    : ["Rival’s seal", "Rival’s card", "Salt", "Opening", "Player’s card", "Winner"]),
  row: (battle, names) => ("sides" in battle ? rowBetween(battle, names) : row(battle, names)),
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

/** @param {Between} battle @param {readonly string[]} names @returns {import("./rules.js").Row} */
function rowBetween({ battle, round, sides, winner }, names) {
  const bad = sides.some((side) => side.card !== null && !side.opens);
  const opens = bad ? "does not open the seal\u00a0✗" : sides.some((side) => side.card === null) ? "not opened" : "both open their seals\u00a0✓";
  const cells = sides.flatMap((side) => [
    side.seal === null ? "–" : { digits: side.seal }, side.card === null ? "–" : cardName(side.card),
  ]);
  return { title: `Battle ${battle}`, group: `Round ${round}`, cells: [...cells, opens, winner === null ? "–" : names[winner]], bad };
}
