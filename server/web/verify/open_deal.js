// The deals that anybody can make again from a number, with neither secret nor entropy (docs/audit.md, Open deals).

const suits = Object.freeze({ spades: 0, hearts: 1, clubs: 2, diamonds: 3 });
const aceFirst = [12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/** Spades, hearts, clubs, diamonds, each A, 2 … 10, J, Q, K. */
const deck = Object.freeze(Object.values(suits).flatMap((suit) => aceFirst.map((rank) => 13 * suit + rank)));

/**
 * The generator mulberry32: words of 32 bits from a state of 32 bits.
 * @param {number} seed 0 to 2^32 - 1
 * @returns {() => number} the next word, 0 to 2^32 - 1
 */
export function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/**
 * Both piles of the open deal, top card first.
 * @param {number} seed 0 to 2^32 - 1
 * @returns {number[][]}
 */
export function openDeal(seed) {
  const word = mulberry32(seed);
  const cards = [...deck];
  for (let i = cards.length - 1; i > 0; i--) {
    const j = Math.floor((word() * (i + 1)) / 2 ** 32); // at most 38 bits: exact
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return [cards.slice(0, 26), cards.slice(26)];
}
