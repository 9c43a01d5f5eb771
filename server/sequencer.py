"""Copies what games told the world into the ledger. Any number may run, be killed and begin again: nothing comes twice.

Its correctness needs no lease: an append compares the ledger's head and the marks of the partitions it read, and holds
at most one leaf of a kind.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog

from events import codec, entries, ledger
from events.chain import Head, Stored
from events.entries import Opening
from events.ledger import Copy, Leaf, Ledger, Mark
from events.log import PARTITIONS, Conflict, Log, OutboxEntry, Unknown, outbox_link, partition
from events.merkle import Frontier
from events.shapes import Undecodable
from rules.catalogue import FACTS
from rules.game import Finished, Seated

LEAVES_MAX = 1000
"""In one append, but for closings that must come first."""
LOOK_SECONDS = 30
"""Between two looks at every partition, whether anything was heard of it or not."""
RETRY_SECONDS = 0.01
"""After an append of which nobody knows whether it is stored."""

SILENT = FACTS.keys() - {Seated.__name__, Finished.__name__}
"""Facts with which no append tells the world anything: moves, above all, and those are many."""

log_line = structlog.get_logger()


class Stopped(Exception):
    """A partition isn't copied from until it holds again what was copied before."""

    def __init__(self, partition: int, why: str) -> None:
        super().__init__(why)
        self.partition = partition
        self.why = why


@dataclass(slots=True)
class _Partition:
    """One outbox while a batch is put together."""

    before: Mark
    mark: Mark
    waiting: deque[OutboxEntry] = field(default_factory=deque)
    read_to_end: bool = False
    open: bool = False
    """Whether one of its entries waits for another partition."""


@dataclass(slots=True)
class _Batch:
    head: Frontier
    marks: dict[int, Mark]
    partitions: dict[int, _Partition] = field(default_factory=dict)
    leaves: dict[bytes, Leaf] = field(default_factory=dict)

    def partition(self, number: int) -> _Partition:
        if number not in self.partitions:
            mark = self.marks.get(number) or ledger.origin(number)
            self.partitions[number] = _Partition(mark, mark)
        return self.partitions[number]

    @property
    def copy(self) -> Copy:
        moved = [each for each in self.partitions.values() if each.mark != each.before]
        return Copy(
            tuple(self.leaves.values()), tuple(each.before for each in moved), tuple(each.mark for each in moved)
        )


class Sequencer:
    """From `log`'s outboxes to `ledger_`."""

    def __init__(self, log: Log, ledger_: Ledger, leaves_max: int = LEAVES_MAX) -> None:
        self._log = log
        self._ledger = ledger_
        self._leaves_max = leaves_max
        self._behind = set(range(PARTITIONS))
        self._copying: set[int] = set()
        """Partitions of which it isn't known yet whether all is copied."""
        self._news = asyncio.Event()
        self._entered = asyncio.Event()
        """Replaced whenever the ledger has grown."""
        self.alarms: dict[int, str] = {}
        """Partitions that stand still, and why."""
        log.listen(self._appended)

    @property
    def waiting(self) -> int:
        """Partitions that may hold what isn't in the ledger."""
        return len(self._behind | self._copying)

    def _appended(self, game: bytes, before: Head, events: tuple[Stored, ...]) -> None:
        for event in events:
            if codec.name(event.body) not in SILENT:
                self._behind.add(partition(game))
                self._news.set()
                return

    async def run(self) -> None:
        """For ever."""
        while True:
            self._news.clear()
            await self.copy_all()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._news.wait()
                continue
            self._behind.update(range(PARTITIONS))

    async def copy_all(self) -> None:
        """Until nothing is left that was stored when this was called. Partitions in `alarms` are left out."""
        while self._behind:
            numbers = set(self._behind)
            self._behind -= numbers
            left: set[int] = numbers
            self._copying = numbers
            try:
                left = await self._copy(sorted(numbers))
            except Conflict:
                pass  # Another sequencer was faster: read again.
            except Unknown:
                await asyncio.sleep(RETRY_SECONDS)
            finally:
                self._behind |= left
                self._copying = set()

    async def _copy(self, numbers: Iterable[int]) -> set[int]:
        """One append of what waits in these partitions; those in which more may wait."""
        marks = {mark.partition: mark for mark in await self._ledger.marks()}
        batch = _Batch(await self._ledger.head(), marks)
        left: set[int] = set()
        for number in numbers:
            if len(batch.leaves) >= self._leaves_max:
                left.add(number)
                continue
            try:
                if await self._take(batch, number):
                    left.add(number)
                if self.alarms.pop(number, None) is not None:
                    log_line.info("a partition is copied from again", partition=number)
            except Stopped as stopped:
                self._alarm(stopped)
                if stopped.partition != number:
                    self._alarm(Stopped(number, f"it waits for partition {stopped.partition}"))
        if batch.copy != Copy(()):
            await self._ledger.append(batch.head, batch.copy)
            self._entered.set()
            self._entered = asyncio.Event()
        return left

    def _alarm(self, stopped: Stopped) -> None:
        if self.alarms.get(stopped.partition) != stopped.why:
            log_line.error("a partition stands still", partition=stopped.partition, why=stopped.why)
        self.alarms[stopped.partition] = stopped.why

    async def _take(self, batch: _Batch, number: int) -> bool:
        """What waits in a partition, into the batch; whether there may be more. Raises Stopped."""
        while (entry := await self._next(batch, number)) is not None:
            await self._enter(batch, entry)
            if len(batch.leaves) >= self._leaves_max:
                return True
        return False

    async def _next(self, batch: _Batch, number: int) -> OutboxEntry | None:
        at = batch.partition(number)
        if not at.waiting and not at.read_to_end:
            at.waiting.extend(await self._read(at.mark))
            at.read_to_end = not at.waiting
        return at.waiting[0] if at.waiting else None

    async def _read(self, mark: Mark) -> list[OutboxEntry]:
        """What follows `mark`. Raises Stopped where the outbox doesn't hold the marked entry, or doesn't chain."""
        # The entry that was copied last is read again: where it is gone, or another, the outbox has lost its end.
        found = list(await self._log.outbox(mark.partition, max(0, mark.position - 1), self._leaves_max + 1))
        if mark.position:
            last = found.pop(0) if found else None
            if last is None or (last.position, last.hash) != (mark.position, mark.hash):
                why = f"the ledger holds its entry {mark.position}, which is no longer there: run `statecraft refill`"
                raise Stopped(mark.partition, why)
        position, hash_ = mark.position, mark.hash
        for entry in found:
            position, hash_ = position + 1, outbox_link(hash_, entry.game, entry.body)
            if (entry.position, entry.hash) != (position, hash_):
                raise Stopped(mark.partition, f"its entry {position} is missing, or isn't the one that was hashed")
        return found

    async def _enter(self, batch: _Batch, item: OutboxEntry) -> None:
        """The next entry of its partition, after the closings it names. Raises Stopped."""
        at = batch.partition(item.partition)
        try:
            entry = entries.decode_of_game(item.body)
        except Undecodable as error:
            raise Stopped(item.partition, f"its entry {item.position} can't be read: {error}") from error
        if isinstance(entry, Opening) and entry.after:
            at.open = True
            try:
                for game in entry.after:
                    await self._enter_closing(batch, game, item)
            finally:
                at.open = False
        found = ledger.leaf(item.body)
        batch.leaves.setdefault(found.once, found)
        at.waiting.popleft()
        at.mark = Mark(item.partition, item.position, item.hash)

    async def _enter_closing(self, batch: _Batch, game: bytes, for_: OutboxEntry) -> None:
        once = ledger.closing(game)
        if once in batch.leaves or await self._ledger.find(once) is not None:
            return
        number = partition(game)
        # It was appended before the entry that names it, so neither waits for the other, or the store is ill.
        while not batch.partition(number).open and (entry := await self._next(batch, number)) is not None:
            await self._enter(batch, entry)
            if once in batch.leaves:
                return
        why = f"its entry {for_.position} comes after the closing of game {game.hex()}, which isn't there"
        raise Stopped(for_.partition, why)

    async def closed(self, game: bytes, seconds_max: float) -> bool:
        """Whether the game's closing is in the ledger; waits a while for it."""
        return await self.entered(ledger.closing(game), seconds_max) is not None

    async def entered(self, once: bytes, seconds_max: float) -> int | None:
        """The index of that leaf, once it is in the ledger; waits a while for it."""
        growing = self._entered
        if (index := await self._ledger.find(once)) is not None or not seconds_max:
            return index
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                while True:
                    await growing.wait()
                    growing = self._entered
                    if (index := await self._ledger.find(once)) is not None:
                        return index
        return None
