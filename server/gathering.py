"""A generation that is being built: rows stay in memory while they change, and are written once they hardly will.

Whoever is killed loses what was folded since the last write: the checkpoint in the store, and the rows held beside it,
say from where to fold again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import msgpack

from events.entries import LedgerEntry
from projections.projection import DIGEST_MODULUS, Projection, Values, fields, stored, weight, weights
from server.folding import Item
from server.projected import Checkpoint, Generation, StoredRow

Work = tuple[int, LedgerEntry, tuple[bytes, ...]]
"""An entry's ledger index, the entry, the keys it touches."""


class Gathering:
    """Any exception between two calls makes it worthless: begin again from what the store holds."""

    def __init__(self, projection: Projection[Any], generation: Generation, held: bytes = b"") -> None:
        """`held`: what the store holds beside the generation's rows."""
        self.projection = projection
        self.generation = generation
        self.as_of, self.leaf_hash, digest = generation.checkpoint
        """Up to where it is folded, here or in the store."""
        self._digest = int.from_bytes(digest, "big")
        """Of the rows that are stored or made, and haven't changed since."""
        self._start: Values = projection.start
        self._shelf_of: Callable[[bytes], bytes] = projection.shelves.of if projection.shelves else _one_shelf
        self._changed: dict[bytes, Values] = {}
        """Rows that may change again, by key."""
        self._shelves: defaultdict[bytes, list[bytes]] = defaultdict(list)
        """Their keys by shelf, where the projection has such."""
        self._made: defaultdict[bytes, list[StoredRow]] = defaultdict(list)
        """Rows that hardly will, by shelf, as they are to be stored."""
        self._stored: set[bytes] | None = set() if self.as_of == 0 else None
        """Shelves of which rows are stored: of others none has to be looked for. None: nobody knows."""
        if held:
            self._take(msgpack.unpackb(held, use_list=False).items())

    @property
    def made(self) -> int:
        return sum(map(len, self._made.values()))

    @property
    def unwritten(self) -> int:
        return len(self._changed) + self.made

    @property
    def is_stored(self) -> bool:
        """Whether the store has all of it as rows."""
        return not self.unwritten and self.as_of == self.generation.checkpoint.as_of

    def work(self, batch: Sequence[Item]) -> Iterable[Work]:
        """What the projection does with a batch that follows, for `missing` and for `fold`."""
        assert batch[0][0] == self.as_of
        keys = self.projection.keys
        work = ((index, entry, touched) for index, _, entry in batch if (touched := keys(index, entry)))
        # Where no row has to be looked for, an entry's keys are made when it is folded, while it is at hand.
        return work if self._all_at_hand else list(work)

    @property
    def _all_at_hand(self) -> bool:
        return self.projection.once or self._stored == set()

    def missing(self, work: Iterable[Work]) -> list[bytes]:
        """Keys of the rows that `fold` must be given, as far as they are stored; rising."""
        if self._all_at_hand:
            return []
        shelf_of, changed = self._shelf_of, self._changed
        shelves = set(map(shelf_of, chain.from_iterable(keys for _, _, keys in work)))
        if self._stored is not None:
            shelves &= self._stored
        if not shelves:
            return []
        for shelf in shelves & self._made.keys():
            self._recall(shelf)
        wanted = {key for _, _, keys in work for key in keys if key not in changed}
        return sorted([key for key in wanted if shelf_of(key) in shelves])

    def fold(self, batch: Sequence[Item], work: Iterable[Work], found: Mapping[bytes, bytes]) -> None:
        self.as_of, self.leaf_hash = batch[-1][0] + 1, batch[-1][1]
        if self.projection.once:
            self._make(work)
            return
        for key, body in found.items():
            self._digest -= weight(key, body)
        self._take([(key, fields(body)) for key, body in found.items()])
        self._change(work)
        if self.projection.shelves is not None:
            for shelf in self.projection.shelves.over(self._shelves, batch[-1][2]):
                self._put_away(shelf, self._shelves.pop(shelf))

    def _take(self, rows: Iterable[tuple[bytes, Values]]) -> None:
        self._changed.update(rows)
        if self.projection.shelves is not None:
            for key, _ in rows:
                self._shelves[self._shelf_of(key)].append(key)

    def _change(self, work: Iterable[Work]) -> None:
        changed, step, start = self._changed, self.projection.step, self._start
        fresh = self._fresh if self.projection.shelves is not None else None
        get, update = changed.get, changed.update
        for index, entry, touched in work:
            rows: list[Any] = list(map(get, touched))
            if None in rows:
                for at, row in enumerate(rows):
                    if row is None:
                        rows[at] = fresh(touched[at]) if fresh is not None else start
            update(zip(touched, step(index, entry, rows), strict=True))

    def _fresh(self, key: bytes) -> Values:
        """A row that isn't among the changed, and will be."""
        shelf = self._shelf_of(key)
        if shelf in self._made:
            self._recall(shelf)
        row = self._changed.get(key)  # another key's recall may have brought it
        if row is None:
            self._shelves[shelf].append(key)
            row = self._start
        return row

    def _recall(self, shelf: bytes) -> None:
        """Rows that were thought over aren't."""
        rows = self._made.pop(shelf)
        self._digest -= weights(rows)
        self._take([(key, fields(body)) for key, body in rows])

    def _make(self, work: Iterable[Work]) -> None:
        """Of rows that no other entry touches: they are packed while they are at hand."""
        step, start = self.projection.step, self._start
        rows = [
            (key, stored(row))
            for index, entry, touched in work
            for key, row in zip(touched, step(index, entry, [start] * len(touched)), strict=True)
        ]
        self._made[b""] += rows
        self._digest += weights(rows)

    def _put_away(self, shelf: bytes, keys: Iterable[bytes]) -> None:
        pop = self._changed.pop
        rows = [(key, stored(pop(key))) for key in sorted(keys)]
        self._made[shelf] += rows
        self._digest += weights(rows)

    def gathered(self, whole: bool = True) -> tuple[Checkpoint, list[StoredRow], bytes]:
        """The checkpoint, the rows to be written by key, so that neighbours in the store are written together, and
        what is to be held beside them: nothing if it is to be `whole`."""
        if whole:
            shelved: Mapping[bytes, Iterable[bytes]] = self._shelves
            for shelf, keys in (shelved if self.projection.shelves else {b"": self._changed}).items():
                self._put_away(shelf, keys)
            self._shelves.clear()
        self._digest %= DIGEST_MODULUS
        rows = list(chain.from_iterable(self._made[shelf] for shelf in sorted(self._made)))
        rows.sort(key=itemgetter(0))  # quick where they lie in the order of shelves
        held = msgpack.packb(self._changed) if self._changed else b""
        return Checkpoint(self.as_of, self.leaf_hash, self._digest.to_bytes(32, "big")), rows, held

    def written(self, generation: Generation) -> None:
        self.generation = generation
        if self._stored is not None and not self.projection.once:
            self._stored |= self._made.keys()
        self._made.clear()


def _one_shelf(key: bytes) -> bytes:
    return b""
