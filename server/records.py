"""Rival records beside the log: reads the outboxes, folds, and writes rows with their checkpoint."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from events import entries
from events.chain import Head, Stored
from events.database import Database
from events.log import PARTITIONS, Log, OutboxEntry, partition
from projections import rivals

SCHEMA = """
CREATE TABLE IF NOT EXISTS rivals (
    player BLOB NOT NULL,
    ladder TEXT NOT NULL,
    rival TEXT NOT NULL,
    games INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    PRIMARY KEY (player, ladder, rival)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rivals_read (
    partition INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Record:
    ladder: str
    rival: str
    games: int
    wins: int


class Records:
    """Each partition is read from its checkpoint, and the checkpoint is written with the rows it accounts for."""

    def __init__(self, database: Database, log: Log) -> None:
        self._database = database
        self._log = log
        self._behind = set(range(PARTITIONS))
        self._reading = asyncio.Lock()
        log.listen(self._appended)

    def _appended(self, game: bytes, before: Head, events: tuple[Stored, ...]) -> None:
        self._behind.add(partition(game))

    async def of(self, player: bytes) -> Sequence[Record]:
        """A player's rows, up to everything that was stored when this was called."""
        await self._catch_up()

        def rows(connection: sqlite3.Connection) -> list[Record]:
            found = connection.execute(
                "SELECT ladder, rival, games, wins FROM rivals WHERE player = ? ORDER BY ladder, rival", (player,)
            )
            return [Record(*row) for row in found]

        return await self._database.read(rows)

    async def _catch_up(self) -> None:
        async with self._reading:
            while self._behind:
                which = self._behind.pop()
                try:
                    while await self._read(which):
                        pass
                except BaseException:
                    self._behind.add(which)
                    raise

    async def _read(self, which: int) -> bool:
        """Fold the next entries of a partition; False if there were none."""
        position = await self._database.read(lambda connection: _checkpoint(connection, which))
        fresh = await self._log.outbox(which, position)
        if not fresh:
            return False
        await self._database.write(lambda connection: _fold(connection, which, position, fresh))
        return True


def _checkpoint(connection: sqlite3.Connection, which: int) -> int:
    row = connection.execute("SELECT position FROM rivals_read WHERE partition = ?", (which,)).fetchone()
    return row[0] if row else 0


def _fold(connection: sqlite3.Connection, which: int, position: int, fresh: Sequence[OutboxEntry]) -> None:
    if _checkpoint(connection, which) != position:
        return  # Somebody else read them.
    for item in fresh:
        entry = entries.decode(item.body)
        for key in rivals.keys(entry):
            named = rivals.parts(key)
            found = connection.execute(
                "SELECT games, wins FROM rivals WHERE player = ? AND ladder = ? AND rival = ?", named
            ).fetchone()
            (stepped,) = rivals.step(0, entry, (rivals.Row(*found) if found else rivals.Row(),))
            row = rivals.Row._make(stepped)
            connection.execute("INSERT OR REPLACE INTO rivals VALUES (?, ?, ?, ?, ?)", (*named, row.games, row.wins))
    connection.execute("INSERT OR REPLACE INTO rivals_read VALUES (?, ?)", (which, fresh[-1].position))
