"""Rank, around-me and top 100 of a big board, against a sorted list in process."""

import random
import time
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path

from bench.measure import Measured, Report, Row, Size, alternating
from projections.leaderboard import INDEX_BITS, VALUE_MAX, Board, value_of
from projections.ranking import Ranking
from server.boards import Standings
from server.generations import Checkpoint

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

    def around(player: bytes) -> list[tuple[int, bytes]]:
        at = bisect_left(listed, (scores[player], player))
        return listed[max(0, at - 5) : at + 6]

    def top(_: bytes) -> list[tuple[int, bytes]]:
        return listed[:100]

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
        assert [(place.player, place.value) for place in places] == [(p, value_of(s)) for s, p in around(player)]
    return Report(
        found,
        [
            f"{ASKED:,} ranks and neighbourhoods were the sorted list's",
            "the list gives scores and ids; the product's places have rank, value and the ledger's entry in them",
        ],
    )


def _asking(asked: list[bytes], question: Callable[[bytes], object]) -> Measured:
    async def ask() -> float:
        cpu = time.process_time()
        for player in asked:
            question(player)
        return (time.process_time() - cpu) / len(asked) * 1e6

    return ask
