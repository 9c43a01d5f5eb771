"""`statecraft copy`: what a person sees of moving house, and what is opened for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from obstore.exceptions import BaseError
from rich.progress import Progress, TaskID

from events import sqlite_moving
from events.database import Busy
from events.log import BEAT_GAP_MS_MAX, Conflict, Unknown
from events.redis_address import BadAddress, address
from server import shared_keys, sqlite_meetings
from server.archive import archive
from server.archived import ArchivedLog
from server.arranged import ArrangedGames, RedisArranged, SqliteArranged
from server.backup import said
from server.games import Damaged
from server.keys import BadKeys, has_keys, has_ledger_key
from server.moving import CannotMove, House, Moved, compare, finish, move
from server.moving import Progress as Told
from server.moving_files import check_files, move_files
from server.moving_people import check_people, move_people
from server.pen import FilePen, Pen, RedisPen, Signing, taken_up
from server.people import People
from server.settings import Settings
from server.stores import FAULTS, SCHEMAS, Stores, people_in, stores_to_move
from server.terminal import BAR, Data, chosen, err, fail, out


def settings_of(place: str, given: Settings) -> Settings:
    """The settings in force, with the store that `place` names. Raises BadAddress."""
    if "://" in place:
        return replace(given, redis=address(place))
    return replace(given, redis=None, data=Path(place))


async def copied(source: Settings, target: Settings, bar: Progress) -> Moved:
    """Raises FAULTS, CannotMove, Unknown, BadKeys, Damaged, Conflict, BaseError."""
    _check_places(source, target)
    told = _told(bar)
    async with AsyncExitStack() as opened:
        first = await opened.enter_async_context(_opened(source))
        second = await opened.enter_async_context(_opened(target))
        await _check(first, second)
        # From here on until all is compared, nobody serves from it.
        await second.house.movable.put_unfinished(True)
        await move_files(source, target, told)
        moved = await move(first.house, second.house, told)
        # Last, and quick: who is erased meanwhile, which no lock hinders, mustn't come back by the copy.
        await move_people(first.people, second.people, told)
        await finish(first.house, second.house)
        return moved


def _check_places(source: Settings, target: Settings) -> None:
    same = source.redis == target.redis and (source.redis is not None or source.data.resolve() == target.data.resolve())
    if same:
        raise CannotMove("FROM and TO are the same")
    if source.redis is None and not source.log.is_file():
        raise CannotMove(f"there is no log at {source.log}")
    if not has_keys(source.keys):
        raise BadKeys(f"there are no keys in {source.keys}, without which its games can't go on: --data names them")


def _told(bar: Progress) -> Told:
    tasks: dict[str, TaskID] = {}

    def told(what: str, done: int, of: int) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what)
        bar.update(tasks[what], completed=done, total=of)

    return told


@dataclass(frozen=True, slots=True)
class _Opened:
    given: Settings
    house: House
    found: Stores
    people: People


@asynccontextmanager
async def _opened(given: Settings) -> AsyncIterator[_Opened]:
    """With the pen in hand: nobody signs meanwhile. Raises FAULTS, Unknown."""
    given.data.mkdir(parents=True, exist_ok=True)
    async with stores_to_move(given, (*SCHEMAS, sqlite_meetings.SCHEMA, sqlite_moving.SCHEMA)) as found:
        # Of a file and a Redis with the same keys both are held, each by its own.
        pen: Pen = FilePen(given.keys) if found.redis is None else RedisPen(found.redis)
        name = str(given.redis or given.log)
        await _take(pen, name)
        try:
            log = ArchivedLog(found.log, archive(given.archive))
            house = House(name, log, found.movable, found.ledger, _arranged(found))
            async with people_in(found, given, move=True) as people:
                yield _Opened(given, house, found, people)
        finally:
            await pen.let_go()


async def _take(pen: Pen, name: str) -> None:
    """Raises Busy, Unknown."""
    try:
        await taken_up(pen)
    except Signing as error:
        raise Busy(f"{name}: {error}; stop all servers first") from error


async def _check(source: _Opened, target: _Opened) -> None:
    """Everything that can be checked before anything is written. Raises Busy, CannotMove, BadKeys, Unknown, Damaged."""
    if await source.house.movable.unfinished():
        raise CannotMove(f"{source.house.name} is itself a copy that isn't whole: finish that one first")
    await asyncio.gather(*(_check_quiet(each.house) for each in (source, target) if each.found.redis is not None))
    for each in (source, target):
        await _check_keys(source.given, each.found)  # the target's will be the same
    check_files(source.given, target.given)
    await check_people(source.people, target.people)
    await compare(source.house, target.house, whole=False)


def _arranged(found: Stores) -> ArrangedGames:
    if found.redis is not None:
        return RedisArranged(found.redis, found.log)
    assert found.embedded is not None
    return SqliteArranged(found.embedded)


async def _check_keys(given: Settings, found: Stores) -> None:
    """Redis knows what its servers' keys are like. Raises BadKeys, Unknown."""
    if found.redis is not None:
        await shared_keys.keys(replace(given, signs=has_ledger_key(given.keys)), found.redis)


async def _check_quiet(house: House) -> None:
    """A file is locked by who serves it; of a Redis only the beats tell, where nobody signs. Raises Busy."""
    if beats := await house.movable.beats():
        await asyncio.sleep(BEAT_GAP_MS_MAX / 1000)
        if await house.movable.beats() != beats:
            raise Busy(f"a server writes to {house.name}: stop all servers first")


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
            moved = asyncio.run(copied(*places, bar))
    except BadAddress as error:
        fail(f"that is no Redis address: {error}")
    except (*FAULTS, CannotMove, Unknown, BadKeys, Damaged, Conflict, BaseError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        fail("stopped; the same command goes on", 130)
    out.print("Copied, and compared:")
    for line in said(moved.heads):
        out.print(f"  {line}", markup=False)
    out.print("Serve from the new one now, and never again from the old: games that go on in both are two histories.")
    if moved.damaged:
        games = "\n".join(f"  {each.hex()}" for each in moved.damaged)
        fail(f"But for games whose log isn't whole in {source}, which go on in neither:\n{games}", 1)
