// Event bodies as facts: which fields each has and what may stand in them (docs/audit.md, An event's body).
import { Fault } from "./fault.js";
import { hex, same } from "./hash.js";
import { NotShortest, read } from "./msgpack.js";

/** @typedef {import("./fault.js").Check} Check */
/** @typedef {import("./chain.js").Stored} Stored */
/** @typedef {import("./msgpack.js").Value} Value */
/** @typedef {{what: string, fits: (value: Value) => boolean}} Shape */
/** @typedef {Readonly<Record<string, Readonly<Record<string, Shape>>>>} Facts shapes by field by fact, fields in stored order */
/** @typedef {Readonly<Record<string, any>>} Fields each of the shape its fact has for it */
/** @typedef {{version: number, hash: Uint8Array, type: string, at: number | bigint, cause: Uint8Array, fields: Fields}} Event */

/** @type {Check} */
export const event = { name: "event", what: "Every event is a known fact with its fields, in the one shortest encoding." };

/** @param {Value} value */
const isInt = (value) => typeof value === "number" || typeof value === "bigint";

/** @param {number} least @param {number} most @returns {Shape} */
export const between = (least, most) => ({
  what: `a whole number from ${least} to ${most}`,
  fits: (value) => typeof value === "number" && value >= least && value <= most,
});

/** @param {...number} lengths @returns {Shape} */
export const bytes = (...lengths) => ({
  what: `${lengths.join(" or ")} bytes`,
  fits: (value) => value instanceof Uint8Array && lengths.includes(value.length),
});

/** @param {Shape} each @param {number} [length] any, if not given @returns {Shape} */
export const listOf = (each, length) => ({
  what: `a list, each ${each.what}`,
  fits: (value) => Array.isArray(value) && (length ?? value.length) === value.length && value.every(each.fits),
});

/** @type {Shape} */
export const seat = { what: "seat 0 or 1", fits: (value) => value === 0 || value === 1 };
/** @type {Shape} */
export const seatOrNobody = { what: "seat 0, 1 or nobody", fits: (value) => value === null || seat.fits(value) };
/** @type {Shape} */
export const text = { what: "a text", fits: (value) => typeof value === "string" };
/** @type {Shape} */
export const flag = { what: "true or false", fits: (value) => typeof value === "boolean" };
/** @type {Shape} */
export const int = { what: "a whole number", fits: isInt };
/** @type {Shape} */
export const time = {
  what: "milliseconds",
  fits: (value) => (typeof value === "number" || typeof value === "bigint") && value >= 0,
};
/** @type {Shape} */
export const settings = {
  what: "a list of names with a number or a text, rising by name",
  fits: (value) => Array.isArray(value) && value.every(isSetting) && rising(value.map((setting) => setting[0])),
};

/** @param {Value} value @returns {value is [string, Value]} */
const isSetting = (value) =>
  Array.isArray(value) && value.length === 2 && text.fits(value[0]) && (text.fits(value[1]) || isInt(value[1]));

/** @param {readonly string[]} names */
const rising = (names) => names.every((name, at) => at === 0 || compared(names[at - 1], name) < 0);

/** By code point, as UTF-8 sorts; JavaScript's own order is by UTF-16 unit. @param {string} one @param {string} other */
function compared(one, other) {
  const [ones, others] = [Array.from(one), Array.from(other)];
  const at = ones.findIndex((character, index) => character !== others[index]);
  if (at < 0) return ones.length - others.length;
  return at < others.length ? Number(ones[at].codePointAt(0)) - Number(others[at].codePointAt(0)) : 1;
}

/**
 * @param {Stored} stored
 * @param {Facts} facts those that this game knows
 * @returns {Event}
 * @throws {Fault}
 */
export function decode(stored, facts) {
  const values = values_(stored);
  /** @param {string} why @param {string} expected @param {string} found */
  const fault = (why, expected, found) => new Fault(event, stored.version, why, expected, found);
  if (!Array.isArray(values) || values.length < 4) {
    throw fault("An event is a list of at least four values.", "[1, type, time, cause, …]", worded(values));
  }
  const [format, type, at, cause, ...rest] = values;
  if (format !== 1) throw fault("It is in a format that this page does not know.", "format 1", worded(format));
  const shapes = typeof type === "string" && Object.hasOwn(facts, type) ? facts[type] : null;
  if (typeof type !== "string" || !shapes) {
    throw fault("This game has no such fact.", Object.keys(facts).join(", "), worded(type));
  }
  if (!isInt(at) || !time.fits(at)) throw fault("Its time is none.", time.what, worded(at));
  if (!(cause instanceof Uint8Array) || cause.length !== 16) throw fault("Its cause is none.", "16 bytes", worded(cause));
  const names = Object.keys(shapes);
  if (rest.length !== names.length) {
    throw fault(`A ${type} has other fields.`, names.join(", "), `${rest.length} fields`);
  }
  names.forEach((name, index) => {
    if (!shapes[name].fits(rest[index])) throw fault(`Its ${name} can’t be that.`, shapes[name].what, worded(rest[index]));
  });
  const fields = Object.fromEntries(names.map((name, index) => [name, rest[index]]));
  return { version: stored.version, hash: stored.hash, type, at: /** @type {number | bigint} */ (at), cause, fields };
}

/** @param {Stored} stored */
function values_(stored) {
  try {
    return read(stored.body);
  } catch (error) {
    if (!(error instanceof NotShortest)) throw error;
    throw new Fault(event, stored.version, "Its bytes are no event.", "msgpack in the shortest form", error.message);
  }
}

/**
 * Whether two values have the same bytes; each value has only one encoding.
 * @param {Value} one
 * @param {Value} other
 * @returns {boolean}
 */
export function equal(one, other) {
  if (one instanceof Uint8Array) return other instanceof Uint8Array && same(one, other);
  if (!Array.isArray(one)) return one === other;
  return Array.isArray(other) && one.length === other.length && one.every((each, at) => equal(each, other[at]));
}

/**
 * A value for people to read.
 * @param {Value | undefined} value undefined where nobody can know it
 * @returns {string}
 */
export function worded(value) {
  if (value === undefined) return "…";
  if (value === null) return "nobody";
  if (value instanceof Uint8Array) return value.length === 0 ? "empty" : hex(value);
  if (Array.isArray(value)) return `[${value.map(worded).join(", ")}]`;
  return String(value);
}

/** @param {string} type @param {Fields} fields */
export function wordedFact(type, fields) {
  return `${type}: ${Object.entries(fields).map(([name, value]) => `${name} ${worded(value)}`).join(", ")}`;
}
