// The three Wars as the page shows them: what each is called, what can be pressed, and which settings it has.
import { browser } from "../storage.js";

/** @typedef {{name: string, label: string, values: readonly {value: number | string, label: string}[]}} Setting the default first */

/**
 * @typedef {object} Variant
 * @property {string} rules
 * @property {string} ladder
 * @property {string} name
 * @property {string} line what it is
 * @property {number} suit on its seal
 * @property {number} down face-down cards of a war, as it is known for
 * @property {string} turn
 * @property {number} times battles that one command may turn
 * @property {string} anew
 * @property {boolean} auto
 * @property {readonly Setting[]} given
 * @property {boolean} seeds whether an address may ask for an open deal
 * @property {string | null} why a word on what surprises
 * @property {(table: any) => Record<string, number | string>} settings those of a game, without its seed
 * @property {(table: any) => number | null} seed of an open deal
 */

/** @param {Omit<Variant, "settings" | "seed">} told @returns {Variant} */
const variant = (told) => ({
  ...told,
  settings: (table) => Object.fromEntries(table.opened.settings.filter((/** @type {[string, unknown]} */ [name]) => name !== "seed" && name !== "turn_seconds")),
  seed: (table) => Object.fromEntries(table.opened.settings).seed ?? null,
});

/** @type {readonly Variant[]} */
export const variants = [
  variant({
    rules: "playbook/1", ladder: "playbook-house", name: "Playbook War", suit: 2, down: 1,
    line: "The brisk one: a single card face down in a war, ten battles at a stroke if you like, and a draw after five hundred.",
    turn: "Turn cards", times: 10, anew: "New round", auto: false, given: [], seeds: false, why: null,
  }),
  variant({
    rules: "gameweave/1", ladder: "gameweave-house", name: "Gameweave War", suit: 3, down: 3,
    line: "The endless one: three cards face down in a war, won cards go back shuffled, and only the last card ends it.",
    turn: "Flip", times: 1, anew: "New game", auto: false, given: [], seeds: false,
    why: "Won cards go back under the pile in random order, for in a fixed order some deals would go round in a circle for ever.",
  }),
  variant({
    rules: "classic/1", ladder: "classic-house", name: "Classic War", suit: 0, down: 3,
    line: "The one from the kitchen table: three face down or one, a full game or a hundred battles, and cards that turn by themselves.",
    turn: "Flip card", times: 1, anew: "New game", auto: true, seeds: true, why: null,
    given: [
      { name: "down", label: "Cards down in a war", values: [{ value: 3, label: "3" }, { value: 1, label: "1" }] },
      { name: "length", label: "Length", values: [{ value: "full", label: "Full" }, { value: "short", label: "Short" }] },
    ],
  }),
];

/** What the next game is opened with: the settings chosen last in this browser. @param {Variant} variant @returns {Record<string, number | string>} */
export function chosen({ rules, given }) {
  const kept = browser.read(`settings.${rules}`) ?? {};
  return Object.fromEntries(given.map(({ name, values }) => [name, (values.find(({ value }) => value === kept[name]) ?? values[0]).value]));
}

/** The seed an address asks for, in plain digits; anything else is refused, not guessed at. @param {string} text @returns {number | null} */
export function seedOf(text) {
  return /^(0|[1-9][0-9]{0,9})$/.test(text) && Number(text) < 2 ** 32 ? Number(text) : null;
}
