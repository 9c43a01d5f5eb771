"""The `Movable` contract: what a store keeps beside the events, given and taken as it is. Only `copy` asks for it.

Events themselves go by the Log's own append, places by its claim, leaves and marks by the Ledger's append.
tests/test_moving_contract.py holds every store to what is written here.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from events.chain import Head
from events.ledger import Mark
from events.log import OutboxEntry


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a game beside its events."""

    game: bytes
    head: Head
    gone: bool = False
    """Whether its events were let go."""
    deadline_ms: int | None = None
    """On the store's clock."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A player's place in a ladder, the game that holds it, and the one it took it from."""

    player: bytes
    ladder: str
    game: bytes
    before: bytes | None = None


class Movable(Protocol):
    """While no server serves from the store. Every method that writes raises Unknown if it can't say whether it did."""

    async def kept(self, partition: int) -> Sequence[Kept]:
        """Every game of the partition that has a log or had one, by game."""

    async def end(self, partition: int) -> Mark:
        """Of its outbox: the last entry that was ever told."""

    def places(self) -> AsyncIterator[Sequence[Claimed]]:
        """All of them, some perhaps twice."""

    async def beats(self) -> Sequence[tuple[int, int]]:
        """First and last beat of each time that servers were up without a gap, rising."""

    async def put_gone(self, partition: int, games: Sequence[Kept]) -> None:
        """These were let go elsewhere: their heads stand here too, except of games that have a log here."""

    async def put_deadlines(self, partition: int, deadlines: Mapping[bytes, int]) -> None:
        """By game, of games whose events are here; in place of those they have."""

    async def put_outbox(self, end: Mark, entries: Sequence[OutboxEntry]) -> None:
        """Behind `end`, which must stand there, these entries of its partition, without a gap among themselves.

        If there is one before the first, all before it is forgotten: it was trimmed elsewhere. Raises Conflict."""

    async def put_beats(self, beats: Sequence[tuple[int, int]]) -> None:
        """In place of all that are here."""

    async def put_unfinished(self, unfinished: bool) -> None:
        """Whether a copy into this store has begun and isn't whole: until it is nobody serves from it."""

    async def unfinished(self) -> bool: ...


def assert_gapless(end: Mark, entries: Sequence[OutboxEntry]) -> None:
    assert entries
    assert entries[0].position > end.position, "it stands there already"
    positions = [(entry.partition, entry.position) for entry in entries]
    first = entries[0].position
    assert positions == [(end.partition, position) for position in range(first, first + len(entries))]
