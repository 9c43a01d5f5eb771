"""docs/operations.md, held to the code: every setting, trouble and metric, and every drill as it stands there."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from events.log import Unknown
from server.app import _for_ever
from server.readiness import TROUBLES
from server.tally import Tally
from tests.running import ROOT, Followed, Server, connected, serving, until, wait_seconds_max

TEXT = (ROOT / "docs" / "operations.md").read_text()


def section(name: str) -> str:
    return TEXT.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def first_cells(name: str) -> list[str]:
    """What is named in the first column of a section's tables."""
    rows = [line.split("|")[1] for line in section(name).splitlines() if line.startswith("|")]
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def test_every_setting_is_in_the_table_and_nothing_else_is() -> None:
    read = set(re.findall(r'"(STATECRAFT_\w+)"', (ROOT / "server" / "settings.py").read_text()))
    assert sorted(first_cells("Settings")) == sorted(read)


@pytest.mark.parametrize(
    "number", re.findall(r'_number\(given, "(\w+)", ([\d_]+),', (ROOT / "server/settings.py").read_text())
)
def test_every_numbers_default_is_the_documented_one(number: tuple[str, str]) -> None:
    name, default = number
    (row,) = [line for line in section("Settings").splitlines() if line.startswith("|") and f"`{name}`" in line]
    assert f"`{int(default)}`" in row.split("|")[2]


def test_every_trouble_is_explained_with_its_status() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (200|503) \|", section("Probes"), re.M)
    assert {name: status == "503" for name, status in rows} == TROUBLES


def test_every_metric_is_explained_and_exists(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.http() as http:
        text = until(lambda: text if "statecraft_ledger_leaves" in (text := http.get("/metrics").text) else None)
    real = set(re.findall(r"^# TYPE (statecraft_\w+)", text, re.M))
    assert sorted(first_cells("Metrics")) == sorted(real)


@pytest.mark.anyio
@pytest.mark.parametrize(("why", "faults"), [(Unknown("it is away"), 0), (ValueError("a fault"), 1)])
async def test_a_loop_whose_store_is_away_begins_again_and_that_is_no_fault_of_ours(
    why: Exception, faults: int
) -> None:
    tally, rounds, again = Tally(), iter((why, None)), asyncio.Event()

    async def work() -> None:
        if (error := next(rounds)) is not None:
            raise error
        again.set()
        await asyncio.Event().wait()

    loop = asyncio.create_task(_for_ever(work, tally))
    async with asyncio.timeout(wait_seconds_max):
        await again.wait()
    loop.cancel()
    await asyncio.wait([loop])
    assert tally.faults == faults


# ---------------------------------------------------------------- drills


def drill(name: str, **places: Path) -> Path:
    """Run what stands there, but for its last line if that serves; the data directory that it serves."""
    (block,) = re.findall(rf"```sh drill {re.escape(name)}\n(.*?)```", TEXT, re.S)
    lines = block.splitlines()
    served = lines.pop() if "./statecraft serve" in lines[-1] else ""
    script = "\n".join(lines).replace("./statecraft", f"{sys.executable} -m server")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **{each: str(place) for each, place in places.items()}}
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return places["NEW" if "$NEW" in served else "DATA"]


async def play(server: Server, games: int) -> list[Followed]:
    async with connected(server, server.join()) as client:
        played = []
        for number in range(games):
            followed = await client.follow(await client.open(id_=f"open-{number}"))
            await client.play_on(followed, Random(number))
            played.append(followed)
    return played


def signed(server: Server) -> int:
    with server.http() as http:
        size: int = http.get("/api/ledger").json()["signed"] or 0
    return size


def wins(server: Server) -> str:
    with server.http() as http:
        return http.get("/api/boards/states-relaxed/current_streak/all").text


def test_every_drill_is_run_here() -> None:
    assert re.findall(r"```sh drill (.*)", TEXT) == [
        *("the machine", "the machine, afterwards", "no backup", "the boards", "a key")
    ]


def test_the_drills_bring_back_what_they_promise(tmp_path: Path) -> None:
    archive = {"STATECRAFT_ARCHIVE": str(tmp_path / "archive")}
    places = {name: tmp_path / name for name in ("BACKUPS", "SAFE")}
    for place in (*places.values(), tmp_path / "NEW", tmp_path / "NONE"):
        place.mkdir()
    server = Server(tmp_path, archive).start()
    before = asyncio.run(play(server, 1))
    drill("the machine", DATA=server.data, **places)
    games = before + asyncio.run(play(server, 1))
    until(lambda: signed(server) == 4)
    server.kill()

    def holds(folder: Path, data: Path) -> None:
        assert data == folder / "data"
        with serving(folder, archive) as again:
            until(lambda: signed(again) == 4)
            for followed in games:
                assert again.audit(followed.game).head == followed.head

    new = {"STATECRAFT_ARCHIVE": tmp_path / "archive", "DATA": server.data, **places}
    holds(tmp_path / "NEW", drill("the machine, afterwards", NEW=tmp_path / "NEW" / "data", **new))
    holds(tmp_path / "NONE", drill("no backup", NEW=tmp_path / "NONE" / "data", **new))


def test_boards_thrown_away_come_back_and_a_new_key_is_used(tmp_path: Path) -> None:
    server = Server(tmp_path).start()
    asyncio.run(play(server, 1))
    until(lambda: signed(server) == 2)
    until(lambda: '"as_of":2' in wins(server))
    board = wins(server)
    server.stop()
    assert drill("the boards", DATA=server.data) == drill("a key", DATA=server.data) == server.data
    assert not (server.data / "boards.db").exists()
    server.start()
    until(lambda: '"as_of":2' in wins(server))
    assert wins(server) == board
    (followed,) = asyncio.run(play(server, 1))
    assert followed.facts[0].key == 2
    server.stop()
