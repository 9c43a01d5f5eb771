"""The other servers of the same store, as this one knows them: the contract of what they tell each other.

All of it is soft: what is lost is told again a second later, and while the store is away each server goes on with what
it knows for itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

ASKED_MAX = 2000
"""Players, and games, in one question."""

Changed = Callable[[bytes], None]
"""Gets a player whose games, offers or open seats have changed. Must not raise."""


@dataclass(frozen=True, slots=True)
class Here:
    """What a server knows for itself."""

    players: Collection[bytes]
    """Who is connected."""
    watchers: Mapping[bytes, int]
    """How many watch a game who don't sit in it, where somebody does."""
    lobby: bytes
    """Its open seats and running games, as server/lobby.py packs them."""


@dataclass(frozen=True, slots=True)
class There:
    """What all others know of what was asked."""

    players: Collection[bytes] = ()
    """Who is connected to one of them."""
    watchers: Mapping[bytes, int] = field(default_factory=dict)
    """Of all of them together, where it is anybody."""
    lobbies: Sequence[bytes] = ()


class Others(Protocol):
    @property
    def alone(self) -> bool:
        """Whether there can be no others."""

    def listen(self, changed: Changed) -> None:
        """Be told of what another server says."""

    def tell(self, player: bytes) -> None:
        """Say it to all others, who may not hear it."""

    async def exchange(self, here: Here, players: Sequence[bytes], games: Sequence[bytes]) -> There:
        """Say what is known here, and ask about these players and games, ASKED_MAX of each at most. Whoever isn't heard
        of for some seconds is no more. Raises Unknown."""

    async def end(self) -> None:
        """This server goes, and what it said is nothing any more. Raises Unknown."""


class Nobody:
    """`Others` of a server that has its store to itself."""

    alone = True

    def listen(self, changed: Changed) -> None:
        pass

    def tell(self, player: bytes) -> None:
        pass

    async def exchange(self, here: Here, players: Sequence[bytes], games: Sequence[bytes]) -> There:
        return There()

    async def end(self) -> None:
        pass
