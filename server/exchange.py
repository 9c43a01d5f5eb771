"""The loop in which this server and the others tell each other, once a second, who is there and what is open."""

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Sequence

import structlog

from events.log import Unknown
from server.lobby import Lobby
from server.mine import Mine
from server.others import ASKED_MAX, Here, Others
from server.presence import Presence

EXCHANGE_SECONDS = 1.0

log_line = structlog.get_logger()


class Exchange:
    def __init__(self, others: Others, presence: Presence, lobby: Lobby, mine: Mine) -> None:
        self._others = others
        self._presence = presence
        self._lobby = lobby
        self._mine = mine
        self._asked: tuple[bytes, bytes] = (b"", b"")
        """The last player and the last game that was asked about, where they are too many for one question."""
        self._away = False
        """Whether the last one came to nothing, so that what others said at once may have been missed, too."""

    @property
    def alone(self) -> bool:
        """Whether there is nobody to exchange anything with."""
        return self._others.alone

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(EXCHANGE_SECONDS)
            try:
                await self.once()
            except Unknown as error:
                if not self._away:
                    log_line.warning("nothing is heard of other servers", why=repr(error))
                self._away = True

    async def once(self) -> None:
        """Raises Unknown."""
        presence = self._presence
        players = _some(presence.wondered_players, self._asked[0])
        games = _some(presence.wondered_games, self._asked[1])
        here = Here(presence.players, presence.watchers_here, self._lobby.packed)
        there = await self._others.exchange(here, players, games)
        self._asked = (players[-1] if players else b"", games[-1] if games else b"")
        presence.hear(players, there.players)
        presence.hear_watchers(games, there.watchers)
        self._lobby.hear(there.lobbies)
        if self._away:
            self._away = False
            self._mine.all_change()

    async def end(self) -> None:
        """The process goes. Raises Unknown."""
        await self._others.end()


def _some(wanted: Collection[bytes], after: bytes) -> Sequence[bytes]:
    """At most ASKED_MAX; of more it is the turn of those behind `after`, and then from the beginning again."""
    if len(wanted) <= ASKED_MAX:
        return tuple(wanted)
    ordered = sorted(wanted)
    start = bisect_right(ordered, after)
    return (ordered[start:] + ordered[:start])[:ASKED_MAX]
