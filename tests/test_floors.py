"""Imports point down: rules/ stands on the standard library, events/ on rules/, projections/ on both."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("rules", "events", "projections", "server")
LIBRARIES = {
    "rules": set[str](),
    "events": {"cryptography", "hiredis", "msgpack", "msgspec"},
    "projections": set[str](),
}
WAITING = {"time", "random", "secrets", "os", "socket", "asyncio", "sqlite3", "threading", "datetime", "pathlib", "io"}


def imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield (node.module or "").partition(".")[0]


def wrong(floor: str, source: str) -> set[str]:
    """The imports that a module of `floor` may not have."""
    allowed = set(FLOORS[: FLOORS.index(floor) + 1]) | LIBRARIES.get(floor, set())
    standard = set(sys.stdlib_module_names) - (WAITING if floor in ("rules", "projections") else set())
    return {name for name in imports(source) if name not in allowed | standard}


MODULES = [path for floor in FLOORS[:-1] for path in sorted((ROOT / floor).rglob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_floor_and_below(path: Path) -> None:
    assert wrong(path.relative_to(ROOT).parts[0], path.read_text()) == set()


@pytest.mark.parametrize(
    ("floor", "source"),
    [
        ("rules", "import msgpack"),
        ("rules", "from events import codec"),
        ("rules", "import random"),
        ("rules", "def now():\n    import time"),
        ("events", "from server import app"),
        ("projections", "import sqlite3"),
    ],
)
def test_a_look_upwards_or_sideways_is_seen(floor: str, source: str) -> None:
    assert wrong(floor, source) != set()


def test_rules_and_projections_open_nothing() -> None:
    for path in MODULES:
        if path.relative_to(ROOT).parts[0] != "events":
            called = {
                node.func.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            # One module writes a function of its own, as `dataclass` does.
            written = {"exec"} if path == ROOT / "rules" / "frozen.py" else set()
            assert called.isdisjoint({"open", "print", "input", "eval", "exec"} - written), path


def test_nothing_in_the_project_names_an_address_in_its_locks() -> None:
    requirements = sorted((ROOT / "requirements").glob("*.txt"))
    for lock in (*requirements, ROOT / "package-lock.json", ROOT / "bench" / "peers" / "package-lock.json"):
        assert "://" not in lock.read_text(), lock
