"""Projections built anew beside the live ones, which they replace at an equal position. May be killed at any time."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from events.log import Unknown
from projections.projection import Projection
from server.folding import Diverged, Item, Reader, following
from server.gathering import Gathering
from server.projected import ROWS_AN_ENTRY, Checkpoint, Differs, Generation, Moved, Projected, Standing, Taken

BATCH_ENTRIES = 5_000
MADE_PART = 8
"""A write of rows that hardly change any more must make room for this part of all that may stay in memory."""


@dataclass(frozen=True, slots=True)
class Progress:
    name: str
    folded: int
    entries: int | None
    """Up to where it has to go at present; None: to the ledger's end."""


Told = Callable[[Progress], None]
Outcome = Taken | Differs | Diverged | None
"""None: another process's rebuild took over."""


async def rebuild(
    store: Projected,
    ledger: Reader,
    projections: Sequence[Projection[Any]],
    told: Told = lambda progress: None,
    force: bool = False,
    batch_entries: int = BATCH_ENTRIES,
    rows_max: int | None = None,
) -> dict[str, Outcome]:
    """Build projections from the ledger in one pass and let each take over; what became of each, by name.

    Goes on where one that was killed last wrote. The live ones fold on meanwhile, and are kept when they are replaced.
    `force` goes to the ledger's end and takes over whatever the live one holds: the way out where that was folded from
    another ledger, or is the one that is wrong. `rows_max`: so many that aren't written are kept in memory.

    Differs: the live one has other rows at an equal position, and what was built is dropped."""
    rows_max = store.rows_at_once if rows_max is None else rows_max
    batch_entries = min(batch_entries, store.rows_at_once // ROWS_AN_ENTRY)
    building = _Rebuild(store, ledger, told, force, batch_entries, rows_max)
    for projection in projections:
        await building.begin(projection, anew=force)
    while building.unfinished:
        await building.forward()
    await store.sweep([projection.name for projection in projections])
    return building.outcomes


class _Rebuild:
    def __init__(
        self, store: Projected, ledger: Reader, told: Told, force: bool, batch_entries: int, rows_max: int
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._told = told
        self._force = force
        self._batch_entries = batch_entries
        self._rows_max = rows_max
        self.unfinished: dict[str, Gathering] = {}
        self.outcomes: dict[str, Outcome] = {}

    async def begin(self, projection: Projection[Any], anew: bool) -> None:
        name, version = projection.name, projection.version
        generation = await self._store.begin(name, version, "building")
        if anew and generation.checkpoint.as_of:
            await self._store.drop_building(name)
            generation = await self._store.begin(name, version, "building")
        self.unfinished[name] = Gathering(projection, generation, await self._store.held(generation))

    async def forward(self) -> None:
        """One batch for those that are furthest behind; a takeover for those that have none to fold."""
        live = await self._store.standing(list(self.unfinished))
        targets: dict[str, int | None] = {}
        for name, gathering in tuple(self.unfinished.items()):
            target = targets[name] = None if self._force or name not in live else live[name].checkpoint.as_of
            if target is not None and target < gathering.as_of:
                # The live one was rolled back meanwhile: never will the two be equally far.
                await self.begin(gathering.projection, anew=True)
            self._told(Progress(name, self.unfinished[name].as_of, target))
        behind = [each for name, each in self.unfinished.items() if targets[name] != each.as_of]
        for name, gathering in tuple(self.unfinished.items()):
            if gathering not in behind:
                await self._finish(gathering, live.get(name))
        if behind:
            await self._fold(behind, targets, live)

    async def _fold(self, behind: Sequence[Gathering], targets: Mapping[str, int | None], live: Standing) -> None:
        first = min(behind, key=lambda each: each.as_of)
        # Those at one position go on together, up to where one of them, or of the others, has its own.
        group = [each for each in behind if (each.as_of, each.leaf_hash) == (first.as_of, first.leaf_hash)]
        stops = [each.as_of for each in behind] + [targets[each.projection.name] for each in group]
        limit = min([self._batch_entries, *(at - first.as_of for at in stops if at is not None and at > first.as_of)])
        try:
            batch = await following(self._ledger, Checkpoint(first.as_of, first.leaf_hash), limit)
        except Diverged as error:
            for gathering in group:
                self._end(gathering, error)
            return
        for gathering in group:
            name = gathering.projection.name
            if batch:
                await self._folded(gathering, batch)
            elif (target := targets[name]) is not None:
                what = f"the live {name} was folded from {target} entries, the ledger has {gathering.as_of}"
                self._end(gathering, Diverged(what))
            else:
                await self._finish(gathering, live.get(name))
        while sum(each.unwritten for each in self.unfinished.values()) > self._rows_max:
            await self._make_room()

    async def _make_room(self) -> None:
        """Write rows that hardly change any more; where they are few, all of the projection that has the most."""
        fullest = max(self.unfinished.values(), key=lambda each: each.made)
        if MADE_PART * fullest.made > self._rows_max:
            await self._write(fullest, whole=False)
        else:
            await self._write(max(self.unfinished.values(), key=lambda each: each.unwritten), whole=True)

    async def _folded(self, gathering: Gathering, batch: Sequence[Item]) -> None:
        work = await asyncio.to_thread(gathering.work, batch)
        missing = gathering.missing(work)
        found = await self._store.rows(gathering.projection.name, gathering.generation.id, missing) if missing else {}
        await asyncio.to_thread(gathering.fold, batch, work, found)

    async def _write(self, gathering: Gathering, whole: bool) -> bool:
        """Whether it was written; if not, the projection begins again from what is stored."""
        after, rows, held = await asyncio.to_thread(gathering.gathered, whole)
        try:
            generation = await self._store.advance(gathering.generation, after, rows, held)
        except (Moved, Unknown):
            await self._again(gathering)
            return False
        gathering.written(generation)
        return True

    async def _again(self, gathering: Gathering) -> None:
        """Another process rebuilds the same, or nobody knows what was stored: read, and go on from there."""
        name = gathering.projection.name
        found = (await self._store.standing([name], "building")).get(name)
        if found is None or found.version != gathering.projection.version:
            self._end(gathering, None)
        else:
            self.unfinished[name] = Gathering(gathering.projection, found, await self._store.held(found))

    async def _finish(self, gathering: Gathering, live: Generation | None) -> None:
        """Write the rest and take over, unless the live one has gone on meanwhile."""
        if not gathering.is_stored and not await self._write(gathering, whole=True):
            return
        try:
            taken = await self._store.take_over(gathering.generation, self._force or live is None)
        except (Moved, Unknown):
            await self._again(gathering)
        except Differs as error:
            await self._store.drop_building(gathering.projection.name)
            self._end(gathering, error)
        else:
            if taken is not None:
                self._end(gathering, taken)

    def _end(self, gathering: Gathering, outcome: Outcome) -> None:
        del self.unfinished[gathering.projection.name]
        self.outcomes[gathering.projection.name] = outcome


async def roll_back(store: Projected, projection: Projection[Any]) -> Generation | None:
    """Go back to the generation that the last rebuild replaced, which folds on from where it was; None: there is none.

    The one gone back from is kept in its place."""
    return await store.roll_back(projection.name)
