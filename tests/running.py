"""A server as it really runs, and clients that take nothing on trust. The one place in the tests that starts one."""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import httpx
import msgpack
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed
from websockets.frames import Opcode

from events import chain, codec
from events.chain import Head, Stored
from projections.audit import Findings, audit_file
from rules.fifty_states import FIFTY_STATES
from rules.game import PLAYER_COMMANDS

ROOT = Path(__file__).resolve().parent.parent
JSON = "statecraft.v1.json"
MSGPACK = "statecraft.v1.msgpack"
BOTH = (JSON, MSGPACK)
RULES = "fifty-states/1"

wait_seconds_max = 60
"""For anything that must come: only a server that is broken takes so long."""

FAST, STOCK = {"STATECRAFT_FAST_PATH": "1"}, {"STATECRAFT_FAST_PATH": "0"}
PATHS = (pytest.param(FAST, id="fast"), pytest.param(STOCK, id="stock", marks=pytest.mark.slow))
"""The two ways of a server's sockets. tests/test_lines.py tries what is essential on both every day."""

T = TypeVar("T")
Message = Mapping[str, Any]


_COMMANDS = {each.__name__: each for each in (*PLAYER_COMMANDS, *FIFTY_STATES.commands)}


def cause(game: bytes, player: bytes, id_: str, command: Message) -> bytes:
    """The cause that the server gives a command of seat 0, as it was sent in either subprotocol."""
    values = {name: value for name, value in command.items() if name != "do"}
    if isinstance(entropy := values.get("entropy"), str):
        values["entropy"] = base64.b64decode(entropy)
    return codec.cause(game, 0, player, id_, _COMMANDS[command["do"]](**values))


# ---------------------------------------------------------------- the process


class Server:
    """`serve` on a data directory, in a process of its own that is ended by its own id, and started again at will."""

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        port: int = 0,
        words: Sequence[str] = (),
    ) -> None:
        """`port` 0: a free one, another at each start; `words`: further options of `serve`."""
        self._words = words
        self.data = folder / "data"
        self._port = port
        self._out, self._err = folder / "out.txt", folder / "err.txt"
        # A test's crowd comes from one address.
        crowded = {"STATECRAFT_JOINS_MAX": "100000"}
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **crowded, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> "Server":
        # Into files: a pipe that nobody empties would stop the server one day.
        with self._out.open("wb") as out, self._err.open("ab") as err:
            command = [sys.executable, "-m", "server", "serve", "--port", str(self._port), "--data", str(self.data)]
            command += self._words
            self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment, stdout=out, stderr=err)
        self.url = until(self._address)
        return self

    def _address(self) -> str | None:
        assert self._process is not None
        assert self._process.poll() is None, self.errors
        lines = [line for line in self.said.splitlines(keepends=True) if line.startswith("Statecraft is at ")]
        return lines[0].removeprefix("Statecraft is at ").rstrip("/\n") if lines and lines[0].endswith("\n") else None

    @property
    def said(self) -> str:
        return self._out.read_text()

    @property
    def errors(self) -> str:
        """Everything on standard error since the first start."""
        return self._err.read_text()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        return host, int(port)

    @property
    def sockets(self) -> int:
        """How many it holds, listening and connected."""
        count = 0
        for entry in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                count += str(entry.readlink()).startswith("socket:")
        return count

    @property
    def memory_bytes(self) -> int:
        """Resident."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """As a power failure would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """As an operator would: its exit code."""
        return self._end(signal.SIGTERM)

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        code = self._process.wait(wait_seconds_max)
        self._process = None
        return code

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    # ------------------------------------------------------------ its HTTP

    def http(self, **given: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, verify=False, timeout=wait_seconds_max, **given)

    def join(self) -> "Guest":
        with self.http() as http:
            joined = http.post("/api/session", json={"keep": "bearer"})
        assert joined.status_code == 201, joined.text
        return Guest(**joined.json())

    def export(self, game: bytes) -> bytes:
        with self.http() as http:
            answer = http.get(f"/api/games/{game.hex()}/export")
        assert answer.status_code == 200, answer.text
        return answer.content

    def audit(self, game: bytes) -> Findings:
        """Of the game as this server gives it away."""
        findings = audit_file(self.export(game))
        assert findings.passed, findings.failure
        return findings


@dataclass(frozen=True, slots=True)
class Guest:
    player: str
    token: str


@contextlib.contextmanager
def serving(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A server for as long as the block lasts; in the end it must stop well and must not have had a fault."""
    server = Server(folder, environment).start()
    try:
        yield server
    finally:
        code = server.stop() if server.running else -signal.SIGTERM
    assert server.errors == ""
    assert code == -signal.SIGTERM


PORTS = range(10_000, 22_768)
"""Below those that the system gives to whoever asks for none (from 32,768 on), and so are the ports that a cluster's
nodes talk at among themselves, 10,000 higher: nobody takes one while its process is down for a moment."""


def free_port() -> int:
    while True:
        port = secrets.choice(PORTS)
        if _is_free(port) and _is_free(port + 10_000):
            return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def until(condition: Callable[[], T | None]) -> T:
    """Wait for a value that isn't None or false."""
    end = time.monotonic() + wait_seconds_max
    while not (value := condition()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)
    return value


async def eventually(condition: Callable[[], T | None]) -> T:
    """`until`, while others go on."""
    return await asyncio.to_thread(until, condition)


def all_signed(http: httpx.Client) -> Any:
    """What the server tells of its ledger, once every result of before is signed: none waits, and no leaf is left."""

    def told() -> Any:
        response = http.get("/api/ledger")
        at = response.json() if response.status_code == 200 else {"partitions_waiting": None}
        return at if at["partitions_waiting"] == 0 and at["signed"] == at["leaves"] else None

    return until(told)


# ---------------------------------------------------------------- a game as a client sees it


@dataclass(slots=True)
class Followed:
    """What frames have told of one game. Each is chained to the last, so a gap, a repeat or a fork fails at once."""

    game: bytes
    events: list[Stored] = field(default_factory=list)
    table: Any = None
    """After the last event, in its subprotocol's own form."""
    hand: tuple[int, ...] | None = None
    hand_version: int = -1
    starts: list[Message] = field(default_factory=list)
    """Every `subscribed`."""
    forks: int = 0

    @property
    def topic(self) -> str:
        return f"game/{self.game.hex()}"

    @property
    def head(self) -> Head:
        return self.events[-1].head if self.events else chain.origin(self.game)

    @property
    def facts(self) -> list[Any]:
        return [codec.decode(event.body).fact for event in self.events]

    @property
    def over(self) -> bool:
        return self.table is not None and self.table["finished"] is not None

    @property
    def battle(self) -> int:
        battle: int = self.table["position"]["battle"]
        return battle

    @property
    def my_turn(self) -> bool:
        """Whether everything is here that a choice needs."""
        return self.hand is not None and self.hand_version == self.head.version and self.table is not None

    def take(self, frame: Message) -> None:
        match frame["type"]:
            case "subscribed":
                self.starts.append(frame)
                del self.events[frame["version"] :]
                assert self.head == Head(frame["version"], frame["hash"])
            case "forked":
                self.forks += 1
                del self.events[frame["version"] :]
                assert self.head == Head(frame["version"], frame["hash"])
            case "events":
                assert frame["events"], "a frame without events"
                self.events += chain.extend(self.head, frame["events"])
                assert (self.head.version, self.head.hash[:8]) == (frame["version"], frame["hash8"])
                self.table = frame["table"]
            case "hand":
                self.hand, self.hand_version = tuple(frame["cards"]), frame["version"]


# ---------------------------------------------------------------- a connection


class Closed(Exception):
    """The server closed the connection while something was awaited."""


class Client:
    """One connection, of either subprotocol. Messages are dicts with bytes; answers are found by id."""

    def __init__(self, connection: ClientConnection, subprotocol: str) -> None:
        self._connection = connection
        self._text = subprotocol == JSON
        self._news = asyncio.Event()
        self._ids = itertools.count(1)
        self._failure: BaseException | None = None
        self.frames: list[Message] = []
        self.answers: defaultdict[str, list[Message]] = defaultdict(list)
        self.games: dict[str, Followed] = {}
        self.closed: tuple[int, str] | None = None
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for frame in self._connection:
                assert isinstance(frame, str) == self._text
                self._take(plain(msgpack.unpackb(frame) if isinstance(frame, bytes) else json.loads(frame)))
                self._tell()
        except ConnectionClosed:
            pass
        except BaseException as error:
            self._failure = error
            raise
        finally:
            self.closed = (self._connection.close_code or 1006, self._connection.close_reason or "")
            self._tell()

    def _take(self, frame: Message) -> None:
        self.frames.append(frame)
        if "id" in frame:
            self.answers[frame["id"]].append(frame)
        if frame.get("topic") in self.games:
            self.games[frame["topic"]].take(frame)

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def until(self, condition: Callable[[], T | None]) -> T:
        """Wait for a value that isn't None or false. Raises Closed, TimeoutError, or what a frame did wrong."""
        async with asyncio.timeout(wait_seconds_max):
            while True:
                if self._failure is not None:
                    raise self._failure
                if value := condition():
                    return value
                if self.closed is not None:
                    raise Closed(*self.closed)
                await self._news.wait()

    async def close_code(self) -> int:
        """What the server closes with."""
        async with asyncio.timeout(wait_seconds_max):
            while self.closed is None:
                await self._news.wait()
        return self.closed[0]

    async def send(self, message: Message) -> None:
        await self.send_raw(json.dumps(message, default=_base64) if self._text else msgpack.packb(message))

    async def send_raw(self, frame: Any) -> None:
        """A frame as it is: text, bytes, or pieces of either. A connection that is closing takes no more."""
        with contextlib.suppress(ConnectionClosed):
            await self._connection.send(frame)

    async def ask(self, type_: str, id_: str | None = None, **fields: Any) -> Message:
        """Send a command, wait for its answer."""
        id_ = f"{type_}-{next(self._ids)}" if id_ is None else id_
        before = len(self.answers[id_])
        await self.send({"type": type_, "id": id_, **fields})
        return (await self.until(lambda: self.answers[id_][before:]))[0]

    async def insist(self, type_: str, id_: str | None = None, **fields: Any) -> Message:
        """As `ask`; what the store didn't answer is sent again with its id (docs/protocol.md, `try_again`)."""
        id_ = f"{type_}-{next(self._ids)}" if id_ is None else id_
        async with asyncio.timeout(wait_seconds_max):
            while (answer := await self.ask(type_, id_, **fields)).get("reason") == "try_again":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return answer

    async def ping(self) -> None:
        """Everything sent before has been dealt with when this returns."""
        n, before = next(self._ids), len(self.frames)
        await self.send({"type": "ping", "n": n})
        await self.until(lambda: {"type": "pong", "n": n} in self.frames[before:])

    async def do(self, game: bytes, command: Message, id_: str | None = None) -> Message:
        return await self.ask("do", id_, game=game.hex(), command=command)

    async def open(self, mode: str = "relaxed", id_: str | None = None) -> bytes:
        """The player's game in that ladder."""
        done = await self.insist("open", id_, rules=RULES, mode=mode, settings={})
        assert done["type"] == "done", done
        return bytes.fromhex(done["game"])

    async def follow(self, game: bytes, after: Head | None = None, held: Followed | None = None) -> Followed:
        """Subscribe, and be at the head that the server knew. `held`: what an earlier connection has left."""
        topic = f"game/{game.hex()}"
        followed = self.games.setdefault(topic, held or Followed(game))
        message: dict[str, Any] = {"type": "subscribe", "topic": topic}
        if after is not None:
            message["after"] = [after.version, after.hash]
        while (why := await self._subscribed(message, followed)) is not None:
            assert why == "try_again", why
            await asyncio.sleep(0.1)
        await self.ping()
        return followed

    async def _subscribed(self, message: Message, followed: Followed) -> str | None:
        """Subscribe; None, or why not."""
        frames, starts = len(self.frames), len(followed.starts)
        await self.send(message)

        def refusals() -> list[str]:
            told = (frame for frame in self.frames[frames:] if frame["type"] == "not_subscribed")
            return [frame["reason"] for frame in told if frame["topic"] == followed.topic]

        await self.until(lambda: len(followed.starts) > starts or refusals())
        return None if len(followed.starts) > starts else refusals()[0]

    async def mix(self, followed: Followed, entropy: bytes = bytes(32), id_: str = "mix") -> Message:
        command = {"do": "Mix", "entropy": entropy}
        done = await self.insist("do", id_, game=followed.game.hex(), command=command)
        assert done["type"] == "done", done
        await self.until(lambda: followed.my_turn)
        return done

    async def play(self, followed: Followed, card: int | None = None, id_: str | None = None) -> Message:
        """One battle, with the given card or the lowest."""
        await self.until(lambda: followed.my_turn)
        assert followed.hand is not None
        command = {"do": "Play", "battle": followed.battle, "card": followed.hand[0] if card is None else card}
        id_ = id_ or f"play-{followed.battle}"
        done = await self.insist("do", id_, game=followed.game.hex(), command=command)
        assert done["type"] == "done", done
        await self.reach(followed, done["version"])
        return done

    async def reach(self, followed: Followed, version: int) -> None:
        """All is here up to a version, and what a choice needs or the game's end."""
        await self.until(
            lambda: followed.head.version >= version and (followed.my_turn or followed.over or followed.hand is None)
        )

    async def play_on(self, followed: Followed, chance: Random) -> None:
        """To the end, whatever stage the game is at."""
        if followed.table["position"] is None:
            await self.mix(followed, chance.randbytes(32))
        while not followed.over:
            await self.until(lambda: followed.my_turn)
            assert followed.hand is not None
            await self.play(followed, chance.choice(followed.hand))

    async def leave(self) -> None:
        await self._connection.close()
        await asyncio.gather(self.reader, return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    def drop(self) -> None:
        """Without a word, as a lost network does."""
        self._connection.transport.abort()


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def plain(frame: dict[str, Any]) -> Message:
    """A frame with bytes where JSON has base64, and with bodies alone as its events."""
    for name in ("hash", "hash8"):
        if isinstance(frame.get(name), str):
            frame[name] = base64.b64decode(frame[name], validate=True)
    if frame["type"] == "events" and frame["events"] and isinstance(frame["events"][0], dict):
        frame["told"] = frame["events"]
        frame["events"] = [base64.b64decode(event["body"], validate=True) for event in frame["told"]]
    return frame


@contextlib.asynccontextmanager
async def connected(
    server: Server, guest: Guest | None = None, subprotocol: str = JSON, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """A connection that has had its `hello`; in the end every frame must have been right."""
    client = await connect(server, guest, subprotocol, headers)
    try:
        yield client
    finally:
        await client.leave()


async def connect(
    server: Server, guest: Guest | None = None, subprotocol: str = JSON, headers: Mapping[str, str] | None = None
) -> Client:
    given = dict(headers or {})
    if guest is not None:
        given["Authorization"] = f"Bearer {guest.token}"
    connection = await open_socket(
        f"{server.url.replace('http', 'ws', 1)}/ws",
        subprotocols=[subprotocol],  # type: ignore[list-item]
        additional_headers=given,
        compression=None,
        proxy=None,
        ping_interval=None,
        max_size=None,
        open_timeout=wait_seconds_max,
    )
    client = Client(connection, subprotocol)
    hello = await client.until(lambda: client.frames)
    assert hello[0]["type"] == "hello"
    return client


# ---------------------------------------------------------------- below the client


@dataclass(frozen=True, slots=True)
class Wide:
    """The way out of a connection without a socket: there is always room."""

    send: Callable[[bytes], None]

    def has_room(self) -> bool:
        return True

    async def room(self) -> bool:
        return True


def frame(payload: bytes | str, opcode: Opcode | None = None, fin: bool = True) -> bytes:
    """A frame as it goes over the wire, masked with zeros, so that it is the same every time."""
    data = payload.encode() if isinstance(payload, str) else payload
    if opcode is None:
        opcode = Opcode.TEXT if isinstance(payload, str) else Opcode.BINARY
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    return bytes([fin << 7 | opcode]) + size + bytes(4) + data


def raw_socket(server: Server, guest: Guest | None = None, subprotocol: str = JSON) -> socket.socket:
    """A socket right after a good handshake, whose answer has been read to its last byte, and nothing behind it."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.settimeout(wait_seconds_max)
    raw.connect(server.address)
    lines = [
        "GET /ws HTTP/1.1",
        f"Host: {server.address[0]}:{server.address[1]}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {subprotocol}",
    ]
    if guest is not None:
        lines.append(f"Authorization: Bearer {guest.token}")
    raw.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += raw.recv(1)
    assert answer.startswith(b"HTTP/1.1 101 "), answer
    return raw


def frames_of(stream: bytes) -> Iterator[tuple[Opcode, bytes]]:
    """The whole frames of a server's stream: opcode and payload."""
    at = 0
    while at + 2 <= len(stream):
        size, start = stream[at + 1], at + 2
        if size == 126:
            size, start = int.from_bytes(stream[start : start + 2], "big"), start + 2
        elif size == 127:
            size, start = int.from_bytes(stream[start : start + 8], "big"), start + 8
        if start + size > len(stream):
            return
        yield Opcode(stream[at] & 15), stream[start : start + size]
        at = start + size


def close_code_of(stream: bytes) -> int | None:
    """Of the close frame that a server's stream of frames ends with."""
    return next((int.from_bytes(data[:2], "big") for code, data in frames_of(stream) if code == Opcode.CLOSE), None)
