"""The Ledger in Redis. The only place that knows its keys, which all lie in one slot:

{ledger}:head           size (8 bytes) and hashes (32 bytes each) of the tree of all leaves
{ledger}:marks          hash from partition to position (8 bytes) and hash of its last entry that was copied
{ledger}:leaves         stream of bodies: leaf INDEX is entry INDEX+1-0
{ledger}:once           hash from `once` to the leaf's index
{ledger}:nodes:L:C      hashes of the finished nodes of level L, C·65,536 and the following, 32 bytes each
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from events import redis_scripts as scripts
from events.ledger import LEAF_BYTES_MAX, Copy, Leaf, Mark, origin
from events.log import Conflict
from events.merkle import EMPTY, HASH_BYTES, Frontier, Node, leaf_hash
from events.redis_connection import Value
from events.redis_store import RedisStore

TAG = b"ledger"
HEAD, MARKS, LEAVES, ONCE = (b"{ledger}:" + name for name in (b"head", b"marks", b"leaves", b"once"))
CHUNK_NODES = 65_536
"""So that no value is above 2 MiB, however long the ledger."""


class RedisLedger:
    """`events.ledger.Ledger` in a RedisStore. Appends raise Unknown if their answer is lost."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def head(self) -> Frontier:
        return _frontier(await self._store.read(TAG, "GET", HEAD))

    async def marks(self) -> Sequence[Mark]:
        found: Mapping[bytes, bytes] = await self._store.read(TAG, "HGETALL", MARKS)
        marks = [Mark(int(number), int.from_bytes(mark[:8], "big"), mark[8:]) for number, mark in found.items()]
        return sorted(marks, key=lambda mark: mark.partition)

    async def append(self, head: Frontier, copy: Copy) -> Frontier:
        assert all(len(leaf.body) <= LEAF_BYTES_MAX for leaf in copy.leaves)
        leaves = await self._fresh(copy.leaves)
        after, finished = head.extend(leaf_hash(leaf.body) for leaf in leaves)
        runs = list(_runs(finished))
        arguments: list[Value] = [
            _stored(head),
            _stored(after),
            len(copy.before),
            len(copy.after),
            len(leaves),
        ]
        for mark in (*copy.before, *copy.after):
            arguments += (mark.partition, _stored_mark(mark))
        for index, leaf in enumerate(leaves, head.size):
            arguments += (b"%d-0" % (index + 1), leaf.once, index, leaf.body)
        for (_, first), hashes in runs:
            arguments += (first % CHUNK_NODES * HASH_BYTES, hashes)
        keys = (HEAD, MARKS, LEAVES, ONCE, *(_chunk(*node) for node, _ in runs))
        reply = await self._store.write(TAG, scripts.LEDGER_APPEND, keys, arguments)
        if reply != 1:
            raise Conflict(reply.decode())
        return after

    async def _fresh(self, leaves: Sequence[Leaf]) -> list[Leaf]:
        """Those that aren't there. The script looks again: it refuses where that isn't true any more."""
        once = list(dict.fromkeys(leaf.once for leaf in leaves))
        found = dict(zip(once, await self._store.read(TAG, "HMGET", ONCE, *once), strict=True)) if once else {}
        fresh: dict[bytes, Leaf] = {}
        for leaf in leaves:
            if found[leaf.once] is None:
                fresh.setdefault(leaf.once, leaf)
        return list(fresh.values())

    async def find(self, once: bytes) -> int | None:
        found = await self._store.read(TAG, "HGET", ONCE, once)
        return int(found) if found is not None else None

    async def leaves(self, first: int, limit: int) -> Sequence[bytes]:
        found = await self._store.read(TAG, "XRANGE", LEAVES, b"%d-0" % (first + 1), "+", "COUNT", limit)
        return [body for _, (_, body) in found]

    async def hashes(self, nodes: Sequence[Node]) -> Sequence[bytes]:
        found = await asyncio.gather(*(self._hash(*node) for node in nodes))
        for node, hash_ in zip(nodes, found, strict=True):
            if len(hash_) != HASH_BYTES:
                raise KeyError(node)
        return found

    async def _hash(self, level: int, index: int) -> bytes:
        at = index % CHUNK_NODES * HASH_BYTES
        found: bytes = await self._store.read(TAG, "GETRANGE", _chunk(level, index), at, at + HASH_BYTES - 1)
        return found

    async def restart(self) -> None:
        while True:
            head = await self.head()
            chunks = {
                _chunk(level, index)
                for level in range(head.size.bit_length())
                for index in range(0, head.size >> level, CHUNK_NODES)
            }
            keys = (HEAD, MARKS, LEAVES, ONCE, *sorted(chunks))
            if await self._store.write(TAG, scripts.LEDGER_RESTART, keys, (_stored(head),)) == 1:
                return


def _stored(head: Frontier) -> bytes:
    """As it is compared: an empty ledger has no head stored."""
    return head.size.to_bytes(8, "big") + b"".join(head.hashes) if head != EMPTY else b""


def _frontier(stored: bytes | None) -> Frontier:
    if not stored:
        return EMPTY
    hashes = tuple(stored[at : at + HASH_BYTES] for at in range(8, len(stored), HASH_BYTES))
    return Frontier(int.from_bytes(stored[:8], "big"), hashes)


def _stored_mark(mark: Mark) -> bytes:
    """As it is compared: a partition from which nothing was copied has no mark stored."""
    return mark.position.to_bytes(8, "big") + mark.hash if mark != origin(mark.partition) else b""


def _chunk(level: int, index: int) -> bytes:
    return b"{ledger}:nodes:%d:%d" % (level, index // CHUNK_NODES)


def _runs(finished: Mapping[Node, bytes]) -> Iterator[tuple[Node, bytes]]:
    """Nodes that lie side by side in one chunk: the first one's level and index, and the hashes of all."""
    levels: defaultdict[int, list[int]] = defaultdict(list)
    for level, index in finished:
        levels[level].append(index)
    for level, indices in levels.items():
        assert all(after == before + 1 for before, after in pairwise(indices)), "a level is finished from the left"
        for first in sorted({indices[0], *(index for index in indices if index % CHUNK_NODES == 0)}):
            chunk = [index for index in indices if first <= index < (first // CHUNK_NODES + 1) * CHUNK_NODES]
            yield (level, first), b"".join(finished[level, index] for index in chunk)
