// A player's page: trophies as pictures, badges, streaks, ranks, rivals, luck, and the games behind them all.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { called, day, grouped, ladderOf, measureName, ordinal, percent, share, valueOf } from "../ladders.js";
import { boards, home, toBoard, toFair, toLeaf, toPlayer, toReplay } from "../route.js";
import { metal } from "./boards.js";
import { picture, steward } from "./opponent.js";
import { sentence, sheet } from "./frame.js";
import { settings } from "./settings.js";
import { badge, cabinet } from "./trophies.js";

/** @typedef {import("../page_player.js").PlayerPage} Page */
/** @typedef {import("../page_player.js").PlayerRecord} PlayerRecord */
/** @typedef {import("../page_player.js").LadderRecord} LadderRecord */
/** @typedef {import("../page_player.js").Past} Past */
/** @typedef {{older: () => void, befriend: () => void}} Acts */

/** @param {Page} page @param {Acts} acts */
export function draw(page, acts) {
  const { record, why } = page;
  if (why) return sheet("No record here", sentence(why, boards, "To the leaderboards"));
  if (!record) return sheet(page.own ? "Your page" : "A player", html`<p class="lead">Looking it up …</p>`);
  const played = record.ladders.length + record.luck.length + page.games.length > 0;
  return html`
    <div class="player-page">
      <header>
        <p class="kicker">${page.own ? "Your record" : "A player’s record"}</p>
        <h1 tabindex="-1">${called(record.player, record.name)}</h1>
        <p class="quiet identity">Known here as <code>${record.player}</code></p>
        ${page.own ? nothing : html`<button class="button small" aria-pressed=${page.friend ? "true" : "false"} @click=${acts.befriend}>${page.friend ? "On your list of friends" : "Put on your list of friends"}</button>`}
      </header>
      ${record.barred ? html`<p class="notice grave">The operator keeps ${page.own ? "you" : "this player"} out of games that count, and off the boards: ${record.barred}</p>` : nothing}
      ${played ? nothing : html`<p class="lead">${page.own ? "Your first finished game will stand here." : "No finished game of this player stands in the ledger."}</p>${page.own ? html`<p><a class="more" href=${home}>To the desks</a></p>` : nothing}`}
      ${record.ladders.map((each) => ladder(each, record))}
      ${rivals(record)}
      ${luck(record)}
      ${history(page, acts)}
      ${page.own ? settings(page.settings, record) : nothing}
      <p class="quiet stand">All of this follows from ${grouped(record.as_of)} signed entries of the ledger.</p>
    </div>
  `;
}

// ---------------------------------------------------------------- a ladder

/** @param {LadderRecord} row @param {PlayerRecord} record */
function ladder(row, record) {
  const { ladder, colour } = row;
  const ranks = record.ranks.filter((each) => each.ladder === ladder);
  return html`
    <section class="ladder-record" aria-labelledby="of-${ladder}">
      <h2 id="of-${ladder}" class="section">${ladderOf(ladder).name}${metal(colour)}</h2>
      ${colour ? cabinet(row.trophies, colour) : nothing}
      ${colour ? badges(row, colour) : nothing}
      <dl class="facts">
        <div><dt>Games</dt><dd>${grouped(row.games)}</dd></div>
        <div><dt>Wins</dt><dd>${grouped(row.wins)}</dd></div>
        ${row.draws ? html`<div><dt>Draws</dt><dd>${grouped(row.draws)}</dd></div>` : nothing}
        <div><dt>Won of all</dt><dd>${share(row.win_rate)}</dd></div>
        <div><dt>Streak now</dt><dd>${row.streak}</dd></div>
        <div><dt>Best streak</dt><dd>${row.best_streak}</dd></div>
      </dl>
      ${imported(row)}
      ${ranks.length ? html`
        <ul class="ranks" aria-label="Ranks">
          ${ranks.map(({ measure, rank, size, value }) => html`
            <li><a href=${toBoard(ladder, measure, "all", { of: "around", player: record.player })}><b>${ordinal(rank)}</b> of ${grouped(size)} by ${measureName(measure).toLowerCase()}</a> <span class="quiet">${valueOf(measure, value)}</span></li>
          `)}
        </ul>` : nothing}
    </section>
  `;
}

/** Only the highest of each kind; all stay recorded. @param {LadderRecord} row @param {string} colour */
function badges({ streak_badge: streak, win_rate_badge: rate }, colour) {
  if (!streak && !rate) return nothing;
  return html`
    <ul class="badges" aria-label="Badges">
      ${streak ? badge(String(streak.milestone), "in a row", `earned ${day(streak.at_ms)}`, colour) : nothing}
      ${rate ? badge(`${rate.milestone}\u00a0%`, "won", `earned ${day(rate.at_ms)}`, colour) : nothing}
    </ul>
  `;
}

/** @param {LadderRecord} row */
function imported({ imported: { games, wins, stars }, ladder }) {
  if (!games && !stars) return nothing;
  const old = games ? `${grouped(games)} ${games === 1 ? "game" : "games"} with ${grouped(wins)} ${wins === 1 ? "win" : "wins"} were brought in from an older site and count in the share of wins. ` : "";
  const bronze = stars ? `${grouped(stars)} of the ${ladderOf(ladder).metal ?? ""} stars ${stars === 1 ? "is an old win" : "are old wins"}.` : "";
  return html`<p class="imported"><span class="import-mark">Imported</span> ${old}${bronze}</p>`;
}

// ---------------------------------------------------------------- rivals and luck

/** @param {PlayerRecord} record */
function rivals({ rivals }) {
  if (!rivals.length) return nothing;
  const kept = [...new Set(rivals.map((row) => row.ladder))];
  return html`
    <section aria-labelledby="rivals">
      <h2 id="rivals" class="section">Rivals</h2>
      ${kept.map((ladder) => html`
        <table class="record rivals">
          <caption>${ladderOf(ladder).short}${metal(ladderOf(ladder).metal)}</caption>
          <thead><tr><th scope="col">Rival</th><th scope="col">Games</th><th scope="col">Wins</th><th scope="col">Win %</th></tr></thead>
          <tbody>
            ${rivals.filter((row) => row.ladder === ladder).sort((a, b) => b.games - a.games || b.wins - a.wins).map((row) => html`
              <tr>
                <th scope="row"><img class="portrait" src=${picture(row.rival)} alt="" width="32" height="32" loading="lazy" /><span>${steward(row.rival).name}${row.imported.games ? html` <span class="import-mark">${grouped(row.imported.games)} imported</span>` : nothing}</span></th>
                <td>${grouped(row.games)}</td><td>${grouped(row.wins)}</td><td>${percent(row.win_rate)}</td>
              </tr>
            `)}
          </tbody>
        </table>
      `)}
    </section>
  `;
}

/** @param {PlayerRecord} record */
function luck({ luck }) {
  if (!luck.length) return nothing;
  return html`
    <section aria-labelledby="luck">
      <h2 id="luck" class="section">War against the computer</h2>
      <table class="record">
        <caption class="unseen">War against the computer</caption>
        <thead><tr><th scope="col">Game</th><th scope="col">Games</th><th scope="col">Wins</th><th scope="col">Draws</th></tr></thead>
        <tbody>${luck.map((row) => html`<tr><th scope="row">${ladderOf(row.ladder).name}</th><td>${grouped(row.games)}</td><td>${grouped(row.wins)}</td><td>${grouped(row.draws)}</td></tr>`)}</tbody>
      </table>
      <p class="quiet">It is luck, so it is counted and compared with nobody’s.</p>
    </section>
  `;
}

// ---------------------------------------------------------------- finished games

/** @type {Readonly<Record<string, string>>} */
const results = { won: "Won", lost: "Lost", drawn: "Drawn", void: "Void", left: "Left", annulled: "Annulled" };

/** @param {Page} page @param {Acts} acts */
function history({ games, cursor, fetching }, { older }) {
  if (!games.length) return nothing;
  return html`
    <section id="history" aria-labelledby="history-title">
      <h2 id="history-title" class="section">Finished games</h2>
      <table class="record history">
        <caption class="unseen">Finished games, the newest first</caption>
        <thead><tr><th scope="col">Game</th><th scope="col">Result</th><th scope="col">Look</th></tr></thead>
        <tbody>${games.map(past)}</tbody>
      </table>
      ${cursor === null ? nothing : html`<button class="button" aria-disabled=${fetching ? "true" : "false"} @click=${older}>${fetching ? "Fetching …" : "Older games"}</button>`}
    </section>
  `;
}

/** @param {Past} game */
function past({ game, ladder, opponent, result, counts, at_ms, index }) {
  return html`
    <tr>
      <th scope="row">
        ${against(opponent)}
        <span class="quiet about">${ladderOf(ladder).name}${counts ? "" : ", for nothing"} · <span class="nobreak">${day(at_ms)}</span></span>
      </th>
      <td><b class="outcome ${result}">${results[result] ?? result}</b><span class="quiet entry">entry <a href=${toLeaf(index)}>${grouped(index)}</a></span></td>
      <td class="look"><a href=${toReplay(game)}>Replay<span class="unseen"> of the game ${words(opponent)}, entry ${index}</span></a> <a href=${toFair(game)}>Verify<span class="unseen"> the game ${words(opponent)}, entry ${index}</span></a></td>
    </tr>
  `;
}

/** @param {Past["opponent"]} opponent */
function against({ player, name, rival }) {
  if (player) return html`against <a href=${toPlayer(player)}>${called(player, name)}</a>`;
  return words({ player, name, rival });
}

/** @param {Past["opponent"]} opponent */
function words({ player, name, rival }) {
  if (player) return `against ${called(player, name)}`;
  return rival ? `against ${steward(rival).name}` : "against the computer";
}
