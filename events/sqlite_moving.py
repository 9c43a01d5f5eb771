"""`Movable` in one SQLite file: rows of the log's tables as they are."""

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from events.chain import Head
from events.database import Database
from events.ledger import Mark, origin
from events.log import Conflict, OutboxEntry
from events.moving import Claimed, Kept, assert_gapless

SCHEMA = "CREATE TABLE IF NOT EXISTS copying (copying INTEGER PRIMARY KEY NOT NULL);"
"""Its one row stands there while a copy into this file isn't whole."""
PAGE = 1000


class SqliteMovable:
    """`events.moving.Movable` in a Database opened with SCHEMA and the log's. To read, the log's is enough."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def kept(self, partition: int) -> Sequence[Kept]:
        query = (
            "SELECT game, version, hash, 0, deadline_ms FROM games WHERE {0} "
            "UNION ALL SELECT game, version, hash, 1, NULL FROM let_go WHERE {0} ORDER BY 1"
        )
        # A game's partition is its first byte.
        within = "game >= ?1" if partition == 255 else "game >= ?1 AND game < ?2"
        bounds = (bytes([partition]),) if partition == 255 else (bytes([partition]), bytes([partition + 1]))
        rows = await self._rows(query.format(within), bounds)
        return [
            Kept(game, Head(version, hash_), bool(gone), deadline_ms)
            for game, version, hash_, gone, deadline_ms in rows
        ]

    async def end(self, partition: int) -> Mark:
        return await self._database.read(lambda connection: _end(connection, partition))

    async def places(self) -> AsyncIterator[Sequence[Claimed]]:
        query = (
            "SELECT player, ladder, game, before FROM claims LEFT JOIN befores USING (game)"
            " WHERE (player, ladder) > (?, ?) ORDER BY player, ladder LIMIT ?"
        )
        last = (b"", "")
        while rows := await self._rows(query, (*last, PAGE)):
            yield [Claimed(*row) for row in rows]
            last = rows[-1][:2]

    async def beats(self) -> Sequence[tuple[int, int]]:
        rows = await self._rows("SELECT since_ms, until_ms FROM beats ORDER BY since_ms", ())
        return [(since_ms, until_ms) for since_ms, until_ms in rows]

    async def put_gone(self, partition: int, games: Sequence[Kept]) -> None:
        rows = [(each.game, each.head.version, each.head.hash) for each in games]
        await self._many(
            "INSERT OR IGNORE INTO let_go SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM games WHERE game = ?1)",
            rows,
        )

    async def put_deadlines(self, partition: int, deadlines: Mapping[bytes, int]) -> None:
        rows = [(at_ms, game) for game, at_ms in deadlines.items()]
        await self._many("UPDATE games SET deadline_ms = ? WHERE game = ?", rows)

    async def put_outbox(self, end: Mark, entries: Sequence[OutboxEntry]) -> None:
        assert_gapless(end, entries)
        first, last = entries[0], entries[-1]
        rows = [(each.partition, each.position, each.hash, each.game, each.body) for each in entries]

        def job(connection: sqlite3.Connection) -> None:
            if (stands := _end(connection, end.partition)) != end:
                raise Conflict(f"outbox {end.partition} ends at {stands.position}, not {end.position}, or otherwise")
            if first.position > end.position + 1:
                connection.execute("DELETE FROM outbox WHERE partition = ?", (end.partition,))
            connection.executemany("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)", rows)
            row = (end.partition, last.position, last.hash)
            connection.execute("INSERT OR REPLACE INTO partitions VALUES (?, ?, ?)", row)

        await self._database.write(job)

    async def put_beats(self, beats: Sequence[tuple[int, int]]) -> None:
        def job(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM beats")
            connection.executemany("INSERT INTO beats VALUES (?, ?)", beats)

        await self._database.write(job)

    async def put_unfinished(self, unfinished: bool) -> None:
        statement = "INSERT OR IGNORE INTO copying VALUES (1)" if unfinished else "DELETE FROM copying"
        await self._many(statement, [()])

    async def unfinished(self) -> bool:
        def job(connection: sqlite3.Connection) -> bool:
            # A file that was never copied into has no such table.
            known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'copying'").fetchone()
            return known is not None and connection.execute("SELECT 1 FROM copying").fetchone() is not None

        return await self._database.read(job)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await self._database.read(lambda connection: connection.execute(query, values).fetchall())

    async def _many(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        await self._database.write(lambda connection: connection.executemany(statement, rows) and None)


def _end(connection: sqlite3.Connection, partition: int) -> Mark:
    row = connection.execute(
        "SELECT partition, position, hash FROM partitions WHERE partition = ?", (partition,)
    ).fetchone()
    return Mark(*row) if row else origin(partition)
