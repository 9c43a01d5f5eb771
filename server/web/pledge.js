// What this browser pledges in a game and makes good later: its chance, and its cards under seal. It trusts its own chain alone.
import { browser } from "./storage.js";
import { fromHex, hex, same } from "./verify/hash.js";
import { clientEntropy, clientSalt, entropyHash, sealOf } from "./verify/promises.js";
import { witness } from "./witness.js";

/** @typedef {import("./game.js").Game} Game */
/** @typedef {import("./gamelog.js").Fact} Fact */
/** @typedef {{do: string, [field: string]: any}} Command */

const gamesMax = 60;
const battlesMax = 200;

export class Pledge {
  /** Whether what stands in the log for our seat isn't what this browser made: the entropy, or its promise. */
  foreign = false;
  /** What the ledger said of the opening, if this tab asked. @type {import("./witness.js").Witness | null} */
  witness = null;
  #mixing = false;
  /** Whether we are taking a seat just now. */
  sitting = false;
  /** The battle whose card is being shown. */
  #showing = 0;

  /** @param {Game} game */
  constructor(game) {
    this.game = game;
  }

  // ---- what the chained log says of our seat

  get #opening() {
    return this.game.log.opening;
  }

  get opened() {
    return this.#opening[0];
  }

  get between() {
    return this.opened?.mode === "versus";
  }

  /** @param {string} type @returns {Fact | undefined} */
  #ours(type) {
    return this.#opening.find((fact) => fact.type === type && fact.player.length > 0 && hex(fact.player) === this.game.socket.player);
  }

  /** The seat we sit in. @returns {number | null} */
  get seat() {
    return this.#ours("Seated")?.seat ?? null;
  }

  /** The seat that is kept for us, and that we don't sit in yet. @returns {number | null} */
  get kept() {
    return this.seat === null ? (this.#ours("Reserved")?.seat ?? null) : null;
  }

  /** A seat that anybody may take. @returns {number | null} */
  get free() {
    const gone = this.#opening.filter(({ type }) => type === "Seated" || type === "Reserved").map(({ seat }) => seat);
    return this.between && this.seat === null && this.kept === null ? ([0, 1].find((seat) => !gone.includes(seat)) ?? null) : null;
  }

  /** The event that took the last seat; null while one is free. @returns {Fact | null} */
  get #full() {
    const seated = this.#opening.filter(({ type }) => type === "Seated");
    return seated.length === 2 ? seated[1] : null;
  }

  // ---- after anything was heard

  heard() {
    if (!this.opened || this.game.over) return;
    if (this.kept !== null && this.game.sits) void this.sit();
    void this.#mix();
    void this.#show();
  }

  /** Nobody but us may bring our chance: who knows the server's secret could try until the deal suits him. */
  check() {
    const { seat, opened } = this;
    if (seat === null) return;
    const entropy = clientEntropy(this.game.secret(), opened.hash);
    const mixed = this.#opening.find((fact) => fact.type === "Mixed" && fact.seat === seat);
    const promised = this.#ours("Seated")?.entropy_hash;
    this.foreign = Boolean(mixed && !same(mixed.entropy, entropy)) || Boolean(promised?.length && !same(promised, this.#promise(seat, entropy)));
  }

  /** @param {number} seat @param {Uint8Array} entropy */
  #promise(seat, entropy) {
    return entropyHash(fromHex(this.game.id), seat, entropy);
  }

  /** Whether this game may be pledged anything: only the first opening of it that this browser saw, and only on the history it saw. */
  #trusted() {
    if (this.game.forked || this.foreign) return false;
    if (promisedOn(this.game.id, hex(this.opened.hash))) return true;
    // This game was opened before under another promise: mixing again would let the server choose between two deals.
    this.game.stray();
    return false;
  }

  // ---- sitting and mixing

  /** Takes the seat that is kept for us, else the free one, with the promise of our chance. @returns {Promise<string | null>} why not */
  async sit() {
    const seat = this.kept ?? this.free;
    if (this.sitting || seat === null || !this.#trusted()) return null;
    this.sitting = true;
    this.game.on.changed();
    const entropy_hash = this.#promise(seat, clientEntropy(this.game.secret(), this.opened.hash));
    const answer = await this.game.socket.ask({ type: "sit", id: `sit-${this.game.id}`, game: this.game.id, entropy_hash });
    this.sitting = false;
    if (answer.type !== "refused" || answer.reason === "already_seated") return null;
    this.game.declined(answer.reason);
    return answer.reason;
  }

  /** Our own chance goes into the deal as soon as the opening, with all promises, stands in the log. */
  async #mix() {
    const { seat, opened, game } = this;
    const full = this.#full;
    // An open deal is dealt with its opening and takes no chance of ours.
    if (this.#mixing || seat === null || full === null || game.table?.position || opened.secret_hash.length === 0) return;
    if (this.#opening.some((fact) => fact.type === "Mixed" && fact.seat === seat)) return;
    if (!this.#trusted()) return;
    this.#mixing = true;
    if (opened.witnessed) {
      // Once the opening stands in the public ledger, nobody can open this game again unseen. A silent ledger keeps nobody from playing.
      this.witness = await witness(game.id, full);
      game.on.changed();
    }
    if (game.over || !this.#trusted()) {
      this.#mixing = false;
      return;
    }
    const entropy = clientEntropy(game.secret(), opened.hash);
    // The id is the game's: two tabs that both see the opening mix once.
    const answer = await game.socket.ask({ type: "do", id: `mix-${game.id}`, game: game.id, command: { do: "Mix", entropy } });
    this.#mixing = false;
    if (answer.type === "refused" && !["already_mixed", "over"].includes(answer.reason)) game.declined(answer.reason);
    game.on.changed();
  }

  // ---- cards under seal

  /** The command as it is sent: a card that is committed goes under its seal, everything else as it is. @param {Command} command @returns {Command | null} null: not on this history */
  sealed(command) {
    if (command.do !== "Commit") return command;
    if (!this.#trusted()) return null;
    const { battle, card } = command;
    return { do: "Commit", battle, seal: this.#seal(battle, card) };
  }

  /** @param {number} battle @param {number} card */
  #seal(battle, card) {
    const { seat, opened, game } = this;
    return sealOf(fromHex(game.id), Number(seat), battle, card, clientSalt(game.secret(), opened.hash, battle, card));
  }

  /** Both seals of the battle that was committed last, by seat. @returns {{battle: number, seals: (Uint8Array | undefined)[], shown: boolean} | null} */
  get #last() {
    const { facts } = this.game;
    const last = facts.filter(({ type }) => type === "Committed").at(-1);
    if (!last) return null;
    const { battle } = last;
    const of = (/** @type {number} */ seat) => facts.find((fact) => fact.type === "Committed" && fact.battle === battle && fact.seat === seat)?.seal;
    const shown = facts.some((fact) => fact.type === "Revealed" && fact.battle === battle && fact.seat === this.seat);
    return { battle, seals: [of(0), of(1)], shown };
  }

  /** Our card that lies sealed on the table: found again from our secret alone, so that any device of ours can show it. @returns {number | null} */
  get card() {
    const { seat, game } = this;
    const last = seat === null || !this.between ? null : this.#last;
    const seal = last && !last.shown ? last.seals[Number(seat)] : undefined;
    if (!seal || !last) return null;
    return game.hand.find((card) => same(this.#seal(last.battle, card), seal)) ?? null;
  }

  /** Shows our card once the other's seal stands in our own chain; never the same battle under other seals. */
  async #show() {
    const { seat, game, card } = this;
    const last = this.#last;
    if (seat === null || card === null || !last || last.seals.includes(undefined) || this.#showing === last.battle || !this.#trusted()) return;
    const { battle } = last;
    const seals = last.seals.map((seal) => hex(/** @type {Uint8Array} */ (seal))).join(" ");
    if (!shownUnder(game.id, battle, seals)) return game.stray();
    this.#showing = battle;
    const salt = clientSalt(game.secret(), this.opened.hash, battle, card);
    const answer = await game.socket.ask({ type: "do", id: `show-${game.id}-${battle}`, game: game.id, command: { do: "Reveal", battle, card, salt } });
    if (answer.type === "refused" && !["already_revealed", "over", "wrong_battle"].includes(answer.reason)) game.declined(answer.reason);
  }
}

/**
 * Whether this browser pledges anything on this opening of a game: on the first one that it sees, and on no other ever.
 * @param {string} game @param {string} opening the hash of `Opened`, in hex
 */
function promisedOn(game, opening) {
  return keptAs("openings", [game], opening, gamesMax);
}

/**
 * Whether a card of this battle may be shown under these seals: under the first ones it was shown under, and no others ever.
 * @param {string} game @param {number} battle @param {string} seals
 */
function shownUnder(game, battle, seals) {
  return keptAs("shown", [game, battle], seals, battlesMax);
}

/** @param {string} name @param {readonly (string | number)[]} key @param {string} value @param {number} most */
function keptAs(name, key, value, most) {
  const kept = browser.read(name);
  /** @type {any[][]} */
  const rows = Array.isArray(kept) ? kept : [];
  const known = rows.find((row) => key.every((part, at) => row[at] === part));
  if (known) return known[key.length] === value;
  browser.write(name, [...rows, [...key, value]].slice(-most));
  return true;
}
