"""One generation being folded in this process: what it knows of it, and the rows it has in memory."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from events.entries import Entry
from projections.projection import DIGEST_MODULUS, Projection, stored, weight
from server import generations
from server.generations import Checkpoint, Generation

ROWS_MAX = 20_000
"""Rows kept in memory between batches; about 600 bytes each."""

Item = tuple[int, bytes, Entry]
"""An entry's ledger index, its leaf hash, and the entry."""


class Reader(Protocol):
    """What projections see of the ledger: its signed prefix."""

    async def read(self, after_index: int, limit: int) -> Sequence[Item]:
        """At most `limit` entries with an index above `after_index`, rising without a gap. The first has index 0."""


class Diverged(Exception):
    """The ledger isn't the one that was folded, or has a gap: nothing may be built on it."""


class Changed(NamedTuple):
    """What a batch did to a row."""

    key: bytes
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Prepared:
    after: Checkpoint
    rows: list[tuple[bytes, bytes]]
    """As they are to be stored, by key."""
    known: dict[bytes, tuple[Any, int]]
    changed: list[Changed]


class Folding:
    """Whoever's checkpoint stands in the store also has the right rows in memory: nobody else wrote since."""

    def __init__(self, projection: Projection[Any], generation: Generation, rows_max: int = ROWS_MAX) -> None:
        self.projection = projection
        self.generation = generation
        self._rows_max = rows_max
        self._known: dict[bytes, tuple[Any, int]] = {}
        """Rows by key, each with its part of the digest, 0 if it isn't stored."""

    @property
    def checkpoint(self) -> Checkpoint:
        return self.generation.checkpoint

    def prepare(self, connection: sqlite3.Connection, batch: Sequence[Item]) -> Prepared:
        """Fold a batch that follows the checkpoint. Changes nothing, here or in the store."""
        assert batch[0][0] == self.checkpoint.as_of
        keys, step = self.projection.keys, self.projection.step
        work = [(index, entry, touched) for index, _, entry in batch if (touched := keys(entry))]
        before = self._read(connection, {key for _, _, touched in work for key in touched})
        now = {key: row for key, (row, _) in before.items()}
        for index, entry, touched in work:
            if len(touched) == 1:
                (now[touched[0]],) = step(index, entry, (now[touched[0]],))
            else:
                now.update(zip(touched, step(index, entry, [now[key] for key in touched]), strict=True))
        digest = int.from_bytes(self.checkpoint.digest, "big")
        rows, known = [], {}
        for key in sorted(now):
            body = stored(now[key])
            part = weight(key, body)
            digest += part - before[key][1]
            known[key] = (now[key], part)
            rows.append((key, body))
        after = Checkpoint(batch[-1][0] + 1, batch[-1][1], (digest % DIGEST_MODULUS).to_bytes(32, "big"))
        return Prepared(after, rows, known, [Changed(key, before[key][0], now[key]) for key in now])

    def _read(self, connection: sqlite3.Connection, wanted: set[bytes]) -> dict[bytes, tuple[Any, int]]:
        known = self._known
        before = {key: known[key] for key in wanted if key in known}
        missing = sorted(wanted - before.keys())
        found = generations.rows(connection, self.generation.id, missing)
        for key in missing:
            body = found.get(key)
            if body is None:
                before[key] = (self.projection.start, 0)
            else:
                before[key] = (self.projection.row(body), weight(key, body))
        return before

    def commit(self, connection: sqlite3.Connection, prepared: Prepared) -> Generation:
        """Rows and checkpoint, only if the stored checkpoint is the expected one. Raises Moved."""
        return generations.advance(connection, self.generation, prepared.after, prepared.rows)

    def committed(self, generation: Generation, prepared: Prepared) -> None:
        self.generation = generation
        if len(self._known) + len(prepared.known) > self._rows_max:
            self._known.clear()
        if len(prepared.known) <= self._rows_max:
            self._known |= prepared.known


async def following(ledger: Reader, checkpoint: Checkpoint, limit: int) -> Sequence[Item]:
    """The entries after a checkpoint, empty at the ledger's end. Raises Diverged.

    The last folded entry is read again: a ledger that is shorter or has another leaf there isn't the one folded."""
    if checkpoint.as_of == 0:
        items = await ledger.read(-1, limit)
    else:
        last, *items = await ledger.read(checkpoint.as_of - 2, limit + 1) or (None,)
        if last is None:
            raise Diverged(f"{checkpoint.as_of} entries were folded, the ledger has fewer")
        if last[0] != checkpoint.as_of - 1 or last[1] != checkpoint.leaf_hash:
            raise Diverged(f"entry {checkpoint.as_of - 1} of the ledger isn't the one that was folded")
    for expected, (index, _, _) in enumerate(items, checkpoint.as_of):
        if index != expected:
            raise Diverged(f"entry {index} came where {expected} belongs")
    return items
