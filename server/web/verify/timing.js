// Until when somebody at a game between people may act: what makes a `TimeUp`, or a turn made by the clock, too early.

/** @typedef {import("./facts.js").Event} Event */
/** @typedef {import("./rules.js").Settings} Settings */
/** @typedef {"pairing" | "meeting" | "mix" | "commit" | "reveal" | "turn"} Stage meeting: a seat is kept for whoever comes */

const weekMs = 7n * 24n * 3600n * 1000n;
/** Deadlines are on the store's clock and events carry the server's: they may differ by this much. */
const toleranceMs = 2000n;

/** How long each stage lasts, in milliseconds. @type {Readonly<Record<Stage, (settings: Settings) => number>>} */
const stageMs = {
  pairing: () => 60_000,
  meeting: () => 24 * 3600 * 1000,
  mix: () => 30_000,
  commit: ({ commit_seconds }) => commit_seconds * 1000,
  reveal: ({ reveal_seconds }) => reveal_seconds * 1000,
  turn: ({ turn_seconds }) => turn_seconds * 1000,
};

/** The clock of one game. A stage begins with the event that asks for it, and what others do meanwhile doesn't begin it again. */
export class Clock {
  /** @type {Stage | null} null against the house, where there are seven days and no more */
  stage = null;
  #sinceMs = 0n;
  #creditedMs = 0n;

  /** @param {Event} opened @param {Settings} settings */
  constructor(opened, settings) {
    this.endsMs = BigInt(opened.at) + weekMs;
    this.settings = settings;
  }

  /** @param {Stage} stage @param {Event} event */
  begin(stage, { at }) {
    this.stage = stage;
    this.#sinceMs = BigInt(at);
    this.#creditedMs = 0n;
  }

  /**
   * Gives time back to whoever is asked now.
   * @param {number} ms
   * @param {Event} event that says so
   * @returns {string | null} what is wrong with that
   */
  credit(ms, { at }) {
    if (BigInt(at) < this.earliestMs) return `not before ${this.earliestMs}: time was not up yet`;
    const mostMs = BigInt(at) + toleranceMs - this.#sinceMs - this.#creditedMs;
    if (BigInt(ms) > mostMs) return `at most ${mostMs} ms: no more has passed`;
    this.#creditedMs += BigInt(ms);
    return null;
  }

  /** The deadline, in milliseconds. The seven days are never credited. */
  get dueMs() {
    if (this.stage === null) return this.endsMs;
    const stage = this.#sinceMs + BigInt(stageMs[this.stage](this.settings)) + this.#creditedMs;
    return stage < this.endsMs ? stage : this.endsMs;
  }

  /** The first moment at which the clock may do something. */
  get earliestMs() {
    return this.stage === null ? this.endsMs : this.dueMs - toleranceMs;
  }

  /** The first moment at which somebody may be late: a turn is made by the clock instead, until the seven days are over. */
  get latestMs() {
    return this.stage === "turn" ? this.endsMs : this.earliestMs;
  }
}
