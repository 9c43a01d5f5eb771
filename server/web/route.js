// The fragment of the address and the page it names. The only place that knows how addresses of the page are written.

/**
 * @typedef {{page: "home" | "lobby" | "tv"} | {page: "how", shelf: string | null} | {page: "unknown"}
 *   | {page: "game" | "review" | "fair", game: string} | Replay} Route
 * @typedef {{page: "replay", game: string, at: number | null, as: View}} Replay `at`: the version to begin at
 * @typedef {"public" | "0" | "1" | "open"} View whose hands are seen
 */

/** @param {string} fragment with its # @returns {Route} */
export function read(fragment) {
  if (["", "#", "#/"].includes(fragment)) return { page: "home" };
  if (fragment === lobby) return { page: "lobby" };
  if (fragment === tv) return { page: "tv" };
  const [explained, shelf] = /^#\/how(?:\/([a-z0-9-]+))?$/.exec(fragment) ?? [];
  if (explained) return { page: "how", shelf: shelf ?? null };
  const replay = /^#\/game\/([0-9a-f]{32})\/replay(?:\?(.*))?$/.exec(fragment);
  if (replay) return replayed(replay[1], new URLSearchParams(replay[2] ?? ""));
  const [, game, part] = /^#\/game\/([0-9a-f]{32})(?:\/(fair|review))?$/.exec(fragment) ?? [];
  if (!game) return { page: "unknown" };
  return { page: part === "fair" || part === "review" ? part : "game", game };
}

/** What a moment's address doesn't say, or says wrongly, is as if it were left out. @param {string} game @param {URLSearchParams} asked @returns {Replay} */
function replayed(game, asked) {
  const at = asked.get("at") ?? "";
  const view = views.find((each) => each === asked.get("as"));
  return { page: "replay", game, at: /^\d{1,9}$/.test(at) ? Number(at) : null, as: view ?? "public" };
}

/** @type {readonly View[]} */
export const views = ["public", "0", "1", "open"];
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
/** A moment of a game, or the way to its first one. @param {string} game @param {number} [at] @param {View} [as] */
export function toReplay(game, at, as = "public") {
  const asked = [...(at === undefined ? [] : [`at=${at}`]), ...(as === "public" ? [] : [`as=${as}`])];
  return `#/game/${game}/replay${asked.length ? `?${asked.join("&")}` : ""}`;
}
/** The saved game, to download. @param {string} game */
export const toExport = (game) => `/api/games/${game}/export`;

/** The address becomes that of what is shown, without going anywhere. @param {string} fragment */
export function moved(fragment) {
  if (location.hash !== fragment) history.replaceState(history.state, "", location.pathname + location.search + fragment);
}

/** What stands between path and fragment, such as "?seed=12", is put in or taken out without going anywhere. @param {string} search */
export function query(search) {
  if (location.search !== search) history.replaceState(history.state, "", location.pathname + search + location.hash);
}
