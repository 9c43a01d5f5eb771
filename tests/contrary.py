"""A Log in memory that does everything the contract allows at the worst moment. `calm`, it is a plain one.

It refuses appends that would fit (somebody might have been faster), says Unknown about what it stored and about what it
didn't, tells listeners late and again, and lets others go first wherever it waits. All from one seed.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from random import Random

from events.chain import Head, Stored, origin
from events.log import (
    BEAT_GAP_MS_MAX,
    Batch,
    Conflict,
    Deadline,
    LetGo,
    Listener,
    NotYet,
    OutboxEntry,
    Unknown,
    outbox_link,
    outbox_origin,
    partition,
)

TROUBLES_MAX = 3
"""In a row for one game or claim, so that luck alone fails nobody who tries four times."""
PASSES_MAX = 4
"""How often others may go first in one call."""
REPEATS_MAX = 3
"""How many deliveries are told again at once."""

Delivery = tuple[Head, tuple[Stored, ...]]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class ContraryLog:
    """`events.log.Log`, in one event loop. `troubles` counts what it did to its callers, by name."""

    def __init__(self, seed: int = 0, clock: Callable[[], int] = _now_ms, calm: bool = False) -> None:
        self.calm = calm
        self.troubles: defaultdict[str, int] = defaultdict(int)
        self._random = Random(seed)
        self._clock = clock
        self._events: dict[bytes, list[Stored]] = {}
        self._gone: dict[bytes, Head] = {}
        self._deadlines: dict[bytes, int] = {}
        self._claims: dict[tuple[bytes, str], bytes] = {}
        self._befores: dict[bytes, bytes] = {}
        self._outboxes: defaultdict[int, list[OutboxEntry]] = defaultdict(list)
        self._beats: list[int] = []
        self._listeners: list[Listener] = []
        self._untold: defaultdict[bytes, deque[Delivery]] = defaultdict(deque)
        self._told: defaultdict[bytes, list[Delivery]] = defaultdict(list)
        self._row: defaultdict[object, int] = defaultdict(int)

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        versions = [event.version for event in batch.events]
        assert versions
        assert versions == list(range(head.version + 1, head.version + 1 + len(versions)))
        trouble = self._trouble(game, "conflict", "lost before", "lost after")
        await self._pass()
        if trouble == "conflict":
            raise Conflict("somebody might have been faster")
        if trouble == "lost before":
            raise Unknown("the connection is gone")
        self._append(game, head, batch)
        self._tell(game)
        await self._pass()
        if trouble == "lost after":
            raise Unknown("the connection is gone")
        return batch.events[-1].head

    def _append(self, game: bytes, head: Head, batch: Batch) -> None:
        if self._head(game) != head or game in self._gone:
            raise Conflict(f"the head is {self._head(game).version}, not {head.version}, or has another hash")
        now_ms = self._clock()
        if batch.expired_ms is not None and not (self._deadlines.get(game) == batch.expired_ms <= now_ms):
            raise NotYet(f"{batch.expired_ms} is not the deadline, or not past")
        self._events.setdefault(game, []).extend(batch.events)
        self._untold[game].append((head, batch.events))
        self._deadlines.pop(game, None)
        if batch.wait_ms is not None:
            self._deadlines[game] = now_ms + batch.wait_ms
        number = partition(game)
        entries = self._outboxes[number]
        for body in batch.outbox:
            before, last = (entries[-1].hash, entries[-1].position) if entries else (outbox_origin(number), 0)
            entries.append(OutboxEntry(number, last + 1, outbox_link(before, game, body), game, body))

    async def head(self, game: bytes) -> Head:
        await self._pass()
        return self._head(game)

    def _head(self, game: bytes) -> Head:
        events = self._events.get(game)
        return events[-1].head if events else self._gone.get(game) or origin(game)

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        await self._pass()
        if game in self._gone:
            raise LetGo(game, self._gone[game])
        return self._events.get(game, [])[after:][:limit]

    async def let_go(self, game: bytes, head: Head) -> None:
        assert head.version > 0
        trouble = self._trouble(game, "lost before", "lost after")
        await self._pass()
        if trouble == "lost before":
            raise Unknown("the connection is gone")
        if self._head(game) != head:
            raise Conflict(f"the head is {self._head(game).version}, not {head.version}, or has another hash")
        self._gone[game] = head
        for known in (self._events, self._deadlines, self._befores):
            known.pop(game, None)
        await self._pass()
        if trouble == "lost after":
            raise Unknown("the connection is gone")

    async def trim(self, partition: int, position: int) -> None:
        trouble = self._trouble(partition, "lost before", "lost after")
        await self._pass()
        if trouble != "lost before" and any(entry.position == position for entry in self._outboxes[partition]):
            kept = [entry for entry in self._outboxes[partition] if entry.position >= position]
            self._outboxes[partition] = kept
        if trouble is not None:
            raise Unknown("the connection is gone")

    async def games(self, after: bytes = b"", limit: int = 1000) -> Sequence[bytes]:
        await self._pass()
        return sorted(game for game in self._events if game > after)[:limit]

    async def deadlines(self, limit: int = 100) -> Sequence[Deadline]:
        await self._pass()
        now_ms = self._clock()
        past = sorted((at_ms, game) for game, at_ms in self._deadlines.items() if at_ms <= now_ms)
        return [Deadline(game, at_ms) for at_ms, game in past[:limit]]

    async def next_deadline(self) -> int | None:
        await self._pass()
        now_ms = self._clock()
        return min((at_ms - now_ms for at_ms in self._deadlines.values() if at_ms > now_ms), default=None)

    async def beat(self) -> None:
        await self._pass()
        self._beats.append(self._clock())

    async def silence(self, from_ms: int, to_ms: int) -> int:
        await self._pass()
        gaps = pairwise([*self._beats, max(to_ms, *self._beats[-1:], 0)])
        return sum(
            max(0, min(end, to_ms) - max(begin, from_ms)) for begin, end in gaps if end - begin > BEAT_GAP_MS_MAX
        )

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        place = (player, ladder)
        trouble = self._trouble(place, "lost before", "lost after")
        await self._pass()
        if trouble == "lost before":
            raise Unknown("the connection is gone")
        holder = before = self._claims.get(place)
        if holder is None or holder == instead_of:
            holder = self._claims[place] = game
        if before is not None and holder != before:
            self._befores[holder] = before
        await self._pass()
        if trouble == "lost after":
            raise Unknown("the connection is gone")
        return holder

    async def claimed(self, player: bytes, ladder: str) -> bytes | None:
        await self._pass()
        return self._claims.get((player, ladder))

    async def before(self, game: bytes) -> bytes | None:
        await self._pass()
        return self._befores.get(game)

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        await self._pass()
        return [entry for entry in self._outboxes[partition] if entry.position > after][:limit]

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    # ---------------------------------------------------------------- what it does to its callers

    def _trouble(self, whose: object, *kinds: str) -> str | None:
        if self.calm or self._row[whose] == TROUBLES_MAX or self._random.random() < 0.7:
            self._row[whose] = 0
            return None
        self._row[whose] += 1
        kind = self._random.choice(kinds)
        self.troubles[kind] += 1
        return kind

    async def _pass(self) -> None:
        for _ in range(1 if self.calm else self._random.randint(1, PASSES_MAX)):
            await asyncio.sleep(0)

    def _tell(self, game: bytes) -> None:
        """Late, but in the game's order; sometimes the last few once more, as after a torn connection."""
        if not self.calm and self._random.random() < 0.5:
            self.troubles["told late"] += 1
            asyncio.get_running_loop().call_soon(self._tell, game)
            return
        told = self._told[game]
        while self._untold[game]:
            told.append(self._untold[game].popleft())
            self._deliver(game, told[-1])
        if not self.calm and self._random.random() < 0.3:
            self.troubles["told again"] += 1
            for delivery in told[-self._random.randint(1, REPEATS_MAX) :]:
                self._deliver(game, delivery)

    def _deliver(self, game: bytes, delivery: Delivery) -> None:
        for listener in self._listeners:
            listener(game, *delivery)
