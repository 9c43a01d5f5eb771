"""Rank, around-me and top 100 of a big board, against a sorted list in process."""

import random
import time
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path

from bench import redis_board
from bench.measure import Measured, Report, Row, Size, alternating
from projections.leaderboard import INDEX_BITS, VALUE_MAX, Board
from projections.ranking import Ranking
from server.boards import Standings
from server.projected import Checkpoint

INDEX_MASK = (1 << INDEX_BITS) - 1
ASKED = 2_000
"""Questions a round."""


async def run(size: Size, folder: Path) -> Report:
    count = size.of(1_000_000, 10_000)
    chance = random.Random(0)
    rows = [
        (chance.randbytes(16), ((VALUE_MAX - min(int(chance.expovariate(0.02)), 9_999)) << INDEX_BITS) + index)
        for index in range(count)
    ]
    board = Board("states-relaxed", "wins", "all")
    standings = Standings(board, Ranking(rows), 1, Checkpoint(count, bytes(32), bytes(32)))
    listed = sorted((score, player) for player, score in rows)
    scores = dict(rows)
    asked = [player for player, _ in chance.sample(rows, ASKED)]

    def rank(player: bytes) -> int:
        return bisect_left(listed, (scores[player] >> INDEX_BITS << INDEX_BITS, b"")) + 1

    def page(start: int, end: int) -> list[tuple[int, bytes, int, int]]:
        """What a place tells: rank, player, value, entry."""
        places: list[tuple[int, bytes, int, int]] = []
        value = -1
        for at, (score, player) in enumerate(listed[start:end], start):
            if score >> INDEX_BITS != value:
                value = score >> INDEX_BITS
                first = at + 1 if places else bisect_left(listed, (value << INDEX_BITS, b"")) + 1
            places.append((first, player, VALUE_MAX - value, score & INDEX_MASK))
        return places

    def around(player: bytes) -> list[tuple[int, bytes, int, int]]:
        at = bisect_left(listed, (scores[player], player))
        return page(max(0, at - 5), at + 6)

    def top(_: bytes) -> list[tuple[int, bytes, int, int]]:
        return page(0, 100)

    found: list[Row] = []
    questions: list[tuple[str, Callable[[bytes], object], Callable[[bytes], object]]] = [
        ("rank", standings.rank, rank),
        ("around-me, five each way", lambda player: standings.around(player, 5), around),
        ("top 100", lambda player: standings.top(100), top),
    ]
    for what, ours, theirs in questions:
        sides = {"product": _asking(asked, ours), "sorted list": _asking(asked, theirs)}
        cpu = await alternating(size.rounds, sides)
        found.append(Row(f"{what}, {count:,} players", "µs CPU", cpu["product"], cpu["sorted list"], "≤ 2 ×"))
    for player in asked:
        assert standings.rank(player) == rank(player)
        places = standings.around(player, 5).places
        assert [(place.rank, place.player, place.value, place.entry) for place in places] == around(player)
    in_redis = await redis_board.rows(size, folder, board, scores, asked)
    return Report(
        [*found, *in_redis],
        [
            f"{ASKED:,} ranks and neighbourhoods were the sorted list's",
            "both sides give rank, player, value and the ledger's entry of each place",
            "in Redis the bare calls give positions and scores, not ranks" if in_redis else "redis-server is missing",
        ],
    )


def _asking(asked: list[bytes], question: Callable[[bytes], object]) -> Measured:
    async def ask() -> float:
        cpu = time.process_time()
        for player in asked:
            question(player)
        return (time.process_time() - cpu) / len(asked) * 1e6

    return ask
