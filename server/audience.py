"""Who watches what: subscriptions to games, each a backlog and a live tail through one function.

A subscription knows the head its connection holds. What follows that head is sent; a repeat is dropped; anything else
is read from the log. So a lost, late or doubled delivery can neither skip an event nor show it twice.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from events import chain
from events.chain import Head, Stored
from events.log import Log
from server import wire
from server.games import Damaged, Games, Live
from server.wire import Codec, Trouble

SUBSCRIPTIONS_MAX = 16
"""Of one connection."""
CHUNK = 256
"""Events in one frame of a backlog."""
HEAL_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""When the head of a game of which nothing was heard is read again."""

log_line = structlog.get_logger()


@dataclass(eq=False, slots=True)
class Watcher:
    """What the audience knows of a connection: how it speaks, who it is, and where its frames go."""

    codec: Codec
    player: bytes | None
    send: Callable[[bytes], None]
    subscriptions: dict[bytes, "Subscription"] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Subscription:
    game: bytes
    watcher: Watcher
    head: Head
    """Of the last event sent."""
    catching_up: bool = False
    missed: bool = False
    """Whether something came while it was catching up."""


@dataclass(slots=True)
class Watched:
    """A game somebody watches."""

    subscriptions: set[Subscription]
    quiet: int = 0
    """How often its head was read in vain since something was heard."""
    check_at: float = 0.0


class Audience:
    """All subscriptions of this process."""

    def __init__(self, games: Games, log: Log) -> None:
        self._games = games
        self._log = log
        self._watched: dict[bytes, Watched] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[Callable[[bytes, Watcher | None], None]] = []
        games.listen(self._published)

    def __len__(self) -> int:
        return sum(len(watched.subscriptions) for watched in self._watched.values())

    def listen(self, changed: Callable[[bytes, Watcher | None], None]) -> None:
        """Be told of a game whose watchers changed, and of the one who came."""
        self._listeners.append(changed)

    def _changed(self, game: bytes, came: Watcher | None) -> None:
        for changed in self._listeners:
            changed(game, came)

    def watchers(self, game: bytes) -> list[Watcher]:
        """Who subscribes to it, those who sit there, too."""
        watched = self._watched.get(game)
        return [each.watcher for each in watched.subscriptions] if watched is not None else []

    def tell(self, game: bytes, message: wire.ToClient, only: Collection[Watcher] | None = None) -> None:
        """Send something that is in no log to a game's watchers, encoded once for each subprotocol."""
        frames: dict[str, bytes] = {}
        for watcher in self.watchers(game):
            if only is None or watcher in only:
                if watcher.codec.name not in frames:
                    frames[watcher.codec.name] = watcher.codec.encode(message)
                watcher.send(frames[watcher.codec.name])

    async def subscribe(self, watcher: Watcher, game: bytes, after: Head | None) -> None:
        """Answer `subscribed` and the backlog, then stay. Replaces the connection's subscription to this game."""
        codec, topic = watcher.codec, wire.topic(game)
        if game not in watcher.subscriptions and len(watcher.subscriptions) >= SUBSCRIPTIONS_MAX:
            watcher.send(codec.encode(wire.NotSubscribed(topic, Trouble.TOO_MANY_SUBSCRIPTIONS)))
            return
        try:
            live = await self._games.refreshed(game)
        except Damaged:
            watcher.send(codec.encode(wire.NotSubscribed(topic, Trouble.DAMAGED)))
            return
        if live is None:
            watcher.send(codec.encode(wire.NotSubscribed(topic, Trouble.UNKNOWN_GAME)))
            return
        origin = chain.origin(game)
        start = after if after is not None and await self._holds(game, after) else origin
        self.unsubscribe(watcher, game)
        subscription = Subscription(game, watcher, start, catching_up=True)
        watcher.subscriptions[game] = subscription
        watched = self._watched.setdefault(game, Watched(set()))
        watched.subscriptions.add(subscription)
        self._heard(watched)
        recovered = start == after or (after is None and start == origin)
        watcher.send(codec.encode(wire.Subscribed(topic, recovered, start.version, start.hash)))
        await self._catch_up(subscription)
        if watcher.subscriptions.get(game) is subscription:
            self._changed(game, watcher)

    async def _holds(self, game: bytes, head: Head) -> bool:
        if head.version == 0:
            return head == chain.origin(game)
        stored = await self._log.read(game, head.version - 1, 1)
        return bool(stored) and stored[0].head == head

    def unsubscribe(self, watcher: Watcher, game: bytes) -> None:
        subscription = watcher.subscriptions.pop(game, None)
        if subscription is None:
            return
        watched = self._watched[game]
        watched.subscriptions.discard(subscription)
        if not watched.subscriptions:
            del self._watched[game]
        self._changed(game, None)

    def leave(self, watcher: Watcher) -> None:
        """The connection is gone."""
        for game in tuple(watcher.subscriptions):
            self.unsubscribe(watcher, game)

    # ------------------------------------------------------------ the live tail

    def _published(self, game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        watched = self._watched.get(game)
        if watched is None:
            return
        self._heard(watched)
        after = events[-1].head
        frames: dict[str, bytes] = {}
        for subscription in watched.subscriptions:
            if subscription.catching_up:
                subscription.missed = True
            elif live is not None and subscription.head == before and live.head == after:
                codec = subscription.watcher.codec
                frame = frames.get(codec.name)
                if frame is None:
                    frame = frames[codec.name] = wire.events_frame(codec, game, events, live.table, live.clock.due_ms)
                subscription.watcher.send(frame)
                subscription.head = after
                self._send_hand(subscription, live)
            elif subscription.head.version < after.version:
                subscription.catching_up = True
                self._start(self._catch_up_behind(subscription))

    def _send_hand(self, subscription: Subscription, live: Live) -> None:
        watcher = subscription.watcher
        seat = live.seat_of(watcher.player)
        if seat is None or not live.table.dealt:
            return
        cards = live.rules.hand(live.dealer.hands, seat)
        watcher.send(watcher.codec.encode(wire.Hand(wire.topic(live.game), live.head.version, seat, cards)))

    # ------------------------------------------------------------ the backlog

    async def _catch_up_behind(self, subscription: Subscription) -> None:
        try:
            await self._catch_up(subscription)
        except BaseException:
            subscription.catching_up = False  # Healing tries again.
            raise

    async def _catch_up(self, subscription: Subscription) -> None:
        """Send what the log holds after the subscription's head, until nothing came meanwhile."""
        game, watcher = subscription.game, subscription.watcher
        while True:
            subscription.missed = False
            events = await self._log.read(game, subscription.head.version)
            try:
                live = await self._games.refreshed(game)
            except Damaged:
                self.unsubscribe(watcher, game)
                watcher.send(watcher.codec.encode(wire.NotSubscribed(wire.topic(game), Trouble.DAMAGED)))
                return
            if watcher.subscriptions.get(game) is not subscription:
                return
            assert live is not None
            if live.head.version > (events[-1].version if events else subscription.head.version):
                continue  # It went on between the two reads, so this table isn't the one after these events.
            if events and chain.check(subscription.head, events) is not None:
                # The log went another way than what was sent: say so, and begin again.
                origin = chain.origin(game)
                subscription.head = origin
                told = wire.Subscribed(wire.topic(game), False, origin.version, origin.hash)
                watcher.send(watcher.codec.encode(told))
                continue
            self._send_backlog(subscription, events, live)
            if not subscription.missed:
                subscription.catching_up = False
                return

    def _send_backlog(self, subscription: Subscription, events: Sequence[Stored], live: Live) -> None:
        watcher = subscription.watcher
        for at in range(0, len(events), CHUNK):
            chunk = tuple(events[at : at + CHUNK])
            whole = at + CHUNK >= len(events)
            table, due_ms = (live.table, live.clock.due_ms) if whole else (None, None)
            watcher.send(wire.events_frame(watcher.codec, subscription.game, chunk, table, due_ms))
            subscription.head = chunk[-1].head
        self._send_hand(subscription, live)

    # ------------------------------------------------------------ healing

    def _heard(self, watched: Watched) -> None:
        watched.quiet = 0
        watched.check_at = asyncio.get_running_loop().time() + HEAL_SECONDS[0]

    async def heal(self) -> None:
        """For ever: read the head of each watched game of which nothing was heard, less and less often."""
        while True:
            await asyncio.sleep(HEAL_SECONDS[0] / 2)
            now = asyncio.get_running_loop().time()
            for game, watched in tuple(self._watched.items()):
                if watched.check_at > now:
                    continue
                watched.quiet = min(watched.quiet + 1, len(HEAL_SECONDS) - 1)
                watched.check_at = now + HEAL_SECONDS[watched.quiet]
                head = await self._log.head(game)
                for subscription in tuple(watched.subscriptions):
                    if not subscription.catching_up and subscription.head != head:
                        self._heard(watched)  # What was missed once may be missed again: look soon.
                        subscription.catching_up = True
                        self._start(self._catch_up_behind(subscription))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log_line.error("catching up failed", error=repr(error))
