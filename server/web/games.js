// The games this page can show, by the name of their rules. A further one is one view and one line here.
import { fiftyStates } from "./views/fifty_states.js";
import { war } from "./views/war.js";

/** @typedef {import("./vendor/lit/lit-html.js").TemplateResult} Drawn */

/**
 * What a game's view is given: all that the page knows of one game.
 * @typedef {object} Seen
 * @property {string} id
 * @property {any} table as the server sent it (docs/protocol.md)
 * @property {readonly import("./gamelog.js").Fact[]} facts as many as the view keeps
 * @property {number | null} seat ours; null: we watch
 * @property {number} side the seat drawn next to us: ours; where we watch, seat 0, or the one looked at as
 * @property {readonly number[]} hand
 * @property {boolean} settled whether the hand is that of the table; else the next one is on its way
 * @property {number | null} chosen
 * @property {number | null} sealed our card that lies sealed, between people
 * @property {readonly number[]} owing the seats that are to act now
 * @property {Called} called what the players are called, by seat
 * @property {boolean} turnedByClock whether the clock acts in the place of who is late
 * @property {People | null} people what goes on between people; null against the house
 * @property {import("./game.js").Pending | null} pending
 * @property {string | null} refusal
 * @property {number} newsFrom facts above this version came while we looked
 * @property {boolean} roomy whether there is room beside the table
 * @property {boolean} leaving whether another game is being opened in place of this one
 * @property {boolean} [replayed] whether this is a moment of the past, looked at again
 */

/** @typedef {readonly [string | null, string | null]} Called null: the house, or a player without a name */

/**
 * @typedef {object} People
 * @property {number | null} left seconds to the deadline
 * @property {import("./game.js").Presence | null} presence
 * @property {"none" | "asked" | "offered"} rematch
 */

/**
 * What a game's view may ask for.
 * @typedef {object} Acts
 * @property {(card: number) => void} choose
 * @property {(card: number) => void} play
 * @property {() => void} resign
 * @property {() => void} again another game like this one, or the unfinished one that waits
 * @property {() => void} rematch asks for one, or accepts it
 * @property {Record<"home" | "lobby" | "review" | "replay" | "fair" | "file" | "how", string>} links
 */

/** @typedef {Readonly<Record<string, number | string>>} Settings */

/**
 * What a sitting may do, beside the acts of the view.
 * @typedef {object} Doings
 * @property {() => Seen | null} seen
 * @property {(command: {do: string, [field: string]: any}) => void} ask
 * @property {(settings: Settings) => void} again another game, or the unfinished one that waits
 * @property {(settings: Settings) => void} fresh leaves this game, if it isn't over, for another
 * @property {(sentence: string) => void} say
 * @property {() => void} changed
 * @property {boolean} watching whether it is shown to nobody who sits at it
 */

/**
 * What somebody at a table does beside the log, where a game needs it: it begins with the table's page and ends with it.
 * @typedef {object} Sitting
 * @property {() => void} moved after anything changed
 * @property {(facts: readonly import("./gamelog.js").Fact[], from: number, seen: Seen) => string[]} news sentences to speak now
 * @property {(event: KeyboardEvent) => boolean} key pressed where no control has the focus: whether it meant something
 * @property {() => void} drawn after each drawing
 * @property {() => void} end
 */

/** @typedef {{mode: string, name: string}} Mode */

/**
 * @typedef {object} GameView
 * @property {string} rules
 * @property {string} name
 * @property {readonly Mode[]} modes against the house
 * @property {import("./gamelog.js").Fields} facts names of the fields of its own facts, in stored order
 * @property {import("./gamelog.js").Keep} keep
 * @property {boolean} luck nobody chooses anything, and leaving a game is no loss
 * @property {(table: any, card: number) => {do: string, [field: string]: any}} [play] the command that plays a card
 * @property {(facts: readonly import("./gamelog.js").Fact[], from: number, seen: Seen) => string[]} news sentences to speak
 * @property {Readonly<Record<string, string>>} [reasons] refusals in this game's own words
 * @property {(table: any, seat: number) => boolean} [owes] between people, whether the seat is to act now; the cards are dealt
 * @property {readonly {setting: string, line: string, values: readonly number[]}[]} clocks between people, what can be set of its time, in seconds, the usual first
 * @property {(seen: Seen) => string} title
 * @property {(seen: Seen, acts: Acts, sitting: any) => Drawn} draw
 * @property {(doings: Doings) => Sitting} [sit]
 * @property {(told: any, seen: Seen) => Drawn} [review]
 * @property {(cards: readonly number[]) => Drawn} [hand] a hand laid open; a game where nobody holds a card has none
 * @property {() => Settings} [settings] what the next game is opened with
 * @property {(table: any) => string} [query] what the page's address says of this game, "?seed=12"
 * @property {(asked: URLSearchParams) => {settings: Settings} | {refusal: string} | null} [asked] a game that an address asks for
 * @property {(desk: import("./page_home.js").Desk, mode: Mode, acts: import("./views/drawer.js").DeskActs) => Drawn} panel where it stands on the first page
 */

/**
 * Games that stand together on the first page and are explained together.
 * @typedef {object} Shelf
 * @property {string} id in addresses
 * @property {string} kind the class under which its own style holds
 * @property {string} name
 * @property {string} line what it is
 * @property {readonly GameView[]} games
 * @property {() => Drawn[]} frontispiece a few of its cards
 * @property {() => Drawn} how
 * @property {{path: string, draw: (told: any) => unknown}} record where the player's record comes from; null until it has come
 */

/** @type {readonly Shelf[]} */
export const shelves = [fiftyStates, war];

/** @type {readonly GameView[]} */
export const games = shelves.flatMap((shelf) => shelf.games);

/** @param {string | undefined} rules @returns {GameView | undefined} */
export const gameOf = (rules) => games.find((game) => game.rules === rules);
/** @param {GameView | undefined} game */
export const shelfOf = (game) => shelves.find((shelf) => shelf.games.some((each) => each === game)) ?? shelves[0];
