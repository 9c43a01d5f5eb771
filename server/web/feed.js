// A feed as this browser holds it: sections of rows, continued from where it was lost (docs/protocol.md, Feeds).

/** @typedef {import("./socket.js").Message} Message */
/** @typedef {string | {game: string, [field: string]: any}} Row */
/** @typedef {Readonly<Record<string, readonly Row[]>>} Sections */

/** @param {Row} row */
const keyOf = (row) => (typeof row === "string" ? row : row.game);

export class Feed {
  /** The rows by section; null until they came. @type {Sections | null} */
  state = null;
  /** Why there is none: `no_session`. @type {string | null} */
  missing = null;
  #version = 0;
  /** @type {Uint8Array | null} */
  #epoch = null;

  /**
   * @param {import("./socket.js").Socket} socket
   * @param {string} topic
   * @param {() => void} changed
   */
  constructor(socket, topic, changed) {
    this.socket = socket;
    this.topic = topic;
    this.changed = changed;
  }

  begin() {
    this.socket.subscribe(this.topic, {
      after: () => (this.state && this.#epoch ? [this.#version, this.#epoch] : null),
      take: (message) => this.#take(message),
    });
  }

  end() {
    this.socket.unsubscribe(this.topic);
  }

  /** @param {string} section @returns {readonly any[]} */
  rows(section) {
    return this.state?.[section] ?? [];
  }

  /** @param {Message} message */
  #take(message) {
    switch (message.type) {
      case "subscribed":
        this.missing = null;
        this.#epoch = message.hash;
        this.#version = message.version;
        if (!message.recovered) this.state = null;
        return undefined;
      case "snapshot":
        this.state = message.state;
        this.#version = message.version;
        return this.changed();
      case "delta": return this.#delta(message);
      case "not_subscribed":
        this.missing = message.reason;
        return this.changed();
      default: return undefined;
    }
  }

  /** @param {Message} message */
  #delta({ version, put, gone }) {
    if (!this.state) return;
    if (version !== this.#version + 1) {
      // Something was lost: all of it again.
      this.state = null;
      this.socket.resume(this.topic);
      return;
    }
    this.#version = version;
    const next = { ...this.state };
    for (const section of new Set([...Object.keys(put), ...Object.keys(gone)])) {
      const come = put[section] ?? [];
      const away = new Set([...(gone[section] ?? []), ...come.map(keyOf)]);
      next[section] = [...(next[section] ?? []).filter((row) => !away.has(keyOf(row))), ...come];
    }
    this.state = next;
    this.changed();
  }
}
