// What a game brings of its own: one value, `Rules`. Types only.
export {};

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./facts.js").Shape} Shape */
/** @typedef {import("./log.js").Log} Log */

/**
 * One game, as a verifier knows it.
 * @typedef {object} Rules
 * @property {string} name with the rules' version, as `Opened` has it
 * @property {Facts} facts its own, beside those of every game
 * @property {Readonly<Record<string, Mode>>} modes
 * @property {readonly string[]} cast the house's rivals, in the order a draw indexes. Empty in a game of luck: nobody chooses
 *   anything there, so the house plays in no rival's name, and leaving it is no loss
 * @property {readonly number[]} counts how many cards each seat is dealt
 * @property {(seed: Uint8Array) => number[][]} deal what each seat is dealt
 * @property {(settings: Settings) => number[][] | null} [openDeal] the same from settings that fix the deal; null if these don't
 * @property {(log: Log, table: Table) => Outcome} play from the deal to the result, or to where somebody resigned or was late
 * @property {Told} told
 */

/**
 * @typedef {object} Mode
 * @property {readonly number[]} people the seats that people have; any other is the house's
 * @property {string | null} policy the house's whole policy as published; null where it has none: between people, and where there is nothing to choose
 * @property {Shape} settings what `Opened` may say was set
 */

/** @typedef {Readonly<Record<string, any>>} Settings by name, each of the shape its mode has for it */

/**
 * What the checks know when the cards are dealt. While the secret of a game isn't out, seed and hands are null.
 * @typedef {object} Table
 * @property {Uint8Array} game
 * @property {string} mode
 * @property {Settings} settings
 * @property {readonly number[]} people the seats that people have
 * @property {Uint8Array | null} seed null for an open deal, too
 * @property {number[][] | null} hands
 * @property {Battle[]} battles what `play` leaves for the reader of the report
 * @property {import("./timing.js").Clock | null} clock between people, to be told of each stage's beginning; null against the house
 */

/** @typedef {{winner: number | null, reason: string} | {owing: readonly number[]}} Outcome a result, or who owed an action when the game was ended from outside */
/** @typedef {{battle: number, [field: string]: any}} Battle its number, and what else its game's own `Told` draws it from */

/**
 * How a game is told to people: words and rows, without a node in it. Names are those of the seats.
 * @typedef {object} Told
 * @property {(mode: string, settings: Settings) => string} title what was played
 * @property {(card: number) => string} cardName
 * @property {string} dealt the heading over what each seat was dealt
 * @property {boolean} dealtFolded whether that is much and is shown on demand only
 * @property {(battles: readonly Battle[], between: boolean) => string} explained a sentence over the table of battles
 * @property {(names: readonly string[], between: boolean) => readonly string[]} columns of that table, behind the first; between people they may be others
 * @property {(battle: any, names: readonly string[]) => Row} row
 * @property {Readonly<Record<string, {won?: string, drawn?: string}>>} endings by reason, beside those of every game: what the
 *   winner did, as the end of a sentence, and the whole sentence where nobody won
 */

/** @typedef {string | {digits: string}} Cell digits are long, and shown short until asked for */
/** @typedef {{title: string, group: string | null, cells: readonly Cell[], bad: boolean}} Row rows of one group stand together under its name */
