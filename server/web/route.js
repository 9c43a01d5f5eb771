// The fragment of the address and the page it names. The only place that knows how addresses of the page are written.

/**
 * @typedef {{page: "home"} | {page: "how", shelf: string | null} | {page: "unknown"}
 *   | {page: "game" | "review" | "fair", game: string} | {page: "boards", board: BoardAddress | null}
 *   | {page: "leaf", index: number} | {page: "player", player: string} | {page: "me"}} Route
 *
 * @typedef {{ladder: string, measure: string, window: string, part: Part}} BoardAddress
 * @typedef {{of: "from", start: number} | {of: "around", player: string | null} | {of: "friends"}} Part of a board
 */

/** @param {string} fragment with its # @returns {Route} */
export function read(fragment) {
  if (["", "#", "#/"].includes(fragment)) return { page: "home" };
  const [explained, shelf] = /^#\/how(?:\/([a-z0-9-]+))?$/.exec(fragment) ?? [];
  if (explained) return { page: "how", shelf: shelf ?? null };
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
/** The same with its place in the ledger, once that is signed. @param {string} game */
export const toProof = (game) => `/api/games/${game}/proof`;

/** What stands between path and fragment, such as "?seed=12", is put in or taken out without going anywhere. @param {string} search */
export function query(search) {
  if (location.search !== search) history.replaceState(history.state, "", location.pathname + search + location.hash);
}
