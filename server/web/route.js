// The fragment of the address and the page it names. The only place that knows how addresses of the page are written.

/**
 * @typedef {{page: "home" | "lobby" | "tv" | "me"} | {page: "how", shelf: string | null} | {page: "unknown"}
 *   | {page: "game" | "review" | "fair", game: string} | Replay | {page: "boards", board: BoardAddress | null}
 *   | {page: "leaf", index: number} | {page: "player", player: string}} Route
 * @typedef {{page: "replay", game: string, at: number | null, as: View}} Replay `at`: the version to begin at
 * @typedef {"public" | "0" | "1" | "open"} View whose hands are seen
 *
 * @typedef {{ladder: string, measure: string, window: string, part: Part}} BoardAddress
 * @typedef {{of: "from", start: number} | {of: "around", player: string | null} | {of: "friends"}} Part of a board
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
  const board = boardIn(fragment);
  if (board) return { page: "boards", board };
  if (fragment === "#/boards") return { page: "boards", board: null };
  if (fragment === "#/me") return { page: "me" };
  const [, index] = /^#\/ledger\/(0|[1-9]\d{0,14})$/.exec(fragment) ?? [];
  if (index) return { page: "leaf", index: Number(index) };
  const [, player] = /^#\/player\/([0-9a-f]{32})$/.exec(fragment) ?? [];
  if (player) return { page: "player", player };
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
/** @param {string} fragment @returns {BoardAddress | null} */
function boardIn(fragment) {
  const found = /^#\/boards\/([a-z-]+)\/([a-z_]+)\/([a-z0-9W-]+)(?:\/(from|around|friends)(?:\/([0-9a-f]+))?)?$/.exec(fragment);
  if (!found) return null;
  const [, ladder, measure, window, of, value] = found;
  if (of === "friends") return value ? null : { ladder, measure, window, part: { of } };
  if (of === "around") return value && value.length !== 32 ? null : { ladder, measure, window, part: { of, player: value ?? null } };
  const start = Number(value ?? 0);
  return Number.isSafeInteger(start) && !(of && !value) ? { ladder, measure, window, part: { of: "from", start } } : null;
}

export const boards = "#/boards";
export const mine = "#/me";
/** @param {number} index of an entry of the ledger */
export const toLeaf = (index) => `#/ledger/${index}`;
/** @param {string} player */
export const toPlayer = (player) => `#/player/${player}`;
/** @param {string} ladder @param {string} measure @param {string} window @param {Part} [part] */
export function toBoard(ladder, measure, window, part = { of: "from", start: 0 }) {
  const whole = `#/boards/${ladder}/${measure}/${window}`;
  if (part.of === "friends") return `${whole}/friends`;
  if (part.of === "around") return part.player ? `${whole}/around/${part.player}` : `${whole}/around`;
  return part.start ? `${whole}/from/${part.start}` : whole;
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
/** A moment of a game, or the way to its first one. @param {string} game @param {number} [at] @param {View} [as] */
export function toReplay(game, at, as = "public") {
  const asked = [...(at === undefined ? [] : [`at=${at}`]), ...(as === "public" ? [] : [`as=${as}`])];
  return `#/game/${game}/replay${asked.length ? `?${asked.join("&")}` : ""}`;
}
/** The saved game, to download. @param {string} game */
export const toExport = (game) => `/api/games/${game}/export`;
/** The same with its place in the ledger, once that is signed. @param {string} game */
export const toProof = (game) => `/api/games/${game}/proof`;

/** The address becomes that of what is shown, without going anywhere. @param {string} fragment of the page that is shown */
export function moved(fragment) {
  // Somebody may have chosen another page a moment ago, which the page here hears of in a moment: that one stands.
  if (location.hash.split("?")[0] !== fragment.split("?")[0]) return;
  if (location.hash !== fragment) history.replaceState(history.state, "", location.pathname + location.search + fragment);
}

/** What stands between path and fragment, such as "?seed=12", is put in or taken out without going anywhere. @param {string} search */
export function query(search) {
  if (location.search !== search) history.replaceState(history.state, "", location.pathname + search + location.hash);
}
