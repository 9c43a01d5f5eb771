// The pages of one game: its table, its review and its proof. Which game it is decides the view, not this module.
import { html } from "./vendor/lit/lit-html.js";
import { confirmed } from "./dialog.js";
import { Game, heldHead } from "./game.js";
import { keepAll } from "./gamelog.js";
import { gameOf, shelfOf } from "./games.js";
import { Declined, get, getText } from "./http.js";
import { openFresh, openGame } from "./opening.js";
import { known } from "./ledger.js";
import { inWords } from "./reasons.js";
import { copied } from "./copying.js";
import { home, lobby, query, toExport, toFair, toGame, toHow, toProof, toReplay, toReview } from "./route.js";
import { secret } from "./session.js";
import { fromHex, hex } from "./verify/hash.js";
import { clientEntropy } from "./verify/promises.js";
import { sentence, sheet, wrapped } from "./views/frame.js";
import { draw as drawRoom, title as roomTitle } from "./views/room.js";

/** @typedef {import("./main.js").App} App */
/** @typedef {import("./main.js").Page} Page */

/** Whether the page has two columns, as its style has it. */
const roomy = matchMedia("(min-width: 66.01rem)");

/** A game that is followed, whatever of it is shown. */
class Followed {
  /** @param {App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    /** Whether another game is being opened in place of this one. */
    this.leaving = false;
    this.game = new Game({
      socket: app.socket,
      id,
      secret,
      toldOf: (rules) => gameOf(rules) ?? { facts: {}, keep: keepAll },
      changed: () => this.changed(),
      news: (facts, from) => this.news(facts, from),
      refused: (reason) => app.say(this.view?.reasons?.[reason] ?? inWords(reason)),
    });
  }

  begin() {
    this.game.begin();
  }

  end() {
    this.game.end();
  }

  changed() {
    this.app.changed();
  }

  get view() {
    return gameOf(this.game.table?.opened?.rules);
  }

  /** @returns {import("./games.js").Seen | null} */
  get seen() {
    const { id, table, facts, seat, hand, settled, chosen, pending, refusal, newsFrom, pledge } = this.game;
    if (!table?.opened || table.seats.includes(null)) return null;
    return {
      id, table, facts, seat, side: seat ?? 0, hand, settled, chosen, pending, refusal, newsFrom,
      sealed: pledge.card, owing: this.owing, called: this.game.called, people: this.people, turnedByClock: Boolean(this.view?.luck),
      roomy: roomy.matches, leaving: this.leaving,
    };
  }

  /** The seats that are to act now. @returns {readonly number[]} */
  get owing() {
    const { table } = this.game;
    if (table.finished) return [];
    return [0, 1].filter((seat) => (table.position ? (this.view?.owes?.(table, seat) ?? false) : table.mixed[seat] === null));
  }

  /** @returns {import("./games.js").People | null} null against the house */
  get people() {
    if (!this.game.between) return null;
    return { left: this.left, presence: this.game.presence, rematch: this.app.meeting.rematchOf(this.id) };
  }

  /** Whole seconds until the deadline; null: there is none. @returns {number | null} */
  get left() {
    const { dueMs, over } = this.game;
    return dueMs === null || over ? null : Math.max(0, Math.round((dueMs - this.app.socket.nowMs) / 1000));
  }

  /** @param {readonly import("./gamelog.js").Fact[]} facts @param {number} from */
  news(facts, from) {
    const { seen, view } = this;
    if (seen && view) for (const line of view.news(facts, from, seen)) this.app.say(line);
  }

  /** A sentence where there is no game to show. */
  instead() {
    const { missing, table } = this.game;
    if (missing) return sheet("No game here", sentence(inWords(missing), home, "Back to the desks"));
    if (table?.opened && !this.view) {
      return sheet("Another game", sentence(`This page doesn’t know the rules “${table.opened.rules}”. Load it again: a newer one may.`, home, "Back to the desks"));
    }
    return sheet("The table", html`<p class="lead">Opening the game …</p>`);
  }

  /** @param {typeof openGame} way @param {import("./games.js").Settings} [settings] */
  async open(way, settings) {
    const { view, game } = this;
    if (!view || this.leaving) return;
    this.leaving = true;
    this.changed();
    game.refusal = await way(this.app.socket, view, game.table.opened.mode, settings);
    this.leaving = false;
    this.changed();
  }

  /** @returns {import("./views/frame.js").Notice[]} */
  notices() {
    const { forked, pledge: { foreign, witness } } = this.game;
    const notices = [];
    if (witness?.state === "wrong") notices.push({ grave: true, text: `The ledger’s witness of this opening doesn’t check out. ${witness.why}` });
    if (witness?.state === "unwitnessed") notices.push({ grave: false, text: `Opening not witnessed: the ledger didn’t answer in time. ${witness.why}`.trim() });
    if (forked) notices.push({ grave: true, text: "The server now tells a different history of this game than the one this browser saw. “How fair was this?” shows where." });
    if (foreign) notices.push({ grave: true, text: "The chance mixed in for you isn’t the one this browser made. Unless you began this game elsewhere without a recovery link, or cleared this browser’s data since, somebody else chose it." });
    return notices;
  }

  back() {
    return html`<a class="more" href=${toGame(this.id)}>Back to the table</a>`;
  }
}

/** When a clock is heard: once, so many seconds before its end. */
const heardAt = 10;

/** @implements {Page} */
export class TablePage extends Followed {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking = undefined;
  /** The deadline that was said to be near. @type {number | null} */
  #saidDue = null;
  #copied = false;
  /** Whether something was revealed since the last drawing. */
  #revealed = false;
  /** What goes on at this table beside its log, if its game needs that. @type {import("./games.js").Sitting | null} */
  #sitting = null;
  #ended = false;

  /** @param {App} app @param {string} id @param {{watching?: boolean}} [how] watching: it is shown to nobody who sits at it */
  constructor(app, id, { watching = false } = {}) {
    super(app, id);
    this.watching = watching;
  }

  begin() {
    super.begin();
    this.#ticking = setInterval(() => this.#tick(), 1000);
  }

  /** A clock is drawn every second, and heard once. */
  #tick() {
    const { left, game } = this;
    if (!game.between || left === null) return;
    if (left <= heardAt && game.dueMs !== this.#saidDue && this.view?.luck === false && game.seat !== null && this.owing.includes(game.seat) && game.pledge.card === null) {
      this.#saidDue = game.dueMs;
      this.app.say(left === 1 ? "One second left." : `${left} seconds left.`);
    }
    this.app.changed();
  }

  /** Nobody is called away from a game of their own that goes on. */
  idle() {
    return this.game.over || this.game.missing !== null || (this.game.table !== null && this.game.seat === null && this.game.pledge.kept === null);
  }

  end() {
    clearInterval(this.#ticking);
    this.#ended = true;
    this.#sitting?.end();
    super.end();
  }

  changed() {
    super.changed();
    this.sitting?.moved();
  }

  get sitting() {
    if (this.#sitting || this.#ended) return this.#sitting;
    this.#sitting = this.view?.sit?.({
      seen: () => this.seen,
      ask: (command) => this.game.ask(command),
      again: (settings) => void this.open(openGame, settings),
      fresh: (settings) => void this.open(openFresh, settings),
      say: (line) => this.app.say(line),
      changed: () => this.changed(),
      watching: this.watching,
    }) ?? null;
    return this.#sitting;
  }

  /** @param {readonly import("./gamelog.js").Fact[]} facts @param {number} from */
  news(facts, from) {
    const { seen, view } = this;
    if (seen && view) for (const line of (this.sitting ?? view).news(facts, from, seen)) this.app.say(line);
    this.#revealed = true;
  }

  /** @param {KeyboardEvent} event pressed where no control has the focus @returns {boolean} whether it meant something */
  key(event) {
    return Boolean(this.seen && this.sitting?.key(event));
  }

  /** On a small screen the hand may have pushed the scene away. */
  drawn() {
    const { seen, view } = this;
    if (this.#revealed) document.getElementById("scene")?.scrollIntoView({ block: "nearest" });
    this.#revealed = false;
    if (!seen || !view) return;
    query(view.query?.(seen.table) ?? "");
    this.sitting?.drawn();
  }

  title() {
    const { seen, view, room } = this;
    if (room) return `${roomTitle(room)} · ${room.view.name}`;
    return seen && view ? `${view.title(seen)} · ${view.name}` : "The table";
  }

  /** Before both sit, or where that never came. @returns {import("./views/room.js").Room | null} */
  get room() {
    const { game, view, left } = this;
    if (!view || !game.between || !game.table?.seats.includes(null)) return null;
    const { table, pledge, refusal } = game;
    return {
      view, table, left, refusal, mine: pledge.seat ?? pledge.kept, free: pledge.free, busy: pledge.sitting,
      link: location.origin + location.pathname + toGame(this.id), copied: this.#copied, links: { home, lobby },
    };
  }

  draw() {
    const { seen, view, room } = this;
    if (room) return drawRoom(room, this.#roomActs(room));
    if (!seen || !view) return this.instead();
    return view.draw(seen, {
      choose: (card) => this.game.choose(card),
      play: (card) => view.play && this.game.ask(view.play(seen.table, card)),
      resign: () => void this.resign(),
      again: () => void this.open(openGame),
      rematch: () => void this.app.meeting.rematch(this.id, view.rules),
      links: { home, lobby, review: toReview(this.id), replay: toReplay(this.id), fair: toFair(this.id), file: toExport(this.id), how: toHow(shelfOf(view).id) },
    }, this.sitting);
  }

  /** @param {import("./views/room.js").Room} room @returns {import("./views/room.js").RoomActs} */
  #roomActs({ link, view }) {
    return {
      sit: () => void this.game.pledge.sit(),
      copy: async () => {
        this.#copied = await copied(link, "link");
        if (this.#copied) this.app.say("The link is copied.");
        this.changed();
      },
      share: "share" in navigator ? () => void navigator.share({ title: view.name, text: `Play ${view.name} with me`, url: link }).catch(() => {}) : null,
      leave: () => this.game.ask({ do: "Resign" }),
    };
  }

  async resign() {
    const yes = await confirmed({
      title: "Resign this game?",
      text: "Resigning ends it as a loss.",
      no: "Play on",
      yes: "Resign",
    });
    if (yes) this.game.ask({ do: "Resign" });
  }

  /** Where the focus goes if what had it is gone: the end when there is one, else the hand. */
  fallback() {
    return document.getElementById("ending") ?? /** @type {HTMLElement | null} */ (document.querySelector("[role=radio][tabindex='0']"));
  }
}

/** @implements {Page} */
export class ReviewPage extends Followed {
  /** @type {any} */
  told = null;
  /** @type {string | null} */
  why = null;

  begin() {
    super.begin();
    void this.load();
  }

  async load() {
    try {
      this.told = await get(`/api/games/${this.id}/review`);
    } catch (error) {
      this.why = error instanceof Declined ? declined(error) : "The server didn’t answer. Load the page again in a moment.";
    }
    this.app.changed();
  }

  title() {
    return "Review";
  }

  draw() {
    const { seen, view, told, why } = this;
    if (why) return sheet("Review", sentence(why), this.back());
    if (!seen || !view || !told) return this.game.missing ? this.instead() : sheet("Review", html`<p class="lead">Working it out …</p>`, this.back());
    const content = view.review?.(told, seen) ?? sentence("There was nothing to choose in this game, so there is nothing to review.");
    return sheet("Review", wrapped(shelfOf(view).kind, content), this.back());
  }
}

/** @param {Declined} error */
function declined({ code, message }) {
  return code === "not_over" ? "The review opens when the game is over." : message;
}

/** @implements {Page} */
export class FairPage {
  /** @type {string | null} */
  text = null;
  /** @type {string | null} */
  why = null;
  shown = false;

  /** @param {App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
  }

  begin() {
    void this.load();
  }

  end() {}

  async load() {
    try {
      this.text = await getText(toProof(this.id));
    } catch (error) {
      this.why = error instanceof Declined ? error.message : "The server didn’t answer. Load the page again in a moment.";
    }
    this.app.changed();
  }

  title() {
    return "How fair was this?";
  }

  draw() {
    const back = html`<a class="more" href=${toGame(this.id)}>Back to the table</a>`;
    if (this.why) return sheet("How fair was this?", sentence(this.why), back);
    return sheet("How fair was this?", html`<div id="proof" class="proof">${this.text === null ? html`<p class="lead">Fetching the record …</p>` : ""}</div>`, back, "bare");
  }

  /** The proof is shown by the module that checks it, which shares nothing with the rest. */
  async drawn() {
    const container = document.getElementById("proof");
    if (this.shown || this.text === null || !container) return;
    this.shown = true;
    const { show } = await import("./verify/view.js");
    const held = heldHead(this.id);
    const inside = document.createElement("div");
    container.replaceChildren(inside);
    show(inside, this.text, {
      ...(held ? { heldHead: hex(held.hash) } : {}),
      player: this.app.socket.player,
      ledger: known(),
      entropy: (opening) => hex(clientEntropy(secret(), fromHex(opening))),
    });
  }
}
