// Broken twins: a saved game with something altered and everything around it made right again. Only tests need to write.
import { link, origin } from "../../server/web/verify/chain.js";
import { base64, fromBase64, fromHex, hex, join, utf8, wide } from "../../server/web/verify/hash.js";
import { read } from "../../server/web/verify/msgpack.js";

/** A saved game as its id and one list of values an event: [format, type, at, cause, field …]. */
export function opened(text) {
  const [head, ...lines] = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  return { game: fromHex(head.game), events: lines.map((line) => read(fromBase64(line.body))) };
}

/** The file of these events under a chain that fits. An event may also be given as bytes. */
export function saved({ game, events }) {
  let hash = origin(game);
  const lines = events.map((event, index) => {
    const body = event instanceof Uint8Array ? event : packed(event);
    hash = link(hash, body);
    return `{"version":${index + 1},"hash":"${hex(hash)}","body":"${base64(body)}"}\n`;
  });
  return `{"format":"statecraft-game/1","game":"${hex(game)}"}\n${lines.join("")}`;
}

/** The twin of a saved game: `alter` gets its events and may change them, or return others. */
export function twin(text, alter) {
  const of = opened(text);
  const events = alter(of.events, of.game) ?? of.events;
  return saved({ game: of.game, events });
}

/** Msgpack in the shortest form. */
export function packed(value) {
  if (value === null) return byte(0xc0);
  if (typeof value === "boolean") return byte(value ? 0xc3 : 0xc2);
  if (typeof value === "number") return integer(BigInt(value));
  if (typeof value === "bigint") return integer(value);
  if (value instanceof Uint8Array) return join(sized(value.length, [], [0xc4, 0xc5, 0xc6]), value);
  if (Array.isArray(value)) return join(sized(value.length, [0x90, 15], [null, 0xdc, 0xdd]), ...value.map(packed));
  const text = utf8(value);
  return join(sized(text.length, [0xa0, 31], [0xd9, 0xda, 0xdb]), text);
}

const byte = (value) => Uint8Array.of(value);

function sized(length, [first, most], marks) {
  if (first !== undefined && length <= most) return byte(first + length);
  const at = [0x100, 0x10000, 0x100000000].findIndex((end, index) => marks[index] !== null && length < end);
  return join(byte(marks[at]), wide(length, [1, 2, 4][at]));
}

function integer(value) {
  if (value >= -32n && value < 128n) return byte(Number(BigInt.asUintN(8, value)));
  const at = [8, 16, 32, 64].findIndex((bits) => (value < 0n ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) === value);
  const digits = BigInt.asUintN(8 << at, value).toString(16).padStart(2 << at, "0");
  return join(byte((value < 0n ? 0xd0 : 0xcc) + at), fromHex(digits));
}

/** Where fields stand in an event's values. */
export const place = {
  at: 2, cause: 3,
  Opened: { rules: 4, mode: 5, settings: 6, counts: 7, witnessed: 8, at_ms: 9, key: 10, secret_hash: 11, strategy_hash: 12 },
  Seated: { seat: 4, player: 5, rival: 6, entropy_hash: 7 },
  Reserved: { seat: 4, player: 5 },
  Credited: { ms: 4 },
  Mixed: { seat: 4, entropy: 5 },
  Dealt: { counts: 4 },
  Resigned: { seat: 4 },
  TimeUp: { owing: 4 },
  Finished: { winner: 4, reason: 5 },
  Unsealed: { secret: 4 },
  Committed: { seat: 4, battle: 5, seal: 6 },
  Revealed: { seat: 4, battle: 5, card: 6, salt: 7 },
  Played: { seat: 4, battle: 5, card: 6 },
  Captured: { seat: 4, battle: 5, card: 6, discarded: 7 },
  RoundEnded: { round: 4 },
  Readied: { seat: 4, through: 5 },
  Turned: { battle: 4, cards: 5 },
  Laid: { battle: 4, counts: 5 },
  Taken: { battle: 4, seat: 5, count: 6 },
};

/** The index of the nth event of a type, n from 1; -1 counts from the end. */
export function find(events, type, nth = 1) {
  const all = events.flatMap((event, index) => (event[1] === type ? [index] : []));
  const index = all.at(nth > 0 ? nth - 1 : nth);
  if (index === undefined) throw new Error(`no ${type} number ${nth}`);
  return index;
}

/** A small seeded generator (mulberry32): the same twins in every run. */
export function random(seed) {
  return (bound) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}
