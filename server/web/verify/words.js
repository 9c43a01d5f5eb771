// English that more than one module needs.

/** @param {string} words */
export function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {number} count @param {string} what in the singular */
export function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
