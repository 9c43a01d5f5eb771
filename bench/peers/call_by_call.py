"""Starlette and redis-py as a first version has them: `python -m bench.peers.call_by_call REDIS STEPS`.

Of each command: one message awaited, one script awaited that compares the head and appends, each frame awaited for each
seat. STEPS, in JSON: sizes of a command's events, and of each seat's messages. It hashes them, and asks no rules."""

import hashlib
import itertools
import json
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import msgpack
import redis.asyncio
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

APPEND = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return redis.error_reply('CONFLICT') end
for at = 3, #ARGV do redis.call('XADD', KEYS[2], '*', 'event', ARGV[at]) end
return redis.call('SET', KEYS[1], ARGV[2])
"""


class Game:
    def __init__(self, number: int, steps: list[Any]) -> None:
        # Others that were measured before may have left theirs in the same Redis.
        self._keys = [f"{{{number}-{os.getpid()}}}:{what}" for what in ("head", "log")]
        self._head = b""
        self._steps: Iterator[Any] = itertools.cycle(steps)
        self.seats: list[WebSocket] = []

    async def command(self, append: Any, asker: WebSocket) -> None:
        sizes, sends = next(self._steps)
        bodies, head = [bytes(size) for size in sizes], self._head
        for body in bodies:
            head = hashlib.sha256(head + body).digest()
        await append(keys=self._keys, args=[self._head, head, *bodies])
        self._head = head
        first = self.seats.index(asker)
        for seat, frames in zip((*self.seats[first:], *self.seats[:first]), sends, strict=True):
            for size in frames:
                await seat.send_bytes(bytes(size))


def app(url: str, steps: list[Any]) -> Starlette:
    # More connections than its pool has at first: it fails past a hundred.
    append = redis.asyncio.from_url(url, max_connections=10_000).register_script(APPEND)
    games: list[Game] = []

    async def attend(seat: WebSocket) -> None:
        await seat.accept()
        if not games or len(games[-1].seats) == len(steps[0][1]):
            games.append(Game(len(games), steps))
        game = games[-1]
        game.seats.append(seat)
        try:
            while True:
                msgpack.unpackb(await seat.receive_bytes())
                await game.command(append, seat)
        except WebSocketDisconnect:
            pass

    return Starlette(routes=[WebSocketRoute("/ws", attend)])


def main(url: str, steps: str) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        host, port = listening.getsockname()
        print(f"listening at {host}:{port}", flush=True)
        config = uvicorn.Config(
            app(url, json.loads(steps)), ws="websockets-sansio", ws_per_message_deflate=False, log_level="error"
        )
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
