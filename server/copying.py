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
from server import meetings, shared_keys
from server.archive import archive
from server.archived import ArchivedLog
from server.arranged import ArrangedGames, RedisArranged, SqliteArranged
from server.backup import Heads, said
from server.games import Damaged
from server.keys import BadKeys, has_keys, has_ledger_key
from server.moving import CannotMove, House, compare, move
from server.moving_files import check_files, move_files
from server.moving_people import move_people
from server.pen import Signing
from server.settings import Settings
from server.stores import FAULTS, SCHEMAS, Stores, pen_of, people_in, stores_to_move
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
        first, its = await opened.enter_async_context(_house(source))
        second, other = await opened.enter_async_context(_house(target))
        if await first.movable.unfinished():
            raise CannotMove(f"{first.name} is itself a copy that isn't whole: finish that one first")
        shared = [house for house, given in ((first, source), (second, target)) if given.redis is not None]
        await asyncio.gather(*(_check_quiet(house.name, house.movable) for house in shared))
        for found in (its, other):
            await _check_keys(source, found)  # the target's will be the same
        check_files(source, target)
        await compare(first, second, whole=False)
        # From here on until all is compared, nobody serves from it.
        await second.movable.put_unfinished(True)
        await move_files(source, target, progress)
        known = await opened.enter_async_context(people_in(its, source))
        await move_people(known, await opened.enter_async_context(people_in(other, target)), progress)
        return await move(first, second, progress)


@asynccontextmanager
async def _house(given: Settings) -> AsyncIterator[tuple[House, Stores]]:
    """With the pen in hand: nobody signs meanwhile. Raises FAULTS."""
    given.data.mkdir(parents=True, exist_ok=True)
    async with stores_to_move(given, (*SCHEMAS, meetings.SCHEMA, sqlite_moving.SCHEMA)) as found:
        pen, name = pen_of(replace(given, signs=True), found.redis), str(given.redis or given.log)
        try:
            await pen.take()
        except Signing as error:
            raise Busy(f"{name}: {error}; stop all servers first") from error
        try:
            log = ArchivedLog(found.log, archive(given.archive))
            yield House(name, log, found.movable, found.ledger, _arranged(found)), found
        finally:
            await pen.let_go()


def _arranged(found: Stores) -> ArrangedGames:
    if found.redis is not None:
        return RedisArranged(found.redis, found.log)
    assert found.embedded is not None
    return SqliteArranged(found.embedded)


async def _check_keys(given: Settings, found: Stores) -> None:
    """Redis knows what its servers' keys are like. Raises BadKeys, Unknown."""
    if found.redis is not None and has_keys(given.keys):
        await shared_keys.keys(replace(given, signs=has_ledger_key(given.keys)), found.redis)


async def _check_quiet(name: str, movable: Movable) -> None:
    """A file is locked by who serves it; of a Redis only the beats tell. Raises Busy."""
    if beats := await movable.beats():
        await asyncio.sleep(BEAT_GAP_MS_MAX / 1000)
        if await movable.beats() != beats:
            raise Busy(f"a server writes to {name}: stop all servers first")


def command(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A data directory, or a Redis (as STATECRAFT_STORE).")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same; empty, or what an earlier copy has left.")],
    data: Data = None,
) -> None:
    """Copy all games, the ledger, people, places and keys into another store, and compare them by their hashes.

    No server may run on either. Killed half-way it is run again, and goes on. Of a Redis the keys, and an archive
    that has no place of its own, are in the data directory of the settings."""
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
