// A proof's part of the report: where the game stands in the ledger, and how that fits what this browser knows of the ledger.
import { element } from "./element.js";
import { hex } from "./hash.js";
import { contradict } from "./note.js";

/** @typedef {import("./proof.js").Proven} Proven */
/** @typedef {{key: string | null, checkpoint: import("./note.js").Checkpoint | null}} Known the key and the last checkpoint that this browser holds */
/** @typedef {"none" | "key" | "tree" | "other"} Held nothing is known to compare with, the same key, the same key and tree, or another */

/** @param {Proven} proven @param {Known | undefined} known @returns {Held} */
export function held({ key, checkpoint }, known) {
  if (!checkpoint || !known?.key) return "none";
  if (known.key !== key || (known.checkpoint && contradict(known.checkpoint, checkpoint))) return "other";
  return known.checkpoint?.size === checkpoint.size ? "tree" : "key";
}

const inWords = {
  none: "This browser knows no key of the ledger. Compare this one with the one that its operator published, got by another way than this file.",
  key: "It is the key that this browser knows the ledger by ✓",
  tree: "It is the key that this browser knows the ledger by, and the very tree that it saw last ✓",
  other: "It is not the ledger that this browser knows: the key is another, or a tree of the same size is ✗",
};

/** @param {Proven} proven @param {Held} known */
export function placed({ failure, key, checkpoint, places }, known) {
  const title = element("h3", {}, "Its place in the ledger");
  if (failure !== null) {
    return element("section", {}, title, element("p", { class: "sc-bad" }, failure), element("p", {}, "Nothing of what this file says about the ledger can be relied on. The game itself is judged by the checks below."));
  }
  const where = places && checkpoint ? `The game’s opening is leaf ${places.opening} and its closing is leaf ${places.closing} of a tree of ${checkpoint.size} leaves that is signed: neither can be changed or dropped without the signature failing.` : "";
  return element("section", {}, title, element("p", {}, where), element("dl", {},
    row("Signed by", key), row("The tree’s root", checkpoint ? hex(checkpoint.root) : "")),
  element("p", { class: known === "other" ? "sc-bad" : known === "none" ? "" : "sc-good" }, inWords[known]));
}

/** @param {string} term @param {string} value */
function row(term, value) {
  return element("div", {}, element("dt", {}, term), element("dd", {}, element("code", { class: "sc-digits" }, value)));
}
