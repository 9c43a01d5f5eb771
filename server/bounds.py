"""uvicorn's WebSocket with the bounds that it leaves open, and a way past it. With server/heads.py the only place that
knows uvicorn's insides."""

import asyncio
import contextlib
from collections.abc import Sequence
from traceback import format_exception
from typing import Any, ClassVar

import structlog
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State

from server.frames import Framing, Incoming
from server.lines import Attached
from server.wire import FRAME_BYTES_MAX, Code

DIRECT = "statecraft.direct"
"""An ASGI extension of ours, in a WebSocket's scope: the Socket itself, which an application may attach somebody to
once it has accepted the handshake. It then returns, and the connection goes on without a task."""
log_line = structlog.get_logger()

SMALL_FRAMES_RATE = 100
"""A second: pings, pongs and pieces of messages, which no count of messages sees."""
SMALL_FRAMES_BURST = 1000
PONG_AGAIN_SECONDS = 1.0
"""Between two looks whether a pong that couldn't be read in time has come."""


class Socket(WebSocketsSansIOProtocol):
    """What a peer sends is bounded by bytes, what it doesn't read and how long it takes to leave aren't."""

    close_seconds: ClassVar[float]
    """How long a peer that doesn't read may keep a closing connection."""
    direct: ClassVar[bool] = True
    """Whether the extension DIRECT is offered."""
    _framing: ClassVar[Framing]
    _attached: Attached | None = None
    _opcode = Opcode.BINARY
    _aborting: asyncio.TimerHandle | None = None
    _small_frames = 0
    takes = True

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.close_timeout = self.close_seconds
        self._began = self.loop.time()
        self._incoming = Incoming(FRAME_BYTES_MAX)

    # ------------------------------------------------------------ without a task

    def attach(self, attached: Attached, text: bool) -> None:
        """From here on messages go to `attached`, and it alone writes: the Line that server/lines.py describes."""
        assert self.conn.state is State.OPEN
        self._attached = attached
        self._opcode = Opcode.TEXT if text else Opcode.BINARY
        self._incoming.expect(self._opcode)
        # Of no use any more, and half of what a connection would keep.
        self.scope = self.request = self.response = self.app_state = None  # type: ignore[assignment]
        self.loop.call_soon(self.read_on)

    def data_received(self, data: bytes) -> None:
        if self.direct and self.handshake_initiated:
            self._incoming.add(data)
            self.read_on()
        else:
            super().data_received(data)

    def read_on(self) -> None:
        """What was received and not yet dealt with, up to a message while whoever is attached is busy.

        Pings are answered and pongs heard meanwhile: a command may wait longer for the store than peers wait for those.
        A close waits: what was said before it is still done.
        """
        incoming, attached = self._incoming, self._attached
        if incoming.is_empty and not self.read_paused:
            return
        # Whoever is attached leaves as soon as the connection is no longer open.
        while attached is not None and attached is self._attached and (not attached.busy or incoming.is_ping):
            taken = incoming.take()
            if taken is None:
                self._read(True)
                return
            data, is_message = taken
            if is_message:
                self._hand_over(data)
            else:
                super().data_received(data)
        if incoming.is_empty:
            return
        if self.conn.state in (State.CONNECTING, State.OPEN):
            self._read(False)
        else:
            super().data_received(incoming.rest())

    def _read(self, go_on: bool) -> None:
        if self.read_paused is go_on and not self.transport.is_closing():
            self.read_paused = not go_on
            (self.transport.resume_reading if go_on else self.transport.pause_reading)()

    def _hand_over(self, data: bytes) -> None:
        assert self._attached is not None
        if self._opcode is Opcode.BINARY:
            self._attached.received(data)
            return
        try:
            text = data.decode()
        except UnicodeDecodeError:
            self._not_utf8()
        else:
            self._attached.received(text)

    def write(self, payloads: Sequence[bytes]) -> None:
        self.transport.write(self._framing.framed(self._opcode, payloads))

    def close(self, code: int, why: str) -> None:
        if self.conn.state is State.OPEN:  # Else the peer, or what it sent, was faster.
            self.conn.send_close(code, why)
            self._last_words(code)

    def abort(self) -> None:
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.takes = False

    def resume_writing(self) -> None:
        super().resume_writing()
        self.takes = True
        if self._attached is not None:
            self._attached.may_write()

    def _write_what_waits(self) -> None:
        """Answers to what came before a close: they wait for the end of the tick, and it doesn't."""
        if self._attached is not None and self.takes and not self.transport.is_closing():
            self._attached.may_write()

    def _detach(self) -> None:
        if self._attached is not None:
            attached, self._attached = self._attached, None
            attached.gone()
            self._abort_later()

    # ------------------------------------------------------------ bounds

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
        data, is_text = b"".join(self.frames), self.curr_msg_data_type == "text"
        if is_text and not self.close_sent and not _is_utf8(data):
            self._not_utf8()
        elif self._attached is not None and not self.close_sent:
            self.frames = []
            self._attached.received(data.decode() if is_text else data)
        else:
            super().send_receive_event_to_app()

    def _not_utf8(self) -> None:
        # uvicorn does the same, with a stack trace in the log for everybody who asks for one.
        self.conn.fail(CloseCode.INVALID_DATA, "text frames are UTF-8")
        self.handle_parser_exception()

    def handle_close(self, event: Frame) -> None:
        self._write_what_waits()
        super().handle_close(event)
        self._detach()

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
            self._write_what_waits()
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.write_eof()
            self.read_paused = False
            self.transport.resume_reading()
            self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)
        self._detach()

    async def send(self, message: Any) -> None:
        await self.writable.wait()
        if not self.handshake_complete and self.transport.is_closing():
            # uvicorn hears of it a moment later: it would accept nobody, and whoever is attached would stay for ever.
            raise ClientDisconnected
        await super().send(message)
        # A refusal completes the handshake as well; uvicorn would log it as a fault of ours.
        self.handshake_complete = self.handshake_complete or self.close_sent

    def keepalive_timeout(self) -> None:
        if self.read_paused and not self.transport.is_closing():
            # Its pong may lie behind a message that we haven't come to.
            self.pong_timer = self.loop.call_later(PONG_AGAIN_SECONDS, self.keepalive_timeout)
            return
        super().keepalive_timeout()
        self._detach()
        self._abort_later()

    async def run_asgi(self) -> None:
        if self.direct:
            offered: dict[str, Any] = {**self.scope["extensions"], DIRECT: self}
            self.scope["extensions"] = offered
            await self._run_direct()
        else:
            await super().run_asgi()
        if self._attached is not None:
            return
        if self.writable.is_set():
            self._abort_later()
        else:
            self.transport.abort()  # It has had its time.

    async def _run_direct(self) -> None:
        """As uvicorn does it, but that an application which has attached somebody may return."""
        try:
            with contextlib.suppress(ClientDisconnected):
                await self.app(self.scope, self.receive, self.send)
        except Exception as fault:
            log_line.error("a fault of ours ended a handshake", why=format_exception(fault))
            self.send_500_response()
            if self._attached is not None:
                self.close(CloseCode.INTERNAL_ERROR, "a fault of ours: reconnect and resume")
        if self._attached is None and self.close_timer is None:
            self.transport.close()

    def _abort_later(self) -> None:
        """Closing waits until the peer has taken what was written. Nobody may keep it waiting for ever."""
        if not self.disconnected and self._aborting is None:
            self._aborting = self.loop.call_later(self.close_timeout, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._detach()
        if self._aborting is not None:
            self._aborting.cancel()


def socket_class(close_seconds: float, direct: bool) -> type[Socket]:
    """uvicorn makes its protocols itself, so what they must know is in their class."""
    return type("Socket", (Socket,), {"close_seconds": close_seconds, "direct": direct, "_framing": Framing()})


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
