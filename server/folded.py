"""Where that is which was folded from the ledger: in `boards.db`, or in the Redis of the setting. What opens it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from events.database import Database
from server import generations
from server.boards import Boards
from server.projected import Projected
from server.projector import Projector
from server.ranks import Ranks
from server.redis_boards import RedisBoards
from server.redis_projected import RedisProjected
from server.settings import Settings
from server.sqlite_projected import SqliteProjected
from server.stores import Stores


@asynccontextmanager
async def projected(settings: Settings, stores: Stores) -> AsyncIterator[Projected]:
    """Any number of processes may have it open."""
    if stores.redis is not None:
        yield RedisProjected(stores.redis)
        return
    database = await Database.open(settings.boards, [generations.SCHEMA], shared=True)
    try:
        yield SqliteProjected(database)
    finally:
        await database.close()


def ranks(stores: Stores, folded: Projected, projector: Projector) -> Ranks:
    """Every server reads the boards of a Redis there; those of a file are loaded from it."""
    return RedisBoards(stores.redis) if stores.redis is not None else Boards(folded, projector)
