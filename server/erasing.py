"""Erasing a player: name, token and every other mutable row, also from the file's free pages and its WAL.

The ledger keeps the player's random id, which names nobody any more: no leaf, hash or rank changes.
"""

import sqlite3

from events.database import Database

ROWS = (("names", "player"), ("players", "player"))
"""Every table with rows about a player, and the column that says whose they are."""


async def erase(database: Database, player: bytes) -> bool:
    """Whether there was such a player. When this returns the file's bytes have nothing of these rows. Raises Unknown."""

    def job(connection: sqlite3.Connection) -> bool:
        connection.execute("PRAGMA secure_delete = ON")
        known = connection.execute("SELECT 1 FROM players WHERE player = ?", (player,)).fetchone() is not None
        if known:
            connection.execute("INSERT OR IGNORE INTO erased VALUES (?)", (player,))
            for table, column in ROWS:
                connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (player,))
                # Where rows were moved to other pages, copies of them may lie in the free part of the page they left.
                connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table}")
                connection.execute(f"DELETE FROM {table}")
                connection.execute(f"INSERT INTO {table} SELECT * FROM kept")
                connection.execute("DROP TABLE kept")
        return known

    known = await database.write(job)
    await database.scrub()
    return known
