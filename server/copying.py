"""`statecraft copy`: what a person sees of moving house, and what is opened for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from obstore.exceptions import BaseError
from rich.progress import Progress

from events import sqlite_moving
from events.database import Busy
from events.log import BEAT_GAP_MS_MAX, Conflict, Unknown
from events.moving import Movable
from events.redis_address import BadAddress, address
from server import meetings
from server.archive import archive
from server.archived import ArchivedLog
from server.arranged import RedisArranged, SqliteArranged
from server.backup import Heads, said
from server.games import Damaged
from server.keys import BadKeys
from server.moving import CannotMove, House, move
from server.moving_files import move_files
from server.pen import FilePen
from server.settings import Settings
from server.stores import FAULTS, SCHEMAS, stores_to_move
from server.terminal import BAR, Data, chosen, err, fail, out


def settings_of(place: str, given: Settings) -> Settings:
    """The settings in force, with the store that `place` names. Raises BadAddress."""
    if "://" in place:
        return replace(given, redis=address(place))
    return replace(given, redis=None, data=Path(place))


async def copied(source: Settings, target: Settings, told: Progress) -> Heads:
    """Raises FAULTS, CannotMove, Unknown, BadKeys, Damaged, Conflict, BaseError."""
    if (source.redis, source.data.resolve()) == (target.redis, target.data.resolve()) or (
        source.redis is not None and source.redis == target.redis
    ):
        raise CannotMove("FROM and TO are the same")
    if source.redis is None and not source.log.is_file():
        raise CannotMove(f"there is no log at {source.log}")
    tasks = {}

    def progress(what: str, done: int, of: int) -> None:
        if what not in tasks:
            tasks[what] = told.add_task(what)
        told.update(tasks[what], completed=done, total=of)

    async with AsyncExitStack() as opened:
        for folder in dict.fromkeys(each.keys.resolve() for each in (source, target)):
            pen = FilePen(folder)
            await pen.take()
            opened.push_async_callback(pen.let_go)
        first, second = [await opened.enter_async_context(_house(given)) for given in (source, target)]
        if await first.movable.unfinished():
            raise CannotMove(f"{first.name} is itself a copy that isn't whole: finish that one first")
        shared = [house for house, given in ((first, source), (second, target)) if given.redis is not None]
        await asyncio.gather(*(_check_quiet(house.name, house.movable) for house in shared))
        await move_files(source, target, progress)
        return await move(first, second, progress)


@asynccontextmanager
async def _house(given: Settings) -> AsyncIterator[House]:
    given.data.mkdir(parents=True, exist_ok=True)
    async with stores_to_move(given, (*SCHEMAS, meetings.SCHEMA, sqlite_moving.SCHEMA)) as found:
        log = ArchivedLog(found.log, archive(given.archive))
        if found.redis is not None:
            yield House(str(given.redis), log, found.movable, found.ledger, RedisArranged(found.redis, found.log))
        else:
            assert found.embedded is not None
            yield House(str(given.log), log, found.movable, found.ledger, SqliteArranged(found.embedded))


async def _check_quiet(name: str, movable: Movable) -> None:
    """A file is locked by who serves it; of a Redis only the beats tell. Raises Busy."""
    if beats := await movable.beats():
        await asyncio.sleep(BEAT_GAP_MS_MAX / 1000)
        if await movable.beats() != beats:
            raise Busy(f"a server writes to {name}: stop all of them first")


def command(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A data directory, or a Redis (as STATECRAFT_STORE).")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same; empty, or what an earlier copy has left.")],
    data: Data = None,
) -> None:
    """Copy all games, the ledger, places and keys into another store, and compare them by their hashes.

    No server may run on either. Killed half-way it is run again, and goes on. With a Redis, keys, people and archive
    are in the data directory of the settings."""
    given = chosen(data)
    try:
        places = settings_of(source, given), settings_of(target, given)
        with Progress(*BAR, console=err, transient=True) as bar:
            heads = asyncio.run(copied(*places, bar))
    except BadAddress as error:
        fail(f"that is no Redis address: {error}")
    except (*FAULTS, CannotMove, Unknown, BadKeys, Damaged, Conflict, BaseError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped; the same command goes on", 130)
    out.print("Copied, and compared:")
    for line in said(heads):
        out.print(f"  {line}", markup=False)
    out.print("Serve from the new one now, and never again from the old: games that go on in both are two histories.")
