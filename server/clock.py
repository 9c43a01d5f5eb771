"""The only place that reads the time, and the sweep that calls it on games whose deadline is past."""

import asyncio
import time

import structlog

from events.log import Log
from server.games import Damaged, Games

log_line = structlog.get_logger()


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


async def sweep(games: Games, log: Log) -> int:
    """Call time on every game whose deadline is past; how many there were."""
    due = await log.deadlines()
    for deadline in due:
        try:
            await games.call_time(deadline)
        except Damaged as error:
            log_line.error("damaged game", game=deadline.game.hex(), version=error.version, why=error.why)
    return len(due)


async def keep_sweeping(games: Games, log: Log, seconds: float) -> None:
    """For ever."""
    while True:
        await sweep(games, log)
        await asyncio.sleep(seconds)
