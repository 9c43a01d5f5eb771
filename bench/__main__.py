"""`python -m bench`: lists. `python -m bench NAME [--quick] [--json FILE]`: runs one, ends by itself, stays here."""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import uvloop
from rich.console import Console
from rich.table import Table

from bench import measure, peers
from bench.measure import Report, Size

BENCHES = {
    "growth": "a command at battle 10 and 4,000, game 10 and 1,000,000, watcher 1 and 1,000",
    "page": "a Turn on the page, in Chromium, at battle 10 and 3,800",
    "append": "events into the store, against bare group commits",
    "commands": "Play against the house, against one receive, one append and the sends, bare",
    "fanout": "a delivery to 1,000 watchers, against websockets.broadcast",
    "latency": "command to durable answer, one game alone, against one bare commit",
    "start": "a server over 100,000 live games",
    "connections": "memory of an idle watcher, against bare websockets",
    "replay": "a finished game to a watcher, whole, against reading, decoding, folding and encoding it",
    "rebuild": "records and boards from the ledger, against decoding the same bytes",
    "million": "a million results from the ledger, once: rate, memory, file, a board of them, and a tenth of it beside",
    "board": "rank, around-me and top 100, against a sorted list in process",
}
ON_REDIS = ("append", "commands", "latency")


def runs() -> list[str]:
    """Everything there is to measure, as it is asked for."""
    return [run for name in BENCHES for run in (name, *([f"{name} --store redis"] if name in ON_REDIS else []))]


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=BENCHES)
    parser.add_argument("--quick", action="store_true", help="a look: few rounds, small sizes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result, machine and versions there")
    parser.add_argument("--runs", action="store_true", help="list what scripts/bench runs, one a line")
    parser.add_argument("--store", choices=("sqlite", "redis"), default="sqlite", help=f"for {', '.join(ON_REDIS)}")
    asked = parser.parse_args(given)
    out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    if asked.runs:
        print(*runs(), sep="\n")
        return 0
    if asked.name is None:
        for name, what in BENCHES.items():
            out.print(f"{name:12} {what}", markup=False)
        return 0
    if asked.store != "sqlite" and asked.name not in ON_REDIS:
        parser.error(f"{asked.name} is measured on SQLite alone")
    size = Size(asked.quick, asked.store)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="statecraft-bench-") as folder:
        report = uvloop.run(_run(asked.name, size, Path(folder)))
    show(out, asked.name, report)
    if asked.json is not None:
        words = ["python -m bench", asked.name, *(["--store", asked.store] if asked.store != "sqlite" else [])]
        command = " ".join([*words, *(["--quick"] if asked.quick else [])])
        found = measure.result(asked.name, command, size, report, time.monotonic() - began)
        found["versions"] |= peers.versions()
        measure.write(asked.json, found)
    return 0


async def _run(name: str, size: Size, folder: Path) -> Report:
    # Not by an exception from wherever it happens to be: uvloop's transports would take it for their own.
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with measure.Busy() as busy:
        report: Report = await import_module(f"bench.{name}").run(size, folder)
    report.busy = busy.share
    return report


def show(out: Console, name: str, report: Report) -> None:
    table = Table("", "product", "against", "ratio", "goal", title=name, title_justify="left")
    for row in report.rows:
        against = "" if row.against is None else f"{_number(row.against)} {row.against.name}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.what, f"{_number(row.product)} {row.unit}", against, ratio, row.goal)
    out.print(table)
    for note in report.notes:
        out.print(f"- {note}", markup=False)
    out.print(f"- the load generator used {report.busy:.0%} of a core", markup=False)


def _number(series: measure.Series) -> str:
    return f"{series.median:,.4g} ({min(series.values):,.4g}…{max(series.values):,.4g})"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit(130)
