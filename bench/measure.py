"""What a measurement is: series side by side in one run, their medians and ratio, and what the machine was."""

import gc
import json
import os
import platform
import sqlite3
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from server.app import COLLECT_AFTER

ROOT = Path(__file__).parent.parent
VERSIONS = ("starlette", "uvicorn", "uvloop", "websockets", "msgpack", "msgspec", "hiredis")
PROGRAMS = {"redis-server": ("redis-server", "--version"), "node": ("node", "--version")}


@dataclass(frozen=True, slots=True)
class Series:
    """One side's values, one a round."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Row:
    """The product against its comparison, both in `unit`."""

    what: str
    unit: str
    product: Series
    against: Series | None = None
    goal: str = ""
    """As PERFORMANCE has it, of the ratio (`≤ 2.0 ×`) or of the product's own value."""

    @property
    def ratio(self) -> float | None:
        if self.against is None or not self.against.median:
            return None
        return self.product.median / self.against.median


@dataclass(frozen=True, slots=True)
class Curve:
    """One cost at rising sizes."""

    what: str
    unit: str
    sizes: str
    """What they are sizes of."""
    points: tuple[tuple[int, Series], ...]


@dataclass(slots=True)
class Report:
    """What one bench found."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a reader must know: what was audited, which peer is missing."""
    curves: list[Curve] = field(default_factory=list)
    busy: float = 0.0
    """The load generator's CPU seconds a second. Near 1 it was the limit of any rate; CPU per operation holds."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much work, `full`, or `quick` for a look and for tests; and where the product keeps its games."""

    quick: bool
    store: str = "sqlite"
    """Or `redis`: a server of its own on loopback, that answers when it has fsynced."""

    @property
    def rounds(self) -> int:
        return 2 if self.quick else 5

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all threads, user and system, to the nanosecond.

    Linux gives each process a clock: the complement of its id, shifted, with 2 for scheduled time (clock_getres(2))."""
    return time.clock_gettime((~pid << 3) | 2)


def memory_bytes(pid: int) -> int:
    """Resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


Measured = Callable[[], Awaitable[float]]


async def alternating(rounds: int, sides: Mapping[str, Measured]) -> dict[str, Series]:
    """Each side once a round, in turn, after a round that doesn't count."""
    values: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, measured in sides.items():
            value = await measured()
            if number:
                values[name].append(value)
    return {name: Series(name, tuple(found)) for name, found in values.items()}


def percentile(values: Iterable[float], hundredth: int) -> float:
    return quantiles(values, n=100, method="inclusive")[hundredth - 1]


class Busy:
    """How busy this process was while a block ran."""

    def __enter__(self) -> "Busy":
        self._began, self._cpu = time.monotonic(), time.process_time()
        return self

    def __exit__(self, *exc: object) -> None:
        self.share = (time.process_time() - self._cpu) / max(time.monotonic() - self._began, 1e-9)


# ---------------------------------------------------------------- results


def machine() -> dict[str, Any]:
    cpu = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
    }


def versions() -> dict[str, str]:
    own = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    programs = {name: _said(*command) for name, command in PROGRAMS.items()}
    return own | {name: version(name) for name in VERSIONS} | {name: said for name, said in programs.items() if said}


def commit() -> str:
    """What was measured, with a `+` if files differ from it; empty outside a repository."""
    head = _said("git", "rev-parse", "--short=12", "HEAD")
    # A result that was just written is no other program.
    changed = _said("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs")
    return head + "+" if head and changed else head


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def result(name: str, command: str, size: Size, report: Report, seconds: float) -> dict[str, Any]:
    """What goes into a result file."""
    return {
        "bench": name,
        "command": command,
        "store": size.store,
        "commit": commit(),
        "quick": size.quick,
        "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        "seconds": round(seconds, 1),
        "machine": machine(),
        "versions": versions(),
        "busy": round(report.busy, 2),
        "notes": report.notes,
        "rows": [_row(row) for row in report.rows],
        "curves": [_curve(curve) for curve in report.curves],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    points = [{"size": size} | _series(series) for size, series in curve.points]
    return {"what": curve.what, "unit": curve.unit, "sizes": curve.sizes, "points": points}


def _row(row: Row) -> dict[str, Any]:
    return {
        "what": row.what,
        "unit": row.unit,
        "goal": row.goal,
        "ratio": None if row.ratio is None else round(row.ratio, 3),
        "product": _series(row.product),
        "against": None if row.against is None else _series(row.against),
    }


def _series(series: Series) -> dict[str, Any]:
    values = [round(value, 3) for value in series.values]
    return {"name": series.name, "median": round(series.median, 3), "least": min(values), "most": max(values)} | {
        "values": values
    }


def write(path: Path, found: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def leave_alone() -> None:
    """What was made so far the collector needn't look at again, as in a server that runs (server/app.py)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
