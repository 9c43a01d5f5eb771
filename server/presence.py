"""Who is connected, and what a game's subscribers are told of it.

Connections are counted, not tabs or pages: a player is here while one of them lasts, and for others a little longer.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sized
from dataclasses import dataclass

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


class Presence:
    """The connections of this process, by player."""

    def __init__(self, games: Games, audience: Audience) -> None:
        self._games = games
        self._audience = audience
        self._connections: Counter[bytes] = Counter()
        self._leaving: dict[bytes, asyncio.TimerHandle] = {}
        """Players whose last connection ended less than ABSENT_SECONDS ago."""
        self._gone: list[Heard] = []
        self._changed: list[Heard] = []
        self._dirty: set[bytes] = set()
        """Games whose subscribers may have to be told something."""
        self._fresh: dict[bytes, set[Watcher]] = {}
        """Who has been told nothing yet, by game."""
        self._told: dict[bytes, _Told] = {}
        self._sits: dict[bytes, set[bytes]] = {}
        """Games in `_told` by the players who sit there."""
        audience.listen(self._watched)
        games.listen(self._published, of=(Seated,))

    def __len__(self) -> int:
        """Everything that is remembered of anybody."""
        kept: tuple[Sized, ...] = (self._connections, self._leaving, self._dirty, self._fresh, self._told, self._sits)
        return sum(map(len, kept))

    def listen(self, gone: Heard, changed: Heard) -> None:
        """`gone`: the player's last connection has just ended. `changed`: whether others see him here has."""
        self._gone.append(gone)
        self._changed.append(changed)

    # ------------------------------------------------------------ connections

    def came(self, player: bytes) -> None:
        self._connections[player] += 1
        if self._connections[player] == 1:
            leaving = self._leaving.pop(player, None)
            if leaving is not None:
                leaving.cancel()
            else:
                self._changes(player)

    def went(self, player: bytes) -> None:
        self._connections[player] -= 1
        if self._connections[player] > 0:
            return
        del self._connections[player]
        loop = asyncio.get_running_loop()
        self._leaving[player] = loop.call_later(ABSENT_SECONDS, self._is_absent, player)
        for gone in self._gone:
            gone(player)

    def connected(self, player: bytes) -> bool:
        """Whether one of the player's connections lasts."""
        return player in self._connections

    def seen(self, player: bytes) -> bool:
        """Whether others see the player here."""
        return player in self._connections or player in self._leaving

    def _is_absent(self, player: bytes) -> None:
        self._leaving.pop(player, None)
        self._changes(player)

    def _changes(self, player: bytes) -> None:
        self._dirty.update(self._sits.get(player, ()))
        for changed in self._changed:
            changed(player)

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
            now = self._now(game)
            if now is None:
                self._forget(game)
            elif (told := self._told.get(game)) is not None and told.presence == now.presence:
                self._audience.tell(game, now.presence, fresh)
            else:
                self._forget(game)
                self._told[game] = now
                for player in filter(None, now.players):
                    self._sits.setdefault(player, set()).add(game)
                self._audience.tell(game, now.presence)

    def _now(self, game: bytes) -> _Told | None:
        """None: nobody subscribes to it."""
        live = self._games.known(game)
        watchers = self._audience.watchers(game)
        if live is None or not watchers:
            return None
        players = players_of(live)
        first, second = (self.seen(player) if player else None for player in players)
        others = {each.player or id(each) for each in watchers} - set(players)
        return _Told(wire.Presence(wire.topic(game), (first, second), len(others)), players)

    def watchers(self, game: bytes) -> int:
        """How many watch it who don't sit there."""
        now = self._now(game)
        return now.presence.watchers if now is not None else 0

    def _forget(self, game: bytes) -> None:
        told = self._told.pop(game, None)
        for player in filter(None, told.players if told is not None else ()):
            self._sits[player].discard(game)
            if not self._sits[player]:
                del self._sits[player]

    def _published(self, game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if game in self._told:
            self._dirty.add(game)
