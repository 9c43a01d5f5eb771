"""Who watches what: subscriptions to games, each a backlog and a live tail through one function.

A subscription knows the head its connection holds. What follows that head is sent; a repeat is dropped; anything else
is read from the log. So a lost, late or doubled delivery can neither skip an event nor show it twice.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from events import chain
from events.chain import Head, Stored
from events.log import Log, Unknown
from server import wire
from server.games import Damaged, Games, Live
from server.wire import Codec, Trouble

SUBSCRIPTIONS_MAX = 16
"""Of one connection."""
PAGE = 256
"""Events in one frame of a backlog."""
HEAL_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""When the head of a game of which nothing was heard is read again."""

log_line = structlog.get_logger()


class Way(Protocol):
    """Where a connection's frames go."""

    def send(self, frame: bytes) -> None:
        """Never waits: a peer that is too far behind is closed."""

    def has_room(self) -> bool:
        """Whether a page of a backlog may follow now."""

    async def room(self) -> bool:
        """Wait until it may. False: nothing will be sent any more."""


@dataclass(eq=False, slots=True)
class Watcher:
    """What the audience knows of a connection: how it speaks, who it is, and where its frames go."""

    codec: Codec
    player: bytes | None
    way: Way
    subscriptions: dict[bytes, "Subscription"] = field(default_factory=dict)

    def tell(self, message: wire.ToClient) -> None:
        self.way.send(self.codec.encode(message))


@dataclass(eq=False, slots=True)
class Subscription:
    game: bytes
    watcher: Watcher
    head: Head
    """Of the last event sent."""
    catching_up: bool = False
    missed: bool = False
    """Whether something came while it was catching up."""
    topic: str = ""
    seat: int | None = None
    """The connection's player's in the game, once it is known that he sits there: until a fork, that is for good."""

    def __post_init__(self) -> None:
        self.topic = wire.topic(self.game)


@dataclass(slots=True)
class Watched:
    """A game somebody watches."""

    subscriptions: set[Subscription]
    heard: bool = True
    """Whether something was, since healing came by last."""
    quiet: int = 0
    """How often its head was read in vain since something was heard."""
    check_at: float = 0.0


class Audience:
    """All subscriptions of this process."""

    def __init__(self, games: Games, log: Log, common: Callable[[bytes, Head], Head] | None = None) -> None:
        """`common`: the head up to which a game's log is still what was shown up to another head."""
        self._games = games
        self._log = log
        self._common = common or (lambda game, shown: chain.origin(game))
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
                watcher.way.send(frames[watcher.codec.name])

    async def subscribe(self, watcher: Watcher, game: bytes, after: Head | None) -> None:
        """Answer `subscribed` and the backlog, then stay. Replaces the connection's subscription to this game.

        Returns when all is sent or the peer has to read first: then the rest follows by itself."""
        try:
            await self._subscribe(watcher, game, after)
        except Unknown:
            self.unsubscribe(watcher, game)
            watcher.tell(wire.NotSubscribed(wire.topic(game), Trouble.TRY_AGAIN))

    async def _subscribe(self, watcher: Watcher, game: bytes, after: Head | None) -> None:
        topic = wire.topic(game)
        if game not in watcher.subscriptions and len(watcher.subscriptions) >= SUBSCRIPTIONS_MAX:
            watcher.tell(wire.NotSubscribed(topic, Trouble.TOO_MANY_SUBSCRIPTIONS))
            return
        try:
            live = await self._games.at(game)
        except Damaged:
            watcher.tell(wire.NotSubscribed(topic, Trouble.DAMAGED))
            return
        if live is None:
            watcher.tell(wire.NotSubscribed(topic, Trouble.UNKNOWN_GAME))
            return
        origin = chain.origin(game)
        start = after if after is not None and await self._holds(game, after) else origin
        self.unsubscribe(watcher, game)
        subscription = Subscription(game, watcher, start, catching_up=True)
        watcher.subscriptions[game] = subscription
        watched = self._watched.setdefault(game, Watched(set()))
        watched.subscriptions.add(subscription)
        self._heard(watched, live.table.finished is not None)
        recovered = start == after or (after is None and start == origin)
        watcher.tell(wire.Subscribed(topic, recovered, start.version, start.hash))
        if not await self._send_pages(subscription):
            self._start(self._catch_up(subscription))
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
        self._heard(watched, live is not None and live.table.finished is not None)
        if live is not None and live.head.hash == events[-1].hash:
            after = live.head  # One object for all, which the next append names: no head need be compared then.
        else:
            live, after = None, events[-1].head
        codec: Codec | None = None
        frame = b""
        frames: dict[str, bytes] = {}
        for subscription in watched.subscriptions:
            if subscription.catching_up:
                subscription.missed = True
            elif live is not None and (subscription.head is before or subscription.head == before):
                watcher = subscription.watcher
                if watcher.codec is not codec:
                    codec = watcher.codec
                    if codec.name not in frames:
                        frames[codec.name] = wire.events_frame(codec, game, events, live.table, live.clock.due_ms)
                    frame = frames[codec.name]
                watcher.way.send(frame)
                subscription.head = after
                if watcher.player is not None:
                    self._send_hand(subscription, live)
            elif subscription.head.version < after.version:
                subscription.catching_up = True
                self._start(self._catch_up(subscription))

    def _send_hand(self, subscription: Subscription, live: Live) -> None:
        watcher, seat = subscription.watcher, subscription.seat
        if seat is None:
            seat = subscription.seat = live.seat_of(watcher.player)
        if seat is None or live.table.position is None:
            return
        cards = live.rules.hand(live.dealer.hands, seat)
        watcher.way.send(watcher.codec.encode(wire.Hand(subscription.topic, live.head.version, seat, cards)))

    # ------------------------------------------------------------ the backlog

    async def _catch_up(self, subscription: Subscription) -> None:
        """The whole backlog, no faster than the peer takes it."""
        try:
            while not await self._send_pages(subscription):
                if not await subscription.watcher.way.room():
                    return
        except BaseException:
            subscription.catching_up = False  # Healing tries again.
            raise

    async def _send_pages(self, subscription: Subscription) -> bool:
        """Send what the log holds after the subscription's head, until nothing came meanwhile, or room is wanting.

        Whether that was all; also where nobody waits for it any more."""
        game, watcher = subscription.game, subscription.watcher
        while True:
            subscription.missed = False
            # A page at a time, lest many long backlogs fill the memory; one event more tells whether more follows.
            events = await self._log.read(game, subscription.head.version, PAGE + 1)
            page = tuple(events[:PAGE])
            last = len(events) == len(page)
            try:
                live = await self._games.refreshed(game) if last else None
                forked = await self._forked(game, subscription.head, page)
            except Damaged:
                if watcher.subscriptions.get(game) is subscription:
                    self.unsubscribe(watcher, game)
                    watcher.tell(wire.NotSubscribed(wire.topic(game), Trouble.DAMAGED))
                return True
            if watcher.subscriptions.get(game) is not subscription:
                return True
            if forked:
                # Say so, and go on from what is left.
                left = self._common(game, subscription.head)
                subscription.head = left = left if await self._holds(game, left) else chain.origin(game)
                subscription.seat = None  # Who sat down in what is lost: perhaps it is another's seat by now.
                watcher.tell(wire.Forked(wire.topic(game), left.version, left.hash))
                continue
            if last and live is None:
                # The store lost all of it: nothing will come, and there is no table to end with.
                self.unsubscribe(watcher, game)
                watcher.tell(wire.NotSubscribed(wire.topic(game), Trouble.UNKNOWN_GAME))
                return True
            if not watcher.way.has_room():
                return False
            self._send_page(subscription, page, live)
            if live is not None and live.head == subscription.head and not subscription.missed:
                subscription.catching_up = False
                return True

    async def _forked(self, game: bytes, head: Head, page: tuple[Stored, ...]) -> bool:
        """Whether the log went another way than what was sent. Raises Damaged if it didn't, but doesn't hash."""
        if not page:
            return not await self._holds(game, head)  # The log is shorter than what was sent.
        broken = chain.check(head, page)
        if broken is not None and await self._holds(game, head):
            raise Damaged(game, broken.version, broken.why)
        return broken is not None

    def _send_page(self, subscription: Subscription, page: tuple[Stored, ...], live: Live | None) -> None:
        watcher = subscription.watcher
        head = page[-1].head if page else subscription.head
        if live is not None and live.head != head:
            live = None  # It went on between the two reads: the table after these events is gone, and more follows.
        if page:
            table, due_ms = (live.table, live.clock.due_ms) if live is not None else (None, None)
            watcher.way.send(wire.events_frame(watcher.codec, subscription.game, page, table, due_ms))
            subscription.head = head
        if live is not None:
            self._send_hand(subscription, live)

    # ------------------------------------------------------------ healing

    def _heard(self, watched: Watched, over: bool = False) -> None:
        """`over`: the game has ended, and only a store that lost something can still tell anything of it."""
        watched.heard = True
        watched.quiet = len(HEAL_SECONDS) - 1 if over else 0

    async def heal(self) -> None:
        """For ever: read the head of each watched game of which nothing was heard, less and less often."""
        while True:
            await asyncio.sleep(HEAL_SECONDS[0] / 2)
            now = asyncio.get_running_loop().time()
            for game, watched in tuple(self._watched.items()):
                if watched.heard:
                    # When exactly is nothing that each move should pay for.
                    watched.heard, watched.check_at = False, now + HEAL_SECONDS[watched.quiet]
                if watched.check_at > now:
                    continue
                watched.quiet = min(watched.quiet + 1, len(HEAL_SECONDS) - 1)
                watched.check_at = now + HEAL_SECONDS[watched.quiet]
                held = [(subscription, subscription.head) for subscription in watched.subscriptions]
                head = await self._log.head(game)
                for subscription, before in held:
                    # Who has heard something meanwhile is behind nothing that was read before it.
                    if subscription.head == before != head and not subscription.catching_up:
                        self._heard(watched)  # What was missed once may be missed again: look soon.
                        subscription.catching_up = True
                        self._start(self._catch_up(subscription))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log_line.error("catching up failed", error=repr(error))
