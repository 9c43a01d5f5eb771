// What is said of a War: sentences as pure functions of the table and its facts, for the eye and for the ear alike.
import { between } from "./opponent.js";
import { rankOf, spokenCard } from "./playing_cards.js";

/** @typedef {import("../gamelog.js").Fact} Fact */
/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {{winner: number | null, reason: string}} Finished */
/**
 * The public position of a War (docs/protocol.md).
 * @typedef {object} Position
 * @property {number} battle the next one
 * @property {number} battles turned so far
 * @property {number} wars
 * @property {readonly [number, number]} sizes
 * @property {readonly [number, number]} in_play
 * @property {readonly (readonly [number, number])[]} rows face-up cards of the last battle
 * @property {readonly (readonly [number, number])[]} laid face-down cards of its wars
 * @property {number | null} winner of the last battle
 */

/** @param {number} count @param {string} one @param {string} [many] */
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** Ours first; somebody who watches is told of the player in seat 0. @param {Seen} seen */
export function sides({ seat, side, table, called }) {
  const watching = seat === null;
  const people = between(table);
  const he = called[side] ?? (people ? "the first player" : "the player");
  const other = !people ? "the computer" : (called[1 - side] ?? (watching ? "the second player" : "your opponent"));
  return {
    me: side,
    who: watching ? he : "you",
    other,
    /** As a pile is labelled. */
    labels: { mine: watching ? (people ? "First" : "Player") : "You", theirs: !people ? "Computer" : watching ? "Second" : "Opponent" },
    your: watching ? `${he}’s` : "your",
    /** @param {string} verb @param {string} [his] */
    does: (verb, his = `${verb}s`) => (watching ? `${he} ${his}` : `you ${verb}`),
    /** @param {number | null} seat_ @param {string} verb @param {string} [his] */
    doing: (seat_, verb, his = `${verb}s`) => (seat_ !== side ? `${other} ${his}` : watching ? `${he} ${his}` : `you ${verb}`),
  };
}

/** How many cards lie in the last battle. @param {Position} position */
export function lying({ rows, laid }) {
  return 2 * rows.length + laid.reduce((all, [a, b]) => all + a + b, 0);
}

/**
 * The last battle: who met whom, and who took how many.
 * @param {Position} position
 * @param {Seen} seen
 */
export function fought(position, seen) {
  const { me, your, doing } = sides(seen);
  const { rows, laid } = position;
  let told = "";
  rows.forEach((row, at) => {
    const [mine, theirs] = [row[me], row[1 - me]];
    if (rankOf(mine) === rankOf(theirs)) {
      const down = laid[at];
      told += `${told ? "then " : ""}${spokenCard(mine)} against ${spokenCard(theirs)}: war${at ? " again" : ""}`;
      if (down) told += `, ${down[0] === down[1] ? `${down[0]} down each, ` : `${doing(me, "lay")} ${down[me]} down and ${doing(1 - me, "lay")} ${down[1 - me]}, `}`;
    } else {
      const wins = rankOf(mine) > rankOf(theirs);
      told += `${told ? "then " : ""}${your} ${spokenCard(mine)} ${wins ? "beats" : "loses to"} the ${spokenCard(theirs)}`;
    }
  });
  return `${told.replace(/, $/, "")}; ${fate(position, seen)}`;
}

/** @param {Position} position @param {Seen} seen */
export function piles({ sizes }, seen) {
  const { me, does, other } = sides(seen);
  return `${does("have", "has")} ${counted(sizes[me], "card")}, ${other} ${sizes[1 - me]}`;
}

/**
 * The last battle for the eye, which sees the cards: as short as it can be, so that nothing moves on the page.
 * @param {Position} position
 * @param {Seen} seen
 */
export function brief(position, seen) {
  const wars = position.rows.filter(([a, b]) => rankOf(a) === rankOf(b)).length;
  if (wars < 2) return fought(position, seen);
  const [last] = position.rows.slice(-1);
  const settled = rankOf(last[0]) !== rankOf(last[1]);
  return `${numbers[wars] ?? wars} wars in a row${settled ? `, then ${fought({ ...position, rows: [last], laid: [] }, seen).split("; ")[0]}` : ""}; ${fate(position, seen)}`;
}

const numbers = ["", "", "two", "three", "four", "five", "six"];

/** @param {Position} position @param {Seen} seen */
function fate(position, seen) {
  const { doing } = sides(seen);
  return position.winner === null ? "nobody takes the cards" : `${doing(position.winner, "take")} ${counted(lying(position), "card")}`;
}

/**
 * Sentences for facts that came live: one for a battle, one for several.
 * @param {readonly Fact[]} facts
 * @param {number} from version above which they are new
 * @param {Seen} seen
 * @returns {string[]}
 */
export function news(facts, from, seen) {
  const fresh = facts.filter((fact) => fact.version > from);
  const { position, finished } = seen.table;
  const turned = battles(fresh);
  const lines = [];
  if (fresh.some((fact) => fact.type === "Dealt")) lines.push("The cards are dealt, 26 each, face down.");
  if (turned.size === 1) lines.push(`Battle ${position.battles}: ${fought(position, seen)}: ${tally(position, seen)}.`);
  if (turned.size > 1) lines.push(several(fresh, from, seen));
  if (finished) {
    const end = `The game is over: ${reason(finished, seen)}. ${result(finished, seen)}.`;
    if (turned.size) lines[lines.length - 1] += ` ${end}`;
    else if (fresh.some((fact) => fact.type === "Finished")) lines.push(end);
  }
  return lines;
}

/** @param {Position} position @param {Seen} seen */
function tally({ sizes }, seen) {
  const { me } = sides(seen);
  return `${sizes[me]} to ${sizes[1 - me]}`;
}

/**
 * What several battles came to that were turned at once; empty for one or none.
 * @param {readonly Fact[]} facts
 * @param {number} from version above which they are looked at
 * @param {Seen} seen
 */
export function several(facts, from, seen) {
  const fresh = facts.filter((fact) => fact.version > from);
  const turned = battles(fresh);
  if (turned.size < 2) return "";
  const { me, does, other } = sides(seen);
  /** @type {Position} */
  const position = seen.table.position;
  const taken = fresh.filter((fact) => fact.type === "Taken");
  // Where nobody won, each takes its own.
  const won = taken.filter(({ battle }) => taken.filter((fact) => fact.battle === battle).length === 1);
  const wars = fresh.filter((fact) => fact.type === "Turned" && rankOf(fact.cards[0]) === rankOf(fact.cards[1])).length;
  const [mine, theirs] = [me, 1 - me].map((seat) => won.filter((fact) => fact.seat === seat).length);
  const last = position.battles;
  return `Battles ${last - turned.size + 1} to ${last}: ${does("take", "takes")} ${mine}, ${other} ${theirs}${wars ? `, with ${counted(wars, "war")}` : ""}; ${piles(position, seen)}.`;
}

/** @param {readonly Fact[]} facts */
const battles = (facts) => new Set(facts.filter((fact) => fact.type === "Turned").map((fact) => fact.battle));

/** What is heard now and then while cards turn by themselves. @param {Position} position @param {Seen} seen */
export function summary(position, seen) {
  return `Battle ${position.battles}, ${counted(position.wars, "war")} so far: ${piles(position, seen)}.`;
}

/** @param {Finished} finished @param {Seen} seen @returns {string} */
export function result({ winner, reason: why }, seen) {
  const { seat } = seen;
  if (why === "both_late") return "Both lose on time";
  if (why === "left") return "Left unfinished";
  if (why === "lost") return "Annulled";
  if (why === "void") return "Never dealt";
  if (winner === null) return "A draw";
  if (winner === seat) return "You win";
  return `${sentence(sides(seen).doing(winner, "win"))}`;
}

/** Why the game ended, without a full stop. @param {Finished} finished @param {Seen} seen @returns {string} */
export function reason({ winner, reason: why }, seen) {
  const { doing } = sides(seen);
  const loser = winner === null ? null : 1 - winner;
  const limit = `battle ${seen.table.position?.battles} is the last one`;
  switch (why) {
    case "all_cards": return `${doing(winner, "have", "has")} all the cards`;
    case "shortage": return `${doing(loser, "have", "has")} too few cards left for a war`;
    case "equal_shortage": return "both have too few cards left for a war";
    case "cannot_flip": return loser === null ? "neither has a card left to turn" : `${doing(loser, "have", "has")} no card left to turn`;
    case "no_cards_for_war": return `${doing(loser, "have", "has")} no card left for a war`;
    case "both_out_at_war": return "neither has a card left for a war, and each takes its own back";
    case "battle_limit": return winner === null ? limit : `${limit}, and ${doing(winner, "have", "has")} more cards`;
    case "time": return `${doing(loser, "are", "is")} out of time${seen.table.position && !between(seen.table) ? ": a game lasts seven days at most" : ""}`;
    case "both_late": return "both are out of time";
    case "resigned": return `${doing(loser, "resigned", "resigned")}`;
    case "left": return `${doing(0, "went", "went")} on to another game, so this one counts nowhere`;
    case "lost": return "our store lost moves that had been shown, so it has no result and doesn’t count";
    case "void": return "it ended before the cards were dealt, so it doesn’t count";
    default: return why;
  }
}

/** @param {string} text */
export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
