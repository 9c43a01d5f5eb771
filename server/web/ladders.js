// Ladders, measures, windows and players in words. The only place that says how a board's values and a player's id are shown.

/** @typedef {{ladder: string, name: string, short: string, metal: string | null}} Ladder `metal`: the colour of its trophies */

/** @type {readonly Ladder[]} */
export const ladders = [
  { ladder: "states-relaxed", name: "50 States, Relaxed", short: "Relaxed", metal: "bronze" },
  { ladder: "states-strategic", name: "50 States, Strategic", short: "Strategic", metal: "silver" },
  { ladder: "states-versus", name: "50 States, between people", short: "People", metal: "gold" },
  { ladder: "playbook-versus", name: "Playbook War, between people", short: "Playbook", metal: null },
  { ladder: "gameweave-versus", name: "Gameweave War, between people", short: "Gameweave", metal: null },
  { ladder: "classic-versus", name: "Classic War, between people", short: "Classic", metal: null },
  { ladder: "playbook-house", name: "Playbook War", short: "Playbook", metal: null },
  { ladder: "gameweave-house", name: "Gameweave War", short: "Gameweave", metal: null },
  { ladder: "classic-house", name: "Classic War", short: "Classic", metal: null },
];

/** @param {string} ladder @returns {Ladder} */
export const ladderOf = (ladder) => ladders.find((each) => each.ladder === ladder) ?? { ladder, name: ladder, short: ladder, metal: null };

/** @type {Readonly<Record<string, {name: string, column: string}>>} */
const measures = {
  wins: { name: "Wins", column: "Wins" },
  best_streak: { name: "Best streak", column: "In a row" },
  current_streak: { name: "Current streak", column: "In a row" },
  win_rate: { name: "Win rate", column: "Won" },
  rating: { name: "Rating", column: "Rating" },
};

/** @param {string} measure */
export const measureName = (measure) => measures[measure]?.name ?? measure;
/** The head of its column. @param {string} measure */
export const measureColumn = (measure) => measures[measure]?.column ?? measure;

/** @param {string} window as asked for */
export function windowName(window) {
  return { all: "All time", week: "This week", day: "Today" }[window] ?? window;
}

/** A board's value. Rounded down, as the order is made. @param {string} measure @param {number} value */
export function valueOf(measure, value) {
  if (measure === "win_rate") return share(value);
  return measure === "rating" ? (Math.floor(value / 10) / 10).toFixed(1) : grouped(value);
}

/** @param {number | null} millionths */
export const share = (millionths) => (millionths === null ? "–" : `${(Math.floor(millionths / 1000) / 10).toFixed(1)}\u00a0%`);

/** The same without a fraction. @param {number | null} millionths */
export const percent = (millionths) => (millionths === null ? "–" : `${Math.round(millionths / 10_000)}\u00a0%`);

/** 12,345. @param {number} number */
export const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** @param {number} number 1st, 2nd, 3rd, 4th */
export function ordinal(number) {
  const [tens, ones] = [Math.floor(number / 10) % 10, number % 10];
  return grouped(number) + (tens === 1 ? "th" : ["th", "st", "nd", "rd"][ones] ?? "th");
}

/** A player of whom no name is known goes by the beginning of the id. @param {string} player @param {string | null} name */
export const called = (player, name) => name ?? `Player ${player.slice(0, 4)}`;

/** @param {number} ms */
export const day = (ms) => new Date(ms).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** When a window turns, from now, roughly. @param {number} ms */
export function remaining(ms) {
  const minutes = Math.max(0, Math.ceil(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
