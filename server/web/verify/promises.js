// Every promise of docs/audit.md, section Hashes, but for the chain: what is hashed, in which order and width.
import { exactly, hmac, sha256, utf8, wide } from "./hash.js";

/** What the house brings to the mix. */
export const noEntropy = new Uint8Array(32);

/** @param {Uint8Array} operatorKey @param {Uint8Array} game */
export function secretOf(operatorKey, game) {
  return hmac(operatorKey, "statecraft secret v1", exactly(game, 16));
}

/** @param {Uint8Array} game @param {Uint8Array} secret */
export function secretHash(game, secret) {
  return sha256("statecraft secret-hash v1", exactly(game, 16), exactly(secret, 32));
}

/** @param {Uint8Array} game @param {number} seat @param {Uint8Array} entropy */
export function entropyHash(game, seat, entropy) {
  return sha256("statecraft entropy v1", exactly(game, 16), wide(seat, 1), exactly(entropy, 32));
}

/** @param {Uint8Array} secret @param {Uint8Array} game @param {readonly Uint8Array[]} entropies of seat 0 and seat 1 */
export function seedOf(secret, game, entropies) {
  const fields = [game, entropies[0], entropies[1]].map((field, at) => exactly(field, at === 0 ? 16 : 32));
  return hmac(exactly(secret, 32), "statecraft seed v1", ...fields);
}

/** @param {Uint8Array} game @param {number} seat @param {number} battle @param {number} card @param {Uint8Array} salt */
export function sealOf(game, seat, battle, card, salt) {
  const place = [exactly(game, 16), wide(seat, 1), wide(battle, 2), wide(card, 1)];
  return sha256("statecraft seal v1", ...place, exactly(salt, 32));
}

/** @param {string} policy the whole text as published */
export function strategyHash(policy) {
  return sha256("statecraft strategy v1", utf8(policy));
}

/** @param {Uint8Array} game @param {number} seat @param {Uint8Array} player @param {string} commandId @param {string} kind @param {number} battle */
export function causeOf(game, seat, player, commandId, kind, battle) {
  const fields = [exactly(game, 16), wide(seat, 1), exactly(player, 16), utf8(`${commandId}\0${kind}\0`), wide(battle, 4)];
  return sha256("statecraft cause v1", ...fields).subarray(0, 16);
}

/** @param {Uint8Array} clientSecret @param {Uint8Array} hashOfOpened */
export function clientEntropy(clientSecret, hashOfOpened) {
  return hmac(clientSecret, "statecraft client-entropy v1", exactly(hashOfOpened, 32));
}

/** @param {Uint8Array} clientSecret @param {Uint8Array} hashOfOpened @param {number} battle @param {number} card */
export function clientSalt(clientSecret, hashOfOpened, battle, card) {
  return hmac(clientSecret, "statecraft client-salt v1", exactly(hashOfOpened, 32), wide(battle, 2), wide(card, 1));
}
