"""The `Ledger` contract: openings, closings, imports, bars in one order, kept as a Merkle tree. Stores know no facts.

A leaf is an entry's bytes as events/entries.py writes them. tests/test_ledger_contract.py holds every store to
what is written here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, assert_never

from events import entries
from events.entries import Barred, Closing, Imported, Lifted, Opening
from events.log import PARTITIONS, outbox_origin
from events.merkle import Frontier, HashOf, Node

LEAF_BYTES_MAX = 65_535


@dataclass(frozen=True, slots=True)
class Leaf:
    once: bytes
    """What there is one leaf of at most: `opening(game)`, `closing(game)`, `imported(record)`, `barred(player, 1)` …"""
    body: bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a partition's outbox has been copied: the position and hash of the last entry that was."""

    partition: int
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Copy:
    """One append, all or nothing."""

    leaves: tuple[Leaf, ...]
    before: tuple[Mark, ...] = ()
    """Of the partitions it comes from, as they must stand."""
    after: tuple[Mark, ...] = ()


class Ledger(Protocol):
    async def head(self) -> Frontier:
        """Size and hashes of the tree of all leaves."""

    async def marks(self) -> Sequence[Mark]:
        """Of every partition from which anything was copied, rising."""

    async def append(self, head: Frontier, copy: Copy) -> Frontier:
        """Put the leaves behind `head`, leaving out those whose `once` is there, move the marks; the new head.

        `head` and `copy.before` are compared, so that nobody continues on anything else. Raises Conflict, Unknown."""

    async def find(self, once: bytes) -> int | None:
        """The index of that leaf."""

    async def leaves(self, first: int, limit: int) -> Sequence[bytes]:
        """Bodies from index `first` on, at most `limit`."""

    async def hashes(self, nodes: Sequence[Node]) -> Sequence[bytes]:
        """Of complete subtrees of the tree, in the order asked. Raises KeyError for one that isn't complete."""

    async def restart(self) -> None:
        """Forget every leaf and mark. What was signed is brought back from the archive, the rest from the outboxes."""


def origin(partition: int) -> Mark:
    """The mark of a partition from which nothing was copied."""
    return Mark(partition, 0, outbox_origin(partition))


def origins() -> dict[int, Mark]:
    return {partition: origin(partition) for partition in range(PARTITIONS)}


def opening(game: bytes) -> bytes:
    return b"opening " + game


def closing(game: bytes) -> bytes:
    return b"closing " + game


def imported(record: bytes) -> bytes:
    return b"import " + record


def barred(player: bytes, number: int) -> bytes:
    return b"barred " + player + number.to_bytes(8, "big")


def lifted(player: bytes, number: int) -> bytes:
    return b"lifted " + player + number.to_bytes(8, "big")


def leaf(body: bytes) -> Leaf:
    """The leaf that these bytes are. Raises Undecodable."""
    match entry := entries.decode(body):
        case Opening(game=game):
            return Leaf(opening(game), body)
        case Closing(game=game):
            return Leaf(closing(game), body)
        case Imported(record=record):
            return Leaf(imported(record), body)
        case Barred(player=player, number=number):
            return Leaf(barred(player, number), body)
        case Lifted(player=player, number=number):
            return Leaf(lifted(player, number), body)
        case _:
            assert_never(entry)


async def read(ledger: Ledger, nodes: Iterable[Node]) -> HashOf:
    """What merkle.py reads these nodes with."""
    wanted = list(dict.fromkeys(nodes))
    known = dict(zip(wanted, await ledger.hashes(wanted), strict=True))
    return lambda level, index: known[level, index]
