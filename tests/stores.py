"""The stores that the contract is held to, each opened empty. A further store is one more entry in STORES."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from events.database import Database
from events.ledger import Ledger
from events.log import Log
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from events.sqlite import SCHEMA, SqliteLog
from events.sqlite_ledger import SCHEMA as LEDGER_SCHEMA
from events.sqlite_ledger import SqliteLedger
from server.recent import RecentLog
from tests.contrary import ContraryLog
from tests.contrary_ledger import ContraryLedger
from tests.redis_stores import shared_store


@dataclass(frozen=True, slots=True)
class Store:
    log: Log
    pass_ms: Callable[[int], Awaitable[None]]
    """Let so much time pass on the store's clock, and perhaps a little more."""


class Clock:
    """A store's clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now_ms = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now_ms

    async def pass_ms(self, ms: int) -> None:
        self.now_ms += ms


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Store]:
    clock = Clock()
    database = await Database.open(folder / "log.db", [SCHEMA])
    try:
        yield Store(SqliteLog(database, clock), clock.pass_ms)
    finally:
        await database.close()


@asynccontextmanager
async def recent(folder: Path) -> AsyncIterator[Store]:
    """A store that forgets nothing, behind what would put it back."""
    async with sqlite(folder) as store:
        yield Store(RecentLog(store.log), store.pass_ms)


@asynccontextmanager
async def contrary_but_calm(folder: Path) -> AsyncIterator[Store]:
    clock = Clock()
    yield Store(ContraryLog(clock=clock, calm=True), clock.pass_ms)


@asynccontextmanager
async def redis(name: str, folder: Path) -> AsyncIterator[Store]:
    async with shared_store(name) as store:
        yield Store(RedisLog(store), store.pass_ms)


REDIS = ("redis", "valkey", "sentinel", "cluster")
EVERYDAY = ("redis", "cluster")
"""One server, and many. Each process of tests starts all it needs, so the others of REDIS are for the whole set."""


def every(stores: Iterable[str]) -> list[Any]:
    """Of STORES or LEDGERS, as a fixture's parameters."""
    return [
        pytest.param(name, marks=pytest.mark.slow) if name in REDIS and name not in EVERYDAY else name
        for name in stores
    ]


STORES: dict[str, Callable[[Path], AbstractAsyncContextManager[Store]]] = {
    "sqlite": sqlite,
    "contrary": contrary_but_calm,
    "recent": recent,
    **{name: partial(redis, name) for name in REDIS},
}


@asynccontextmanager
async def sqlite_ledger(folder: Path) -> AsyncIterator[Ledger]:
    database = await Database.open(folder / "ledger.db", [LEDGER_SCHEMA])
    try:
        yield SqliteLedger(database)
    finally:
        await database.close()


@asynccontextmanager
async def contrary_but_calm_ledger(folder: Path) -> AsyncIterator[Ledger]:
    yield ContraryLedger(calm=True)


@asynccontextmanager
async def redis_ledger(name: str, folder: Path) -> AsyncIterator[Ledger]:
    async with shared_store(name) as store:
        yield RedisLedger(store)


LEDGERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Ledger]]] = {
    "sqlite": sqlite_ledger,
    "contrary": contrary_but_calm_ledger,
    **{name: partial(redis_ledger, name) for name in REDIS},
}
