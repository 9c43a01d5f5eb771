"""Who meets whom, in Redis: arranged games and the queue, for all servers. The only place that knows these keys.

All lie in one slot:

    {meetings}:games       hash from game to the meeting, as `_record` packs it
    {meetings}:unopened    set of the games whose log hasn't begun
    {meetings}:by-player   sorted set, all of one score: PLAYER then GAME; {meetings}:by-game the other way round
    {meetings}:instead     hash from a game of which nothing is left to the one that is arranged instead
    {meetings}:rematches   hash from game to player (16 bytes), other (16 bytes) and name of the rules
    {meetings}:asked       sorted set, all of one score: PLAYER then GAME; {meetings}:offered the same of the other
    {meetings}:queue:RULES hash from player to since_ms (8 bytes), server (16 bytes), and the rest packed
    {meetings}:queues      set of RULES
    {meetings}:servers     sorted set of servers by their last sign, on the store's clock
    {meetings}:day:N       hash from ladder and two players to how many games that count they were paired for that day
    {meetings}:paired:GAME which day's, and which field of it, this game is one of

Places in ladders lie with their players, in other slots. So a pairing is first arranged, in one write, and then its
places are claimed; whoever finds it unopened after a crash claims them before it is opened. Nothing but a pairing
claims places between people, who waits is paired once, and who was paired waits again only when the game has been
opened, so no claim is lost in between.
"""

import asyncio
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from events.log import Log
from events.redis_connection import Value
from events.redis_script import Script
from events.redis_store import RedisStore
from events.shapes import pack, unpack
from rules.fairness import GAME_BYTES
from rules.game import DAY_MS
from server import redis_meetings_scripts as scripts
from server.meetings import SERVER_MS_MAX, Entry, Meeting, Rematch
from server.pairing import Pair, Waiting, pairs

TAG = b"meetings"
GAMES, UNOPENED, BY_PLAYER, BY_GAME = (
    b"{meetings}:" + name for name in (b"games", b"unopened", b"by-player", b"by-game")
)
INSTEAD = b"{meetings}:instead"
REMATCHES, ASKED, OFFERED = (b"{meetings}:" + name for name in (b"rematches", b"asked", b"offered"))
QUEUES, SERVERS = b"{meetings}:queues", b"{meetings}:servers"
PAIRS_MAX = 200
"""Arranged by one script, so that nobody else waits long."""
CLAIMS_AT_ONCE = 64
DAY_SECONDS = 2 * 24 * 3600
"""How long it is kept who met on a day, after the last time."""

TRIES_SECONDS_MAX = 17.0
"""Whoever signs once a second, and was through with it so lately, has tried all the time: a read may have waited for
the store in between."""

Claims = Sequence[tuple[bytes, str, bytes]]
"""The places that a meeting claims: player, ladder, and the game before."""


class RedisMeetings:
    """`server.meetings.Meetings` in a RedisStore, beside `log` in the same."""

    def __init__(self, store: RedisStore, log: Log) -> None:
        self._store = store
        self._log = log
        self._tried_at = -math.inf
        """When this server was last through with signing, or could not, on the event loop's clock."""

    async def arrange(self, meeting: Meeting) -> bool:
        keys = (GAMES, UNOPENED, BY_PLAYER, BY_GAME, INSTEAD)
        given = (meeting.game, _record(meeting), b"".join(meeting.players))
        stands: int = await self._write(scripts.ARRANGE, keys, *given)
        return stands > 0

    async def opened(self, game: bytes) -> None:
        await self._write(scripts.OPENED, (UNOPENED,), game)

    async def joins(self, player: bytes, game: bytes) -> None:
        await self._write(scripts.JOINS, (BY_PLAYER, BY_GAME), player, game)

    async def missed(self, player: bytes, game: bytes) -> None:
        await self._write(scripts.MISSED, (BY_PLAYER, BY_GAME), player, game)

    async def forget(self, game: bytes, void: bool) -> None:
        if void and (counted := await self._read("GET", paired_key(game))) is not None:
            day, _, met = counted.partition(b" ")
            await self._write(scripts.DISCOUNT, (paired_key(game), day_key(int(day))), met)
        await self._write(scripts.FORGET, (GAMES, UNOPENED, BY_PLAYER, BY_GAME), game)

    async def replace(self, game: bytes, fresh: bytes) -> bool:
        stored = await self._read("HGET", GAMES, game)
        keys = (GAMES, UNOPENED, BY_PLAYER, BY_GAME, INSTEAD, paired_key(game), paired_key(fresh))
        if stored is None:
            await self._write(scripts.REPLACE, keys, game, "", fresh, "", "")
            return False
        ((meeting, claims),) = _meetings([game], [stored])
        handed = [(player, ladder, game) for player, ladder, _ in claims]
        given = (game, stored, fresh, _record(meeting, handed), b"".join(meeting.players))
        if not await self._write(scripts.REPLACE, keys, *given):
            return False
        await self._claim([(replace(meeting, game=fresh), handed)])
        return True

    async def instead(self, game: bytes) -> bytes:
        while (fresh := await self._read("HGET", INSTEAD, game)) is not None:
            game = fresh
        return game

    async def unopened(self) -> Sequence[Meeting]:
        found = await self._stored(sorted(await self._read("SMEMBERS", UNOPENED)))
        await self._claim(found)
        return [meeting for meeting, _ in found]

    async def meeting(self, game: bytes) -> Meeting | None:
        found = await self._stored([game])
        return found[0][0] if found else None

    async def of(self, player: bytes) -> Sequence[Meeting]:
        return [meeting for meeting, _ in await self._stored(await self._rows(BY_PLAYER, player))]

    async def offer(self, rematch: Rematch) -> bytes:
        record = rematch.player + rematch.other + rematch.rules.encode()
        asked: bytes = await self._write(scripts.OFFER, (REMATCHES, ASKED, OFFERED), rematch.game, record)
        return asked

    async def offers(self, player: bytes) -> Sequence[Rematch]:
        games = await self._rows(OFFERED, player)
        records = await self._read("HMGET", REMATCHES, *games) if games else []
        return [rematch(game, record) for game, record in zip(games, records, strict=True) if record is not None]

    async def accept(self, game: bytes) -> None:
        await self._write(scripts.ACCEPT, (REMATCHES, ASKED, OFFERED), game)

    async def asks(self, player: bytes) -> bool:
        return bool(await self._rows(ASKED, player))

    async def withdraw(self, player: bytes) -> Sequence[bytes]:
        others: list[bytes] = await self._write(scripts.WITHDRAW, (REMATCHES, ASKED, OFFERED), player)
        return others

    # ------------------------------------------------------------ the queue

    async def enter(self, entry: Entry) -> None:
        await self._write(
            scripts.ENTER,
            (_queue(entry.rules), QUEUES, SERVERS),
            *(entry.rules, entry.player, _waits(entry), entry.server, *self._keeps),
        )

    @property
    def _keeps(self) -> tuple[int, int]:
        """After how long without a sign a server is no more, and whether this one has tried to sign until now."""
        return SERVER_MS_MAX, int(asyncio.get_running_loop().time() - self._tried_at < TRIES_SECONDS_MAX)

    async def leave(self, rules: str, player: bytes, server: bytes | None = None) -> bool:
        left: int = await self._write(scripts.LEAVE, (_queue(rules),), player, server or b"")
        return left > 0

    async def move(self, rules: str, player: bytes, server: bytes, now_ms: int) -> bool:
        moved: int = await self._write(scripts.MOVE, (_queue(rules), SERVERS), player, server, *self._keeps)
        return moved > 0

    async def pair(self, rules: str, server: bytes, now_ms: int) -> Sequence[Meeting]:
        day = now_ms // DAY_MS
        try:
            found, days = await self._write(scripts.SIGN, (_queue(rules), SERVERS, day_key(day)), server, *self._keeps)
        finally:
            self._tried_at = asyncio.get_running_loop().time()
        records: dict[bytes, bytes] = dict(zip(found[::2], found[1::2], strict=True))
        waiting = {player: _entry(rules, player, record) for player, record in records.items()}
        met: dict[bytes, int] = {key: int(games) for key, games in zip(days[::2], days[1::2], strict=True)}
        chosen = pairs(
            [Waiting(each.player, each.rating, each.since_ms) for each in waiting.values()],
            now_ms,
            lambda one, other: met.get(met_field(waiting[one].ladder, one, other), 0),
        )
        arranged: list[Meeting] = []
        for start in range(0, len(chosen), PAIRS_MAX):
            arranged += await self._arrange(day, chosen[start : start + PAIRS_MAX], waiting, records, met)
        return arranged

    async def _arrange(
        self,
        day: int,
        chosen: Sequence[Pair],
        waiting: Mapping[bytes, Entry],
        records: Mapping[bytes, bytes],
        met: Mapping[bytes, int],
    ) -> list[Meeting]:
        """Those of the chosen pairs that nobody else has paired since, with their places claimed."""
        counting = [waiting[player] for pair in chosen if pair.counts for player in pair.players]
        stale = await self._stale(counting)
        arguments: list[Value] = [DAY_SECONDS, len(stale), day]
        for player in stale:
            arguments += (player, records[player])
        found: dict[bytes, tuple[Meeting, Claims]] = {}
        for pair in chosen:
            # Another game holds the place since: this entry isn't worth a partner. The other waits on.
            if stale.isdisjoint(pair.players):
                first, second = (waiting[player] for player in pair.players)
                game = secrets.token_bytes(GAME_BYTES)
                befores = tuple(sorted({first.before, second.before} - {b""})) if pair.counts else ()
                meeting = Meeting(game, first.rules, (), pair.players, pair.counts, False, befores)
                counted = (first, second) if pair.counts else ()
                claims = [(each.player, each.ladder, each.before) for each in counted]
                found[game] = meeting, claims
                key = met_field(first.ladder, *pair.players) if pair.counts else b""
                arguments += (first.player, records[first.player], second.player, records[second.player])
                arguments += (game, _record(meeting, claims), key, met.get(key, 0))
        queue = _queue(waiting[chosen[0].players[0]].rules)
        keys = (queue, GAMES, UNOPENED, BY_PLAYER, BY_GAME, day_key(day), *map(paired_key, found))
        arranged = await self._write(scripts.PAIR, keys, *arguments)
        pairings = [found[game] for game in arranged]
        await self._claim(pairings)
        return [meeting for meeting, _ in pairings]

    async def _stale(self, entries: Sequence[Entry]) -> set[bytes]:
        """Players whose place is held by another game than it was when they began to wait."""
        stale = set()
        for start in range(0, len(entries), CLAIMS_AT_ONCE):
            some = entries[start : start + CLAIMS_AT_ONCE]
            held = await asyncio.gather(*(self._log.claimed(each.player, each.ladder) for each in some))
            stale |= {each.player for each, holder in zip(some, held, strict=True) if (holder or b"") != each.before}
        return stale

    async def waiting(self, rules: str) -> int:
        count: int = await self._read("HLEN", _queue(rules))
        return count

    async def waits(self, rules: str, players: Sequence[bytes]) -> set[bytes]:
        found = await self._read("HMGET", _queue(rules), *players) if players else []
        return {player for player, record in zip(players, found, strict=True) if record is not None}

    # ------------------------------------------------------------ what is stored

    async def _claim(self, found: Sequence[tuple[Meeting, Claims]]) -> None:
        """The places of pairings. Done twice it is done once. Raises Unknown."""
        claims = [(player, ladder, each.game, before) for each, some in found for player, ladder, before in some]
        for start in range(0, len(claims), CLAIMS_AT_ONCE):
            await asyncio.gather(
                *(
                    self._log.claim(player, ladder, game, before or None)
                    for player, ladder, game, before in claims[start : start + CLAIMS_AT_ONCE]
                )
            )

    async def _stored(self, games: Sequence[bytes]) -> Sequence[tuple[Meeting, Claims]]:
        """Those of these that are arranged."""
        return _meetings(games, await self._read("HMGET", GAMES, *games) if games else [])

    async def _rows(self, key: bytes, player: bytes) -> Sequence[bytes]:
        """The games of the player's rows there, rising."""
        rows = await self._read("ZRANGEBYLEX", key, b"[" + player, b"[" + player + b"\xff" * GAME_BYTES)
        return [row[len(player) :] for row in rows]

    async def _read(self, *command: Value) -> Any:
        """Raises Unknown."""
        return await self._store.read(TAG, *command)

    async def _write(self, script: Script, keys: Sequence[bytes], *arguments: Value) -> Any:
        """Raises Unknown."""
        return await self._store.write(TAG, script, keys, arguments)


def _meetings(games: Sequence[bytes], records: Sequence[bytes | None]) -> list[tuple[Meeting, Claims]]:
    """Those that there are."""
    found = []
    for game, record in zip(games, records, strict=True):
        if record is not None:
            rules, settings, players, counts, listed, befores, claims = unpack(record)
            found.append((Meeting(game, rules, settings, players, counts, listed, befores), claims))
    return found


def _record(meeting: Meeting, claims: Claims = ()) -> bytes:
    """A meeting as it is stored, but for its game."""
    kept = (meeting.rules, meeting.settings, meeting.players, meeting.counts, meeting.listed, meeting.befores)
    return pack((*kept, tuple(claims)))


def _queue(rules: str) -> bytes:
    return b"{meetings}:queue:" + rules.encode()


def day_key(number: int) -> bytes:
    return b"{meetings}:day:%d" % number


def paired_key(game: bytes) -> bytes:
    return b"{meetings}:paired:" + game


def _waits(entry: Entry) -> bytes:
    return entry.since_ms.to_bytes(8, "big") + entry.server + pack((entry.ladder, entry.rating, entry.before))


def _entry(rules: str, player: bytes, record: bytes) -> Entry:
    ladder, rating, before = unpack(record[24:])
    return Entry(rules, player, ladder, rating, int.from_bytes(record[:8], "big"), before, record[8:24])


def rematch(game: bytes, record: bytes) -> Rematch:
    return Rematch(game, record[32:].decode(), record[:16], record[16:32])


def met_field(ladder: str, one: bytes, other: bytes) -> bytes:
    return ladder.encode() + b"\0" + min(one, other) + max(one, other)


def met_value(stored: bytes) -> tuple[int, str, tuple[bytes, bytes]]:
    """Day, ladder and the two players, of what stands at `paired_key`."""
    day, _, field = stored.partition(b" ")
    ladder, _, players = field.partition(b"\0")
    return int(day), ladder.decode(), (players[:16], players[16:])
