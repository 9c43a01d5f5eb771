// What no file can show, in the words of docs/audit.md. A test holds the two against each other.

/** Each the end of a sentence that begins "No file can show". */
export const limits = [
  "that the operator told nobody a hand while the game ran;",
  "that a player’s entropy was chosen by the player, and not for him by a page the operator changed;",
  "that a message which isn’t here was never sent;",
  "that two players are two people;",
  "until there is a ledger: that this is the history which everybody else was shown. Compare the last hash with the one your " +
    "own browser held while you played: the page shows it, and a saved file carries it.",
];
