// The fragment of the address and the page it names. The only place that knows how addresses of the page are written.

/**
 * @typedef {{page: "home" | "lobby" | "tv"} | {page: "how", shelf: string | null} | {page: "unknown"}
 *   | {page: "game" | "review" | "fair", game: string}} Route
 */

/** @param {string} fragment with its # @returns {Route} */
export function read(fragment) {
  if (["", "#", "#/"].includes(fragment)) return { page: "home" };
  if (fragment === lobby) return { page: "lobby" };
  if (fragment === tv) return { page: "tv" };
  const [explained, shelf] = /^#\/how(?:\/([a-z0-9-]+))?$/.exec(fragment) ?? [];
  if (explained) return { page: "how", shelf: shelf ?? null };
  const [, game, part] = /^#\/game\/([0-9a-f]{32})(?:\/(fair|review))?$/.exec(fragment) ?? [];
  if (!game) return { page: "unknown" };
  return { page: part === "fair" || part === "review" ? part : "game", game };
}

export const home = "#/";
export const lobby = "#/lobby";
export const tv = "#/tv";
export const how = "#/how";
/** @param {string} shelf */
export const toHow = (shelf) => `#/how/${shelf}`;
/** @param {string} game */
export const toGame = (game) => `#/game/${game}`;
/** @param {string} game */
export const toReview = (game) => `#/game/${game}/review`;
/** @param {string} game */
export const toFair = (game) => `#/game/${game}/fair`;
/** The saved game, to download. @param {string} game */
export const toExport = (game) => `/api/games/${game}/export`;

/** What stands between path and fragment, such as "?seed=12", is put in or taken out without going anywhere. @param {string} search */
export function query(search) {
  if (location.search !== search) history.replaceState(history.state, "", location.pathname + search + location.hash);
}
