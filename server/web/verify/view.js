// "How fair was this?" for people: a report as headings, lists and a table. Draws; every judgement is index.js's.
import { cast } from "../art/cast.js";
import { element } from "./element.js";
import { check, games } from "./index.js";
import { limits } from "./limits.js";
import { paged } from "./paged.js";
import { held as heldKey, placed } from "./proof_view.js";
import { checkProof, isProof } from "./proof.js";
import { capital } from "./words.js";

/** @typedef {import("./rules.js").Cell} Cell */
/** @typedef {import("./rules.js").Row} Row */
/** @typedef {import("./index.js").Report} Report */
/** @typedef {import("./index.js").Shown} Shown */
/**
 * @typedef {object} Options what the browser of a player knows of its own
 * @property {string} [heldHead] the last hash, in hex, that it saw while the game was played
 * @property {string | null} [player] its player's id, in hex
 * @property {(opening: string) => string} [entropy] from the hash of `Opened` to the entropy it brings there, both in hex
 * @property {import("./proof_view.js").Known} [ledger] what it knows of the ledger
 */
/** @typedef {"none" | "same" | "earlier" | "other"} Held how the held hash stands to this file */
/** @typedef {"none" | "own" | "foreign"} Brought whose entropy the player's seat brought */

const shortDigits = 8;
const pageBattles = 50;
const pageEvents = 100;

/**
 * Checks a saved game, or a proof with one in it, and shows what came of it, in place of what the container held.
 * @param {HTMLElement} container
 * @param {string} text of the saved file
 * @param {Options} [options]
 * @returns {HTMLElement} the heading, which can take the focus
 */
export function show(container, text, options = {}) {
  const { heldHead, ledger } = options;
  const proven = isProof(text) ? checkProof(text) : null;
  const known = proven && heldKey(proven, ledger);
  const report = proven?.report ?? check(text);
  const held = compared(report, heldHead);
  const brought = whose(report, options);
  const unplaced = proven?.failure ?? null;
  const heading = element("h2", { tabindex: "-1" }, headline(report, held, brought, proven !== null, unplaced !== null || known === "other"));
  const good = report.ok && held !== "other" && brought !== "foreign" && unplaced === null && known !== "other";
  const sections = [
    element("header", { class: good ? (report.over ? "sc-good" : "sc-open") : "sc-bad" }, stamp(good, report.over), heading, lede(report)),
    fault(report),
    proven && known ? placed(proven, known) : null,
    checks(report),
    battles(report),
    dealt(report),
    lastHash(report, held, heldHead),
    ownEntropy(brought),
    secrets(report),
    events(report),
    notProven(proven !== null && good),
  ];
  container.replaceChildren(element("article", { class: "sc-verify" }, ...sections));
  return heading;
}

/**
 * @param {Report} report
 * @param {string | undefined} heldHead
 * @returns {Held}
 */
function compared(report, heldHead) {
  if (!heldHead) return "none";
  if (heldHead === report.headHash) return "same";
  return report.facts.some((fact) => fact.hash === heldHead) ? "earlier" : "other";
}

/** @param {Report} report @param {Options} options @returns {Brought} */
function whose(report, { player, entropy }) {
  const opened = report.facts.find((fact) => fact.type === "Opened");
  const seated = report.facts.find((fact) => fact.type === "Seated" && of(fact, "player") === player);
  const mixed = report.facts.find((fact) => fact.type === "Mixed" && seated && of(fact, "seat") === of(seated, "seat"));
  if (!player || !entropy || !opened || !mixed) return "none";
  return of(mixed, "entropy") === entropy(opened.hash) ? "own" : "foreign";
}

/** @param {Shown} fact @param {string} name */
function of(fact, name) {
  return fact.fields.find((each) => each.name === name)?.value;
}

/** @param {Report} report @param {Held} held @param {Brought} brought @param {boolean} proof @param {boolean} unplaced */
function headline({ ok, over, failure }, held, brought, proof, unplaced) {
  if (failure && failure.version === null) return proof ? "This is not a proof of a game" : "This is not a saved game";
  if (failure) return `This game does not check out: event ${failure.version}`;
  if (held === "other") return "This is not the game that your browser saw";
  if (brought === "foreign") return "The chance in this game is not yours";
  if (unplaced) return "This proof does not hold";
  return ok && over ? "Every check passed" : "Every check passed so far";
}

/** @param {boolean} good @param {boolean} over */
function stamp(good, over) {
  return element("span", { class: "sc-stamp", "aria-hidden": "true" }, good ? (over ? "✓" : "⋯") : "✗");
}

/** @param {Report} report */
function lede(report) {
  if (report.failure) {
    const before = report.events > 0 ? "The events before it passed the checks below; from there on nothing in this file can be relied on." : "Nothing in it could be checked.";
    return element("p", {}, `${report.failure.why} ${before}`);
  }
  const parts = [played(report), `Its log has ${report.events} events, and every one of them was checked here, in your browser.`];
  if (report.openDeal) parts.push(`It is an open deal: its settings fix every card, so that anybody could know them, and it counts nowhere.`);
  if (!report.over) parts.push(report.openDeal ? "It isn’t over, or the file stops before its end." : "It isn’t over, or the file stops before its end: what needs the secret can be checked once the secret stands in the log.");
  return element("p", {}, parts.join(" "));
}

/** How a game of any kind may end, in words as `Told` has them. @type {import("./rules.js").Told["endings"]} */
const endings = {
  resigned: { won: "won because the other side resigned" },
  time: { won: "won on time" },
  both_late: { drawn: "Both sides were late, so both lost." },
  lost: { drawn: "The operator lost a part of it that had been shown, so it has no result: that counts against the operator." },
  void: { drawn: "It is void: it ended before any card was dealt." },
};

/** Who played what, and how it ended. @param {Report} report */
function played(report) {
  const { told } = games[report.rules];
  const names = seatNames(report);
  const who = `${told.title(report.mode, report.settings)}, ${againstHouse(report) ? `against ${names[1]}` : "between two players"}.`;
  const reason = field(report, "Finished", "reason");
  if (reason === null) return who;
  const winner = field(report, "Finished", "winner");
  const ending = { ...endings, ...told.endings }[reason] ?? {};
  if (winner === "nobody") return `${who} ${ending.drawn ?? "Nobody won."}`;
  return `${who} ${capital(names[Number(winner)])} ${ending.won ?? "won"}.`;
}

/**
 * @param {Report} report
 * @param {string} type
 * @param {string} name
 * @param {number} [nth]
 */
function field(report, type, name, nth = 0) {
  const fact = report.facts.filter((each) => each.type === type)[nth];
  return fact?.fields.find((each) => each.name === name)?.value ?? null;
}

/** @param {Report} report */
function againstHouse(report) {
  return games[report.rules].modes[report.mode]?.people.length === 1;
}

/** Who sits there, as within a sentence. @param {Report} report */
function seatNames(report) {
  if (!againstHouse(report)) return ["the first player", "the second player"];
  const slug = field(report, "Seated", "rival", 1);
  return ["the player", cast.find((steward) => steward.slug === slug)?.name ?? "the computer"];
}

/** @param {string} title @param {...(Node | string | null)} content */
function section(title, ...content) {
  return element("section", {}, element("h3", {}, title), ...content);
}

/** @param {string} digits long hex, shown short until asked for */
function short(digits) {
  if (digits.length <= shortDigits) return element("code", {}, digits);
  const summary = element("summary", { title: "Show every digit" }, element("code", {}, digits.slice(0, shortDigits) + "…"));
  return element("details", { class: "sc-short" }, summary, element("code", { class: "sc-digits" }, digits));
}

/** @param {readonly (readonly [string, Node | string])[]} rows */
function terms(rows) {
  return element("dl", {}, ...rows.map(([term, value]) => element("div", {}, element("dt", {}, term), element("dd", {}, value))));
}

/** @param {string} value */
function code(value) {
  return element("code", { class: "sc-digits" }, value);
}

/** @param {Report} report */
function fault({ failure }) {
  if (!failure) return null;
  const where = failure.version === null ? "The file’s first line" : `Event ${failure.version}`;
  return section("What is wrong", terms([
    ["Where", where], ["Expected", code(failure.expected)], ["Found", code(failure.found)],
  ]));
}

/** @param {Report} report */
function checks(report) {
  if (report.checks.length === 0) return null;
  const items = report.checks.map(({ what, count, ok }) =>
    element("li", { class: ok ? "sc-good" : "sc-bad" },
      element("span", { class: "sc-mark", "aria-hidden": "true" }, ok ? "✓" : "✗"),
      element("span", {}, what),
      element("span", { class: "sc-count" }, ok ? times(count) : count === 0 ? "failed" : `failed after ${count}`)));
  return section("What was checked", element("ul", { class: "sc-checks", role: "list" }, ...items));
}

/** @param {number} count */
function times(count) {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** @param {Report} report */
function battles(report) {
  if (report.battles.length === 0) return null;
  const { told } = games[report.rules];
  const names = seatNames(report).map(capital);
  const between = !againstHouse(report);
  const columns = ["Battle", ...told.columns(names, between)];
  const head = element("thead", { role: "rowgroup" },
    element("tr", { role: "row" }, ...columns.map((name) => element("th", { scope: "col", role: "columnheader" }, name))));
  const table = element("table", { role: "table", "aria-label": "Battle by battle" });
  /** @param {number} from @param {number} to */
  const drawn = (from, to) =>
    table.replaceChildren(head, ...grouped(report.battles.slice(from, to).map((battle) => told.row(battle, names)), columns));
  // The battle at fault is the last that was looked at.
  const at = report.ok ? 0 : report.battles.length - 1;
  const pages = paged("battles", report.battles.length, pageBattles, at, drawn);
  return section("Battle by battle", element("p", {}, told.explained(report.battles, between)), pages, table);
}

/** @param {readonly Row[]} rows @param {readonly string[]} columns */
function grouped(rows, columns) {
  return [...new Set(rows.map((row) => row.group))].map((group) => {
    const title = group === null ? null : element("tr", { role: "row", class: "sc-round" },
      element("th", { scope: "rowgroup", role: "rowheader", colspan: String(columns.length) }, group));
    const own = rows.filter((row) => row.group === group);
    return element("tbody", { role: "rowgroup" }, title, ...own.map((row) => battleRow(row, columns)));
  });
}

/** @param {Row} row @param {readonly string[]} columns */
function battleRow({ title, cells, bad }, columns) {
  return element("tr", { role: "row", class: bad ? "sc-bad" : "" },
    element("th", { scope: "row", role: "rowheader" }, title),
    ...cells.map((cell, at) => element("td", { role: "cell", "data-label": columns[at + 1] }, typeof cell === "string" ? cell : short(cell.digits))));
}

/** @param {Report} report */
function dealt(report) {
  if (!report.deal) return null;
  const { told } = games[report.rules];
  const names = seatNames(report).map(capital);
  const lists = report.deal.map((cards, seat) =>
    element("div", {}, element("h4", {}, names[seat]),
      element("ul", { class: "sc-hand", role: "list" }, ...cards.map((card) => element("li", {}, told.cardName(card))))));
  const both = element("div", { class: "sc-hands" }, ...lists);
  if (!told.dealtFolded) return section(told.dealt, both);
  return element("details", { class: "sc-more" }, element("summary", {}, told.dealt), both);
}

/**
 * @param {Report} report
 * @param {Held} held
 * @param {string | undefined} heldHead
 */
function lastHash(report, held, heldHead) {
  if (report.headHash === "") return null;
  const seen = report.facts.find((fact) => fact.hash === heldHead)?.version;
  const words = {
    none: "This browser holds no hash of this game to compare it with.",
    same: "It is the one that this browser saw while the game was played ✓",
    earlier: `This browser last saw event ${seen} of the game, with the same hash as here ✓`,
    other: "This browser saw another hash, which stands nowhere in this file: its history is not the one you were shown ✗",
  }[held];
  const which = report.ok ? "The last hash" : "The last hash that fits the chain";
  return section(`${which}, that of event ${report.events}`, element("p", {}, code(report.headHash)),
    element("p", { class: held === "other" ? "sc-bad" : held === "none" ? "" : "sc-good" }, words),
    held === "other" ? element("p", {}, "It saw ", code(heldHead ?? "")) : null);
}

/** @param {Brought} brought */
function ownEntropy(brought) {
  if (brought === "none") return null;
  const words = {
    own: "The entropy that your seat brought is the one this browser made, after the server had bound itself to its secret ✓",
    foreign:
      "The entropy that your seat brought isn’t the one this browser made ✗ Unless you began this game elsewhere without a recovery link, or cleared " +
      "this browser’s data since, somebody else chose it, and whoever knew the server’s secret could choose the deal.",
  }[brought];
  return section("Your own chance", element("p", { class: brought === "own" ? "sc-good" : "sc-bad" }, words));
}

/** @param {Report} report */
function secrets(report) {
  const secret = field(report, "Unsealed", "secret");
  const entropies = report.facts.filter((fact) => fact.type === "Mixed").map((fact) =>
    /** @type {const} */ ([`Entropy of seat ${fact.fields[0].value}`, code(fact.fields[1].value)]));
  /** @type {(readonly [string, Node])[]} */
  const rows = [["Game", code(report.game)]];
  if (secret) rows.push(["The secret, S", code(secret)]);
  rows.push(...entropies);
  if (report.seed) rows.push(["The seed, from which all chance comes", code(report.seed)]);
  if (report.game === "") return null;
  return element("details", { class: "sc-more" }, element("summary", {}, "Secret, entropy and seed"), terms(rows));
}

/** @param {Report} report */
function events(report) {
  if (report.facts.length === 0) return null;
  const list = element("ol", { role: "list" });
  const item = (/** @type {Shown} */ fact) => element("li", { class: fact.version === report.failure?.version ? "sc-bad" : "" }, eventDetails(fact));
  const at = report.failure ? Math.min(report.failure.version ?? 1, report.facts.length) - 1 : 0;
  const pages = paged("events", report.facts.length, pageEvents, at, (from, to) => list.replaceChildren(...report.facts.slice(from, to).map(item)));
  return element("details", { class: "sc-more" }, element("summary", {}, "Every event of the log"), pages, list);
}

/** @param {Shown} fact */
function eventDetails(fact) {
  const date = new Date(Number(fact.at));
  const when = Number.isNaN(date.getTime()) ? fact.at : date.toISOString();
  /** @type {(readonly [string, Node])[]} */
  const rows = [...fact.fields, { name: "time", value: when }, { name: "cause", value: fact.cause }, { name: "hash", value: fact.hash }]
    .map(({ name, value }) => [name, code(value)]);
  return element("details", {}, element("summary", {}, `${fact.version}. ${fact.type}`), terms(rows));
}

/** @param {boolean} placed whether the game's place in the ledger is proved */
function notProven(placed) {
  const left = placed ? limits.filter((limit) => !limit.startsWith("until there is a ledger")) : limits;
  return section("What this does not prove", element("p", {}, "No file can show:"),
    element("ul", {}, ...left.map((limit) => element("li", {}, limit))));
}
