// check(text): everything that a saved game can be held against, without a network, a clock or anything but its bytes.
import { readSaved } from "./chain.js";
import { decode, event, worded } from "./facts.js";
import { Fault, Tally } from "./fault.js";
import { fiftyStates } from "./fifty_states.js";
import { lifeFacts, walk } from "./game.js";
import { hex } from "./hash.js";

/** @typedef {import("./chain.js").Stored} Stored */
/** @typedef {import("./facts.js").Event} Event */
/** @typedef {import("./game.js").Rules} Rules */
/** @typedef {Readonly<Record<string, Rules>>} Games by name and version */

/** @typedef {{version: number | null, why: string, expected: string, found: string}} Failure version null: the file's first line */
/** @typedef {{name: string, what: string, count: number, ok: boolean}} Checked */
/** @typedef {{version: number, hash: string, type: string, at: string, cause: string, fields: {name: string, value: string}[]}} Shown */

/**
 * @typedef {object} Report
 * @property {boolean} ok nothing is wrong with what stands there
 * @property {boolean} over the log ends with `Unsealed`, so that everything could be checked
 * @property {string} rules empty if the file does not get as far as naming them
 * @property {string} game hex; empty if the first line is not that of a saved game
 * @property {number} events how many could be read
 * @property {string} headHash of the last of them, hex
 * @property {Failure | null} failure the first thing that is wrong
 * @property {Checked[]} checks
 * @property {import("./game.js").Battle[]} battles
 * @property {Shown[]} facts the events in words, bytes in hex, `at` in milliseconds
 * @property {number[][] | null} deal both hands as dealt, rising; null if they can't be known
 * @property {string | null} seed hex
 */

/** Every game there is. A further one is one module and one line here. */
export const games = tableOf(fiftyStates);

/**
 * @param {...Rules} rules
 * @returns {Games}
 */
export function tableOf(...rules) {
  return Object.fromEntries(rules.map((each) => [each.name, each]));
}

/**
 * @param {string} text of a saved file, as `textOf` of chain.js makes it from bytes
 * @param {Games} [known]
 * @returns {Report}
 */
export function check(text, known = games) {
  const tally = new Tally();
  const saved = readSaved(text, tally);
  const { events, rules, fault: unread } = readEvents(saved.stored, known, tally);
  const walked = saved.game && rules ? walk(saved.game, events, rules, tally) : null;
  // Each of the three stops before its own first fault, and the later ones only saw what the earlier ones let pass.
  const fault = walked?.fault ?? unread ?? saved.fault ?? empty(saved.stored);
  const head = saved.stored.at(-1);
  return {
    ok: fault === null,
    over: fault === null && walked !== null && walked.over,
    rules: rules?.name ?? "",
    game: saved.game ? hex(saved.game) : "",
    events: saved.stored.length,
    headHash: head ? hex(head.hash) : "",
    failure: fault && { version: fault.version, why: fault.why, expected: fault.expected, found: fault.found },
    checks: checked(tally, fault),
    battles: walked?.battles ?? [],
    facts: events.map(shown),
    deal: walked?.hands ?? null,
    seed: walked?.seed ? hex(walked.seed) : null,
  };
}

/**
 * Facts up to the first event that is none of this game.
 * @param {readonly Stored[]} stored
 * @param {Games} known
 * @param {Tally} tally
 * @returns {{events: Event[], rules: Rules | null, fault: Fault | null}}
 */
function readEvents(stored, known, tally) {
  /** @type {Event[]} */
  const events = [];
  /** @type {Rules | null} */
  let rules = null;
  try {
    for (const each of stored) {
      const next = decode(each, { ...lifeFacts, ...rules?.facts });
      rules ??= rulesOf(next, known);
      tally.passed(event);
      events.push(next);
    }
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { events, rules, fault };
  }
  return { events, rules, fault: null };
}

/**
 * @param {Event} first
 * @param {Games} known
 */
function rulesOf(first, known) {
  if (first.type !== "Opened") throw new Fault(event, first.version, "A game begins with its opening.", "Opened", first.type);
  const name = first.fields.rules;
  if (Object.hasOwn(known, name)) return known[name];
  throw new Fault(event, first.version, "Its rules are not known here.", Object.keys(known).join(", "), name);
}

/** @param {readonly Stored[]} stored */
function empty(stored) {
  return stored.length > 0 ? null : new Fault(event, 1, "The game has no event.", "Opened", "nothing");
}

/**
 * @param {Tally} tally
 * @param {Fault | null} fault
 * @returns {Checked[]}
 */
function checked(tally, fault) {
  const counts = new Map(tally.counts);
  if (fault && !counts.has(fault.check)) counts.set(fault.check, 0);
  return Array.from(counts, ([{ name, what }, count]) => ({ name, what, count, ok: fault?.check.name !== name }));
}

/**
 * @param {Event} of
 * @returns {Shown}
 */
function shown({ version, hash, type, at, cause, fields }) {
  const named = Object.entries(fields).map(([name, value]) => ({ name, value: worded(value) }));
  return { version, hash: hex(hash), type, at: String(at), cause: hex(cause), fields: named };
}
