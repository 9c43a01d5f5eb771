// One's own settings: the name that others see, the key, and the way out.
import { html, nothing } from "../vendor/lit/lit-html.js";

/** @param {import("../settings.js").Settings} settings @param {{name: string | null}} record */
export function settings(settings, { name }) {
  const { busy, refusal, told } = settings;
  /** @param {SubmitEvent} event */
  const submitted = (event) => {
    event.preventDefault();
    void settings.rename(/** @type {HTMLInputElement} */ (document.getElementById("name")).value);
  };
  return html`
    <section aria-labelledby="settings">
      <h2 id="settings" class="section">Settings</h2>
      <form class="settings" @submit=${submitted}>
        <label class="label" for="name">The name that others see</label>
        <div class="copy">
          <input id="name" class="link" autocomplete="nickname" spellcheck="false" maxlength="60" .value=${name ?? ""} aria-describedby="name-told" aria-invalid=${refusal ? "true" : nothing} />
          <button class="button" aria-disabled=${busy ? "true" : "false"}>Keep it</button>
        </div>
        <p id="name-told" class=${refusal ? "refusal" : "quiet"}>${refusal ?? told ?? "2 to 20 letters and digits, changed at most once an hour. Others see it at tables and on the leaderboards; no game and no entry of the ledger holds it."}</p>
      </form>
      <div class="settings">
        <p>Whoever has a recovery link of yours plays as you. A new key makes all of them worthless.</p>
        <p><button class="button" aria-disabled=${busy ? "true" : "false"} @click=${() => void settings.renew()}>Make a new key</button></p>
        <p>You may leave at any time. What can be erased is; the signed record of finished games has no name in it and stays.</p>
        <p><button class="button grave" aria-disabled=${busy ? "true" : "false"} @click=${() => void settings.erase()}>Erase me</button></p>
      </div>
    </section>
  `;
}
