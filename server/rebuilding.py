"""`statecraft rebuild`: what a person sees of it, and what is said when it can't be done."""

import gc
from collections.abc import Sequence
from pathlib import Path

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

from events.database import Database
from server import rebuild
from server.folding import Diverged, Reader
from server.generations import SCHEMA, Differs, Generation, Taken
from server.projector import PROJECTIONS

NAMES = tuple(projection.name for projection in PROJECTIONS)


class _Rate(TextColumn):
    def render(self, task: Bar) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} entries/s")


async def run(path: Path, ledger: Reader, names: Sequence[str], force: bool, back: bool, console: Console) -> bool:
    """Rebuild these projections in the file at `path`, or go back to the ones kept; whether all went well.

    A server may be folding into the same file meanwhile."""
    database = await Database.open(path, [SCHEMA], shared=True)
    # Rows hold no cycles: looking for some among half a million of them takes a sixth of the time.
    gc.disable()
    try:
        well = True
        for projection in PROJECTIONS:
            if projection.name in names:
                if back:
                    said = _back(projection.name, await rebuild.roll_back(database, projection))
                else:
                    said = await _rebuilt(database, ledger, projection.name, force, console)
                console.print(said[1], style="green" if said[0] else "bold red", markup=False)
                well = well and said[0]
        return well
    finally:
        gc.enable()
        await database.close()


async def _rebuilt(database: Database, ledger: Reader, name: str, force: bool, console: Console) -> tuple[bool, str]:
    (projection,) = (each for each in PROJECTIONS if each.name == name)
    with _progress(console) as progress:
        bar = progress.add_task(name, total=None)
        try:
            taken = await rebuild.rebuild(database, ledger, projection, _told(progress, bar), force)
        except Differs as error:
            return False, f"{error}. Nothing was taken over; --force takes the rebuilt one"
        except Diverged as error:
            return False, f"{name}: {error}. Nothing was taken over; --force builds what the ledger says now"
    return True, f"{name}: another process has rebuilt it" if taken is None else _taken(taken)


def _told(progress: Progress, bar: TaskID) -> rebuild.Told:
    return lambda made: progress.update(bar, completed=made.folded, total=made.entries)


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
