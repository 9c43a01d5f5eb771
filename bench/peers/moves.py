"""Two players and a checked move, told to both: how the peers of `commands` are asked, each in its own protocol.

Many games go on at once, each waiting until both its players have been told before the next move."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import msgpack

from bench.clients import WAIT_SECONDS_MAX, Watcher
from bench.measure import Busy, Measured
from bench.peers import COLYSEUS, SOCKET_IO, Peer, missing, running
from bench.processes import Process

GOALS = {COLYSEUS.name: "≤ 1.5 ×", SOCKET_IO.name: "≤ 0.33 ×"}
"""Of a command between two people, durable and hashed."""
MOVES = {COLYSEUS: 40, SOCKET_IO: 20}
"""Of each game a round; the second waits for a disk."""
TEXT, BINARY = 0x81, 0x82


Move = Callable[[int], bytes]


class Seat(Watcher):
    """A player's connection. Once it plays, `told` gets each message as it comes."""

    told: Callable[[bytes], None] | None = None
    ended: Callable[[], None] | None = None

    def message(self, payload: bytes) -> None:
        if self.told is None:
            super().message(payload)
        else:
            self.told(payload)

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if self.ended is not None:
            self.ended()

    async def next(self) -> bytes:
        """The only message that is on its way."""
        await self.until(lambda: self.size)
        (message,) = self.messages()
        return message


class Duel:
    """One game that goes on and on. `asked` and `heard` give the bytes of a move, as it is made and as it is told."""

    def __init__(self, seats: list[Seat], head: int, asked: Move, heard: Move) -> None:
        self._seats = seats
        self._head, self._asked, self._heard = head, asked, heard
        self._number = 0
        self._stop = 0
        self._told = 0
        for seat in seats:
            seat.told, seat.ended = self._tell, self._end
        self._done: asyncio.Future[None] | None = None

    def play(self, moves: int) -> "asyncio.Future[None]":
        self._done = asyncio.get_running_loop().create_future()
        self._stop = self._number + moves
        self._move()
        return self._done

    def close(self) -> None:
        for seat in self._seats:
            seat.transport.close()

    def _end(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError("the connection ended"))

    def _move(self) -> None:
        self._expected = self._heard(self._number)
        self._seats[self._number % 2].send(self._asked(self._number), self._head)

    def _tell(self, payload: bytes) -> None:
        assert self._done is not None
        if self._done.done():
            return  # the first that was wrong has been said
        if payload != self._expected:
            self._done.set_exception(AssertionError(f"{payload!r} was told, not {self._expected!r}"))
            return
        self._told += 1
        if self._told % 2:
            return
        self._number += 1
        if self._number == self._stop:
            self._done.set_result(None)
        else:
            self._move()


class Moves:
    """The peers that are installed, each in a process."""

    def __init__(self, rooms: Process | None, stored: Process | None) -> None:
        self._rooms = rooms
        self._stored = stored
        self._duels: list[Duel] = []
        self._busy: dict[str, float] = {}

    async def sides(self, games: int) -> dict[str, Measured]:
        """What measures a move of each, with so many games at once: its CPU, µs."""
        found = {}
        if self._rooms is not None:
            found[COLYSEUS.name] = self._side(
                COLYSEUS, self._rooms, [await colyseus(self._rooms) for _ in range(games)]
            )
        if self._stored is not None:
            duels = [await socket_io(self._stored, f"g{number}") for number in range(games)]
            found[SOCKET_IO.name] = self._side(SOCKET_IO, self._stored, duels)
        return found

    def _side(self, peer: Peer, process: Process, duels: list[Duel]) -> Measured:
        count = MOVES[peer]
        self._duels += duels

        async def moves() -> float:
            cpu = process.cpu_seconds
            with Busy() as busy:
                async with asyncio.timeout(WAIT_SECONDS_MAX):
                    await asyncio.gather(*(duel.play(count) for duel in duels))
            self._busy[peer.name] = max(busy.share, self._busy.get(peer.name, 0))
            return (process.cpu_seconds - cpu) / (count * len(duels)) * 1e6

        return moves

    def close(self) -> None:
        for duel in self._duels:
            duel.close()

    @property
    def notes(self) -> list[str]:
        """How busy this process was beside each, and who is missing."""
        asked = [
            f"asking {name}, the load generator used at most {busy:.0%} of a core" for name, busy in self._busy.items()
        ]
        return asked + missing(MOVES)


@contextlib.contextmanager
def moves(folder: Path) -> Iterator[Moves]:
    kept = folder / "socketio"
    with running(COLYSEUS, folder / "colyseus") as rooms, running(SOCKET_IO, kept, str(kept / "moves.db")) as stored:
        found = Moves(rooms, stored)
        try:
            yield found
        finally:
            found.close()


# ---------------------------------------------------------------- socket.io 4, Engine.IO 4, by WebSocket alone


async def socket_io(process: Process, game: str) -> Duel:
    seats = []
    for number in (0, 1):
        seat = await Seat.of(process.address, path="/socket.io/?EIO=4&transport=websocket")
        assert (await seat.next()).startswith(b"0{")
        seat.send(b"40", TEXT)
        assert (await seat.next()).startswith(b"40{")
        seat.send(b'42["join","%s",%d]' % (game.encode(), number), TEXT)
        assert await seat.next() == b'42["joined"]'
        seats.append(seat)
    return Duel(
        seats,
        TEXT,
        lambda n: b'42["move",{"number":%d,"card":%d}]' % (n, n % 50),
        lambda n: b'42["moved",{"number":%d,"seat":%d,"card":%d}]' % (n, n % 2, n % 50),
    )


# ---------------------------------------------------------------- Colyseus 0.17

JOIN_ROOM, ROOM_DATA = b"\x0a", b"\x0d"


async def colyseus(process: Process) -> Duel:
    seats = []
    for _ in (0, 1):
        path = await asyncio.to_thread(_reserved, process)
        seat = await Seat.of(process.address, path=path)
        assert (await seat.next()).startswith(JOIN_ROOM)
        seat.send(JOIN_ROOM)
        seats.append(seat)
    return Duel(
        seats,
        BINARY,
        lambda n: ROOM_DATA + _packed("move") + _packed({"number": n, "card": n % 50}),
        lambda n: ROOM_DATA + _packed("moved") + _widely({"number": n, "seat": n % 2, "card": n % 50}),
    )


def _reserved(process: Process) -> str:
    """A seat, in the room that lacks one; the path to it."""
    connection = HTTPConnection(*process.address)
    connection.request("POST", "/matchmake/joinOrCreate/table", "{}", {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return f"/{answer['processId']}/{answer['roomId']}?sessionId={answer['sessionId']}"


def _packed(value: object) -> bytes:
    packed: bytes = msgpack.packb(value)
    return packed


def _widely(fields: dict[str, int]) -> bytes:
    """As msgpackr packs it, which gives every map's size two bytes."""
    return b"\xde" + len(fields).to_bytes(2, "big") + _packed(fields)[1:]
