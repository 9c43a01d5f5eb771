"""The feed `me`: where a player waits, his unfinished games between people, and the rematches asked of him."""

import asyncio
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Own:
    """One player's feed."""

    feed: Feed
    coming: set[Watcher] = field(default_factory=set)
    """Who waits for the first rows, and would read a delta before they came."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while rows are looked up and set, so that older ones never come after newer ones."""


class Mine:
    """The feeds of players who follow theirs just now."""

    def __init__(self, between: Between, queue: Queue, alone: bool) -> None:
        """`alone`: there are no other servers, at which a player might wait, too."""
        self._between = between
        self._queue = queue
        self._alone = alone
        self._own: dict[bytes, _Own] = {}
        self._changed: set[bytes] = set()
        self._news = asyncio.Event()
        between.listen(self.changes)
        queue.listen(self.changes)

    def __len__(self) -> int:
        return len(self._own)

    def changes(self, player: bytes) -> None:
        if player in self._own:
            self._changed.add(player)
            self._news.set()

    def all_change(self) -> None:
        """Something may have been missed."""
        for player in self._own:
            self.changes(player)

    async def follow(self, watcher: Watcher, player: bytes, after: tuple[int, bytes] | None) -> None:
        """Raises Unknown."""
        own = self._own.setdefault(player, _Own(Feed("me", SECTIONS)))
        own.coming.add(watcher)
        try:
            await self._queue.comes(player)
            await self._between.comes(player)
            await self._look_up(player, own)
            if watcher in own.coming:
                own.feed.follow(watcher, after)
        finally:
            own.coming.discard(watcher)
            self._let_go(player, own)

    def leave(self, watcher: Watcher, player: bytes) -> None:
        own = self._own.get(player)
        if own is not None:
            own.coming.discard(watcher)
            own.feed.leave(watcher)
            self._let_go(player, own)

    def _let_go(self, player: bytes, own: _Own) -> None:
        if not own.coming and not own.feed.watchers and self._own.get(player) is own:
            del self._own[player]

    async def _look_up(self, player: bytes, own: _Own) -> None:
        async with own.lock:
            own.feed.set(await self._now(player))

    async def run(self) -> None:
        """For ever: tell whoever follows what has changed."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._changed:
                player = self._changed.pop()
                own = self._own.get(player)
                if own is None:
                    continue
                try:
                    await self._look_up(player, own)
                except Unknown as error:
                    log_line.warning("a player's own feed waits", why=repr(error))
                    self._changed.add(player)
                    await asyncio.sleep(RETRY_SECONDS)

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
        queues = self._queue.of(player) if self._alone else await self._queue.everywhere(player)
        return {"queues": {name: name for name in queues}, "games": games, "offers": offers}
