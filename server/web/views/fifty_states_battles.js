// The matches of a Game of 50 States, read off its facts. It reports what the log says and decides nothing.

/** @typedef {import("../gamelog.js").Fact} Fact */
/**
 * @typedef {object} Battle
 * @property {number} battle through the game
 * @property {number} round
 * @property {number} match within the round
 * @property {readonly [number, number]} cards of seat 0 and seat 1
 * @property {number} winner seat
 * @property {number} captured the lower card
 * @property {number} discarded the higher one
 * @property {boolean} endsRound
 * @property {readonly [number, number]} left cards each seat goes on with: unplayed ones, and after a round's end the captured ones too
 * @property {number} version of the fact that decided it
 */

/** @param {readonly Fact[]} facts @returns {Battle[]} */
export function battles(facts) {
  /** @type {Battle[]} */
  const found = [];
  /** @type {number[]} */
  let shown = [];
  let left = [0, 0];
  let taken = [0, 0];
  let [round, match] = [1, 1];
  for (const fact of facts) {
    if (fact.type === "Dealt") left = [...fact.counts];
    if (fact.type === "Played" || fact.type === "Revealed") {
      shown[fact.seat] = fact.card;
      left[fact.seat] -= 1;
    }
    if (fact.type === "Captured") {
      taken[fact.seat] += 1;
      const { battle, seat: winner, card: captured, discarded, version } = fact;
      const cards = /** @type {[number, number]} */ ([shown[0], shown[1]]);
      found.push({ battle, round, match: match++, cards, winner, captured, discarded, endsRound: false, left: [left[0], left[1]], version });
      shown = [];
    }
    if (fact.type === "RoundEnded") {
      left = [left[0] + taken[0], left[1] + taken[1]];
      taken = [0, 0];
      [round, match] = [fact.round + 1, 1];
      Object.assign(found[found.length - 1], { endsRound: true, left: [...left] });
    }
  }
  return found;
}

/**
 * Which cards a seat could play in each battle from round two on, when all have been seen.
 * @param {readonly Battle[]} all
 * @param {number} seat
 * @returns {Map<number, number[]>} by battle, rising
 */
export function openHands(all, seat) {
  /** @type {Map<number, number[]>} */
  const hands = new Map();
  /** @type {number[]} */
  let hand = [];
  /** @type {number[]} */
  let taken = [];
  for (const each of all) {
    if (each.round > 1) hands.set(each.battle, [...hand].sort((a, b) => a - b));
    hand = hand.filter((card) => card !== each.cards[seat]);
    if (each.winner === seat) taken.push(each.captured);
    if (each.endsRound) [hand, taken] = [[...hand, ...taken], []];
  }
  return hands;
}
