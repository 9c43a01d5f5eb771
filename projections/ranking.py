"""One board in memory: everybody's score in order, with rank and neighbours in logarithmic time and 48 bytes a player.

Scores and ids lie in flat blocks (8 + 16 bytes a player) in the board's order, and once more in buckets by player, so
that a player's score is found without a row being read. Python's own lists and dictionaries would take 250 bytes.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache
from struct import Struct

from projections.leaderboard import INDEX_BITS

ID_BYTES = 16
BLOCK_ROWS = 1024
"""A block is split when it has twice as many."""


class Ranking:
    """Players by score, ascending, then by id. A player stands in it once or not at all."""

    def __init__(self, rows: Iterable[tuple[bytes, int]] = (), block_rows: int = BLOCK_ROWS) -> None:
        """Of (player, score), each player once, in any order."""
        self._block_rows = block_rows
        self._scores: list[array[int]] = []
        self._ids: list[bytearray] = []
        self._last: list[tuple[int, bytes]] = []
        """Each block's last score and player."""
        self._sums: list[int] | None = None
        """A Fenwick tree of the blocks' sizes; None after blocks came or went, until somebody asks."""
        self._buckets: dict[int, tuple[bytearray, array[int]]] = {}
        self._size = 0
        self._fill(rows)

    def __len__(self) -> int:
        return self._size

    def score(self, player: bytes) -> int | None:
        bucket = self._buckets.get(_bucket(player))
        if bucket is None:
            return None
        at = _find(bucket[0], player)
        return None if at < 0 else bucket[1][at]

    def put(self, player: bytes, score: int | None) -> None:
        """Give a player a score in place of any other; None takes the player out. Doing it twice is harmless."""
        before = self.score(player)
        if before == score:
            return
        if before is not None:
            self._take_out(player, before)
        self._remember(player, score)
        if score is not None:
            self._put_in(player, score)

    def position(self, player: bytes) -> int | None:
        """How many stand before this player."""
        score = self.score(player)
        if score is None:
            return None
        block, at = self._place(player, score)
        return self._start(block) + at

    def before(self, player: bytes, score: int) -> int:
        """How many stand before a player with this score, whether that player does or not."""
        block, at = self._place(player, score)
        return self._start(block) + at

    def ahead(self, score: int) -> int:
        """How many have a higher value than this score's: one less than the rank that its value shares."""
        lowest = score >> INDEX_BITS << INDEX_BITS
        block = bisect_left(self._last, (lowest, b""))
        if block == len(self._last):
            return self._size
        return self._start(block) + bisect_left(self._scores[block], lowest)

    def slice(self, start: int, count: int) -> list[tuple[bytes, int]]:
        """At most `count` (player, score) from position `start` on."""
        return list(zip(*self.columns(start, count), strict=True))

    def columns(self, start: int, count: int) -> tuple[list[bytes], list[int]]:
        """The players and the scores of at most `count` from position `start` on."""
        players: list[bytes] = []
        scores: list[int] = []
        if start >= self._size or count <= 0:
            return players, scores
        block, at = self._find_position(start)
        while len(scores) < count and block < len(self._scores):
            some = self._scores[block][at : at + count - len(scores)].tolist()
            ids = self._ids[block][at * ID_BYTES : (at + len(some)) * ID_BYTES]
            players += _ids(len(some))(ids)
            scores += some
            block, at = block + 1, 0
        return players, scores

    def _fill(self, rows: Iterable[tuple[bytes, int]]) -> None:
        # Sorted as bytes: a tuple and an integer a player would take three times the memory for a moment.
        ordered = [score.to_bytes(8, "big") + player for player, score in rows]
        ordered.sort()
        for first in range(0, len(ordered), self._block_rows):
            rows_ = ordered[first : first + self._block_rows]
            scores = array("q", [int.from_bytes(row[:8], "big") for row in rows_])
            self._scores.append(scores)
            self._ids.append(bytearray(b"".join([row[8:] for row in rows_])))
            self._last.append((scores[-1], rows_[-1][8:]))
            for row, score in zip(rows_, scores, strict=True):
                self._remember(row[8:], score)
        self._size = len(ordered)

    def _remember(self, player: bytes, score: int | None) -> None:
        ids, scores = self._buckets.setdefault(_bucket(player), (bytearray(), array("q")))
        at = _find(ids, player)
        if score is None:
            # The last one moves into the gap.
            ids[at * ID_BYTES : (at + 1) * ID_BYTES] = ids[-ID_BYTES:]
            del ids[-ID_BYTES:]
            scores[at] = scores[-1]
            scores.pop()
        elif at < 0:
            ids += player
            scores.append(score)
        else:
            scores[at] = score

    def _tree(self) -> list[int]:
        if self._sums is None:
            self._sums = [0, *map(len, self._scores)]
            for at in range(1, len(self._sums)):
                above = at + (at & -at)
                if above < len(self._sums):
                    self._sums[above] += self._sums[at]
        return self._sums

    def _start(self, block: int) -> int:
        """How many rows stand before a block."""
        sums = self._tree()
        rows = 0
        while block:
            rows += sums[block]
            block &= block - 1
        return rows

    def _find_position(self, position: int) -> tuple[int, int]:
        """The block of a position that there is, and the place in it."""
        sums = self._tree()
        block = 0
        step = 1 << len(sums).bit_length()
        while step := step >> 1:
            if block + step < len(sums) and sums[block + step] <= position:
                block += step
                position -= sums[block]
        return block, position

    def _grew(self, block: int, rows: int) -> None:
        self._size += rows
        if self._sums is not None:
            block += 1
            while block < len(self._sums):
                self._sums[block] += rows
                block += block & -block

    def _place(self, player: bytes, score: int) -> tuple[int, int]:
        """Block and place in it where this score and player stand, or would."""
        block = bisect_left(self._last, (score, player))
        if block == len(self._last):
            return max(0, block - 1), len(self._scores[-1]) if self._scores else 0
        scores, ids = self._scores[block], self._ids[block]
        at = bisect_left(scores, score)
        # One entry gives at most two players the same score.
        while at < len(scores) and scores[at] == score and ids[at * ID_BYTES : (at + 1) * ID_BYTES] < player:
            at += 1
        return block, at

    def _put_in(self, player: bytes, score: int) -> None:
        if not self._scores:
            self._size, self._sums = 1, None
            self._scores, self._ids, self._last = [array("q", (score,))], [bytearray(player)], [(score, player)]
            return
        block, at = self._place(player, score)
        self._grew(block, 1)
        scores, ids = self._scores[block], self._ids[block]
        scores.insert(at, score)
        ids[at * ID_BYTES : at * ID_BYTES] = player
        if at == len(scores) - 1:
            self._last[block] = (score, player)
        if len(scores) >= 2 * self._block_rows:
            self._split(block)

    def _split(self, block: int) -> None:
        self._sums = None
        scores, ids = self._scores[block], self._ids[block]
        half = len(scores) // 2
        self._scores[block : block + 1] = [scores[:half], scores[half:]]
        self._ids[block : block + 1] = [ids[: half * ID_BYTES], ids[half * ID_BYTES :]]
        self._last.insert(block, (scores[half - 1], bytes(ids[(half - 1) * ID_BYTES : half * ID_BYTES])))

    def _take_out(self, player: bytes, score: int) -> None:
        block, at = self._place(player, score)
        self._grew(block, -1)
        scores, ids = self._scores[block], self._ids[block]
        del scores[at]
        del ids[at * ID_BYTES : (at + 1) * ID_BYTES]
        if not scores:
            del self._scores[block], self._ids[block], self._last[block]
            self._sums = None
            return
        if at == len(scores):
            self._last[block] = (scores[-1], bytes(ids[-ID_BYTES:]))
        if len(scores) < self._block_rows // 4:
            self._join(block)

    def _join(self, block: int) -> None:
        """Put a thin block together with the next, if they fit: blocks follow the rows there are."""
        if (
            block + 1 < len(self._scores)
            and len(self._scores[block]) + len(self._scores[block + 1]) <= self._block_rows
        ):
            self._sums = None
            self._scores[block] += self._scores.pop(block + 1)
            self._ids[block] += self._ids.pop(block + 1)
            del self._last[block]


@lru_cache(128)
def _ids(count: int) -> Callable[[bytearray], tuple[bytes, ...]]:
    return Struct(f"{ID_BYTES}s" * count).unpack


def _bucket(player: bytes) -> int:
    assert len(player) == ID_BYTES, player
    return player[0] << 4 | player[1] >> 4


def _find(ids: bytearray, player: bytes) -> int:
    """Where in the bucket a player is, -1 if nowhere: ids are random, so what isn't aligned is chance."""
    at = ids.find(player)
    while at > 0 and at % ID_BYTES:
        at = ids.find(player, at + 1)
    return at // ID_BYTES if at >= 0 else -1
