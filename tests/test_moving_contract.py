"""What events/moving.py promises, for every store: what was kept elsewhere stands here as it stood there."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from events.chain import Head, extend, origin
from events.database import Database
from events.ledger import Mark
from events.ledger import origin as unmarked
from events.log import Batch, Conflict, Log, OutboxEntry, outbox_link, outbox_origin
from events.moving import Claimed, Kept, Movable
from events.redis_log import RedisLog
from events.redis_moving import RedisMovable
from events.sqlite import SCHEMA, SqliteLog
from events.sqlite_moving import SCHEMA as MOVING_SCHEMA
from events.sqlite_moving import SqliteMovable
from tests.redis_stores import shared_store
from tests.stores import REDIS, every

pytestmark = pytest.mark.anyio

GAME, NEIGHBOUR, LAST = bytes(16), bytes(15) + b"\1", b"\xff" * 16
PLAYER = b"p" * 16


@dataclass(frozen=True)
class Opened:
    log: Log
    movable: Movable


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[Opened]:
    database = await Database.open(folder / "log.db", [SCHEMA, MOVING_SCHEMA])
    try:
        yield Opened(SqliteLog(database), SqliteMovable(database))
    finally:
        await database.close()


@asynccontextmanager
async def redis(name: str, folder: Path) -> AsyncIterator[Opened]:
    async with shared_store(name) as store:
        yield Opened(RedisLog(store), RedisMovable(store))


STORES: dict[str, Callable[[Path], AbstractAsyncContextManager[Opened]]] = {
    "sqlite": sqlite,
    **{name: partial(redis, name) for name in REDIS},
}


@pytest.fixture(params=every(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Opened]:
    async with STORES[request.param](tmp_path) as opened:
        yield opened


def chained(number: int, first: int, count: int, before: bytes | None = None) -> tuple[OutboxEntry, ...]:
    """Entries of a partition from position `first` on."""
    found, hash_ = [], before or outbox_origin(number)
    for position in range(first, first + count):
        game, body = bytes([number]) * 16, b"%d" % position
        hash_ = outbox_link(hash_, game, body)
        found.append(OutboxEntry(number, position, hash_, game, body))
    return tuple(found)


def end_of(entries: Sequence[OutboxEntry]) -> Mark:
    return Mark(entries[-1].partition, entries[-1].position, entries[-1].hash)


async def grown(log: Log, game: bytes, *bodies: bytes, wait_ms: int | None = None) -> Head:
    events = extend(origin(game), bodies)
    return await log.append(game, origin(game), Batch(events, wait_ms=wait_ms))


async def test_an_empty_store_keeps_nothing(store: Opened) -> None:
    assert [await store.movable.kept(number) for number in (0, 255)] == [[], []]
    assert await store.movable.end(7) == unmarked(7)
    assert [each async for some in store.movable.places() for each in some] == []
    assert await store.movable.beats() == []


async def test_every_game_is_told_with_its_head_whether_it_runs_or_was_let_go(store: Opened) -> None:
    running = await grown(store.log, NEIGHBOUR, b"a", b"b", wait_ms=10**9)
    closed = await grown(store.log, GAME, b"a")
    await store.log.let_go(GAME, closed)
    last = await grown(store.log, LAST, b"z")
    gone, kept = await store.movable.kept(0)
    assert gone == Kept(GAME, closed, gone=True)
    assert (kept.game, kept.head, kept.gone) == (NEIGHBOUR, running, False)
    assert kept.deadline_ms is not None
    assert await store.movable.kept(255) == [Kept(LAST, last)]
    assert await store.movable.kept(254) == []


async def test_a_deadline_is_put_as_it_was_and_only_where_the_events_are(store: Opened) -> None:
    head = await grown(store.log, GAME, b"a", wait_ms=10**9)
    await store.movable.put_deadlines(0, {GAME: 1_700_000_000_123, NEIGHBOUR: 5})
    assert await store.movable.kept(0) == [Kept(GAME, head, False, 1_700_000_000_123)]
    assert [(each.game, each.at_ms) for each in await store.log.deadlines()] == [(GAME, 1_700_000_000_123)]


async def test_a_game_that_was_let_go_elsewhere_takes_no_append_here(store: Opened) -> None:
    head = extend(origin(GAME), [b"a", b"b"])[-1].head
    there = await grown(store.log, NEIGHBOUR, b"here")
    await store.movable.put_gone(0, [Kept(GAME, head, True), Kept(NEIGHBOUR, head, True)])
    assert await store.movable.kept(0) == [Kept(GAME, head, True), Kept(NEIGHBOUR, there)]
    assert await store.log.head(GAME) == head
    for before in (head, origin(GAME)):
        with pytest.raises(Conflict):
            await store.log.append(GAME, before, Batch(extend(before, [b"c"])))


async def test_an_outbox_is_put_with_its_positions_and_goes_on_behind_them(store: Opened) -> None:
    before = chained(0, 1, 4)
    entries = chained(0, 5, 3, before[-1].hash)
    await store.movable.put_outbox(unmarked(0), entries)
    assert await store.movable.end(0) == end_of(entries)
    assert list(await store.log.outbox(0)) == list(entries)
    for wrong in (unmarked(0), end_of(before), Mark(0, 7, bytes(32))):
        with pytest.raises(Conflict):
            await store.movable.put_outbox(wrong, chained(0, 8, 1, entries[-1].hash))
    more = chained(0, 8, 1, entries[-1].hash)
    await store.movable.put_outbox(end_of(entries), more)
    assert list(await store.log.outbox(0)) == [*entries, *more]
    await store.log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"]), (b"told",)))
    told = (await store.log.outbox(0))[-1]
    assert (told.position, told.hash) == (9, outbox_link(more[-1].hash, GAME, b"told"))


async def test_what_was_trimmed_elsewhere_is_forgotten_here(store: Opened) -> None:
    old, new = chained(0, 1, 3), chained(0, 9, 2, bytes(32))
    await store.movable.put_outbox(unmarked(0), old)
    await store.movable.put_outbox(end_of(old), new)
    assert list(await store.log.outbox(0)) == list(new)
    assert await store.movable.end(0) == end_of(new)


async def test_every_place_is_told_with_the_game_it_was_taken_from(store: Opened) -> None:
    await store.log.claim(PLAYER, "states-relaxed", GAME)
    await store.log.claim(PLAYER, "states-relaxed", NEIGHBOUR, instead_of=GAME)
    await store.log.claim(PLAYER, "war:x", LAST)
    players = [bytes([number]) * 16 for number in range(1, 9)]
    for player in players:
        await store.log.claim(player, "states-relaxed", player)
    found = {each async for some in store.movable.places() for each in some}
    assert found == {
        Claimed(PLAYER, "states-relaxed", NEIGHBOUR, GAME),
        Claimed(PLAYER, "war:x", LAST),
        *(Claimed(player, "states-relaxed", player) for player in players),
    }


async def test_beats_are_put_in_the_place_of_those_that_are_there(store: Opened) -> None:
    await store.log.beat()
    beats = [(1_000, 5_000), (20_000, 30_000)]
    await store.movable.put_beats(beats)
    assert await store.movable.beats() == beats
    assert await store.log.silence(0, 25_000) == 15_000


async def test_a_store_says_whether_a_copy_into_it_is_whole(store: Opened) -> None:
    assert not await store.movable.unfinished()
    for _ in range(2):
        await store.movable.put_unfinished(True)
        assert await store.movable.unfinished()
    for _ in range(2):
        await store.movable.put_unfinished(False)
        assert not await store.movable.unfinished()
