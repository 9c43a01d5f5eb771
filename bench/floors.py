"""What the product is compared with, as processes of their own: `python -m bench.floors commands|broadcast …`.

Bare on purpose: no rules, no hashes, no checks, nothing shared with the product."""

import asyncio
import functools
import itertools
import json
import sqlite3
import sys
from queue import SimpleQueue
from threading import Thread
from typing import Any

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

from bench.bare_redis import Pipelined

EVENTS = """
CREATE TABLE events (game BLOB NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL,
PRIMARY KEY (game, version)) WITHOUT ROWID
"""
INSERT = "INSERT INTO events VALUES (?, ?, ?, ?)"


def bare_store(path: str) -> sqlite3.Connection:
    """As durable as the product's: WAL and a full fsync at each commit."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(EVENTS)
    return connection


class Group:
    """One thread that commits whatever waits, then answers on the loop."""

    def __init__(self, path: str) -> None:
        self._store = bare_store(path)
        self._waiting: SimpleQueue[Any] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        Thread(target=self._run, daemon=True).start()

    def append(self, rows: list[tuple[bytes, int, bytes, bytes]], answer: Any) -> None:
        self._waiting.put((rows, answer))

    def _run(self) -> None:
        while True:
            group = [self._waiting.get()]
            while not self._waiting.empty():
                group.append(self._waiting.get())
            self._store.execute("BEGIN IMMEDIATE")
            self._store.executemany(INSERT, [row for rows, _ in group for row in rows])
            self._store.execute("COMMIT")
            self._loop.call_soon_threadsafe(_answer, [answer for _, answer in group])


def _answer(answers: list[Any]) -> None:
    for answer in answers:
        answer()


class Step:
    """One command: how much comes in, what is stored, and what goes out to each seat, whoever asked first."""

    def __init__(self, asked_bytes: int, bodies: list[int], sends: list[list[int]]) -> None:
        self.asked_bytes = asked_bytes
        self.bodies = [bytes(size) for size in bodies]
        self.sends = [[bytes(size) for size in sizes] for sizes in sends]


class Game:
    """What so many connections share; the steps come round and round."""

    number = 0

    def __init__(self, group: Group | Pipelined, steps: list[Step]) -> None:
        Game.number += 1
        self._id = Game.number.to_bytes(16, "little")
        self._group = group
        self._steps = itertools.cycle(steps)
        self._version = 0
        self.step = next(self._steps)
        self.seats: list[Any] = []

    def command(self, asker: Any) -> None:
        step, self.step = self.step, next(self._steps)
        rows = []
        for body in step.bodies:
            self._version += 1
            rows.append((self._id, self._version, bytes(32), body))
        self._group.append(rows, functools.partial(self._told, step, asker))

    def _told(self, step: Step, asker: Any) -> None:
        first = self.seats.index(asker)
        for seat, frames in zip((*self.seats[first:], *self.seats[:first]), step.sends, strict=True):
            for frame in frames:
                seat.write(frame)


class Commands(asyncio.Protocol):
    """One receive, one append, and the sends."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._received = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._game.seats.append(transport)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        if self._received >= self._game.step.asked_bytes:
            self._received -= self._game.step.asked_bytes
            self._game.command(self._transport)


async def commands(path: str, steps: str) -> None:
    """`steps`: in JSON, each the arguments of a Step. Whoever connects sits in the first game that has a seat free."""
    group = await Pipelined.to(path) if path.startswith("redis:") else Group(path)
    made = [Step(*each) for each in json.loads(steps)]
    games: list[Game] = []

    def sit() -> Commands:
        if not games or len(games[-1].seats) == len(made[0].sends):
            games.append(Game(group, made))
        return Commands(games[-1])

    loop = asyncio.get_running_loop()
    server = await loop.create_server(sit, "127.0.0.1", 0)
    _say(server.sockets[0].getsockname())
    await server.serve_forever()


async def broadcasting() -> None:
    """A message `UPDATES BYTES` is answered with so many broadcasts to everybody, in one tick."""
    everybody: set[ServerConnection] = set()

    async def attend(connection: ServerConnection) -> None:
        everybody.add(connection)
        try:
            async for message in connection:
                updates, size = map(int, message.split())
                for _ in range(updates):
                    broadcast(everybody, bytes(size))
        finally:
            everybody.discard(connection)

    async with serve(
        attend,
        "127.0.0.1",
        0,
        compression=None,
        ping_interval=None,
        subprotocols=["statecraft.v1.msgpack"],  # type: ignore[list-item]
    ) as server:
        _say(next(iter(server.sockets)).getsockname())
        await server.serve_forever()


def _say(address: Any) -> None:
    print(f"listening at {address[0]}:{address[1]}", flush=True)


if __name__ == "__main__":
    name, *given = sys.argv[1:]
    uvloop.run(commands(*given) if name == "commands" else broadcasting())
