"""The glue between a WebSocket and a Connection: handshake, a bounded way out, closes."""

import asyncio
from collections import deque
from dataclasses import dataclass
from traceback import format_exception

import structlog
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from events.log import Unknown
from server.bounds import JOINED
from server.connection import Connection, TooFast
from server.identity import Session, WrongToken, session
from server.parts import Parts
from server.tally import Tally
from server.wire import CODECS, BadFrame, Code, Codec

log_line = structlog.get_logger()

OUTGOING_BYTES_MAX = 1 << 20
WRITE_BYTES = 64 << 10
"""A write takes no further frame when it has so many."""
ROOM_BYTES = OUTGOING_BYTES_MAX // 4
"""Where no more than this waits, a page of a backlog may follow."""
REASON_BYTES_MAX = 123
"""Of a close frame's reason (RFC 6455 section 5.5)."""
CLIENT_GONE = 1000
"""What a close that the peer began is answered with."""
RESTARTS = 1012


class Outgoing:
    """Frames on their way to one peer, bounded: a reader that falls behind what happens is closed, not waited for.

    What has happened long ago waits for room, as long as the peer takes a frame every `stall_seconds`."""

    def __init__(self, websocket: WebSocket, text: bool, stall_seconds: float, tally: Tally | None = None) -> None:
        self._tally = tally or Tally()
        self._websocket = websocket
        self._text = text
        self._joined = JOINED in websocket.scope.get("extensions", {})
        self._stall_seconds = stall_seconds
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._written = asyncio.Event()
        """Set when the next frame has gone, or none will go any more."""
        self._close: tuple[int, str] | None = None
        self._over = False
        self.reading: asyncio.Task[None] | None = None
        """Ended when the peer is too slow: nothing that it asks for could be answered any more."""

    def send(self, frame: bytes) -> None:
        if self._close is not None:
            return
        if self._bytes + len(frame) > OUTGOING_BYTES_MAX:
            self._too_slow()
            return
        self._frames.append(frame)
        self._bytes += len(frame)
        self._tally.frames += 1
        self._tally.frame_bytes += len(frame)
        self._wake.set()

    @property
    def waiting_bytes(self) -> int:
        return self._bytes

    def has_room(self) -> bool:
        return self._bytes <= ROOM_BYTES

    async def room(self) -> bool:
        """Wait for room. False: nothing will be sent any more. A peer that takes nothing meanwhile is closed."""
        while not self.has_room() and not self._ends():
            try:
                async with asyncio.timeout(self._stall_seconds):
                    await self._written.wait()
            except TimeoutError:
                self._too_slow()
        return not self._ends()

    def _ends(self) -> bool:
        return self._over or self._close is not None

    def _too_slow(self) -> None:
        self._frames.clear()
        self.close(Code.TOO_SLOW, "too slow: reconnect and resume from the last version you hold")
        if self.reading is not None:
            self.reading.cancel()

    def close(self, code: int, why: str) -> None:
        """Close after the frames already waiting."""
        if self._close is None:
            self._close = (code, _short(why))
            if code != CLIENT_GONE:
                self._tally.closes[int(code)] += 1
            self._wake.set()
            self._tell_written()

    def _tell_written(self) -> None:
        self._written.set()
        self._written = asyncio.Event()

    async def drain(self) -> None:
        """For as long as the connection lasts: write frames, then the close."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._frames:
                    frames = self._next()
                    await self._write(frames)
                    self._bytes -= sum(map(len, frames))
                    self._tell_written()
                if self._close is not None:
                    await self._websocket.close(*self._close)
                    return
        except (WebSocketDisconnect, RuntimeError):
            return  # The peer is gone; the receiving side hears of it too.
        finally:
            self._over = True
            self._tell_written()

    def _next(self) -> list[bytes]:
        """What goes in one write: everything that came in this tick of the loop, or a good part of a long queue."""
        frames = [self._frames.popleft()]
        size_bytes = len(frames[0])
        while self._joined and self._frames and size_bytes < WRITE_BYTES:
            frames.append(self._frames.popleft())
            size_bytes += len(frames[-1])
        return frames

    async def _write(self, frames: list[bytes]) -> None:
        if self._joined:
            await self._websocket.send({"type": "websocket.send", JOINED: frames, "text": self._text})
            return
        for frame in frames:
            if self._text:
                await self._websocket.send_text(frame.decode())
            else:
                await self._websocket.send_bytes(frame)


def _short(why: str) -> str:
    return why.encode()[:REASON_BYTES_MAX].decode(errors="ignore")


async def endpoint(websocket: WebSocket) -> None:
    """`/ws`."""
    parts: Parts = websocket.app.state.parts
    offered = websocket.scope["subprotocols"]
    codec = next((CODECS[name] for name in offered if name in CODECS), None)
    if codec is None:
        parts.tally.turned_away["subprotocol"] += 1
        await websocket.send_denial_response(PlainTextResponse(f"offer one of {', '.join(CODECS)}\n", 400))
        return
    try:
        who = await session(HTTPConnection(websocket.scope), parts.people)
    except WrongToken:
        parts.tally.turned_away["wrong_token"] += 1
        await websocket.send_denial_response(PlainTextResponse("wrong token\n", 401))
        return
    except Unknown:
        parts.tally.turned_away["store"] += 1
        await websocket.send_denial_response(PlainTextResponse("who you are can't be read now, come back\n", 503))
        return
    if parts.doors.leaving:
        parts.tally.turned_away["leaving"] += 1
        await websocket.send_denial_response(PlainTextResponse("leaving, try the next server\n", 503))
        return
    if parts.connections >= parts.settings.connections_max:
        parts.tally.turned_away["full"] += 1
        await websocket.send_denial_response(PlainTextResponse("full, come back later\n", 503))
        return
    parts.connections += 1
    try:
        await _attend(websocket, parts, codec, who)
    finally:
        parts.connections -= 1


async def _attend(websocket: WebSocket, parts: Parts, codec: Codec, who: Session) -> None:
    """From the accepted handshake to the end of the connection."""
    await websocket.accept(subprotocol=codec.name)
    outgoing = Outgoing(websocket, codec.text, parts.settings.close_seconds, parts.tally)
    connection = Connection(
        parts.games,
        parts.audience,
        parts.recordings,
        codec,
        who.player,
        outgoing,
        parts.hall,
        parts.board_feeds,
        parts.tally,
    )
    connection.hello(who.why_not, parts.clock())
    writing = asyncio.create_task(outgoing.drain())
    asked = Asked()
    reading = outgoing.reading = asyncio.create_task(_receive(websocket, connection, outgoing, codec, asked))

    def go() -> None:
        """After the answer to what is being done just now."""
        asked.last = True
        if not asked.busy:
            outgoing.close(RESTARTS, "this server restarts: reconnect and resume")
            reading.cancel()

    parts.doors.enter(outgoing, go)

    def end() -> None:
        outgoing.close(Code.SESSION_ENDED, "your session has ended")
        reading.cancel()

    if who.player is not None:
        parts.sessions.enter(who.token_hash, end)
    try:
        if who.player is not None and not await _stands(parts, who):
            end()  # It was renewed or erased since the handshake began.
        await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
    finally:
        connection.leave()
        parts.doors.leave(outgoing)
        if who.player is not None:
            parts.sessions.leave(who.token_hash, end)
        if reading.done() and not reading.cancelled() and (fault := reading.exception()) is not None:
            # As plain text: a log with the values of variables in it would tell keys and hands.
            log_line.error("a fault of ours closed a connection", why=format_exception(fault))
            parts.tally.faults += 1
            outgoing.close(1011, "a fault of ours: reconnect and resume")
        reading.cancel()
        await asyncio.wait((writing,), timeout=0 if writing.done() else parts.settings.close_seconds)
        writing.cancel()
        await asyncio.gather(reading, writing, return_exceptions=True)


async def _stands(parts: Parts, who: Session) -> bool:
    """Where that can't be read now it is looked at again: server/sessions.py."""
    try:
        return bool(await parts.people.standing([who.token_hash]))
    except Unknown:
        return True


@dataclass(slots=True)
class Asked:
    """What a peer asks for, one message after the other."""

    busy: bool = False
    """Whether one is being dealt with."""
    last: bool = False
    """Whether no further one will be."""


async def _receive(
    websocket: WebSocket, connection: Connection, outgoing: Outgoing, codec: Codec, asked: Asked
) -> None:
    loop = asyncio.get_running_loop()
    while True:
        asked.busy = False
        if asked.last:
            outgoing.close(RESTARTS, "this server restarts: reconnect and resume")
            return
        message = await websocket.receive()
        asked.busy = True
        if message["type"] == "websocket.disconnect":
            outgoing.close(1000, "")
            return
        frame = message.get("text") if codec.text else message.get("bytes")
        if frame is None:
            outgoing.close(1003, f"{codec.name} has {'text' if codec.text else 'binary'} frames only")
            return
        try:
            await connection.receive(frame, loop.time())
        except BadFrame as error:
            outgoing.close(Code.BAD_FRAME, str(error))
            return
        except TooFast:
            outgoing.close(Code.TOO_FAST, "too fast: wait a second, reconnect, resume")
            return
