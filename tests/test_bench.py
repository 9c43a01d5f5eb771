"""The bench: each one runs to its end in small, and what the document says is what the result files hold."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import carries, peers
from bench.__main__ import BENCHES, ON_REDIS, runs
from bench.measure import Curve, Report, Row, Series, Size, alternating, cpu_seconds, percentile, result
from bench.plot import short, svg
from bench.table import BEGIN, DOCUMENT, END, RESULTS, pictures, results, sections, written

POINTS = [{"size": size, "median": 2.0, "least": 1.0, "most": 3.0} for size in (1, 10)]
SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).parent.parent
run_seconds_max = 600


def bench(*given: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "bench", *given]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=run_seconds_max, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("run", runs())
def test_a_bench_runs_in_small_to_its_end_and_writes_what_it_found(tmp_path: Path, run: str) -> None:
    name, _, store = run.partition(" --store ")
    ran = bench(*run.split(), "--quick", "--json", str(tmp_path / "found.json"))
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["bench"], found["quick"], found["store"]) == (name, True, store or "sqlite")
    assert found["command"] == f"python -m bench {run} --quick"
    assert found["commit"].removesuffix("+") == commit_of(ROOT)
    assert found["machine"]["cores"] >= 1
    assert "uvicorn" in found["versions"]
    assert peers.versions().items() <= found["versions"].items()
    assert found["notes"], "it says what it checked"
    for row in found["rows"]:
        assert row["what"] in ran.stdout.replace("\n", " ") or len(row["what"]) > 40
        assert len(row["product"]["values"]) == (1 if name == "million" else 2)  # a million is folded once
        assert row["against"] is None or row["ratio"] > 0


def commit_of(folder: Path) -> str:
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_it_lists_what_there_is_and_refuses_what_there_isnt() -> None:
    listed = bench()
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(BENCHES)
    assert all((ROOT / "bench" / f"{name}.py").is_file() for name in BENCHES)
    refused = bench("speed")
    assert refused.returncode == 2
    assert "invalid choice: 'speed'" in refused.stderr
    embedded = bench("board", "--store", "redis")
    assert embedded.returncode == 2
    assert "board is measured on SQLite alone" in embedded.stderr


def test_what_is_run_for_the_document_is_every_bench_on_each_of_its_stores() -> None:
    assert {run.split()[0] for run in runs()} == set(BENCHES)
    assert {run for run in runs() if "redis" in run} == {f"{name} --store redis" for name in ON_REDIS}


def test_a_ratio_is_of_medians_and_a_result_holds_every_value() -> None:
    row = Row("x", "µs", Series("product", (3.0, 1.0, 9.0)), Series("floor", (2.0, 1.0, 1.5)), "≤ 2 ×")
    assert row.ratio == 2
    found = result("x", "python -m bench x", Size(True), Report([row], ["checked"]), 1.0)
    assert found["rows"][0]["product"] == {
        "name": "product",
        "median": 3,
        "least": 1,
        "most": 9,
        "values": [3, 1, 9],
    }
    assert found["commit"].removesuffix("+") == commit_of(ROOT)
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


def test_the_document_has_what_the_result_files_give() -> None:
    assert results(), f"no results in {RESULTS}"
    document, made = DOCUMENT.read_text(), sections(results())
    for name, text in made.items():
        assert BEGIN.format(name) + text + END in document
    assert written(document, made) == document
    assert written(document, made | {"ratios": "other\n"}) != document
    with pytest.raises(ValueError, match="no <!-- python"):
        written("# A document without marks\n", made)


def test_what_is_carried_is_reckoned_from_the_medians_and_what_is_missing_is_named() -> None:
    row = {"what": "an idle watcher", "unit": "KiB", "product": {"median": 20.0}}
    found = [{"command": "python -m bench connections", "rows": [row]}]
    assert carries.inputs(found) == {"connection": 20.0}
    text = carries.markdown(found)
    assert "| memory of connections | 1,000,000 × memory of one | 19 GiB |" in text
    assert "(`fanout` has no committed result)" in text
    other = [{"command": "python -m bench connections", "rows": [row | {"product": {"median": 40.0}}]}]
    assert "| memory of connections | 1,000,000 × memory of one | 38 GiB |" in carries.markdown(other)


def test_no_quick_result_is_committed_and_each_has_five_rounds() -> None:
    for found in results():
        assert not found["quick"]
        # A million results are folded once: that takes minutes, and is no ratio with a goal.
        rounds = 1 if found["bench"] == "million" else 5
        for row in found["rows"]:
            for series in (row["product"], row["against"]):
                assert series is None or len(series["values"]) >= rounds


def test_the_curves_beside_the_document_are_those_of_the_result_files() -> None:
    for name, picture in pictures(results()):
        assert (DOCUMENT.parent / name).read_text() == picture
        assert f"]({name})" in DOCUMENT.read_text()
    drawn = {"bench": "growth", "curves": [{"what": "x", "unit": "µs", "sizes": "games", "points": POINTS}]}
    assert [name for name, _ in pictures([drawn, {"bench": "board"}])] == ["growth.svg"]


def test_a_curve_has_every_size_in_its_place_and_its_spread() -> None:
    series = (Series("1", (4.0, 2.0, 3.0)), Series("100", (8.0, 8.0, 8.0)))
    curve = Curve("a <Turn>", "µs CPU", "battle", ((1, series[0]), (100, series[1])))
    found = result("x", "python -m bench x", Size(True), Report([], ["checked"], [curve]), 1.0)
    drawn = ElementTree.fromstring(svg(json.loads(json.dumps(found["curves"]))))
    circles = [(float(each.attrib["cx"]), float(each.attrib["cy"])) for each in drawn.iter(f"{SVG}circle")]
    (left, low), (right, high) = circles
    assert left < right
    assert low > high, "more stands higher"
    bars = [each.attrib for each in drawn.iter(f"{SVG}line") if each.attrib["x1"] == each.attrib["x2"]]
    assert [float(bar["y1"]) - float(bar["y2"]) > 0 for bar in bars] == [True, False]
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert texts[0] == "a <Turn>"
    assert {"1", "100", "battle; µs CPU", "10"} <= set(texts)


@pytest.mark.parametrize(("size", "said"), [(1, "1"), (999, "999"), (1_000, "1k"), (3_800, "3.8k"), (1_000_000, "1M")])
def test_a_size_is_said_in_short(size: int, said: str) -> None:
    assert short(size) == said
