"""The feed `me`: where a player waits, his unfinished games between people, and the rematches asked of him."""

import asyncio

import structlog

from events.log import Unknown
from server.audience import Watcher
from server.between import Between, players_of
from server.feeds import Feed, Rows
from server.queue import Queue
from server.wire import MyGame, Offer

SECTIONS = ("queues", "games", "offers")
RETRY_SECONDS = 1.0

log_line = structlog.get_logger()


class Mine:
    """The feeds of players who follow theirs just now."""

    def __init__(self, between: Between, queue: Queue) -> None:
        self._between = between
        self._queue = queue
        self._feeds: dict[bytes, Feed] = {}
        self._changed: set[bytes] = set()
        self._news = asyncio.Event()
        between.listen(self.changes)
        queue.listen(self.changes)

    def __len__(self) -> int:
        return len(self._feeds)

    def changes(self, player: bytes) -> None:
        if player in self._feeds:
            self._changed.add(player)
            self._news.set()

    async def follow(self, watcher: Watcher, player: bytes, after: tuple[int, bytes] | None) -> None:
        """Raises Unknown."""
        feed = self._feeds.setdefault(player, Feed("me", SECTIONS))
        feed.watchers.add(watcher)  # Before anything is awaited, so that the feed stays and misses no change.
        try:
            feed.set(await self._now(player))
        except BaseException:
            self.leave(watcher, player)
            raise
        if watcher in feed.watchers:
            feed.follow(watcher, after)

    def leave(self, watcher: Watcher, player: bytes) -> None:
        feed = self._feeds.get(player)
        if feed is not None:
            feed.leave(watcher)
            if not feed.watchers:
                del self._feeds[player]

    async def run(self) -> None:
        """For ever: tell whoever follows what has changed."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._changed:
                player = self._changed.pop()
                try:
                    rows = await self._now(player)
                except Unknown as error:
                    log_line.warning("a player's own feed waits", why=repr(error))
                    self._changed.add(player)
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                if (feed := self._feeds.get(player)) is not None:
                    feed.set(rows)

    async def _now(self, player: bytes) -> dict[str, Rows]:
        games = {
            live.game.hex(): MyGame(
                live.game.hex(), live.rules.name, players_of(live).index(player), live.table.opened.counts
            )
            for _, live in await self._between.unfinished(player)
            if live.table.opened is not None
        }
        offers = {
            each.game.hex(): Offer(each.game.hex(), each.rules, each.player.hex())
            for each in await self._between.offers(player)
        }
        return {"queues": {name: name for name in self._queue.of(player)}, "games": games, "offers": offers}
