"""The way past uvicorn where a peer goes in the middle of its handshake, or speaks while a message is dealt with."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.utils import ClientDisconnected
from websockets.frames import Opcode

from server.bounds import DIRECT, Socket, socket_class
from server.heads import Http
from tests.running import frame, frames_of, wait_seconds_max

pytestmark = pytest.mark.anyio

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@contextlib.asynccontextmanager
async def peer_of(application: Any, ping_seconds: float | None = None) -> AsyncIterator[Any]:
    """A peer's reader and writer, whose handshake is on its way."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            application,
            interface="asgi3",
            http=Http,
            ws=socket_class(wait_seconds_max, True),
            ws_ping_interval=ping_seconds,
            ws_ping_timeout=ping_seconds,
            lifespan="off",
            log_config=None,
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(HANDSHAKE)
        try:
            async with asyncio.timeout(wait_seconds_max):
                yield reader, writer
        finally:
            writer.close()
            server.should_exit = True
            await serving


async def accepted(goes: bool) -> bool:
    """Whether an application accepts a peer, who may go in the moment before: uvicorn doesn't know of it yet."""
    told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        if goes:
            # As when the loop has read the end of what a peer sends: the next thing it does is to tell of it.
            scope["extensions"][DIRECT].transport.close()
        try:
            await send({"type": "websocket.accept"})
        except ClientDisconnected:
            told.set_result(False)
            raise
        told.set_result(True)

    async with peer_of(application):
        return await told


async def test_who_is_gone_when_his_handshake_is_accepted_is_not_accepted() -> None:
    assert not await accepted(goes=True)
    assert await accepted(goes=False)


class Attending:
    """Deals with each message until it is told that it has."""

    def __init__(self) -> None:
        self.line: asyncio.Future[Socket] = asyncio.get_running_loop().create_future()
        self.busy = False
        self.answers: tuple[bytes, ...] = ()
        """Which wait until they may be written."""
        self.messages: list[bytes | str] = []
        self.over = asyncio.Event()
        self.came = asyncio.Event()

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        line: Socket = scope["extensions"][DIRECT]
        line.attach(self, text=False)
        self.line.set_result(line)

    def received(self, message: bytes | str) -> None:
        assert not self.busy
        self.busy = True
        self.messages.append(message)
        self.came.set()

    async def done(self) -> None:
        await self.came.wait()
        self.came.clear()
        self.busy = False
        (await self.line).read_on()

    def may_write(self) -> None:
        answers, self.answers = self.answers, ()
        if answers:
            self.line.result().write(answers)
        self.line.result().close(1012, "it was about to say so")

    def gone(self) -> None:
        self.over.set()


async def heard(reader: asyncio.StreamReader, opcode: Opcode) -> bytes:
    """The next frame of this kind."""
    stream = b""
    while not (found := [data for code, data in frames_of(stream) if code is opcode]):
        more = await reader.read(1 << 16)
        assert more, stream
        stream += more
    return found[0]


async def test_pings_are_answered_while_a_message_is_dealt_with_and_further_messages_wait() -> None:
    attending = Attending()
    async with peer_of(attending.application) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        for piece in (frame(b"one"), frame(b"", Opcode.PONG), frame(b"a", Opcode.PING)[:3]):
            writer.write(piece)
            await asyncio.sleep(0.01)
        writer.write(frame(b"a", Opcode.PING)[3:])
        assert await heard(reader, Opcode.PONG) == b"a"
        for piece in (b"tw", b"o", b""):
            writer.write(frame(piece, Opcode.BINARY if piece == b"tw" else Opcode.CONT, fin=not piece))
        writer.write(frame(b"three") + frame(b"b", Opcode.PING))
        for _ in range(3):
            await attending.done()
        assert await heard(reader, Opcode.PONG) == b"b"
        assert attending.messages == [b"one", b"two", b"three"]


async def test_what_was_said_before_a_close_is_still_done() -> None:
    attending = Attending()
    async with peer_of(attending.application) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frame(b"one") + frame(b"a", Opcode.PING) + frame(b"two") + frame(b"\x03\xe8", Opcode.CLOSE))
        assert await heard(reader, Opcode.PONG) == b"a"
        for _ in range(2):
            assert not attending.over.is_set()
            await attending.done()
        await attending.over.wait()
        assert attending.messages == [b"one", b"two"]
        assert await heard(reader, Opcode.CLOSE) == b"\x03\xe8"


async def test_whose_pong_can_not_be_read_yet_is_not_taken_for_dead_and_who_sends_none_is() -> None:
    attending = Attending()
    async with peer_of(attending.application, ping_seconds=0.3) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frame(b"one") + frame(b"two"))
        pinged = await heard(reader, Opcode.PING)
        writer.write(frame(pinged, Opcode.PONG))
        await asyncio.sleep(1)
        assert not attending.over.is_set()
        for _ in range(2):
            await attending.done()
        writer.write(frame(await heard(reader, Opcode.PING), Opcode.PONG))
        assert attending.messages == [b"one", b"two"]
        assert await heard(reader, Opcode.CLOSE)
        await attending.over.wait()


@pytest.mark.parametrize(
    ("last", "code"), [(frame(b"\x03\xe8", Opcode.CLOSE), 1000), (b"\x82\x01a", 1002), (b"\x81\x80\0\0\0\0", 1003)]
)
async def test_what_was_answered_before_a_close_is_told_before_it(last: bytes, code: int) -> None:
    class Answering(Attending):
        def received(self, message: bytes | str) -> None:
            if isinstance(message, str):
                self.line.result().close(1003, "")
            self.answers = (*self.answers, b"answer")

    attending = Answering()
    async with peer_of(attending.application) as (reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frame(b"one") + frame(b"two") + last)
        told = list(frames_of(await reader.read()))
        assert [data for kind, data in told if kind is Opcode.BINARY] == [b"answer", b"answer"]
        assert [int.from_bytes(data[:2], "big") for kind, data in told if kind is Opcode.CLOSE] == [code]
        await attending.over.wait()
