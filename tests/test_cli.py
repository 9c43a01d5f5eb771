"""The command line, run as a person runs it: audit, export and replay of a stored game and of a saved file."""

import os
import pty
import re
import select
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from events.chain import origin
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog
from projections.saved import save
from rules.fifty_states import Captured
from tests.positions import Played, at_random
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def played() -> Played:
    return Played("strategic", 3).begin().finish(at_random(3))


@pytest.fixture
async def data(tmp_path: Path, played: Played) -> Path:
    """A data directory that holds one finished game."""
    database = await Database.open(tmp_path / "statecraft.db", (SCHEMA,))
    await SqliteLog(database).append(played.game, origin(played.game), Batch(tuple(played.events)))
    await database.close()
    return tmp_path


async def test_audit_of_a_stored_game_passes_in_plain_words(data: Path, played: Played) -> None:
    done = run("audit", played.game.hex(), "--data", data)
    assert done.returncode == 0, done.stderr
    assert f"PASSED: game {played.game.hex()}" in done.stdout
    assert played.head.hash.hex() in done.stdout
    assert "Not proved by this file:" in done.stdout


async def test_what_is_exported_is_the_saved_game_and_passes_without_a_log(data: Path, played: Played) -> None:
    file = data / "game.jsonl"
    assert run("export", played.game.hex(), "--data", data, "-o", file).returncode == 0
    assert file.read_text() == save(played.game, played.events)
    assert run("export", played.game.hex(), STATECRAFT_DATA=str(data)).stdout == file.read_text()
    assert run("audit", file, STATECRAFT_DATA="/nowhere").returncode == 0


async def test_audit_reads_while_another_process_serves_the_log(data: Path, played: Played) -> None:
    database = await Database.open(data / "statecraft.db", (SCHEMA,))
    try:
        assert run("audit", played.game.hex(), "--data", data).returncode == 0
    finally:
        await database.close()


def test_audit_of_a_log_cut_off_says_so_and_exits_with_3(tmp_path: Path) -> None:
    lines = (GOLDEN / "fifty-states-strategic.jsonl").read_text().splitlines(keepends=True)
    file = tmp_path / "cut.jsonl"
    file.write_text("".join(lines[:-1]))
    done = run("audit", file)
    assert done.returncode == 3
    assert "So far well" in done.stdout


def test_audit_of_a_changed_file_fails_and_names_the_event(tmp_path: Path) -> None:
    lines = (GOLDEN / "fifty-states-strategic.jsonl").read_text().splitlines(keepends=True)
    lines[20] = lines[20].replace('"body":"l', '"body":"m')
    file = tmp_path / "changed.jsonl"
    file.write_text("".join(lines))
    done = run("audit", file)
    assert done.returncode == 1
    assert "FAILED at event 20" in done.stdout


@pytest.mark.parametrize("name", ["nothing", "0" * 31, "0" * 32, "A" * 32])
def test_a_game_there_is_not_is_said_and_exits_with_2(tmp_path: Path, name: str) -> None:
    for command in ("audit", "export", "replay"):
        done = run(command, name, "--data", tmp_path)
        assert done.returncode == 2
        assert done.stderr.strip()
        assert "Traceback" not in done.stderr


def test_replay_tells_the_whole_game(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(save(played.game, played.events))
    done = run("replay", file, "--pace", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("captures") == played.table.position.battle - 1
    assert "wins (all_cards)." in done.stdout
    hurried = run("replay", file, "--recorded", "--speed", "100000")
    assert hurried.stdout == done.stdout


def test_a_replay_begins_where_it_is_told_to(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(save(played.game, played.events))
    whole = run("replay", file, "--pace", "0").stdout.splitlines()
    later = run("replay", file, "--pace", "0", "--seek", "30").stdout.splitlines()
    assert int(later[0].split()[0]) == 30
    assert later[1:] == [line for line in whole if int(line.split()[0]) > 30]
    assert run("replay", file, "--pace", "0", "--seek", "100000").stdout.splitlines()[-1] == whole[-1]
    assert run("replay", file, "--seek", "-1").returncode == 2


@pytest.mark.parametrize(
    ("view", "told"), [("0", ["Seat 0:"]), ("1", ["Seat 1:"]), ("public", []), ("open", ["Seat 0:", "Seat 1:"])]
)
def test_a_replay_tells_the_hands_of_its_viewpoint_and_no_other(
    played: Played, tmp_path: Path, view: str, told: list[str]
) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(save(played.game, played.events))
    (dealt,) = (
        line for line in run("replay", file, "--pace", "0", "--as", view).stdout.splitlines() if "Dealt" in line
    )
    assert re.findall(r"Seat \d:", dealt) == told
    assert run("replay", file, "--as", "both").returncode == 2


def test_keys_move_a_replay_in_a_terminal_and_leave_the_terminal_as_it_was(played: Played, tmp_path: Path) -> None:
    file = tmp_path / "game.jsonl"
    file.write_text(save(played.game, played.events))
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    command = [sys.executable, "-m", "server", "replay", str(file), "--pace", "3600"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    shown = b""

    def until(number: int) -> None:
        """The line of this event is the last one."""
        nonlocal shown
        while (lines := shown.split(b"\r\n")[:-1]) == [] or int(lines[-1].split()[0]) != number:
            assert select.select([ours], [], [], wait_seconds_max)[0], (number, shown)
            shown += os.read(ours, 65536)

    last = len(played.events)
    decided = [version for version, fact in enumerate(played.facts, 1) if isinstance(fact, Captured)]
    until(1)
    # An hour lies between two lines: whatever comes is made by a key.
    for keys, number in (
        (b" ", None),
        (b"\x1b[C", 2),
        (b"\x1b[1;2C", decided[0]),
        (b"\x1b[1;2C", decided[1]),
        (b"\x1b[1;2D", decided[0]),
        (b"?", None),
        (b"\x1b[F", last),
        (b"\x1b[D", last - 1),
        (b"\x1b[H", 1),
    ):
        os.write(ours, keys)
        if number is not None:
            until(number)
    os.write(ours, b" q")
    assert process.wait(wait_seconds_max) == 0
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_golden_game_can_be_told(path: Path) -> None:
    assert run("replay", path, "--pace", "0").returncode == 0


def test_replay_of_nonsense_says_so(tmp_path: Path) -> None:
    file = tmp_path / "nonsense"
    file.write_bytes(bytes(range(256)))
    done = run("replay", file)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_the_commands_of_the_readme_exist_with_their_options() -> None:
    readme = (ROOT / "README.md").read_text()
    lines = re.findall(r"^\./statecraft ([\w-]+)(.*)$", readme, re.M)
    assert {command for command, _ in lines} == {
        *("serve", "audit", "proof", "refill", "rebuild", "export", "replay", "simulate"),
        *("import", "bar", "hide-name", "erase", "doctor"),
        *("backup", "restore", "copy", "keys"),
    }
    for command, rest in lines:
        shown = run(command, "--help", COLUMNS="200", NO_COLOR="1").stdout
        for option in re.findall(r"(?<!\w)--?[a-z]+", rest):
            assert option in shown, (command, option)
    assert (ROOT / "scripts" / "test").stat().st_mode & 0o111
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text()


def test_a_setting_that_can_not_be_used_is_said_before_anything_starts(tmp_path: Path) -> None:
    done = run("serve", "--data", tmp_path, STATECRAFT_PORT="eighty")
    assert done.returncode == 2
    assert "STATECRAFT_PORT" in done.stderr
