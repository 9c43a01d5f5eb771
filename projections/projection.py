"""What a projection is: a value that says which rows an entry touches and what becomes of them. No loop, no store."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, Generic, NamedTuple, TypeVar

from events.entries import LedgerEntry
from events.shapes import pack, unpack, unpack_own

Row = TypeVar("Row", bound=tuple[Any, ...])
Values = tuple[Any, ...]
"""A row's fields. Folding passes plain tuples: a named one costs four times as much to make, and the garbage collector
visits it for ever."""

DIGEST_MODULUS = 1 << 256


class Shelves(NamedTuple):
    """Which rows are over together. A guess: it changes no row, but when a rebuild lets go of it."""

    of: Callable[[bytes], bytes]
    """A key to its shelf's name."""
    over: Callable[[Iterable[bytes], LedgerEntry], list[bytes]]
    """(names, an entry) to those of them whose rows hardly any entry after it touches."""


@dataclass(frozen=True, slots=True)
class Projection(Generic[Row]):
    """Rows by key, folded from the ledger's entries in their order. Two entries never depend on anything but rows.

    `version` changes whenever the same entries would give other bytes."""

    name: str
    version: int
    keys: Callable[[int, LedgerEntry], tuple[bytes, ...]]
    """(the entry's ledger index, the entry) to the rows it touches, each once."""
    start: Row
    """A row before anything touched it. A named tuple of integers, strings and tuples of them."""
    step: Callable[[int, LedgerEntry, Sequence[Values]], Sequence[Values]]
    """(the entry's ledger index, the entry, rows in the order of `keys`) to those rows afterwards. Never refuses.

    All rows of an entry at once, because a rating needs the other player's."""
    make: Callable[[Iterable[Any]], Row]
    """The named row with these fields."""
    once: bool = False
    """No row is touched by two entries, so nobody need look whether it is there."""
    shelves: Shelves | None = None
    """None: any row may change at any time."""

    def row(self, stored: bytes) -> Row:
        """Raises Undecodable."""
        return self.make(unpack(stored))


stored: Callable[[Values], bytes] = pack
"""A row's bytes: a msgpack array, one encoding for each value."""

fields: Callable[[bytes], Values] = unpack_own
"""Of a row's bytes that `stored` made: what came from anywhere else is read by `Projection.row`, which checks."""

_DOMAIN = b"statecraft row v1\0"


def weight(key: bytes, row: bytes) -> int:
    """A row's part of its projection's digest: SHA-256("statecraft row v1\\0" || key's length, 4 bytes || key || row).

    The digest is the sum over all rows modulo 2^256, so that it follows each change at the cost of the change and is
    the same in whatever order the rows came to be."""
    return int.from_bytes(sha256(_head(len(key)) + key + row).digest(), "big")


@cache
def _head(length: int) -> bytes:
    return _DOMAIN + length.to_bytes(4, "big")


def weights(rows: Iterable[tuple[bytes, bytes]]) -> int:
    """The parts of these (key, stored row) together."""
    head, number = _head, int.from_bytes
    return sum([number(sha256(head(len(key)) + key + row).digest(), "big") for key, row in rows])


def digest(rows: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The content digest of these (key, stored row), 32 bytes."""
    return (weights(rows) % DIGEST_MODULUS).to_bytes(32, "big")


def fold(projection: Projection[Row], entries: Iterable[tuple[int, LedgerEntry]]) -> dict[bytes, Row]:
    """All rows after these (ledger index, entry). What every store and every rebuild must agree with."""
    rows: dict[bytes, Values] = {}
    for index, entry in entries:
        keys = projection.keys(index, entry)
        if keys:
            before = [rows.get(key, projection.start) for key in keys]
            rows.update(zip(keys, projection.step(index, entry, before), strict=True))
    return {key: projection.make(row) for key, row in rows.items()}
