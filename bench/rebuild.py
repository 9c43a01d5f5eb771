"""Records, rivals and all boards from the ledger's entries, against decoding the same bytes and nothing else."""

import random
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from rich.console import Console

from bench.measure import Report, Row, Series, Size, alternating
from events import entries
from events.database import Database
from events.entries import Closing
from projections.leaderboard import LADDERS
from projections.projection import digest, fold, stored
from server import generations, rebuilding
from server.folding import Item
from server.projected import Projected
from server.projector import PROJECTIONS
from server.sqlite_projected import SqliteProjected

MONDAY_MS = 1_795_996_800_000


class Ledger:
    """Entries as the ledger keeps them; decoded when they are read."""

    def __init__(self, bodies: list[bytes]) -> None:
        self.bodies = bodies

    async def read(self, after_index: int, limit: int) -> Sequence[Item]:
        some = self.bodies[after_index + 1 : after_index + 1 + limit]
        return [
            (index, sha256(b"\0" + body).digest(), entries.decode(body))
            for index, body in enumerate(some, after_index + 1)
        ]


async def run(size: Size, folder: Path) -> Report:
    count = size.of(50_000, 2_000)
    bodies = [entries.encode(entry) for entry in closings(count, count // 20)]
    ledger, quiet = Ledger(bodies), Console(quiet=True)
    rates: dict[str, list[float]] = {"product": [], "decoding": []}
    number = 0

    async def product() -> float:
        nonlocal number
        number += 1
        database = await Database.open(folder / f"rebuilt-{number}.db", [generations.SCHEMA])
        store = SqliteProjected(database)
        began, cpu = time.monotonic(), time.process_time()
        assert await rebuilding.run(store, ledger, rebuilding.NAMES, False, False, quiet)
        used = time.process_time() - cpu
        rates["product"].append(count / (time.monotonic() - began))
        if number == 1:
            await check(store, bodies)
        await database.close()
        return used / count * 1e6

    async def decoding() -> float:
        began, cpu = time.monotonic(), time.process_time()
        for body in bodies:
            entries.decode(body)
        rates["decoding"].append(count / (time.monotonic() - began))
        return (time.process_time() - cpu) / count * 1e6

    cpu = await alternating(size.rounds, {"product": product, "decoding": decoding})
    rate = {name: Series(name, tuple(values[1:])) for name, values in rates.items()}
    return Report(
        [
            Row(
                f"an entry, into all {len(PROJECTIONS)} projections",
                "µs CPU",
                cpu["product"],
                cpu["decoding"],
                "≤ 6.7 ×",
            ),
            Row(f"rebuilding from {count:,}", "entries a second", rate["product"], rate["decoding"], "≥ 0.15 ×"),
        ],
        ["after the first round the digests were those of a fold in memory"],
    )


async def check(store: Projected, bodies: list[bytes]) -> None:
    told = [(index, entries.decode(body)) for index, body in enumerate(bodies)]
    for projection in PROJECTIONS:
        rows = fold(projection, told)
        live = (await store.standing([projection.name]))[projection.name]
        assert live.checkpoint.digest == digest((key, stored(row)) for key, row in rows.items())


def closings(count: int, people: int, every_ms: int = 10_000) -> Iterator[Closing]:
    """Games that count, of all ladders with a board, one after the other."""
    chance = random.Random(0)
    players = [chance.randbytes(16) for _ in range(people)]
    for number in range(count):
        ladder = chance.choice(LADDERS)
        house = not ladder.endswith("versus")
        first, second = chance.sample(players, 2)
        yield Closing(
            game=number.to_bytes(16, "big"),
            version=30,
            hash=bytes(32),
            at_ms=MONDAY_MS + number * every_ms,
            rules="fifty-states/1",
            ladder=ladder,
            counts=True,
            players=(first, b"" if house else second),
            rival="opal-winterbourne" if house else "",
            winner=chance.randrange(2),
            reason="all_cards",
            owing=(),
        )
