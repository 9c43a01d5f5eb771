// The table of War, for its three variants: a pure function of what the page knows, and the values by which the page knows them.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { repeat } from "../vendor/lit/directives/repeat.js";
import { lifeFacts } from "../verify/game.js";
import { inWords } from "../reasons.js";
import { papers as afterwards, strip } from "./people.js";
import { back } from "./cards.js";
import { face, rankOf, spokenCard } from "./playing_cards.js";
import { register } from "./war_register.js";
import { frontispiece, panel, record, seal } from "./war_home.js";
import { how } from "./war_how.js";
import { WarSitting } from "./war_sitting.js";
import { chosen, seedOf, variants } from "./war_variants.js";
import { brief, counted, lying, news, reason, result, sentence, several, sides } from "./war_words.js";

/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {import("../games.js").Acts} Acts */
/** @typedef {import("./war_variants.js").Variant} Variant */
/** @typedef {import("./war_words.js").Position} Position */

/** @type {Record<string, string>} */
const reasons = { wrong_battle: "That battle is turned already, perhaps in another tab. This is the next one." };

/** @param {Variant} variant @returns {import("../games.js").GameView} */
const game = (variant) => ({
  rules: variant.rules,
  name: variant.name,
  modes: [{ mode: "house", name: variant.name }],
  facts: {
    Readied: ["seat", "through"],
    Turned: ["battle", "cards"],
    Laid: ["battle", "counts"],
    Taken: ["battle", "seat", "count"],
  },
  // Of thousands of battles the last frame's are enough: the table tells the rest.
  keep: (kept, fresh) => [...kept.filter(({ type }) => type in lifeFacts), ...fresh],
  luck: true,
  news,
  reasons,
  owes: ({ position }, seat) => position.through[seat] < position.battle,
  clocks: [{ setting: "turn_seconds", line: "Time for a turn", values: [5, 15, 60, 3600] }],
  title,
  draw: (seen, acts, sitting) => draw(variant, seen, acts, sitting),
  sit: (doings) => new WarSitting(variant, doings),
  settings: () => chosen(variant),
  query: (table) => (variant.seed(table) === null ? "" : `?seed=${variant.seed(table)}`),
  asked: (query) => asked(variant, query),
  panel: (desk, _, acts) => panel(variant, desk, acts),
});

/** @type {import("../games.js").Shelf} */
export const war = {
  id: "war",
  kind: "game-war",
  name: "War",
  line: "Fifty-two cards, half each, face down. Both turn the top one, and the higher takes both; a tie is a war. Nobody chooses anything: it is luck from the first card to the last.",
  games: variants.map(game),
  frontispiece,
  how,
  record: { path: "/api/me/luck", draw: record },
};

/** @param {Variant} variant @param {URLSearchParams} query */
function asked(variant, query) {
  const text = query.get("seed");
  if (text === null || !variant.seeds) return null;
  const seed = seedOf(text);
  return seed === null ? { refusal: "bad_seed" } : { settings: { ...chosen(variant), seed } };
}

/** @param {Seen} seen */
function title(seen) {
  const { table } = seen;
  if (table.finished) return result(table.finished, seen);
  return table.position ? `Battle ${Math.max(1, table.position.battles)}` : "The deal";
}

/** What the page draws from, with the few things every part needs worked out. @typedef {ReturnType<typeof looked>} Look */

/** @param {Variant} variant @param {Seen} seen @param {WarSitting} sitting */
function looked(variant, seen, sitting) {
  /** @type {Position | null} */
  const position = seen.table.position;
  return {
    ...seen, variant, seen, sitting, position,
    me: seen.side,
    over: Boolean(seen.table.finished),
    /** Whether a turn would be taken now, but for one that is under way. */
    turning: Boolean(position) && !seen.table.finished && seen.seat !== null && !seen.leaving && seen.owing.includes(seen.seat),
    fast: sitting.auto && sitting.pace === "fast",
  };
}

/** @param {Variant} variant @param {Seen} seen @param {Acts} acts @param {WarSitting} sitting */
function draw(variant, seen, acts, sitting) {
  const look = looked(variant, seen, sitting);
  return html`
    <div class="game-war">
    <div class="desk war ${look.over ? "over" : ""}">
      <div class="board">
        ${plate(look)} ${look.people && !look.replayed ? strip(look) : nothing} ${field(look)} ${controls(look, acts)}
        ${look.over && sitting.closed ? closing(look, acts) : nothing}
      </div>
      ${register(look, acts)}
    </div>
    ${look.over && !sitting.closed ? ending(look, acts) : nothing}
    </div>
  `;
}

/** @param {Look} look */
function plate({ variant, position, seat, people, replayed }) {
  const against = people ? (seat === null ? "Two people: luck alone." : "Against a person: luck alone.") : "Against the computer: luck alone.";
  return html`
    <section class="plate" aria-label="The game">
      ${seal(variant)}
      <div class="plate-words">
        <h1 tabindex="-1">${variant.name}</h1>
        <p class="line">${seat === null && !replayed ? "You are watching. " : ""}${against}</p>
      </div>
      <dl class="counters">
        <div><dt>Battles</dt><dd id="battles">${position?.battles ?? 0}</dd></div>
        <div><dt>Wars</dt><dd id="wars">${position?.wars ?? 0}</dd></div>
      </dl>
    </section>
  `;
}

// ---- the battle

/** @param {Look} look */
function field(look) {
  const { position, me, fast } = look;
  // A new battle is new elements, so that its entrance plays once and for it alone.
  const key = `battle ${position?.battles ?? 0}`;
  return html`
    <section class="blotter field ${fast ? "fast" : ""} ${position && position.rows.length > 1 ? "at-war" : ""}" aria-label="The battle">
      <h2 class="plaque">${plaque(look)}</h2>
      ${[1 - me, me].map((seat) => html`
        <div class="side ${seat === me ? "mine" : "other"}">
          ${pile(look, seat)}
          ${repeat([key], (each) => each, () => row(look, seat))}
        </div>
      `)}
      <p class="verdict">${status(look)}</p>
    </section>
  `;
}

/** @param {Look} look */
function plaque({ position }) {
  if (!position) return "The deal";
  if (!position.battles) return "Dealt";
  const wars = position.rows.filter(([a, b]) => rankOf(a) === rankOf(b)).length;
  return html`Battle ${position.battles}${wars ? html`<span class="dot" aria-hidden="true"> · </span><span class="unseen">, </span>${wars > 1 ? `${wars} wars` : "War"}` : nothing}`;
}

/** @param {Look} look @param {number} seat */
function pile(look, seat) {
  const { position, me, sitting, turning, seat: mine, seen } = look;
  const { labels } = sides(seen);
  const count = position?.sizes[seat] ?? 0;
  const whose = seat === me ? labels.mine : labels.theirs;
  const stack = html`
    <span class="stack" .style=${`--deep:${Math.ceil(count / 7)}`}>${count ? back() : html`<span class="card place" aria-hidden="true"></span>`}</span>
  `;
  const label = html`<span class="pile-name">${whose}</span> <b id=${seat === me ? "mine" : "theirs"}>${position ? count : "–"}</b><span class="unseen"> ${count === 1 ? "card" : "cards"}</span>`;
  if (seat !== me || mine === null) return html`<div class="pile">${stack}<p class="pile-label">${label}</p></div>`;
  return html`
    <button class="pile deck" aria-disabled=${turning ? "false" : "true"} @click=${() => sitting.turnByHand()}>
      ${stack}<span class="pile-label">${label}<span class="unseen">: turn the top card</span></span>
    </button>
  `;
}

/** A seat's cards of the last battle. @param {Look} look @param {number} seat */
function row(look, seat) {
  const { position, me, newsFrom, table } = look;
  if (!position?.rows.length) return html`<div class="row empty"><span class="lying"><span class="card place" aria-hidden="true"></span></span></div>`;
  const { rows, laid, winner } = position;
  const won = winner === seat;
  const whose = sentence(seat !== me ? `${sides(look.seen).other}’s cards` : `${sides(look.seen).your} cards`);
  const slots = rows.flatMap((turned, at) => [shown(turned[seat]), ...(laid[at] ? [down(laid[at][seat], Math.max(...laid[at]))] : [])]);
  const fresh = newsFrom < Infinity && !table.finished;
  return html`
    <div class="row ${won ? "won" : winner === null ? "" : "lost"} ${fresh ? "fresh" : ""}" .style=${`--slots:${slots.length}`}>
      <ol class="slots" aria-label=${whose}>${slots}</ol>
      ${won ? html`<p class="takes"><span class="unseen">${sentence(seat === me ? sides(look.seen).your : `${sides(look.seen).other}’s`)} row wins and takes </span><span aria-hidden="true">Takes </span>${counted(lying(position), "card")}</p>` : nothing}
    </div>
  `;
}

/** @param {number} card */
const shown = (card) => html`<li class="slot"><span class="lying">${face(card)}</span><span class="unseen">${spokenCard(card)}</span></li>`;

/** Cards that nobody sees before the game is over. @param {number} count @param {number} room of the seat that laid more */
const down = (count, room) => html`
  <li class="slot laid" .style=${`--room:${room}`}>
    ${Array.from({ length: count }, (_, at) => html`<span class="lying" .style=${`--at:${at}`}>${back()}</span>`)}
    <span class="laid-count"><b>${count}</b><span class="unseen"> face down</span></span>
  </li>
`;

/** @param {Look} look */
function status(look) {
  const { position, table, facts, newsFrom, pending, leaving, sitting, seat, seen, people, owing } = look;
  if (leaving) return "Another game is being dealt …";
  if (table.finished && !position?.battles) return `${sentence(reason(table.finished, seen))}.`;
  if (!position && look.replayed) return "The cards are not dealt yet.";
  if (!position) return people ? "The cards are being shuffled, with both players’ chance mixed in." : "The cards are being shuffled, with your browser’s own chance mixed in.";
  const told = several(facts, newsFrom, seen) || (position.battles ? `${sentence(brief(position, seen))}.` : "");
  if (table.finished) return `${told} ${sentence(reason(table.finished, seen))}.`;
  if (told) return told;
  if (people && seat !== null && !owing.includes(seat)) return "Turned as soon as your opponent turns too.";
  if (pending) return "Turning …";
  if (sitting.auto) return "Cards turn by themselves.";
  return seat === null ? "Nothing is turned yet." : "Twenty-six cards each. Turn the first one.";
}

// ---- the controls

/** @param {Look} look @param {Acts} acts */
function controls(look, acts) {
  const { variant, sitting, over, seat, turning, leaving, refusal, pending, people, owing } = look;
  if (look.replayed) return nothing;
  if (seat === null) return html`<div class="hand-area"><p class="waiting">You are watching. Turning is up to the ${people ? "players" : "player"}.</p>${over ? nothing : html`<p><a class="more" href=${acts.links.replay}>Look back</a></p>`}</div>`;
  if (people && over) return nothing;
  const turned = people && look.position && !owing.includes(seat);
  const anew = over ? "Play again" : turned ? "Turned" : variant.turn;
  return html`
    ${refusal ? html`<p class="refusal">${reasons[refusal] ?? inWords(refusal)}</p>` : nothing}
    <div class="acts turns">
      ${people ? html`<button class="button quiet anew" @click=${acts.resign}>Resign</button>` : html`<button class="button quiet anew" aria-disabled=${leaving ? "true" : "false"} @click=${() => sitting.newGame()}>${variant.anew}</button>`}
      <button class="button primary confirm" aria-disabled=${turning || (over && !leaving) ? "false" : "true"} @click=${() => (over ? sitting.newGame() : sitting.turnByHand())}>${anew}</button>
      <div class="more-turns">
        ${variant.times > 1
          ? html`<button class="button" aria-disabled=${turning ? "false" : "true"} @click=${() => turning && sitting.turnByHand(variant.times)}>${pending?.command.times > 1 ? "Playing …" : `Play ${variant.times} battles`}</button>`
          : nothing}
        ${variant.auto
          ? html`
              <button class="button auto ${sitting.auto ? "on" : ""}" aria-disabled=${turning ? "false" : "true"} @click=${() => turning && sitting.toggle()}>${sitting.auto ? "Stop auto-play" : "Auto-play"}</button>
              <div class="choice-of" role="group" aria-label="Speed of auto-play">
                ${[["normal", "Normal"], ["fast", "Fast"]].map(([pace, words]) => html`<button class="button small" aria-pressed=${sitting.pace === pace ? "true" : "false"} @click=${() => sitting.setPace(/** @type {any} */ (pace))}>${words}</button>`)}
              </div>
            `
          : nothing}
      </div>
    </div>
  `;
}

// ---- the end

/** @param {Look} look @param {Acts} acts */
function ending(look, acts) {
  const { table, sitting, seat, position, seen } = look;
  const { finished } = table;
  const counts = position?.battles ? ` ${counted(position.battles, "battle")}, ${counted(position.wars, "war")}.` : "";
  return html`
    <dialog class="question result ${kind(look)}" id="result" aria-labelledby="ending" @close=${() => sitting.close()}>
      ${postmark(look)}
      <h2 id="ending" class="ending-title" tabindex="-1" autofocus>${result(finished, seen)}</h2>
      <p>${sentence(reason(finished, seen))}.${counts}</p>
      <div class="buttons">
        ${seat === null ? nothing : look.people ? afterwards(look, acts) : html`<button class="button primary" @click=${() => sitting.newGame()}>Play again</button>`}
        <button class="button" @click=${() => /** @type {HTMLDialogElement | null} */ (document.getElementById("result"))?.close()}>Close</button>
      </div>
      <p class="links">${papers(look, acts)}</p>
    </dialog>
  `;
}

/** What is left of the end when its dialog is closed. @param {Look} look @param {Acts} acts */
function closing(look, acts) {
  const { table, seen } = look;
  return html`
    <section class="closed-file" aria-label="The result">
      <p><b id="ending" tabindex="-1">${result(table.finished, seen)}.</b> ${sentence(reason(table.finished, seen))}.</p>
      ${look.people && look.seat !== null ? html`<p class="buttons">${afterwards(look, acts)}</p>` : nothing}
      <p class="links">${papers(look, acts)}</p>
    </section>
  `;
}

/** @param {Look} look @param {Acts} acts */
const papers = ({ id, variant, replayed }, { links }) => html`
  ${replayed ? nothing : html`<a class="more" href=${links.replay}>Replay</a>`}
  <a class="more" href=${links.fair}>How fair was this?</a>
  <a class="more" href=${links.file} download="${variant.rules.split("/")[0]}-${id.slice(0, 8)}.jsonl">Save game</a>
`;

/** @param {Look} look */
function kind({ table, seat }) {
  const { winner, reason: why } = table.finished;
  return why === "both_late" ? "defeat" : winner === null ? "void" : winner === (seat ?? 0) ? "victory" : "defeat";
}

/** The archive's mark on a closed file. @param {Look} look */
function postmark(look) {
  const { facts, table, seat } = look;
  const at = facts.find((fact) => fact.type === "Finished")?.at_ms;
  const day = at ? new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "";
  const { winner, reason: why } = table.finished;
  const word = why === "left" ? "Left" : why === "void" ? "Void" : why === "lost" ? "Annulled" : winner === null ? "Drawn" : seat === null ? "Closed" : winner === seat ? "Won" : "Lost";
  return html`<div class="postmark" aria-hidden="true"><span>Statecraft</span><b>${word}</b><span>${day}</span></div>`;
}
