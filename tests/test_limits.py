"""What a peer can't make a running server do: grow, wait for ever, lose count, or keep others waiting."""

import asyncio
import contextlib
import itertools
import json
import resource
import signal
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from websockets.exceptions import InvalidStatus
from websockets.frames import Opcode

from events import chain, codec
from events.codec import Event
from events.database import Database
from events.log import Batch
from events.sqlite import SqliteLog
from rules import fairness, variants, war
from rules.catalogue import RULES as ALL_RULES
from rules.fairness import NO_ENTROPY
from rules.game import Seated
from server.app import SCHEMAS
from server.clock import now_ms
from server.games import Games
from server.keys import operator_keys
from tests.running import (
    BOTH,
    PATHS,
    RULES,
    Client,
    Server,
    close_code_of,
    connect,
    connected,
    eventually,
    frame,
    raw_socket,
)

pytestmark = pytest.mark.anyio

GROWTH_BYTES_MAX = 12 << 20
"""Of the process, while somebody sends or asks for several times as much."""
CONNECTIONS_MAX = 50


@dataclass(frozen=True, slots=True)
class Stage:
    server: Server
    long: bytes
    """A game whose log makes frames of half a megabyte."""


@contextlib.contextmanager
def staged(folder: Path, environment: dict[str, str]) -> Iterator[Stage]:
    server = Server(folder, environment)
    server.data.mkdir()
    long = asyncio.run(write_a_long_game(server))
    server.start()
    try:
        yield Stage(server, long)
    finally:
        if server.running:
            server.stop()
    assert server.errors == ""


async def write_a_long_game(server: Server) -> bytes:
    """Longer than the rules allow, for the folds never refuse what is stored."""
    database = await Database.open(server.data / "statecraft.db", SCHEMAS)
    log = SqliteLog(database)
    games = Games(log, operator_keys(server.data / "keys"), now_ms)
    opened = await games.open(bytes(16), ALL_RULES[RULES], "relaxed", (), "open")
    assert isinstance(opened, tuple)
    game, head = opened
    body = codec.encode(Event(now_ms(), bytes(16), Seated(1, b"", "x" * 1000, b"")))
    await log.append(game, head, Batch(chain.extend(head, [body] * 200)))
    await database.close()
    return game


@pytest.fixture(scope="module", params=PATHS)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("limits"), request.param) as running:
        yield running


@pytest.fixture(scope="module", params=PATHS)
def strict(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Where few connections fit and nobody is waited for."""
    environment = {**request.param, "STATECRAFT_CLOSE_SECONDS": "1", "STATECRAFT_CONNECTIONS_MAX": str(CONNECTIONS_MAX)}
    with staged(tmp_path_factory.mktemp("strict"), environment) as running:
        yield running


@pytest.fixture(scope="module", params=PATHS)
def patient(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Where a peer that was told to go has a minute to read why."""
    environment = {**request.param, "STATECRAFT_CLOSE_SECONDS": "60"}
    with staged(tmp_path_factory.mktemp("patient"), environment) as running:
        yield running


@pytest.fixture(params=PATHS)
def mortal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """One to stop."""
    with staged(tmp_path, request.param) as running:
        yield running


async def others_play(stage: Stage) -> None:
    async with connected(stage.server, stage.server.join()) as client:
        for number in range(2):
            followed = await client.follow(await client.open())
            await client.play_on(followed, Random(number))
            assert stage.server.audit(followed.game).over


def subscribing(game: bytes) -> bytes:
    return frame(json.dumps({"type": "subscribe", "topic": f"game/{game.hex()}"}))


# ---------------------------------------------------------------- who doesn't read


async def test_a_reader_who_falls_behind_what_happens_is_closed_with_4008_and_may_come_back(patient: Stage) -> None:
    server = patient.server
    clients = [await connect(server, server.join()) for _ in range(15)]
    games = await asyncio.gather(*map(open_playbook, clients))
    before_bytes = server.memory_bytes
    with raw_socket(server) as raw:
        # The backlogs fill what the two systems keep for a slow reader; then the games go on.
        raw.sendall(b"".join(map(subscribing, games)) + subscribing(patient.long) * 30)
        await asyncio.gather(*(turn_out(server, *seat) for seat in zip(clients, games, strict=True)))
        assert server.memory_bytes - before_bytes < GROWTH_BYTES_MAX
        assert await asyncio.to_thread(read_to_the_close, raw) == 4008
    held = clients[0].games[f"game/{games[0].hex()}"]
    async with connected(server) as client:
        again = await client.follow(games[0], held.head, held)
        assert again.starts[-1]["recovered"] is True
    for client in clients:
        await client.leave()


async def open_playbook(client: Client) -> bytes:
    opened = await client.ask("open", rules="playbook/1", mode="house", settings={})
    return bytes.fromhex(opened["game"])


async def turn_out(server: Server, client: Client, game: bytes) -> None:
    """Five hundred battles, ten at a time: fifty frames of seven kilobytes."""
    followed = await client.follow(game)
    await client.do(game, {"do": "Mix", "entropy": long_entropy(server, game)}, "mix")
    while not followed.over:
        done = await client.do(game, {"do": "Turn", "battle": followed.battle, "times": 10})
        await client.until(lambda version=done["version"]: followed.head.version >= version)  # type: ignore[misc]


def long_entropy(server: Server, game: bytes) -> bytes:
    """What makes a game of `playbook` that only its limit ends, every seventh: whoever has the keys can choose it."""
    secret = fairness.secret(operator_keys(server.data / "keys")[1], game)
    for number in itertools.count():
        entropy = number.to_bytes(32, "big")
        seed = fairness.seed(secret, game, (entropy, NO_ENTROPY))
        if war.play_out(variants.PLAYBOOK, war.deal(seed, ()).piles, seed).reason == "battle_limit":
            return entropy
    raise AssertionError


def read_to_the_close(raw: socket.socket) -> int:
    stream = b""
    while (code := close_code_of(stream)) is None:
        piece = raw.recv(1 << 20)
        assert piece, "it ended without a close"
        stream += piece
    return code


async def test_a_reader_who_never_reads_again_is_let_go(strict: Stage) -> None:
    server = strict.server
    sockets = server.sockets
    stalled = [raw_socket(server) for _ in range(4)]
    for raw in stalled[:3]:
        raw.sendall(subscribing(strict.long) * 30)
    # One of them says goodbye, but doesn't take what it asked for.
    stalled[2].sendall(frame(b"\x03\xe8", Opcode.CLOSE))
    await others_play(strict)
    await eventually(lambda: server.sockets <= sockets + 1)
    stalled[3].sendall(frame(b"", Opcode.PING))
    assert stalled[3].recv(2)[0] & 15 == Opcode.TEXT, "its hello"
    for raw in stalled:
        raw.close()
    await eventually(lambda: server.sockets <= sockets)


@pytest.mark.parametrize(
    "small",
    [frame(b"x" * 125, Opcode.PING), frame(b"x" * 125, Opcode.PONG), frame(b"", Opcode.CONT, fin=False)],
    ids=["pings", "pongs", "empty pieces"],
)
async def test_frames_that_are_no_messages_are_counted_too(stage: Stage, small: bytes) -> None:
    before_bytes = stage.server.memory_bytes
    with raw_socket(stage.server) as raw:
        raw.sendall(frame("", fin=False))
        with contextlib.suppress(OSError):
            await asyncio.to_thread(raw.sendall, small * (25_000_000 // len(small)))
        await others_play(stage)
        assert stage.server.memory_bytes - before_bytes < GROWTH_BYTES_MAX
    async with connected(stage.server) as client:
        await client.send_raw([b"", *[b""] * 2000, b""])
        assert await client.close_code() == 4003


async def test_who_does_not_read_keeps_no_server_from_stopping(mortal: Stage) -> None:
    server = mortal.server
    with raw_socket(server) as silent, raw_socket(server) as leaving:
        for raw in (silent, leaving):
            raw.sendall(subscribing(mortal.long) * 30)
        leaving.sendall(frame(b"\x03\xe8", Opcode.CLOSE))
        await others_play(mortal)
        assert server.stop() == -signal.SIGTERM
    assert server.errors == ""
    assert len(server.said.splitlines()) == 2


# ---------------------------------------------------------------- who comes and goes


def drop(raw: socket.socket) -> None:
    """Without a word: the peer's next write is answered with a reset."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()


def storm(stage: Stage, seed: int) -> None:
    """Connections that are dropped at every stage of their life."""
    chance = Random(seed)
    host, port = stage.server.address
    handshake = (
        f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {chance.choice(BOTH)}\r\nAuthorization: Bearer {stage.server.join().token}\r\n\r\n"
    ).encode()
    whole = handshake + subscribing(stage.long) * 3 + frame("{", fin=False)
    for number in range(500):
        raw = socket.create_connection((host, port))
        size = (0, chance.randrange(len(handshake)), len(handshake), chance.randint(len(handshake), len(whole)))
        raw.sendall(whole[: size[number % 4]])
        if chance.random() < 0.1:
            raw.recv(1 << 16) if number % 4 > 1 else None
        drop(raw) if chance.random() < 0.8 else raw.close()


async def test_two_thousand_connections_that_were_dropped_leave_nothing_behind(strict: Stage) -> None:
    server = strict.server
    await others_play(strict)
    sockets, before_bytes = server.sockets, server.memory_bytes
    await asyncio.gather(*(asyncio.to_thread(storm, strict, seed) for seed in range(4)))
    await eventually(lambda: server.sockets <= sockets)
    assert server.memory_bytes - before_bytes < GROWTH_BYTES_MAX
    await others_play(strict)


def test_a_server_asks_for_as_many_open_files_as_it_may_have_connections(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # As many systems start a process.
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 1024), hard))
    try:
        server = Server(tmp_path, {"STATECRAFT_CONNECTIONS_MAX": "3000"}).start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        allowed, _ = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        assert allowed == resource.RLIM_INFINITY or allowed >= min(3000, hard)
    finally:
        server.stop()


async def test_as_many_connections_as_were_said_and_not_one_more(strict: Stage) -> None:
    clients = [await connect(strict.server, None, BOTH[number % 2]) for number in range(CONNECTIONS_MAX)]
    with pytest.raises(InvalidStatus) as caught:
        await connect(strict.server)
    assert caught.value.response.status_code == 503
    for client in clients[:10]:
        client.drop()
    for client in clients[10:]:
        await client.leave()
    held = len(clients)
    await eventually(lambda: strict.server.sockets < held)
    again = [await connect(strict.server, None, BOTH[number % 2]) for number in range(CONNECTIONS_MAX)]
    for client in again:
        await client.leave()
