// The first thing in a game that isn't as it must be.

/** @typedef {{name: string, what: string}} Check what is looked at, and in words what it shows */

export class Fault extends Error {
  /**
   * @param {Check} check the one that failed
   * @param {number | null} version of the event, null for the file's first line
   * @param {string} why plain words
   * @param {string} expected
   * @param {string} found
   */
  constructor(check, version, why, expected, found) {
    super(why);
    this.check = check;
    this.version = version;
    this.why = why;
    this.expected = expected;
    this.found = found;
  }
}

/** How often each check was made and passed, in the order of their first use. */
export class Tally {
  /** @type {Map<Check, number>} */
  counts = new Map();

  /** @param {Check} check @param {number} [times] */
  passed(check, times = 1) {
    this.counts.set(check, (this.counts.get(check) ?? 0) + times);
  }
}
