"""Events into the store: the product's log against bare appends of the same bytes, many at once."""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

from bench.bare_redis import Pipelined
from bench.floors import INSERT, bare_store
from bench.measure import Report, Row, Series, Size, alternating
from bench.processes import Redis, store
from events import chain
from events.chain import Head
from events.database import Database
from events.log import Batch, Log
from events.redis_address import address
from events.redis_durability import FSYNC
from events.redis_log import RedisLog
from events.redis_store import RedisStore
from events.sqlite import SCHEMA, SqliteLog

GAMES = 64
"""At once, each with one append under way."""
EVENTS = 5
"""Of one append, as a Play against the house makes."""
BODY_BYTES = 90
Bare = Callable[[int], Awaitable[None]]
"""So many appends of each game."""


async def run(size: Size, folder: Path) -> Report:
    with store(size.store, folder / "redis") as redis:
        async with _embedded(folder) if redis is None else _on(redis) as (log, bare):
            return await measured(size, redis, log, bare)


async def measured(size: Size, redis: Redis | None, log: Log, bare: Bare) -> Report:
    appends = size.of(100, 5)
    """Of each game a round."""
    rates: dict[str, list[float]] = {"product": [], "bare": []}
    store_cpu: dict[str, list[float]] = {"product": [], "bare": []}
    kept: dict[str, list[float]] = {"product": [], "bare": []}
    total = appends * GAMES * EVENTS
    games: dict[bytes, Head] = {}

    async def one(game: bytes) -> None:
        head = chain.origin(game)
        for _ in range(appends):
            head = await log.append(game, head, Batch(chain.extend(head, [bytes(BODY_BYTES)] * EVENTS)))
        games[game] = head

    async def product() -> float:
        return await timed("product", asyncio.gather(*(one(secrets.token_bytes(16)) for _ in range(GAMES))))

    async def floor() -> float:
        return await timed("bare", bare(appends))

    async def timed(name: str, work: Awaitable[object]) -> float:
        before = await asyncio.to_thread(kept_bytes)
        began, cpu, theirs = time.monotonic(), time.process_time(), redis.cpu_seconds if redis else 0
        await work
        used = time.process_time() - cpu
        rates[name].append(total / (time.monotonic() - began))
        if redis is not None:
            store_cpu[name].append((redis.cpu_seconds - theirs) / total * 1e6)
            kept[name].append((await asyncio.to_thread(kept_bytes) - before) / total)
        return used / total * 1e6

    def kept_bytes() -> int:
        return 0 if redis is None else redis.kept_bytes()

    cpu = await alternating(size.rounds, {"product": product, "bare": floor})
    for game, head in games.items():
        events = await log.read(game)
        assert chain.check(chain.origin(game), events) is None
        assert events[-1].head == head
    rate = {name: Series(name, tuple(values[1:])) for name, values in rates.items()}
    rows = [
        Row("an event: hashed, heads compared, durable", "µs CPU", cpu["product"], cpu["bare"]),
        Row("durable events, 64 appends at once", "a second", rate["product"], rate["bare"]),
    ]
    if redis is not None:
        used, held = (
            {name: Series(name, tuple(values[1:])) for name, values in found.items()} for found in (store_cpu, kept)
        )
        rows.append(Row("an event, in Redis itself", "µs CPU", used["product"], used["bare"]))
        rows.append(Row("an event, in Redis's memory", "bytes", held["product"], held["bare"]))
    return Report(rows, [f"{len(games)} logs read again: every chain holds and ends at the head that was answered"])


@contextlib.asynccontextmanager
async def _embedded(folder: Path) -> AsyncIterator[tuple[Log, Bare]]:
    database = await Database.open(folder / "log.db", [SCHEMA])
    connection = bare_store(str(folder / "bare.db"))

    def groups(appends: int) -> None:
        ids = [secrets.token_bytes(16) for _ in range(GAMES)]
        for version in range(0, appends * EVENTS, EVENTS):
            connection.execute("BEGIN IMMEDIATE")
            rows = [(id_, version + each, bytes(32), bytes(BODY_BYTES)) for id_ in ids for each in range(EVENTS)]
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")

    try:
        yield SqliteLog(database), lambda appends: asyncio.to_thread(groups, appends)
    finally:
        await database.close()
        connection.close()


@contextlib.asynccontextmanager
async def _on(redis: Redis) -> AsyncIterator[tuple[Log, Bare]]:
    opened = await RedisStore.open(address(redis.url), FSYNC)
    pipelined = await Pipelined.to(redis.url)

    async def one(game: bytes, appends: int) -> None:
        for version in range(0, appends * EVENTS, EVENTS):
            stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            rows = [(game, version + each, bytes(32), bytes(BODY_BYTES)) for each in range(EVENTS)]
            pipelined.append(rows, partial(stored.set_result, None))
            await stored

    async def all_(appends: int) -> None:
        await asyncio.gather(*(one(secrets.token_bytes(16), appends) for _ in range(GAMES)))

    try:
        yield RedisLog(opened), all_
    finally:
        pipelined.close()
        await opened.close()
