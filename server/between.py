"""How two people come to one game: invitations, pairings, seats and rematches.

A game is written down as arranged before it is opened, so a server that dies between leaves nothing half done.
"""

import asyncio
import hmac
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

import structlog

from events.chain import Head, Stored
from events.log import Unknown
from rules import game
from rules.catalogue import RULES
from rules.fairness import GAME_BYTES
from rules.game import VERSUS, Reason, Refused, Rules, Settings
from server.games import Damaged, Games, Live
from server.meetings import Meeting, Meetings, Rematch
from server.wire import Trouble

INVITATIONS_MAX = 20
"""Unfinished games between people that count for nothing, of one player who invites."""

log_line = structlog.get_logger()


class Between:
    """Arranges games between people, and seats them."""

    def __init__(self, games: Games, meetings: Meetings, key: bytes, connected: Callable[[bytes], bool]) -> None:
        """`key`: secret, so that nobody can tell a game's id before it is arranged. `connected`: whether one of the
        player's connections lasts."""
        self._games = games
        self._meetings = meetings
        self._key = key
        self._connected = connected
        self._listeners: list[Callable[[bytes], None]] = []
        self._missing: list[Callable[[bytes], None]] = []
        self._asking: set[bytes] = set()
        """Players who asked for a rematch here."""
        self._tasks: set[asyncio.Task[None]] = set()
        games.listen(self._published, of=(game.Finished,))

    def listen(self, changed: Callable[[bytes], None]) -> None:
        """Be told of a player whose games or offers have changed."""
        self._listeners.append(changed)

    def on_missing(self, missing: Callable[[bytes], None]) -> None:
        """Be told of a game that was open, and of which nothing is found."""
        self._missing.append(missing)

    def tell(self, *players: bytes) -> None:
        """Their games or offers have changed. Empty: nobody."""
        for player in filter(None, players):
            for changed in self._listeners:
                changed(player)

    # ------------------------------------------------------------ arranging

    async def invite(
        self, player: bytes, rules: Rules, settings: Settings, listed: bool, command_id: str
    ) -> tuple[bytes, Head] | Reason | Trouble:
        """A game with one seat for the player and one for whoever comes: the same however often it is asked."""
        whole = rules.settings(VERSUS, dict(settings))
        if isinstance(whole, Refused):
            return whole.reason
        id_ = await self._meetings.instead(self._id(b"invite", player + command_id.encode()))
        known = await self._games.at(id_)
        if known is None and len([each for each, _ in await self.unfinished(player) if not each.counts]) >= (
            INVITATIONS_MAX
        ):
            return Trouble.TOO_MANY_GAMES
        return await self._open(Meeting(id_, rules.name, whole, (player, b""), False, listed), known is not None)

    async def open(self, meeting: Meeting) -> None:
        """Of an arranged game, as far as that can be done now."""
        await self._open(meeting, known=False)

    async def _open(self, meeting: Meeting, known: bool) -> tuple[bytes, Head] | Reason | Trouble:
        if not known and not await self._meetings.arrange(meeting) and await self._games.at(meeting.game) is None:
            # It was open, or this server slept, and it was taken for gone: under this id it isn't dealt again.
            for missing in self._missing:
                missing(meeting.game)
            return Trouble.TRY_AGAIN
        head = await self._games.open_between(
            meeting.game, RULES[meeting.rules], meeting.settings, meeting.players, meeting.counts
        )
        if not isinstance(head, Head):
            return head
        if not known:
            await self._meetings.opened(meeting.game)
            if await self._meetings.instead(meeting.game) != meeting.game:
                return Trouble.TRY_AGAIN  # It slept just now: nobody is sent to this one, and so it becomes void.
        self.tell(*meeting.players)
        return meeting.game, head

    def _id(self, purpose: bytes, what: bytes) -> bytes:
        return hmac.digest(self._key, b"statecraft " + purpose + b" v1\0" + what, "sha256")[:GAME_BYTES]

    # ------------------------------------------------------------ seats

    async def sit(self, player: bytes, id_: bytes, entropy_hash: bytes, command_id: str) -> Head | Reason | Trouble:
        live = await self._games.at(id_)
        if live is None:
            return Trouble.UNKNOWN_GAME
        if await self._keeps_out(live, player):
            return Trouble.BARRED
        meeting = await self._meetings.meeting(id_)
        joins = player not in live.table.reserved and game.seat_for(live.table, player) is not None
        if joins:
            await self._meetings.joins(player, id_)
        befores = meeting.befores if meeting is not None else ()
        head = await self._games.sit(live, player, entropy_hash, command_id, befores)
        if joins and head in (Reason.SEAT_TAKEN, Reason.OVER):
            await self._meetings.missed(player, id_)
        self.tell(player)
        return head

    async def _keeps_out(self, live: Live, player: bytes) -> bool:
        """Whether the player was barred while he waited to be paired, or since. Who sits plays to the end."""
        opened = live.table.opened
        counts = opened is not None and opened.counts and live.table.finished is None
        return counts and live.seat_of(player) is None and await self._games.is_barred(player)

    async def unfinished(self, player: bytes) -> list[tuple[Meeting, Live]]:
        """The player's games between people that are open and not over, by game."""
        found = []
        for meeting in await self._meetings.of(player):
            try:
                live = await self._games.at(meeting.game)
            except Damaged:
                live = None
            if live is not None and live.table.finished is not None:
                self._start(self._meetings.forget(meeting.game, _is_no_game(live)))
            elif live is not None and _seat(live, player) is not None:
                found.append((meeting, live))
        return found

    # ------------------------------------------------------------ rematches

    async def rematch(self, player: bytes, id_: bytes) -> tuple[bytes, Head] | Reason | Trouble | None:
        """Ask for another game with seats swapped, or accept it: the game, or None while the other hasn't accepted."""
        live = await self._games.at(id_)
        if live is None:
            return Trouble.UNKNOWN_GAME
        players = players_of(live)
        if live.table.house or b"" in players:
            return Reason.WRONG_OPPONENT
        if player not in players:
            return Reason.NOT_SEATED
        if live.table.finished is None:
            return Trouble.NOT_OVER
        assert live.table.opened is not None
        fresh = await self._meetings.instead(self._id(b"rematch", id_))
        known = await self._games.at(fresh)
        other = players[1 - players.index(player)]
        if known is None and await self._meetings.offer(Rematch(id_, live.rules.name, player, other)) == player:
            self._asks(player)
            self.tell(other)
            return None
        meeting = Meeting(fresh, live.rules.name, live.table.opened.settings, players[::-1], False, False)
        opened = await self._open(meeting, known is not None)
        await self._meetings.accept(id_)
        self.tell(player)
        return opened

    async def offers(self, player: bytes) -> Sequence[Rematch]:
        """Asked of the player."""
        return await self._meetings.offers(player)

    def asking(self) -> Collection[bytes]:
        """Whoever asked for a rematch here, and perhaps still does."""
        return self._asking

    async def comes(self, player: bytes) -> None:
        """The player is here, perhaps from a server that ended: what he asked for there he asks for here. Raises
        Unknown."""
        if await self._meetings.asks(player):
            self._asks(player)

    def _asks(self, player: bytes) -> None:
        self._asking.add(player)
        if not self._connected(player):
            self.gone(player)  # While the store was asked.

    def gone(self, player: bytes) -> None:
        """The player's last connection has ended, and with it what he asked for."""
        if player in self._asking:
            self._asking.discard(player)
            self._start(self._withdraw(player))

    async def _withdraw(self, player: bytes) -> None:
        for other in await self._meetings.withdraw(player):
            self.tell(other)

    # ------------------------------------------------------------ what games tell

    def _published(self, id_: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if live is None or live.table.house or live.table.opened is None:
            return
        if live.table.finished is not None and live.head == events[-1].head:
            self._start(self._over(live))

    async def _over(self, live: Live) -> None:
        await self._meetings.forget(live.game, _is_no_game(live))
        self.tell(*players_of(live))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, Unknown):
            log_line.error("forgetting failed", error=repr(error))


def players_of(live: Live) -> tuple[bytes, bytes]:
    """Who sits, or has a seat kept, by seat; empty: nobody, or the house."""
    seated = [each.player if each is not None else b"" for each in live.table.seats]
    first, second = (who or kept or b"" for who, kept in zip(seated, live.table.reserved, strict=True))
    return first, second


def _is_no_game(live: Live) -> bool:
    """Whether it ended before there was a game, or was annulled since the store had lost some of it."""
    return live.table.finished is not None and live.table.finished.reason in ("void", "lost")


def _seat(live: Live, player: bytes) -> int | None:
    players = players_of(live)
    return players.index(player) if player in players else None
