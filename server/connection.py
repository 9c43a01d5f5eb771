"""One connection, without its socket: frames in, calls on the games and frames out."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, assert_never

from events.chain import Head
from events.log import Unknown
from rules.catalogue import RULES
from rules.game import Reason, Rules
from server import board_feeds, wire
from server.audience import Audience, Watcher, Way
from server.board_feeds import BoardFeeds
from server.driven import Driven
from server.games import Damaged, Games
from server.hall import Hall
from server.logs import asking
from server.replaying import Recordings, Replays
from server.tally import Tally
from server.wire import (
    BadFrame,
    Codec,
    Do,
    FromClient,
    Invite,
    LeaveQueue,
    Meet,
    OpenGame,
    Ping,
    Queue,
    Rematch,
    Sit,
    Subscribe,
    Trouble,
    Unsubscribe,
)

RATE = 30.0
"""Messages a second."""
BURST = 120.0


Waits = Subscribe | Sit | Invite | Queue | LeaveQueue | Rematch | Meet | OpenGame
"""What the store is asked about."""


class TooFast(Exception):
    """More messages than a connection may send."""


class Connection:
    """What one peer may do and see. The seat comes from `player`, never from a frame."""

    def __init__(
        self,
        games: Games,
        audience: Audience,
        recordings: Recordings,
        codec: Codec,
        player: bytes | None,
        way: Way,
        hall: Hall | None = None,
        boards: BoardFeeds | None = None,
        tally: Tally | None = None,
    ):
        """`hall`: None where nobody meets anybody; `boards`: None where nothing is folded. `tally`: of its answers."""
        self._games = games
        self._audience = audience
        self.codec = codec
        self._player = player
        self._watcher = Watcher(codec, player, way)
        self._replays = Replays(recordings, self._watcher)
        self._hall = hall
        self._boards = boards
        self._commands = (tally or Tally()).commands
        self._tokens = BURST
        self._refilled = 0.0
        if hall is not None and player is not None:
            hall.presence.came(player)

    def hello(self, why: str | None, now_ms: int) -> None:
        self._tell(wire.Hello(self._player.hex() if self._player else None, why, now_ms))

    def receive(self, frame: bytes | str, now: float) -> Coroutine[Any, Any, None] | Driven | None:
        """Act on one frame; `now` in seconds of any steady clock. Raises BadFrame and TooFast: close then.

        What has to wait for the store is given back, to be awaited before the next frame comes; it may raise the same.
        A command in a game, which is what comes most, needs no task for that.
        """
        self._tokens = min(BURST, self._tokens + (now - self._refilled) * RATE)
        self._refilled = now
        if self._tokens < 1:
            raise TooFast
        self._tokens -= 1
        return self._act(wire.message(self.codec, frame))

    def leave(self) -> None:
        self._audience.leave(self._watcher)
        self._replays.leave()
        if self._hall is not None:
            self._hall.leave(self._watcher)
        if self._boards is not None:
            self._boards.gone(self._watcher)

    def _act(self, message: FromClient) -> Coroutine[Any, Any, None] | Driven | None:
        # What goes wrong from here on is logged with whom it went wrong for.
        asking.set((getattr(message, "game", ""), getattr(message, "id", "")))
        match message:
            case Do():
                return Driven(self._do(message))
            case Ping(n):
                self._tell(wire.Pong(n))
            case Unsubscribe(topic):
                self._unsubscribe(topic)
            case _:
                return self._answered(message)
        return None

    async def _answered(self, message: Waits) -> None:
        match message:
            case Subscribe():
                await self._subscribe(message)
            case Sit() | Invite() | Queue() | LeaveQueue() | Rematch():
                await self._between_people(message)
            case Meet():
                await self._in_ladder(
                    message.id, message.rules, message.mode, lambda *place: self._meet(message, *place)
                )
            case OpenGame():
                await self._in_ladder(
                    message.id, message.rules, message.mode, lambda *place: self._open(message, *place)
                )
            case _:
                assert_never(message)

    async def _do(self, message: Do) -> None:
        if self._player is None:
            self._refuse(message.id, Trouble.NO_SESSION)
            return
        game = bytes.fromhex(message.game)
        known = self._games.known(game)
        rules = known.rules if known is not None else await self._games.rules_of(game)
        if not isinstance(rules, Rules):
            self._refuse(message.id, rules)
            return
        command = wire.command(rules, self.codec, message.command)
        done = await self._games.do(game, self._player, command, message.id)
        if isinstance(done, Head):
            self._answer(wire.done(message.id, game, done))
        else:
            self._refuse(message.id, done)

    async def _in_ladder(self, id_: str, name: str, mode: str, act: Callable[[bytes, Rules], Awaitable[None]]) -> None:
        rules = RULES.get(name)
        if self._player is None:
            self._refuse(id_, Trouble.NO_SESSION)
        elif rules is None:
            self._refuse(id_, Trouble.UNKNOWN_RULES)
        elif mode not in rules.modes or mode == "versus":
            self._refuse(id_, Reason.UNKNOWN_MODE)
        else:
            try:
                await act(self._player, rules)
            except Unknown:
                self._refuse(id_, Trouble.TRY_AGAIN)

    async def _meet(self, message: Meet, player: bytes, rules: Rules) -> None:
        held, rival = await self._games.meet(player, rules, message.mode)
        self._answer(wire.Met(message.id, held.game.hex(), rival, held.live is not None))

    async def _open(self, message: OpenGame, player: bytes, rules: Rules) -> None:
        settings = tuple(sorted(message.settings.items()))
        opened = await self._games.open(player, rules, message.mode, settings, message.id)
        if isinstance(opened, tuple):
            self._answer(wire.done(message.id, *opened))
        else:
            self._refuse(message.id, opened)

    # ------------------------------------------------------------ between people

    async def _between_people(self, message: Sit | Invite | Queue | LeaveQueue | Rematch) -> None:
        if self._player is None or self._hall is None:
            self._refuse(message.id, Trouble.NO_SESSION)
            return
        try:
            self._answer(await self._met(message, self._player, self._hall))
        except Damaged:
            self._refuse(message.id, Trouble.DAMAGED)
        except Unknown:
            self._refuse(message.id, Trouble.TRY_AGAIN)

    async def _met(
        self, message: Sit | Invite | Queue | LeaveQueue | Rematch, player: bytes, hall: Hall
    ) -> wire.ToClient:
        id_ = message.id
        match message:
            case Sit(game=game, entropy_hash=entropy_hash):
                made = await hall.between.sit(player, bytes.fromhex(game), entropy_hash, id_)
                return _answer(id_, bytes.fromhex(game), made)
            case Rematch(game=game):
                opened = await hall.between.rematch(player, bytes.fromhex(game))
                return wire.Offered(id_, game) if opened is None else _opened(id_, opened)
            case Invite() | Queue() | LeaveQueue():
                rules = RULES.get(message.rules)
                if rules is None:
                    return wire.NotDone(id_, Trouble.UNKNOWN_RULES)
            case _:
                assert_never(message)
        match message:
            case Invite(settings=settings, listed=listed):
                given = tuple(sorted(settings.items()))
                return _opened(id_, await hall.between.invite(player, rules, given, listed, id_))
            case Queue():
                trouble = await hall.queue.enter(player, rules)
                return wire.Queued(id_, rules.name) if trouble is None else wire.NotDone(id_, trouble)
            case LeaveQueue():
                await hall.queue.leave(player, rules)
                return wire.Left(id_, rules.name)
            case _:
                assert_never(message)

    # ------------------------------------------------------------ topics

    async def _subscribe(self, wanted: Subscribe) -> None:
        topic, after = wanted.topic, wanted.after
        if wanted.asks_for_replay and not topic.startswith("replay/"):
            raise BadFrame(f"at, limit, speed, beat_ms and as are for replay/…, not for {topic}")
        if wanted.speed is not None and wanted.beat_ms is not None:
            raise BadFrame("a replay has a speed or a beat_ms, not both")
        if (replayed := _game(topic, "replay")) is not None:
            await self._replays.subscribe(replayed, wanted)
        elif (game := _game(topic)) is not None:
            await self._audience.subscribe(self._watcher, game, Head(*after) if after else None)
        elif self._boards is not None and topic.startswith(board_feeds.KIND):
            await self._boards.follow(self._watcher, topic, after)
        elif self._hall is not None and topic == "lobby":
            await self._hall.lobby.follow(self._watcher, after)
        elif self._hall is not None and topic == "me" and self._player is not None:
            try:
                await self._hall.mine.follow(self._watcher, self._player, after)
            except Unknown:
                self._tell(wire.NotSubscribed(topic, Trouble.TRY_AGAIN))
        else:
            reason = Trouble.NO_SESSION if topic == "me" else Trouble.UNKNOWN_TOPIC
            self._tell(wire.NotSubscribed(topic, reason))

    def _unsubscribe(self, topic: str) -> None:
        if (game := _game(topic)) is not None:
            self._audience.unsubscribe(self._watcher, game)
        elif (replayed := _game(topic, "replay")) is not None:
            self._replays.unsubscribe(replayed)
        elif self._boards is not None and topic.startswith(board_feeds.KIND):
            self._boards.leave(self._watcher, topic)
        elif self._hall is not None and topic == "lobby":
            self._hall.lobby.feed.leave(self._watcher)
        elif self._hall is not None and topic == "me" and self._player is not None:
            self._hall.mine.leave(self._watcher, self._player)

    def _refuse(self, id_: str, reason: Reason | Trouble) -> None:
        self._answer(wire.NotDone(id_, reason))

    def _answer(self, message: wire.ToClient) -> None:
        """To a command."""
        self._commands[message.reason if type(message) is wire.NotDone else "done"] += 1
        self._watcher.tell(message)

    def _tell(self, message: wire.ToClient) -> None:
        self._watcher.tell(message)


def _answer(id_: str, game: bytes, made: Head | Reason | Trouble) -> wire.ToClient:
    return wire.done(id_, game, made) if isinstance(made, Head) else wire.NotDone(id_, made)


def _opened(id_: str, opened: tuple[bytes, Head] | Reason | Trouble) -> wire.ToClient:
    return wire.done(id_, *opened) if isinstance(opened, tuple) else wire.NotDone(id_, opened)


def _game(topic: str, of: str = "game") -> bytes | None:
    """The game that a topic of this kind names."""
    kind, _, id_ = topic.partition("/")
    if kind != of or len(id_) != 32 or not all(digit in "0123456789abcdef" for digit in id_):
        return None
    return bytes.fromhex(id_)


__all__ = ["BURST", "RATE", "BadFrame", "Connection", "TooFast"]
