"""The stores that the contract is held to, each opened empty. A further store is one more entry in STORES."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from events.database import Database
from events.ledger import Ledger
from events.log import Log
from events.sqlite import SCHEMA, SqliteLog
from events.sqlite_ledger import SCHEMA as LEDGER_SCHEMA
from events.sqlite_ledger import SqliteLedger
from tests.contrary import ContraryLog
from tests.contrary_ledger import ContraryLedger


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
async def contrary_but_calm(folder: Path) -> AsyncIterator[Store]:
    clock = Clock()
    yield Store(ContraryLog(clock=clock, calm=True), clock.pass_ms)


STORES: dict[str, Callable[[Path], AbstractAsyncContextManager[Store]]] = {
    "sqlite": sqlite,
    "contrary": contrary_but_calm,
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


LEDGERS: dict[str, Callable[[Path], AbstractAsyncContextManager[Ledger]]] = {
    "sqlite": sqlite_ledger,
    "contrary": contrary_but_calm_ledger,
}
