// Golden games, and the demand that a broken twin of one is refused at the right event.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";

import { textOf } from "../../server/web/verify/chain.js";
import { check, games } from "../../server/web/verify/index.js";
import { find, place, twin } from "./twins.mjs";

export const tests = new URL("..", import.meta.url);
export const weekMs = 7 * 24 * 3600 * 1000;

/** Bytes of each golden game, by name. */
export const golden = Object.fromEntries(
  readdirSync(new URL("golden/", tests))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => [name.slice(0, -".jsonl".length), readFileSync(new URL(`golden/${name}`, tests))]),
);

export const text = (name) => textOf(golden[name]);

/** Demands that a file is refused at this event, for this check. */
export function refused(file, version, name, known = games) {
  const report = check(file, known);
  assert.equal(report.ok, false, "it passed");
  assert.equal(report.over, false);
  const { failure } = report;
  assert.equal(failure.version, version, JSON.stringify(failure));
  for (const words of [failure.why, failure.expected, failure.found]) assert.ok(words.length > 0);
  if (name) assert.deepEqual(report.checks.filter((each) => !each.ok).map((each) => each.name), [name]);
}

/** Demands that the twin is refused at the event that `alter` gives the index of. */
export function refusedTwin(name, alter, check, known = games) {
  let index = NaN;
  const file = twin(text(name), (events, game) => {
    const altered = alter(events, game);
    if (typeof altered === "number") index = altered;
    else [index, events] = altered;
    return events;
  });
  refused(file, index + 1, check, known);
}

export const flipped = (given) => given.map((each, at) => (at === 0 ? each ^ 1 : each));

/** Sets a field of the nth fact of a type; the fault is there. */
export const setting = (type, field, value, nth = 1) => (events) => {
  const index = find(events, type, nth);
  const at = place[type][field] ?? place[field];
  events[index][at] = typeof value === "function" ? value(events[index][at], events) : value;
  return index;
};

/** Takes the nth fact of a type out; the fault is the one that now stands there. */
export const dropping = (type, nth = 1) => (events) => {
  const index = find(events, type, nth);
  events.splice(index, 1);
  return index;
};
