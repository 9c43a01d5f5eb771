// The page on its own: a saved game or a proof is chosen or dropped, and never leaves the browser.
import { known } from "../ledger.js";
import { textOf } from "./chain.js";
import { show } from "./view.js";

const fileBytesMax = 16 * 1024 * 1024;

const choice = /** @type {HTMLInputElement} */ (document.getElementById("file"));
const drop = /** @type {HTMLElement} */ (document.getElementById("drop"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const result = /** @type {HTMLElement} */ (document.getElementById("result"));

/** @param {File | null | undefined} file */
async function open(file) {
  if (!file) return;
  if (file.size > fileBytesMax) {
    result.replaceChildren();
    status.textContent = `${file.name} is too large for a saved game.`;
    return;
  }
  const heading = show(result, textOf(new Uint8Array(await file.arrayBuffer())), { ledger: known() });
  status.textContent = `${file.name}: ${heading.textContent}.`;
  heading.focus();
}

choice.addEventListener("change", async () => {
  await open(choice.files?.[0]);
  choice.value = ""; // the same file can be chosen again after it was changed
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) drop.classList.remove("over");
});
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  await open(event.dataTransfer?.files[0]);
});
