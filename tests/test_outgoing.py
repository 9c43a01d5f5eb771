"""A connection's way out: what waits for room, who is waited for, and for how long."""

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.lines import TaskedLine
from server.outgoing import OUTGOING_BYTES_MAX, ROOM_BYTES, WRITE_BYTES, Outgoing, Ticks
from server.tally import Tally
from server.wire import Code
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio


class Reader:
    """The peer's side of an ASGI WebSocket: takes a frame when it is told to."""

    busy = False

    def __init__(self, stall_seconds: float = wait_seconds_max) -> None:
        self.taken: list[dict[str, Any]] = []
        self.ended = asyncio.Event()
        self._takes = asyncio.Semaphore(0)
        self._gone = False
        self._took = asyncio.Event()
        self._websocket = WebSocket({"type": "websocket"}, self._receive, self._send)
        self._line = TaskedLine(self._websocket, False)
        self.outgoing = Outgoing(self._line, Ticks(), stall_seconds, Tally(), self.ended.set)
        self._came = False

    async def _receive(self) -> dict[str, Any]:
        if self._came:
            await asyncio.Event().wait()
        self._came = True
        return {"type": "websocket.connect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "websocket.accept":
            return
        await self._takes.acquire()
        if self._gone:
            raise WebSocketDisconnect(1006)
        self.taken.append(message)
        self._took.set()

    def received(self, message: bytes | str) -> None:
        raise AssertionError("it says nothing")

    def may_write(self) -> None:
        self.outgoing.flush()

    def gone(self) -> None:
        self.outgoing.over()

    async def __aenter__(self) -> "Reader":
        await self._websocket.accept()
        self._running = asyncio.create_task(self._line.run(self))
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    def take(self, frames: int = 1) -> None:
        for _ in range(frames):
            self._takes.release()

    async def take_one(self) -> None:
        self._took.clear()
        self.take()
        await self._took.wait()

    def go(self) -> None:
        self._gone = True
        self.take()

    async def closed(self) -> int:
        async with asyncio.timeout(wait_seconds_max):
            await self._running
        code: int = self.taken[-1]["code"]
        return code


class Wire:
    """A line that only remembers, and takes nothing while it is told so."""

    def __init__(self) -> None:
        self.writes: list[tuple[bytes, ...]] = []
        self.takes = True

    def write(self, payloads: Any) -> None:
        self.writes.append(tuple(payloads))

    def close(self, code: int, why: str) -> None:
        self.takes = False

    def abort(self) -> None:
        raise AssertionError

    def read_on(self) -> None:
        raise AssertionError


async def test_what_is_sent_in_a_tick_goes_in_one_write_and_no_write_is_much_too_large() -> None:
    wire = Wire()
    outgoing = Outgoing(wire, Ticks(), wait_seconds_max, Tally())
    for number in range(3):
        outgoing.send(bytes([number]))
    assert wire.writes == []
    await ticks()
    assert wire.writes == [(b"\x00", b"\x01", b"\x02")]
    for _ in range(5):
        outgoing.send(bytes(WRITE_BYTES // 2))
    await ticks()
    assert [len(write) for write in wire.writes[1:]] == [2, 2, 1]
    assert outgoing.has_room()
    assert outgoing.waiting_bytes == 0


async def test_an_answer_in_the_next_tick_goes_with_what_it_follows() -> None:
    wire = Wire()
    outgoing = Outgoing(wire, Ticks(), wait_seconds_max, Tally())
    outgoing.send(b"events")
    asyncio.get_running_loop().call_soon(outgoing.send, b"done")
    await ticks()
    assert wire.writes == [(b"events", b"done")]


class Broken(Wire):
    """A line on which every write is a fault of ours."""

    aborted = False

    def write(self, payloads: Any) -> None:
        raise RuntimeError("broken")

    def abort(self) -> None:
        self.aborted = True


async def test_a_fault_with_one_ends_it_and_keeps_no_other_of_the_same_tick_waiting() -> None:
    loop, faults, together = asyncio.get_running_loop(), [], Ticks()
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    lines = [Wire(), Broken(), Wire(), Broken(), Wire()]
    for line in lines:
        Outgoing(line, together, wait_seconds_max, Tally()).send(b"news")
    await ticks()
    await ticks()
    await ticks()
    assert [line.aborted if isinstance(line, Broken) else line.writes for line in lines] == [
        [(b"news",)], True, [(b"news",)], True, [(b"news",)],
    ]  # fmt: skip
    assert len(faults) == 2, "and they are told"


async def test_nothing_is_written_to_a_line_that_takes_nothing_until_it_does() -> None:
    wire = Wire()
    outgoing = Outgoing(wire, Ticks(), wait_seconds_max, Tally())
    wire.takes = False
    for number in range(4):
        outgoing.send(bytes([number]))
        await ticks()
    assert wire.writes == []
    assert outgoing.waiting_bytes == 4
    wire.takes = True
    outgoing.flush()
    assert wire.writes == [(b"\x00", b"\x01", b"\x02", b"\x03")]


async def ticks() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_there_is_room_while_little_waits_and_again_when_enough_was_taken() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        assert await reader.outgoing.room()
        for _ in range(3):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        waiting = asyncio.create_task(reader.outgoing.room())
        await asyncio.sleep(0)
        assert not reader.outgoing.has_room()
        assert not waiting.done()
        reader.take()
        assert await waiting
        assert reader.outgoing.has_room()


async def test_who_takes_a_frame_now_and_then_is_waited_for() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        for _ in range(6):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        waiting = asyncio.create_task(reader.outgoing.room())
        for _ in range(4):
            assert not waiting.done()
            await reader.take_one()
        assert await waiting


async def test_who_takes_nothing_while_a_backlog_waits_is_closed_with_4008() -> None:
    async with Reader(stall_seconds=0.05) as reader:
        for _ in range(4):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        assert not await reader.outgoing.room()
        reader.take(2)
        assert await reader.closed() == Code.TOO_SLOW
        assert reader.ended.is_set()


async def test_who_falls_behind_while_a_backlog_waits_is_closed_and_the_backlog_ends() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        reader.outgoing.send(bytes(OUTGOING_BYTES_MAX))
        waiting = asyncio.create_task(reader.outgoing.room())
        await asyncio.sleep(0)
        reader.outgoing.send(b".")
        assert not await waiting


async def test_who_is_gone_is_waited_for_no_longer() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        for _ in range(4):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        waiting = asyncio.create_task(reader.outgoing.room())
        await asyncio.sleep(0)
        reader.go()
        assert not await waiting
