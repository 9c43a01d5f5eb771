"""Where log, ledger and people are: in SQLite files, or in the Redis that a setting names. What opens them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from events import sqlite, sqlite_ledger
from events.database import Busy, Database, Newer
from events.ledger import Ledger
from events.log import Log
from events.moving import Movable
from events.redis_address import Address
from events.redis_connection import Lost, Refused
from events.redis_durability import Durability
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from events.redis_moving import RedisMovable
from events.redis_store import BadStore, RedisStore
from events.sqlite import SqliteLog
from events.sqlite_ledger import SqliteLedger
from events.sqlite_moving import SqliteMovable
from server import sqlite_people
from server.pen import FilePen, NoPen, Pen, RedisPen, Signing, taken_up
from server.people import People
from server.redis_people import RedisPeople
from server.settings import Settings
from server.sqlite_people import SqlitePeople

SCHEMAS = (sqlite.SCHEMA, sqlite_ledger.SCHEMA)
PEOPLE_SCHEMAS = (sqlite_people.SCHEMA,)


class Unfinished(Exception):
    """A copy into this store has begun and isn't whole."""


FAULTS = (Busy, Newer, BadStore, Unfinished, Refused, Lost, Signing, OSError)
"""Why a store can't be opened; each says so in words for the operator. Unreachable is one of the last."""


@dataclass(frozen=True, slots=True)
class Stores:
    log: Log
    ledger: Ledger
    movable: Movable
    redis: RedisStore | None = None
    """Where both are, if they are there."""
    embedded: Database | None = None
    """The file where both are, if they are there."""


@asynccontextmanager
async def stores(settings: Settings, schemas: Sequence[str]) -> AsyncIterator[Stores]:
    """To serve from. `schemas`: of the embedded file, which one server at a time has to itself. Raises FAULTS."""
    async with stores_to_move(settings, schemas) as found:
        await _check_whole(settings, found)
        yield found


@asynccontextmanager
async def stores_to_move(settings: Settings, schemas: Sequence[str]) -> AsyncIterator[Stores]:
    """Also where a copy isn't whole. The embedded file is locked; of a Redis only beats tell. Raises FAULTS."""
    async with _opened(settings, lambda: Database.open(settings.log, schemas)) as found:
        yield found


@asynccontextmanager
async def stores_to_read(settings: Settings) -> AsyncIterator[Stores]:
    """Also while servers run. Raises FileNotFoundError, FAULTS."""
    if settings.redis is None and not settings.log.is_file():
        raise FileNotFoundError(f"there is no log at {settings.log}")
    async with _opened(settings, lambda: Database.reader(settings.log)) as found:
        yield found


@asynccontextmanager
async def stores_beside(settings: Settings) -> AsyncIterator[Stores]:
    """To write to beside the servers that may be serving from them. Raises FAULTS."""
    async with _opened(settings, lambda: Database.open(settings.log, SCHEMAS, shared=True)) as found:
        # Whatever is written there the copy's source hasn't, and no copy would ever go on.
        await _check_whole(settings, found)
        yield found


async def _check_whole(settings: Settings, found: Stores) -> None:
    if await found.movable.unfinished():
        raise Unfinished(f"{settings.redis or settings.log}: a copy into it isn't whole: `statecraft copy` goes on")


@asynccontextmanager
async def stores_to_refill(settings: Settings) -> AsyncIterator[Stores]:
    """While no server runs: the embedded file is locked, and nobody else has the pen. Raises FAULTS, Unknown."""
    async with stores(settings, SCHEMAS) as found:
        pen = pen_of(replace(settings, signs=True), found.redis)
        await taken_up(pen)
        try:
            yield found
            await pen.forget()
        finally:
            await pen.let_go()


def pen_of(settings: Settings, redis: RedisStore | None) -> Pen:
    """Who may sign what is stored there."""
    if redis is None:
        return FilePen(settings.keys)
    return RedisPen(redis, settings.keys) if settings.signs else NoPen(RedisPen(redis))


@asynccontextmanager
async def people_in(found: Stores, settings: Settings, move: bool = False) -> AsyncIterator[People]:
    """Everybody of these stores; `move`: those, too, whom an older release kept in the embedded file. Raises FAULTS."""
    if found.redis is not None:
        yield RedisPeople(found.redis)
        return
    database = await Database.open(settings.people, PEOPLE_SCHEMAS, shared=True)
    try:
        if move and found.embedded is not None:
            await sqlite_people.move_from(found.embedded, database)
        yield SqlitePeople(database)
    finally:
        await database.close()


@asynccontextmanager
async def _opened(settings: Settings, embedded: Callable[[], Awaitable[Database]]) -> AsyncIterator[Stores]:
    """`embedded` opens the embedded file, and isn't called where a Redis is named."""
    if settings.redis is not None:
        async with _redis(settings.redis, settings.durability) as found:
            yield found
        return
    database = await embedded()
    try:
        yield Stores(SqliteLog(database), SqliteLedger(database), SqliteMovable(database), embedded=database)
    finally:
        await database.close()


@asynccontextmanager
async def _redis(address: Address, durability: Durability) -> AsyncIterator[Stores]:
    store = await RedisStore.open(address, durability)
    try:
        yield Stores(RedisLog(store), RedisLedger(store), RedisMovable(store), store)
    finally:
        await store.close()
