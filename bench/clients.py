"""The load: players in a closed loop, and watchers that only count what comes."""

import asyncio
import itertools
from collections import defaultdict
from typing import Any, Self

import msgpack
from websockets.asyncio.client import ClientConnection, connect

from bench.processes import Product

SUBPROTOCOL = "statecraft.v1.msgpack"
PRESENCE = b"\xa8presence"
"""In messages that nobody here waits for: who is there is told whenever it changes."""
WAIT_SECONDS_MAX = 900
MASKED_HEAD_BYTES = 8
"""Before a payload of 126 bytes and more."""


class Player:
    """One connection that asks one thing at a time; everything a command leads to comes before its answer."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count()
        self.seen: defaultdict[bytes, list[bytes]] = defaultdict(list)
        """Bodies of events by game."""
        self.version = 0
        """Of the last event seen."""
        self.asked_bytes = 0
        """Of the last message sent, in its frame."""
        self.table: Any = None
        self.hand: Any = None
        self.hand_version = 0
        self.raw: list[bytes] = []
        """Frames since somebody last looked."""

    @classmethod
    async def of(cls, product: Product, token: str | None = None) -> "Player":
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        socket = await connect(
            f"ws://{product.address[0]}:{product.address[1]}/ws",
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            additional_headers=headers,
            compression=None,
            proxy=None,
            ping_interval=None,
            max_size=None,
            max_queue=None,
        )
        player = cls(socket)
        await player._until("hello")
        return player

    async def ask(self, type_: str, **fields: Any) -> Any:
        """The answer, `done` or `refused`."""
        id_ = f"{id(self):x}-{next(self._ids)}"
        asked: bytes = msgpack.packb({"type": type_, "id": id_, **fields})
        self.asked_bytes = len(asked) + MASKED_HEAD_BYTES
        await self._socket.send(asked)
        return await self._until("done", "refused")

    async def try_(self, game: bytes, do: str, **fields: Any) -> Any:
        return await self.ask("do", game=game.hex(), command={"do": do, **fields})

    async def do(self, game: bytes, do: str, **fields: Any) -> Any:
        answer = await self.try_(game, do, **fields)
        assert answer["type"] == "done", answer
        if game in self.seen:
            await self.until_version(answer["version"])
        return answer

    async def _until(self, *types: str) -> Any:
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            while True:
                frame = await self._socket.recv()
                assert isinstance(frame, bytes)
                if PRESENCE not in frame[:16]:
                    self.raw.append(frame)
                message = msgpack.unpackb(frame)
                match message["type"]:
                    case "events":
                        self.seen[bytes.fromhex(message["topic"][5:])] += message["events"]
                        self.table, self.version = message["table"], message["version"]
                    case "hand":
                        self.hand, self.hand_version = message["cards"], message["version"]
                if message["type"] in types:
                    return message

    async def until_version(self, version: int) -> None:
        """Have seen so much of the game that was followed last. Rarely it comes after the answer that tells of it."""
        while self.version < version:
            await self._until("events")

    async def until_hand(self, version: int) -> None:
        """Have seen the hand that comes with a version or a later one."""
        while self.hand_version < version:
            await self._until("hand")

    async def follow(self, game: bytes) -> None:
        """Subscribe, and have all up to the present."""
        self.seen[game].clear()
        self.table, self.version, self.hand_version = None, 0, 0
        await self._socket.send(msgpack.packb({"type": "subscribe", "topic": f"game/{game.hex()}"}))
        await self._until("subscribed")
        while self.table is None:
            await self._until("events")

    async def ping(self) -> None:
        await self._socket.send(msgpack.packb({"type": "ping", "n": 0}))
        await self._until("pong")

    async def unfollow(self, game: bytes) -> None:
        await self._socket.send(msgpack.packb({"type": "unsubscribe", "topic": f"game/{game.hex()}"}))

    async def begin(self, rules: str = "fifty-states/1", mode: str = "relaxed") -> bytes:
        """A fresh game, dealt and followed."""
        game = bytes.fromhex((await self.ask("open", rules=rules, mode=mode, settings={}))["game"])
        await self.follow(game)
        await self.do(game, "Mix", entropy=bytes(32))
        return game

    async def play(self, game: bytes) -> None:
        await self.do(game, "Play", battle=self.table["position"]["battle"], card=self.hand[0])

    async def end(self, game: bytes) -> None:
        """Resign, if there is still something to resign."""
        if self.table["finished"] is None:
            await self.do(game, "Resign")
        await self.unfollow(game)

    async def turn(self, game: bytes) -> None:
        await self.do(game, "Turn", battle=self.table["position"]["battle"], times=1)

    async def leave(self) -> None:
        await self._socket.close()


class Watcher(asyncio.Protocol):
    """A socket that is upgraded, says what it has to, keeps what comes and answers pings: about the cheapest reader."""

    def __init__(self, address: tuple[str, int], first: bytes | None, path: str) -> None:
        self._address = address
        self._first = first
        self._path = path
        self._stream = bytearray()
        self._messages: list[bytes] = []
        self.size = 0
        """Bytes of the messages that nobody has asked for yet."""
        self.upgraded = False
        self._ended = False
        self.changed = asyncio.Event()

    @classmethod
    async def of(cls, address: tuple[str, int], first: bytes | None = None, path: str = "/ws") -> Self:
        """`first`: a payload to send as soon as it is connected."""
        _, watcher = await asyncio.get_running_loop().create_connection(lambda: cls(address, first, path), *address)
        await watcher.until(lambda: watcher.upgraded)
        return watcher

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        lines = (
            f"GET {self._path} HTTP/1.1",
            f"Host: {self._address[0]}:{self._address[1]}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
            "\r\n",
        )
        transport.write("\r\n".join(lines).encode())

    def data_received(self, data: bytes) -> None:
        self._stream += data
        if not self.upgraded and (end := self._stream.find(b"\r\n\r\n")) >= 0:
            assert self._stream.startswith(b"HTTP/1.1 101"), bytes(self._stream[:200])
            del self._stream[: end + 4]
            self.upgraded = True
            if self._first is not None:
                self.send(self._first)
        if self.upgraded:
            self._parse()
        self.changed.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._ended = True
        self.changed.set()

    def _parse(self) -> None:
        stream, at = self._stream, 0
        while len(stream) >= at + 2:
            size, start = stream[at + 1], at + 2
            if size > 125:
                width = 2 if size == 126 else 8
                size, start = int.from_bytes(stream[start : start + width], "big"), start + width
            if len(stream) < start + size:
                break
            payload = bytes(stream[start : start + size])
            match stream[at] & 15:
                case 9:
                    self.send(payload, 0x8A)
                case 8:
                    raise ConnectionError(f"the server closed: {payload!r}")
                case _ if PRESENCE in payload[:16]:
                    pass
                case _:
                    self.message(payload)
            at = start + size
        del stream[:at]

    def message(self, payload: bytes) -> None:
        self._messages.append(payload)
        self.size += len(payload)

    def send(self, payload: bytes, head: int = 0x82) -> None:
        """A masked frame, binary; fewer than 65,536 bytes."""
        size = len(payload)
        length = bytes((0x80 | size,)) if size < 126 else b"\xfe" + size.to_bytes(2, "big")
        self.transport.write(bytes((head,)) + length + bytes(4) + payload)

    async def until(self, condition: Any) -> None:
        """Raises ConnectionError if the connection ends before."""
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            while not condition():
                if self._ended:
                    raise ConnectionError("the connection ended")
                self.changed.clear()
                await self.changed.wait()

    def messages(self) -> list[bytes]:
        """Payloads since they were last asked for."""
        taken, self._messages, self.size = self._messages, [], 0
        return taken

    def has_events(self) -> bool:
        return any(b"\xa6events" in message[:16] for message in self._messages)


def subscription(game: bytes) -> bytes:
    packed: bytes = msgpack.packb({"type": "subscribe", "topic": f"game/{game.hex()}"})
    return packed


async def players(product: Product, count: int) -> list[Player]:
    return [await Player.of(product, product.join()[1]) for _ in range(count)]


async def leave(peers: list[Player]) -> None:
    await asyncio.gather(*(peer.leave() for peer in peers))
