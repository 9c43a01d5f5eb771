"""The processes of the compose file by hand: its Redis, its two servers, and its balancer between them and people."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from tests.redis_servers import RedisServer
from tests.running import ROOT, Server, all_signed, eventually, free_port, until
from tests.test_compose import COMPOSE, TOOLS, config
from tests.test_kill_ledger import Person as Loner
from tests.test_rolling import assert_kept, met, slowly

pytestmark = pytest.mark.anyio

SAVES = "3600 1 300 100 60 10000"
"""What Redis does where nothing is said."""
NAMES = ("one", "two")


class Balancer(Server):
    """Caddy of the image's version, with the file that the engine gives it; names there are places here."""

    def __init__(self, folder: Path, places: Mapping[str, str]) -> None:
        folder.mkdir()
        super().__init__(folder, {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}, free_port())
        text = (ROOT / "deploy" / "Caddyfile").read_text()
        self.url = f"http://127.0.0.1:{self._port}"
        for name, place in {**places, ":80 {": f"{self.url} {{"}.items():
            assert text.count(name) == 1, name
            text = text.replace(name, place)
        self._file = folder / "Caddyfile"
        self._file.write_text(text)

    def start(self) -> "Balancer":
        command = [str(TOOLS / "caddy"), "run", "--adapter", "caddyfile", "--config", str(self._file)]
        with self._out.open("wb") as out, self._err.open("ab") as err:
            self._process = subprocess.Popen(command, env=self._environment, stdout=out, stderr=err)
        until(self._serves)
        return self

    def _serves(self) -> bool:
        assert self.running, self.errors
        try:
            with self.http() as http:
                return http.get("/").status_code == 200
        except httpx.TransportError:
            return False


@dataclass
class Composed:
    redis: RedisServer
    servers: list[Server]
    balancer: Balancer


@asynccontextmanager
async def composed(folder: Path) -> AsyncIterator[Composed]:
    """All of it, started in the order that the file asks for."""
    done = config(COMPOSE)
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    words = services["redis"]["command"]
    options = dict(zip((word.removeprefix("--") for word in words[1::2]), words[2::2], strict=True))
    redis = await RedisServer(folder / "redis", config={"save": SAVES, **options}).start()
    ports = [free_port() for _ in NAMES]
    for name in NAMES:
        (folder / name).mkdir()
    first, second = servers = [
        Server(folder / name, environment(services[name], redis, folder / "archive"), port)
        for name, port in zip(NAMES, ports, strict=True)
    ]
    places = {f"{name}:8000": f"127.0.0.1:{port}" for name, port in zip(NAMES, ports, strict=True)}
    balancer = Balancer(folder / "balancer", places)
    second.data.mkdir(parents=True)
    (second.data / "keys").symlink_to(first.data / "keys")  # a volume that both have
    try:
        for each in (first, second, balancer):
            await asyncio.to_thread(each.start)
        yield Composed(redis, servers, balancer)
    finally:
        codes = [await asyncio.to_thread(each.stop) for each in (balancer, *servers) if each.running]
        redis.kill()
    assert codes == [0, -15, -15]
    assert not any("Traceback" in server.errors for server in servers)


def environment(service: Mapping[str, Any], redis: RedisServer, archive: Path) -> dict[str, str]:
    """As the file gives it, and the image."""
    told: dict[str, str] = {name: value or "" for name, value in service["environment"].items()}
    assert told["STATECRAFT_STORE"] == "redis://redis:6379/0"
    return told | {"STATECRAFT_STORE": f"{redis.url}/0", "STATECRAFT_ARCHIVE": str(archive)}


def sockets(server: Server) -> float:
    with server.http() as http:
        (line,) = [row for row in http.get("/metrics").text.splitlines() if row.startswith("statecraft_sockets ")]
    return float(line.split()[1])


@pytest.mark.thorough
async def test_behind_the_balancer_servers_leave_one_after_the_other_redis_is_killed_and_no_move_is_lost(
    tmp_path: Path,
) -> None:
    async with composed(tmp_path) as all_of_it:
        door = all_of_it.balancer
        with door.http() as http:
            assert "Statecraft" in http.get("/").text
            for inside in ("/metrics", "/readyz", "/healthz"):
                assert http.get(inside).status_code == 404
        up = asyncio.Event()
        up.set()
        loners = [Loner(door, up, door.join(), Random(number)) for number in range(2)]
        alone = [asyncio.create_task(loner.play()) for loner in loners]
        games = [await met(door, number) for number in range(2)]
        playing = [asyncio.create_task(slowly(person, game)) for game, pair in games for person in pair]
        await eventually(lambda: all(sockets(server) > 0 for server in all_of_it.servers) or None)
        for server in all_of_it.servers:
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
        all_of_it.redis.kill()
        await all_of_it.redis.start()
        held = await asyncio.gather(*playing)
        for loner in loners:
            loner.last = True
        await asyncio.gather(*alone)
        assert all(each.over for each in held)
        for game, pair in games:
            await assert_kept(door, game, pair)
        alone_games = [held for loner in loners for held in loner.games.values()]
        assert len(alone_games) >= len(loners)
        with all_of_it.servers[0].http() as http:
            at = await asyncio.to_thread(all_signed, http)
        assert at["leaves"] == 2 * (len(games) + len(alone_games))
