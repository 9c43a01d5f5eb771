"""RedisLog and RedisLedger over real servers, for the contract tests and the faults'.

A Redis, a Valkey, a primary under Sentinels and a cluster are each started once for all tests of a process, and emptied
for each.
"""

import atexit
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from events.redis_address import address
from events.redis_connection import Reply, Value
from events.redis_durability import durability
from events.redis_script import Script
from events.redis_scripts import NOW_MS
from events.redis_store import RedisStore
from events.redis_topology import Patience
from tests.redis_servers import DURABLE, RedisServer, start_cluster, start_sentinels


class Clocked(RedisStore):
    """A store whose scripts read a clock that stands still until it is told to go on; else it is as it is."""

    now_ms = 1_800_000_000_000

    async def pass_ms(self, ms: int) -> None:
        self.now_ms += ms

    async def write(self, tag: bytes, script: Script, keys: Sequence[bytes], arguments: Sequence[Value]) -> Reply:
        return await super().write(tag, self._clocked(script), keys, arguments)

    async def read_by(self, tag: bytes, script: Script, keys: Sequence[bytes], arguments: Sequence[Value]) -> Reply:
        return await super().read_by(tag, self._clocked(script), keys, arguments)

    def _clocked(self, script: Script) -> Script:
        if NOW_MS not in script.text:
            return script
        first, _, text = script.text.partition("\n")
        flags = first.partition("flags=")[2]
        return Script(text.replace(NOW_MS, f"local function clock_ms() return {self.now_ms} end"), flags)


@asynccontextmanager
async def redis_store(url: str, promise: str = "fsync", patience: Patience | None = None) -> AsyncIterator[RedisStore]:
    store = await RedisStore.open(address(url), durability(promise), patience)
    try:
        yield store
    finally:
        await store.close()


@dataclass(frozen=True, slots=True)
class Shared:
    url: str
    promise: str
    primaries: Callable[[], Awaitable[list[RedisServer]]]


_started: dict[str, Shared] = {}


async def shared(name: str) -> Shared:
    """`redis`, `valkey`, `sentinel` or `cluster`, and empty."""
    if name not in _started:
        folder = tempfile.TemporaryDirectory(prefix="statecraft-redis-")
        _started[name], servers = await _START[name](Path(folder.name))

        def end() -> None:
            for server in servers:
                server.kill()
            folder.cleanup()

        atexit.register(end)
    found = _started[name]
    for primary in await found.primaries():
        await primary("FLUSHALL")
    return found


async def _server(folder: Path, kind: str) -> tuple[Shared, list[RedisServer]]:
    server = await RedisServer(folder, kind, DURABLE).start()

    async def primaries() -> list[RedisServer]:
        return [server]

    return Shared(server.url, "fsync", primaries), [server]


async def _sentinels(folder: Path) -> tuple[Shared, list[RedisServer]]:
    watched = await start_sentinels(folder, min_replicas_to_write=1)

    async def primaries() -> list[RedisServer]:
        return [await watched.primary()]

    return Shared(watched.url, "replicated 1", primaries), [*watched.servers, *watched.sentinels]


async def _cluster(folder: Path) -> tuple[Shared, list[RedisServer]]:
    whole = await start_cluster(folder, min_replicas_to_write=1)

    async def primaries() -> list[RedisServer]:
        return list({id(each): each for each in [await whole.holder(slot) for slot in (0, 8000, 16_383)]}.values())

    return Shared(whole.url, "replicated 1", primaries), whole.servers


_START: dict[str, Callable[[Path], Awaitable[tuple[Shared, list[RedisServer]]]]] = {
    "redis": lambda folder: _server(folder, "redis"),
    "valkey": lambda folder: _server(folder, "valkey"),
    "sentinel": _sentinels,
    "cluster": _cluster,
}


@asynccontextmanager
async def shared_store(name: str) -> AsyncIterator[Clocked]:
    found = await shared(name)
    store = await Clocked.open(address(found.url), durability(found.promise))
    try:
        yield store
    finally:
        await store.close()
