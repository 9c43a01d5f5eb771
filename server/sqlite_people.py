"""People in a SQLite file of their own, whose free pages and WAL hold nothing of who was erased."""

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from events.database import Database
from rules.fairness import PLAYER_BYTES
from server.naming import ERASED, normal, skeleton
from server.people import ASKED_MAX, CHANGE_MS, TOKEN_BYTES, Ended, Name, Person, Taken, TooSoon, token_hash

SCHEMA = """
CREATE TABLE IF NOT EXISTS players (
    player BLOB PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (
    player BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL, skeleton TEXT NOT NULL UNIQUE,
    changed_ms INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased (player BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
"""
ROWS = ("names", "players")
"""Every table with rows about a player that are erased."""


class SqlitePeople:
    """`server.people.People` in a Database opened with SCHEMA."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listeners: list[Ended] = []

    def listen(self, ended: Ended) -> None:
        self._listeners.append(ended)

    def _tell(self, hash_: bytes) -> None:
        for ended in self._listeners:
            ended(hash_)

    # ------------------------------------------------------------ tokens

    async def join(self, now_ms: int) -> tuple[bytes, bytes]:
        player, token = secrets.token_bytes(PLAYER_BYTES), secrets.token_bytes(TOKEN_BYTES)

        def insert(connection: sqlite3.Connection) -> None:
            row = (player, token_hash(token), now_ms)
            connection.execute("INSERT INTO players (player, token_hash, created_ms) VALUES (?, ?, ?)", row)

        await self._database.write(insert)
        return player, token

    async def who(self, token: bytes) -> bytes | None:
        def find(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT player FROM players WHERE token_hash = ?", (token_hash(token),)).fetchone()
            return row[0] if row else None

        return await self._database.read(find)

    async def standing(self, hashes: Sequence[bytes]) -> set[bytes]:
        return await self._found("token_hash", hashes)

    async def renew(self, token: bytes) -> bytes | None:
        fresh, before = secrets.token_bytes(TOKEN_BYTES), token_hash(token)

        def update(connection: sqlite3.Connection) -> bool:
            query = "UPDATE players SET token_hash = ? WHERE token_hash = ?"
            return connection.execute(query, (token_hash(fresh), before)).rowcount > 0

        if not await self._database.write(update):
            return None
        self._tell(before)
        return fresh

    async def known(self, players: Sequence[bytes]) -> set[bytes]:
        return await self._found("player", players)

    async def _found(self, column: str, values: Sequence[bytes]) -> set[bytes]:
        def find(connection: sqlite3.Connection) -> set[bytes]:
            query = f"SELECT {column} FROM players WHERE {column} IN ({_marks(values)})"
            return {value for (value,) in connection.execute(query, tuple(values))}

        return await self._database.read(find)

    # ------------------------------------------------------------ names

    async def called(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        wanted = list(dict.fromkeys(players))

        def find(connection: sqlite3.Connection) -> dict[bytes, str]:
            found: dict[bytes, str] = {}
            for at in range(0, len(wanted), ASKED_MAX):
                some = wanted[at : at + ASKED_MAX]
                query = f"SELECT player, name FROM names WHERE NOT hidden AND player IN ({_marks(some)})"
                found.update(connection.execute(query, some).fetchall())
                query = f"SELECT player FROM erased WHERE player IN ({_marks(some)})"
                found.update((player, ERASED) for (player,) in connection.execute(query, some))
            return found

        return await self._database.read(find) if wanted else {}

    async def choose(self, player: bytes, text: str, now_ms: int) -> str:
        name = normal(text)
        looks = skeleton(name)

        def put(connection: sqlite3.Connection) -> None:
            query = "SELECT name, changed_ms, skeleton, hidden FROM names WHERE player = ?"
            before = connection.execute(query, (player,)).fetchone()
            if before is not None and before[0] == name:
                return
            if connection.execute("SELECT 1 FROM players WHERE player = ?", (player,)).fetchone() is None:
                return  # Erased since the request came: nothing may come back.
            if before is not None and now_ms < before[1] + CHANGE_MS:
                raise TooSoon(before[1] + CHANGE_MS - now_ms)
            if _is_taken(connection, player, looks):
                raise Taken
            # Written otherwise it is still the name that was hidden.
            hidden = before[3] if before is not None and before[2] == looks else 0
            values = (player, name, looks, now_ms, hidden)
            connection.execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?, ?)", values)

        await self._database.write(put)
        return name

    async def hide(self, player: bytes, hidden: bool) -> bool:
        def put(connection: sqlite3.Connection) -> bool:
            query = "UPDATE names SET hidden = ? WHERE player = ?"
            return connection.execute(query, (hidden, player)).rowcount > 0

        return await self._database.write(put)

    # ------------------------------------------------------------ all of a player

    async def erase(self, player: bytes) -> bool:
        """When this returns the file's bytes have nothing of these rows."""

        def job(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT token_hash FROM players WHERE player = ?", (player,)).fetchone()
            _erase(connection, player, known=row is not None)
            return row[0] if row is not None else None

        hash_ = await self._database.write(job)
        if hash_ is not None:
            self._tell(hash_)
        await self._database.scrub()
        return hash_ is not None

    async def page(self, after: bytes, limit: int) -> Sequence[Person]:
        query = (
            "SELECT player, token_hash, created_ms, name, skeleton, changed_ms, hidden"
            " FROM players LEFT JOIN names USING (player) WHERE player > ?1"
            " UNION ALL SELECT player, x'', 0, NULL, NULL, NULL, NULL FROM erased WHERE player > ?1"
            " ORDER BY player LIMIT ?2"
        )

        def read(connection: sqlite3.Connection) -> list[Person]:
            return [
                Person(player, hash_, created_ms, Name(name, looks, changed_ms, bool(hidden)) if name else None)
                for player, hash_, created_ms, name, looks, changed_ms, hidden in connection.execute(
                    query, (after, limit)
                )
            ]

        return await self._database.read(read)

    async def put(self, people: Sequence[Person]) -> Sequence[bytes]:
        def job(connection: sqlite3.Connection) -> list[bytes]:
            return [each.player for each in people if not _put(connection, each)]

        left_out = await self._database.write(job)
        if any(person.erased for person in people):
            await self._database.scrub()
        return left_out


def _marks(values: Sequence[bytes]) -> str:
    return ", ".join("?" * len(values))


def _is_taken(connection: sqlite3.Connection, player: bytes, looks: str) -> bool:
    query = "SELECT 1 FROM names WHERE skeleton = ? AND player <> ?"
    return connection.execute(query, (looks, player)).fetchone() is not None


def _erase(connection: sqlite3.Connection, player: bytes, known: bool) -> None:
    if known:
        connection.execute("INSERT OR IGNORE INTO erased VALUES (?)", (player,))
    for table in ROWS:
        connection.execute(f"DELETE FROM {table} WHERE player = ?", (player,))


def _put(connection: sqlite3.Connection, person: Person) -> bool:
    """Whether his name, if he has one, is his here, too."""
    player, name = person.player, person.name
    if person.erased:
        _erase(connection, player, known=True)
        return True
    if connection.execute("SELECT 1 FROM erased WHERE player = ?", (player,)).fetchone() is not None:
        return True
    connection.execute(
        "INSERT OR REPLACE INTO players VALUES (?, ?, ?)", (player, person.token_hash, person.created_ms)
    )
    connection.execute("DELETE FROM names WHERE player = ?", (player,))
    if name is None:
        return True
    if _is_taken(connection, player, name.skeleton):
        return False
    row = (player, name.text, name.skeleton, name.changed_ms, name.hidden)
    connection.execute("INSERT INTO names VALUES (?, ?, ?, ?, ?)", row)
    return True


async def move_from(before: Database, people: Database) -> None:
    """Players' rows that an older release kept beside the games, into the file of their own. Killed half-way: again."""

    def rows(connection: sqlite3.Connection) -> list[tuple[bytes, bytes, int]]:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'players'").fetchone() is None:
            return []
        return connection.execute("SELECT player, token_hash, created_ms FROM players").fetchall()

    def put(connection: sqlite3.Connection) -> None:
        connection.executemany("INSERT OR IGNORE INTO players VALUES (?, ?, ?)", found)

    def drop(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("DROP TABLE players")
        connection.execute("PRAGMA secure_delete = OFF")

    if found := await before.read(rows):
        await people.write(put)
        await before.write(drop)
