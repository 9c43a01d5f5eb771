// What this browser remembers, for good or for a tab. The only place that touches localStorage and sessionStorage.

/**
 * JSON under names of ours. A browser that keeps nothing (private windows, full disks) costs the memory, not the game.
 * @param {() => Storage} open
 */
function shelf(open) {
  /** @type {Map<string, string>} */
  const spare = new Map();
  /** @returns {Storage | null} */
  const storage = () => {
    try {
      return open();
    } catch {
      return null;
    }
  };
  const full = (/** @type {string} */ name) => `statecraft.${name}`;
  return {
    /** @param {string} name @returns {any} null if nothing, or nonsense, stands there */
    read(name) {
      const text = storage()?.getItem(full(name)) ?? spare.get(name) ?? "null";
      try {
        return JSON.parse(text);
      } catch {
        return null;
      }
    },
    /** @param {string} name @param {unknown} value */
    write(name, value) {
      const text = JSON.stringify(value);
      spare.set(name, text);
      try {
        storage()?.setItem(full(name), text);
      } catch {
        // Full or forbidden: `spare` has it until the page goes.
      }
    },
    /** @param {string} name */
    drop(name) {
      spare.delete(name);
      storage()?.removeItem(full(name));
    },
  };
}

/** For as long as the browser keeps it, in every tab. */
export const browser = shelf(() => localStorage);
/** For this tab, through reloads. */
export const tab = shelf(() => sessionStorage);
