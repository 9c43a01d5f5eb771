"""What a WebSocket is at `/ws`: its handshake, and who attends to it until it ends."""

import asyncio
import contextlib
from contextvars import copy_context
from traceback import format_exception

import structlog
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket

from events.log import Unknown
from server.bounds import DIRECT
from server.connection import Connection, TooFast
from server.driven import Driven
from server.identity import Session, WrongToken, session
from server.lines import Line, TaskedLine
from server.outgoing import Outgoing
from server.parts import Parts
from server.wire import CODECS, BadFrame, Code, Codec

log_line = structlog.get_logger()

RESTARTS = 1012


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
    await websocket.accept(subprotocol=codec.name)
    direct = websocket.scope["extensions"].get(DIRECT)
    line = direct or TaskedLine(websocket, codec.text)
    attendance = Attendance(parts, codec, who, line)
    if direct is not None:
        direct.attach(attendance, codec.text)
        await attendance.check()
    else:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(attendance.check())
            tasks.create_task(line.run(attendance))


class Attendance:
    """One peer, from the accepted handshake to the end: its messages one after the other, and why it ends."""

    __slots__ = (
        "_codec",
        "_connection",
        "_doing",
        "_gone",
        "_last",
        "_left",
        "_line",
        "_loop",
        "_parts",
        "_who",
        "busy",
        "outgoing",
    )

    def __init__(self, parts: Parts, codec: Codec, who: Session, line: Line) -> None:
        self._parts = parts
        self._codec = codec
        self._who = who
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._doing: asyncio.Task[None] | Driven | None = None
        """What the last message asked for, where that has to wait for something."""
        self.busy = False
        """Whether it does."""
        self._last = False
        """Whether no further one will be dealt with."""
        self._left = self._gone = False
        self.outgoing = Outgoing(line, parts.ticks, parts.settings.close_seconds, parts.tally, self._leave)
        self._connection = Connection(
            parts.games,
            parts.audience,
            parts.recordings,
            codec,
            who.player,
            self.outgoing,
            parts.hall,
            parts.board_feeds,
            parts.tally,
        )
        self._connection.hello(who.why_not, parts.clock())
        parts.connections += 1
        parts.doors.enter(self.outgoing, self._go)
        if who.player is not None:
            parts.sessions.enter(who.token_hash, self._end_session)

    async def check(self) -> None:
        """Whether the token was renewed, or the player erased, since the handshake began.

        Where that can't be read now it is looked at again: server/sessions.py."""
        if self._who.player is None:
            return
        with contextlib.suppress(Unknown):
            if not await self._parts.people.standing([self._who.token_hash]):
                self._end_session()

    # ------------------------------------------------------------ what the line says

    def received(self, message: bytes | str) -> None:
        if self.outgoing.ends:
            return
        if isinstance(message, str) is not self._codec.text:
            kind = "text" if self._codec.text else "binary"
            self.outgoing.close(1003, f"{self._codec.name} has {kind} frames only")
            return
        # Each in a context of its own: what is logged names the command that it is about, and no earlier one.
        copy_context().run(self._deal_with, message)

    def _deal_with(self, message: bytes | str) -> None:
        try:
            rest = self._connection.receive(message, self._loop.time())
            if isinstance(rest, Driven):
                if not rest.begin(self._loop, self._over):
                    self._doing, self.busy = rest, True
            elif rest is not None:
                self.busy = True
                self._doing = self._loop.create_task(rest)
                self._doing.add_done_callback(self._done)
        except Exception as error:
            self._failed(error)

    def _done(self, doing: "asyncio.Task[None]") -> None:
        self._over(None if doing.cancelled() else doing.exception())

    def _over(self, error: BaseException | None) -> None:
        self._doing, self.busy = None, False
        if error is not None:
            self._failed(error)
        elif self._last:
            self._go()
        self._line.read_on()

    def _failed(self, error: BaseException) -> None:
        match error:
            case BadFrame():
                self.outgoing.close(Code.BAD_FRAME, str(error))
            case TooFast():
                self.outgoing.close(Code.TOO_FAST, "too fast: wait a second, reconnect, resume")
            case _:
                # As plain text: a log with the values of variables in it would tell keys and hands.
                log_line.error("a fault of ours closed a connection", why=format_exception(error))
                self._parts.tally.faults += 1
                self.outgoing.close(1011, "a fault of ours: reconnect and resume")

    def may_write(self) -> None:
        self.outgoing.flush()

    def gone(self) -> None:
        assert not self._gone
        self._gone = True
        self.outgoing.over()
        self._leave()
        self._parts.connections -= 1

    # ------------------------------------------------------------ why it ends

    def _go(self) -> None:
        """After the answer to what is being done just now."""
        self._last = True
        if not self.busy:
            self.outgoing.close(RESTARTS, "this server restarts: reconnect and resume")

    def _end_session(self) -> None:
        self.outgoing.close(Code.SESSION_ENDED, "your session has ended")

    def _leave(self) -> None:
        """Nothing that it asks for could be answered any more."""
        if self._left:
            return
        self._left = True
        self._connection.leave()
        self._parts.doors.leave(self.outgoing)
        if self._who.player is not None:
            self._parts.sessions.leave(self._who.token_hash, self._end_session)
        if self._doing is not None:
            self._doing.cancel()
