// What stands around every page: masthead, notices, colophon, and the pages that are a few sentences.
import { html, nothing } from "../vendor/lit/lit-html.js";
import { home, how, lobby } from "../route.js";

/** @param {string} page */
export const masthead = (page) => html`
  <a class="wordmark" href=${home}><svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="m12 2.5 2.8 6.7 7.2.6-5.5 4.7 1.7 7L12 17.7l-6.2 3.8 1.7-7L2 9.8l7.2-.6z" /></svg>Statecraft</a>
  <nav aria-label="Pages">
    <a href=${home} aria-current=${page === "home" ? "page" : nothing}>Desks</a>
    <a href=${lobby} aria-current=${page === "lobby" || page === "tv" ? "page" : nothing}>Lobby</a>
    <a href=${how} aria-current=${page === "how" ? "page" : nothing}>How to play</a>
  </nav>
`;

/** @typedef {{text: string, grave?: boolean, passing?: boolean, button?: {words: string, act: () => void}}} Notice */

/** @param {readonly Notice[]} notices */
export const notices = (notices) =>
  notices.map(({ text, grave, passing, button }) => html`
    <p class="notice ${grave ? "grave" : passing ? "passing" : ""}"><span>${text}</span>${button ? html`<button class="button small" @click=${button.act}>${button.words}</button>` : nothing}</p>
  `);

export const colophon = html`
  <p>Every game is its own record, card by card. No money, no prizes, no tracking. <a href="/verify/">Check a saved game</a></p>
`;

/** The parts of a page that has several. @param {readonly {name: string, href: string, here: boolean}[]} parts */
export const chapters = (parts) => html`
  <nav class="chapters" aria-label="Games">
    ${parts.map(({ name, href, here }) => html`<a href=${href} aria-current=${here ? "page" : nothing}>${name}</a>`)}
  </nav>
`;

/**
 * A page of one column.
 * @param {string} heading
 * @param {unknown} content
 * @param {unknown} [above] a way back
 * @param {"" | "bare"} [kind] bare: what it holds brings its own paper
 */
export const sheet = (heading, content, above, kind = "") => html`
  <div class="sheet prose ${kind}">
    ${above ? html`<p class="way-back">${above}</p>` : nothing}
    <h1 tabindex="-1">${heading}</h1>
    ${content}
  </div>
`;

/** What only one game has, under the class that its style holds under. @param {string} kind @param {unknown} content */
export const wrapped = (kind, content) => html`<div class="prose ${kind}">${content}</div>`;

/** @param {string} text @param {string} [href] @param {string} [words] */
export const sentence = (text, href, words) => html`<p class="lead">${text}</p>${href ? html`<p><a class="more" href=${href}>${words}</a></p>` : nothing}`;
