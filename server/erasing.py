"""Erasing a player: name, token and every other mutable row, also from the file's free pages and its WAL.

The ledger keeps the player's random id, which names nobody any more: no leaf, hash or rank changes.
"""

import sqlite3

from events.database import Database

ROWS = (("names", "player"), ("players", "player"))
"""Every table of people.db with rows about a player, and the column that says whose they are."""


async def erase(people: Database, player: bytes) -> bool:
    """Whether there was such a player. When this returns the file's bytes have nothing of these rows.

    Raises Unknown, also where the rows are gone and something of them may still lie in the file: then ask again."""

    def job(connection: sqlite3.Connection) -> bool:
        known = connection.execute("SELECT 1 FROM players WHERE player = ?", (player,)).fetchone() is not None
        if known:
            connection.execute("INSERT OR IGNORE INTO erased VALUES (?)", (player,))
        for table, column in ROWS:
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (player,))
        return known

    known = await people.write(job)
    await people.scrub()
    return known
