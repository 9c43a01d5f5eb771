// What no file can show, in the words of docs/audit.md. A test holds the two against each other.

/** Each the end of a sentence that begins "No file can show". */
export const limits = [
  "that the operator told nobody a hand while the game ran;",
  "that a player’s entropy was chosen by the player: his own browser alone can tell, and does, unless the operator changed the page;",
  "that a card, or a resignation, came from the player: nobody signs his moves, his browser shows what the log says he did;",
  "that time was up when the operator’s clock said so, and no server ran in time that was given back;",
  "that what `Lost` says was lost was lost: the operator alone says so, and every such game counts against him;",
  "that a message which isn’t here was never sent;",
  "that two players are two people;",
  "until there is a ledger: that this is the history which everybody else was shown. Compare the last hash with the one your " +
    "own browser held while you played: the page shows it, and a saved file carries it.",
];
