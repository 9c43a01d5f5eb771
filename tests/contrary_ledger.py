"""A Ledger in memory that does everything the contract allows at the worst moment. `calm`, it is a plain one.

It refuses copies that would fit (another sequencer might have been faster), says Unknown about what it stored and about
what it didn't, and lets others go first wherever it waits. All from one seed.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from random import Random

from events.ledger import Copy, Mark, origin
from events.log import Conflict, Unknown
from events.merkle import EMPTY, Frontier, Node, leaf_hash

TROUBLES_MAX = 3
"""In a row, so that luck alone keeps nobody from going on."""
PASSES_MAX = 4


class ContraryLedger:
    """`events.ledger.Ledger`, in one event loop."""

    def __init__(self, seed: int = 0, calm: bool = False) -> None:
        self.calm = calm
        self.troubles: defaultdict[str, int] = defaultdict(int)
        self._random = Random(seed)
        self._row = 0
        self._forget()

    def _forget(self) -> None:
        self._head = EMPTY
        self._bodies: list[bytes] = []
        self._index: dict[bytes, int] = {}
        self._nodes: dict[Node, bytes] = {}
        self._marks: dict[int, Mark] = {}

    async def head(self) -> Frontier:
        await self._pass()
        return self._head

    async def marks(self) -> Sequence[Mark]:
        await self._pass()
        return [self._marks[partition] for partition in sorted(self._marks)]

    async def append(self, head: Frontier, copy: Copy) -> Frontier:
        trouble = self._trouble("conflict", "lost before", "lost after")
        await self._pass()
        if trouble == "conflict":
            raise Conflict("somebody might have been faster")
        if trouble == "lost before":
            raise Unknown("the connection is gone")
        if head != self._head:
            raise Conflict(f"the ledger has {self._head.size} leaves, or others")
        for mark in copy.before:
            if self._marks.get(mark.partition, origin(mark.partition)) != mark:
                raise Conflict(f"partition {mark.partition} was copied from meanwhile")
        fresh = {leaf.once: leaf for leaf in reversed(copy.leaves) if leaf.once not in self._index}
        leaves = [fresh[once] for once in dict.fromkeys(leaf.once for leaf in copy.leaves) if once in fresh]
        for leaf in leaves:
            self._index[leaf.once] = len(self._bodies)
            self._bodies.append(leaf.body)
        self._head, finished = head.extend(leaf_hash(leaf.body) for leaf in leaves)
        self._nodes.update(finished)
        self._marks.update((mark.partition, mark) for mark in copy.after)
        after = self._head
        await self._pass()
        if trouble == "lost after":
            raise Unknown("the connection is gone")
        return after

    async def find(self, once: bytes) -> int | None:
        await self._pass()
        return self._index.get(once)

    async def leaves(self, first: int, limit: int) -> Sequence[bytes]:
        await self._pass()
        return self._bodies[first : first + limit]

    async def hashes(self, nodes: Sequence[Node]) -> Sequence[bytes]:
        await self._pass()
        return [self._nodes[node] for node in nodes]

    async def restart(self) -> None:
        await self._pass()
        self._forget()

    def _trouble(self, *kinds: str) -> str | None:
        if self.calm or self._row == TROUBLES_MAX or self._random.random() < 0.6:
            self._row = 0
            return None
        self._row += 1
        kind = self._random.choice(kinds)
        self.troubles[kind] += 1
        return kind

    async def _pass(self) -> None:
        for _ in range(1 if self.calm else self._random.randint(1, PASSES_MAX)):
            await asyncio.sleep(0)
