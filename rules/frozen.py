"""Frozen records, built as fast as open ones. The one place that knows how."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def builder(record: Callable[P, R]) -> Callable[P, R]:
    """What makes the same records as `record`, a frozen dataclass with slots, for a third of the cost: for folds.

    The `__init__` that `dataclass` writes calls `object.__setattr__` for each field. This fills a draft, which has the
    same slots and isn't frozen, and then gives it the record's class: before anybody else sees it."""
    kind: Any = record
    slots = tuple(field.name for field in fields(kind))
    assert slots == kind.__slots__, "all its slots are its own fields"
    lines = [
        f"def build({', '.join(slots)}):",
        "    record = Draft()",
        *(f"    record.{name} = {name}" for name in slots),
        "    record.__class__ = Record",
        "    return record",
    ]
    names: dict[str, Any] = {"Draft": type("Draft", (), {"__slots__": slots}), "Record": record}
    exec("\n".join(lines), names)
    build = names["build"]
    build.__defaults__ = kind.__init__.__defaults__
    built: Callable[P, R] = build
    return built
