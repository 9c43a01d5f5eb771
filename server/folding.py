"""One generation being folded in this process: what it knows of it, and the rows it has in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from events.entries import LedgerEntry
from projections.projection import DIGEST_MODULUS, Projection, Values, stored, weight
from server.projected import Checkpoint, Generation, StoredRow

ROWS_MAX = 20_000
"""Rows kept in memory between batches; about 700 bytes each."""

Item = tuple[int, bytes, LedgerEntry]
"""An entry's ledger index, its leaf hash, and the entry."""


class Reader(Protocol):
    """What projections see of the ledger: its signed prefix."""

    async def read(self, after_index: int, limit: int) -> Sequence[Item]:
        """At most `limit` entries with an index above `after_index`, rising without a gap. The first has index 0."""


class Diverged(Exception):
    """The ledger isn't the one that was folded, or has a gap: nothing may be built on it."""


class Behind(Diverged):
    """Less of the ledger is signed, as far as is known here, than was folded: another server may know of more."""


@dataclass(frozen=True, slots=True)
class Prepared:
    after: Checkpoint
    rows: list[StoredRow]
    """As they are to be stored, by key."""
    known: dict[bytes, tuple[Values, int]]
    """The same rows' fields, each with its part of the digest."""


class Folding:
    """Whoever's checkpoint stands in the store also has the right rows in memory: nobody else wrote since."""

    def __init__(self, projection: Projection[Any], generation: Generation, rows_max: int = ROWS_MAX) -> None:
        self.projection = projection
        self.generation = generation
        self._rows_max = rows_max
        self._known: dict[bytes, tuple[Values, int]] = {}
        """Rows by key, each with its part of the digest, 0 if it isn't stored."""
        self._all_known = generation.checkpoint.as_of == 0
        """No row is stored that isn't in memory, so none has to be looked for."""

    @property
    def checkpoint(self) -> Checkpoint:
        return self.generation.checkpoint

    def missing(self, batch: Sequence[Item]) -> list[bytes]:
        """Keys of the rows that `prepare` must be given, as far as they are stored; rising."""
        if self._all_known or self.projection.once:
            return []
        keys = self.projection.keys
        touched = {key for index, _, entry in batch for key in keys(index, entry)}
        return sorted([key for key in touched if key not in self._known])

    def prepare(self, batch: Sequence[Item], found: Mapping[bytes, bytes]) -> Prepared:
        """Fold a batch that follows the checkpoint. Changes nothing, here or in the store."""
        assert batch[0][0] == self.checkpoint.as_of
        keys, step = self.projection.keys, self.projection.step
        work = [(index, entry, touched) for index, _, entry in batch if (touched := keys(index, entry))]
        now: dict[bytes, Values] = {}
        digest = int.from_bytes(self.checkpoint.digest, "big")
        for key, (row, part) in self._before({key for _, _, touched in work for key in touched}, found):
            now[key] = row
            digest -= part
        for index, entry, touched in work:
            for key, row in zip(touched, step(index, entry, [now[key] for key in touched]), strict=True):
                now[key] = row
        rows: list[StoredRow] = []
        known: dict[bytes, tuple[Values, int]] = {}
        for key, row in sorted(now.items()):  # neighbours in the store are written together
            body = stored(row)
            part = weight(key, body)
            digest += part
            known[key] = (row, part)
            rows.append((key, body))
        after = Checkpoint(batch[-1][0] + 1, batch[-1][1], (digest % DIGEST_MODULUS).to_bytes(32, "big"))
        return Prepared(after, rows, known)

    def _before(self, touched: set[bytes], found: Mapping[bytes, bytes]) -> Iterator[tuple[bytes, tuple[Values, int]]]:
        for key in touched:
            if (known := self._known.get(key)) is not None:
                yield key, known
            elif (body := found.get(key)) is not None:
                yield key, (self.projection.row(body), weight(key, body))
            else:
                yield key, (self.projection.start, 0)

    def committed(self, generation: Generation, prepared: Prepared) -> None:
        self.generation = generation
        for key in prepared.known:
            self._known.pop(key, None)
        self._known |= prepared.known
        if len(self._known) > self._rows_max:
            # Those touched longest ago go, half at a time.
            self._all_known = False
            for key in list(islice(self._known, len(self._known) - self._rows_max // 2)):
                del self._known[key]


async def following(ledger: Reader, checkpoint: Checkpoint, limit: int) -> Sequence[Item]:
    """The entries after a checkpoint, empty at the ledger's end. Raises Diverged.

    The last folded entry is read again: a ledger that is shorter or has another leaf there isn't the one folded."""
    if checkpoint.as_of == 0:
        items = await ledger.read(-1, limit)
    else:
        last, *items = await ledger.read(checkpoint.as_of - 2, limit + 1) or (None,)
        if last is None:
            raise Behind(f"{checkpoint.as_of} entries were folded, the ledger has fewer")
        if last[0] != checkpoint.as_of - 1 or last[1] != checkpoint.leaf_hash:
            raise Diverged(f"entry {checkpoint.as_of - 1} of the ledger isn't the one that was folded")
    for expected, (index, _, _) in enumerate(items, checkpoint.as_of):
        if index != expected:
            raise Diverged(f"entry {index} came where {expected} belongs")
    return items
