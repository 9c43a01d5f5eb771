"""The `Projected` contract in a SQLite file, which any number of processes may share."""

import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from events.database import Database
from server import generations
from server.projected import Checkpoint, Generation, Page, Standing, StoredRow, Taken

T = TypeVar("T")


class SqliteProjected:
    rows_at_once = 1_500_000
    """Of all projections together. A third of them are written, say: other processes wait a second for that."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def standing(self, names: Sequence[str], state: str = "live") -> Standing:
        return await self.database.read(partial(_standing, names=names, state=state))

    async def begin(self, name: str, version: int, state: str) -> Generation:
        return await self.database.write(lambda connection: generations.begin(connection, name, version, state))

    async def advance(
        self, known: Generation, after: Checkpoint, rows: Sequence[StoredRow], held: bytes = b""
    ) -> Generation:
        return await self.database.write(lambda connection: generations.advance(connection, known, after, rows, held))

    async def held(self, generation: Generation) -> bytes:
        return await self.database.read(lambda connection: generations.held(connection, generation.id))

    async def rows(self, name: str, generation: int, wanted: Sequence[bytes]) -> dict[bytes, bytes]:
        return await self.database.read(lambda connection: generations.rows(connection, generation, wanted))

    async def page(self, generation: Generation, prefix: bytes, after: bytes, limit: int) -> list[StoredRow]:
        job = partial(generations.page, generation=generation.id, prefix=prefix, after=after, limit=limit)
        return await self.database.read(job)

    async def view(self, names: Sequence[str], job: Callable[[Standing, Page], Awaitable[T]]) -> T:
        def viewed(connection: sqlite3.Connection) -> T:
            async def page(generation: Generation, prefix: bytes, after: bytes, limit: int) -> list[StoredRow]:
                return generations.page(connection, generation.id, prefix, after, limit)

            return _at_once(job(_standing(connection, names, "live"), page))

        return await self.database.read(viewed)

    async def take_over(self, known: Generation, force: bool) -> Taken | None:
        return await self.database.write(lambda connection: generations.take_over(connection, known, force))

    async def roll_back(self, name: str) -> Generation | None:
        return await self.database.write(partial(generations.roll_back, name=name))

    async def drop_building(self, name: str) -> None:
        await self.database.write(partial(generations.drop_building, name=name))

    async def sweep(self, names: Sequence[str]) -> None:
        while await self.database.write(generations.sweep):
            pass


def _standing(connection: sqlite3.Connection, names: Sequence[str], state: str) -> Standing:
    found = {name: generations.standing(connection, name, state) for name in names}
    return {name: generation for name, generation in found.items() if generation is not None}


def _at_once(made: Awaitable[T]) -> T:
    """The outcome of a coroutine that waits for nothing: here its pages are there when it asks for them."""
    coroutine = cast(Coroutine[Any, Any, T], made)
    try:
        coroutine.send(None)
    except StopIteration as ended:
        value: T = ended.value
        return value
    finally:
        coroutine.close()
    raise AssertionError("it waited for something")
