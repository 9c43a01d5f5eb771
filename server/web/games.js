// The games this page can show, by the name of their rules. A further one is one view and one line here.
import { fiftyStates } from "./views/fifty_states.js";

/** @typedef {import("./vendor/lit/lit-html.js").TemplateResult} Drawn */

/**
 * What a game's view is given: all that the page knows of one game.
 * @typedef {object} Seen
 * @property {string} id
 * @property {any} table as the server sent it (docs/protocol.md)
 * @property {readonly import("./gamelog.js").Fact[]} facts
 * @property {number | null} seat ours; null: we watch
 * @property {readonly number[]} hand
 * @property {boolean} settled whether the hand is that of the table; else the next one is on its way
 * @property {number | null} chosen
 * @property {import("./game.js").Pending | null} pending
 * @property {string | null} refusal
 * @property {number} newsFrom facts above this version came while we looked
 * @property {boolean} roomy whether there is room beside the table
 */

/**
 * What a game's view may ask for.
 * @typedef {object} Acts
 * @property {(card: number) => void} choose
 * @property {(card: number) => void} play
 * @property {() => void} resign
 * @property {() => void} again
 * @property {{home: string, review: string, fair: string, file: string}} links
 */

/** @typedef {{slug: string, name: string, line: string}} Steward */
/** @typedef {{mode: string, name: string, ladder: string, line: string}} Mode */

/**
 * @typedef {object} GameView
 * @property {string} rules
 * @property {string} name
 * @property {readonly Mode[]} modes against the house
 * @property {import("./gamelog.js").Fields} facts names of the fields of its own facts, in stored order
 * @property {(table: any, card: number) => {do: string, [field: string]: any}} play the command that plays a card
 * @property {(facts: readonly import("./gamelog.js").Fact[], from: number, seen: Seen) => string[]} news sentences to speak
 * @property {(seen: Seen) => string} title
 * @property {(seen: Seen, acts: Acts) => Drawn} draw
 * @property {(told: any, seen: Seen) => Drawn} review
 * @property {() => Drawn} how
 * @property {(slug: string) => Steward} steward
 */

/** @type {readonly GameView[]} */
export const games = [fiftyStates];

/** @param {string | undefined} rules @returns {GameView | undefined} */
export const gameOf = (rules) => games.find((game) => game.rules === rules);
