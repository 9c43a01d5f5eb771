"""A generation that is being built: rows stay in memory while they change, and are written when they are many.

Whoever is killed loses what wasn't written; the checkpoint in the store says from where to fold again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from events.entries import LedgerEntry
from projections.projection import DIGEST_MODULUS, Projection, Values, fields, stored, weight
from server.folding import Item
from server.projected import Checkpoint, Generation, StoredRow

KNOWN_MAX = 500_000
"""Stored rows kept in memory, about 250 bytes each."""

Work = tuple[int, LedgerEntry, tuple[bytes, ...]]
"""An entry's ledger index, the entry, the keys it touches."""


class Gathering:
    """Any exception between two calls makes it worthless: begin again from what the store holds."""

    def __init__(self, projection: Projection[Any], generation: Generation, known_max: int = KNOWN_MAX) -> None:
        self.projection = projection
        self.generation = generation
        self.as_of, self.leaf_hash, digest = generation.checkpoint
        """Up to where it is folded, here or in the store."""
        self._digest = int.from_bytes(digest, "big")
        self._known_max = known_max
        self._start: Values = projection.start
        self._changed: dict[bytes, Values] = {}
        """Rows that the store hasn't, by key."""
        self._made: list[StoredRow] = []
        """Rows that the store hasn't and that won't change."""
        self._written: Sequence[StoredRow] = ()
        """What the store got last, not among the known yet."""
        self._known: dict[bytes, bytes] = {}
        """Rows as they are stored, none of them among the changed."""
        self._all_known = self.as_of == 0
        """No row is stored that isn't in memory, so none has to be looked for."""

    @property
    def changed(self) -> int:
        return len(self._changed) + len(self._made)

    def work(self, batch: Sequence[Item]) -> list[Work]:
        """What the projection does with a batch that follows."""
        assert batch[0][0] == self.as_of
        keys = self.projection.keys
        return [(index, entry, touched) for index, _, entry in batch if (touched := keys(index, entry))]

    def missing(self, work: Sequence[Work]) -> list[bytes]:
        """Keys of the rows that `fold` must be given, as far as they are stored; rising."""
        self._remember()
        if self._all_known or self.projection.once:
            return []
        changed, known = self._changed, self._known
        touched = {key for _, _, keys in work for key in keys}
        # Not as a difference of sets: that would walk through all that is known, for each batch.
        return sorted([key for key in touched if key not in changed and key not in known])

    def fold(self, batch: Sequence[Item], work: Sequence[Work], found: Mapping[bytes, bytes]) -> None:
        self._known.update(found)
        if self.projection.once:
            self._make(work)
        else:
            self._change(work)
        self.as_of, self.leaf_hash = batch[-1][0] + 1, batch[-1][1]

    def _change(self, work: Sequence[Work]) -> None:
        changed, step, taken = self._changed, self.projection.step, self._taken
        get, update = changed.get, changed.update
        for index, entry, touched in work:
            rows: list[Any] = list(map(get, touched))
            if None in rows:
                rows = [row or taken(key) for row, key in zip(rows, touched, strict=True)]
            update(zip(touched, step(index, entry, rows), strict=True))

    def _make(self, work: Sequence[Work]) -> None:
        """Of rows that no other entry touches: they are packed while they are at hand."""
        made, step, start = self._made, self.projection.step, self._start
        for index, entry, touched in work:
            for key, row in zip(touched, step(index, entry, [start] * len(touched)), strict=True):
                body = stored(row)
                self._digest += weight(key, body)
                made.append((key, body))

    def _taken(self, key: bytes) -> Values:
        body = self._known.pop(key, None)
        if body is None:
            return self._start
        self._digest -= weight(key, body)
        return fields(body)

    def gathered(self) -> tuple[Checkpoint, list[StoredRow]]:
        """What is to be written now: the rows by key, so that neighbours in the store are written together."""
        rows = [(key, stored(row)) for key, row in self._changed.items()]
        self._digest = (self._digest + sum([weight(key, body) for key, body in rows])) % DIGEST_MODULUS
        rows += self._made
        rows.sort()  # last: what was made one after the other lies side by side in memory
        return Checkpoint(self.as_of, self.leaf_hash, self._digest.to_bytes(32, "big")), rows

    def written(self, generation: Generation, rows: Sequence[StoredRow]) -> None:
        self.generation = generation
        self._changed, self._made = {}, []
        self._written = () if self.projection.once else rows

    def _remember(self) -> None:
        """What was written, now that it isn't the last."""
        rows, self._written = self._written, ()
        if len(self._known) + len(rows) > self._known_max:
            # What wasn't touched since the time before is the first to be forgotten.
            self._all_known = False
            self._known = {}
        if len(rows) <= self._known_max:
            self._known.update(rows)
        else:
            self._all_known = False
