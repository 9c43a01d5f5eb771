// A game's two leaves in the ledger (docs/audit.md, The ledger): what they say, and what the game's events say they must.
import { equal, worded } from "./facts.js";
import { NotShortest, read } from "./msgpack.js";
import { Unproven } from "./tree.js";

/** @typedef {import("./chain.js").Stored} Stored */
/** @typedef {import("./msgpack.js").Value} Value */
/** @typedef {import("./msgpack.js").Values} Values */

const gameBytes = 16;

/**
 * A leaf's values. Of an opening that names the games before it, without them: its own events don't know them.
 * @param {Uint8Array} entry
 * @returns {Values}
 * @throws {Unproven}
 */
export function leafOf(entry) {
  const values = decoded(entry);
  if (!Array.isArray(values)) throw new Unproven("A leaf is no list of values.");
  if (values[1] !== "OpeningAfter") return values;
  const after = values.at(-1);
  if (!Array.isArray(after) || after.length === 0 || !after.every(isGame) || !after.every((each, at) => at === 0 || compare(after[at - 1], each) < 0)) {
    throw new Unproven("The games before an opening are named once each, rising.");
  }
  return [values[0], "Opening", ...values.slice(2, -1)];
}

const opening = ["game", "version", "hash", "at_ms", "rules", "ladder", "counts", "players", "rival"];
/** Names of an entry's values, behind its format and its kind. @type {Readonly<Record<string, readonly string[]>>} */
const names = {
  Opening: opening,
  OpeningAfter: [...opening, "after"],
  Closing: [...opening, "winner", "reason", "owing"],
  Imported: ["record", "at_ms", "player", "ladder", "games", "total"],
  Barred: ["player", "number", "at_ms", "reason"],
  Lifted: ["player", "number", "at_ms"],
};

/**
 * What an entry says, by name; of a kind that isn't known here its values by number.
 * @param {Uint8Array} entry
 * @returns {{kind: string, fields: Readonly<Record<string, any>>}}
 * @throws {Unproven}
 */
export function entryOf(entry) {
  const [, kind, ...values] = /** @type {any[]} */ (decoded(entry));
  return { kind: String(kind), fields: Object.fromEntries(values.map((value, at) => [names[String(kind)]?.[at] ?? String(at), value])) };
}

/** @param {Uint8Array} entry */
function decoded(entry) {
  try {
    return read(entry);
  } catch (error) {
    if (error instanceof NotShortest) throw new Unproven(`A leaf isn’t in the shortest form: ${error.message}.`);
    throw error;
  }
}

/** @param {Value} value */
const isGame = (value) => value instanceof Uint8Array && value.length === gameBytes;

/** @param {any} one @param {any} other */
function compare(one, other) {
  const at = one.findIndex((/** @type {number} */ byte, /** @type {number} */ index) => byte !== other[index]);
  return at < 0 ? 0 : one[at] - other[at];
}

/**
 * @param {Values} leaf @param {Values | null} told
 * @throws {Unproven}
 */
export function mustTell(leaf, told) {
  if (!told || !equal(leaf, told)) throw new Unproven(`The leaf says ${worded(leaf)}; the game’s events say ${told ? worded(told) : "no such thing"}.`);
}

/**
 * The opening and the closing that a game's events must have told the ledger; null for what hasn't happened.
 * @param {Uint8Array} game
 * @param {readonly Stored[]} stored of a game that checks out
 * @returns {{opening: Values | null, closing: Values | null}}
 */
export function told(game, stored) {
  const events = stored.map(({ body }) => /** @type {any[]} */ (read(body)));
  const [, , , , rules, mode, , counts] = events[0];
  /** @type {any[]} */
  const seats = [null, null];
  /** @type {any} */
  let finished = null;
  let owing = [];
  /** @type {Values | null} */
  let opening = null;
  for (const [at, [, type, time, cause, ...fields]] of events.entries()) {
    if (type === "Seated") seats[fields[0]] = fields;
    if (type === "TimeUp") owing = fields[0];
    if (type === "Finished") finished = fields;
    // What an append tells, it tells of its end.
    if (at + 1 < events.length && equal(events[at + 1][3], cause)) continue;
    if (seats.includes(null)) continue;
    const { version, hash } = stored[at];
    const head = [game, version, hash, time, rules, ladderOf(rules, mode), counts, seats.map((seat) => seat[1]), seats[1][2]];
    opening ??= [1, "Opening", ...head];
    if (finished) return { opening, closing: [1, "Closing", ...head, ...finished, owing] };
  }
  return { opening, closing: null };
}

/** The game's name without its version, and the mode. @param {string} rules @param {string} mode */
function ladderOf(rules, mode) {
  const name = rules.split("/")[0];
  return `${name === "fifty-states" ? "states" : name}-${mode}`;
}
