"""The verifier in JavaScript, which shares no code with the one in Python: its own tests, and the two side by side."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from projections import saved
from projections.audit import audit_file
from rules import fifty_states
from rules.game import Resign
from scripts.make_strategic_js import OUT, strategic_js
from tests.positions import Played, at_random

TOP = Path(__file__).resolve().parent.parent
VERIFY = TOP / "server" / "web" / "verify"
GOLDEN = sorted((TOP / "tests" / "golden").glob("*.jsonl"))
node_seconds_max = 60


def node(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs node in the checkout; no package needs to be installed. A machine without node fails the test."""
    found = shutil.which("node")
    assert found, "the verifier's tests need node"
    return subprocess.run([found, *arguments], cwd=TOP, capture_output=True, text=True, timeout=node_seconds_max)


def checked(*files: Path) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and one result a file."""
    done = node(VERIFY / "cli.mjs", *files)
    assert done.stderr == ""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_its_own_tests_pass() -> None:
    done = node("--test", "--test-reporter=tap", "tests/js/verify.test.mjs")
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (\w+) (\d+)$", done.stdout, re.MULTILINE))
    assert int(counts["pass"]) > 150
    assert counts["skipped"] == counts["todo"] == counts["fail"] == "0"


def test_golden_games_check_out_on_the_command_line() -> None:
    code, results = checked(*GOLDEN)
    assert code == 0
    assert results == [{"file": str(path), "ok": True, "over": True, "failure": None} for path in GOLDEN]


def test_one_bad_game_among_good_ones_is_named(tmp_path: Path) -> None:
    bad, cut = tmp_path / "bad.jsonl", tmp_path / "cut.jsonl"
    lines = GOLDEN[0].read_bytes().splitlines(keepends=True)
    bad.write_bytes(b"".join(lines).replace(b'"version":3,', b'"version":4,'))
    cut.write_bytes(b"".join(lines[:-1]))
    code, results = checked(GOLDEN[0], bad, cut)
    assert code == 1
    assert [(each["ok"], each["over"]) for each in results] == [(True, True), (False, False), (True, False)]
    assert results[1]["failure"]["version"] == 3
    assert set(results[1]["failure"]) == {"version", "why", "expected", "found"}


def test_no_file_is_a_mistake_and_no_success() -> None:
    done = node(VERIFY / "cli.mjs")
    assert done.returncode == 2
    assert "usage" in done.stderr


@pytest.mark.parametrize("mode", fifty_states.STRATEGIES)
def test_games_played_by_the_rules_in_python_check_out(mode: str, tmp_path: Path) -> None:
    files = []
    for number in range(60):
        played = Played(mode, number).begin(mix=number % 10 != 9)
        if number % 10 == 9:
            assert played.do(Resign()) is None
        else:
            played.finish(at_random(number))
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text(saved.save(played.game, played.events), encoding="ascii")
        assert audit_file(files[-1].read_bytes()).over
    code, results = checked(*files)
    assert [each for each in results if not (each["ok"] and each["over"])] == []
    assert code == 0
    assert len(results) == 60


def test_the_policy_in_the_module_is_the_one_in_the_rules() -> None:
    assert OUT.read_bytes() == strategic_js().encode()


def test_the_page_says_what_no_file_can_show_in_the_words_of_the_documentation() -> None:
    documented = (TOP / "docs" / "audit.md").read_text(encoding="utf-8")
    section = documented.split("## What no file can show\n")[1].split("\n## ")[0]
    limits = [" ".join(limit.split()) for limit in re.split(r"^- ", section, flags=re.MULTILINE)[1:]]
    program = 'import { limits } from "./server/web/verify/limits.js"; console.log(JSON.stringify(limits));'
    shown = json.loads(node("--input-type=module", "--eval", program).stdout)
    assert len(limits) >= 5
    assert [limit.replace("’", "'") for limit in shown] == limits


def test_nothing_is_loaded_from_anywhere_else() -> None:
    """The page works with the network off: no address, no fetch, no import that waits for a click."""
    for path in (*VERIFY.glob("*.js"), *VERIFY.glob("*.html"), *VERIFY.glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"://|\bfetch\(|\bimport\(|XMLHttpRequest|WebSocket|innerHTML|\seval\(", text), path.name
