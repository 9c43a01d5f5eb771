"""Rank, around-me and top 100 of a big board in Redis, against bare calls of its sorted set, by one connection."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bench.measure import Measured, Row, Size, alternating, cpu_seconds
from events.redis_address import address
from events.redis_connection import Value
from events.redis_durability import durability
from events.redis_script import Script
from events.redis_store import RedisStore
from events.redis_topology import Patience
from projections.leaderboard import LEADERBOARD, VALUE_MAX, Board
from server import redis_folded_keys as keys
from server.redis_boards import RedisBoards
from server.redis_projected import RedisProjected

AT_ONCE = 100
"""Questions under way."""
ADDED = 1_000
FILL = Script(
    """
    for at = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[at + 1], ARGV[at]) end
    return 1
    """
)


async def rows(size: Size, folder: Path, board: Board, scores: dict[bytes, int], asked: list[bytes]) -> list[Row]:
    """Empty where there is no redis-server."""
    found = shutil.which("redis-server")
    if found is None:
        return []
    async with _served(found, folder) as (store, pid):
        key = await _filled(store, board, scores)
        ranks, tag = RedisBoards(store), keys.tag(LEADERBOARD.name)
        for player in asked[:10]:
            (place,) = (await ranks.of(board, [player])).places
            position = await store.read(tag, "ZRANK", key, player)
            assert (place.position, place.value) == (position, VALUE_MAX - (scores[player] >> 33))

        def bare(*command: Value) -> Callable[[bytes], Awaitable[object]]:
            return lambda player: store.read(tag, *(player if each == b"player" else each for each in command))

        async def around_bare(player: bytes) -> object:
            at = await store.read(tag, "ZRANK", key, player)
            return await store.read(tag, "ZRANGE", key, max(0, at - 5), at + 5, "WITHSCORES")

        questions: list[tuple[str, Callable[[bytes], Awaitable[object]], Callable[[bytes], Awaitable[object]], str]] = [
            ("rank", lambda player: ranks.of(board, [player]), bare("ZREVRANK", key, b"player"), "ZREVRANK"),
            ("around-me", lambda player: ranks.around(board, player, 5), around_bare, "ZRANK, ZRANGE"),
            ("top 100", lambda player: ranks.page(board, 0, 100), bare("ZRANGE", key, 0, 99, "WITHSCORES"), "ZRANGE"),
        ]
        told = []
        for what, ours, theirs, called in questions:
            sides = {"product": _asking(asked, ours, pid), called: _asking(asked, theirs, pid)}
            cpu = await alternating(size.rounds, sides)
            unit = "µs CPU, Redis's too"
            told.append(Row(f"{what} in Redis, {len(scores):,} players", unit, cpu["product"], cpu[called], "≤ 2 ×"))
        return told


@asynccontextmanager
async def _served(command: str, folder: Path) -> AsyncIterator[tuple[RedisStore, int]]:
    socket = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = socket.sockets[0].getsockname()[1]
    socket.close()
    await socket.wait_closed()
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--maxmemory-policy", "noeviction")
    with (folder / "redis.log").open("wb") as log:
        child = subprocess.Popen([command, *options, "--dir", str(folder)], stdout=log, stderr=log)  # noqa: ASYNC220
    try:
        store = await RedisStore.open(
            address(f"redis://127.0.0.1:{port}"), durability("memory"), Patience(connect_seconds_max=60)
        )
        try:
            yield store, child.pid
        finally:
            await store.close()
    finally:
        child.kill()
        child.wait()


async def _filled(store: RedisStore, board: Board, scores: dict[bytes, int]) -> bytes:
    """The board's key, with everybody in it: it is asked as if a fold had put them there."""
    name = LEADERBOARD.name
    live = await RedisProjected(store).begin(name, LEADERBOARD.version, "live")
    key = keys.board(name, live.id, "/".join(board).encode())
    everybody = list(scores.items())
    for first in range(0, len(everybody), ADDED):
        some = [each for row in everybody[first : first + ADDED] for each in row]
        await store.write(keys.tag(name), FILL, (key,), some)
    return key


def _asking(asked: Sequence[bytes], question: Callable[[bytes], Awaitable[object]], pid: int) -> Measured:
    async def ask() -> float:
        began = time.process_time() + cpu_seconds(pid)
        for first in range(0, len(asked), AT_ONCE):
            await asyncio.gather(*map(question, asked[first : first + AT_ONCE]))
        return (time.process_time() + cpu_seconds(pid) - began) / len(asked) * 1e6

    return ask
