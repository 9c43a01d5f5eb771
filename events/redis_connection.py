"""One connection to a Redis server, shared by everybody who wants something of it. The only place that reads replies.

Commands of one loop tick leave in one write; replies come in the order of the commands, so each goes to whoever asked,
and a caller who has gone disturbs nobody. Nothing is ever sent again from here: when the connection ends, everything
that is unanswered is Lost.

A `Confirmation` puts WAIT behind the commands of each tick, on the same connection. What was asked to be confirmed, and
every message that is pushed, is withheld until enough replicas have it.
"""

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import hiredis

from events.redis_address import Credentials, Place

Value = bytes | str | int
Reply = Any
"""What hiredis makes of a reply; an error reply is a hiredis.ReplyError, given and not raised."""
Pushed = Callable[[list[Any]], None]

MORE = object()
FENCE = "#!lua flags=allow-oom\nredis.call('SET', KEYS[1], '')"
"""A write behind everything on the connection, for WAIT to count from, even where memory is full."""
UNCONFIRMED_MAX = 10_000
"""Pushed messages that wait for replicas; then the connection is given up, and who missed something reads heads."""


class Lost(Exception):
    """The connection ended before the answer came, or its replicas' did: nobody knows whether the command ran."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """How many replicas must have a write, on their disks and the primary's own too with `fsync` (WAITAOF)."""

    replicas: int
    fsync: bool
    wait_ms: int

    @property
    def command(self) -> tuple[Value, ...]:
        if self.fsync:
            return ("WAITAOF", 1, self.replicas, self.wait_ms)
        return ("WAIT", self.replicas, self.wait_ms)

    def holds(self, reply: Reply) -> bool:
        if self.fsync:
            return isinstance(reply, list) and reply[0] >= 1 and reply[1] >= self.replicas
        return isinstance(reply, int) and reply >= self.replicas


class Connection(asyncio.Protocol):
    """`pushed` is called with what the server says unasked; `ended` once, when the connection is over."""

    def __init__(
        self, reply_seconds_max: float, confirmation: Confirmation | None, pushed: Pushed, ended: Callable[[], None]
    ) -> None:
        self._reply_seconds_max = reply_seconds_max
        self._confirmation = confirmation
        self._pushed = pushed
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(notEnoughData=MORE)
        self._transport: asyncio.Transport | None = None
        self._asked: deque[Callable[[Reply], None]] = deque()
        """Who waits for a reply, in the order of the commands."""
        self._unsent: list[bytes] = []
        self._unconfirmed: list[Callable[[Lost | None], None]] = []
        self._fence: bytes | None = None
        """The key to write behind this tick's commands, if any of it is to be confirmed."""
        self._heard_at = self._loop.time()
        self._watch: asyncio.TimerHandle | None = None
        self.alive = False

    # ------------------------------------------------------------ sending

    def send(self, *command: Value, confirm: bytes | None = None) -> "asyncio.Future[Reply]":
        """The reply, or Lost. `confirm`: a key in the command's slot; the reply is withheld until it is confirmed."""
        future: asyncio.Future[Reply] = self._loop.create_future()
        if not self.alive:
            future.set_exception(Lost("the connection is closed"))
            return future
        if confirm is None or self._confirmation is None:
            self._ask(command, partial(_resolve, future))
        else:
            self._fence = confirm
            self._ask(command, partial(self._withhold, future))
        return future

    def tell(self, *command: Value, answered: Callable[[Reply], None] = lambda reply: None) -> None:
        """As `send`, for whoever needn't wait: `answered` is called with the reply, or Lost, and must not raise."""
        if self.alive:
            self._ask(command, answered)

    def _ask(self, command: tuple[Value, ...], answered: Callable[[Reply], None]) -> None:
        if not self._asked:
            self._heard_at = self._loop.time()
        self._asked.append(answered)
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(hiredis.pack_command(command))  # type: ignore[arg-type]  # its stub knows tuples of one

    def _flush(self) -> None:
        if not self.alive or self._transport is None or self._transport.is_closing():
            return  # whoever waits hears of it when the connection says that it is lost
        if self._fence is not None:
            self._confirm(self._fence)
        if self._unsent:
            self._transport.write(b"".join(self._unsent))
            self._unsent.clear()

    # ------------------------------------------------------------ confirming

    def _withhold(self, future: "asyncio.Future[Reply]", reply: Reply) -> None:
        if isinstance(reply, Exception):
            _resolve(future, reply)
        else:
            self._unconfirmed.append(lambda lost: _resolve(future, lost or reply))

    def _confirm(self, key: bytes) -> None:
        """Everything withheld when the fence is answered ran before it: WAIT behind the fence speaks for all that."""
        assert self._confirmation is not None
        covered: list[Callable[[Lost | None], None]] = []
        self._fence = None
        self._ask(("EVAL", FENCE, 1, key), partial(self._fenced, covered))
        self._ask(self._confirmation.command, partial(self._waited, covered))

    def _fenced(self, covered: list[Callable[[Lost | None], None]], reply: Reply) -> None:
        covered.extend(self._unconfirmed)
        self._unconfirmed.clear()
        if isinstance(reply, Exception):
            self._give_up(covered, Lost(f"writes can't be confirmed: {reply}"))

    def _waited(self, covered: list[Callable[[Lost | None], None]], reply: Reply) -> None:
        assert self._confirmation is not None
        if not self._confirmation.holds(reply):
            lost = reply if isinstance(reply, Lost) else Lost(f"too few replicas have it: {reply}")
            self._give_up(covered, lost)
        for settle in covered:
            settle(None)

    def _give_up(self, covered: list[Callable[[Lost | None], None]], lost: Lost) -> None:
        """Nothing is told of what can't be confirmed; where that is anything, whoever missed it reads heads."""
        if covered:
            for settle in covered:
                settle(lost)
            covered.clear()
            self.close()

    def _push(self, message: list[Any]) -> None:
        if message[0] == b"ssubscribe" and self._asked:
            self._asked.popleft()(message)
        elif self._confirmation is None or message[0] != b"smessage":
            self._pushed(message)
        elif len(self._unconfirmed) >= UNCONFIRMED_MAX:
            self.close()
        else:
            self._unconfirmed.append(lambda lost: None if lost else self._pushed(message))
            if self._fence is None:
                self._fence = fence_beside(message[1])
                if not self._unsent:
                    self._loop.call_soon(self._flush)

    # ------------------------------------------------------------ what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but its class
        self.alive = True
        self._watch = self._loop.call_later(self._reply_seconds_max / 4, self._look)

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        try:
            self._reader.feed(data)
            while (reply := self._reader.gets()) is not MORE:
                if isinstance(reply, hiredis.PushNotification):
                    self._push(reply)
                elif self._asked:
                    self._asked.popleft()(reply)
                else:
                    raise hiredis.ProtocolError("an answer to nothing")
        except hiredis.ProtocolError:
            self.close()  # what follows could go to the wrong caller

    def connection_lost(self, exc: Exception | None) -> None:
        self.alive = False
        if self._watch is not None:
            self._watch.cancel()
        lost = Lost(f"the connection is gone: {exc or 'it was closed'}")
        for answered in tuple(self._asked):
            answered(lost)
        self._asked.clear()
        for settle in tuple(self._unconfirmed):
            settle(lost)
        self._unconfirmed.clear()
        self._ended()

    def close(self) -> None:
        """At once. What is unanswered is Lost."""
        self.alive = False
        if self._transport is not None:
            self._transport.abort()

    def _look(self) -> None:
        """A peer that has died without a word is found here: an unanswered command, or else an unanswered PING."""
        if self._loop.time() - self._heard_at > self._reply_seconds_max and self._asked:
            self.close()
            return
        if not self._asked:
            self._ask(("PING",), lambda reply: None)
        self._watch = self._loop.call_later(self._reply_seconds_max / 4, self._look)


def fence_beside(key: bytes) -> bytes:
    """The fence's key in the slot of `key`, whose hash tag comes first."""
    return key[: key.index(b"}") + 1] + b":fence"


def _resolve(future: "asyncio.Future[Reply]", reply: Reply) -> None:
    """Give `future` its reply, unless whoever waited has gone."""
    if future.done():
        return
    if isinstance(reply, Lost):
        future.set_exception(reply)
    else:
        future.set_result(reply)


class Refused(Exception):
    """The server won't have us: a wrong password, an unknown command, a wrong kind of server."""


async def connect(
    place: Place,
    credentials: Credentials,
    seconds_max: float,
    reply_seconds_max: float,
    confirmation: Confirmation | None = None,
    pushed: Pushed = lambda message: None,
    ended: Callable[[], None] = lambda: None,
) -> tuple[Connection, dict[bytes, Any]]:
    """A greeted connection, and what the server said of itself. Raises OSError, TimeoutError, Lost, Refused."""
    tls = ssl.create_default_context() if credentials.tls else None
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(seconds_max):
        _, connection = await loop.create_connection(
            lambda: Connection(reply_seconds_max, confirmation, pushed, ended), place.host, place.port, ssl=tls
        )
        with contextlib.ExitStack() as closing:
            closing.callback(connection.close)
            said = await _greet(connection, credentials)
            closing.pop_all()
    return connection, said


async def _greet(connection: Connection, credentials: Credentials) -> dict[bytes, Any]:
    who = ("AUTH", credentials.user or "default", credentials.password) if credentials.password else ()
    said = await connection.send("HELLO", 3, *who, "SETNAME", "statecraft")
    if credentials.db and not isinstance(said, hiredis.ReplyError):
        selected = await connection.send("SELECT", credentials.db)
        said = selected if isinstance(selected, hiredis.ReplyError) else said
    if isinstance(said, hiredis.ReplyError):
        raise Refused(str(said))
    greeting: dict[bytes, Any] = said
    return greeting
