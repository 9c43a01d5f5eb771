"""What a game's subscribers are told of names: in a message of its own, since no log and no table holds one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

import structlog

from events.chain import Head, Stored
from events.log import Unknown
from rules.game import Seated
from server import wire
from server.audience import Audience, Watcher
from server.between import players_of
from server.games import Games, Live

TELL_SECONDS = 0.5

Called = Callable[[Iterable[bytes]], Awaitable[Mapping[bytes, str]]]
"""Names by player, of those who have one that is shown."""

log_line = structlog.get_logger()


class Nameplates:
    """Told once to whoever comes, and to all when somebody sits down; a table without a name has no message."""

    def __init__(self, games: Games, audience: Audience, called: Called) -> None:
        self._games = games
        self._audience = audience
        self._called = called
        self._untold: dict[bytes, set[Watcher]] = {}
        audience.listen(self._watched)
        games.listen(self._published, of=(Seated,))

    def __len__(self) -> int:
        return len(self._untold)

    def _watched(self, game: bytes, came: Watcher | None) -> None:
        if came is not None:
            self._untold.setdefault(game, set()).add(came)

    def _published(self, game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        watchers = self._audience.watchers(game)
        if watchers:
            self._untold.setdefault(game, set()).update(watchers)

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            try:
                await self.tell()
            except Unknown as error:
                log_line.warning("names can't be read", why=repr(error))

    async def tell(self) -> None:
        """Everybody who hasn't been told yet."""
        untold, self._untold = self._untold, {}
        seats = {game: players_of(live) for game in untold if (live := self._games.known(game)) is not None}
        names = await self._called({player for players in seats.values() for player in players if player})
        for game, (first, second) in seats.items():
            told = wire.Names(wire.topic(game), (names.get(first), names.get(second)))
            if told.names != (None, None):
                self._audience.tell(game, told, untold[game])
