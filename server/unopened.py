"""Arranged games without a log: not yet, since a server died between, or not any more, since the store lost it.

The one place that says under which id such a game is opened. Where a store may lose a whole log it is a fresh one, if
anybody may have seen it open: under the same id the same secret would deal again.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import structlog

from events.log import Unknown
from rules.fairness import GAME_BYTES
from server.between import Between
from server.games import Damaged, Games
from server.meetings import Meeting, Meetings

MISSING_SECONDS = 6.0
"""How long an arranged game may have no log: whoever opens it, or has its events and puts them back, is faster."""

log_line = structlog.get_logger()


class Unopened:
    def __init__(self, games: Games, meetings: Meetings, between: Between, alone: bool) -> None:
        """`alone`: there are no other servers, and the store loses nothing."""
        self._games = games
        self._meetings = meetings
        self._between = between
        self._alone = alone
        self._doubts: list[Callable[[], None]] = []
        self._missing: dict[bytes, float] = {}
        """Arranged games whose log was found empty, since when, on the event loop's clock."""
        games.on_gone(self.lost)
        between.on_missing(self._is_missing)

    def on_doubt(self, doubts: Callable[[], None]) -> None:
        """Be told when there may be something to `resume`."""
        self._doubts.append(doubts)

    def _doubt(self) -> None:
        for doubts in self._doubts:
            doubts()

    async def resume(self) -> Sequence[Meeting]:
        """Open what was arranged and isn't open: a server died between, or couldn't say whether it was stored.

        Where others may have opened it an empty log is waited for, and then the game gets another id: perhaps its cards
        were seen, and the store lost all of it. Raises Unknown."""
        resumed = []
        for meeting in await self._meetings.unopened():
            try:
                if not self._alone and await self._games.at(meeting.game) is None:
                    self._misses(meeting.game)
                    continue
                await self._between.open(meeting)
            except Damaged as error:
                log_line.error("damaged game", game=meeting.game.hex(), version=error.version, why=error.why)
                await self._meetings.forget(meeting.game, void=True)
            resumed.append(meeting)
        return [*resumed, *await self._replaced()]

    def _misses(self, game_id: bytes) -> None:
        self._missing.setdefault(game_id, asyncio.get_running_loop().time())

    def _is_missing(self, game_id: bytes) -> None:
        self._misses(game_id)
        self._doubt()

    async def _replaced(self) -> Sequence[Meeting]:
        """Those instead of games that were missing for too long. Raises Unknown."""
        replaced = []
        for game_id, since in tuple(self._missing.items()):
            if since + MISSING_SECONDS < asyncio.get_running_loop().time():
                if await self._is_empty(game_id) and (fresh := await self._anew(game_id)) is not None:
                    replaced.append(fresh)
                del self._missing[game_id]
        return replaced

    async def _is_empty(self, game_id: bytes) -> bool:
        try:
            return await self._games.at(game_id) is None
        except Damaged:
            return False

    async def _anew(self, game_id: bytes) -> Meeting | None:
        """The meeting under a fresh id, opened; None if there is none any more. Raises Unknown."""
        meeting = await self._meetings.meeting(game_id)
        fresh = secrets.token_bytes(GAME_BYTES)
        if not await self._meetings.replace(game_id, fresh) or meeting is None:
            return None
        log_line.warning("a game of which nothing is left is dealt anew", game=game_id.hex(), instead=fresh.hex())
        meeting = replace(meeting, game=fresh)
        await self._between.open(meeting)
        return meeting

    @property
    def misses(self) -> bool:
        """Whether there are games that `resume` waits for."""
        return bool(self._missing)

    async def missing(self, game_id: bytes) -> bool:
        """Of a game that holds a place, and whose log is empty: whether nobody will open it. Raises Unknown."""
        # Whoever arranged it under another id may have died before he gave it the places.
        stands = await self._meetings.instead(game_id)
        if await self._meetings.meeting(stands) is None:
            return True
        # It isn't open yet, or else nothing is left of it, unless somebody puts that back just now.
        self._is_missing(stands)
        return False

    async def awaits(self, player: bytes, rules: str) -> bool:
        """Whether the player was paired, and the game isn't open: perhaps who paired him died before he claimed the
        place. Raises Unknown."""
        for meeting in await self._meetings.of(player):
            if meeting.counts and meeting.rules == rules and await self._is_empty(meeting.game):
                self._is_missing(meeting.game)
                return True
        return False

    async def lost(self, game_id: bytes, players: Collection[bytes], was_over: bool) -> None:
        """Nothing is left of the game's log: it isn't dealt again. Whom it was arranged for meet in another one, if it
        wasn't over. Raises Unknown."""
        try:
            if was_over:
                # In this order: were it replaced first, and then not forgotten, somebody would open it.
                await self._meetings.forget(game_id, void=True)
                await self._meetings.replace(game_id, secrets.token_bytes(GAME_BYTES))
            else:
                await self._anew(game_id)
        except Unknown:
            self._doubt()
            raise
        self._between.tell(*players)
