"""The Log in Redis. What its keys are stands in events/redis_keys.py, what its scripts do in redis_scripts.py."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgpack

from events import redis_keys as keys
from events import redis_scripts as scripts
from events.chain import Head, Stored, origin
from events.log import (
    BEAT_GAP_MS_MAX,
    BEATS_KEPT_MS,
    PARTITIONS,
    Batch,
    Conflict,
    Deadline,
    LetGo,
    Listener,
    NotYet,
    OutboxEntry,
    outbox_link,
    outbox_origin,
    partition,
    silence,
)
from events.redis_connection import Value
from events.redis_script import Script
from events.redis_store import RedisStore

OUTBOX_BYTES_MAX = 65_535
PAGE = 1000
"""Entries read by one command, so that nobody else waits long."""
PARTITIONS_AT_ONCE = 16
"""Asked together where many partitions are listed in order."""


class RedisLog:
    """`events.log.Log` in a RedisStore. Appends and claims raise Unknown if their answer is lost."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._listeners: list[Listener] = []
        self._outboxes = [(0, outbox_origin(number)) for number in range(PARTITIONS)]
        """Where each outbox ended when it was last heard of."""
        self._outbox_turns = [asyncio.Lock() for _ in range(PARTITIONS)]

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        _assert_fits(game, head, batch)
        if head.version == 0 and head != origin(game):
            raise Conflict("this is not the game's origin")
        if not batch.outbox:
            await self._append(game, head, batch, (), ())
        else:
            # One at a time here; where another server was faster, the script says where the outbox ends now.
            async with self._outbox_turns[partition(game)]:
                await self._append_and_tell(game, head, batch)
        return batch.events[-1].head

    async def _append_and_tell(self, game: bytes, head: Head, batch: Batch) -> None:
        number = partition(game)
        outbox_keys = (keys.key(number, b"outbox"), keys.key(number, b"outbox:head"))
        while True:
            position, hash_ = self._outboxes[number]
            arguments: list[Value] = [keys.outbox_head(position, hash_)]
            for body in batch.outbox:
                position, hash_ = position + 1, outbox_link(hash_, game, body)
                arguments += (b"%d-0" % position, hash_, body)
            arguments.append(keys.outbox_head(position, hash_))
            end = await self._append(game, head, batch, outbox_keys, arguments)
            if end is None:
                self._outboxes[number] = (position, hash_)
                return
            self._outboxes[number] = keys.outbox_end(number, end)

    async def _append(
        self, game: bytes, head: Head, batch: Batch, outbox_keys: tuple[bytes, ...], outbox: Sequence[Value]
    ) -> bytes | None:
        """None: it is stored. Else another outbox head stands than the one named, this one, and nothing was stored."""
        number = partition(game)
        arguments: list[Value] = [
            b"%d-0" % head.version,
            head.hash,
            game,
            "" if batch.wait_ms is None else batch.wait_ms,
            "" if batch.expired_ms is None else batch.expired_ms,
            keys.CHANNELS[number],
            len(batch.events),
        ]
        for event in batch.events:
            arguments += (b"%d-0" % event.version, event.hash, event.body)
        reply = await self._store.write(
            keys.TAGS[number],
            scripts.APPEND,
            (*keys.game_keys(game), *outbox_keys),
            (*arguments, *outbox),
        )
        match reply:
            case 1:
                return None
            case [b"conflict", found]:
                raise Conflict(f"the head is {found.decode()}, not {head.version}-0, or has another hash")
            case [b"not yet", found]:
                raise NotYet(
                    f"{batch.expired_ms} is not the deadline, which is {found.decode() or 'none'}, or not past"
                )
            case [b"outbox", found]:
                end: bytes = found
                return end
            case _:
                raise AssertionError(f"the script answers {reply!r}")

    async def head(self, game: bytes) -> Head:
        tag = keys.TAGS[partition(game)]
        found = await self._store.read(tag, "XREVRANGE", keys.game_key(game), "+", "-", "COUNT", 1)
        return keys.event(found[0]).head if found else await self._gone(game) or origin(game)

    async def _gone(self, game: bytes) -> Head | None:
        """The head of a game that was let go."""
        number = partition(game)
        found = await self._store.read(keys.TAGS[number], "HGET", keys.key(number, b"gone"), game)
        return None if found is None else keys.gone_head(found)

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        events: list[Stored] = []
        while True:
            count = PAGE if limit is None else min(PAGE, limit - len(events))
            found = await self._range(partition(game), keys.game_key(game), after, count) if count else ()
            # Nothing: it ends here, or it went, perhaps between two pages.
            if not found and (head := await self._gone(game)) is not None:
                raise LetGo(game, head)
            events += map(keys.event, found)
            if len(found) < count or len(events) == limit:
                return events
            after = events[-1].version

    async def games(self, after: bytes = b"", limit: int = 1000) -> Sequence[bytes]:
        games: list[bytes] = []
        first = partition(after) if after else 0
        least = b"(" + after if after else b"-"
        for start in range(first, PARTITIONS, PARTITIONS_AT_ONCE):
            found = await asyncio.gather(
                *(
                    self._store.read(
                        keys.TAGS[number], "ZRANGEBYLEX", keys.key(number, b"games"), least, "+", "LIMIT", 0, limit
                    )
                    for number in range(start, min(PARTITIONS, start + PARTITIONS_AT_ONCE))
                )
            )
            games += (game for some in found for game in some)
            if len(games) >= limit:
                break
        return games[:limit]

    async def let_go(self, game: bytes, head: Head) -> None:
        assert head.version > 0
        if (stands := await self.head(game)) != head:
            raise Conflict(f"the head is {stands.version}, not {head.version}, or has another hash")
        # First what lies with the player: once the rest is gone nobody knows where that is.
        if (place := await self._claimant(game)) is not None:
            befores = keys.place_keys(*place)[1]
            await self._store.write(keys.player_tag(place[0]), scripts.FORGET_BEFORE, (befores,), (game,))
        reply = await self._store.write(
            keys.TAGS[partition(game)],
            scripts.LET_GO,
            (*keys.game_keys(game), keys.claimant_key(game)),
            (game, b"%d-0" % head.version, head.hash),
        )
        if reply != 1:
            raise Conflict(f"it went on meanwhile: {keys.gone_head(reply).version if reply else 'it is empty'}")

    async def trim(self, partition: int, position: int) -> None:
        outbox = keys.key(partition, b"outbox")
        await self._store.write(keys.TAGS[partition], scripts.TRIM, (outbox,), (b"%d-0" % position,))

    async def deadlines(self, limit: int = 100) -> Sequence[Deadline]:
        found = await self._of_deadlines(scripts.DEADLINES, limit)
        past = sorted(
            (int(at_ms), game) for pairs in found for game, at_ms in zip(pairs[::2], pairs[1::2], strict=True)
        )
        return [Deadline(game, at_ms) for at_ms, game in past[:limit]]

    async def next_deadline(self) -> int | None:
        found = await self._of_deadlines(scripts.NEXT_DEADLINE)
        return min((int(nearest_ms) for nearest_ms in found if nearest_ms is not None), default=None)

    async def _of_deadlines(self, script: Script, *arguments: Value) -> Sequence[Any]:
        """A script's answers on all deadlines; where slots may be apart it runs once for each partition."""
        every = tuple(keys.key(number, b"deadlines") for number in range(PARTITIONS))
        if not self._store.divided:
            return [await self._store.read_by(keys.TAGS[0], script, every, arguments)]
        calls = (self._store.read_by(tag, script, (key,), arguments) for tag, key in zip(keys.TAGS, every, strict=True))
        return await asyncio.gather(*calls)

    async def beat(self) -> None:
        await self._store.write(keys.SERVERS_TAG, scripts.BEAT, (keys.BEATS,), (BEAT_GAP_MS_MAX, BEATS_KEPT_MS))

    async def silence(self, from_ms: int, to_ms: int) -> int:
        found = await self._store.read(keys.SERVERS_TAG, "ZRANGE", keys.BEATS, 0, -1, "WITHSCORES")
        return silence([(int(since_ms), int(until_ms)) for since_ms, until_ms in found], from_ms, to_ms)

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        assert len(player) == 16
        if instead_of is not None:
            # First where `before` will look, then the claim: whichever is lost, no claim stands that it doesn't know.
            tag = keys.TAGS[partition(game)]
            await self._store.write(tag, scripts.SET, (keys.claimant_key(game),), (player + ladder.encode(),))
        holder: bytes = await self._store.write(
            keys.player_tag(player), scripts.CLAIM, keys.place_keys(player, ladder), (game, instead_of or b"")
        )
        return holder

    async def claimed(self, player: bytes, ladder: str) -> bytes | None:
        place = keys.place_keys(player, ladder)[0]
        holder: bytes | None = await self._store.read(keys.player_tag(player), "GET", place)
        return holder

    async def before(self, game: bytes) -> bytes | None:
        place = await self._claimant(game)
        if place is None:
            return None
        befores = keys.place_keys(*place)[1]
        found: bytes | None = await self._store.read(keys.player_tag(place[0]), "HGET", befores, game)
        return found

    async def _claimant(self, game: bytes) -> tuple[bytes, str] | None:
        """The player and the ladder whose place the game may have taken."""
        found = await self._store.read(keys.TAGS[partition(game)], "GET", keys.claimant_key(game))
        return None if found is None else (found[:16], found[16:].decode())

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        found = await self._range(partition, keys.key(partition, b"outbox"), after, limit)
        return [
            OutboxEntry(partition, keys.number_of(id_), hash_, game, body)
            for id_, (_, hash_, _, game, _, body) in found
        ]

    async def _range(self, number: int, key: bytes, after: int, count: int) -> Any:
        return await self._store.read(keys.TAGS[number], "XRANGE", key, b"(%d-0" % after, "+", "COUNT", count)

    # ------------------------------------------------------------ hearing

    def listen(self, listener: Listener) -> None:
        if not self._listeners:
            self._store.listen(keys.CHANNELS, self._heard)
        self._listeners.append(listener)

    def _heard(self, channel: bytes, message: bytes) -> None:
        game, version, hash_, *pairs = msgpack.unpackb(message, raw=True)
        head = Head(keys.number_of(version), hash_)
        numbers = range(head.version + 1, head.version + 1 + len(pairs) // 2)
        events = tuple(map(Stored, numbers, pairs[::2], pairs[1::2]))
        if head.version == 0:
            head = origin(game)
        for listener in self._listeners:
            try:
                listener(game, head, events)
            except Exception as error:  # a listener's fault must not hide from the others that this is stored
                asyncio.get_running_loop().call_exception_handler({"message": "a listener failed", "exception": error})


def _assert_fits(game: bytes, head: Head, batch: Batch) -> None:
    assert len(game) == 16
    versions = [event.version for event in batch.events]
    assert versions
    assert versions == list(range(head.version + 1, head.version + 1 + len(versions))), "they don't follow the head"
    assert all(len(body) <= OUTBOX_BYTES_MAX for body in batch.outbox)
