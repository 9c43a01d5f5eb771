// Who sits at a table, as every game's view calls them: the house's rival, an opponent, or two players who are watched.
import { portrait } from "../art/portraits.js";
import { cast } from "../art/cast.js";

/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {readonly [string, string]} Names of both seats, in full; ours is never said */
/** @typedef {{name: string, short: string, line: string, picture: string}} Opposite `short` is said within a sentence */

/** @param {any} table */
export const between = (table) => table.opened?.mode === "versus";

/** @param {string} slug @returns {import("../art/cast.js").Steward} */
export function steward(slug) {
  return cast.find((each) => each.slug === slug) ?? { slug, name: slug, line: "" };
}

/** @param {string} slug */
export function picture(slug) {
  return image(portrait(slug));
}

/** @param {string} svg */
const image = (svg) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

/** Somebody nobody has drawn: a silhouette on the field of their seat. @param {number} seat */
export function silhouette(seat) {
  const ground = seat === 0 ? "#35527a" : "#7c3a34";
  return image(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-48 -48 96 96"><circle r="44" fill="${ground}"/><g fill="#f4e6c6" clip-path="circle(41px)"><circle cy="-9" r="15"/><path d="M-29 42C-29 18-16 11 0 11S29 18 29 42Z"/></g><circle r="44" fill="none" stroke="#b08d57" stroke-width="5"/></svg>`);
}

/** @param {Seen} seen @returns {Names} */
export function names({ table, seat, called: [one, other] }) {
  if (!between(table)) return [one ?? "The player", steward(table.seats[1].rival).name];
  if (seat === null) return [one ?? "The first player", other ?? "The second player"];
  return seat === 0 ? ["You", other ?? "Your opponent"] : [one ?? "Your opponent", "You"];
}

/** Who is opposite to us, or to the side we look from. @param {Seen} seen @returns {Opposite} */
export function opposite(seen) {
  const { table, side } = seen;
  if (!between(table)) {
    const { slug, name, line } = steward(table.seats[1].rival);
    return { name, short: name.split(" ")[0], line, picture: picture(slug) };
  }
  const name = names(seen)[1 - side];
  return { name, short: seen.called[1 - side] ?? small(name), line: "", picture: silhouette(1 - side) };
}

/** What is no name begins small within a sentence. @param {string} name */
export const small = (name) => name.charAt(0).toLowerCase() + name.slice(1);
