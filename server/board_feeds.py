"""The feeds `board/LADDER/MEASURE/WINDOW`: a board's top, then what changes in it. Positions are the ledger's."""

import asyncio
import contextlib
from collections.abc import Callable

import structlog

from events.log import Unknown
from projections import leaderboard, windows
from projections.leaderboard import BadBoard, Board
from projections.standings import Place
from projections.windows import NAMES
from server.audience import Watcher
from server.boards import Boards, Places
from server.feeds import Feed
from server.nameplates import Called
from server.projector import Batch, NotReady, Projector
from server.wire import BoardPlace, BoardState, NotSubscribed, Trouble

KIND = "board/"
TOP = 20
"""Places that a feed has. Every other part of a board is asked for over HTTP."""
TELL_SECONDS = 0.25
"""Between two looks, however fast the ledger grows."""
LOOK_SECONDS_MAX = 30.0
"""A clock that was set is noticed within this time, and so is a name that changed."""

log_line = structlog.get_logger()


class BoardFeeds:
    """The boards that somebody follows just now. At most all there are of all time, this week and today."""

    def __init__(self, boards: Boards, projector: Projector, names: Called, clock: Callable[[], int]) -> None:
        self._boards = boards
        self._names = names
        self._clock = clock
        self._feeds: dict[str, Feed] = {}
        self._turns: dict[str, int] = {}
        """When a feed goes over to another window, in milliseconds."""
        self._news = asyncio.Event()
        self._looking = asyncio.Lock()
        """An older look must not come after a newer one."""
        projector.listen(self._committed, self._reset)

    def __len__(self) -> int:
        return len(self._feeds)

    def _committed(self, batch: Batch) -> None:
        if batch.projection == leaderboard.LEADERBOARD.name:
            self._news.set()

    def _reset(self, projection: str) -> None:
        self._news.set()

    async def follow(self, watcher: Watcher, topic: str, after: tuple[int, bytes] | None) -> None:
        """Answer `subscribed` and what is missing, or why not. `after`: as_of and leaf hash of what the peer holds."""
        board = self._board(topic)
        if board is None:
            watcher.tell(NotSubscribed(topic, Trouble.UNKNOWN_TOPIC))
            return
        try:
            feed = await self._look(topic, board)
        except (NotReady, Unknown):
            watcher.tell(NotSubscribed(topic, Trouble.TRY_AGAIN))
            return
        # Nothing is awaited from here on: the feed stays as long as somebody follows it.
        self._feeds[topic] = feed
        feed.follow(watcher, after)
        self._news.set()

    def leave(self, watcher: Watcher, topic: str) -> None:
        feed = self._feeds.get(topic)
        if feed is not None:
            feed.leave(watcher)
            if not feed.watchers:
                del self._feeds[topic]
                self._turns.pop(topic, None)

    def gone(self, watcher: Watcher) -> None:
        """The connection is."""
        for topic in [topic for topic, feed in self._feeds.items() if watcher in feed.watchers]:
            self.leave(watcher, topic)

    async def run(self) -> None:
        """For ever: tell whoever follows a board what has changed."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._wait_seconds()):
                    await self._news.wait()
            self._news.clear()
            await self.tell()
            await asyncio.sleep(TELL_SECONDS)

    async def tell(self) -> None:
        """What has changed since it was called last."""
        for topic in tuple(self._feeds):
            board = self._board(topic)
            assert board is not None, topic
            try:
                await self._look(topic, board)
            except (NotReady, Unknown) as error:
                log_line.warning("a board's feed waits", topic=topic, why=repr(error))

    def _wait_seconds(self) -> float:
        turn_ms = min((self._turns[topic] for topic in self._feeds if topic in self._turns), default=None)
        left = LOOK_SECONDS_MAX if turn_ms is None else (turn_ms - self._clock()) / 1000
        return min(max(left, 0.0), LOOK_SECONDS_MAX)

    def _board(self, topic: str) -> Board | None:
        """The board that a topic is of, as its window stands now; None if there is none."""
        parts = topic.removeprefix(KIND).split("/")
        if len(parts) != 3 or parts[2] not in NAMES:
            return None
        try:
            return leaderboard.board(parts[0], parts[1], parts[2], self._clock())
        except BadBoard:
            return None

    async def _look(self, topic: str, board: Board) -> Feed:
        """The topic's feed, told how the board stands now. Raises NotReady, Unknown."""
        async with self._looking:
            standings = await self._boards.standings(board)
            top = standings.top(TOP)
            known = await self._names([place.player for place in top.places])
            feed = self._feeds.get(topic) or Feed(topic, ("board", "places"))
            span = windows.span(board.window)
            until_ms = span.until_ms if span is not None else None
            if until_ms is not None:
                self._turns[topic] = until_ms
            places = {place.player.hex(): _told(place, known.get(place.player)) for place in top.places}
            feed.set({"board": {"": _state(board, until_ms, top)}, "places": places}, (top.as_of, top.leaf_hash))
            return feed


def _state(board: Board, until_ms: int | None, top: Places) -> BoardState:
    return BoardState(board.ladder, board.measure, board.window, until_ms, top.size)


def _told(place: Place, name: str | None) -> BoardPlace:
    return BoardPlace(place.rank, place.position, place.player.hex(), name, place.value, place.entry)
