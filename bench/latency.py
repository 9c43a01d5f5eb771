"""One game alone: from a command to its durable answer, against one bare commit of as many bytes to the same disk."""

import time
from pathlib import Path

from bench.clients import Player
from bench.floors import INSERT, bare_store
from bench.measure import Report, Row, Series, Size, percentile
from bench.processes import product

PLAYS = 7


async def run(size: Size, folder: Path) -> Report:
    store = bare_store(str(folder / "bare.db"))
    games = size.of(20, 1)
    """A round."""
    found: dict[tuple[str, int], list[float]] = {(name, p): [] for name in ("product", "bare") for p in (50, 99)}
    with product(folder / "data") as server:
        _, token = server.join()
        version = 0
        for number in range(size.rounds + 1):
            asked: list[float] = []
            bare: list[float] = []
            for _ in range(games):
                peer = await Player.of(server, token)
                game = await peer.begin()
                for _ in range(PLAYS):
                    began = time.perf_counter()
                    await peer.play(game)
                    asked.append((time.perf_counter() - began) * 1e3)
                await peer.do(game, "Resign")
                server.check(game, peer.seen[game])
                await peer.leave()
                for _ in range(PLAYS):
                    rows = [(bytes(16), version + each, bytes(32), bytes(90)) for each in range(5)]
                    version += 5
                    began = time.perf_counter()
                    store.execute("BEGIN IMMEDIATE")
                    store.executemany(INSERT, rows)
                    store.execute("COMMIT")
                    bare.append((time.perf_counter() - began) * 1e3)
            if number:
                for name, values in (("product", asked), ("bare", bare)):
                    for p in (50, 99):
                        found[name, p].append(percentile(values, p))
    store.close()
    series = {key: Series(key[0], tuple(values)) for key, values in found.items()}
    return Report(
        [
            Row(
                f"Play to durable answer, p{p}",
                "ms",
                series["product", p],
                series["bare", p],
                "≤ 2.5 ×" if p == 99 else "",
            )
            for p in (50, 99)
        ],
        ["every game was audited, and what its player saw is what the log holds"],
    )
