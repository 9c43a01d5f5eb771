"""Who meets whom: the contract of the store of arranged games and of the queue.

An arranged game is written down before it is opened, so whoever finds one that isn't opens it (server/unopened.py says
under which id). All of it is forgotten when the game is over; what happened stands in its log.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rules.game import Settings

SERVER_MS_MAX = 10_000
"""After so long without a sign of its server an entry in the queue is nobody's."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """A game between people that was arranged."""

    game: bytes
    rules: str
    settings: Settings
    players: tuple[bytes, bytes]
    """For whom each seat is kept; empty: for nobody."""
    counts: bool
    listed: bool
    befores: tuple[bytes, ...] = ()
    """The games that its players had their places in the ladder from."""


@dataclass(frozen=True, slots=True)
class Rematch:
    """A finished game of which `player` asks `other` for another."""

    game: bytes
    rules: str
    player: bytes
    other: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A player's one place in the queue for a game."""

    rules: str
    player: bytes
    ladder: str
    rating: int
    """Hundredths."""
    since_ms: int
    before: bytes
    """The finished game that holds the player's place in the ladder; empty: it is free."""
    server: bytes
    """Whose connections the player has."""


class Meetings(Protocol):
    """The store. Every method that writes raises Unknown if it can't say whether it did."""

    async def arrange(self, meeting: Meeting) -> bool:
        """Write it down, unless it was before; whether it is to be opened. False: it was, or was replaced meanwhile."""

    async def opened(self, game: bytes) -> None:
        """Its log has begun."""

    async def joins(self, player: bytes, game: bytes) -> None:
        """The player is about to sit there."""

    async def missed(self, player: bytes, game: bytes) -> None:
        """Somebody else was faster."""

    async def forget(self, game: bytes, void: bool) -> None:
        """It is over; if `void` it was no game, and is none of those that count between its players today."""

    async def replace(self, game: bytes, fresh: bytes) -> bool:
        """Nothing is in the game's log, and nobody knows what there was: under a fresh id its secret is another.
        Whether it was arranged, and is now under that id.

        It isn't open then, has the places that `game` had, and is one of those that count today instead."""

    async def instead(self, game: bytes) -> bytes:
        """The id that stands for the game by now."""

    async def unopened(self) -> Sequence[Meeting]: ...

    async def meeting(self, game: bytes) -> Meeting | None: ...

    async def of(self, player: bytes) -> Sequence[Meeting]:
        """Those that the player has, or had, a seat in, by game."""

    async def offer(self, rematch: Rematch) -> bytes:
        """Ask for one, unless somebody has; the player who asked first."""

    async def offers(self, player: bytes) -> Sequence[Rematch]:
        """Asked of the player, by game."""

    async def accept(self, game: bytes) -> None:
        """A rematch that was asked for is arranged."""

    async def asks(self, player: bytes) -> bool:
        """Whether the player asked for a rematch."""

    async def withdraw(self, player: bytes) -> Sequence[bytes]:
        """The player asks for no rematch any more; of whom he did."""

    async def enter(self, entry: Entry) -> None:
        """Wait, unless the player waits already; then from the same time on, at this server."""

    async def leave(self, rules: str, player: bytes, server: bytes | None = None) -> bool:
        """Wait no longer, where a `server` is given only if it was there; whether the player did."""

    async def move(self, rules: str, player: bytes, server: bytes, now_ms: int) -> bool:
        """Who waits waits on at this server; whether the player does. A sign of `server`, too.

        Whose server gave none for SERVER_MS_MAX waits no longer."""

    async def pair(self, rules: str, server: bytes, now_ms: int) -> Sequence[Meeting]:
        """Choose pairs, take them out of the queue and arrange their games with places claimed: all in one write.

        A sign of `server`, too; entries of servers that gave none for SERVER_MS_MAX are dropped: on the store's clock,
        if servers share it."""

    async def waiting(self, rules: str) -> int: ...

    async def waits(self, rules: str, players: Sequence[bytes]) -> set[bytes]:
        """Those of these players who wait."""
