"""A million results, folded once from the ledger: rate, memory, file, a board of them, and what a tenth of it costs."""

import asyncio
import resource
import time
from pathlib import Path

from rich.console import Console

from bench.measure import Report, Row, Series, Size
from bench.rebuild import Ledger, check, closings
from events import entries
from events.database import Database
from projections.leaderboard import Board
from server import generations, rebuilding
from server.boards import Boards
from server.projected import Projected
from server.projector import Projector
from server.sqlite_projected import SqliteProjected

ASKED = 1_000
DAYS_MS = 10_000_000_000
"""All results of a size come in this time: so a tenth of them touches as many rows an entry."""


async def run(size: Size, folder: Path) -> Report:
    count = size.of(1_000_000, 2_000)
    bodies = _bodies(count)
    cpu = time.process_time()
    for body in bodies:
        entries.decode(body)
    decoding = (time.process_time() - cpu) / count * 1e6
    tenth, before = _bodies(count // 10), _peak_mib()
    smaller = [await _rebuilt(tenth, folder / "before.db")]
    database = await Database.open(folder / "rebuilt.db", [generations.SCHEMA])
    store, ledger, rows = SqliteProjected(database), Ledger(bodies), []
    began, cpu = time.monotonic(), time.process_time()
    assert await rebuilding.run(store, ledger, rebuilding.NAMES, False, False, Console(quiet=True))
    used, seconds = (time.process_time() - cpu) / count * 1e6, time.monotonic() - began
    rows.append(Row(f"an entry of {count:,}, into all projections", "µs CPU", *_one(used, decoding)))
    rows.append(Row("rebuilding", "entries a second", Series("product", (count / seconds,))))
    rows.append(Row("memory above the ledger's bytes, at most", "MiB", Series("product", (_peak_mib() - before,))))
    bytes_ = await asyncio.to_thread(lambda: sum(path.stat().st_size for path in folder.glob("rebuilt.db*")))
    rows.append(Row("the file and its WAL", "MiB", Series("product", (bytes_ / 2**20,))))
    rows += await _asked(store, ledger)
    if size.quick:
        await check(store, bodies)
    await database.close()
    # The machine may have become slower meanwhile, or faster.
    smaller += [await _rebuilt(tenth, folder / f"after-{number}.db") for number in range(2)]
    against = Series(f"of {len(tenth):,} in as many days", tuple(smaller))
    rows.insert(1, Row(f"an entry of {count:,}", "µs CPU", Series("product", (used,)), against, "≤ 1.15 ×"))
    return Report(rows, [f"{count:,} results of {count // 20:,} players, over {DAYS_MS // 86_400_000:,} days"])


def _bodies(count: int) -> list[bytes]:
    return [entries.encode(entry) for entry in closings(count, count // 20, DAYS_MS // count)]


async def _rebuilt(bodies: list[bytes], path: Path) -> float:
    """CPU an entry, in µs."""
    database = await Database.open(path, [generations.SCHEMA])
    cpu = time.process_time()
    store, quiet = SqliteProjected(database), Console(quiet=True)
    assert await rebuilding.run(store, Ledger(bodies), rebuilding.NAMES, False, False, quiet)
    used = time.process_time() - cpu
    await database.close()
    return used / len(bodies) * 1e6


async def _asked(store: Projected, ledger: Ledger) -> list[Row]:
    projector = Projector(store, ledger)
    await projector.begin()
    boards = Boards(store, projector)
    cpu = time.process_time()
    standings = await boards.standings(Board("states-relaxed", "wins", "all"))
    loading = (time.process_time() - cpu) * 1e3
    players = [place.player for place in standings.page(0, ASKED).places]
    cpu = time.process_time()
    for player in players:
        standings.around(player, 5)
    asking = (time.process_time() - cpu) / len(players) * 1e6
    return [
        Row(f"loading a board of {len(standings):,}, once", "ms CPU", Series("product", (loading,))),
        Row("around-me on it", "µs CPU", Series("product", (asking,))),
    ]


def _one(product: float, decoding: float) -> tuple[Series, Series]:
    return Series("product", (product,)), Series("decoding", (decoding,))


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
