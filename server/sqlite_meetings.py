"""Who meets whom, in the tables of the embedded file."""

import secrets
import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any

from events import sqlite
from events.database import Database
from events.shapes import pack, unpack
from rules.fairness import GAME_BYTES
from rules.game import DAY_MS
from server.meetings import SERVER_MS_MAX, Entry, Meeting, Rematch
from server.pairing import Waiting, pairs

ASKED_MAX = 500
"""Players in one query."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS meetings (
    game BLOB PRIMARY KEY NOT NULL, rules TEXT NOT NULL, settings BLOB NOT NULL,
    first BLOB NOT NULL, second BLOB NOT NULL, counts INTEGER NOT NULL, listed INTEGER NOT NULL,
    befores BLOB NOT NULL, opened INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meeting_players (
    player BLOB NOT NULL, game BLOB NOT NULL, PRIMARY KEY (player, game)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS meeting_games ON meeting_players (game);
CREATE TABLE IF NOT EXISTS rematches (
    game BLOB PRIMARY KEY NOT NULL, rules TEXT NOT NULL, player BLOB NOT NULL, other BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rematches_asked ON rematches (player);
CREATE INDEX IF NOT EXISTS rematches_offered ON rematches (other);
CREATE INDEX IF NOT EXISTS meetings_unopened ON meetings (game) WHERE opened = 0;
CREATE TABLE IF NOT EXISTS meetings_instead (
    game BLOB PRIMARY KEY NOT NULL, fresh BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS queue (
    rules TEXT NOT NULL, player BLOB NOT NULL, ladder TEXT NOT NULL, rating INTEGER NOT NULL,
    since_ms INTEGER NOT NULL, before BLOB NOT NULL, server BLOB NOT NULL, PRIMARY KEY (rules, player)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS queue_servers (
    server BLOB PRIMARY KEY NOT NULL, seen_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS paired (
    game BLOB PRIMARY KEY NOT NULL, day INTEGER NOT NULL, ladder TEXT NOT NULL,
    first BLOB NOT NULL, second BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS paired_on ON paired (day, ladder, first, second);
"""


class SqliteMeetings:
    """`Meetings` in a Database opened with SCHEMA and the log's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def arrange(self, meeting: Meeting) -> bool:
        return await self._database.write(partial(_arrange, meeting=meeting))

    async def opened(self, game: bytes) -> None:
        await self._write("UPDATE meetings SET opened = 1 WHERE game = ?", (game,))

    async def joins(self, player: bytes, game: bytes) -> None:
        await self._write("INSERT OR IGNORE INTO meeting_players VALUES (?, ?)", (player, game))

    async def missed(self, player: bytes, game: bytes) -> None:
        await self._write("DELETE FROM meeting_players WHERE player = ? AND game = ?", (player, game))

    async def forget(self, game: bytes, void: bool) -> None:
        def job(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM meetings WHERE game = ?", (game,))
            connection.execute("DELETE FROM meeting_players WHERE game = ?", (game,))
            if void:
                connection.execute("DELETE FROM paired WHERE game = ?", (game,))

        await self._database.write(job)

    async def replace(self, game: bytes, fresh: bytes) -> bool:
        return await self._database.write(partial(_replace, game=game, fresh=fresh))

    async def instead(self, game: bytes) -> bytes:
        while rows := await self._rows("SELECT fresh FROM meetings_instead WHERE game = ?", (game,)):
            game = rows[0][0]
        return game

    async def unopened(self) -> Sequence[Meeting]:
        return await self._meetings("WHERE opened = 0", ())

    async def meeting(self, game: bytes) -> Meeting | None:
        found = await self._meetings("WHERE game = ?", (game,))
        return found[0] if found else None

    async def of(self, player: bytes) -> Sequence[Meeting]:
        return await self._meetings("JOIN meeting_players USING (game) WHERE player = ? ORDER BY game", (player,))

    async def offer(self, rematch: Rematch) -> bytes:
        row = (rematch.game, rematch.rules, rematch.player, rematch.other)

        def job(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO rematches VALUES (?, ?, ?, ?)", row)
            found = connection.execute("SELECT player FROM rematches WHERE game = ?", (rematch.game,)).fetchone()
            asked: bytes = found[0]
            return asked

        return await self._database.write(job)

    async def offers(self, player: bytes) -> Sequence[Rematch]:
        rows = await self._rows(
            "SELECT game, rules, player, other FROM rematches WHERE other = ? ORDER BY game", (player,)
        )
        return [Rematch(*row) for row in rows]

    async def accept(self, game: bytes) -> None:
        await self._write("DELETE FROM rematches WHERE game = ?", (game,))

    async def asks(self, player: bytes) -> bool:
        return bool(await self._rows("SELECT 1 FROM rematches WHERE player = ? LIMIT 1", (player,)))

    async def withdraw(self, player: bytes) -> Sequence[bytes]:
        def job(connection: sqlite3.Connection) -> list[bytes]:
            others = [
                other for (other,) in connection.execute("SELECT other FROM rematches WHERE player = ?", (player,))
            ]
            connection.execute("DELETE FROM rematches WHERE player = ?", (player,))
            return others

        return await self._database.write(job)

    # ------------------------------------------------------------ the queue

    async def enter(self, entry: Entry) -> None:
        await self._database.write(partial(_enter, entry=entry))

    async def leave(self, rules: str, player: bytes, server: bytes | None = None) -> bool:
        where = "rules = ? AND player = ? AND server = ifnull(?, server)"
        return await self._changes(f"DELETE FROM queue WHERE {where}", (rules, player, server))

    async def move(self, rules: str, player: bytes, server: bytes, now_ms: int) -> bool:
        def job(connection: sqlite3.Connection) -> bool:
            _sign(connection, server, now_ms)
            row = (server, rules, player)
            moved = connection.execute("UPDATE queue SET server = ? WHERE rules = ? AND player = ?", row)
            return moved.rowcount > 0

        return await self._database.write(job)

    async def pair(self, rules: str, server: bytes, now_ms: int) -> Sequence[Meeting]:
        return await self._database.write(partial(_pair, rules=rules, server=server, now_ms=now_ms))

    async def waiting(self, rules: str) -> int:
        ((count,),) = await self._rows("SELECT count(*) FROM queue WHERE rules = ?", (rules,))
        return int(count)

    async def waits(self, rules: str, players: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for start in range(0, len(players), ASKED_MAX):
            some = players[start : start + ASKED_MAX]
            marks = ", ".join("?" * len(some))
            rows = await self._rows(f"SELECT player FROM queue WHERE rules = ? AND player IN ({marks})", (rules, *some))
            found.update(player for (player,) in rows)
        return found

    # ------------------------------------------------------------ its tables

    async def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        await self._database.write(lambda connection: connection.execute(statement, values) and None)

    async def _changes(self, statement: str, values: tuple[Any, ...]) -> bool:
        """Whether it changed a row."""
        return await self._database.write(lambda connection: connection.execute(statement, values).rowcount > 0)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await self._database.read(lambda connection: connection.execute(query, values).fetchall())

    async def _meetings(self, which: str, values: tuple[Any, ...]) -> Sequence[Meeting]:
        columns = "game, rules, settings, first, second, counts, listed, befores"
        rows = await self._rows(f"SELECT {columns} FROM meetings {which}", values)
        return [
            Meeting(
                *(game, rules, unpack(settings), (first, second), bool(counts), bool(listed)),
                tuple(befores[at : at + GAME_BYTES] for at in range(0, len(befores), GAME_BYTES)),
            )
            for game, rules, settings, first, second, counts, listed, befores in rows
        ]


def _enter(connection: sqlite3.Connection, entry: Entry) -> None:
    row = (entry.rules, entry.player, entry.ladder, entry.rating, entry.since_ms, entry.before, entry.server)
    connection.execute(
        "INSERT INTO queue VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET rating = excluded.rating, before = excluded.before, server = excluded.server",
        row,
    )
    connection.execute("INSERT OR REPLACE INTO queue_servers VALUES (?, ?)", (entry.server, entry.since_ms))


def _arrange(connection: sqlite3.Connection, meeting: Meeting) -> bool:
    if connection.execute("SELECT 1 FROM meetings_instead WHERE game = ?", (meeting.game,)).fetchone() is not None:
        return False
    if connection.execute("SELECT 1 FROM meetings WHERE game = ? AND opened", (meeting.game,)).fetchone() is not None:
        return False
    row = (
        *(meeting.game, meeting.rules, pack(meeting.settings), *meeting.players),
        *(meeting.counts, meeting.listed, b"".join(meeting.befores)),
    )
    connection.execute("INSERT OR IGNORE INTO meetings VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", row)
    for player in filter(None, meeting.players):
        connection.execute("INSERT OR IGNORE INTO meeting_players VALUES (?, ?)", (player, meeting.game))
    return True


def _replace(connection: sqlite3.Connection, game: bytes, fresh: bytes) -> bool:
    columns = "rules, settings, first, second, counts, listed, befores"
    row = connection.execute(f"SELECT {columns} FROM meetings WHERE game = ?", (game,)).fetchone()
    connection.execute("INSERT OR IGNORE INTO meetings_instead VALUES (?, ?)", (game, fresh))
    if row is None:
        return False
    connection.execute("INSERT INTO meetings VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)", (fresh, *row))
    connection.execute("DELETE FROM meetings WHERE game = ?", (game,))
    connection.execute("DELETE FROM meeting_players WHERE game = ?", (game,))
    for player in filter(None, row[2:4]):
        connection.execute("INSERT INTO meeting_players VALUES (?, ?)", (player, fresh))
        held = "SELECT ladder FROM claims WHERE player = ? AND game = ?"
        for (ladder,) in connection.execute(held, (player, game)).fetchall():
            sqlite.claim(connection, player, ladder, fresh, game)
    connection.execute("UPDATE paired SET game = ? WHERE game = ?", (fresh, game))
    return True


def _pair(connection: sqlite3.Connection, rules: str, server: bytes, now_ms: int) -> list[Meeting]:
    _sign(connection, server, now_ms)
    columns = "rules, player, ladder, rating, since_ms, before, server"
    rows = connection.execute(f"SELECT {columns} FROM queue WHERE rules = ?", (rules,)).fetchall()
    waiting = {entry.player: entry for entry in (Entry(*row) for row in rows)}
    day = now_ms // DAY_MS
    connection.execute("DELETE FROM paired WHERE day < ?", (day,))
    arranged = []
    for pair in pairs(
        [Waiting(each.player, each.rating, each.since_ms) for each in waiting.values()],
        now_ms,
        lambda one, other: _met(connection, day, waiting[one].ladder, one, other),
    ):
        first, second = (waiting[player] for player in pair.players)
        meeting = Meeting(
            *(secrets.token_bytes(GAME_BYTES), rules, (), pair.players, pair.counts, False),
            tuple(sorted({first.before, second.before} - {b""})) if pair.counts else (),
        )
        if pair.counts:
            stale = [each for each in (first, second) if not _may_claim(connection, each)]
            if stale:
                # Another game holds the place since: this entry isn't worth a partner. The other waits on.
                _drop(connection, stale)
                continue
            for each in (first, second):
                sqlite.claim(connection, each.player, each.ladder, meeting.game, each.before)
            row = (meeting.game, day, first.ladder, *sorted(pair.players))
            connection.execute("INSERT INTO paired VALUES (?, ?, ?, ?, ?)", row)
        _drop(connection, [first, second])
        _arrange(connection, meeting)
        arranged.append(meeting)
    return arranged


def _sign(connection: sqlite3.Connection, server: bytes, now_ms: int) -> None:
    connection.execute("INSERT OR REPLACE INTO queue_servers VALUES (?, ?)", (server, now_ms))
    connection.execute("DELETE FROM queue_servers WHERE seen_ms < ?", (now_ms - SERVER_MS_MAX,))
    connection.execute("DELETE FROM queue WHERE server NOT IN (SELECT server FROM queue_servers)")


def _met(connection: sqlite3.Connection, day: int, ladder: str, one: bytes, other: bytes) -> int:
    """How many games that count the two have had that day."""
    query = "SELECT count(*) FROM paired WHERE day = ? AND ladder = ? AND first = ? AND second = ?"
    ((games,),) = connection.execute(query, (day, ladder, *sorted((one, other))))
    return int(games)


def _may_claim(connection: sqlite3.Connection, entry: Entry) -> bool:
    return (sqlite.claimed(connection, entry.player, entry.ladder) or b"") == entry.before


def _drop(connection: sqlite3.Connection, entries: Sequence[Entry]) -> None:
    connection.executemany(
        "DELETE FROM queue WHERE rules = ? AND player = ?", [(each.rules, each.player) for each in entries]
    )
