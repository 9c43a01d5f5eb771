"""A game of thousands of battles, read from its beginning: no faster than the reader reads, and nothing is lost."""

import asyncio
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgpack
import pytest
from websockets.frames import Opcode

from events.database import Database
from events.log import Batch
from events.sqlite import SqliteLog
from rules.war import CLASSIC
from server.clock import now_ms
from server.outgoing import ROOM_BYTES
from tests.positions import Played
from tests.running import (
    BOTH,
    JSON,
    MSGPACK,
    PATHS,
    Followed,
    Guest,
    Server,
    connected,
    eventually,
    frame,
    plain,
    raw_socket,
    serving,
    wait_seconds_max,
)

pytestmark = pytest.mark.anyio

SEED = 83_385_644
"""Of the longest game known with one card down: 4,206 battles."""
BATTLES = 4_150
TURN_MS = 1_500
"""What passes between two of its turns as `Played` dates them; a game that opened long ago is over."""


@dataclass(frozen=True, slots=True)
class Stage:
    server: Server
    guest: Guest
    game: bytes
    version: int
    """Of the last event before a test begins; tests play on."""


@pytest.fixture(scope="module", params=PATHS)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with serving(tmp_path_factory.mktemp("backlog"), request.param) as server:
        guest = server.join()
        settings = (("down", 1), ("seed", SEED))
        player = bytes.fromhex(guest.player)
        began_ms = now_ms() - BATTLES * TURN_MS
        played = Played("house", now_ms=began_ms, rules=CLASSIC, settings=settings, player=player).begin(mix=False)
        while played.table.position.battle <= BATTLES:
            assert played.turn() is None
        asyncio.run(store(server, played))
        yield Stage(server, guest, played.game, played.head.version)


async def store(server: Server, played: Played) -> None:
    database = await Database.open(server.data / "statecraft.db", shared=True)
    log = SqliteLog(database)
    await log.append(played.game, await log.head(played.game), Batch(tuple(played.events)))
    await database.close()


def subscribe(game: bytes, subprotocol: str, type_: str = "subscribe") -> bytes:
    return packed({"type": type_, "topic": f"game/{game.hex()}"}, subprotocol)


def packed(message: dict[str, Any], subprotocol: str) -> bytes:
    return frame(json.dumps(message) if subprotocol == JSON else msgpack.packb(message))


class Reading:
    """What comes out of a socket, a message at a time, no faster than it is asked for."""

    def __init__(self, raw: socket.socket) -> None:
        self._raw = raw
        self._stream = bytearray()

    def message(self) -> Any:
        """Raises ConnectionError with the code where the server closed."""
        size, start = self._need(2)[1], 2
        if size > 125:
            width = 2 if size == 126 else 8
            size, start = int.from_bytes(self._need(2 + width)[2 : 2 + width], "big"), 2 + width
        whole = bytes(self._need(start + size)[: start + size])
        del self._stream[: start + size]
        payload = whole[start:]
        match whole[0] & 15:
            case Opcode.TEXT:
                return plain(json.loads(payload))
            case Opcode.BINARY:
                return plain(msgpack.unpackb(payload))
            case Opcode.CLOSE:
                raise ConnectionError(int.from_bytes(payload[:2], "big"))
            case _:
                return self.message()

    def _need(self, count: int) -> bytearray:
        while len(self._stream) < count:
            piece = self._raw.recv(4096)
            if not piece:
                raise ConnectionError("it ended without a close")
            self._stream += piece
        return self._stream


async def turn_on(stage: Stage, times: int) -> Followed:
    """So many battles more by the game's player, who starts from its end."""
    async with connected(stage.server, stage.guest, MSGPACK) as client:
        followed = await client.follow(stage.game)
        await client.until(lambda: followed.table is not None)
        for _ in range(times):
            done = await client.do(stage.game, {"do": "Turn", "battle": followed.battle, "times": 1})
            assert done["type"] == "done", done
            await client.until(lambda version=done["version"]: followed.head.version >= version)  # type: ignore[misc]
        return followed


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_who_reads_slowly_gets_a_long_game_whole_and_what_happens_meanwhile_once(
    stage: Stage, subprotocol: str
) -> None:
    with raw_socket(stage.server, None, subprotocol) as raw:
        # The first fill what the two systems keep for a slow reader; the last replaces them.
        raw.sendall(subscribe(stage.game, subprotocol) * 12)
        reading, slow = Reading(raw), Followed(stage.game)
        assert reading.message()["type"] == "hello"
        for round_ in range(3):
            ahead = await turn_on(stage, 2)
            # The first two rounds leave it in the middle of the last backlog.
            until_version = ahead.head.version if round_ == 2 else (round_ + 1) * ahead.head.version // 4
            while len(slow.starts) < 12 or slow.head.version < until_version:
                message = await asyncio.to_thread(reading.message)
                slow.take(message)  # asserts that each frame continues the last
        assert slow.events == ahead.events
        assert slow.battle == ahead.battle
        assert len(slow.starts) == 12
        ahead = await turn_on(stage, 1)
        while slow.head.version < ahead.head.version:
            slow.take(await asyncio.to_thread(reading.message))
        assert slow.events == ahead.events


@pytest.mark.parametrize("subprotocol", BOTH)
async def test_who_waits_for_a_backlog_is_still_heard_and_may_unsubscribe_from_it(
    stage: Stage, subprotocol: str
) -> None:
    guest = stage.server.join()
    with raw_socket(stage.server, guest, subprotocol) as raw:
        # Twelve don't fit into the way out and the two systems' buffers.
        raw.sendall(subscribe(stage.game, subprotocol) * 12 + subscribe(stage.game, subprotocol, "unsubscribe"))
        opening = {"type": "open", "id": "o", "rules": "classic/1", "mode": "house", "settings": {"seed": 1}}
        raw.sendall(packed(opening, subprotocol))
        async with connected(stage.server, guest) as other:
            for _ in range(10 * wait_seconds_max):
                if (await other.ask("meet", rules="classic/1", mode="house"))["live"]:
                    break
                await asyncio.sleep(0.1)
        # All of that was done, and nothing has been read yet.
        reading, followed = Reading(raw), Followed(stage.game)
        while (message := await asyncio.to_thread(reading.message))["type"] != "done":
            followed.take(message)
        assert followed.head.version < stage.version
        raw.sendall(packed({"type": "ping", "n": 2}, subprotocol))
        assert await asyncio.to_thread(reading.message) == {"type": "pong", "n": 2}


async def test_many_who_do_not_read_a_long_backlog_leave_the_memory_flat(stage: Stage) -> None:
    await turn_on(stage, 1)  # so that the fold is in memory before it is measured
    server, readers = stage.server, 8
    sockets, before_bytes = server.sockets, server.memory_bytes
    stalled = [raw_socket(server) for _ in range(readers)]
    for raw in stalled:
        raw.sendall(subscribe(stage.game, JSON) * 5)
    await turn_on(stage, 5)
    # What waits for each, a page, and what the loop's transport holds.
    assert server.memory_bytes - before_bytes < readers * 3 * ROOM_BYTES
    for raw in stalled:
        raw.close()
    await eventually(lambda: server.sockets <= sockets)
