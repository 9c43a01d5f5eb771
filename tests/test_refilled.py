"""A Redis that lost signed leaves in a failover: nothing is signed until the archive has refilled the ledger."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from server.archive import DirectoryArchive
from server.keys import ledger_key
from server.refill import last_signed
from server.signer import signer
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import Followed, Guest, Server, connected, eventually, serving
from tests.test_backup import signed, well
from tests.test_forked import forget, remember

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


async def play(server: Server, guest: Guest, seed: int) -> Followed:
    async with connected(server, guest) as client:
        held = await client.follow(await client.open())
        await client.play_on(held, Random(seed))
        return held


@pytest.mark.thorough
async def test_after_a_failover_that_lost_leaves_the_ledger_is_refilled_to_the_signed_size_and_goes_on(
    tmp_path: Path, redis: RedisServer
) -> None:
    store = {"STATECRAFT_STORE": redis.url}
    with serving(tmp_path, store) as server:
        guests = [server.join() for _ in range(2)]
        first = await play(server, guests[0], 1)
        await eventually(lambda: signed(server, 2))
    await remember(redis, tmp_path / "kept")
    with serving(tmp_path, store) as server:
        lost = [await play(server, guest, number) for number, guest in enumerate(guests, 2)]
        await eventually(lambda: signed(server, 6))
    # The servers are gone with it, so nobody puts anything back.
    await forget(redis, tmp_path / "kept")

    with serving(tmp_path, store) as server:

        def refusal() -> str | None:
            with server.http() as http:
                why: str | None = http.get("/api/ledger").json()["not_signed_because"]
            return why

        assert "6 leaves" in await eventually(refusal)
    data = server.data
    said = await asyncio.to_thread(well, "refill", "--data", data, **store)
    assert "has the 6 leaves that were signed; 2 games got events back" in said
    note = await last_signed(DirectoryArchive(data / "archive"), signer(ledger_key(data / "keys")).key, data / "keys")
    async with redis_store(redis.url) as opened:
        log, ledger = RedisLog(opened), RedisLedger(opened)
        head = await ledger.head()
        assert (head.size, head.root) == (6, note.checkpoint.root)
        for each in (first, *lost):
            assert list(await log.read(each.game)) == each.events
    # A second time there is nothing to do.
    assert "0 games got events back" in await asyncio.to_thread(well, "refill", "--data", data, **store)

    with serving(tmp_path, store) as server:
        more = await play(server, guests[0], 9)
        await eventually(lambda: signed(server, 8))
        for each in (*lost, more):
            assert server.audit(each.game).over
        said = await asyncio.to_thread(well, "audit", "--all", data / "archive", "--state", tmp_path / "seen")
        assert "PASSED: 8 leaves, 4 closed games, 0 open" in said
