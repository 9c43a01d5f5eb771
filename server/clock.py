"""The only place that reads the time; the beats that tell of it, and the sweep that calls it on deadlines past."""

import asyncio
import contextlib
import time
from collections.abc import Callable

import structlog

from events.chain import Head, Stored
from events.log import Deadline, Log, Unknown
from server.games import Damaged, Games, Live
from server.tally import Tally

DEADLINES = 100
"""In one look."""
BEAT_SECONDS = 1.0
PAUSE_SECONDS = 0.02
"""Between two looks, however many deadlines there are."""

log_line = structlog.get_logger()


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


class Beats:
    """Tells the store, as long as this process runs, that a server is up."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self.stored_ms = 0
        """When the store took the last one."""
        self.missed: str | None = None
        """Why it didn't take the last one."""

    async def once(self) -> None:
        try:
            await self._log.beat()
        except Unknown as error:
            self.missed = str(error)
            log_line.warning("a beat isn't stored", why=repr(error))
        else:
            self.missed = None
            self.stored_ms = now_ms()

    async def for_ever(self) -> None:
        while True:
            await self.once()
            await asyncio.sleep(BEAT_SECONDS)


class Sweep:
    """Calls time on games whose deadline is past."""

    def __init__(self, games: Games, log: Log, clock: Callable[[], int] = now_ms, tally: Tally | None = None) -> None:
        self._games = games
        self._log = log
        self._clock = clock
        self._tally = tally or Tally()
        self.looked_ms = 0
        """When it last looked at deadlines; 0: not yet."""
        self._nearest_ms: float = 0
        """The nearest deadline that was heard of, on this server's clock."""
        self._sooner = asyncio.Event()
        games.listen(self._published)
        self._damaged: set[bytes] = set()
        """Games that can't be continued; they keep their deadlines, and must not be in the others' way."""

    async def once(self) -> bool:
        """Whether there may be more of them."""
        limit = DEADLINES + len(self._damaged)
        due = await self._log.deadlines(limit)
        self.looked_ms = self._clock()
        self._tally.looks += 1
        await asyncio.gather(*(self._call(deadline) for deadline in due if deadline.game not in self._damaged))
        return len(due) == limit

    async def _call(self, deadline: Deadline) -> None:
        try:
            await self._games.call_time(deadline)
            self._tally.deadlines += 1
        except Damaged as error:
            self._damaged.add(deadline.game)
            self._tally.damaged += 1
            log_line.error("damaged game", game=deadline.game.hex(), version=error.version, why=error.why)

    def _published(self, game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        due_ms = live.clock.due_ms if live is not None else None
        if due_ms is not None and due_ms < self._nearest_ms:
            self._nearest_ms = due_ms
            self._sooner.set()

    async def for_ever(self, seconds: float) -> None:
        """Look whenever the nearest deadline is past, and every so many seconds in any case."""
        while True:
            self._nearest_ms = self._clock() + seconds * 1000
            if await self.once():
                self._nearest_ms = 0
            elif (wait_ms := await self._log.next_deadline()) is not None:
                self._nearest_ms = min(self._nearest_ms, self._clock() + wait_ms)
            while (wait := self._nearest_ms - self._clock()) > 0:
                self._sooner.clear()
                await _wait(self._sooner, wait / 1000)
            await asyncio.sleep(PAUSE_SECONDS)


async def _wait(news: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()
