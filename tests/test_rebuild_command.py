"""`statecraft rebuild` beside a server that people play on; and what a server rebuilds by itself."""

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from events import entries
from events.database import Database
from projections.projection import digest
from server.projector import PROJECTIONS
from server.rebuilding import NAMES
from server.sqlite_projected import SqliteProjected
from tests.folded import opened
from tests.running import ROOT, Server, all_signed, connected, eventually, serving
from tests.test_cli import run
from tests.test_projector import contents, rebuilt
from tests.test_public import checkpoint, leaves
from tests.test_rebuild import spoil

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def played_on(server: Server, people: int = 2) -> AsyncIterator[None]:
    """Games go on as long as the block lasts, and each is played to its end."""
    ending = asyncio.Event()

    async def play(number: int) -> None:
        guest = server.join()
        while not ending.is_set():
            async with connected(server, guest) as client:
                followed = await client.follow(await client.open())
                await client.play_on(followed, Random(number))

    playing = [asyncio.create_task(play(number)) for number in range(people)]
    try:
        yield
    finally:
        ending.set()
        await asyncio.gather(*playing)


def is_folded(told: Any, size: int) -> bool:
    return all(each == {"as_of": size, "trouble": None} for each in told["projections"].values())


async def settled(http: httpx.Client) -> int:
    """The ledger's size, once all of it is signed and folded."""
    at = await asyncio.to_thread(all_signed, http)
    await eventually(lambda: is_folded(http.get("/api/ledger").json(), at["leaves"]))
    size: int = at["leaves"]
    return size


async def all_is_as_published(server: Server) -> None:
    with server.http() as http:
        size = await settled(http)
        published = [entries.decode(body) for body in leaves(http, checkpoint(http).size)]
    assert len(published) == size
    database = await Database.reader(server.data / "boards.db")
    store = SqliteProjected(database)
    for projection in PROJECTIONS:
        # One that somebody went back to is noticed a little later, and folds on from where it was.
        at, rows = await contents(store, projection.name)
        while at.as_of < size:
            await asyncio.sleep(0.05)
            at, rows = await contents(store, projection.name)
        assert rows == rebuilt(projection, published)
        assert (at.as_of, at.digest) == (size, digest(rows.items()))
    await database.close()


async def test_a_rebuild_beside_play_takes_over_with_the_same_rows_however_often_it_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        async with played_on(server):
            with server.http() as http:
                await eventually(lambda: http.get("/api/ledger").json()["signed"] > 4)
            chance = Random(5)
            for _ in range(2):
                words = [sys.executable, "-m", "server", "rebuild", "--data", str(server.data)]
                killed = await asyncio.create_subprocess_exec(*words, cwd=ROOT, stdout=subprocess.DEVNULL)
                await asyncio.sleep(0.4 + chance.random())
                with contextlib.suppress(ProcessLookupError):
                    killed.kill()
                await killed.wait()
            done = await asyncio.to_thread(run, "rebuild", "--data", server.data)
            assert done.returncode == 0, done.stdout + done.stderr
            assert [line.partition(":")[0] for line in done.stdout.splitlines()] == list(NAMES)
            assert done.stdout.count("is kept") == len(NAMES)
        await all_is_as_published(server)
        back = await asyncio.to_thread(run, "rebuild", "rivals", "--back", "--data", server.data)
        assert back.returncode == 0
        assert back.stdout.startswith("rivals: back to the one kept at ")
        await all_is_as_published(server)


async def test_a_row_that_was_changed_is_found_and_mended_while_the_server_runs(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.http() as http:
        async with played_on(server, 1):
            await eventually(lambda: http.get("/api/ledger").json()["signed"] > 2)
        await settled(http)
        async with opened(server.data) as database:
            key = await spoil(database, "history")
        found = await asyncio.to_thread(run, "rebuild", "history", "--data", server.data)
        assert found.returncode == 1
        assert f"other rows: {key.hex()}" in found.stdout
        assert "--force" in found.stdout
        mended = await asyncio.to_thread(run, "rebuild", "history", "--force", "--data", server.data)
        assert mended.returncode == 0, mended.stdout
        await all_is_as_published(server)


async def test_rows_of_an_older_release_or_none_at_all_are_rebuilt_by_the_server_itself(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.http() as http:
        async with played_on(server, 1):
            await eventually(lambda: http.get("/api/ledger").json()["signed"] > 2)
        await settled(http)
    with contextlib.closing(sqlite3.connect(server.data / "boards.db")) as connection, connection:
        connection.execute("UPDATE generations SET version = 0 WHERE name IN ('records', 'leaderboard')")
    with serving(tmp_path) as server:
        await all_is_as_published(server)
    for path in server.data.glob("boards.db*"):
        path.unlink()
    with serving(tmp_path) as server:
        await all_is_as_published(server)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "there is no projection nothing, but records, rivals, leaderboard, history"),
        (["--force", "--back"], "--force and --back exclude each other"),
        ([], "there is no log at"),
    ],
)
def test_a_rebuild_that_can_not_be_is_told_so(tmp_path: Path, words: list[str], said: str) -> None:
    done = run("rebuild", *words, "--data", tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []
