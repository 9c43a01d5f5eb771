"""What a refusal looks for: which command made which head."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from events import chain, codec
from events.chain import Head, Stored
from events.codec import Event
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog
from rules.game import Resigned
from server.causes import Causes, Unreadable

pytestmark = pytest.mark.anyio

GAME, OTHER = b"a game's own id.", b"another game's i"


class Counting(SqliteLog):
    """Counts the events it reads."""

    events = 0

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        found = await super().read(game, after, limit)
        self.events += len(found)
        return found


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[tuple[Database, Counting]]:
    database = await Database.open(folder / "log.db", [SCHEMA])
    try:
        yield database, Counting(database)
    finally:
        await database.close()


def cause(number: int) -> bytes:
    return sha256(b"%d" % number).digest()[:16]


async def append(log: SqliteLog, game: bytes, number: int, events: int = 3) -> Head:
    head = await log.head(game)
    bodies = [codec.encode(Event(number, cause(number), Resigned(each % 2))) for each in range(events)]
    return await log.append(game, head, Batch(chain.extend(head, bodies)))


async def test_a_cause_is_found_with_the_head_that_its_last_event_made(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, log):
        causes = Causes(log)
        heads = [await append(log, GAME, number) for number in range(10)]
        assert [await causes.made(GAME, cause(number)) for number in range(11)] == [*heads, None]
        heads.append(await append(log, GAME, 10))
        assert [await causes.made(GAME, cause(number)) for number in range(12)] == [*heads, None]
        assert await causes.made(OTHER, cause(1)) is None


async def test_the_second_refusal_reads_only_what_was_appended_since(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, log):
        causes = Causes(log)
        for number in range(100):
            await append(log, GAME, number)
        await causes.made(GAME, cause(-1))
        assert log.events == 300
        await append(log, GAME, 100)
        await causes.made(GAME, cause(-2))
        assert log.events == 304, "and the last one before, which must still stand there"


async def test_what_is_kept_is_bounded_and_what_was_let_go_is_read_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, log):
        causes = Causes(log, causes_max=15)
        games = [bytes([number]) * 16 for number in range(4)]
        for game in games:
            for number in range(10):
                await append(log, game, number)
        for game in (*games, *games):
            assert await causes.made(game, cause(3)) == Head(12, (await log.read(game, 11, 1))[0].hash)
            assert len(causes) == sum(len(known.made) for known in causes._known.values()) <= 15


async def test_a_refusal_looks_at_no_other_game_however_many_are_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, log):
        causes, calls = Causes(log), 0
        await append(log, GAME, 1)
        for number in range(1000):
            await causes.made(number.to_bytes(16, "big"), cause(1))

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            assert await causes.made(GAME, cause(1)) is not None
        finally:
            sys.setprofile(None)
        assert 0 < calls < 1000


@pytest.mark.parametrize("others", [(0, 1, 52, 53, 54, 90), (0, 1, 52, 53, 54), (0, 1, 54), (54,)])
async def test_a_log_that_went_another_way_is_read_from_its_beginning(tmp_path: Path, others: Sequence[int]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with opened(tmp_path / "a") as (database, log), opened(tmp_path / "b") as (_, other):
        causes = Causes(log)
        for number in range(5):
            await append(log, GAME, number)
        made = {number: await append(other, GAME, number) for number in others}
        assert await causes.made(GAME, cause(4)) is not None
        rows = [(event.hash, event.body, GAME, event.version) for event in await other.read(GAME)]
        await database.write(lambda connection: connection.execute("DELETE FROM events"))
        insert = "INSERT INTO events (hash, body, game, version) VALUES (?, ?, ?, ?)"
        await database.write(lambda connection: connection.executemany(insert, rows))
        assert await causes.made(GAME, cause(4)) is None
        assert await causes.made(GAME, cause(54)) == made[54]


@pytest.mark.parametrize("body", [b"\x00", codec.encode(Event(7, cause(1), Resigned(1)))], ids=["noise", "another"])
async def test_a_damaged_log_is_said_to_be(tmp_path: Path, body: bytes) -> None:
    async with opened(tmp_path) as (database, log):
        for number in range(5):
            await append(log, GAME, number)
        change = "UPDATE events SET body = ? WHERE version = 7"
        await database.write(lambda connection: connection.execute(change, (body,)))
        for _ in range(2):
            with pytest.raises(Unreadable) as caught:
                await Causes(log).made(GAME, cause(1))
            assert caught.value.version == 7
