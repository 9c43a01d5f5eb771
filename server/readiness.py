"""What is wrong with this process, in words: the one place that decides whether a balancer may send anybody here."""

import asyncio
import sqlite3
from dataclasses import dataclass

from events.log import Unknown
from server.clock import now_ms
from server.parts import Parts
from server.stores import FAULTS

STORE_SECONDS_MAX = 2.0
"""For one small read."""
BEAT_SECONDS_MAX = 10
"""Without a beat that was stored."""
NO_GAME = bytes(16)

TROUBLES = {
    "leaving": True,
    "store": True,
    "sequencer": False,
    "signing": False,
    "projections": False,
}
"""Every trouble, and whether it keeps a game from being played here. The ledger stands behind all servers alike: if
those three took a server from the balancer they would take every one, and games go on without them."""


@dataclass(frozen=True, slots=True)
class Trouble:
    name: str
    why: str

    @property
    def stops(self) -> bool:
        return TROUBLES[self.name]


async def troubles(parts: Parts) -> list[Trouble]:
    """Everything that is wrong now."""
    found = []
    if parts.doors.leaving:
        found.append(Trouble("leaving", "this server is going: use another, or come back"))
    if (why := await _store(parts)) is not None:
        found.append(Trouble("store", why))
    if parts.sequencer.alarms:
        number, why = min(parts.sequencer.alarms.items())
        found.append(Trouble("sequencer", f"{len(parts.sequencer.alarms)} partitions stand still; {number}: {why}"))
    if parts.publisher.refusal is not None:
        found.append(Trouble("signing", parts.publisher.refusal))
    for name, position in parts.projector.positions().items():
        if position.trouble is not None:
            found.append(Trouble("projections", f"{name}: {position.trouble}"))
    return found


async def _store(parts: Parts) -> str | None:
    """Why the store can't be used. The beats say whether it takes something, a read whether it gives."""
    if parts.beats.missed is not None:
        return f"it takes nothing: {parts.beats.missed}"
    if (silent_ms := now_ms() - parts.beats.stored_ms) > BEAT_SECONDS_MAX * 1000:
        return f"it has taken nothing for {silent_ms // 1000} seconds"
    try:
        async with asyncio.timeout(STORE_SECONDS_MAX):
            await parts.log.head(NO_GAME)
    except TimeoutError:
        return f"it gave no answer for {STORE_SECONDS_MAX:.0f} seconds"
    except (Unknown, *FAULTS, sqlite3.Error) as error:
        return f"it can't be read: {error}"
    return None
