"""The feed `lobby`: open seats and games being played. Soft state: what the games of this process, and others, told."""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import msgspec
import structlog
from msgspec.structs import replace

from events.chain import Head, Stored
from events.log import Unknown
from rules.game import Seated
from server.audience import Audience, Watcher
from server.between import Between, players_of
from server.feeds import Feed
from server.games import Games, Live
from server.nameplates import Called
from server.presence import Presence
from server.wire import LiveGame, OpenSeat

ROWS_MAX = 200
"""Shown in a section."""
GAMES_MAX = 2000
"""Kept in mind; those that moved last."""
TELL_SECONDS = 1.0

log_line = structlog.get_logger()


class _Rows(msgspec.Struct, frozen=True):
    """What a server shows of its own."""

    seats: list[OpenSeat]
    live: list[LiveGame]


class Lobby:
    """What is open and what is played, told at most once a second."""

    def __init__(
        self,
        games: Games,
        audience: Audience,
        between: Between,
        presence: Presence,
        called: Called,
        alone: bool,
    ) -> None:
        """`alone`: there are no other servers, which would be told of its rows."""
        self._alone = alone
        self.packed = b""
        """What other servers are told: the rows of this one."""
        self._heard: Sequence[bytes] = ()
        self._elsewhere: tuple[_Rows, ...] = ()
        """The rows of other servers, and as they were told."""
        self._games = games
        self._between = between
        self._called = called
        self._presence = presence
        self.feed = Feed("lobby", ("seats", "live"))
        self._seats: dict[bytes, dict[str, OpenSeat]] = {}
        """By maker, then by game."""
        self._live: OrderedDict[bytes, Live] = OrderedDict()
        self._makers: set[bytes] = set()
        """Players whose open seats have to be looked up."""
        games.listen(self._published)
        games.listen(self._seated, of=(Seated,))
        audience.listen(self._watched)
        between.listen(self.look_up)
        presence.listen(gone=lambda player: None, changed=self._makers.add)

    def __len__(self) -> int:
        """Makers and games in mind."""
        return len(self._seats) + len(self._live) + len(self._makers)

    def look_up(self, player: bytes) -> None:
        """Something may have changed with the player's open seats."""
        self._makers.add(player)

    def hear(self, lobbies: Sequence[bytes]) -> None:
        """All that other servers tell of theirs. What can't be read comes from another release, and isn't shown."""
        if lobbies == self._heard:
            return
        self._heard = lobbies
        found = []
        for packed in lobbies:
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(msgspec.msgpack.decode(packed, type=_Rows))
        self._elsewhere = tuple(found)

    def _published(self, id_: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if live is None:
            return
        if live.table.finished is not None:
            self._live.pop(id_, None)
        elif live.table.seated:
            self._live[id_] = live
            self._live.move_to_end(id_)
            while len(self._live) > GAMES_MAX:
                self._live.popitem(last=False)

    def _seated(self, id_: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if live is not None and live.table.seated:
            for player in players_of(live):
                self._seats.get(player, {}).pop(id_.hex(), None)

    def _watched(self, id_: bytes, came: Watcher | None) -> None:
        """Whoever comes back to a game plays it, if nothing was heard of it here since this process began, too."""
        live = self._games.known(id_)
        if came is None or live is None or live.seat_of(came.player) is None or live.table.finished is not None:
            return
        if live.table.seated and id_ not in self._live and len(self._live) < GAMES_MAX:
            self._live[id_] = live
            self._live.move_to_end(id_, last=False)

    async def run(self) -> None:
        """For ever. Rows that nobody follows, and no other server shows, aren't made."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if self.feed.watchers or not self._alone:
                await self.tell()
            else:
                await self._look_up_makers()

    async def follow(self, watcher: Watcher, after: tuple[int, bytes] | None) -> None:
        """As the feed's, of what is so now."""
        if not self.feed.watchers and self._alone:
            await self.tell()
        self.feed.follow(watcher, after)

    async def tell(self) -> None:
        """What has changed since it was called last."""
        await self._look_up_makers()
        seats = sorted((key, seat) for rows in self._seats.values() for key, seat in rows.items())[:ROWS_MAX]
        shown = list(islice((live for live in reversed(self._live.values()) if self._is_played(live)), ROWS_MAX))
        names = await self._names([bytes.fromhex(seat.player) for _, seat in seats], shown)
        own = _Rows(
            [replace(seat, name=names.get(bytes.fromhex(seat.player))) for _, seat in seats],
            [_row(live, self._presence.watchers(live.game), names) for live in shown],
        )
        self.packed = msgspec.msgpack.encode(own)
        servers = (own, *self._elsewhere)
        self.feed.set(
            {
                "seats": _by_game(row for rows in servers for row in rows.seats),
                "live": _by_game(row for rows in servers for row in rows.live),
            }
        )

    async def _look_up_makers(self) -> None:
        makers = tuple(self._makers)
        self._makers.clear()
        for player in makers:
            try:
                await self._look_up(player)
            except Unknown as error:
                log_line.warning("open seats can't be looked up", why=repr(error))

    def _is_played(self, live: Live) -> bool:
        """Whether somebody who sits there is here."""
        return any(player and self._presence.seen(player) for player in players_of(live))

    async def _names(self, makers: Sequence[bytes], shown: Sequence[Live]) -> Mapping[bytes, str]:
        players = {player for live in shown for player in players_of(live) if player}
        try:
            return await self._called(players.union(makers))
        except Unknown as error:
            log_line.warning("names can't be read", why=repr(error))
            return {}

    async def _look_up(self, player: bytes) -> None:
        rows = {}
        if self._presence.seen(player):
            for meeting, live in await self._between.unfinished(player):
                if meeting.listed and meeting.players[0] == player and not live.table.seated:
                    assert live.table.opened is not None
                    rows[live.game.hex()] = OpenSeat(
                        live.game.hex(),
                        live.rules.name,
                        dict(live.table.opened.settings),
                        player.hex(),
                        None,
                        live.table.opened.at_ms,
                    )
        if rows:
            self._seats[player] = rows
        else:
            self._seats.pop(player, None)


R = TypeVar("R", OpenSeat, LiveGame)


def _by_game(rows: Iterable[R]) -> dict[str, R]:
    """ROWS_MAX of them. Who plays at two servers has a row at both: the first one stands."""
    found: dict[str, R] = {}
    for row in rows:
        if len(found) == ROWS_MAX:
            break
        found.setdefault(row.game, row)
    return found


def _row(live: Live, watchers: int, names: Mapping[bytes, str]) -> LiveGame:
    table = live.table
    assert table.opened is not None
    first, second = players_of(live)
    house = table.seats[1]
    return LiveGame(
        game=live.game.hex(),
        rules=live.rules.name,
        mode=table.opened.mode,
        players=(first.hex(), second.hex()),
        names=(names.get(first), names.get(second)),
        rival=house.rival if house is not None else "",
        battle=table.position.battle if table.dealt else 0,
        round=getattr(table.position, "round", 0),
        watchers=watchers,
        since_ms=table.opened.at_ms,
    )
