"""Tables in a closed loop at a server made call by call: how that peer of `commands --store redis` is asked."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

import msgpack

from bench.clients import Watcher
from bench.measure import Measured
from bench.peers import CALLS, running
from bench.processes import Process, Redis

GOAL = "≥ 3 ×"


class Step(Protocol):
    """As in bench/commands.py: bytes of a command's frame, of its events' bodies, and of the frames each seat gets."""

    @property
    def asked(self) -> int: ...
    @property
    def bodies(self) -> list[int]: ...
    @property
    def sends(self) -> list[list[int]]: ...


@contextlib.asynccontextmanager
async def calls(
    folder: Path, redis: Redis | None, steps: Sequence[Step], tables: int, count: int
) -> AsyncIterator[dict[str, Measured]]:
    """Its CPU a command, µs, with `count` at each table a round. Empty without a Redis, or if it is missing."""
    if redis is None:
        yield {}
        return
    sends = [[list(map(_payload, frames)) for frames in step.sends] for step in steps]
    given = json.dumps([[step.bodies, frames] for step, frames in zip(steps, sends, strict=True)])
    with running(CALLS, folder / "calls", redis.url, given) as process:
        if process is None:
            yield {}
            return
        crowd = [[await Watcher.of(process.address) for _ in sends[0]] for _ in range(tables)]
        asked = [msgpack.packb(bytes(_payload(step.asked - MASK_BYTES) - BIN_HEAD_BYTES)) for step in steps]
        yield {CALLS.name: _side(process, crowd, list(zip(asked, sends, strict=True)), count)}
        for table in crowd:
            for seat in table:
                seat.transport.close()


MASK_BYTES = 4
BIN_HEAD_BYTES = 2
"""Of msgpack, before fewer than 256 bytes."""


def _payload(framed: int) -> int:
    """Of an unmasked frame with fewer than 65,536 bytes."""
    return framed - (2 if framed < 128 else 4)


def _side(
    process: Process, crowd: list[list[Watcher]], steps: list[tuple[bytes, list[list[int]]]], count: int
) -> Measured:
    async def commands(table: list[Watcher]) -> None:
        for number in range(count):
            (asked, sends), first = steps[number % len(steps)], number % len(table)
            table[first].send(asked)
            for seat, frames in zip((*table[first:], *table[:first]), sends, strict=True):
                told = sum(frames)
                await seat.until(lambda seat=seat, told=told: seat.size >= told)
                assert list(map(len, seat.messages())) == frames

    async def side() -> float:
        cpu = process.cpu_seconds
        await asyncio.gather(*(commands(table) for table in crowd))
        return (process.cpu_seconds - cpu) / (count * len(crowd)) * 1e6

    return side
