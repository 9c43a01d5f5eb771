// The players this browser keeps an eye on. They are told to nobody but by asking where they stand.
import { browser } from "./storage.js";

export const friendsMax = 99;
const id = /^[0-9a-f]{32}$/;

/** @returns {string[]} ids, in the order they were put in */
export function friends() {
  const kept = browser.read("friends");
  return Array.isArray(kept) ? [...new Set(kept.filter((each) => typeof each === "string" && id.test(each)))].slice(0, friendsMax) : [];
}

/** @param {string} player */
export const isFriend = (player) => friends().includes(player);

/** @param {string} player @param {boolean} kept @returns {boolean} whether there was room */
export function keep(player, kept) {
  const others = friends().filter((each) => each !== player);
  if (kept && others.length >= friendsMax) return false;
  browser.write("friends", kept ? [...others, player] : others);
  return true;
}

/** The player whom a text names: an id, or an address of a player's page. @param {string} text @returns {string | null} */
export function playerIn(text) {
  return /(?:^|\/player\/)([0-9a-f]{32})$/.exec(text.trim())?.[1] ?? null;
}
