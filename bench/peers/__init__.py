"""The peers: what the field offers for the same work. Here: which there are, which are missing, and how one runs.

`scripts/setup bench` installs them. A report names those that aren't there."""

import contextlib
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.measure import Row, Series
from bench.processes import Process

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Peer:
    """A program in this folder, and the packages that it stands for."""

    name: str
    """As reports call it."""
    program: str
    packages: tuple[str, ...]

    @property
    def on_node(self) -> bool:
        return self.program.endswith(".mjs")


WS = Peer("ws on node", "ws.mjs", ("ws",))
SOCKET_IO = Peer("socket.io + SQLite FULL", "socketio.mjs", ("socket.io", "better-sqlite3"))
COLYSEUS = Peer("Colyseus, nothing stored", "colyseus.mjs", ("@colyseus/core", "@colyseus/ws-transport"))
EMMETT = Peer("emmett on SQLite", "emmett.mjs", ("@event-driven-io/emmett", "@event-driven-io/emmett-sqlite"))
SOURCED = Peer("eventsourcing on SQLite", "sourced.py", ("eventsourcing",))
CALLS = Peer("Starlette + redis-py call by call", "call_by_call.py", ("starlette", "redis"))
PEERS = (WS, SOCKET_IO, COLYSEUS, EMMETT, SOURCED, CALLS)


def installed(peer: Peer) -> Mapping[str, str | None]:
    """The version of each of its packages; None where one is missing."""
    return {package: _node(package) if peer.on_node else _python(package) for package in peer.packages}


def missing(peers: Iterable[Peer]) -> list[str]:
    """A sentence about each that can't be measured here."""
    found = []
    for peer in peers:
        lacks = [package for package, there in installed(peer).items() if there is None]
        if peer.on_node and shutil.which("node") is None:
            lacks.insert(0, "node")
        if lacks:
            found.append(f"NOT MEASURED: {peer.name}; missing: {', '.join(lacks)} (scripts/setup bench installs it)")
    return found


def versions() -> dict[str, str]:
    """Of all that is installed."""
    return {package: there for peer in PEERS for package, there in installed(peer).items() if there is not None}


@contextlib.contextmanager
def running(peer: Peer, folder: Path, *given: str) -> Iterator[Process | None]:
    """None, if it is missing; say so with `missing`. `folder` is made for it."""
    if missing([peer]):
        yield None
        return
    folder.mkdir(parents=True)
    program = str(HERE / peer.program)
    command = ["node", program] if peer.on_node else [sys.executable, "-m", f"{__name__}.{Path(program).stem}"]
    process = Process([*command, *given], "listening at ", folder)
    try:
        yield process
    finally:
        process.end()


def rows(what: str, unit: str, found: Mapping[str, Series], goals: Mapping[str, str]) -> list[Row]:
    """The product in `found` against each that was measured beside it. `goals`: by the other side's name."""
    return [Row(what, unit, found["product"], found[name], goal) for name, goal in goals.items() if name in found]


def _node(package: str) -> str | None:
    described = HERE / "node_modules" / package / "package.json"
    return str(json.loads(described.read_text())["version"]) if described.is_file() else None


def _python(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
