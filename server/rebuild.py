"""A projection built anew beside the live one, which it replaces at an equal position. May be killed at any time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from events.database import Database
from events.log import Unknown
from projections.projection import Projection
from server import generations
from server.folding import Diverged, Folding, Item, Prepared, Reader, following
from server.generations import Generation, Moved, Taken

BATCH_ENTRIES = 20_000
ROWS_MAX = 500_000
"""Rows kept in memory between batches; about 700 bytes each."""


@dataclass(frozen=True, slots=True)
class Progress:
    name: str
    folded: int
    entries: int | None
    """Up to where it has to go at present; None: to the ledger's end."""


Told = Callable[[Progress], None]


async def rebuild(
    database: Database,
    ledger: Reader,
    projection: Projection[Any],
    told: Told = lambda progress: None,
    force: bool = False,
    batch_entries: int = BATCH_ENTRIES,
) -> Taken | None:
    """Build the projection from the ledger and let it take over; None: another process's rebuild did.

    Goes on where one that was killed left off. The live one folds on meanwhile, and is kept when it is replaced.
    `force` goes to the ledger's end and takes over whatever the live one holds: the way out where that was folded from
    another ledger, or is the one that is wrong.

    Raises Differs, and drops what was built, if the live one has other rows at an equal position; Diverged."""
    building = await database.write(
        partial(generations.begin, name=projection.name, version=projection.version, state="building")
    )
    if force and building.checkpoint.as_of:
        building = await _anew(database, projection)
    folding = Folding(projection, building, ROWS_MAX)
    while True:
        if not force and await _ahead_of_live(database, folding):
            # The live one was rolled back meanwhile: never will the two be equally far.
            folding = Folding(projection, await _anew(database, projection), ROWS_MAX)
        try:
            taken = await _forward(database, ledger, folding, told, force, batch_entries)
        except generations.Differs:
            await database.write(partial(generations.drop_building, name=projection.name))
            await sweep(database)
            raise
        except (Moved, Unknown):
            # Another process rebuilds the same, or nobody knows what was stored: read, and go on from there.
            found = await _building(database, projection)
            if found is None:
                return None
            folding = Folding(projection, found, ROWS_MAX)
            continue
        if taken is not None:
            await sweep(database)
            return taken


async def _forward(
    database: Database, ledger: Reader, folding: Folding, told: Told, force: bool, batch_entries: int
) -> Taken | None:
    """One batch, or the takeover if there is none to fold."""
    name, as_of = folding.projection.name, folding.checkpoint.as_of
    live = await database.read(lambda connection: generations.standing(connection, name))
    until = None if force or live is None else live.checkpoint.as_of
    told(Progress(name, as_of, until))
    batch: Sequence[Item] = ()
    if until is None or until > as_of:
        limit = batch_entries if until is None else min(batch_entries, until - as_of)
        batch = await following(ledger, folding.checkpoint, limit)
        if not batch and until is not None:
            raise Diverged(f"the live {name} was folded from {until} entries, the ledger has {as_of}")
    if not batch:
        known = folding.generation
        return await database.write(lambda connection: generations.take_over(connection, known, force or live is None))
    prepared = await database.read(lambda connection: folding.prepare(connection, batch))
    folding.committed(await _committed(database, folding, prepared), prepared)
    return None


async def _ahead_of_live(database: Database, folding: Folding) -> bool:
    live = await database.read(lambda connection: generations.standing(connection, folding.projection.name))
    return live is not None and live.checkpoint.as_of < folding.checkpoint.as_of


async def _committed(database: Database, folding: Folding, prepared: Prepared) -> Generation:
    return await database.write(lambda connection: folding.commit(connection, prepared))


async def _building(database: Database, projection: Projection[Any]) -> Generation | None:
    found = await database.read(lambda connection: generations.standing(connection, projection.name, "building"))
    return found if found is not None and found.version == projection.version else None


async def _anew(database: Database, projection: Projection[Any]) -> Generation:
    await database.write(partial(generations.drop_building, name=projection.name))
    return await database.write(
        partial(generations.begin, name=projection.name, version=projection.version, state="building")
    )


async def sweep(database: Database) -> None:
    """Delete what was dropped, a little at a time, so that nobody waits for it."""
    while await database.write(generations.sweep):
        pass


async def roll_back(database: Database, projection: Projection[Any]) -> Generation | None:
    """Go back to the generation that the last rebuild replaced, which folds on from where it was; None: there is none.

    The one gone back from is kept in its place."""
    return await database.write(partial(generations.roll_back, name=projection.name))
