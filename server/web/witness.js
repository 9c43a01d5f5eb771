// A game's opening in the signed ledger, asked for once, before our chance goes in. The ledger's key is kept from the first visit.
import { get } from "./http.js";
import { browser } from "./storage.js";
import { fromHex } from "./verify/hash.js";
import { Unproven } from "./verify/tree.js";
import { checkWitness } from "./verify/witness.js";

const waitMs = 2000;

/** @typedef {{state: "witnessed" | "unwitnessed" | "wrong", why: string}} Witness `wrong`: what came doesn't check out */

/**
 * Answers within about two seconds, whatever the server does.
 * @param {string} game hex
 * @param {{version: number, hash: Uint8Array}} head where the game stood when both seats were taken
 * @returns {Promise<Witness>}
 */
export async function witness(game, head) {
  const late = new Promise((resolve) => setTimeout(resolve, waitMs, null));
  try {
    const told = await Promise.race([get(`/api/games/${game}/witness?wait_ms=${waitMs}`), late]);
    if (!told?.witnessed) return { state: "unwitnessed", why: "" };
    checkWitness(told, { game: fromHex(game), ...head });
    const known = browser.read("ledger");
    if (known !== null && known !== told.key) return { state: "wrong", why: "The ledger’s key is another than on your first visit." };
    browser.write("ledger", told.key);
    return { state: "witnessed", why: "" };
  } catch (error) {
    if (error instanceof Unproven) return { state: "wrong", why: error.message };
    return { state: "unwitnessed", why: "" };
  }
}
