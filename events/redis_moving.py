"""`Movable` in Redis: what stands in the log's keys (events/redis_keys.py), as it is."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TypeVar

from events import redis_keys as keys
from events.ledger import Mark
from events.log import Conflict, OutboxEntry
from events.moving import Claimed, Kept, assert_gapless
from events.redis_connection import Value
from events.redis_log import RedisLog
from events.redis_script import Script
from events.redis_scripts import SET
from events.redis_store import RedisStore

COPYING_TAG = b"statecraft"
COPYING = b"{statecraft}:copying"
"""It stands there while a copy into this store isn't whole."""
AT_ONCE = 1000
"""Games or entries in one script, so that nobody else waits long."""

PUT_GONE = Script(
    """
    local gone = KEYS[1]
    for at = 2, #KEYS do
        local from = 2 * (at - 2) + 1
        if redis.call('EXISTS', KEYS[at]) == 0 then redis.call('HSETNX', gone, ARGV[from], ARGV[from + 1]) end
    end
    """
)
PUT_DEADLINES = Script(
    """
    local games, deadlines = unpack(KEYS)
    for at = 1, #ARGV, 2 do
        if redis.call('ZSCORE', games, ARGV[at]) then redis.call('ZADD', deadlines, ARGV[at + 1], ARGV[at]) end
    end
    """
)
PUT_OUTBOX = Script(
    """
    local outbox, outbox_head = unpack(KEYS)
    local before, after, trimmed = unpack(ARGV, 1, 3)
    local stands = redis.call('GET', outbox_head) or ''
    if stands ~= before then return stands end
    redis.call('XLEN', outbox)
    for at = 4, #ARGV, 4 do
        redis.call('XADD', outbox, ARGV[at], 'h', ARGV[at + 1], 'g', ARGV[at + 2], 'b', ARGV[at + 3])
    end
    if trimmed == '1' then redis.call('XTRIM', outbox, 'MINID', ARGV[4]) end
    redis.call('SET', outbox_head, after)
    return 1
    """
)
PUT_BEATS = Script(
    """
    redis.call('UNLINK', KEYS[1])
    for at = 1, #ARGV, 2 do redis.call('ZADD', KEYS[1], ARGV[at + 1], ARGV[at]) end
    """
)
FORGET = Script("redis.call('DEL', KEYS[1])", flags="allow-oom")

T = TypeVar("T")


class RedisMovable:
    """`events.moving.Movable` in a RedisStore."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._log = RedisLog(store)

    async def kept(self, partition: int) -> Sequence[Kept]:
        tag = keys.TAGS[partition]
        read, key = self._store.read, keys.key
        games, due, gone = await asyncio.gather(
            read(tag, "ZRANGE", key(partition, b"games"), 0, -1),
            read(tag, "ZRANGE", key(partition, b"deadlines"), 0, -1, "WITHSCORES"),
            read(tag, "HGETALL", key(partition, b"gone")),
        )
        deadlines = {game: int(at_ms) for game, at_ms in due}
        found = [Kept(game, keys.gone_head(head), True) for game, head in gone.items()]
        for some in _some(games):
            heads = await asyncio.gather(*map(self._log.head, some))
            found += [Kept(game, head, False, deadlines.get(game)) for game, head in zip(some, heads, strict=True)]
        return sorted(found, key=lambda each: each.game)

    async def end(self, partition: int) -> Mark:
        stored = await self._store.read(keys.TAGS[partition], "GET", keys.key(partition, b"outbox:head"))
        return Mark(partition, *keys.outbox_end(partition, stored or b""))

    async def places(self) -> AsyncIterator[Sequence[Claimed]]:
        async for found in self._store.keys(keys.PLACES):
            yield [each for each in await asyncio.gather(*map(self._place, found)) if each is not None]

    async def _place(self, key: bytes) -> Claimed | None:
        player, ladder = keys.place_of(key)
        game = await self._log.claimed(player, ladder)
        return None if game is None else Claimed(player, ladder, game, await self._log.before(game))

    async def beats(self) -> Sequence[tuple[int, int]]:
        found = await self._store.read(keys.SERVERS_TAG, "ZRANGE", keys.BEATS, 0, -1, "WITHSCORES")
        return [(int(since_ms), int(until_ms)) for since_ms, until_ms in found]

    async def put_gone(self, partition: int, games: Sequence[Kept]) -> None:
        for some in _some(games):
            arguments = [value for each in some for value in (each.game, keys.gone_value(each.head))]
            every = (keys.key(partition, b"gone"), *(keys.game_key(each.game) for each in some))
            await self._store.write(keys.TAGS[partition], PUT_GONE, every, arguments)

    async def put_deadlines(self, partition: int, deadlines: Mapping[bytes, int]) -> None:
        both = (keys.key(partition, b"games"), keys.key(partition, b"deadlines"))
        for some in _some(list(deadlines.items())):
            await self._store.write(
                keys.TAGS[partition], PUT_DEADLINES, both, [value for pair in some for value in pair]
            )

    async def put_outbox(self, end: Mark, entries: Sequence[OutboxEntry]) -> None:
        assert_gapless(end, entries)
        number, last = end.partition, entries[-1]
        arguments: list[Value] = [
            keys.outbox_head(end.position, end.hash),
            keys.outbox_head(last.position, last.hash),
            int(entries[0].position > end.position + 1),
        ]
        for entry in entries:
            arguments += (b"%d-0" % entry.position, entry.hash, entry.game, entry.body)
        both = (keys.key(number, b"outbox"), keys.key(number, b"outbox:head"))
        reply = await self._store.write(keys.TAGS[number], PUT_OUTBOX, both, arguments)
        if reply != 1:
            raise Conflict(f"outbox {number} ends at {keys.outbox_end(number, reply)[0]}, not {end.position}")

    async def put_beats(self, beats: Sequence[tuple[int, int]]) -> None:
        arguments = [time_ms for beat in beats for time_ms in beat]
        await self._store.write(keys.SERVERS_TAG, PUT_BEATS, (keys.BEATS,), arguments)

    async def put_unfinished(self, unfinished: bool) -> None:
        await self._store.write(COPYING_TAG, SET if unfinished else FORGET, (COPYING,), (b"1",))

    async def unfinished(self) -> bool:
        return await self._store.read(COPYING_TAG, "GET", COPYING) is not None


def _some(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + AT_ONCE] for start in range(0, len(values), AT_ONCE))
