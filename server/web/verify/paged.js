// A list of thousands shown a page at a time, so that it doesn't become as many nodes.
import { element } from "./element.js";
import { capital } from "./words.js";

/**
 * Draws the page with the item at index `at`. A list that fits one page is drawn whole, and has no controls.
 * @param {string} what the items, in the plural
 * @param {number} count of all items
 * @param {number} size of a page
 * @param {number} at
 * @param {(from: number, to: number) => void} draw in place of what was drawn before: the items from one index up to another
 * @returns {HTMLElement | null} the controls
 */
export function paged(what, count, size, at, draw) {
  const pages = Math.ceil(count / size);
  let shown = Math.floor(at / size);
  const range = (/** @type {number} */ page) => /** @type {const} */ ([page * size, Math.min(count, (page + 1) * size)]);
  if (pages === 1) {
    draw(...range(0));
    return null;
  }
  const options = Array.from({ length: pages }, (_, page) => {
    const [from, to] = range(page);
    return element("option", { value: String(page) }, `${from + 1} to ${to}`);
  });
  const choice = element("select", {}, ...options);
  const label = element("label", {}, "Go to", choice);
  const where = element("output", {});
  const back = element("button", { type: "button" }, `Earlier ${what}`);
  const on = element("button", { type: "button" }, `Later ${what}`);
  const turn = (/** @type {number} */ page) => {
    shown = Math.max(0, Math.min(pages - 1, page));
    choice.value = String(shown);
    // Not `disabled`: the button that was pressed keeps the focus on the first and the last page.
    back.setAttribute("aria-disabled", String(shown === 0));
    on.setAttribute("aria-disabled", String(shown === pages - 1));
    const [from, to] = range(shown);
    where.textContent = `${capital(what)} ${from + 1} to ${to} of ${count}`;
    draw(from, to);
  };
  back.addEventListener("click", () => turn(shown - 1));
  on.addEventListener("click", () => turn(shown + 1));
  choice.addEventListener("change", () => turn(Number(choice.value)));
  turn(shown);
  return element("nav", { class: "sc-pages", "aria-label": `Pages of ${what}` }, back, on, where, label);
}
