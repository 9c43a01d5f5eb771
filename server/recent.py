"""A Log whose store may forget what it acknowledged: after a failover, say. Where the same bytes are put back.

What was stored lately is kept here. Where the store holds a beginning of it, whoever wrote the rest appends it again;
where nobody does, or the log went another way meanwhile, that is a `Fork`, and whoever listens is told.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import structlog

from events.chain import Head, Stored, origin
from events.log import Batch, Conflict, LetGo, Log, Unknown
from server.layer import Layer
from server.tally import Tally

KEPT_SECONDS = 60.0
"""A store that loses more than the last minute isn't one that was promised anything of."""
APPENDS_MAX = 50_000
"""Kept of all games, a kilobyte or two each; games that rested longest go first."""
RESTED = 2
"""Games that are looked at for this with each append."""
FORKS_MAX = 1000
UNSURE_MAX = 1000
MEND_SECONDS_MAX = 5.0
"""How long a game waits for the store, and for another server, to have back what was lost."""
PAUSE_SECONDS = 0.1

log_line = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Fork:
    """A game's log went another way after `common` than was shown."""

    game: bytes
    common: Head
    dropped: tuple[Stored, ...]
    """What was shown after it, as far as it is known here, and is gone."""


T = TypeVar("T")
Forked = Callable[[Fork], Awaitable[None]]


@dataclass(slots=True)
class _Append:
    before: Head
    events: tuple[Stored, ...]
    batch: Batch | None
    """None: another server's."""
    at: float
    """On the event loop's clock."""


class RecentLog(Layer):
    """`events.log.Log`. What it forgot is looked for at each Conflict, and wherever `suspect` is called."""

    def __init__(self, log: Log, tally: Tally | None = None, appends_max: int = APPENDS_MAX) -> None:
        super().__init__(log)
        self.tally = tally or Tally()
        self._appends_max = appends_max
        self._recent: OrderedDict[bytes, deque[_Append]] = OrderedDict()
        """By game, the one that went on last at the end; each append follows the one before."""
        self._unsure: OrderedDict[bytes, _Append] = OrderedDict()
        """Appends of which nobody knows whether they are stored, by the hash of their last event."""
        self._count = 0
        """Of all appends in it."""
        self._mending: dict[bytes, asyncio.Task[None]] = {}
        self._forks: OrderedDict[bytes, Fork] = OrderedDict()
        self._forked: list[Forked] = []
        self._suspected = 0
        """How often."""
        log.listen(self._heard)

    def __len__(self) -> int:
        """Appends that are kept."""
        return self._count

    def on_fork(self, forked: Forked) -> None:
        """Be told of each fork, before anybody here reads the game's log again."""
        self._forked.append(forked)

    def common(self, game: bytes, head: Head) -> Head:
        """The last head that the game's log and the one that was shown up to `head` share, as far as it is known."""
        fork = self._forks.get(game)
        if fork is None or head not in [event.head for event in fork.dropped]:
            return origin(game)
        return fork.common

    # ------------------------------------------------------------ what was stored lately

    def _remember(self, game: bytes, append: _Append) -> None:
        # Its answer may have been lost, and so may that of the one before it: both are stored, as it turns out.
        unsure = self._unsure.pop(append.events[-1].hash, None)
        if append.batch is None and unsure is not None:
            append.batch = unsure.batch
        if (before := self._unsure.get(append.before.hash)) is not None:
            self._remember(game, before)
        kept = self._recent.setdefault(game, deque())
        for each in reversed(kept):
            if each.before == append.before and each.events == append.events:
                each.batch = append.batch or each.batch  # It was heard of before its answer came.
                return
            if each.events[-1].version <= append.before.version:
                break
        if kept and kept[-1].events[-1].head != append.before:
            self._count -= len(kept)
            kept.clear()
        kept.append(append)
        self._count += 1
        self._recent.move_to_end(game)
        while kept[0].at < append.at - KEPT_SECONDS:
            kept.popleft()
            self._count -= 1
        for rested in tuple(islice(self._recent, RESTED)):
            if self._count > self._appends_max or self._recent[rested][-1].at < append.at - KEPT_SECONDS:
                self._forget(rested)

    def _doubt(self, game: bytes, append: _Append) -> None:
        """It may be stored, and then it was this server's."""
        for each in self._recent.get(game, ()):
            if each.events == append.events:
                each.batch = append.batch
                return
        self._unsure[append.events[-1].hash] = append
        while len(self._unsure) > UNSURE_MAX:
            self._unsure.popitem(last=False)

    def _forget(self, game: bytes) -> None:
        self._count -= len(self._recent.pop(game, ()))

    def _heard(self, game: bytes, before: Head, events: tuple[Stored, ...]) -> None:
        kept = self._recent.get(game)
        last = kept[-1].events[-1].head if kept else before
        if before == last or before.version > last.version:  # the second where something wasn't heard
            self._remember(game, _Append(before, events, None, asyncio.get_running_loop().time()))
        elif not any(each.events == events for each in kept or ()):
            self._suspect(game)  # Somebody went on from less than was shown here.

    # ------------------------------------------------------------ mending

    def suspect(self) -> None:
        """The store may hold less than it acknowledged: another server has taken over there, or came back."""
        self._suspected += 1
        for game in self._recent:
            self._suspect(game)

    def _suspect(self, game: bytes) -> None:
        if game not in self._mending:
            self._mending[game] = asyncio.get_running_loop().create_task(self._mend_whole(game))

    async def _mended(self, game: bytes) -> None:
        """Wait until what is missing was put back, or given up."""
        task = self._mending.get(game)
        if task is not None and task is not asyncio.current_task():
            await asyncio.wait([task])

    async def _whole(self, game: bytes, read: Callable[[], Awaitable[T]]) -> T:
        """What was read of a game, once nothing is missing of it."""
        while True:
            if game in self._mending:
                await self._mended(game)
            suspected = self._suspected
            found = await read()
            if suspected == self._suspected or self._mending.get(game) is asyncio.current_task():
                return found

    async def _mend_whole(self, game: bytes) -> None:
        try:
            settled = await self._settle(game)
            if isinstance(settled, Fork):
                await self._fork(settled)
        finally:
            del self._mending[game]

    async def _settle(self, game: bytes) -> Fork | bool:
        now = asyncio.get_running_loop().time
        until, give_up = None, now() + KEPT_SECONDS
        while True:
            try:
                head = await self._log.head(game)
                # While the store isn't there nobody can put anything back.
                until = until or now() + MEND_SECONDS_MAX
                if settled := await self._mend(game, head, now() > until):
                    return settled
            except (Conflict, Unknown):
                if now() > give_up:
                    return True  # Whoever reads the game is told that it can't be read.
                await asyncio.sleep(PAUSE_SECONDS)

    async def _mend(self, game: bytes, head: Head, late: bool) -> Fork | bool:
        """Whether the log holds all that is kept here, or else went another way. False: look again.

        Raises Conflict, Unknown."""
        kept = tuple(self._recent.get(game, ()))
        missing = next((at for at, each in enumerate(kept) if each.before == head), None)
        if missing is not None and (batch := kept[missing].batch) is not None:
            # Its deadline may have been set anew, and it was past: that was acknowledged.
            await self._log.append(game, head, replace(batch, expired_ms=None))
            self.tally.put_back += 1
            return False
        # Perhaps a beginning of which another server has more, and puts it back if it lives.
        if not late and kept and (missing is not None or head.version < kept[0].before.version):
            await asyncio.sleep(PAUSE_SECONDS)
            return False
        if missing is not None:
            return Fork(game, head, tuple(event for each in kept[missing:] for event in each.events))
        return await self._compared(game, kept, head)

    async def _fork(self, fork: Fork) -> None:
        self._forget(fork.game)
        self.tally.forks += 1
        self._forks[fork.game] = fork
        while len(self._forks) > FORKS_MAX:
            self._forks.popitem(last=False)
        left, lost = fork.common.version, len(fork.dropped)
        log_line.error("the store lost what was shown", game=fork.game.hex(), left=left, lost=lost)
        for forked in self._forked:
            await forked(fork)

    async def _compared(self, game: bytes, kept: Sequence[_Append], head: Head) -> Fork | bool:
        """Against a store that holds something else than a beginning, or more. Raises Unknown."""
        if not kept or head == kept[-1].events[-1].head:
            return True
        first = kept[0].before
        try:
            stored = await self._log.read(game, max(0, first.version - 1))
        except LetGo:
            return True
        heads = {event.head for event in stored} | {origin(game)}
        shown = [first, *(event.head for each in kept for event in each.events)]
        if shown[-1] in heads:
            return True
        common = next((each for each in reversed(shown) if each in heads), origin(game))
        dropped = (event for each in kept for event in each.events if event.version > common.version)
        return Fork(game, common, tuple(dropped))

    # ------------------------------------------------------------ the Log

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        if game in self._mending:
            await self._mended(game)
        try:
            made = await self._log.append(game, head, batch)
        except Unknown:
            self._doubt(game, _Append(head, batch.events, batch, asyncio.get_running_loop().time()))
            raise
        except Conflict:
            kept = self._recent.get(game)
            if kept and kept[-1].events[-1].version <= head.version:
                self._suspect(game)  # Nobody went on from there, as far as was heard.
                await self._mended(game)
            raise
        self._remember(game, _Append(head, batch.events, batch, asyncio.get_running_loop().time()))
        return made

    async def head(self, game: bytes) -> Head:
        return await self._whole(game, lambda: self._log.head(game))

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        return await self._whole(game, lambda: self._log.read(game, after, limit))
