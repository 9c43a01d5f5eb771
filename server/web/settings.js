// What a player decides about himself: the name, a new key in place of the old, and to be erased.
import { confirmed } from "./dialog.js";
import { Declined, post, put, remove } from "./http.js";
import { home } from "./route.js";
import { browser } from "./storage.js";

/** Kept under names of ours, and about nobody but the player. The ledger's key and tree are about the server: they stay. */
const personal = ["secret", "heads", "openings", "finished", "friends"];

export class Settings {
  busy = false;
  /** What is wrong with the name. @type {string | null} */
  refusal = null;
  /** What was done. @type {string | null} */
  told = null;

  /** @param {import("./main.js").App} app @param {(name: string) => void} named */
  constructor(app, named) {
    this.app = app;
    this.named = named;
  }

  /** @param {string} name */
  rename(name) {
    return this.#do(async () => {
      const kept = await put("/api/me/name", { name });
      this.named(kept.name);
      return `You are called ${kept.name} now.`;
    });
  }

  /** Every recovery link and every other device lose the player; this browser keeps it. */
  async renew() {
    if (await confirmed(renewing)) await this.#do(async () => (await post("/api/session/renew", {}), "This browser has a new key. Every link made before is worthless."));
  }

  async erase() {
    if (!(await confirmed(erasing))) return;
    await this.#do(async () => {
      await remove("/api/me");
      for (const name of personal) browser.drop(name);
      // Whoever comes next in this browser is a new guest.
      location.replace(location.pathname + home);
      location.reload();
      return "Everything that could be erased is.";
    });
  }

  /** @param {() => Promise<string>} work what to say when it is done */
  async #do(work) {
    if (this.busy) return;
    [this.busy, this.refusal, this.told] = [true, null, null];
    this.app.changed();
    try {
      this.told = await work();
      this.app.say(this.told);
    } catch (error) {
      this.refusal = error instanceof Declined ? error.message : "The server didn’t answer. Try again in a moment.";
    }
    this.busy = false;
    this.app.changed();
  }
}

const renewing = {
  title: "Make a new key?",
  text: "Every recovery link you made and every other device you play on lose this player. This browser keeps it.",
  no: "Keep my key",
  yes: "Make a new one",
};

const erasing = {
  title: "Erase everything about you?",
  text:
    "Your name, your key and whatever else can change are deleted from this server, for good. Your finished games stay in the signed record under a random id, shown as “erased player”: " +
    "nobody can take them out without breaking the record for all. A game that still runs goes on without you.",
  no: "Stay",
  yes: "Erase me",
};
