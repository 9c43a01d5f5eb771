"""The bench: each one runs to its end in small, and what the document says is what the result files hold."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import BENCHES
from bench.measure import Report, Row, Series, Size, alternating, cpu_seconds, percentile, result
from bench.table import BEGIN, DOCUMENT, END, RESULTS, markdown, results, written

ROOT = Path(__file__).parent.parent
run_seconds_max = 600


def bench(*given: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bench", *given]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=run_seconds_max, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_runs_in_small_to_its_end_and_writes_what_it_found(tmp_path: Path, name: str) -> None:
    ran = bench(name, "--quick", "--json", str(tmp_path / "found.json"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["bench"], found["quick"]) == (name, True)
    assert found["command"] == f"python -m bench {name} --quick"
    assert found["machine"]["cores"] >= 1
    assert "uvicorn" in found["versions"]
    assert found["notes"], "it says what it checked"
    for row in found["rows"]:
        assert row["what"] in ran.stdout.replace("\n", " ") or len(row["what"]) > 40
        assert len(row["product"]["values"]) == (1 if name == "million" else 2)  # a million is folded once
        assert row["against"] is None or row["ratio"] > 0


def test_it_lists_what_there_is_and_refuses_what_there_isnt() -> None:
    listed = bench()
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(BENCHES)
    assert all((ROOT / "bench" / f"{name}.py").is_file() for name in BENCHES)
    refused = bench("speed")
    assert refused.returncode == 2
    assert "invalid choice: 'speed'" in refused.stderr


def test_a_ratio_is_of_medians_and_a_result_holds_every_value() -> None:
    row = Row("x", "µs", Series("product", (3.0, 1.0, 9.0)), Series("floor", (2.0, 1.0, 1.5)), "≤ 2 ×")
    assert row.ratio == 2
    found = result("x", "python -m bench x", Size(True), Report([row], ["checked"], 0.5), 1.0)
    assert found["rows"][0]["product"] == {
        "name": "product",
        "median": 3,
        "least": 1,
        "most": 9,
        "values": [3, 1, 9],
    }
    assert Row("x", "µs", Series("product", (1.0,))).ratio is None
    assert percentile(range(101), 99) == 99


async def _in_turn() -> list[str]:
    said: list[str] = []

    async def side(name: str) -> float:
        said.append(name)
        return float(len(said))

    found = await alternating(2, {"a": lambda: side("a"), "b": lambda: side("b")})
    # The first round doesn't count.
    assert found == {"a": Series("a", (3, 5)), "b": Series("b", (4, 6))}
    return said


def test_sides_are_measured_in_turn() -> None:
    assert asyncio.run(_in_turn()) == ["a", "b"] * 3


def test_a_process_has_its_own_clock() -> None:
    program = "import time\nwhile time.process_time() < 0.2: pass\nprint(time.process_time(), flush=True)\ninput()"
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    own = float(child.stdout.readline())
    seen = cpu_seconds(child.pid)
    child.communicate(b"\n")
    assert own <= seen < own + 1, "it does nothing more but wait"


def test_the_document_has_the_table_of_the_result_files() -> None:
    assert results(), f"no results in {RESULTS}"
    document = DOCUMENT.read_text()
    assert BEGIN + markdown(results()) + END in document
    assert written(document, markdown(results())) == document
    assert written(document, "other\n") != document


def test_no_quick_result_is_committed_and_each_has_five_rounds() -> None:
    for found in results():
        assert not found["quick"]
        for row in found["rows"]:
            for series in (row["product"], row["against"]):
                assert series is None or len(series["values"]) >= 5
