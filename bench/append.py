"""Events into the SQLite store: the product's log against bare group commits of the same bytes."""

import asyncio
import secrets
import time
from collections.abc import Awaitable
from pathlib import Path

from bench.floors import INSERT, bare_store
from bench.measure import Report, Row, Series, Size, alternating
from events import chain
from events.chain import Head
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog

GAMES = 64
"""At once, each with one append under way."""
EVENTS = 5
"""Of one append, as a Play against the house makes."""
BODY_BYTES = 90


async def run(size: Size, folder: Path) -> Report:
    appends = size.of(200, 5)
    """Of each game a round."""
    database = await Database.open(folder / "log.db", [SCHEMA])
    log = SqliteLog(database)
    bare = bare_store(str(folder / "bare.db"))
    rates: dict[str, list[float]] = {"product": [], "bare": []}
    total = appends * GAMES * EVENTS
    games: dict[bytes, Head] = {}

    async def one(game: bytes) -> None:
        head = chain.origin(game)
        for _ in range(appends):
            head = await log.append(game, head, Batch(chain.extend(head, [bytes(BODY_BYTES)] * EVENTS)))
        games[game] = head

    async def product() -> float:
        return await timed("product", asyncio.gather(*(one(secrets.token_bytes(16)) for _ in range(GAMES))))

    async def timed(name: str, work: Awaitable[object]) -> float:
        began, cpu = time.monotonic(), time.process_time()
        await work
        rates[name].append(total / (time.monotonic() - began))
        return (time.process_time() - cpu) / total * 1e6

    async def floor() -> float:
        return await timed("bare", asyncio.to_thread(groups))

    def groups() -> None:
        ids = [secrets.token_bytes(16) for _ in range(GAMES)]
        for version in range(0, appends * EVENTS, EVENTS):
            bare.execute("BEGIN IMMEDIATE")
            rows = [(id_, version + each, bytes(32), bytes(BODY_BYTES)) for id_ in ids for each in range(EVENTS)]
            bare.executemany(INSERT, rows)
            bare.execute("COMMIT")

    try:
        cpu = await alternating(size.rounds, {"product": product, "bare": floor})
        for game, head in games.items():
            events = await log.read(game)
            assert chain.check(chain.origin(game), events) is None
            assert events[-1].head == head
    finally:
        await database.close()
        bare.close()
    rate = {name: Series(name, tuple(values[1:])) for name, values in rates.items()}
    return Report(
        [
            Row("an event: hashed, heads compared, durable", "µs CPU", cpu["product"], cpu["bare"]),
            Row("durable events, 64 appends at once", "a second", rate["product"], rate["bare"]),
        ],
        [f"{len(games)} logs read again: every chain holds and ends at the head that was answered"],
    )
