// Questions that must be answered before anything happens.
import { html, render } from "./vendor/lit/lit-html.js";

/**
 * Asks once. Escape and the first button, which has the focus, say no.
 * @param {{title: string, text: string, no: string, yes: string}} words
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, no, yes }) {
  const dialog = document.createElement("dialog");
  dialog.className = "question";
  dialog.setAttribute("aria-labelledby", "question-title");
  dialog.setAttribute("aria-describedby", "question-text");
  const close = (/** @type {string} */ answer) => () => dialog.close(answer);
  render(
    html`
      <h2 id="question-title">${title}</h2>
      <p id="question-text">${text}</p>
      <div class="buttons">
        <button class="button" autofocus @click=${close("no")}>${no}</button>
        <button class="button grave" @click=${close("yes")}>${yes}</button>
      </div>
    `,
    dialog,
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    });
  });
}
