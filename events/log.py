"""The `Log` contract: what every store promises. Stores keep bytes and know no facts.

tests/test_log_contract.py holds every store to what is written here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from events.chain import Head, Stored

PARTITIONS = 256
"""How many outboxes there are; a game's is `partition(game)`, for ever."""


class Conflict(Exception):
    """Another head stands than the one named: read again, decide again."""


class NotYet(Exception):
    """The deadline an append named isn't the game's, or isn't past on the store's clock."""


class Unknown(Exception):
    """Whether the append is stored can't be known here: read again."""


class LetGo(Exception):
    """The game's events are no longer here: the archive has them."""

    def __init__(self, game: bytes, head: Head) -> None:
        super().__init__(f"the log of game {game.hex()} was let go")
        self.head = head
        """Of its last event."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One append, all or nothing."""

    events: tuple[Stored, ...]
    """At least one; they follow the head named in the append."""
    outbox: tuple[bytes, ...] = ()
    """Entries for the world outside the game, of at most 65,535 bytes each."""
    wait_ms: int | None = None
    """Milliseconds from the store's now to the game's next deadline; None: it has none any more."""
    expired_ms: int | None = None
    """For `TimeUp`: the game's deadline as `deadlines` gave it, which must still stand and be past."""


@dataclass(frozen=True, slots=True)
class Deadline:
    game: bytes
    at_ms: int
    """On the store's clock."""


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    partition: int
    position: int
    """From 1, gapless in its partition; the first ones may have been trimmed."""
    hash: bytes
    game: bytes
    body: bytes


BEAT_GAP_MS_MAX = 2500
"""Between two beats while a server is up: more is silence."""
BEATS_KEPT_MS = 8 * 24 * 3600 * 1000
"""How long beats are kept: no game runs longer."""

Listener = Callable[[bytes, Head, tuple[Stored, ...]], None]
"""(game, head before, events): called on the event loop after the append is durable, in a game's order; may repeat."""


class Log(Protocol):
    """All games' logs, their deadlines, claims and outboxes."""

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        """Store the batch behind `head` and return the new head, once it is as durable as the deployment promises.

        Version *and* hash of `head` are compared; `chain.origin(game)` is the head of an empty log. Raises Conflict,
        then NotYet (a deadline of exactly now is past), Unknown. A cancelled call may still be stored, and so may one
        that was Unknown: nobody is told of it then, whoever needs it reads again."""

    async def head(self, game: bytes) -> Head:
        """Of an unknown game: `chain.origin(game)`; of one that was let go: as it was."""

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        """Events with a version above `after`, rising, at most `limit`; hashes as stored, not recomputed.

        Raises LetGo."""

    async def games(self, after: bytes = b"", limit: int = 1000) -> Sequence[bytes]:
        """Ids of games whose events are here, rising, above `after`."""

    async def let_go(self, game: bytes, head: Head) -> None:
        """Forget the game's events, its deadline and what it came before, all at once. Twice is harmless.

        `head` is compared, and stays known: from here on every append to the game is a Conflict. Raises Conflict,
        Unknown."""

    async def trim(self, partition: int, position: int) -> None:
        """Forget the partition's outbox entries before `position`, if there is one at it. Raises Unknown."""

    async def deadlines(self, limit: int = 100) -> Sequence[Deadline]:
        """Deadlines that are past on the store's clock, oldest first."""

    async def next_deadline(self) -> int | None:
        """Milliseconds from the store's now to the nearest deadline that isn't past; None: there is none."""

    async def beat(self) -> None:
        """A server is up. Servers say so once a second. Raises Unknown."""

    async def silence(self, from_ms: int, to_ms: int) -> int:
        """Milliseconds between two times of the store's clock in which no server was up.

        Where more than BEAT_GAP_MS_MAX lie between a beat and the next one, or none came after it, all of them count;
        before the first beat kept none do."""

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        """Claim the player's one place in a ladder for a fresh `game`, and return the game that holds it now.

        The place is taken if it is free or held by `instead_of`; else the holder stays. Raises Unknown."""

    async def claimed(self, player: bytes, ladder: str) -> bytes | None:
        """The game that holds the player's place in a ladder."""

    async def before(self, game: bytes) -> bytes | None:
        """The game whose place `game` took in a claim, if it took one's."""

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        """Entries with a position above `after`, rising, but those that were trimmed."""

    def listen(self, listener: Listener) -> None:
        """Be told of every append of every game, by whichever server it came."""


def partition(game: bytes) -> int:
    return game[0]


def silence(beats: Sequence[tuple[int, int]], from_ms: int, to_ms: int) -> int:
    """`Log.silence`, of the times that servers were up without a gap: first and last beat of each, rising."""
    ends = [until_ms for _, until_ms in beats]
    begins = [since_ms for since_ms, _ in (*beats, (to_ms, to_ms))][1:]
    return sum(
        max(0, min(begin, to_ms) - max(end, from_ms))
        for end, begin in zip(ends, begins, strict=True)
        if begin - end > BEAT_GAP_MS_MAX
    )


def outbox_origin(partition: int) -> bytes:
    """The hash before a partition's first entry, 32 bytes."""
    return sha256(b"statecraft partition v1\0" + partition.to_bytes(2, "big")).digest()


def outbox_link(hash_before: bytes, game: bytes, body: bytes) -> bytes:
    """The hash of the next entry: SHA-256("statecraft outbox v1\\0" || hash before || game || body)."""
    return sha256(b"statecraft outbox v1\0" + hash_before + game + body).digest()
