"""What lies between a socket and whoever attends to it, and the stock way to be it: one task reads, one task writes.

The other way, without a task, is the socket itself: server/bounds.py.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from starlette.websockets import WebSocket, WebSocketDisconnect


class Attached(Protocol):
    """Who attends to a connection. All is called on the event loop, and nothing waits."""

    @property
    def busy(self) -> bool:
        """Whether the last message is still being dealt with: the next one waits for `Line.read_on`."""

    def received(self, message: bytes | str) -> None:
        """Bytes from a binary frame, text from a text frame."""

    def may_write(self) -> None:
        """The line takes frames again."""

    def gone(self) -> None:
        """Once: nothing will be received or sent any more."""


class Line(Protocol):
    """A connection's socket, after its handshake."""

    @property
    def takes(self) -> bool:
        """Whether it takes frames; if not, `Attached.may_write` comes."""

    def write(self, payloads: Sequence[bytes]) -> None:
        """A message each, which nobody changes any more. Only while it takes them."""

    def close(self, code: int, why: str) -> None:
        """After what was written."""

    def abort(self) -> None:
        """Without another word."""

    def read_on(self) -> None:
        """Whoever attends is no longer busy."""


class TaskedLine:
    """Through ASGI alone."""

    def __init__(self, websocket: WebSocket, text: bool) -> None:
        self._websocket = websocket
        self._text = text
        self._payloads: Sequence[bytes] = ()
        self._close: tuple[int, str] | None = None
        self._asked = asyncio.Event()
        self._idle = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self.takes = True

    def write(self, payloads: Sequence[bytes]) -> None:
        assert self.takes
        self._payloads, self.takes = payloads, False
        self._asked.set()

    def close(self, code: int, why: str) -> None:
        self._close, self.takes = (code, why), False
        self._asked.set()

    def abort(self) -> None:
        if self._writing is not None:
            self._writing.cancel()

    def read_on(self) -> None:
        self._idle.set()

    async def run(self, attached: Attached) -> None:
        """From here to the connection's end."""
        reading = asyncio.create_task(self._read(attached))
        self._writing = asyncio.create_task(self._write(attached))
        try:
            await asyncio.wait((reading, self._writing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            attached.gone()
            reading.cancel()
            self._writing.cancel()
            await asyncio.gather(reading, self._writing, return_exceptions=True)

    async def _read(self, attached: Attached) -> None:
        while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
            text = message.get("text")
            attached.received(message["bytes"] if text is None else text)
            while attached.busy:
                self._idle.clear()
                await self._idle.wait()

    async def _write(self, attached: Attached) -> None:
        try:
            while True:
                await self._asked.wait()
                self._asked.clear()
                for payload in self._payloads:
                    if self._text:
                        await self._websocket.send_text(payload.decode())
                    else:
                        await self._websocket.send_bytes(payload)
                self._payloads = ()
                if self._close is not None:
                    await self._websocket.close(*self._close)
                    return
                self.takes = True
                attached.may_write()
        except (WebSocketDisconnect, RuntimeError):
            return  # The peer is gone.
