"""Servers as of several machines: a data directory each, one Redis, one archive, and keys that were copied."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.redis_servers import RedisServer
from tests.running import Server


class Machine(Server):
    def __init__(self, folder: Path, redis: RedisServer, archive: Path, **environment: str) -> None:
        folder.mkdir(parents=True)
        self.environment = {"STATECRAFT_STORE": redis.url, "STATECRAFT_ARCHIVE": str(archive), **environment}
        super().__init__(folder, self.environment)

    @property
    def keys(self) -> Path:
        return self.data / "keys"

    def copy_keys(self, other: "Machine", *names: str) -> None:
        self.keys.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in names or ("operator-1.key", "ledger.key"):
            (self.keys / name).write_bytes((other.keys / name).read_bytes())


@contextmanager
def machines(folder: Path, redis: RedisServer, **environment: str) -> Iterator[tuple[Machine, Machine]]:
    """Two that run, either of which may sign."""
    first = Machine(folder / "one", redis, folder / "archive", **environment)
    second = Machine(folder / "two", redis, folder / "archive", **environment)
    try:
        first.start()
        second.copy_keys(first)
        second.start()
        yield first, second
    finally:
        for server in (first, second):
            if server.running:
                assert server.stop() == -15
    for server in (first, second):
        assert "Traceback" not in server.errors
