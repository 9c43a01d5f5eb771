// From a wish to the address of a game's table: opening, coming back, and leaving one game for another.
import { toGame } from "./route.js";
import { newId } from "./socket.js";

/** @typedef {import("./socket.js").Socket} Socket */
/** @typedef {import("./games.js").GameView} GameView */
/** @typedef {import("./games.js").Settings} Settings */

/**
 * Opens a game, or the unfinished one there is, and goes to it.
 * @param {Socket} socket
 * @param {GameView} game
 * @param {string} mode
 * @param {Settings} [settings]
 * @returns {Promise<string | null>} why not
 */
export async function openGame(socket, { rules, settings: own }, mode, settings = own?.() ?? {}) {
  const answer = await socket.ask({ type: "open", id: newId(), rules, mode, settings });
  if (answer.type !== "done") return answer.reason;
  location.hash = toGame(answer.game);
  return null;
}

/**
 * Ends the unfinished game there is, if any, and opens another. Asking first is up to the caller.
 * @param {Socket} socket
 * @param {GameView} game
 * @param {string} mode
 * @param {Settings} [settings]
 * @returns {Promise<string | null>} why not
 */
export async function openFresh(socket, game, mode, settings) {
  const met = await socket.ask({ type: "meet", id: newId(), rules: game.rules, mode });
  if (met.type !== "met") return met.reason;
  const refused = met.live ? await leave(socket, met.game) : null;
  return refused ?? openGame(socket, game, mode, settings);
}

/** @param {Socket} socket @param {string} id @returns {Promise<string | null>} why not */
async function leave(socket, id) {
  const answer = await socket.ask({ type: "do", id: newId(), game: id, command: { do: "Resign" } });
  return answer.type === "done" || answer.reason === "over" ? null : answer.reason;
}
