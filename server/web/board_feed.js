// A board's top as its feed tells it, continued from where it was lost by the ledger's own position (docs/protocol.md, Boards).

/** @typedef {import("./socket.js").Message} Message */
/** @typedef {import("./page_boards.js").Board} Board */
/** @typedef {import("./page_boards.js").Place} Place */
/** @typedef {{ladder: string, measure: string, window: string, until_ms: number | null, size: number}} State */

export class BoardFeed {
  /** @type {State | null} */
  state = null;
  /** By player. @type {Map<string, Place>} */
  #places = new Map();
  /** As_of and leaf hash of what is here. @type {[number, Uint8Array] | null} */
  #at = null;

  /**
   * @param {import("./socket.js").Socket} socket
   * @param {{ladder: string, measure: string, window: string}} board
   * @param {() => void} changed
   */
  constructor(socket, { ladder, measure, window }, changed) {
    this.socket = socket;
    this.asked = window;
    this.topic = `board/${ladder}/${measure}/${window}`;
    this.changed = changed;
  }

  begin() {
    this.socket.subscribe(this.topic, { after: () => (this.state ? this.#at : null), take: (message) => this.#take(message) });
  }

  end() {
    this.socket.unsubscribe(this.topic);
  }

  /** As HTTP would tell it; null until it came. @returns {Omit<Board, "leaf_hash"> | null} */
  get board() {
    if (!this.state || !this.#at) return null;
    const places = [...this.#places.values()].sort((one, other) => one.position - other.position);
    return { ...this.state, asked: this.asked, as_of: this.#at[0], places };
  }

  /** @param {Message} message */
  #take(message) {
    switch (message.type) {
      case "subscribed":
        this.#at = [message.version, message.hash];
        if (!message.recovered) this.state = null;
        return;
      case "snapshot":
        this.state = message.state.board[0];
        this.#places = new Map(message.state.places.map((/** @type {Place} */ place) => [place.player, place]));
        return this.changed();
      case "delta":
        if (!this.state) return;
        this.#at = [message.version, message.hash];
        this.state = message.put.board?.[0] ?? this.state;
        for (const player of message.gone.places ?? []) this.#places.delete(player);
        for (const place of message.put.places ?? []) this.#places.set(place.player, place);
        return this.changed();
      default: // Not subscribed: the page asks over HTTP.
    }
  }
}
