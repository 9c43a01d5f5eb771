"""Event stores that fold a stored game whenever they are asked: how the peers of `replay` are asked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from bench.clients import WAIT_SECONDS_MAX
from bench.measure import Measured
from bench.peers import EMMETT, SOURCED, running
from bench.processes import Process

GOALS = {
    "eventsourcing on SQLite": "≥ 5 ×",
    "emmett on SQLite, by its consumer": "≥ 40 ×",
    "emmett on SQLite, a stream": "",
}
"""By what is asked; PERFORMANCE measured emmett as it rebuilds, by a consumer."""
PEERS = (SOURCED, EMMETT)


@contextlib.asynccontextmanager
async def folds(folder: Path, events: int) -> AsyncIterator[dict[str, Measured]]:
    """What measures each that is installed: events a second of its CPU, reading included, of a game of so many."""
    sourced, emmett = ((folder / Path(peer.program).stem) for peer in PEERS)
    with (
        running(SOURCED, sourced, str(sourced / "events.db"), str(events)) as python,
        running(EMMETT, emmett, str(emmett / "events.db"), str(events)) as node,
    ):
        asked = zip(GOALS, (python, node, node), (b"fold\n", b"rebuild\n", b"fold\n"), strict=True)
        yield {name: _asking(process, line, events) for name, process, line in asked if process is not None}


def _asking(process: Process, line: bytes, events: int) -> Measured:
    async def ask() -> float:
        reader, writer = await asyncio.open_connection(*process.address)
        cpu = process.cpu_seconds
        writer.write(line)
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            assert int(await reader.readline()) == events
        writer.close()
        return events / (process.cpu_seconds - cpu)

    return ask
