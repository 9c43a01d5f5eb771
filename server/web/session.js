// Who you are: a guest's cookie, the secret this browser derives its entropy from, and the code that carries both elsewhere.
import { fromBase64, base64 } from "./verify/hash.js";
import { get, post } from "./http.js";
import { browser } from "./storage.js";

const secretBytes = 32;

/** Gets the cookie, or keeps the one there is. @returns {Promise<string>} the player's id */
export async function begin() {
  return (await post("/api/session", { keep: "cookie" })).player;
}

/** @returns {Promise<string | null>} whom the cookie names */
export async function whoever() {
  return (await get("/api/session")).player;
}

/** The browser's own 32 random bytes. They never leave it but in a recovery code. */
export function secret() {
  const kept = fromUrl(browser.read("secret"));
  if (kept?.length === secretBytes) return kept;
  const fresh = crypto.getRandomValues(new Uint8Array(secretBytes));
  browser.write("secret", toUrl(fresh));
  return fresh;
}

/**
 * @typedef {{token: string, secret: Uint8Array}} Code what another device needs to be the same player
 */

/** @returns {Promise<string>} an address that makes another browser the same player */
export async function recoveryLink() {
  const { token } = await post("/api/session/code", {});
  return `${location.origin}${location.pathname}#recover=${token}.${toUrl(secret())}`;
}

/**
 * @param {string} fragment of the address, with its #
 * @returns {Code | "damaged" | null} null: it is no recovery link
 */
export function recoveryCode(fragment) {
  const at = /^#recover=(.*)$/.exec(fragment);
  if (!at) return null;
  const parts = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/.exec(at[1]);
  const bytes = parts && fromUrl(parts[2]);
  return parts && bytes ? { token: parts[1], secret: bytes } : "damaged";
}

/** Becomes the code's player. @param {Code} code @returns {Promise<string>} the player's id @throws {import("./http.js").Declined} */
export async function recover(code) {
  const { player } = await post("/api/session/recover", { token: code.token });
  browser.write("secret", toUrl(code.secret));
  return player;
}

/** @param {Uint8Array} bytes @returns {string} RFC 4648 section 5, without padding */
function toUrl(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @param {unknown} text @returns {Uint8Array | null} */
function fromUrl(text) {
  if (typeof text !== "string") return null;
  const plain = text.replaceAll("-", "+").replaceAll("_", "/");
  return fromBase64(plain + "=".repeat((4 - (plain.length % 4)) % 4));
}
