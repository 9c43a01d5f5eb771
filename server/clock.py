"""The only place that reads the time, and the sweep that calls it on games whose deadline is past."""

import asyncio
import time

import structlog

from events.log import Log
from server.games import Damaged, Games

DEADLINES = 100
"""In one look."""

log_line = structlog.get_logger()


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


class Sweep:
    """Calls time on games whose deadline is past."""

    def __init__(self, games: Games, log: Log) -> None:
        self._games = games
        self._log = log
        self._damaged: set[bytes] = set()
        """Games that can't be continued; they keep their deadlines, and must not be in the others' way."""

    async def once(self) -> None:
        due = await self._log.deadlines(DEADLINES + len(self._damaged))
        for deadline in due:
            if deadline.game in self._damaged:
                continue
            try:
                await self._games.call_time(deadline)
            except Damaged as error:
                self._damaged.add(deadline.game)
                log_line.error("damaged game", game=deadline.game.hex(), version=error.version, why=error.why)

    async def for_ever(self, seconds: float) -> None:
        while True:
            await self.once()
            await asyncio.sleep(seconds)
