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

    async def known(self, players: Sequence[bytes]) -> set[bytes]:
        """Those of these players who exist here; at most 1,000 at once."""

        def find(connection: sqlite3.Connection) -> set[bytes]:
            marks = ", ".join("?" * len(players))
            found = connection.execute(f"SELECT player FROM players WHERE player IN ({marks})", tuple(players))
            return {player for (player,) in found}

        return await self._database.read(find)
