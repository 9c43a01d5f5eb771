"""docs/redis.md's drill as it stands there: a snapshot beside play, Redis and its disk lost, and every head again."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from events.redis_log import RedisLog
from projections import saved
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import ROOT, all_signed, connected, eventually, serving, wait_seconds_max
from tests.test_backup import play, signed

pytestmark = pytest.mark.anyio

TEXT = (ROOT / "docs" / "redis.md").read_text()


def drill(name: str, **places: object) -> str:
    """Run what stands there, but for a last line that serves."""
    (block,) = re.findall(rf"```sh drill {re.escape(name)}\n(.*?)```", TEXT, re.S)
    lines = [line for line in block.splitlines() if "./statecraft serve" not in line]
    script = "\n".join(lines).replace("./statecraft", f"{sys.executable} -m server")
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **{each: str(place) for each, place in places.items()}},
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


def test_every_drill_is_run_here() -> None:
    assert re.findall(r"```sh drill (.*)", TEXT) == ["Redis", "Redis, afterwards", "Redis, refilled"]


@pytest.mark.thorough
async def test_after_the_loss_of_redis_every_head_of_the_snapshot_and_every_signed_result_is_there(
    tmp_path: Path, redis: RedisServer
) -> None:
    (far := tmp_path / "far").mkdir()
    places = {"STORE": redis.url, "REDIS": redis.folder, "BACKUPS": far, "SAFE": far}
    environment = {"STATECRAFT_STORE": redis.url}
    with serving(tmp_path, environment) as server:
        guests = [server.join() for _ in range(3)]
        whole = await play(server, guests[0], 1)
        begun = [await play(server, guest, 0, battles) for battles, guest in enumerate(guests[1:], 3)]
        await asyncio.to_thread(signed, server, 4)
        await asyncio.to_thread(drill, "Redis", DATA=server.data, **places)
        kept = {each.game: each.head for each in (whole, *begun)}
        # What comes after it: a result that is signed, and moves of a game that goes on.
        later = await play(server, guests[0], 5)
        async with connected(server, guests[1]) as client:
            held = await client.follow(begun[0].game)
            await client.play(held)
        with server.http() as http:
            at = await asyncio.to_thread(all_signed, http)
    redis.kill()
    for name in ("appendonlydir", "dump.rdb"):
        found = redis.folder / name
        shutil.rmtree(found) if found.is_dir() else found.unlink(missing_ok=True)
    shutil.rmtree(server.data / "keys")
    (server.data / "keys").mkdir(mode=0o700)

    await asyncio.to_thread(drill, "Redis, afterwards", **places)
    await redis.start()
    async with redis_store(redis.url) as store:
        log = RedisLog(store)
        assert {game: await log.head(game) for game in kept} == kept
    assert f"the {at['leaves']} leaves" in await asyncio.to_thread(drill, "Redis, refilled", DATA=server.data, **places)
    with serving(tmp_path, environment) as server:
        for each in (whole, later):
            assert server.audit(each.game).over
            assert each.head.version == len(saved.load(server.export(each.game)).events)
        async with connected(server, guests[1]) as client:
            held = await client.follow(begun[0].game)
            assert held.head == begun[0].head
            await client.play_on(held, Random(3))
        with server.http() as http:
            await eventually(lambda: http.get("/api/ledger").json()["signed"] == at["leaves"] + 1)
            assert http.get("/api/ledger").json()["not_signed_because"] is None
