"""What `Meetings` keeps, given and taken as it is: for `copy`, which moves all of it but the queue.

Who waits in the queue waits through a connection, which ends with the server.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from events.database import Database
from events.log import Log
from events.redis_script import Script
from events.redis_store import RedisStore
from rules.fairness import GAME_BYTES, PLAYER_BYTES
from server import redis_meetings as keys
from server.meetings import Meeting, Meetings, Rematch
from server.redis_meetings import RedisMeetings
from server.sqlite_meetings import SqliteMeetings

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Arranged:
    """A game between people that was arranged, and where it stands."""

    meeting: Meeting
    opened: bool
    players: tuple[bytes, ...]
    """Who has, or had, a seat in it, rising."""


@dataclass(frozen=True, slots=True)
class Met:
    """A game that counts among those that two players were paired for on a day."""

    game: bytes
    day: int
    """Since 1970, in UTC."""
    ladder: str
    players: tuple[bytes, bytes]
    """Rising."""


class ArrangedGames(Protocol):
    """Beside `meetings`, in the same store, while no server serves from it."""

    @property
    def meetings(self) -> Meetings: ...

    def arranged(self) -> AsyncIterator[Sequence[Arranged]]:
        """All of them, some perhaps twice. Places that they have still to claim are claimed first."""

    async def rematches(self) -> Sequence[Rematch]:
        """All that were asked for and not answered."""

    async def met(self) -> Sequence[Met]:
        """All that are kept."""

    async def put_met(self, met: Sequence[Met]) -> None:
        """Those that aren't there are counted. Raises Unknown."""

    async def instead(self) -> Mapping[bytes, bytes]:
        """The ids that stand for games of which nothing was left."""

    async def put_instead(self, instead: Mapping[bytes, bytes]) -> None:
        """Raises Unknown."""


class SqliteArranged:
    """`ArrangedGames` in a Database opened with the log's and the meetings' SCHEMA."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._meetings = SqliteMeetings(database)

    @property
    def meetings(self) -> Meetings:
        return self._meetings

    async def arranged(self) -> AsyncIterator[Sequence[Arranged]]:
        last = b""
        query = "SELECT game, opened FROM meetings WHERE game > ? ORDER BY game LIMIT ?"
        while rows := await self._rows(query, (last, PAGE)):
            found = []
            for game, opened in rows:
                meeting = await self._meetings.meeting(game)
                assert meeting is not None, "nobody forgets one meanwhile"
                seats = await self._rows("SELECT player FROM meeting_players WHERE game = ? ORDER BY 1", (game,))
                found.append(Arranged(meeting, bool(opened), tuple(player for (player,) in seats)))
            yield found
            last = rows[-1][0]

    async def rematches(self) -> Sequence[Rematch]:
        rows = await self._rows("SELECT game, rules, player, other FROM rematches ORDER BY game", ())
        return [Rematch(*row) for row in rows]

    async def met(self) -> Sequence[Met]:
        rows = await self._rows("SELECT game, day, ladder, first, second FROM paired ORDER BY game", ())
        return [Met(game, day, ladder, (first, second)) for game, day, ladder, first, second in rows]

    async def put_met(self, met: Sequence[Met]) -> None:
        rows = [(each.game, each.day, each.ladder, *each.players) for each in met]

        def job(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO paired VALUES (?, ?, ?, ?, ?)", rows)

        await self._database.write(job)

    async def instead(self) -> Mapping[bytes, bytes]:
        return dict(await self._rows("SELECT game, fresh FROM meetings_instead", ()))

    async def put_instead(self, instead: Mapping[bytes, bytes]) -> None:
        rows = list(instead.items())

        def job(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO meetings_instead VALUES (?, ?)", rows)

        await self._database.write(job)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await self._database.read(lambda connection: connection.execute(query, values).fetchall())


COUNT = Script(
    """
    local day, paired = unpack(KEYS)
    local day_seconds, met, value = unpack(ARGV)
    redis.call('HGET', day, met)
    if not redis.call('SET', paired, value, 'NX', 'EX', day_seconds) then return end
    redis.call('HINCRBY', day, met, 1)
    redis.call('EXPIRE', day, day_seconds)
    """
)


PUT_INSTEAD = Script(
    """
    for at = 1, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[at], ARGV[at + 1]) end
    """
)


class RedisArranged:
    """`ArrangedGames` in a RedisStore, beside `log` in the same."""

    def __init__(self, store: RedisStore, log: Log) -> None:
        self._store = store
        self._meetings = RedisMeetings(store, log)

    @property
    def meetings(self) -> Meetings:
        return self._meetings

    async def arranged(self) -> AsyncIterator[Sequence[Arranged]]:
        unopened = {meeting.game for meeting in await self._meetings.unopened()}
        games = sorted(await self._store.read(keys.TAG, "HKEYS", keys.GAMES))
        for start in range(0, len(games), PAGE):
            some = games[start : start + PAGE]
            yield await asyncio.gather(*(self._arranged(game, game not in unopened) for game in some))

    async def _arranged(self, game: bytes, opened: bool) -> Arranged:
        meeting = await self._meetings.meeting(game)
        assert meeting is not None, "nobody forgets one meanwhile"
        within = (b"[" + game, b"[" + game + b"\xff" * PLAYER_BYTES)
        rows = await self._store.read(keys.TAG, "ZRANGEBYLEX", keys.BY_GAME, *within)
        return Arranged(meeting, opened, tuple(row[GAME_BYTES:] for row in rows))

    async def rematches(self) -> Sequence[Rematch]:
        found = await self._store.read(keys.TAG, "HGETALL", keys.REMATCHES)
        return [keys.rematch(game, record) for game, record in sorted(found.items())]

    async def met(self) -> Sequence[Met]:
        found: list[Met] = []
        async for some in self._store.keys(keys.paired_key(b"*")):
            for key in some:
                value = await self._store.read(keys.TAG, "GET", key)
                if value is not None:
                    found.append(Met(key[len(keys.paired_key(b"")) :], *keys.met_value(value)))
        return sorted(dict.fromkeys(found), key=lambda each: each.game)

    async def put_met(self, met: Sequence[Met]) -> None:
        for each in met:
            field = keys.met_field(each.ladder, *each.players)
            both = (keys.day_key(each.day), keys.paired_key(each.game))
            await self._store.write(keys.TAG, COUNT, both, (keys.DAY_SECONDS, field, b"%d %b" % (each.day, field)))

    async def instead(self) -> Mapping[bytes, bytes]:
        found: dict[bytes, bytes] = await self._store.read(keys.TAG, "HGETALL", keys.INSTEAD)
        return found

    async def put_instead(self, instead: Mapping[bytes, bytes]) -> None:
        pairs = list(instead.items())
        for start in range(0, len(pairs), PAGE):
            given = [id_ for pair in pairs[start : start + PAGE] for id_ in pair]
            await self._store.write(keys.TAG, PUT_INSTEAD, (keys.INSTEAD,), given)
