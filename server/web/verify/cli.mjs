// node cli.mjs FILE … checks saved games and proofs: one line of JSON a file; exit code 1 if any does not check out.
import { readFileSync } from "node:fs";
import process from "node:process";
import { textOf } from "./chain.js";
import { check } from "./index.js";
import { checkProof, isProof } from "./proof.js";

const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write("usage: node cli.mjs FILE …\n");
  process.exitCode = 2;
}
for (const file of files) {
  const { ok, over, failure } = judged(textOf(readFileSync(file)));
  process.stdout.write(JSON.stringify({ file, ok, over, failure }) + "\n");
  if (!ok) process.exitCode = 1;
}

/** A proof that fails though its game doesn't has a failure without a version. @param {string} text */
function judged(text) {
  if (!isProof(text)) return check(text);
  const { report, failure } = checkProof(text);
  if (failure === null || report.failure) return report;
  return { ok: false, over: false, failure: { version: null, why: failure, expected: "", found: "" } };
}
