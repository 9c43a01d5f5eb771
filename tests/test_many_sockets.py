"""Very many real sockets: some among a thousand watchers who read nothing, and ten thousand who come and drop."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from websockets.frames import Opcode

from server.wire import Code
from tests.meeting import dealt, feed
from tests.pairs import people
from tests.running import (
    JSON,
    MSGPACK,
    RULES,
    Client,
    Followed,
    Message,
    Server,
    connect,
    connected,
    eventually,
    frame,
    frames_of,
    plain,
    raw_socket,
    serving,
)
from tests.test_limits import Stage, drop, long_entropy, open_playbook, staged, subscribing, turn_out

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WATCHERS = 1000
STALLED = 8
GROWTH_BYTES_MAX = 32 << 20
"""Of the server. What the stalled ones don't read is five megabytes of news each, and half of that again that they ask
for thirty times."""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Where who was told to go has ten minutes to read why."""
    with staged(tmp_path, {"STATECRAFT_CLOSE_SECONDS": "600"}) as running:
        yield running


async def turn(client: Client, game: bytes, commands: int) -> None:
    """Ten battles each: frames of seven kilobytes."""
    held = client.games[f"game/{game.hex()}"]
    for _ in range(commands):
        done = await client.do(game, {"do": "Turn", "battle": held.battle, "times": 10})
        await client.until(lambda version=done["version"]: held.head.version >= version)  # type: ignore[misc]


def read_to_the_close(raw: socket.socket) -> list[tuple[Opcode, bytes]]:
    stream, seen = bytearray(), 0
    while True:
        piece = raw.recv(1 << 20)
        assert piece, "it ended without a close"
        stream += piece
        # A close is the last and short: look only where one may have come.
        if len(piece) < 1 << 16 or len(stream) - seen > 1 << 20:
            seen = len(stream)
            frames = list(frames_of(bytes(stream)))
            if frames and frames[-1][0] is Opcode.CLOSE:
                return frames


async def test_among_a_thousand_watchers_who_reads_nothing_is_closed_and_resumes_and_nobody_else_is_disturbed(
    stage: Stage,
) -> None:
    server = stage.server
    players = [await connect(server, server.join()) for _ in range(15)]
    games = await asyncio.gather(*map(open_playbook, players))
    watched, topic = games[0], f"game/{games[0].hex()}"
    await players[0].follow(watched)
    await players[0].do(watched, {"do": "Mix", "entropy": long_entropy(server, watched)}, "mix")
    watchers = [await connect(server, None, MSGPACK) for _ in range(WATCHERS - 1)]
    held = [await watcher.follow(watched) for watcher in watchers]
    with contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(raw_socket(server)) for _ in range(STALLED)]
        for raw in stalled:
            raw.sendall(b"".join(map(subscribing, games)))
        before_bytes = server.memory_bytes
        await turn(players[0], watched, 5)
        # A backlog fills what the two systems keep for a slow reader; then the games go on.
        for raw in stalled:
            raw.sendall(subscribing(stage.long) * 30)
        await asyncio.gather(*(turn_out(server, *seat) for seat in zip(players[1:], games[1:], strict=True)))
        assert server.memory_bytes - before_bytes < GROWTH_BYTES_MAX
        await turn(players[0], watched, 5)
        last = players[0].games[topic].head
        for watcher, each in zip(watchers, held, strict=True):
            await watcher.until(lambda each=each: each.head == last)  # type: ignore[misc]
            assert watcher.closed is None
        # One reads in the end; the others never do, and go.
        frames = await asyncio.to_thread(read_to_the_close, stalled[0])
    code, reason = int.from_bytes(frames[-1][1][:2], "big"), frames[-1][1][2:].decode()
    assert code == Code.TOO_SLOW
    assert "resume from the last version you hold" in reason
    own = Followed(watched)
    for opcode, data in frames[:-1]:
        told: Message = plain(json.loads(data)) if opcode is Opcode.TEXT else {}
        if told.get("topic") == topic:
            own.take(told)
    assert 0 < own.head.version < last.version
    async with connected(server) as client:
        missed = len(own.events)
        again = await client.follow(watched, own.head, own)
        await client.until(lambda: again.head == last)
        assert again.starts[-1]["recovered"] is True
        assert again.starts[-1]["version"] == missed
        assert again.events == held[0].events
    for client in (*players, *watchers):
        await client.leave()


# ---------------------------------------------------------------- who comes and goes

DROPS = 10_000
WARM = 1000
"""First, so that what a process grows to anyway isn't counted."""
KEPT_BYTES_MAX = 12 << 20
"""More than before, once all who came are gone: about a kilobyte for each."""


def visits(server: Server, guests: list[str], game: bytes, count: int, seed: int) -> None:
    """Come, ask for this and that, and drop in the middle of a frame, of the handshake, or of the answers."""
    chance = Random(seed)
    host, port = server.address
    wishes = [
        {"type": "subscribe", "topic": "lobby"},
        {"type": "subscribe", "topic": "me"},
        {"type": "subscribe", "topic": f"game/{game.hex()}"},
        {"type": "subscribe", "topic": f"replay/{game.hex()}", "at": 1, "beat_ms": 60_000},
        {"type": "queue", "id": "q", "rules": RULES},
        {"type": "leave_queue", "id": "l", "rules": RULES},
        {"type": "rematch", "id": "r", "game": game.hex()},
    ]
    for _ in range(count):
        handshake = (
            f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {JSON}\r\nAuthorization: Bearer {chance.choice(guests)}\r\n\r\n"
        ).encode()
        asked = chance.sample(wishes, chance.randint(1, len(wishes)))
        whole = handshake + b"".join(frame(json.dumps(wish)) for wish in asked)
        raw = socket.create_connection((host, port), timeout=600)
        raw.sendall(whole[: chance.choice([chance.randrange(len(whole)), len(whole)])])
        if chance.random() < 0.3:
            raw.recv(1 << 16) if chance.random() < 0.5 else raw.shutdown(socket.SHUT_WR)
        drop(raw) if chance.random() < 0.8 else raw.close()


async def test_ten_thousand_who_come_and_drop_leave_no_socket_no_memory_and_no_place_behind(tmp_path: Path) -> None:
    with serving(tmp_path, {"STATECRAFT_CLOSE_SECONDS": "1"}) as server:
        # An odd number: were one left in the queue, the last one who comes would be paired with a ghost.
        guests = [server.join().token for _ in range(41)]
        async with people(server, 3, seed=51) as (host, guest, watcher):
            game = await dealt(host, guest, commit_seconds=3600)
            lobby = await feed(watcher, "lobby")
            await watcher.follow(game)

            async def come(count: int, seed: int) -> None:
                await asyncio.gather(
                    *(asyncio.to_thread(visits, server, guests, game, count // 4, seed * 10 + n) for n in range(4))
                )
                await eventually(lambda: server.sockets <= sockets)

            sockets = server.sockets
            await come(WARM, 1)
            before_bytes = server.memory_bytes
            await come(DROPS, 2)
            assert server.memory_bytes - before_bytes < KEPT_BYTES_MAX
            # Nobody who came is still counted, waits, or sits: the three who stayed are all there is.
            client = await watcher.here()
            await client.until(lambda: last_presence(client) == ([True, True], 1))
            await lobby.until(lambda rows: rows["live"].get(game.hex(), {}).get("watchers") == 1)
            mine = await feed(watcher, "me")
            assert (await watcher.ask("queue", "alone", rules=RULES))["type"] == "queued"
            await mine.until(lambda rows: rows["queues"])
            # What the queue does once a second, it does before the lobby's next row: nobody is paired.
            own = await client.open()
            await lobby.until(lambda rows: own.hex() in rows["live"])
            assert mine.take().rows["games"] == {}


def last_presence(client: Client) -> tuple[list[bool], int] | None:
    told = [each for each in client.frames if each["type"] == "presence"]
    return (told[-1]["seats"], told[-1]["watchers"]) if told else None
