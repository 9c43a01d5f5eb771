"""The loop around the projections: reads the ledger, folds, and writes rows with the position they account for."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import structlog

from events.log import Unknown
from projections.history import HISTORY
from projections.leaderboard import LEADERBOARD
from projections.projection import Projection, Values
from projections.records import RECORDS
from projections.rivals import RIVALS
from server.folding import Behind, Diverged, Folding, Item, Prepared, Reader, following
from server.projected import ROWS_AN_ENTRY, Checkpoint, Generation, Moved, Page, Projected, Standing
from server.view import ROWS_READ_MAX, View

PROJECTIONS: tuple[Projection[Any], ...] = (RECORDS, RIVALS, LEADERBOARD, HISTORY)
BATCH_ENTRIES = 1000
RETRY_SECONDS = 5.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Batch:
    """What was just committed. `before`: the checkpoint it continues, for whoever holds rows of this generation."""

    projection: str
    generation: int
    before: Checkpoint
    after: Checkpoint
    changed: Sequence[tuple[bytes, Values]]
    """Key and fields of each row that was touched, as it is now."""


@dataclass(frozen=True, slots=True)
class Read:
    """Rows as they stood at one position."""

    as_of: int
    leaf_hash: bytes
    rows: Sequence[tuple[bytes, Any]]


class Position(NamedTuple):
    """How far a projection is, and why it goes no further."""

    as_of: int | None
    trouble: str | None


T = TypeVar("T")
Listener = Callable[[Batch], None]
Reset = Callable[[str], None]


class Projector:
    """Any number of these may run over one store: only one of them gets each batch in, and the others read on."""

    def __init__(
        self,
        store: Projected,
        ledger: Reader,
        projections: Sequence[Projection[Any]] = PROJECTIONS,
        batch_entries: int = BATCH_ENTRIES,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._projections = {projection.name: projection for projection in projections}
        self._batch_entries = min(batch_entries, store.rows_at_once // ROWS_AN_ENTRY)
        self._foldings: dict[str, Folding] = {}
        self._listeners: list[tuple[Listener, Reset]] = []
        self._woken = asyncio.Event()
        self._folded = asyncio.Event()
        """Replaced after each batch."""
        self.folding = asyncio.Lock()
        """Held from before a batch is committed until everybody was told of it."""
        self.outdated: frozenset[str] = frozenset()
        """Projections whose live rows another release's rules made: they stand still until they are rebuilt."""
        self.trouble: str | None = None
        """Why nothing is folded just now."""
        self.not_rebuilt: dict[str, str] = {}
        """Why an outdated projection could not be rebuilt, by name."""

    def listen(self, listener: Listener, reset: Reset) -> None:
        """Be told of every batch after its commit, on the event loop, in order. Must not raise.

        `reset` gets the name of a projection whose rows became others without a batch: a rebuild took over, or another
        process folded."""
        self._listeners.append((listener, reset))

    def wake(self) -> None:
        """The ledger has grown. Callable on the event loop only."""
        self._woken.set()

    async def begin(self) -> None:
        """Make what isn't there and see what is outdated: from here on rows can be read."""
        async with self.folding:
            await self._look()

    async def run(self) -> None:
        """Fold whatever comes, until cancelled. A ledger that isn't the one folded stops it, with an alarm."""
        now = asyncio.get_running_loop().time
        since: float | None = None
        while True:
            self._woken.clear()
            try:
                await self.advance()
                self.trouble, since = None, None
            except (Diverged, Unknown) as error:
                since = now() if since is None else since
                # Who has slept, or has just begun, hears of what others signed and folded in a moment.
                if not isinstance(error, Behind) or now() - since >= RETRY_SECONDS:
                    self.trouble = str(error)
                    log.error("projections stand still", why=self.trouble)
            # Another process may have signed more, or mended what was wrong. Not `wait_for`: in Python 3.11 it loses a
            # cancellation that comes together with what it waits for, and a server would not end.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS):
                    await self._woken.wait()

    async def advance(self) -> int:
        """Fold up to the ledger's end; how many batches that took. Raises Diverged, Unknown."""
        batches = 0
        while await self._advance_once():
            batches += 1
        return batches

    def generation(self, name: str) -> Generation | None:
        """A projection's live generation as this process last knew it; None before the first look, or if outdated."""
        folding = self._foldings.get(name)
        return None if folding is None else folding.generation

    async def read(self, name: str, prefix: bytes, after: bytes = b"", limit: int = ROWS_READ_MAX) -> Read:
        """Rows whose key begins with `prefix`, above the key `after`, rising, at most `limit`. Raises NotReady."""
        projection = self._projections[name]

        async def job(view: View) -> Read:
            return Read(view.as_of, view.leaf_hash, await view.page(projection, prefix, after, limit))

        return await self.view((projection,), job)

    async def view(self, projections: Sequence[Projection[Any]], job: Callable[[View], Awaitable[T]]) -> T:
        """What `job`, which awaits nothing but the view's pages and may be called again, made of rows that all stand
        at one position. Raises NotReady.

        Only where one of these stands still the others may be ahead: `as_of` is then the lowest."""
        names = [projection.name for projection in projections]

        async def viewed(live: Standing, page: Page) -> tuple[bool, T]:
            view = View(projections, live, page)
            return view.agrees, await job(view)

        agrees, made = await self._store.view(names, viewed)
        if not agrees:
            # Between two commits of one batch: wait for the other.
            async with self.folding:
                _, made = await self._store.view(names, viewed)
        return made

    async def reached(self, index: int, seconds_max: float) -> bool:
        """Whether the entry with that ledger index is folded into all that isn't outdated; waits a while for it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds_max):
                while not self._has(index):
                    await self._folded.wait()
        return self._has(index)

    def _has(self, index: int) -> bool:
        return all(
            name in self._foldings and self._foldings[name].checkpoint.as_of > index
            for name in self._projections.keys() - self.outdated
        )

    def positions(self) -> Mapping[str, Position]:
        """Of each projection, as this process last knew it."""
        return {name: self._position(name) for name in self._projections}

    def _position(self, name: str) -> Position:
        if name in self.outdated:
            why = self.not_rebuilt.get(name, "another release made its rows: it is being rebuilt")
            return Position(None, why)
        folding = self._foldings.get(name)
        return Position(None if folding is None else folding.checkpoint.as_of, self.trouble)

    async def _advance_once(self) -> bool:
        async with self.folding:
            await self._look()
            if not self._foldings:
                return False
            lowest = min(folding.checkpoint.as_of for folding in self._foldings.values())
            behind = [folding for folding in self._foldings.values() if folding.checkpoint.as_of == lowest]
            ahead = [folding.checkpoint.as_of for folding in self._foldings.values() if folding not in behind]
            limit = min([self._batch_entries, *(as_of - lowest for as_of in ahead)])
            if len({folding.checkpoint.leaf_hash for folding in behind}) > 1:
                raise Diverged(f"projections were folded from different ledgers, up to {lowest}")
            batch = await following(self._ledger, behind[0].checkpoint, limit)
            if batch:
                await self._fold(behind, batch)
                self._folded.set()
                self._folded = asyncio.Event()
            return bool(batch)

    async def _look(self) -> None:
        """Which generations are live now; a takeover by another process is noticed here."""
        live = dict(await self._store.standing(list(self._projections)))
        for name, projection in self._projections.items():
            if name not in live:
                live[name] = await self._store.begin(name, projection.version, "live")
        outdated = set()
        for name, generation in live.items():
            projection = self._projections[name]
            known = self._foldings.get(name)
            if generation.version != projection.version:
                outdated.add(name)
                self._foldings.pop(name, None)
            elif known is None or known.generation != generation:
                self._foldings[name] = Folding(projection, generation)
                for _, reset in self._listeners:
                    reset(name)
        self.outdated = frozenset(outdated)

    async def _fold(self, foldings: Sequence[Folding], batch: Sequence[Item]) -> None:
        prepared = [await self._prepared(folding, batch) for folding in foldings]
        # Told apart from each other: each is right by itself, and one that was moved only has to look again.
        for outcome in await asyncio.gather(*map(self._commit, foldings, prepared), return_exceptions=True):
            if outcome is not None:
                raise outcome

    async def _prepared(self, folding: Folding, batch: Sequence[Item]) -> Prepared:
        missing = folding.missing(batch)
        found = await self._store.rows(folding.projection.name, folding.generation.id, missing) if missing else {}
        return await asyncio.to_thread(folding.prepare, batch, found)

    async def _commit(self, folding: Folding, prepared: Prepared) -> None:
        before = folding.checkpoint
        try:
            generation = await self._store.advance(folding.generation, prepared.after, prepared.rows)
        except (Moved, Unknown) as error:
            # What is in memory may not be what is stored; the next look reads it anew.
            del self._foldings[folding.projection.name]
            if isinstance(error, Unknown):
                raise
            return
        folding.committed(generation, prepared)
        changed = [(key, row) for key, (row, _) in prepared.known.items()]
        told = Batch(folding.projection.name, generation.id, before, prepared.after, changed)
        for listener, _ in self._listeners:
            listener(told)
