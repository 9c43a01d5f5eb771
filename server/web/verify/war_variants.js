// What differs between `playbook/1`, `gameweave/1` and `classic/1`, as data.
import { between, oneOf, settingsOf } from "./facts.js";

/** @typedef {import("./rules.js").Settings} Settings */

/**
 * @typedef {object} Variant
 * @property {string} name
 * @property {string} title
 * @property {import("./facts.js").Shape} settings
 * @property {import("./facts.js").Shape} timed settings between people, where each turn has its time
 * @property {number} timesMax how many battles a seat may agree to at once
 * @property {(left: number, settings: Settings) => number} laid how many cards a seat lays that has so many left
 * @property {number} leastBefore a war is fought only if each seat has so many cards left before cards are laid,
 * @property {number} leastAfter and so many after that
 * @property {{fewer: string, alike: string}} short reasons: one seat has fewer left than the other, or both as many
 * @property {boolean} tableCleared whether the cards in play are taken when a war can't be fought
 * @property {boolean} shuffled whether taken cards go back in an order drawn from the seed
 * @property {(settings: Settings) => number} limit the battle that is the last
 * @property {boolean} limitCounts whether more cards win there; else it is a draw
 */

const turnSeconds = { turn_seconds: between(1, 3600) };
const down = oneOf(3, 1);
const length = oneOf("full", "short");
const seed = between(0, 2 ** 32 - 1);

/** @type {readonly Variant[]} */
export const variants = [
  {
    name: "playbook/1",
    title: "Playbook War",
    settings: settingsOf({}),
    timed: settingsOf(turnSeconds),
    timesMax: 10,
    laid: () => 1,
    leastBefore: 2,
    leastAfter: 0,
    short: { fewer: "shortage", alike: "equal_shortage" },
    tableCleared: false,
    shuffled: false,
    limit: () => 500,
    limitCounts: false,
  },
  {
    name: "gameweave/1",
    title: "Gameweave War",
    settings: settingsOf({}),
    timed: settingsOf(turnSeconds),
    timesMax: 1,
    laid: (left) => Math.min(3, left),
    leastBefore: 0,
    leastAfter: 1,
    short: { fewer: "cannot_flip", alike: "cannot_flip" },
    tableCleared: false,
    shuffled: true,
    limit: () => Infinity,
    limitCounts: false,
  },
  {
    name: "classic/1",
    title: "Classic War",
    settings: settingsOf({ down, length }, { seed }),
    timed: settingsOf({ down, length, ...turnSeconds }, { seed }),
    timesMax: 1,
    laid: (left, { down }) => Math.min(down, left - 1),
    leastBefore: 1,
    leastAfter: 0,
    short: { fewer: "no_cards_for_war", alike: "both_out_at_war" },
    tableCleared: true,
    shuffled: false,
    limit: ({ length }) => (length === "full" ? 5000 : 100),
    limitCounts: true,
  },
];
