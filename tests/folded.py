"""The stores of what is folded, that the `Projected` and `Ranks` contracts are held to, each opened empty."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from events.database import Database
from server.boards import Boards
from server.generations import SCHEMA
from server.projected import Projected
from server.projector import Projector
from server.ranks import Ranks
from server.redis_boards import RedisBoards
from server.redis_projected import RedisProjected
from server.sqlite_projected import SqliteProjected
from tests.redis_stores import redis_store, shared_store
from tests.stores import REDIS, every


@dataclass(frozen=True, slots=True)
class Folded:
    store: Projected
    ranks: Callable[[Projector], Ranks]
    place: str
    """What `reopened` opens, in another process."""


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SqliteProjected]:
    """The file in this folder, beside whoever else has it open."""
    database = await Database.open(folder / "boards.db", [SCHEMA], shared=True)
    try:
        yield SqliteProjected(database)
    finally:
        await database.close()


@asynccontextmanager
async def reopened(place: str) -> AsyncIterator[Projected]:
    """A file, or a single Redis, as it is."""
    if place.startswith("redis://"):
        async with redis_store(place) as store:
            yield RedisProjected(store)
    else:
        async with opened(Path(place).parent) as file:
            yield file


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncIterator[Folded]:
    async with opened(folder) as store:
        yield Folded(store, partial(Boards, store), str(folder / "boards.db"))


@asynccontextmanager
async def _redis(name: str, folder: Path) -> AsyncIterator[Folded]:
    async with shared_store(name) as store:
        yield Folded(RedisProjected(store), lambda projector: RedisBoards(store), f"redis://{store.address.places[0]}")


FOLDED: dict[str, Callable[[Path], AbstractAsyncContextManager[Folded]]] = {
    "sqlite": _sqlite,
    **{name: partial(_redis, name) for name in REDIS},
}
on_every = pytest.mark.parametrize("kind", every(FOLDED))
on_few = pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=pytest.mark.slow) if name not in ("sqlite", "redis") else name for name in FOLDED]
)
"""What asks a store many thousand things."""
on_kept = pytest.mark.parametrize("kind", ["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
"""Where `reopened` can."""
