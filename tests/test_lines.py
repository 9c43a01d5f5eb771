"""The two ways of a socket, past Starlette and through it: to a client they are the same."""

import asyncio
import json
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.frames import Opcode

from server.wire import Code
from tests.running import (
    BOTH,
    FAST,
    JSON,
    MSGPACK,
    RULES,
    STOCK,
    Guest,
    Server,
    close_code_of,
    connected,
    eventually,
    frame,
    frames_of,
    raw_socket,
    serving,
)

pytestmark = pytest.mark.anyio

BOTH_PATHS = (pytest.param(FAST, id="fast"), pytest.param(STOCK, id="stock"))


@pytest.fixture(scope="module", params=BOTH_PATHS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("lines"), request.param) as running:
        yield running


@pytest.fixture
def guest(server: Server) -> Guest:
    return server.join()


def said(message: dict[str, Any]) -> bytes:
    return frame(json.dumps(message))


def ping(n: int) -> dict[str, Any]:
    return {"type": "ping", "n": n}


def answers(raw: socket.socket, count: int) -> list[Any]:
    """So many messages, `hello` and what is told unasked apart."""
    stream = b""
    while True:
        found = [json.loads(data) for opcode, data in frames_of(stream) if opcode == Opcode.TEXT]
        found = [each for each in found if each["type"] not in ("hello", "presence")]
        if len(found) >= count:
            return found
        piece = raw.recv(65536)
        assert piece, (found, close_code_of(stream))
        stream += piece


def closed_with(raw: socket.socket) -> int | None:
    return close_code_of(read_to_the_close(raw))


def read_to_the_close(raw: socket.socket) -> bytes:
    stream = b""
    while close_code_of(stream) is None and (piece := raw.recv(65536)):
        stream += piece
    return stream


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_a_game_is_played_and_watched_to_its_end(server: Server, guest: Guest, subprotocol: str) -> None:
    async with connected(server, guest, subprotocol) as client, connected(server) as watcher:
        followed = await client.follow(await client.open())
        watched = await watcher.follow(followed.game)
        await client.play_on(followed, Random(1))
        await watcher.until(lambda: watched.over)
        assert watched.events == followed.events
        assert server.audit(followed.game).over


async def test_messages_that_come_in_one_piece_or_byte_by_byte_are_answered_in_their_order(
    server: Server, guest: Guest
) -> None:
    opening = {"type": "open", "id": "o", "rules": RULES, "mode": "relaxed", "settings": {}}
    asked = [ping(1), opening, ping(2), {**opening, "id": "again"}, {"type": "unsubscribe", "topic": "lobby"}, ping(3)]
    stream = b"".join(map(said, asked))
    for sizes in (len(stream), 1):
        with raw_socket(server, guest) as raw:
            for at in range(0, len(stream), sizes):
                raw.sendall(stream[at : at + sizes])
            assert [each.get("n", each.get("id")) for each in answers(raw, 5)] == [1, "o", 2, "again", 3]


async def test_what_is_sent_before_the_handshake_is_answered_is_not_lost(server: Server) -> None:
    for cut in (0, 1, 7):
        raw = socket.create_connection(server.address)
        raw.settimeout(60)
        lines = (
            "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: {JSON}\r\n\r\n"
        )
        early = said(ping(cut))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.sendall(lines.encode())
        raw.sendall(early[:cut])
        raw.sendall(early[cut:])
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += raw.recv(1)
        # What shares a packet with the handshake is lost by uvicorn's HTTP side; then a client's next frame comes.
        raw.sendall(said(ping(9)))
        assert answers(raw, 1)[0]["n"] in (cut, 9)
        raw.close()


@pytest.mark.parametrize(
    ("subprotocol", "sent", "code"),
    [
        (JSON, frame("{"), 4000),
        (MSGPACK, frame(b"\xc1"), 4000),
        (JSON, frame(b"{}"), 1003),
        (MSGPACK, frame("{}"), 1003),
        (JSON, frame("{}", fin=False) + frame(b"\xff", Opcode.CONT), 1007),
        (JSON, frame(b"\xff", Opcode.TEXT), 1007),
        (JSON, frame("x" * 4097), 1009),
        (JSON, b"\x81\x02{}", 1002),
        (JSON, said(ping(1)) * 400, Code.TOO_FAST),
        (JSON, frame(b"\x03\xe8", Opcode.CLOSE), 1000),
    ],
)
async def test_it_closes_with_the_code_that_says_why(server: Server, subprotocol: str, sent: bytes, code: int) -> None:
    with raw_socket(server, None, subprotocol) as raw:
        raw.sendall(sent)
        assert await asyncio.to_thread(closed_with, raw) == code


async def test_nothing_is_answered_after_what_closes(server: Server) -> None:
    with raw_socket(server) as raw:
        raw.sendall(said(ping(1)) + frame("{") + said(ping(2)))
        stream = read_to_the_close(raw)
    assert close_code_of(stream) == 4000
    assert b'"n":1' in stream
    assert b'"n":2' not in stream


async def test_pings_between_the_pieces_of_a_message_are_answered(server: Server) -> None:
    text = json.dumps(ping(77))
    with raw_socket(server) as raw:
        raw.sendall(frame(text[:5], fin=False) + frame(b"between", Opcode.PING) + frame(text[5:].encode(), Opcode.CONT))
        raw.sendall(said(ping(78)))
        assert [each["n"] for each in answers(raw, 2)] == [77, 78]


async def test_whoever_goes_in_the_middle_of_anything_leaves_nothing_behind(server: Server, guest: Guest) -> None:
    async with connected(server, guest) as client:
        game = await client.open("strategic")
    topics = ({"type": "subscribe", "topic": topic} for topic in (f"game/{game.hex()}", "lobby", "me"))
    asked = b"".join(map(said, topics)) + said({"type": "meet", "id": "m", "rules": RULES, "mode": "strategic"})
    for end in range(0, len(asked), 7):
        raw = raw_socket(server, guest)
        raw.sendall(asked[:end])
        raw.close()
    await eventually(lambda: standing(server) == {"sockets": 0, "sessions": 0, "subscriptions": 0})


def standing(server: Server) -> dict[str, int]:
    with server.http() as http:
        text = http.get("/metrics").text
    names = ("sockets", "sessions", "subscriptions")
    return {name: int(float(re.findall(rf"^statecraft_{name} (.*)$", text, re.M)[0])) for name in names}


@pytest.mark.parametrize("path", BOTH_PATHS)
async def test_what_was_asked_before_a_server_stops_is_answered_and_then_it_says_so(
    tmp_path: Path, path: dict[str, str]
) -> None:
    with serving(tmp_path, path) as server:
        guest = server.join()
        async with connected(server, guest) as client:
            followed = await client.follow(await client.open())
            await client.mix(followed)
            assert followed.hand is not None
            command = {"do": "Play", "battle": 1, "card": followed.hand[0]}
            await client.send({"type": "do", "id": "last", "game": followed.game.hex(), "command": command})
            await client.until(lambda: followed.battle == 2)
            with raw_socket(server) as idle:
                server.send_signal(signal.SIGTERM)
                assert await client.close_code() == 1012
                assert await asyncio.to_thread(closed_with, idle) == 1012
            assert client.answers["last"][0]["type"] == "done"
        assert server.stop() == -signal.SIGTERM
