// The fragment of the address and the page it names. The only place that knows how addresses of the page are written.

/**
 * @typedef {{page: "home"} | {page: "how"} | {page: "unknown"}
 *   | {page: "game" | "review" | "fair", game: string}} Route
 */

/** @param {string} fragment with its # @returns {Route} */
export function read(fragment) {
  if (["", "#", "#/"].includes(fragment)) return { page: "home" };
  if (fragment === "#/how") return { page: "how" };
  const [, game, part] = /^#\/game\/([0-9a-f]{32})(?:\/(fair|review))?$/.exec(fragment) ?? [];
  if (!game) return { page: "unknown" };
  return { page: part === "fair" || part === "review" ? part : "game", game };
}

export const home = "#/";
export const how = "#/how";
/** @param {string} game */
export const toGame = (game) => `#/game/${game}`;
/** @param {string} game */
export const toReview = (game) => `#/game/${game}/review`;
/** @param {string} game */
export const toFair = (game) => `#/game/${game}/fair`;
/** The saved game, to download. @param {string} game */
export const toExport = (game) => `/api/games/${game}/export`;
