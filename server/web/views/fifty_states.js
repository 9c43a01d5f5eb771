// The table of the Game of 50 States: a pure function of what the page knows, and the value by which the page knows this game.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { repeat } from "../vendor/lit/directives/repeat.js";
import { keepAll } from "../gamelog.js";
import { inWords } from "../reasons.js";
import { back, face, place, spokenCard, stateOf, tag } from "./cards.js";
import { battles } from "./fifty_states_battles.js";
import { index } from "./fifty_states_index.js";
import { difficulties, frontispiece, panel, record } from "./fifty_states_home.js";
import { review } from "./fifty_states_review.js";
import { how } from "./fifty_states_how.js";
import { hint, status } from "./fifty_states_status.js";
import { cards as counted, news, possessive, reason, result, sentence } from "./fifty_states_words.js";
import { between, names, opposite, small } from "./opponent.js";
import { papers, strip } from "./people.js";

/** @typedef {import("./fifty_states_battles.js").Battle} Battle */
/** @typedef {import("../games.js").Seen} Seen */
/** @typedef {import("../games.js").Acts} Acts */

/** @type {import("../games.js").GameView} */
const game = {
  rules: "fifty-states/1",
  name: "The Game of 50 States",
  modes: difficulties,
  facts: {
    Committed: ["seat", "battle", "seal"],
    Revealed: ["seat", "battle", "card", "salt"],
    Played: ["seat", "battle", "card"],
    Captured: ["seat", "battle", "card", "discarded"],
    RoundEnded: ["round"],
  },
  keep: keepAll,
  luck: false,
  play: (table, card) => ({ do: between(table) ? "Commit" : "Play", battle: table.position.battle, card }),
  owes: ({ position }, seat) => (position.seals.includes(null) ? position.seals[seat] === null : position.shown[seat] === null),
  news: (facts, from, seen) => news(facts, from, seen.seat, names(seen)),
  clocks: [
    { setting: "commit_seconds", line: "Time to choose a card", values: [30, 15, 120, 3600] },
    { setting: "reveal_seconds", line: "Time to show it", values: [15, 15, 60, 3600] },
  ],
  title,
  draw,
  review,
  hand: (cards) => html`<ul class="tags">${cards.map(tag)}</ul>`,
  panel,
};

/** @type {import("../games.js").Shelf} */
export const fiftyStates = {
  id: "50-states",
  kind: "game-states",
  name: "The Game of 50 States",
  line: "Seven states against seven. The higher number wins the match and leaves; the loser changes sides. Your rival seals its card before you choose.",
  games: [game],
  frontispiece,
  how,
  record: { path: "/api/me/rivals", draw: record },
};

/** @param {Seen} seen */
function title(seen) {
  const { table, seat } = seen;
  if (table.finished) return result(table.finished, seat, names(seen));
  if (!table.position) return "The deal";
  const { round, match } = table.position;
  return `${seat === null || !game.owes?.(table, seat) ? "" : "Your move · "}Round ${round}, match ${match}`;
}

/** What the page draws from, with the few things every part needs worked out. @typedef {ReturnType<typeof looked>} Look */

/** @param {Seen} seen */
function looked(seen) {
  const { table, facts, seat, chosen, pending, sealed } = seen;
  const all = battles(facts);
  const { people, side: me } = seen;
  const sent = pending && ["Play", "Commit"].includes(pending.command.do) ? pending.command.card : null;
  const held = sealed ?? chosen ?? sent;
  const over = Boolean(table.finished);
  const rival = opposite(seen);
  return {
    ...seen, all, me, rival, over, held,
    short: rival.short,
    /** Our side, or the one we look from, within a sentence. */
    mine: seat !== null ? "you" : (seen.called[me] ?? small(names(seen)[me])),
    position: table.position,
    /** The reveal that lies on the table: until the next card is held out. @type {Battle | undefined} */
    last: over || (held === null && !(people && seat === null && table.position?.seals.some(Boolean))) ? all[all.length - 1] : undefined,
  };
}

/** @param {Seen} seen @param {Acts} acts */
function draw(seen, acts) {
  const look = looked(seen);
  return html`
    <div class="game-states"><div class="desk ${look.over ? "over" : ""}">
      <div class="board">
        ${rivalPlate(look)} ${look.people && !look.replayed ? strip(look) : nothing} ${blotter(look)}
        ${look.over ? ending(look, acts) : look.seat === null ? watching(look, acts) : myHand(look, acts)}
      </div>
      ${index(look)}
    </div></div>
  `;
}

// ---- across the desk

/** @param {Look} look */
function rivalPlate({ rival, short, people, position, over, me }) {
  const other = 1 - me;
  const known = position?.known[other] ?? [];
  const hidden = (position?.sizes[other] ?? 0) - known.length;
  return html`
    <section class="rival" aria-label=${people ? "Across the table" : "Your rival"}>
      <img class="portrait" src=${rival.picture} alt="" width="72" height="72" />
      <div class="rival-words">
        <h1 tabindex="-1"><span class="unseen">The Game of 50 States${people ? ": " : " against "}</span>${rival.name}</h1>
        ${rival.line ? html`<p class="line">${rival.line}</p>` : nothing}
      </div>
      ${position && !over
        ? html`
            <div class="rival-hand">
              <h2 class="label">${sentence(possessive(short))} hand · ${counted(hidden + known.length)}</h2>
              <ul class="tags" aria-label="${sentence(possessive(short))} hand">
                ${known.map(tag)}
                ${Array.from({ length: hidden }, () => html`<li class="tag hidden" aria-hidden="true"></li>`)}
                ${hidden ? html`<li class="unseen">${counted(hidden)} nobody has seen</li>` : nothing}
              </ul>
            </div>
          `
        : nothing}
    </section>
  `;
}

// ---- the match

/** @param {Look} look */
function blotter(look) {
  const { position, me, short, over } = look;
  const [mine, theirs] = [position?.captured[me] ?? [], position?.captured[1 - me] ?? []];
  const bare = over || mine.length + theirs.length === 0;
  return html`
    <section class="blotter ${bare ? "bare" : ""} ${over ? "closed" : ""}" id="scene" aria-label="The match">
      <h2 class="plaque">${plaque(look)}</h2>
      <div class="pile theirs">${pile(`${sentence(possessive(short))} captures`, theirs)}</div>
      ${lastOrNext(look)}
      <div class="pile yours">${pile(look.seat === null ? `${sentence(possessive(look.mine))} captures` : "Your captures", mine)}</div>
      <p class="verdict">${status(look, names(look))}</p>
    </section>
  `;
}

/** @param {Look} look */
function plaque({ position, last, over, all }) {
  if (!position) return "The deal";
  if (over) return all.length ? html`After ${all.length} ${all.length === 1 ? "match" : "matches"}` : "Unplayed";
  const { round, match } = last ?? position;
  return html`Round ${round}<span class="dot" aria-hidden="true"> · </span><span class="unseen">, </span>Match ${match}`;
}

/** @param {Look} look */
function lastOrNext(look) {
  const { last, newsFrom, position } = look;
  // A new pair of cards is a new pair of elements, so that its entrance plays once and for it alone.
  const key = last ? `shown ${last.battle}` : `due ${position?.battle} ${look.held}`;
  const fresh = last && last.version > newsFrom;
  return repeat([key], (each) => each, () => html`
    <div class="pair ${fresh ? "fresh" : ""}">
      ${last ? [shown(look, last, 1 - look.me), shown(look, last, look.me)] : [sealed(look), heldOut(look)]}
    </div>
  `);
}

/** @param {Look} look @param {Battle} battle @param {number} seat */
function shown({ me, short, seat: mine, mine: ours }, battle, seat) {
  const won = battle.winner === seat;
  const whose = sentence(seat !== me ? possessive(short) : mine === null ? possessive(ours) : "your");
  const by = `by ${battle.winner !== me ? short : ours}`;
  const fate = won ? "Wins and leaves" : `Captured ${by}`;
  return html`
    <figure class="slot ${seat === me ? "mine" : "other"} ${won ? "won" : "lost"}">
      <div class="lying">${face(battle.cards[seat])}<span class="stamp" aria-hidden="true">${won ? "Wins" : "Captured"}</span></div>
      <figcaption><span class="unseen">${whose} ${spokenCard(battle.cards[seat])}: </span>${fate}</figcaption>
    </figure>
  `;
}

/** @param {Look} look */
function sealed({ position, short, over, me }) {
  const open = over ? null : (position?.shown[1 - me] ?? null);
  if (open !== null) return html`<figure class="slot other"><div class="lying">${face(open)}</div><figcaption>${sentence(possessive(short))} card<span class="unseen">: ${spokenCard(open)}</span></figcaption></figure>`;
  const seal = position?.seals[1 - me] && !over;
  return html`
    <figure class="slot other">
      <div class="lying">${seal ? html`${back()}<span class="wax" aria-hidden="true"></span>` : place("")}</div>
      <figcaption>${seal ? `Sealed by ${short}` : "No card yet"}</figcaption>
    </figure>
  `;
}

/** @param {Look} look */
function heldOut({ held, seat, me, pending, over, sealed: mine, position, people }) {
  const open = over ? null : (position?.shown[me] ?? null);
  if (open !== null && people) return html`<figure class="slot mine"><div class="lying">${face(open)}</div><figcaption>Shown<span class="unseen">: ${spokenCard(open)}</span></figcaption></figure>`;
  if (held === null && people && position?.seals[me] && !over) return html`<figure class="slot mine"><div class="lying">${back()}<span class="wax" aria-hidden="true"></span></div><figcaption>Sealed</figcaption></figure>`;
  if (held === null) {
    const words = seat === null || over ? "" : "Your card";
    return html`<figure class="slot mine"><div class="lying">${place(words)}</div><figcaption>${seat === null ? "Not played yet" : "Not chosen yet"}</figcaption></figure>`;
  }
  return html`
    <figure class="slot mine">
      <div class="lying ${pending ? "sent" : "held"}">${face(held)}${mine === null ? nothing : html`<span class="wax" aria-hidden="true"></span>`}</div>
      <figcaption>${mine !== null ? "Sealed: nobody sees it yet" : pending ? "On its way" : "Held out"}<span class="unseen">: ${spokenCard(held)}</span></figcaption>
    </figure>
  `;
}

/** @param {string} heading @param {readonly number[]} cards */
function pile(heading, cards) {
  return html`
    <h3 class="label">${heading}</h3>
    ${cards.length ? html`<ul class="tags">${cards.map(tag)}</ul>` : html`<p class="none">none this round</p>`}
  `;
}

// ---- your side

/** @param {Look} look @param {Acts} acts */
function myHand(look, acts) {
  const { hand, settled, held, pending, refusal, position, people, me } = look;
  if (!position) return html`<div class="hand-area"><p class="waiting">Seven cards are on their way to you.</p></div>`;
  /** Between people a card that was sealed is chosen for good. */
  const done = people !== null && position.seals[me] !== null;
  const ready = held !== null && !pending && !done;
  const sending = pending && ["Play", "Commit"].includes(pending.command.do);
  const verb = people ? "Seal" : "Confirm";
  return html`
    <section class="hand-area" aria-label="Your hand">
      <div class="hand-head">
        <h2 class="label">Your hand · ${counted(hand.length)}</h2>
        <p class="hint">${hint(look)}</p>
      </div>
      <div class="hand" role="radiogroup" aria-label="Choose a card" aria-busy=${settled ? "false" : "true"} @keydown=${(/** @type {KeyboardEvent} */ event) => move(event)}>
        ${repeat(hand, (card) => card, (card) => choice(look, acts, card))}
      </div>
      ${refusal ? html`<p class="refusal">${inWords(refusal)}</p>` : nothing}
      <div class="acts">
        <button class="button quiet" @click=${acts.resign}>Resign</button>
        <button class="button primary confirm" aria-disabled=${ready ? "false" : "true"} @click=${() => ready && acts.play(/** @type {number} */ (held))}>
          ${sending ? (people ? "Sealing …" : "Playing …") : done ? "Sealed" : held !== null ? html`${verb} <span class="confirm-card">${stateOf(held).name}</span>` : verb}
        </button>
      </div>
    </section>
  `;
}

/** @param {Look} look @param {Acts} acts @param {number} card */
function choice({ hand, held, pending, people, position, me }, acts, card) {
  const done = people !== null && position.seals[me] !== null;
  const chosen = card === held;
  const stop = held !== null && hand.includes(held) ? chosen : card === hand[0];
  const { name, statehood } = stateOf(card);
  return html`
    <div
      class="choice ${chosen ? "chosen" : ""}" role="radio" data-card=${card}
      aria-checked=${chosen ? "true" : "false"} aria-disabled=${pending || done ? "true" : "false"}
      aria-label="${name}, ${card}, ${statehood.slice(0, 4)}" tabindex=${stop ? "0" : "-1"}
      @click=${() => !done && acts.choose(card)}
    >${face(card)}</div>
  `;
}

/** The hand is one stop: arrows, Home and End walk inside, Enter and Space choose. @param {KeyboardEvent} event */
function move(event) {
  const group = /** @type {HTMLElement} */ (event.currentTarget);
  const choices = /** @type {HTMLElement[]} */ ([...group.querySelectorAll("[role=radio]")]);
  const at = choices.indexOf(/** @type {HTMLElement} */ (event.target));
  /** @type {Record<string, number>} */
  const goes = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: choices.length - 1 };
  if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter" || event.key === " ") choices[at].click();
  else if (event.key in goes) choices[(goes[event.key] + choices.length) % choices.length].focus();
  else return;
  event.preventDefault();
}

/** @param {Look} look @param {Acts} acts */
function watching({ short, people, replayed }, acts) {
  if (replayed) return nothing;
  const secret = people ? "what you see is all that anybody sees" : `${possessive(short)} next card is sealed`;
  return html`<div class="hand-area"><p class="waiting">You are watching. Hands stay secret until cards are played; ${secret}.</p><p><a class="more" href=${acts.links.replay}>Look back</a></p></div>`;
}

// ---- the end

/** @param {Look} look @param {Acts} acts */
function ending(look, acts) {
  const { table, seat, id, people } = look;
  const { finished } = table;
  const kind = finished.reason === "both_late" ? "defeat" : finished.winner === null ? "void" : finished.winner === seat ? "victory" : "defeat";
  const said = names(look);
  return html`
    <section class="ending ${kind}" aria-labelledby="ending">
      ${postmark(look, kind)}
      <div class="ending-words">
        <h2 id="ending" class="ending-title" tabindex="-1">${result(finished, seat, said)}</h2>
        <p>${sentence(reason(finished, seat, said, people !== null))}${finished.winner === null || finished.reason !== "all_cards" ? "" : ` ${rounds(look)}`}</p>
      </div>
      <div class="buttons">
        ${seat === null ? html`<a class="button primary" href=${acts.links.home}>Play a game yourself</a>` : people ? papers(look, acts) : html`<button class="button primary" @click=${acts.again}>Play again</button>`}
        ${look.replayed ? nothing : html`<a class="button" href=${acts.links.replay}>Replay</a>`}
        ${finished.reason === "void" || people ? nothing : html`<a class="button" href=${acts.links.review}>Review</a>`}
        <a class="button" href=${acts.links.fair}>How fair was this?</a>
        <a class="button quiet" href=${acts.links.file} download="fifty-states-${id.slice(0, 8)}.jsonl">Save game</a>
      </div>
    </section>
  `;
}

/** The archive's mark on a closed file. @param {Look} look @param {"victory" | "defeat" | "void"} kind */
function postmark({ facts, seat }, kind) {
  const at = facts.find((fact) => fact.type === "Finished")?.at_ms;
  const day = at ? new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "";
  const word = kind === "void" ? "Void" : seat === null ? "Closed" : kind === "victory" ? "Won" : "Lost";
  return html`<div class="postmark" aria-hidden="true"><span>Statecraft</span><b>${word}</b><span>${day}</span></div>`;
}

/** @param {Look} look */
function rounds({ all }) {
  const last = all[all.length - 1];
  return `It took ${last.round} ${last.round === 1 ? "round" : "rounds"} and ${all.length} matches.`;
}
