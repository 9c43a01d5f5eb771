"""Appends to a Redis with nothing about them: one command with the same bytes, no script, head or outbox.

Pipelined, as all of one loop tick together, or one alone after the other."""

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import hiredis

Row = tuple[bytes, int, bytes, bytes]
"""As in bench/floors.py: game, version, hash, body."""


class Pipelined(asyncio.Protocol):
    """What is appended in one tick leaves in one write."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(notEnoughData=self)
        self._unsent: list[bytes] = []
        self._asked: deque[Callable[[], None]] = deque()

    @classmethod
    async def to(cls, url: str) -> "Pipelined":
        _, pipelined = await asyncio.get_running_loop().create_connection(cls, *place(url))
        return pipelined

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def append(self, rows: Sequence[Row], answer: Callable[[], None]) -> None:
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(_packed(rows))
        self._asked.append(answer)

    def _send(self) -> None:
        self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not self:
            assert isinstance(reply, int), reply
            self._asked.popleft()()

    def close(self) -> None:
        self._transport.close()


class Alone:
    """Each waits for its answer before the next is sent."""

    def __init__(self, url: str) -> None:
        self._socket = socket.create_connection(place(url))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def append(self, rows: Sequence[Row]) -> None:
        self._socket.sendall(_packed(rows))
        reply = self._socket.recv(64)
        assert reply.startswith(b":"), reply

    def close(self) -> None:
        self._socket.close()


def place(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("redis://").split(":")
    return host, int(port)


def _packed(rows: Sequence[Row]) -> bytes:
    words: Any = ("RPUSH", rows[0][0], *(hash_ + body for _, _, hash_, body in rows))
    packed: bytes = hiredis.pack_command(words)
    return packed
