"""How long, and how patiently, a call that didn't run is tried again."""

import asyncio

from events.redis_topology import Unreachable

PAUSE_SECONDS = (0.02, 0.5)
"""Before a call that didn't run is sent again: at first, and at most."""


class Again:
    """Of one call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds_max: float) -> None:
        self._loop = loop
        self._seconds_max = seconds_max
        self._until = self._loop.time() + seconds_max
        self._pause_seconds = PAUSE_SECONDS[0]

    @property
    def seconds(self) -> float:
        return max(0.0, self._until - self._loop.time())

    def check(self, why: Exception | None) -> None:
        """Raises Unreachable once the time is over."""
        if not self.seconds:
            raise Unreachable(f"for {self._seconds_max:g} s: {str(why or '') or 'no server took it'}") from why

    async def pause(self, why: Exception) -> None:
        """Raises Unreachable once the time is over."""
        self.check(why)
        await asyncio.sleep(self._pause_seconds)
        self._pause_seconds = min(2 * self._pause_seconds, PAUSE_SECONDS[1])
