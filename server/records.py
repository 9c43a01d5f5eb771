"""Players' records beside the log: reads the outboxes, folds, and writes rows with their checkpoint."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from events import entries
from events.chain import Head, Stored
from events.database import Database
from events.log import PARTITIONS, Log, OutboxEntry, partition
from projections import luck, rivals

SCHEMA = """
CREATE TABLE IF NOT EXISTS rivals (
    player BLOB NOT NULL,
    ladder TEXT NOT NULL,
    rival TEXT NOT NULL,
    games INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    PRIMARY KEY (player, ladder, rival)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS luck (
    player BLOB NOT NULL,
    ladder TEXT NOT NULL,
    games INTEGER NOT NULL,
    wins INTEGER NOT NULL,
    draws INTEGER NOT NULL,
    PRIMARY KEY (player, ladder)
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


@dataclass(frozen=True, slots=True)
class Luck:
    ladder: str
    games: int
    wins: int
    draws: int


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

    async def luck_of(self, player: bytes) -> Sequence[Luck]:
        """A player's rows in the games of luck, up to everything that was stored when this was called."""
        await self._catch_up()

        def rows(connection: sqlite3.Connection) -> list[Luck]:
            found = connection.execute(
                "SELECT ladder, games, wins, draws FROM luck WHERE player = ? ORDER BY ladder", (player,)
            )
            return [Luck(*row) for row in found]

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
        entry = entries.decode_of_game(item.body)
        for key in rivals.keys(entry):
            named = rivals.parts(key)
            found = connection.execute(
                "SELECT games, wins FROM rivals WHERE player = ? AND ladder = ? AND rival = ?", named
            ).fetchone()
            (stepped,) = rivals.step(0, entry, (rivals.Row(*found) if found else rivals.Row(),))
            row = rivals.Row._make(stepped)
            connection.execute("INSERT OR REPLACE INTO rivals VALUES (?, ?, ?, ?, ?)", (*named, row.games, row.wins))
        _fold_luck(connection, entry)
    connection.execute("INSERT OR REPLACE INTO rivals_read VALUES (?, ?)", (which, fresh[-1].position))


def _fold_luck(connection: sqlite3.Connection, entry: entries.Entry) -> None:
    for key in luck.keys(entry):
        found = connection.execute(
            "SELECT games, wins, draws FROM luck WHERE player = ? AND ladder = ?", key
        ).fetchone()
        row = luck.step(luck.Row(*found) if found else luck.START, key, entry)
        values = (*key, row.games, row.wins, row.draws)
        connection.execute("INSERT OR REPLACE INTO luck VALUES (?, ?, ?, ?, ?)", values)
