// What screen readers are told as it happens: one polite region, one element a sentence.

const keptMax = 4;

/** @param {string} sentence */
export function say(sentence) {
  const region = document.getElementById("spoken");
  if (!region) return;
  const line = document.createElement("p");
  line.textContent = sentence;
  region.append(line);
  // Old lines go, so that somebody who wanders into the region doesn't meet the whole game.
  while (region.childElementCount > keptMax) region.firstElementChild?.remove();
}
