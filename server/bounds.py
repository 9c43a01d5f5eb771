"""uvicorn's two protocols with the bounds that they leave open. The only place that knows uvicorn's insides."""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State

from server.wire import Code

JOINED = "statecraft.joined"
"""An ASGI extension of ours, in a WebSocket's scope: `websocket.send` may carry a list of payloads under this name, and
whether they are `text`. They are frames of their own, written together: each write costs a call of the system's."""
HEAD_BYTES_MAX = 64 << 10
"""Of a request's first line and headers."""
SMALL_FRAMES_RATE = 100
"""A second: pings, pongs and pieces of messages, which no count of messages sees."""
SMALL_FRAMES_BURST = 1000


HEAD_SECONDS_MAX = 15
"""From a connection, or from a request's first byte, to the end of its head."""


class Http(HttpToolsProtocol):
    """The parser would gather a head for ever."""

    _head_bytes: int | None = 0
    """Received of a head that isn't whole yet; None after it."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS_MAX, self.transport.abort)

    def _head_came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
                self.send_400_response(f"A request's head has at most {HEAD_BYTES_MAX} bytes.")

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        self._head_came()
        super().on_headers_complete()


class Socket(WebSocketsSansIOProtocol):
    """What a peer sends is bounded by bytes, what it doesn't read and how long it takes to leave aren't."""

    close_seconds: ClassVar[float]
    """How long a peer that doesn't read may keep a closing connection."""
    joined: ClassVar[bool] = True
    """Whether the extension JOINED is offered."""
    _aborting: asyncio.TimerHandle | None = None
    _small_frames = 0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = self.close_seconds
        self._began = self.loop.time()

    def _is_too_fast(self) -> bool:
        self._small_frames += 1
        allowed = SMALL_FRAMES_BURST + SMALL_FRAMES_RATE * (self.loop.time() - self._began)
        if self._small_frames > allowed and not self.close_sent:
            self.conn.fail(Code.TOO_FAST, "too fast: wait a second, reconnect, resume")
            self.handle_parser_exception()
        return self.close_sent

    def handle_ping(self) -> None:
        if self._is_too_fast():
            return
        # Answers to pings pass no flow control: whoever sent pings and read nothing could fill the memory.
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_pong(self, event: Frame) -> None:
        if not self._is_too_fast():
            super().handle_pong(event)

    def handle_cont(self, event: Frame) -> None:
        if not self._is_too_fast():
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_utf8(b"".join(self.frames)):
            # uvicorn does the same, with a stack trace in the log for everybody who asks for one.
            self.conn.fail(CloseCode.INVALID_DATA, "text frames are UTF-8")
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    def handle_parser_exception(self) -> None:
        assert self.conn.close_sent is not None
        if not self.close_sent:
            self._last_words(self.conn.close_sent.code)

    def shutdown(self) -> None:
        if self.transport.is_closing() or not self.writable.is_set():
            self.transport.abort()  # Whoever reads nothing wouldn't read this either.
            return
        if self.close_sent or not self.handshake_complete:
            super().shutdown()
            return
        self.stop_keepalive()
        self.conn.send_close(CloseCode.SERVICE_RESTART)
        self._last_words(CloseCode.SERVICE_RESTART)

    def _last_words(self, code: int) -> None:
        """Send the close frame that was written, and read on until the peer closes, too, or its time is up.

        To close with bytes unread would reset the connection, and the peer might never read why."""
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code})
        self.close_sent = True
        if not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.write_eof()
            self.transport.resume_reading()
            self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)

    async def send(self, message: Any) -> None:
        if JOINED in message:
            await self._send_joined(message[JOINED], message["text"])
            return
        await super().send(message)
        # A refusal completes the handshake as well; uvicorn would log it as a fault of ours.
        self.handshake_complete = self.handshake_complete or self.close_sent

    async def _send_joined(self, payloads: Sequence[bytes], text: bool) -> None:
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        # Without extensions a server's frame is a head and the payload (RFC 6455 section 5.2).
        opcode = Opcode.TEXT if text else Opcode.BINARY
        pieces = [piece for payload in payloads for piece in (frame_head(opcode, len(payload)), payload)]
        self.transport.write(b"".join(pieces))

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_later()

    async def run_asgi(self) -> None:
        if self.joined:
            extensions: dict[str, Any] = {**self.scope["extensions"], JOINED: {}}
            self.scope["extensions"] = extensions
        await super().run_asgi()
        if self.writable.is_set():
            self._abort_later()
        else:
            self.transport.abort()  # It has had its time.

    def _abort_later(self) -> None:
        """Closing waits until the peer has taken what was written. Nobody may keep it waiting for ever."""
        if not self.disconnected and self._aborting is None:
            self._aborting = self.loop.call_later(self.close_timeout, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._aborting is not None:
            self._aborting.cancel()


def socket_class(close_seconds: float, joined: bool) -> type[Socket]:
    """uvicorn makes its protocols itself, so what they must know is in their class."""
    return type("Socket", (Socket,), {"close_seconds": close_seconds, "joined": joined})


def frame_head(opcode: int, size: int) -> bytes:
    """Of a whole, unmasked frame."""
    if size < 126:
        return bytes((0x80 | opcode, size))
    if size < 1 << 16:
        return bytes((0x80 | opcode, 126)) + size.to_bytes(2, "big")
    return bytes((0x80 | opcode, 127)) + size.to_bytes(8, "big")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
