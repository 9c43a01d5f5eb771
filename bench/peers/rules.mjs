// The one move that the peers of `commands` are asked for: players take turns, and a card is a whole number below 50.
// No hashes, no hidden hands, no clocks, no history for who comes late.

/** What a game is before its first move. */
export const fresh = () => ({ number: 0 });

/** Whether this seat may make this move now; if so it is made. */
export function moved(game, seat, move) {
  const right =
    move.number === game.number &&
    seat === game.number % 2 &&
    Number.isInteger(move.card) &&
    move.card >= 0 &&
    move.card < 50;
  if (right) game.number += 1;
  return right;
}

/** The line that the bench waits for. */
export const say = ({ address, port }) => console.log(`listening at ${address}:${port}`);
