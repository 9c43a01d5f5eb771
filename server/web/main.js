// The page: builds the parts, shows the page that the address names, and draws it when something changed.
import { render } from "./vendor/lit/lit-html.js";
import { confirmed } from "./dialog.js";
import { games, shelves } from "./games.js";
import { Declined } from "./http.js";
import { Meeting } from "./meeting.js";
import { HomePage } from "./page_home.js";
import { LobbyPage } from "./page_lobby.js";
import { TvPage } from "./page_tv.js";
import { FairPage, ReviewPage, TablePage } from "./page_game.js";
import { openFresh } from "./opening.js";
import { inWords } from "./reasons.js";
import { home, how, query, read, toHow } from "./route.js";
import { begin, recover, recoveryCode, whoever } from "./session.js";
import { Socket } from "./socket.js";
import { say } from "./spoken.js";
import { chapters, colophon, masthead, notices, sentence, sheet, wrapped } from "./views/frame.js";

/**
 * @typedef {object} Page
 * @property {() => void} begin
 * @property {() => void} end
 * @property {() => string} title
 * @property {() => unknown} draw
 * @property {() => void} [drawn] after each drawing
 * @property {() => import("./views/frame.js").Notice[]} [notices]
 * @property {() => boolean} [idle] whether nobody minds being called away from it; so it is, if it doesn't say
 * @property {boolean} [waits] whether it shows itself where we wait for somebody, second by second
 * @property {{id: string}} [game] the game that it shows
 * @property {(event: KeyboardEvent) => boolean} [key] pressed where no control has the focus: whether it meant something
 * @property {() => HTMLElement | null} [fallback] for a focus whose element is gone
 *
 * @typedef {object} App
 * @property {Socket} socket
 * @property {Meeting} meeting
 * @property {Page | null} page
 * @property {() => void} changed
 * @property {(sentence: string) => void} say
 */

const element = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const retryMs = 1500;

/** @implements {App} */
class Statecraft {
  /** @type {Page | null} */
  page = null;
  /** @type {import("./views/frame.js").Notice[]} */
  told = [];
  #due = false;
  #headed = false;

  /** @param {Socket} socket */
  constructor(socket) {
    this.socket = socket;
    this.meeting = new Meeting(this);
  }

  /** Something changed: draws soon, once for all that changed together. */
  changed() {
    if (this.#due) return;
    this.#due = true;
    queueMicrotask(() => {
      this.#due = false;
      this.#draw();
    });
  }

  /** @param {string} line */
  say(line) {
    say(line);
  }

  /** Shows what the address names. */
  go() {
    this.page?.end();
    this.route = read(location.hash);
    this.page = pageOf(this, this.route);
    this.meeting.tend();
    this.page.begin();
    this.changed();
  }

  /** A new address was chosen: the reader starts at its top. */
  turn() {
    this.told = [];
    this.go();
    // What else the address says is about one game; its table puts it in again.
    if (this.route?.page !== "game") query("");
    scrollTo(0, 0);
    this.#headed = true;
  }

  #draw() {
    const { page, route } = this;
    if (!page || !route) return;
    const focus = document.activeElement;
    document.title = `${page.title()} · Statecraft`;
    render(masthead(route.page), element("masthead"));
    render(notices([...connection(this.socket.state), ...this.told, ...this.meeting.notices(), ...(page.notices?.() ?? [])]), element("notices"));
    render(page.draw(), element("main"));
    page.drawn?.();
    if (this.#headed) this.#headed = !this.#focusHeading();
    else if (focus && focus !== document.body && !focus.isConnected) this.#refocus(focus);
  }

  #focusHeading() {
    const heading = /** @type {HTMLElement | null} */ (document.querySelector("main h1"));
    heading?.focus({ preventScroll: true });
    return Boolean(heading);
  }

  /** Nobody's focus is lost: what took the place of the element that had it, or the heading. @param {Element} lost */
  #refocus(lost) {
    const next = lost.tagName === "H1" ? null : this.page?.fallback?.();
    if (next) next.focus({ preventScroll: false });
    else this.#focusHeading();
  }
}

/** @param {App} app @param {import("./route.js").Route} route @returns {Page} */
function pageOf(app, route) {
  switch (route.page) {
    case "home": return new HomePage(app);
    case "lobby": return new LobbyPage(app);
    case "tv": return new TvPage(app);
    case "game": return new TablePage(app, route.game);
    case "review": return new ReviewPage(app, route.game);
    case "fair": return new FairPage(app, route.game);
    case "how": return explained(route.shelf);
    case "unknown": return plain("Nothing is filed here", sentence("This address names no page.", home, "Back to the desks"));
  }
}

/** @param {string | null} id of a shelf @returns {Page} */
function explained(id) {
  const shelf = shelves.find((each) => each.id === id) ?? shelves[0];
  return plain("How to play", [chapters(shelves.map((each) => ({ name: each.name, href: each === shelves[0] ? how : toHow(each.id), here: each === shelf }))), wrapped(shelf.kind, shelf.how())]);
}

/** @param {string} heading @param {unknown} content @returns {Page} */
function plain(heading, content) {
  return { begin() {}, end() {}, title: () => heading, draw: () => sheet(heading, content) };
}

/** @param {import("./socket.js").State} state @returns {import("./views/frame.js").Notice[]} */
function connection(state) {
  if (state === "trouble") return [{ passing: true, text: "No answer from the server. Nothing is lost; this page keeps trying." }];
  if (state === "broken") {
    const button = { words: "Load again", act: () => location.reload() };
    return [{ grave: true, text: "This page and the server don’t understand each other any more; it may have been updated.", button }];
  }
  return [];
}

/** A recovery link in the address is used at once and taken out of it. @returns {Promise<import("./views/frame.js").Notice[]>} */
async function recovered() {
  const code = recoveryCode(location.hash);
  if (!code) return [];
  // First of all: the link is a key, and the address is shown, bookmarked and synchronized.
  history.replaceState(null, "", location.pathname + home);
  if (code === "damaged") return [{ grave: true, text: "That recovery link is not complete. Copy the whole of it." }];
  try {
    if ((await whoever()) && !(await confirmed(anotherPlayer))) return [];
    await recover(code);
  } catch (error) {
    const text = error instanceof Declined ? "That recovery link doesn’t open anything. It may have been made by another server." : "The server didn’t answer, so the link wasn’t used. Open it again in a moment.";
    return [{ grave: true, text }];
  }
  return [{ text: "Welcome back: this browser is now the player of that link, with all games and the record." }];
}

const anotherPlayer = {
  title: "Become another player?",
  text: "This browser has a player of its own already. The link would put another in its place here; only a recovery link made before would bring the first one back.",
  no: "Stay who I am",
  yes: "Use the link",
};

/** The session comes first: the socket is opened in its name. @param {() => void} trouble */
async function session(trouble) {
  for (;;) {
    try {
      return await begin();
    } catch {
      trouble();
      await new Promise((go) => setTimeout(go, retryMs));
    }
  }
}

/** A control that has the focus has the keys. */
const controls = "a, button, input, select, textarea, summary, [role=radio]";

/** @param {Statecraft} app @param {KeyboardEvent} event */
function pressed(app, event) {
  if (event.defaultPrevented || event.repeat || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (/** @type {Element} */ (event.target).closest(controls) || document.querySelector("dialog[open]")) return;
  if (app.page?.key?.(event)) event.preventDefault();
}

/** An address may ask for a game of its own, such as ?seed=12; with a game in it already, it asks for that one. @param {Statecraft} app */
async function asked(app) {
  if (app.route?.page !== "home" || !location.search) return;
  for (const game of games) {
    const wish = game.asked?.(new URLSearchParams(location.search));
    if (!wish) continue;
    const refusal = "refusal" in wish ? wish.refusal : await openFresh(app.socket, game, game.modes[0].mode, wish.settings);
    if (refusal) app.told = [{ grave: true, text: `${game.name} can’t be opened as the address asks. ${game.reasons?.[refusal] ?? inWords(refusal)}` }];
    app.changed();
  }
}

async function start() {
  element("main").replaceChildren();
  render(colophon, element("colophon"));
  element("skip").addEventListener("click", (event) => {
    event.preventDefault();
    element("main").focus();
  });
  if (!("WebSocket" in window)) {
    const words = "This browser has no WebSockets, which a live game needs.";
    render(sheet("Statecraft", sentence(words)), element("main"));
    return;
  }
  const told = await recovered();
  await session(() => render(notices(connection("trouble")), element("notices")));
  const url = new URL("/ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const app = new Statecraft(new Socket(url.href, { changed: () => app.changed(), renew: begin }));
  app.told = told;
  addEventListener("hashchange", () => {
    if (recoveryCode(location.hash)) location.reload();
    else app.turn();
  });
  document.addEventListener("keydown", (event) => pressed(app, event));
  app.go();
  app.meeting.begin();
  await asked(app);
}

void start();
