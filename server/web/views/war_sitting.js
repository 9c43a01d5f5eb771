// What somebody does at a table of War beside the log: turning, auto-play, settings, keys, and how much of it is spoken.
import { browser } from "../storage.js";
import { news, piles, sentence, summary } from "./war_words.js";

/** @typedef {import("../games.js").Doings} Doings */
/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {import("./war_variants.js").Variant} Variant */
/** @typedef {"normal" | "fast"} Pace */

/** How long a battle lies on the table, and one with a war in it. */
const pauses = { normal: { battle: 1000, war: 2200 }, fast: { battle: 110, war: 380 } };
/** Between two summaries of what turns by itself. */
const spokenEveryMs = 9000;

/** @typedef {import("../games.js").Sitting} Sitting */

/** @implements {Sitting} */
export class WarSitting {
  /** Whether cards turn by themselves; never so after a reload. */
  auto = false;
  /** @type {Pace} */
  pace = browser.read("pace") === "fast" ? "fast" : "normal";
  /** Whether the result was put away; shown again after a reload. */
  closed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next = undefined;
  #spokenAt = 0;
  /** Whether a battle is under way that was the last one to turn by itself. */
  #stopping = false;

  /** @param {Variant} variant @param {Doings} doings */
  constructor(variant, doings) {
    this.variant = variant;
    this.doings = doings;
    this.closed = doings.watching;
  }

  end() {
    this.auto = false;
    clearTimeout(this.#next);
    this.#next = undefined;
  }

  // ---- what can be done

  /** Whether a turn would be taken now. @param {Seen} seen */
  ready({ table, seat, pending, leaving, owing }) {
    return Boolean(table.position) && !table.finished && seat !== null && !pending && !leaving && owing.includes(seat);
  }

  /** @param {number} times */
  turn(times) {
    const seen = this.doings.seen();
    if (seen && this.ready(seen)) this.doings.ask({ do: "Turn", battle: seen.table.position.battle, times });
  }

  /** By hand: whoever turns cards wants them still until the next. @param {number} [times] */
  turnByHand(times = 1) {
    if (this.auto) this.stop();
    else this.turn(times);
  }

  toggle() {
    if (this.auto) this.stop();
    else this.start();
  }

  start() {
    const seen = this.doings.seen();
    if (!this.variant.auto || !seen?.table.position || seen.table.finished || seen.seat === null) return;
    this.auto = true;
    this.#spokenAt = Date.now();
    this.doings.say(`Auto-play, ${this.pace}.`);
    this.turn(1);
    this.doings.changed();
  }

  stop() {
    const seen = this.doings.seen();
    this.auto = false;
    clearTimeout(this.#next);
    this.#next = undefined;
    // A battle under way is the last one: it is said with its result.
    this.#stopping = Boolean(seen?.pending && seen.pending.command.battle === seen.table.position?.battle);
    if (seen?.table.position && !this.#stopping) this.doings.say(stopped(seen));
    this.doings.changed();
  }

  /** @param {Pace} pace */
  setPace(pace) {
    this.pace = pace;
    browser.write("pace", pace);
    clearTimeout(this.#next);
    this.#next = undefined;
    this.doings.changed();
  }

  /** Another game, in place of this one. */
  newGame() {
    const seen = this.doings.seen();
    // Between people a game is left by resigning alone.
    if (!seen || seen.seat === null || seen.people) return;
    this.end();
    const settings = this.variant.settings(seen.table);
    if (seen.table.finished) this.doings.again(settings);
    else this.doings.fresh(settings);
  }

  /** A setting changed: it is that of another game, which begins at once. @param {string} name @param {number | string} value */
  set(name, value) {
    const seen = this.doings.seen();
    if (!seen || seen.seat === null || seen.people || this.variant.settings(seen.table)[name] === value) return;
    this.end();
    const settings = { ...this.variant.settings(seen.table), [name]: value };
    browser.write(`settings.${this.variant.rules}`, settings);
    // The address still names the seed: the same cards, played by other settings.
    const seed = this.variant.seed(seen.table);
    this.doings.fresh(seed === null ? settings : { ...settings, seed });
  }

  close() {
    this.closed = true;
    this.doings.changed();
  }

  // ---- what happens

  moved() {
    const seen = this.doings.seen();
    if (!this.auto || !seen) return;
    if (seen.table.finished || seen.refusal) {
      this.auto = false;
      return;
    }
    if (this.#next !== undefined || !this.ready(seen)) return;
    const pause = pauses[this.pace];
    this.#next = setTimeout(() => {
      this.#next = undefined;
      if (this.auto) this.turn(1);
    }, seen.table.position.rows.length > 1 ? pause.war : pause.battle);
  }

  /** @param {readonly import("../gamelog.js").Fact[]} facts @param {number} from @param {Seen} seen @returns {string[]} */
  news(facts, from, seen) {
    const stopping = this.#stopping;
    this.#stopping = false;
    if (seen.table.finished) return news(facts, from, seen);
    if (!this.auto) return stopping ? [stopped(seen)] : news(facts, from, seen);
    if (Date.now() - this.#spokenAt < spokenEveryMs) return [];
    this.#spokenAt = Date.now();
    return [sentence(summary(seen.table.position, seen))];
  }

  /** @param {KeyboardEvent} event */
  key({ key }) {
    switch (key) {
      case " ": case "Enter": this.turnByHand(); return true;
      case "a": case "A": this.toggle(); return this.variant.auto;
      case "n": case "N": this.newGame(); return true;
      case "f": case "F": fullScreen(); return true;
      default: return false;
    }
  }

  /** The result is a dialog, and a dialog is opened by hand. */
  drawn() {
    const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("result"));
    if (dialog && !dialog.open) dialog.showModal();
  }
}

/** @param {Seen} seen */
const stopped = (seen) => `Auto-play stopped after battle ${seen.table.position.battles}: ${piles(seen.table.position, seen)}.`;

export function fullScreen() {
  if (document.fullscreenElement) void document.exitFullscreen();
  else document.documentElement.requestFullscreen?.().catch(() => {});
}
