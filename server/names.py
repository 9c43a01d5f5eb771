"""What players are called. The one place that knows; no log, no leaf and no projection does."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from events.database import Database
from server.naming import ERASED, normal, skeleton

SCHEMA = """
CREATE TABLE IF NOT EXISTS names (
    player BLOB PRIMARY KEY NOT NULL, name TEXT NOT NULL, skeleton TEXT NOT NULL UNIQUE,
    changed_ms INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased (player BLOB PRIMARY KEY NOT NULL) WITHOUT ROWID;
"""
CHANGE_MS = 60 * 60 * 1000
"""Between two changes of a name."""
ASKED_MAX = 500
"""Of one statement."""


class Taken(Exception):
    """Somebody has this name, or one that looks like it."""


@dataclass
class TooSoon(Exception):
    """The name was changed a little while ago."""

    wait_ms: int


class Names:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        """Names by player, of those who have one that is shown. Who was erased is called ERASED."""
        wanted = list(dict.fromkeys(players))

        def find(connection: sqlite3.Connection) -> dict[bytes, str]:
            found: dict[bytes, str] = {}
            for at in range(0, len(wanted), ASKED_MAX):
                some = wanted[at : at + ASKED_MAX]
                marks = ", ".join("?" * len(some))
                query = f"SELECT player, name FROM names WHERE NOT hidden AND player IN ({marks})"
                found.update(connection.execute(query, some).fetchall())
                for (player,) in connection.execute(f"SELECT player FROM erased WHERE player IN ({marks})", some):
                    found[player] = ERASED
            return found

        return await self._database.read(find) if wanted else {}

    async def choose(self, player: bytes, text: str, now_ms: int) -> str:
        """The name as it is kept now. Raises BadName, Taken, TooSoon, Unknown."""
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
            query = "SELECT 1 FROM names WHERE skeleton = ? AND player <> ?"
            if connection.execute(query, (looks, player)).fetchone() is not None:
                raise Taken
            # Written otherwise it is still the name that was hidden.
            hidden = before[3] if before is not None and before[2] == looks else 0
            values = (player, name, looks, now_ms, hidden)
            connection.execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?, ?)", values)

        await self._database.write(put)
        return name

    async def hide(self, player: bytes, hidden: bool) -> bool:
        """Hide a player's present name, or show it again; whether there is one."""

        def put(connection: sqlite3.Connection) -> bool:
            query = "UPDATE names SET hidden = ? WHERE player = ?"
            return connection.execute(query, (hidden, player)).rowcount > 0

        return await self._database.write(put)
