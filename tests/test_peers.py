"""The bench's peers: each is measured or named, what they tell is checked, and nothing stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, broadcast, serve

from bench import peers
from bench.clients import SUBPROTOCOL, Watcher
from bench.commands import Step
from bench.peers import CALLS, PEERS, Peer, missing, moves, running
from bench.peers.calls import calls
from bench.peers.folding import GOALS as FOLDED
from bench.peers.folding import folds
from bench.peers.moves import BINARY, Duel, Seat
from bench.processes import store
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parent.parent


async def test_each_peer_of_a_command_is_measured_or_named(tmp_path: Path) -> None:
    with moves.moves(tmp_path) as others:
        sides = await others.sides(2)
        for measured in sides.values():
            assert await measured() > 0
            assert await measured() > 0, "its games go on"
    for name in moves.GOALS:
        assert (name in sides) != any(f"NOT MEASURED: {name};" in note for note in others.notes)


async def test_each_peer_of_a_fold_is_measured_or_named(tmp_path: Path) -> None:
    async with folds(tmp_path, 30) as sides:
        for measured in sides.values():
            assert await measured() > 0
            assert await measured() > 0
    named = missing(PEERS)
    for name in FOLDED:
        lacks = [note for note in named if name.startswith(note.removeprefix("NOT MEASURED: ").partition(";")[0])]
        assert (name in sides) != bool(lacks)


def test_a_peer_that_lacks_a_package_is_named_and_not_run(tmp_path: Path) -> None:
    for program in ("ws.mjs", "sourced.py"):
        peer = Peer("nobody's", program, ("nobody-wrote-this",))
        assert missing([peer]) == [
            "NOT MEASURED: nobody's; missing: nobody-wrote-this (scripts/setup bench installs it)"
        ]
        with running(peer, tmp_path / program) as process:
            assert process is None


def test_every_program_is_there_and_its_packages_are_locked() -> None:
    lock = (Path(peers.__file__).parent / "package-lock.json").read_text()
    pins = (ROOT / "requirements" / "bench.txt").read_text()
    for peer in PEERS:
        assert (Path(peers.__file__).parent / peer.program).is_file()
        for package in peer.packages:
            found = f'"node_modules/{package}"' in lock if peer.on_node else f"\n{package}==" in f"\n{pins}"
            assert found, package


# ---------------------------------------------------------------- a duel


@asynccontextmanager
async def told(added: int) -> AsyncIterator[Duel]:
    """Over a server that tells both seats what one of them sent; the duel expects `added` to it."""
    everybody: set[ServerConnection] = set()

    async def attend(connection: ServerConnection) -> None:
        everybody.add(connection)
        async for message in connection:
            broadcast(everybody, message)

    spoken: Any = [SUBPROTOCOL]
    async with serve(attend, "127.0.0.1", 0, compression=None, subprotocols=spoken, close_timeout=0) as server:
        address = next(iter(server.sockets)).getsockname()
        seats = [await Seat.of(address) for _ in (0, 1)]
        duel = Duel(seats, BINARY, lambda n: bytes([n]), lambda n: bytes([n + added]))
        yield duel
        duel.close()


async def test_a_duel_ends_when_both_were_told_every_move() -> None:
    async with told(0) as duel:
        await asyncio.wait_for(duel.play(5), wait_seconds_max)
        await asyncio.wait_for(duel.play(5), wait_seconds_max)


async def test_a_duel_that_is_told_something_else_fails() -> None:
    async with told(1) as duel:
        with pytest.raises(AssertionError, match=r"b'\\x00' was told, not b'\\x01'"):
            await asyncio.wait_for(duel.play(5), wait_seconds_max)


async def test_a_duel_fails_at_once_when_a_server_ends() -> None:
    async with told(0) as duel:
        playing = duel.play(1_000_000_000)
        await asyncio.sleep(0)
        duel.close()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(playing, wait_seconds_max)


async def test_whoever_waits_for_a_watcher_is_told_when_its_connection_ends() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(Watcher.of(server.sockets[0].getsockname()), wait_seconds_max)


# ---------------------------------------------------------------- call by call


async def test_what_is_made_call_by_call_tells_each_seat_frames_of_the_given_sizes_or_is_named(tmp_path: Path) -> None:
    steps = [Step(141, [75], [[877, 87, 119], [877, 87]]), Step(105, [75, 42], [[130, 87], [877]])]
    with store("redis", tmp_path / "redis") as redis:
        async with calls(tmp_path, redis, steps, 2, 4) as sides:
            for measured in sides.values():
                assert await measured() > 0
                assert await measured() > 0
    assert bool(sides) != bool(missing([CALLS]))
    async with calls(tmp_path, None, steps, 2, 4) as none:
        assert none == {}, "it has only Redis"


# ---------------------------------------------------------------- an end


def _children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child)


def _wait(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + wait_seconds_max
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.mark.parametrize(
    "ending",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_a_bench_that_is_interrupted_leaves_no_process_behind(tmp_path: Path, ending: signal.Signals) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    bench = subprocess.Popen(
        [sys.executable, "-m", "bench", "connections"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        _wait("it started nothing", lambda: len(list(_children(bench.pid))) == 2)
        children = list(_children(bench.pid))
    finally:
        bench.send_signal(ending)
        bench.wait(wait_seconds_max)
    _wait("a server is still there", lambda: not any(Path(f"/proc/{child}").exists() for child in children))
