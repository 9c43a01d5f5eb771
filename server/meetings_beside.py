"""Arranged games and the queue in the embedded file, where the log is elsewhere: for one server.

Places in ladders are the log's. Before pairs are chosen the places of all who wait are copied here; what the choice
claims here is claimed in the log before anybody opens the game, and again after a crash in between.
"""

import sqlite3
from collections.abc import Sequence

from events.database import Database
from events.log import Log
from server.meetings import Entry, Meeting, SqliteMeetings


class MeetingsBeside(SqliteMeetings):
    """`Meetings` in a Database opened with meetings.SCHEMA and sqlite.SCHEMA, beside `log`."""

    def __init__(self, database: Database, log: Log) -> None:
        super().__init__(database)
        self._log = log

    async def enter(self, entry: Entry) -> None:
        await self._copy(entry.player, entry.ladder)
        await super().enter(entry)

    async def pair(self, rules: str, server: bytes, now_ms: int) -> Sequence[Meeting]:
        for player, ladder in await self._rows("SELECT player, ladder FROM queue WHERE rules = ?", (rules,)):
            await self._copy(player, ladder)
        arranged = await super().pair(rules, server, now_ms)
        for meeting in arranged:
            await self._claim(meeting)
        return arranged

    async def unopened(self) -> Sequence[Meeting]:
        found = await super().unopened()
        for meeting in found:
            await self._claim(meeting)
        return found

    async def _copy(self, player: bytes, ladder: str) -> None:
        holder = await self._log.claimed(player, ladder)

        def job(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM claims WHERE player = ? AND ladder = ?", (player, ladder))
            if holder is not None:
                connection.execute("INSERT INTO claims VALUES (?, ?, ?)", (player, ladder, holder))

        await self._database.write(job)

    async def _claim(self, meeting: Meeting) -> None:
        """What is claimed here for the game, in the log. Done twice it is done once."""
        query = "SELECT player, ladder FROM claims WHERE game = ?"
        for player, ladder in await self._rows(query, (meeting.game,)):
            holder = await self._log.claimed(player, ladder)
            if holder is None or holder in meeting.befores:
                await self._log.claim(player, ladder, meeting.game, holder)
