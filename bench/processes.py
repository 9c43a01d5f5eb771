"""The processes under measurement: the product's server, and what it is compared with. Ended by their own ids."""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.measure import cpu_seconds, memory_bytes
from projections.audit import audit_file
from projections.saved import load

ROOT = Path(__file__).parent.parent
READY_SECONDS_MAX = 120
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None)


class Process:
    """A child that says where it listens in a line of its own. It ends with the bench, however that ends."""

    def __init__(self, command: list[str], saying: str, folder: Path, **settings: str) -> None:
        self._out = folder / "out.txt"
        self._errors = folder / "err.txt"
        began = time.monotonic()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "STATECRAFT_CONNECTIONS_MAX": "100000", **settings}
        with self._out.open("wb") as out, self._errors.open("wb") as errors:
            self._child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=out,
                stderr=errors,
                preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        try:
            said = self._wait_for(saying)
        except BaseException:
            self.end()
            raise
        self.ready_seconds = time.monotonic() - began
        self.address = self._address(said)

    def _address(self, said: str) -> tuple[str, int]:
        host, port = said.removeprefix("http://").strip("/").rsplit(":", 1)
        return host, int(port)

    def _wait_for(self, saying: str) -> str:
        end = time.monotonic() + READY_SECONDS_MAX
        while True:
            for line in self._out.read_text().splitlines(keepends=True):
                if saying in line and line.endswith("\n"):
                    return line.partition(saying)[2].strip()
            if self._child.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"it isn't ready: {self._errors.read_text()}")
            time.sleep(0.002)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    @property
    def memory_bytes(self) -> int:
        return memory_bytes(self.pid)

    def end(self) -> None:
        self._child.terminate()
        try:
            self._child.wait(30)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class Product(Process):
    """`statecraft serve` on a data directory; on a Redis, if one is given."""

    def __init__(self, data: Path, redis: "Redis | None" = None) -> None:
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "server", "serve", "--port", "0", "--data", str(data)]
        super().__init__(command, "Statecraft is at ", data, STATECRAFT_STORE="" if redis is None else redis.url)

    def _ask(self, method: str, path: str, body: Any = None) -> bytes:
        connection = HTTPConnection(*self.address)
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {} if text is None else {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {data!r}")
        return data

    def join(self) -> tuple[bytes, str]:
        """A new guest: player id and token."""
        joined = json.loads(self._ask("POST", "/api/session", {"keep": "bearer"}))
        return bytes.fromhex(joined["player"]), joined["token"]

    def settle(self) -> None:
        """Wait until openings and results are in the signed ledger, and folded from there: all that is done for them
        beside play."""
        end = time.monotonic() + READY_SECONDS_MAX
        while not _is_settled(json.loads(self._ask("GET", "/api/ledger"))):
            assert time.monotonic() < end
            time.sleep(0.05)

    def check(self, game: bytes, seen: list[bytes]) -> None:
        """Audit the game as it is given away, and hold it against what a client saw. Raises AssertionError."""
        assert self.audited(game) == seen, f"{game.hex()}: the client saw another log"

    def audited(self, game: bytes) -> list[bytes]:
        """The bodies of its events, once it has passed. Raises AssertionError."""
        saved = self._ask("GET", f"/api/games/{game.hex()}/export")
        findings = audit_file(saved)
        assert findings.passed, f"{game.hex()}: {findings.failure}"
        return [event.body for event in load(saved).events]


def _is_settled(ledger: Any) -> bool:
    folded = [each["as_of"] or 0 for each in ledger["projections"].values()]
    return bool(ledger["partitions_waiting"] == 0 and min(ledger["signed"], *folded) == ledger["leaves"])


class Redis(Process):
    """A real server that has stored, with an fsync, what it answers. Raises FileNotFoundError if it isn't installed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._port = _free_port()
        settings = {
            "port": str(self._port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "maxmemory-policy": "noeviction",
        }
        given = [word for name, value in settings.items() for word in (f"--{name}", value)]
        super().__init__([REDIS, *given], "Ready to accept connections", folder)

    def _address(self, said: str) -> tuple[str, int]:
        return "127.0.0.1", self._port

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._port}"

    def kept_bytes(self) -> int:
        """What it says that its data take, in memory."""
        with socket.create_connection(self.address) as connection:
            connection.sendall(b"INFO memory\r\n")
            return int(connection.recv(65_536).partition(b"used_memory_dataset:")[2].split(b"\r", 1)[0])


REDIS = shutil.which("redis-server") or "redis-server"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextlib.contextmanager
def store(on: str, folder: Path) -> Iterator[Redis | None]:
    """Of `sqlite` or `redis`: None is the embedded file."""
    if on == "sqlite":
        yield None
        return
    running = Redis(folder)
    try:
        yield running
    finally:
        running.end()


@contextlib.contextmanager
def product(folder: Path, redis: Redis | None = None) -> Iterator[Product]:
    running = Product(folder, redis)
    try:
        yield running
    finally:
        running.end()


@contextlib.contextmanager
def floor(folder: Path, *given: str) -> Iterator[Process]:
    """One of bench/floors.py."""
    folder.mkdir(parents=True, exist_ok=True)
    running = Process([sys.executable, "-m", "bench.floors", *given], "listening at ", folder)
    try:
        yield running
    finally:
        running.end()
