"""The boards that somebody asked for, in memory beside the rows of a file: the `Ranks` of the embedded store."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from projections.leaderboard import (
    BARS,
    LEADERBOARD,
    Board,
    index_of,
    is_barred,
    score_of,
    value_of,
)
from projections.ranking import Ranking
from projections.standings import Place
from server.projected import Checkpoint, Generation, Projected, StoredRow
from server.projector import Batch, Projector
from server.ranks import Places, placed
from server.view import NotReady

ROWS_MAX = 4_000_000
"""Rows of all boards in memory, 48 bytes each; those asked for longest ago are dropped above it."""
BOARDS_MAX = 512
PAGE_ROWS = 10_000
"""Rows read at once while a board is loaded."""
ATTEMPTS_MAX = 10


class Standings:
    """One board at hand. Each answer is of one position; the next may be of a later one."""

    def __init__(
        self,
        board: Board,
        ranking: Ranking,
        generation: int,
        checkpoint: Checkpoint,
        barred: Iterable[bytes] = (),
    ) -> None:
        self.board = board
        self._ranking = ranking
        self._barred: dict[bytes, int | None] = {}
        """What barred players' scores would be, None for one who wouldn't stand on this board."""
        for player in barred:
            self._bar(player, True)
        self._generation = generation
        self._checkpoint = checkpoint
        self.moved_as_of = checkpoint.as_of
        """When a place last changed, or when the board was loaded: since then it stands as it is."""

    def __len__(self) -> int:
        return len(self._ranking)

    @property
    def checkpoint(self) -> Checkpoint:
        return self._checkpoint

    def top(self, count: int) -> Places:
        return self.page(0, count)

    def page(self, start: int, count: int) -> Places:
        """At most `count` places from position `start` on."""
        start = max(0, start)
        players, scores = self._ranking.columns(start, count)
        ahead = self._ranking.ahead(scores[0]) if start and scores else 0
        return self._places(placed(start, players, scores, ahead))

    def following(self, score: int, player: bytes, count: int) -> Places:
        """At most `count` places behind this score and player, whether they stand there now or not."""
        start = self._ranking.before(player, score)
        stands = self._ranking.slice(start, 1) == [(player, score)]
        return self.page(start + stands, count)

    def around(self, player: bytes, count: int) -> Places:
        """The player with at most `count` before and `count` after; none if the player isn't on the board."""
        position = self._ranking.position(player)
        if position is None:
            return self._places(())
        start = max(0, position - count)
        return self.page(start, position + count + 1 - start)

    def of(self, players: Sequence[bytes]) -> Places:
        """Those of these players who are on the board, in its order."""
        found = [place for player in dict.fromkeys(players) if (place := self.place(player)) is not None]
        return self._places(tuple(sorted(found, key=lambda place: place.position)))

    def place(self, player: bytes) -> Place | None:
        score = self._ranking.score(player)
        if score is None:
            return None
        position = self._ranking.position(player)
        assert position is not None
        return Place(self._ranking.ahead(score) + 1, position, player, value_of(score), index_of(score))

    def rank(self, player: bytes) -> int | None:
        score = self._ranking.score(player)
        return None if score is None else self._ranking.ahead(score) + 1

    def apply(self, batch: Batch) -> bool:
        """Follow a committed batch; False if it isn't the one after what is here."""
        if (batch.generation, batch.before) != (self._generation, self._checkpoint):
            return False
        if self.put(batch):
            self.moved_as_of = batch.after.as_of
        self._checkpoint = batch.after
        return True

    def put(self, batch: Batch) -> bool:
        """Bring the batch's rows in, whenever they were; whether that moved anybody. Twice is harmless."""
        moved = False
        for key, values in batch.changed:
            if key.startswith(BARS):
                moved |= self._bar(key[len(BARS) :], is_barred(LEADERBOARD.make(values)))
            elif key.startswith(self.board.prefix):
                player = key[len(self.board.prefix) :]
                moved |= self._put(player, score_of(self.board.measure, LEADERBOARD.make(values)))
        return moved

    def _put(self, player: bytes, score: int | None) -> bool:
        if player in self._barred:
            self._barred[player] = score
            return False
        if score == self._ranking.score(player):
            return False
        self._ranking.put(player, score)
        return True

    def _bar(self, player: bytes, barred: bool) -> bool:
        if barred == (player in self._barred):
            return False
        if not barred:
            return self._put(player, self._barred.pop(player))
        score = self._ranking.score(player)
        moved = self._put(player, None)
        self._barred[player] = score
        return moved

    def _places(self, places: tuple[Place, ...]) -> Places:
        at = self._checkpoint
        return Places(at.as_of, at.leaf_hash, len(self._ranking), places, self.moved_as_of, self._generation)


@dataclass
class _Loading:
    """A board whose rows are being read, and what was committed meanwhile."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    batches: list[Batch] = field(default_factory=list)


class Boards:
    """Loads a board when it is first asked for, and follows every batch from there on."""

    def __init__(
        self, store: Projected, projector: Projector, rows_max: int = ROWS_MAX, boards_max: int = BOARDS_MAX
    ) -> None:
        self._store = store
        self._projector = projector
        self._rows_max = rows_max
        self._boards_max = boards_max
        self._standings: OrderedDict[Board, Standings] = OrderedDict()
        self._loading: dict[Board, _Loading] = {}
        projector.listen(self._committed, self._reset)

    async def standings(self, board: Board) -> Standings:
        """The board, which goes on following the ledger while it is held for a moment. Raises NotReady.

        Don't keep it: ask again, which costs nothing while it is in memory."""
        while True:
            found = self._standings.get(board)
            if found is not None:
                self._standings.move_to_end(board)
                return found
            loading = self._loading.get(board)
            if loading is None:
                return await self._load(board)
            await loading.done.wait()

    async def page(self, board: Board, start: int, count: int) -> Places:
        return (await self.standings(board)).page(start, count)

    async def following(self, board: Board, score: int, player: bytes, count: int) -> Places:
        return (await self.standings(board)).following(score, player, count)

    async def around(self, board: Board, player: bytes, count: int) -> Places:
        return (await self.standings(board)).around(player, count)

    async def of(self, board: Board, players: Sequence[bytes]) -> Places:
        return (await self.standings(board)).of(players)

    @property
    def rows(self) -> int:
        """How many rows are in memory."""
        return sum(map(len, self._standings.values()))

    def _reset(self, projection: str) -> None:
        if projection == LEADERBOARD.name:
            self._standings.clear()

    def _committed(self, batch: Batch) -> None:
        if batch.projection != LEADERBOARD.name:
            return
        for loading in self._loading.values():
            loading.batches.append(batch)
        # One that doesn't fit was folded from another generation, or missed a batch: it is loaded again when asked for.
        gone = [board for board, standings in self._standings.items() if not standings.apply(batch)]
        for board in gone:
            del self._standings[board]

    async def _load(self, board: Board) -> Standings:
        loading = self._loading[board] = _Loading()
        try:
            for _ in range(ATTEMPTS_MAX):
                standings = await self._loaded(board, loading)
                if standings is not None:
                    self._standings[board] = standings
                    self._make_room()
                    return standings
            raise NotReady(LEADERBOARD.name)
        finally:
            del self._loading[board]
            loading.done.set()

    async def _loaded(self, board: Board, loading: _Loading) -> Standings | None:
        """Read page by page while folding goes on, then put what was folded meanwhile on top; None: start again."""
        loading.batches.clear()
        first = await self._live()
        pages = [
            [
                (player, score)
                for player, row in page
                if (score := score_of(board.measure, LEADERBOARD.row(row))) is not None
            ]
            async for page in self._pages(board.prefix, first)
        ]
        barred = {
            player async for page in self._pages(BARS, first) for player, row in page if is_barred(LEADERBOARD.row(row))
        }
        ranking = await asyncio.to_thread(Ranking, chain.from_iterable(pages))
        async with self._projector.folding:
            # Everything committed has been told by now, unless another process folds too or another generation took
            # over. A row read late is only put in again, to the same place.
            live = await self._live()
            if not _joined(first, loading.batches, live):
                return None
            standings = Standings(board, ranking, live.id, live.checkpoint, barred)
            for batch in loading.batches:
                standings.put(batch)
            return standings

    async def _live(self) -> Generation:
        live = (await self._store.standing([LEADERBOARD.name])).get(LEADERBOARD.name)
        if live is None or live.version != LEADERBOARD.version:
            raise NotReady(LEADERBOARD.name)
        return live

    async def _pages(self, prefix: bytes, live: Generation) -> AsyncIterator[list[StoredRow]]:
        """(player, stored row) of all rows under a prefix, some at a time."""
        after, more = b"", True
        while more:
            found = await self._store.page(live, prefix, after, PAGE_ROWS)
            more = len(found) == PAGE_ROWS
            after = found[-1][0] if found else after
            yield [(key[len(prefix) :], row) for key, row in found]

    def _make_room(self) -> None:
        while len(self._standings) > 1 and (self.rows > self._rows_max or len(self._standings) > self._boards_max):
            self._standings.popitem(last=False)


def _joined(first: Generation, batches: Sequence[Batch], live: Generation) -> bool:
    """Whether these batches, and nothing else, lead from one look at a generation to a later one."""
    if first.id != live.id or any(batch.generation != live.id for batch in batches):
        return False
    if not batches:
        return first.checkpoint == live.checkpoint
    gapless = all(later.before == earlier.after for earlier, later in pairwise(batches))
    # The first may have been in the store already, and told only afterwards.
    return gapless and batches[0].before.as_of <= first.checkpoint.as_of and batches[-1].after == live.checkpoint
