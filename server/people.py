"""Guests: a random player id and a secret token, of which only the hash is stored."""

import base64
import binascii
import secrets
import sqlite3
from collections.abc import Sequence
from hashlib import sha256

from events.database import Database
from rules.fairness import PLAYER_BYTES

SCHEMA = """
CREATE TABLE IF NOT EXISTS players (
    player BLOB PRIMARY KEY,
    token_hash BLOB NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) WITHOUT ROWID;
"""

TOKEN_BYTES = 32


def token_text(token: bytes) -> str:
    """43 characters of base64url without padding (RFC 4648 section 5)."""
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def token_of(text: str) -> bytes | None:
    """The token in a text, or None where it can't be one."""
    try:
        token = base64.b64decode(text.encode("ascii") + b"=", altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    return token if len(token) == TOKEN_BYTES and token_text(token) == text else None


def _hash(token: bytes) -> bytes:
    return sha256(b"statecraft token v1\0" + token).digest()


class People:
    """The mutable rows about players. No log knows more of a player than the id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def join(self, now_ms: int) -> tuple[bytes, bytes]:
        """A new guest: player id (16 bytes) and token (32 bytes), which can't be read again."""
        player, token = secrets.token_bytes(PLAYER_BYTES), secrets.token_bytes(TOKEN_BYTES)

        def insert(connection: sqlite3.Connection) -> None:
            row = (player, _hash(token), now_ms)
            connection.execute("INSERT INTO players (player, token_hash, created_ms) VALUES (?, ?, ?)", row)

        await self._database.write(insert)
        return player, token

    async def who(self, token: bytes) -> bytes | None:
        """The player a token belongs to."""

        def find(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT player FROM players WHERE token_hash = ?", (_hash(token),)).fetchone()
            return row[0] if row else None

        return await self._database.read(find)

    async def renew(self, token: bytes) -> bytes | None:
        """A new token for whoever has this one, which is nobody's from here on; None if it is nobody's already."""
        fresh = secrets.token_bytes(TOKEN_BYTES)

        def update(connection: sqlite3.Connection) -> bool:
            query = "UPDATE players SET token_hash = ? WHERE token_hash = ?"
            return connection.execute(query, (_hash(fresh), _hash(token))).rowcount > 0

        return fresh if await self._database.write(update) else None

    async def known(self, players: Sequence[bytes]) -> set[bytes]:
        """Those of these players who exist here; at most 1,000 at once."""

        def find(connection: sqlite3.Connection) -> set[bytes]:
            marks = ", ".join("?" * len(players))
            found = connection.execute(f"SELECT player FROM players WHERE player IN ({marks})", tuple(players))
            return {player for (player,) in found}

        return await self._database.read(find)


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
