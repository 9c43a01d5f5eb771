"""`statecraft rebuild`: what a person sees of it, and what is said when it can't be done."""

import gc
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from projections.projection import Projection
from server import rebuild
from server.folding import Diverged, Reader
from server.projected import Differs, Generation, Projected, Taken
from server.projector import PROJECTIONS

NAMES = tuple(projection.name for projection in PROJECTIONS)


class _Rate(TextColumn):
    def render(self, task: Bar) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} entries/s")


async def run(
    store: Projected, ledger: Reader, names: Sequence[str], force: bool, back: bool, console: Console
) -> bool:
    """Rebuild these projections, or go back to the ones kept; whether all went well.

    Servers may be folding into the same store meanwhile."""
    chosen = [projection for projection in PROJECTIONS if projection.name in names]
    if back:
        said = [_back(each.name, await rebuild.roll_back(store, each)) for each in chosen]
    else:
        done = await _rebuilt(store, ledger, chosen, force, console)
        said = [_told_of(each.name, done[each.name]) for each in chosen]
    for well, words in said:
        console.print(words, style="green" if well else "bold red", markup=False)
    return all(well for well, _ in said)


async def _rebuilt(
    store: Projected, ledger: Reader, chosen: Sequence[Projection[Any]], force: bool, console: Console
) -> dict[str, rebuild.Outcome]:
    # Rows hold no cycles: looking for some among half a million of them takes a sixth of the time.
    gc.disable()
    try:
        with _progress(console) as progress:
            bars = {each.name: progress.add_task(each.name, total=None) for each in chosen}
            return await rebuild.rebuild(store, ledger, chosen, _told(progress, bars), force)
    finally:
        gc.enable()


def _told_of(name: str, outcome: rebuild.Outcome) -> tuple[bool, str]:
    match outcome:
        case None:
            return True, f"{name}: another process has rebuilt it"
        case Differs() as error:
            return False, f"{error}. Nothing was taken over; --force takes the rebuilt one"
        case Diverged() as error:
            return False, f"{name}: {error}. Nothing was taken over; --force builds what the ledger says now"
        case Taken() as taken:
            return True, _taken(taken)
        case _:
            assert_never(outcome)


def _told(progress: Progress, bars: Mapping[str, TaskID]) -> rebuild.Told:
    return lambda made: progress.update(bars[made.name], completed=made.folded, total=made.entries)


def _progress(console: Console) -> Progress:
    shown = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(""))
    return Progress(*shown, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)


def _taken(taken: Taken) -> str:
    made, before = taken.generation, taken.before
    end = f"{made.name}: {made.checkpoint.as_of:,} entries, digest {made.checkpoint.digest.hex()}"
    if before is None:
        return f"{end}; it is the first"
    if before.checkpoint == made.checkpoint and before.version == made.version:
        return f"{end}, as the one before, which is kept"
    return f"{end}; the one before is kept: {before.checkpoint.as_of:,} entries, rules {before.version}"


def _back(name: str, live: Generation | None) -> tuple[bool, str]:
    if live is None:
        return False, f"{name}: no earlier one is kept"
    return True, f"{name}: back to the one kept at {live.checkpoint.as_of:,} entries, which folds on from there"
