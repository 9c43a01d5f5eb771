"""Where people meet: everything of this process that a game between two people needs beside its log."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from events.log import Unknown
from server.audience import Audience, Watcher
from server.between import Between
from server.exchange import Exchange
from server.games import Games
from server.lobby import Lobby
from server.meetings import Meetings
from server.mine import Mine
from server.nameplates import Called, Nameplates
from server.others import Others
from server.presence import Presence
from server.queue import Queue, Rating
from server.unopened import Unopened

END_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Hall:
    between: Between
    presence: Presence
    queue: Queue
    lobby: Lobby
    mine: Mine
    nameplates: Nameplates
    exchange: Exchange

    @property
    def loops(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """What runs for ever."""
        here = (self.presence.run, self.queue.run, self.lobby.run, self.mine.run, self.nameplates.run)
        return here if self.exchange.alone else (*here, self.exchange.run)

    async def end(self) -> None:
        """The process goes, and with it what it told the others. Where the store is away they find out by themselves.

        Whoever waits here to be paired waits on for a while, and comes back through another server."""
        with contextlib.suppress(Unknown, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self.exchange.end()

    def leave(self, watcher: Watcher) -> None:
        """The connection is gone."""
        self.lobby.feed.leave(watcher)
        if watcher.player is not None:
            self.mine.leave(watcher, watcher.player)
            self.presence.went(watcher.player)


def hall(
    games: Games,
    audience: Audience,
    meetings: Meetings,
    rating: Rating,
    called: Called,
    clock: Callable[[], int],
    key: bytes,
    others: Others,
    emptying: Callable[[], bool] = lambda: False,
) -> Hall:
    """`clock`: Unix milliseconds; `key`: a secret of the operator's. `emptying`: whether everybody is asked to go."""
    presence = Presence(games, audience, others.alone)
    between = Between(games, meetings, key, presence.connected)
    unopened = Unopened(games, meetings, between, others.alone)
    queue = Queue(games, between, unopened, meetings, rating, clock, presence.connected)

    def gone(player: bytes) -> None:
        if emptying():
            return  # He didn't leave, he was sent to another server, and has there what he had here.
        queue.gone(player)
        between.gone(player)

    presence.listen(gone, changed=lambda player: None)
    presence.care(queue.players)
    presence.care(between.asking)
    lobby = Lobby(games, audience, between, presence, called, others.alone)
    mine = Mine(between, queue, others.alone)
    for part in (between, queue):
        part.listen(others.tell)
    for heard in (mine.changes, lobby.look_up):
        others.listen(heard)
    exchange = Exchange(others, presence, lobby, mine)
    return Hall(between, presence, queue, lobby, mine, Nameplates(games, audience, called), exchange)
