"""Servers over one Redis: what is folded is there as well, read by all of them and rebuilt by the command line."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from events import entries
from projections.leaderboard import LADDERS, LEADERBOARD, Board
from projections.projection import digest, fold
from server.projected import Projected
from server.projector import PROJECTIONS
from server.rebuilding import NAMES
from server.redis_projected import RedisProjected
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import Server, all_signed, connected, eventually
from tests.test_cli import run
from tests.test_projector import contents, places, rebuilt
from tests.test_public import checkpoint, leaves
from tests.test_rebuild import spoil
from tests.test_servers import Other

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


async def games(server: Server, count: int) -> None:
    async with connected(server, server.join()) as client:
        for number in range(count):
            followed = await client.follow(await client.open())
            await client.play_on(followed, Random(number))


async def settled(http: httpx.Client) -> int:
    size: int = (await asyncio.to_thread(all_signed, http))["leaves"]

    def at_the_end() -> bool:
        told = http.get("/api/ledger").json()["projections"]
        return all(each == {"as_of": size, "trouble": None} for each in told.values())

    await eventually(at_the_end)
    return size


async def all_is_as_published(store: Projected, servers: list[Server]) -> None:
    """Rows and boards are a fold of what any of these servers publishes, and each of them shows them."""
    for server in servers:
        with server.http() as http:
            size = await settled(http)
            published = [entries.decode(body) for body in leaves(http, checkpoint(http).size)]
            assert len(published) == size
            rows = fold(LEADERBOARD, enumerate(published))
            for ladder in LADDERS[:2]:
                board = Board(ladder, "wins", "all")
                expected = [
                    (place.rank, place.position, place.player.hex(), place.value, place.entry)
                    for place in places(board, rows)
                ]
                assert shown(http.get(f"/api/boards/{'/'.join(board)}").json(), size) == expected
    for projection in PROJECTIONS:
        at, stored = await contents(store, projection.name)
        while at.as_of < size:  # one that somebody went back to is noticed a little later
            await asyncio.sleep(0.05)
            at, stored = await contents(store, projection.name)
        assert stored == rebuilt(projection, published)
        assert (at.as_of, at.digest) == (size, digest(stored.items()))


def shown(told: Any, size: int) -> list[tuple[int, int, str, int, int]]:
    assert (told["as_of"], told["size"]) == (size, len(told["places"]))
    return [tuple(place[name] for name in ("rank", "position", "player", "value", "index")) for place in told["places"]]


@pytest.mark.thorough
async def test_all_servers_show_one_fold_and_the_command_line_rebuilds_it(tmp_path: Path, redis: RedisServer) -> None:
    environment = {"STATECRAFT_STORE": redis.url}
    first = Server(tmp_path, environment)
    second = Other(tmp_path / "other", first, redis)

    async def commanded(*words: str) -> tuple[int, str]:
        done = await asyncio.to_thread(run, "rebuild", *words, "--data", first.data, **environment)
        return done.returncode, done.stdout

    for server in (first, second):
        await asyncio.to_thread(server.start)
    async with redis_store(redis.url) as opened:
        store = RedisProjected(opened)
        await asyncio.gather(games(first, 3), games(second, 3))
        await all_is_as_published(store, [first, second])
        assert not list(first.data.glob("boards.db*"))
        code, said = await commanded()
        assert (code, said.count("as the one before, which is kept")) == (0, len(NAMES))
        await games(second, 1)
        assert (await commanded("rivals", "--back"))[0] == 0
        await all_is_as_published(store, [first, second])
        # Whoever folded is gone; the other goes on.
        await asyncio.to_thread(first.kill)
        await games(second, 1)
        await all_is_as_published(store, [second])
        key = await spoil(store, "leaderboard")
        code, said = await commanded("leaderboard")
        assert (code, f"other rows: {key.hex()}" in said) == (1, True)
        assert (await commanded("leaderboard", "--force"))[0] == 0
        await all_is_as_published(store, [second])
    with second.http() as http:
        audited = await asyncio.to_thread(run, "audit", "--all", str(http.base_url), "--state", tmp_path / "seen")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert second.stop() == -15
    assert "Traceback" not in second.errors
