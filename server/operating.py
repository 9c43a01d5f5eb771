"""What the operator does to players: `statecraft import`, `bar`, `hide-name` and `erase`. A server may run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from events.entries import PLAYER_BYTES
from events.ledger import Ledger
from events.log import Unknown
from server import barring
from server.adding import add, missing
from server.barring import CannotBar
from server.clock import now_ms
from server.importing import REFUSALS_MAX, Read, read
from server.people import People
from server.settings import Settings
from server.stores import FAULTS, people_in, stores_beside
from server.terminal import Data, chosen, err, fail, out

BYTES_BAR = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    """Beside the server that may be serving it: what is written to the ledger here compares its head."""

    ledger: Ledger
    people: People


@asynccontextmanager
async def _open(given: Settings) -> AsyncIterator[Store]:
    given.data.mkdir(parents=True, exist_ok=True)
    async with stores_beside(given) as found, people_in(found, given) as people:
        yield Store(found.ledger, people)


def _run(given: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    async def run() -> T:
        async with _open(given) as store:
            return await work(store)

    try:
        return asyncio.run(run())
    except (*FAULTS, Unknown) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped", 130)


# ---------------------------------------------------------------- import


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON lines, one player's record each: docs/imports.md.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check all of it, import nothing.")] = False,
    data: Data = None,
) -> None:
    """Bring players' games from an older site into the ledger: the whole file, or nothing of it.

    Exit code 0: done, or it was there already; 1: the file was refused, line by line; 2: it can't be read."""

    async def work(store: Store) -> tuple[Read, int]:
        with file.open("rb") as lines, Progress(*BYTES_BAR, console=err, transient=True) as bar:
            task = bar.add_task("reading", total=file.stat().st_size)
            found = await read(lines, now_ms(), store.people.known, lambda done: bar.update(task, completed=done))
        leaves = found.leaves
        fresh = await missing(store.ledger, leaves)
        if fresh and not found.refusals and not dry_run:
            await add(store.ledger, leaves)
        return found, fresh

    if not file.is_file():
        fail(f"there is no file {file}")
    found, fresh = _run(chosen(data), work)
    if found.refusals:
        for refusal in found.refusals:
            err.print(f"line {refusal.line}: {refusal.why}", markup=False)
        more = " at least" if len(found.refusals) == REFUSALS_MAX else ""
        fail(f"Nothing was imported:{more} {len(found.refusals)} faults.", 1)
    before = len(found.imports) - fresh
    did = "would be imported" if dry_run else "imported"
    out.print(f"{fresh} records {did}, {before} were there already; {found.games} games in the file.")


# ---------------------------------------------------------------- bar


def bar(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="The player's id (32 hex digits).")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for everybody to read, for ever.")] = None,
    lift: Annotated[bool, typer.Option("--lift", help="Lift the bar that stands.")] = False,
    data: Data = None,
) -> None:
    """Keep a player out of games that count and off the boards, in public: the ledger says so, and says why."""
    if lift == (reason is not None):
        fail("say --reason TEXT to bar a player, or --lift to lift the bar")
    id_ = _player(player)

    async def work(store: Store) -> int:
        if lift:
            return await barring.lift(store.ledger, id_, now_ms())
        if not await store.people.known([id_]):
            raise CannotBar(f"there is no player {player} here")
        return await barring.bar(store.ledger, id_, reason or "", now_ms())

    try:
        index = _run(chosen(data), work)
    except CannotBar as error:
        fail(str(error), 1)
    out.print(f"Player {player} is {'no longer ' if lift else ''}barred: leaf {index} of the ledger says so.")


# ---------------------------------------------------------------- people


def hide_name(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="The player's id (32 hex digits).")],
    show: Annotated[bool, typer.Option("--show", help="Show it again.")] = False,
    data: Data = None,
) -> None:
    """Show a player's present name to nobody; a name chosen later is shown."""
    id_ = _player(player)
    if not _run(chosen(data), lambda store: store.people.hide(id_, not show)):
        fail(f"player {player} has no name", 1)
    out.print(f"The name of player {player} is {'shown again' if show else 'hidden'}.")


def erase(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="The player's id (32 hex digits).")],
    data: Data = None,
) -> None:
    """Erase a player's name and token, for good. What the ledger holds stays, under an id that names nobody."""
    id_ = _player(player)
    if not _run(chosen(data), lambda store: store.people.erase(id_)):
        fail(f"there is no player {player} here", 1)
    out.print(f"Player {player} is erased.")


def _player(text: str) -> bytes:
    if len(text) != 2 * PLAYER_BYTES or not all(digit in "0123456789abcdef" for digit in text):
        fail(f"{text} is no player's id (32 hex digits)")
    return bytes.fromhex(text)
