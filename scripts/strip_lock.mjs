// Takes the addresses of sponsors out of a package-lock.json: a lock names packages and hashes, never a host.
// Here, or of the folder that is given.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const path = join(process.argv[2] ?? ".", "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
for (const entry of Object.values(lock.packages)) delete entry.funding;
writeFileSync(path, JSON.stringify(lock, null, 2) + "\n");
