"""What a board is asked, and what it answers: the `Ranks` contract, of boards in memory and of those in Redis."""

from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple, Protocol

from projections.leaderboard import INDEX_BITS, INDEX_MAX, VALUE_MAX, Board
from projections.standings import Place


class Places(NamedTuple):
    """Part of a board. `as_of` and `leaf_hash`: how many entries were folded, and the last one's leaf."""

    as_of: int
    leaf_hash: bytes
    size: int
    """How many stand on the whole board."""
    places: tuple[Place, ...]
    moved_as_of: int
    """The board stands as it is since then, if not longer."""
    generation: int
    """Of the rows that it was made of: in another one places may be others, at the same position, too."""


class Ranks(Protocol):
    """Each answer is of one position; the next may be of a later one. All raise NotReady, and Unknown
    where the store can't be asked."""

    async def page(self, board: Board, start: int, count: int) -> Places:
        """At most `count` places from position `start` on."""

    async def following(self, board: Board, score: int, player: bytes, count: int) -> Places:
        """At most `count` places behind this score and player, whether they stand there now or not."""

    async def around(self, board: Board, player: bytes, count: int) -> Places:
        """The player with at most `count` before and `count` after; none if the player isn't on the board."""

    async def of(self, board: Board, players: Sequence[bytes]) -> Places:
        """Those of these players who are on the board, in its order, each once."""


def placed(start: int, players: Sequence[bytes], scores: Sequence[int], ahead: int) -> tuple[Place, ...]:
    """Places from position `start` on; `ahead`: how many have a higher value than the first of them."""
    values = [VALUE_MAX - (score >> INDEX_BITS) for score in scores]
    ranks: list[int] = []
    rank, shared = ahead + 1, values[0] if values else 0
    for position, value in enumerate(values, start + 1):
        if value != shared:
            rank, shared = position, value
        ranks.append(rank)
    entries = [score & INDEX_MAX for score in scores]
    # Calling Place costs four times as much, and a page is a hundred of them.
    fields = zip(ranks, range(start, start + len(ranks)), players, values, entries, strict=True)
    return tuple(map(tuple.__new__, repeat(Place), fields))
