"""One game alone: from a command to its durable answer, against one bare append of as many bytes to the same store."""

import time
from collections.abc import Callable
from pathlib import Path

from bench.bare_redis import Alone
from bench.clients import Player
from bench.floors import INSERT, bare_store
from bench.measure import Report, Row, Series, Size, percentile
from bench.processes import Product, Redis, product, store

PLAYS = 7
"""Of each game: fewer can't end one."""
EVENTS, BODY_BYTES = 5, 90
"""Of a bare append, as a Play against the house makes."""
Rows = list[tuple[bytes, int, bytes, bytes]]


async def run(size: Size, folder: Path) -> Report:
    games = size.of(60, 1)
    """A round."""
    found: dict[tuple[str, int], list[float]] = {(name, p): [] for name in ("product", "bare") for p in (50, 99)}
    with store(size.store, folder / "redis") as redis, product(folder / "data", redis) as server:
        append, close = _bare(redis, folder)
        _, token = server.join()
        version = 0
        for number in range(size.rounds + 1):
            asked: list[float] = []
            bare: list[float] = []
            for _ in range(games):
                asked += await _game(server, token)
                for _ in range(PLAYS):
                    rows = [(bytes(16), version + each, bytes(32), bytes(BODY_BYTES)) for each in range(EVENTS)]
                    version += EVENTS
                    began = time.perf_counter()
                    append(rows)
                    bare.append((time.perf_counter() - began) * 1e3)
            if number:
                for name, values in (("product", asked), ("bare", bare)):
                    for p in (50, 99):
                        found[name, p].append(percentile(values, p))
        close()
    series = {key: Series(key[0], tuple(values)) for key, values in found.items()}
    goals = {50: "", 99: "≤ 2.5 ×"}
    return Report(
        [Row(f"Play to durable answer, p{p}", "ms", series["product", p], series["bare", p], goals[p]) for p in goals],
        [
            f"of {games * PLAYS:,} each a round",
            "every game was audited, and what its player saw is what the log holds",
        ],
    )


async def _game(server: Product, token: str) -> list[float]:
    """How long each Play took, ms."""
    peer = await Player.of(server, token)
    game = await peer.begin()
    asked = []
    for _ in range(PLAYS):
        began = time.perf_counter()
        await peer.play(game)
        asked.append((time.perf_counter() - began) * 1e3)
    await peer.end(game)
    server.check(game, peer.seen[game])
    await peer.leave()
    return asked


def _bare(redis: Redis | None, folder: Path) -> tuple[Callable[[Rows], None], Callable[[], None]]:
    """What appends, and what closes it."""
    if redis is not None:
        alone = Alone(redis.url)
        return alone.append, alone.close
    connection = bare_store(str(folder / "bare.db"))

    def append(rows: Rows) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, rows)
        connection.execute("COMMIT")

    return append, connection.close
