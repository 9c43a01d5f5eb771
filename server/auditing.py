"""`statecraft audit --all`: a whole ledger and its boards, read from its public files, and what was seen remembered."""

import time
from collections.abc import Sequence
from pathlib import Path

import typer
from obstore.exceptions import BaseError
from rich.progress import Progress

from events.notes import VerifierKey
from projections import standings, whole
from projections.seen import Seen
from projections.standings import Snapshot
from projections.whole import Fetch, Untrue
from server.archive import read_file, write_file
from server.clock import now_ms
from server.fetch import fetcher
from server.published_boards import NoBoard, fetch_boards
from server.terminal import BAR, err, fail, out

SAVE_SECONDS = 5
"""Between two savings of what was seen; of a long one, ten times as long as it takes."""


def audit_all(place: str, key: VerifierKey | None, state: Path | None) -> None:
    """Exits with 1 if anything is wrong, with 2 if nothing can be read there, with 3 if boards couldn't be compared."""
    fetch = fetcher(place)
    has_boards = place.startswith(("http://", "https://"))
    untold: list[NoBoard] = []
    recomputed = 0
    try:
        published = whole.published_key(fetch)
        if key is not None and key != published:
            fail(f"another key is published there: {published}", 1)
        path = state or Path(f"{published.name.replace('/', '-')}.seen.json")
        seen = _seen(path, published)
        out.print(f"The ledger of {published}", markup=False)
        _check(fetch, seen, path, ())
        if has_boards:
            snapshots = _boards(place, seen, untold)
            recomputed = len(snapshots)
            _check(fetch, seen, path, snapshots)
    except Untrue as untrue:
        out.print(f"FAILED: {untrue}", style="bold red", markup=False)
        raise typer.Exit(1) from None
    except (OSError, BaseError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped; the same command goes on where this one ended", 130)
    for board in untold:
        err.print(f"not compared: board {board}", markup=False)
    _print(seen, path)
    if has_boards:
        out.print(f"{recomputed} boards are what the ledger gives; {len(untold)} couldn't be compared.")
    else:
        out.print("No board was compared: an archive has none. Audit the server's URL for those it shows.")
    if untold:
        raise typer.Exit(3)


def _check(fetch: Fetch, seen: Seen, path: Path, boards: Sequence[Snapshot]) -> None:
    saved, took = time.monotonic(), 0.0
    with Progress(*BAR, console=err, transient=True) as bar:
        task = bar.add_task("leaves", total=None)
        for done, size in whole.check(fetch, seen, now_ms(), boards):
            bar.update(task, completed=done, total=size)
            if time.monotonic() - saved > max(SAVE_SECONDS, 10 * took):
                began = time.monotonic()
                write_file(path, seen.save(), over=True)
                saved = time.monotonic()
                took = saved - began
    write_file(path, seen.save(), over=True)


def _boards(place: str, seen: Seen, untold: list[NoBoard]) -> list[Snapshot]:
    """Every board of which the ledger says anything, as the server publishes it now."""
    wanted = standings.boards(seen.rows, now_ms())
    snapshots = []
    with Progress(*BAR, console=err, transient=True) as bar:
        for found in bar.track(fetch_boards(place, wanted, seen.frontier.size), len(wanted), description="boards"):
            if isinstance(found, Snapshot):
                snapshots.append(found)
            else:
                untold.append(found)
    return snapshots


def _seen(path: Path, published: VerifierKey) -> Seen:
    data = read_file(path)
    if data is None:
        return Seen(published)
    try:
        seen = Seen.load(data)
    except ValueError as error:
        fail(f"{path}: {error}")
    if seen.key != published:
        fail(f"the ledger of {seen.key} was seen before, and now another key is published: {published}", 1)
    return seen


def _print(seen: Seen, path: Path) -> None:
    """Exits with 1 if there are faults."""
    games = f"{len(seen.closed)} closed games, {len(seen.open)} open"
    if seen.lost:
        out.print(f"Against the operator: {len(seen.lost)} games of which he lost a part that had been shown.")
    if seen.faults:
        out.print(f"FAILED: {len(seen.faults)} faults in {seen.frontier.size} leaves, {games}", style="bold red")
        for fault in seen.faults:
            out.print(f"  - {fault}", markup=False)
        raise typer.Exit(1)
    out.print(f"PASSED: {seen.frontier.size} leaves, {games}", style="bold green")
    out.print(f"Root {seen.frontier.root.hex()}; remembered in {path}", markup=False)
