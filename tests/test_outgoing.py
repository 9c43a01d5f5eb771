"""A connection's way out: what waits for room, who is waited for, and for how long."""

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.socket import OUTGOING_BYTES_MAX, ROOM_BYTES, Outgoing
from server.wire import Code
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio


class Reader:
    """The peer's side of an ASGI WebSocket: takes a frame when it is told to."""

    def __init__(self, stall_seconds: float = wait_seconds_max) -> None:
        self.taken: list[dict[str, Any]] = []
        self._takes = asyncio.Semaphore(0)
        self._gone = False
        self._took = asyncio.Event()
        websocket = WebSocket({"type": "websocket"}, self._receive, self._send)
        self.outgoing = Outgoing(websocket, False, stall_seconds)
        self._websocket = websocket

    async def _receive(self) -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "websocket.accept":
            return
        await self._takes.acquire()
        if self._gone:
            raise WebSocketDisconnect(1006)
        self.taken.append(message)
        self._took.set()

    async def __aenter__(self) -> "Reader":
        await self._websocket.accept()
        self._draining = asyncio.create_task(self.outgoing.drain())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._draining.cancel()
        await asyncio.gather(self._draining, return_exceptions=True)

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
            await self._draining
        code: int = self.taken[-1]["code"]
        return code


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
        for _ in range(3):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        reading = reader.outgoing.reading = asyncio.create_task(asyncio.sleep(wait_seconds_max))
        assert not await reader.outgoing.room()
        reader.take(2)
        assert await reader.closed() == Code.TOO_SLOW
        await asyncio.gather(reading, return_exceptions=True)
        assert reading.cancelled()


async def test_who_falls_behind_while_a_backlog_waits_is_closed_and_the_backlog_ends() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        reader.outgoing.send(bytes(OUTGOING_BYTES_MAX))
        waiting = asyncio.create_task(reader.outgoing.room())
        await asyncio.sleep(0)
        reader.outgoing.send(b".")
        assert not await waiting


async def test_who_is_gone_is_waited_for_no_longer() -> None:
    async with Reader() as reader, asyncio.timeout(wait_seconds_max):
        for _ in range(3):
            reader.outgoing.send(bytes(ROOM_BYTES // 2))
        waiting = asyncio.create_task(reader.outgoing.room())
        await asyncio.sleep(0)
        reader.go()
        assert not await waiting
