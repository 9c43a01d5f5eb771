"""Who is connected, and what a game's subscribers are told of it.

Connections are counted, not tabs or pages: a player is here while one of them lasts, and for others a little longer.
Those at other servers count as those at this one; what is known of them is some seconds old at most.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sized
from dataclasses import dataclass, replace

from events import codec
from events.chain import Head, Stored
from rules.game import Seated
from server import wire
from server.audience import Audience, Watcher
from server.between import players_of
from server.games import Games, Live

ABSENT_SECONDS = 5.0
"""A disconnect shorter than that is shown to nobody."""
TELL_SECONDS = 1.0
"""Between two `presence` frames of one game."""

Heard = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class _Told:
    """What a game's subscribers were told last, and who sat there."""

    presence: wire.Presence
    players: tuple[bytes, bytes]
    watchers: int
    """Who watch it here and don't sit in it."""


class Presence:
    """The connections of this process, by player, and as much of other servers' as somebody here looks at."""

    def __init__(self, games: Games, audience: Audience, alone: bool) -> None:
        """`alone`: there are no other servers, so nobody can be at one."""
        self._games = games
        self._audience = audience
        self._alone = alone
        self._connections: Counter[bytes] = Counter()
        self._leaving: dict[bytes, asyncio.TimerHandle] = {}
        """Players whose last connection that was known of ended less than ABSENT_SECONDS ago."""
        self._gone: list[Heard] = []
        self._changed: list[Heard] = []
        self._dirty: set[bytes] = set()
        """Games whose subscribers may have to be told something."""
        self._fresh: dict[bytes, set[Watcher]] = {}
        """Who has been told nothing yet, by game."""
        self._told: dict[bytes, _Told] = {}
        self._sits: dict[bytes, set[bytes]] = {}
        """Games in `_told` by the players who sit there."""
        self._elsewhere: set[bytes] = set()
        """Players of whom was asked, and who are connected to another server."""
        self._watchers_elsewhere: dict[bytes, int] = {}
        self._left: set[bytes] = set()
        """Players whose last connection here has ended, and who had one elsewhere."""
        self._waiting: list[Callable[[], Collection[bytes]]] = []
        audience.listen(self._watched)
        games.listen(self._published)

    def __len__(self) -> int:
        """Everything that is remembered of anybody."""
        here: tuple[Sized, ...] = (self._connections, self._leaving, self._dirty, self._fresh, self._told, self._sits)
        return sum(map(len, (*here, self._elsewhere, self._watchers_elsewhere, self._left)))

    def listen(self, gone: Heard, changed: Heard) -> None:
        """`gone`: the player's last connection, at any server, has just ended. `changed`: whether others see him here
        has."""
        self._gone.append(gone)
        self._changed.append(changed)

    def care(self, waiting: Callable[[], Collection[bytes]]) -> None:
        """About players who are here and wait for something: it is known whether they are elsewhere before they go."""
        self._waiting.append(waiting)

    # ------------------------------------------------------------ connections

    def came(self, player: bytes) -> None:
        self._connections[player] += 1
        if self._connections[player] == 1:
            was_seen = player in self._elsewhere or self._stays(player)
            self._left.discard(player)
            if not was_seen:
                self._changes(player)

    def went(self, player: bytes) -> None:
        self._connections[player] -= 1
        if self._connections[player] > 0:
            return
        del self._connections[player]
        if player in self._elsewhere:
            self._left.add(player)
        else:
            self._leaves(player)
            self._is_gone(player)

    def connected(self, player: bytes) -> bool:
        """Whether one of the player's connections lasts."""
        return player in self._connections or player in self._elsewhere

    def seen(self, player: bytes) -> bool:
        """Whether others see the player here."""
        return player in self._connections or player in self._elsewhere or player in self._leaving

    def _leaves(self, player: bytes) -> None:
        if player not in self._leaving:
            loop = asyncio.get_running_loop()
            self._leaving[player] = loop.call_later(ABSENT_SECONDS, self._is_absent, player)

    def _stays(self, player: bytes) -> bool:
        """Whether the player was about to be absent."""
        leaving = self._leaving.pop(player, None)
        if leaving is not None:
            leaving.cancel()
        return leaving is not None

    def _is_absent(self, player: bytes) -> None:
        self._leaving.pop(player, None)
        self._changes(player)

    def _is_gone(self, player: bytes) -> None:
        for gone in self._gone:
            gone(player)

    def _changes(self, player: bytes) -> None:
        self._dirty.update(self._sits.get(player, ()))
        for changed in self._changed:
            changed(player)

    # ------------------------------------------------------------ other servers

    @property
    def players(self) -> Collection[bytes]:
        """Who is connected here."""
        return self._connections.keys()

    @property
    def watchers_here(self) -> Mapping[bytes, int]:
        """Of each game that somebody here watches who doesn't sit in it."""
        return {game: told.watchers for game, told in self._told.items() if told.watchers}

    @property
    def wondered_players(self) -> set[bytes]:
        """Of whom others should be asked."""
        away = {*self._left, *self._sits}.difference(self._connections)
        return away.union(*(waiting() for waiting in self._waiting))

    @property
    def wondered_games(self) -> Collection[bytes]:
        return self._told.keys()

    def hear(self, players: Iterable[bytes], connected: Collection[bytes]) -> None:
        """Which of these players, of whom was asked, are connected elsewhere."""
        for player in players:
            was = player in self._elsewhere
            if player in connected:
                self._elsewhere.add(player)
                if not self._stays(player) and not was and player not in self._connections:
                    self._changes(player)
                continue
            self._elsewhere.discard(player)
            if player in self._connections:
                continue
            if was:
                self._leaves(player)
            if player in self._left:
                self._left.discard(player)
                self._is_gone(player)
        self._elsewhere &= self.wondered_players

    def hear_watchers(self, games: Iterable[bytes], watchers: Mapping[bytes, int]) -> None:
        """How many watch these games, of which was asked, elsewhere."""
        for game in games:
            count = watchers.get(game, 0)
            if count != self._watchers_elsewhere.get(game, 0):
                self._watchers_elsewhere[game] = count
                self._dirty.add(game)
            if not count:
                self._watchers_elsewhere.pop(game, None)

    # ------------------------------------------------------------ what games' subscribers are told

    def _watched(self, game: bytes, came: Watcher | None) -> None:
        self._dirty.add(game)
        if came is not None:
            self._fresh.setdefault(game, set()).add(came)

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            self.tell()

    def tell(self) -> None:
        """What has changed since it was called last."""
        dirty, self._dirty = self._dirty, set()
        for game in dirty:
            fresh = self._fresh.pop(game, set())
            if not self._alone and game not in self._told:
                self._suppose(game)
            now = self._now(game)
            if now is None:
                self._forget(game)
                self._watchers_elsewhere.pop(game, None)
            elif (told := self._told.get(game)) is not None and told.presence == now.presence:
                self._told[game] = replace(told, watchers=now.watchers)
                self._audience.tell(game, now.presence, fresh)
            else:
                self._forget(game)
                self._told[game] = now
                for player in filter(None, now.players):
                    self._sits.setdefault(player, set()).add(game)
                self._audience.tell(game, now.presence)

    def _suppose(self, game: bytes) -> None:
        """Whoever sits there and was never asked about may be elsewhere: it isn't said that he is absent before that is
        known."""
        live = self._games.known(game)
        for player in filter(None, players_of(live) if live is not None else ()):
            if player not in self._sits and not self.seen(player) and self._audience.watchers(game):
                self._leaves(player)

    def _now(self, game: bytes) -> _Told | None:
        """None: nobody subscribes to it."""
        live = self._games.known(game)
        watchers = self._audience.watchers(game)
        if live is None or not watchers:
            return None
        players = players_of(live)
        first, second = (self.seen(player) if player else None for player in players)
        here = len({each.player or id(each) for each in watchers} - set(players))
        everywhere = here + self._watchers_elsewhere.get(game, 0)
        return _Told(wire.Presence(wire.topic(game), (first, second), everywhere), players, here)

    def watchers(self, game: bytes) -> int:
        """How many watch it who don't sit there."""
        now = self._now(game)
        return now.presence.watchers if now is not None else self._watchers_elsewhere.get(game, 0)

    def _forget(self, game: bytes) -> None:
        told = self._told.pop(game, None)
        for player in filter(None, told.players if told is not None else ()):
            self._sits[player].discard(game)
            if not self._sits[player]:
                del self._sits[player]

    def _published(self, game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if game in self._told and any(codec.name(event.body) == Seated.__name__ for event in events):
            self._dirty.add(game)
