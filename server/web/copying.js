// Text that goes to the clipboard, or is selected for the keyboard where there is no clipboard.

/**
 * @param {string} text
 * @param {string} field the id of the input that holds it
 * @returns {Promise<boolean>} whether it is copied
 */
export async function copied(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard here (plain HTTP, or not allowed).
    const input = /** @type {HTMLInputElement | null} */ (document.getElementById(field));
    input?.focus();
    input?.select();
    return false;
  }
}
