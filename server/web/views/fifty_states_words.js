// What is said of a Game of 50 States: sentences as pure functions of facts, for the eye and for the ear alike.
import { battles } from "./fifty_states_battles.js";
import { spokenCard, stateOf } from "./cards.js";

/** @typedef {import("../gamelog.js").Fact} Fact */
/** @typedef {import("./fifty_states_battles.js").Battle} Battle */
/** @typedef {{winner: number | null, reason: string}} Finished */
/** @typedef {readonly [string, string]} Names of both seats, in full; ours is never said */

/** @param {number} count */
export const cards = (count) => (count === 1 ? "1 card" : `${count} cards`);

/**
 * The sentences for facts that came live, one for each reveal, deal or end.
 * @param {readonly Fact[]} facts all
 * @param {number} from version above which they are new
 * @param {number | null} seat ours; null: we watch
 * @param {Names} names
 * @returns {string[]}
 */
export function news(facts, from, seat, names) {
  const people = facts[0]?.mode === "versus";
  const fresh = facts.filter((fact) => fact.version > from);
  const finished = fresh.find((fact) => fact.type === "Finished");
  const lines = battles(facts)
    .filter((battle) => battle.version > from)
    .map((battle) => revealed(battle, seat, names));
  if (fresh.some((fact) => fact.type === "Dealt")) lines.push(dealt(seat, names, people));
  else if (people && !lines.length && !finished) lines.push(...sealing(fresh, facts, seat, names));
  if (finished) {
    const end = ended(/** @type {any} */ (finished), seat, names, people);
    // The last reveal and the end it brings are one thing to hear.
    if (lines.length && finished.reason === "all_cards") lines[lines.length - 1] += ` ${end}`;
    else lines.push(end);
  }
  return lines;
}

/** @param {number | null} seat @param {Names} names @param {boolean} [people] */
export function dealt(seat, names, people = false) {
  const yours = seat === null ? "Each side has seven cards." : "You have seven cards.";
  if (people) return `The cards are dealt. ${yours}${seat === null ? "" : " Choose one and seal it; so does your opponent."}`;
  return `The cards are dealt. ${yours} ${names[1]} has sealed the first one${seat === null ? "." : "; choose yours."}`;
}

/**
 * That the other sealed a card, where ours is still to be chosen, and that somebody was given time.
 * @param {readonly Fact[]} fresh @param {readonly Fact[]} facts @param {number | null} seat @param {Names} names
 */
function sealing(fresh, facts, seat, names) {
  if (seat === null) return [];
  const sealed = fresh.find((fact) => fact.type === "Committed" && fact.seat !== seat);
  const mine = sealed && facts.some((fact) => fact.type === "Committed" && fact.seat === seat && fact.battle === sealed.battle);
  return sealed && !mine ? [`${names[1 - seat]} has sealed a card. Choose yours.`] : [];
}

/**
 * @param {Battle} battle
 * @param {number | null} seat
 * @param {Names} names
 */
export function revealed(battle, seat, names) {
  const { round, match, endsRound, left } = battle;
  const end = endsRound && !left.includes(0) ? ` ${roundEnded(battle, seat, names)}` : "";
  return `Round ${round}, match ${match}: ${outcome(battle, seat, names)}${end}`;
}

/** Who beat whom and took what. @param {Battle} battle @param {number | null} seat @param {Names} names */
export function outcome({ cards: shown, winner, captured }, seat, names) {
  const taken = stateOf(captured).name;
  if (seat === null) {
    const [won, lost] = [spokenCard(shown[winner]), spokenCard(shown[1 - winner])];
    return `${possessive(names[winner])} ${won}, beats ${lost}. ${names[winner]} captures ${taken}.`;
  }
  const [mine, other] = [spokenCard(shown[seat]), spokenCard(shown[1 - seat])];
  return winner === seat
    ? `your ${mine}, beats ${other}. You capture ${taken}.`
    : `your ${mine}, loses to ${other}. ${names[1 - seat]} captures ${taken}.`;
}

/** @param {Battle} battle @param {number | null} seat @param {Names} names */
function roundEnded({ round, left }, seat, names) {
  const [first, second] = seat === null ? [0, 1] : [seat, 1 - seat];
  const goOn = seat === null ? `${names[first]} goes on` : "you go on";
  return `Round ${round} is over: ${goOn} with ${cards(left[first])}, ${names[second]} with ${left[second]}.`;
}

/** @param {Finished} finished @param {number | null} seat @param {Names} names @param {boolean} [people] */
export function ended(finished, seat, names, people = false) {
  const because = reason(finished, seat, names, people);
  return `The game is over: ${because} ${result(finished, seat, names)}.`;
}

/** @param {Finished} finished @param {number | null} seat @param {Names} names @returns {string} */
export function result({ winner, reason: why }, seat, names) {
  if (why === "both_late") return "Both lose on time";
  if (why === "lost") return "Annulled";
  if (winner === null) return "Nobody wins";
  return winner === seat ? "You win" : `${names[winner]} wins`;
}

/** Why the game ended. @param {Finished} finished @param {number | null} seat @param {Names} names @param {boolean} [people] @returns {string} */
export function reason({ winner, reason: why }, seat, names, people = false) {
  const loser = winner === null ? null : 1 - winner;
  const [who, has, is] = loser === null ? ["nobody", "has", "is"] : loser === seat ? ["you", "have", "are"] : [within(names[loser]), "has", "is"];
  switch (why) {
    case "all_cards": return `${who} ${has} no cards left.`;
    case "resigned": return `${who} resigned.`;
    case "time": return `${who} ${is} out of time${people ? "" : ": a game lasts seven days at most"}.`;
    case "both_late": return "both sides are out of time.";
    case "lost": return "our store lost moves that had been shown, so it has no result and doesn’t count.";
    case "void": return "it ended before the cards were dealt, so it doesn’t count.";
    default: return `${why}.`;
  }
}

/** A name within a sentence: only those that are no names begin small. @param {string} name */
const within = (name) => name.replace(/^(The|Your) /, (word) => word.toLowerCase());

/** @param {string} name */
export function possessive(name) {
  return name.endsWith("s") ? `${name}’` : `${name}’s`;
}

/** @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
