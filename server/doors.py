"""This process's open sockets, and how they are asked to go: the one place that knows whether it is leaving.

Leaving: nobody comes in any more, what a connection just asked is answered, then it is closed with 1012. Closes are
spread out, so that not everybody knocks at the next door in the same moment.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

LEAVES_A_SECOND = 500
SPREAD_SECONDS_MAX = 3.0
"""For everybody; where there are too many for that, more leave in a second."""


class Way(Protocol):
    """A connection's way out."""

    @property
    def waiting_bytes(self) -> int:
        """Of frames that the peer hasn't taken."""


class Doors:
    def __init__(self) -> None:
        self.leaving = False
        """Nobody comes in any more."""
        self.emptying = False
        """Whoever goes now was asked to, and comes back through another door."""
        self._open: dict[Way, Callable[[], None]] = {}
        self._hurry = asyncio.Event()
        self._empty = asyncio.Event()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def ways(self) -> tuple[Way, ...]:
        return tuple(self._open)

    def enter(self, way: Way, go: Callable[[], None]) -> None:
        """`go` asks the connection to go, and may come at any time, twice too."""
        self._open[way] = go
        if self.leaving:
            go()  # Its handshake had begun before.

    def leave(self, way: Way) -> None:
        self._open.pop(way, None)
        if not self._open:
            self._empty.set()

    def hurry(self) -> None:
        """Wait for nobody any more."""
        self._hurry.set()
        self._empty.set()

    async def announce(self, seconds: float) -> None:
        """Let nobody in, and give balancers so long to hear of it."""
        self.leaving = True
        await _within(self._hurry, seconds)

    async def empty(self, seconds_max: float) -> None:
        """Ask everybody to go, and wait at most so long until they have, or until somebody is in a hurry."""
        loop = asyncio.get_running_loop()
        self.leaving = self.emptying = True
        until = loop.time() + seconds_max
        due = loop.time()
        everybody = tuple(self._open.items())
        pause = min(1 / LEAVES_A_SECOND, min(SPREAD_SECONDS_MAX, seconds_max / 2) / max(1, len(everybody)))
        for way, go in everybody:
            if way in self._open:
                go()
            due += pause
            if due > loop.time():
                await _within(self._hurry, due - loop.time())
        if self._open:
            if not self._hurry.is_set():
                self._empty.clear()
            await _within(self._empty, until - loop.time())


async def _within(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
