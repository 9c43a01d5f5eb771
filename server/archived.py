"""A Log whose closed games may have gone to the archive: readers don't notice. The one place that joins the two."""

from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from typing import Any

from obstore.exceptions import BaseError

from events.chain import Head, Stored
from events.log import Batch, LetGo, Log, Unknown
from projections import saved
from projections.saved import NotSaved
from server.archive import Archive, game_path
from server.games import Damaged
from server.layer import Layer

GAMES_MAX = 32
"""Kept in mind, since whoever reads one page of a game soon reads the next."""
EVENTS_MAX = 100_000
"""Of all of them."""


class ArchivedLog(Layer):
    """`events.log.Log`, but that `read` raises no LetGo: Unknown where the archive doesn't answer, Damaged where it
    doesn't have what was let go."""

    def __init__(self, log: Log, archive: Archive) -> None:
        super().__init__(log)
        self._archive = archive
        self._kept: OrderedDict[bytes, Sequence[Stored]] = OrderedDict()

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        try:
            return await self._log.read(game, after, limit)
        except LetGo as gone:
            events = await self._events(game, gone.head)
            return events[after:][:limit]

    async def _events(self, game: bytes, head: Head) -> Sequence[Stored]:
        events = self._kept.get(game)
        if events is None:
            events = self._kept[game] = await self._fetch(game, head)
            while len(self._kept) > 1 and (len(self._kept) > GAMES_MAX or self._size() > EVENTS_MAX):
                self._kept.popitem(last=False)
        self._kept.move_to_end(game)
        return events

    def _size(self) -> int:
        return sum(map(len, self._kept.values()))

    async def _fetch(self, game: bytes, head: Head) -> Sequence[Stored]:
        try:
            data = await self._archive.get(game_path(game))
        except (OSError, BaseError) as error:
            raise Unknown(f"the archive can't be read: {error}") from error
        if data is None:
            raise Damaged(game, head.version, "its log was let go, and the archive hasn't got it")
        try:
            found = saved.load(data)
        except NotSaved as error:
            raise Damaged(game, error.version, f"its file in the archive: {error.why}") from error
        if found.game != game or not found.events or found.events[-1].head != head:
            raise Damaged(game, head.version, "its file in the archive doesn't end as its log did")
        return found.events

    def append(self, game: bytes, head: Head, batch: Batch) -> Coroutine[Any, Any, Head]:
        return self._log.append(game, head, batch)

    async def head(self, game: bytes) -> Head:
        return await self._log.head(game)
