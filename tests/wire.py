"""A TCP proxy on loopback that drops, delays and cuts what passes through it, when it is told to."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from events.redis_address import Place


@dataclass
class Wire:
    """Between clients, who come to `port`, and the server at `to`."""

    to: Place
    port: int = 0
    delay_seconds: float = 0.0
    """For every piece of an answer."""
    pass_bytes: int | None = None
    """After so many bytes of answers every connection is cut; None: all pass."""
    swallow: bool = False
    """Whether answers vanish, with the connection left open."""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Every connection, at once."""
        for writer in self._writers:
            writer.transport.abort()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection(self.to.host, self.to.port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there[1]}
        with contextlib.suppress(OSError, RuntimeError):  # the second is uvloop's, of a transport that was cut
            await asyncio.gather(self._asked(reader, there[1]), self._answered(there[0], writer))
        for each in (writer, there[1]):
            each.transport.abort()
            self._writers.discard(each)

    async def _asked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.transport.abort()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            if self.delay_seconds:
                await asyncio.sleep(self.delay_seconds)
            if self.swallow:
                continue
            if self.pass_bytes is not None:
                data, self.pass_bytes = data[: self.pass_bytes], max(0, self.pass_bytes - len(data))
            writer.write(data)
            await writer.drain()
            if self.pass_bytes == 0:
                self.pass_bytes = None
                self.cut()
        writer.transport.abort()


@asynccontextmanager
async def wire(to: Place) -> AsyncIterator[Wire]:
    between = Wire(to)
    server = await asyncio.start_server(between.connected, "127.0.0.1", 0)
    between.port = server.sockets[0].getsockname()[1]
    try:
        yield between
    finally:
        server.close()
        between.cut()
        await server.wait_closed()
