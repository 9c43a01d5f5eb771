"""Who plays here: the contract of the store of all that names or knows a person, and what a token is.

A player is a random id in log and ledger, which know nothing else; everything else of him is here, and can be erased.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

TOKEN_BYTES = 32
HASH_BYTES = 32
CHANGE_MS = 60 * 60 * 1000
"""Between two changes of a name."""
ASKED_MAX = 500
"""Players or tokens in one question to a store; who asks for more asks several times."""

Ended = Callable[[bytes], None]
"""Gets the hash of a token that is nobody's any more. Must not raise."""


class Taken(Exception):
    """Somebody has this name, or one that looks like it."""


@dataclass
class TooSoon(Exception):
    """The name was changed a little while ago."""

    wait_ms: int


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    skeleton: str
    """What it looks like: server/naming.py."""
    changed_ms: int
    """Unix time."""
    hidden: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Everything that is kept of one player."""

    player: bytes
    token_hash: bytes
    """Empty: the player was erased, and that is all that is known."""
    created_ms: int
    name: Name | None

    @property
    def erased(self) -> bool:
        return not self.token_hash


class People(Protocol):
    """The store. Every method that writes raises Unknown if it can't say whether it did, and every one that reads where
    it can't."""

    def listen(self, ended: Ended) -> None:
        """Be told of tokens that were renewed, or erased with their player: here, and by other servers of the store.

        What others did while they couldn't be heard isn't told later: `standing` says it."""

    # ------------------------------------------------------------ tokens

    async def join(self, now_ms: int) -> tuple[bytes, bytes]:
        """A new guest: player id (16 bytes) and token (32 bytes), which can't be read again."""

    async def who(self, token: bytes) -> bytes | None:
        """The player a token belongs to."""

    async def standing(self, hashes: Sequence[bytes]) -> set[bytes]:
        """Those of these tokens' hashes that are somebody's; at most ASKED_MAX at once."""

    async def renew(self, token: bytes) -> bytes | None:
        """A new token for whoever has this one, which is nobody's from here on; None if it is nobody's already."""

    async def known(self, players: Sequence[bytes]) -> set[bytes]:
        """Those of these players who exist here; at most 1,000 at once."""

    # ------------------------------------------------------------ names

    async def called(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        """Names by player, of those who have one that is shown. Who was erased is called ERASED."""

    async def choose(self, player: bytes, text: str, now_ms: int) -> str:
        """The name as it is kept now. Raises BadName, Taken, TooSoon."""

    async def hide(self, player: bytes, hidden: bool) -> bool:
        """Hide a player's present name, or show it again; whether there is one."""

    # ------------------------------------------------------------ all of a player

    async def erase(self, player: bytes) -> bool:
        """Remove everything but that he was erased; whether there was such a player.

        The ledger keeps the random id, which names nobody any more: no leaf, hash or rank changes. Raises Unknown, also
        where the rows are gone and something of them may still lie in a file: then ask again."""

    async def page(self, after: bytes, limit: int) -> Sequence[Person]:
        """Everybody whose id is higher than `after`, by id, those erased too; at most `limit`, which is at most
        ASKED_MAX. Empty: there is nobody more."""

    async def put(self, people: Sequence[Person]) -> Sequence[bytes]:
        """Take these in as they are, instead of what is known of the same players; at most ASKED_MAX at once. Doing it
        again changes nothing.

        Who was erased here stays erased. A name that somebody else has here is left out: the players whose was."""


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


def token_hash(token: bytes) -> bytes:
    """All of a token that is stored."""
    return sha256(b"statecraft token v1\0" + token).digest()
