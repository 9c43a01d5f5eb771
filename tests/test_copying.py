"""Moving house: from SQLite to Redis and back, killed in the middle, and refused where something else is there."""

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.progress import Progress, TaskID

from events import chain, entries, sqlite_moving
from events.database import Database
from events.log import PARTITIONS, Batch, LetGo
from events.moving import Movable
from events.redis_address import BadAddress
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from events.redis_moving import RedisMovable
from events.sqlite_moving import SqliteMovable
from server import sqlite_meetings, sqlite_people
from server.copying import copied, settings_of
from server.keys import BadKeys
from server.letting_go import LettingGo
from server.moving import CannotMove
from server.redis_meetings import RedisMeetings
from server.settings import settings
from server.sqlite_meetings import SqliteMeetings
from server.sqlite_people import SqlitePeople
from server.stores import FAULTS, SCHEMAS, people_in, stores_to_move, stores_to_read
from tests.ledgers import PRIVATE, Published, closing_of, opening_of, publishing
from tests.meeting import dealt
from tests.pairs import Person
from tests.positions import KEY, NOW, Played, at_random
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import ROOT, Followed, Guest, Server, connected, eventually, serving
from tests.test_backup import run, signed, well

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


def told(said: str) -> list[str]:
    """What a copy says of what it holds."""
    return [line for line in said.splitlines() if line.startswith("  ")]


async def play(server: Server, guest: Guest, seed: int, battles: int | None = None) -> Followed:
    """A whole game, or its first battles; or the one that runs, to its end."""
    async with connected(server, guest) as client:
        held = await client.follow(await client.open())
        if battles is None:
            await client.play_on(held, Random(seed))
        else:
            await client.mix(held)
            for _ in range(battles):
                await client.play(held)
        return held


def digests(data: Path, **environment: str) -> list[str]:
    """Of every projection, folded anew from the ledger there."""
    said = well("rebuild", "--force", "--data", data, **environment)
    return [re.split("[,;] (as|the|it) ", line)[0] for line in said.splitlines()]


@pytest.mark.thorough
async def test_games_go_on_in_redis_and_back_in_the_file_and_nothing_of_them_changes(
    tmp_path: Path, redis: RedisServer
) -> None:
    store = {"STATECRAFT_STORE": redis.url}
    data = tmp_path / "data"
    with serving(tmp_path) as server:
        guests = [server.join() for _ in range(3)]
        done = await asyncio.gather(*(play(server, guest, number) for number, guest in enumerate(guests)))
        running = await play(server, guests[0], 9, battles=3)
        pair = [Person(server, server.join(), Random(number)) for number in (1, 2)]
        met = await dealt(*pair)
        for person in pair:
            await person.leave()
        with server.http(headers={"Authorization": f"Bearer {guests[0].token}"}) as http:
            assert http.put("/api/me/name", json={"name": "Alma"}).status_code == 200
        size = await eventually(lambda: signed(server, 8))
    before = digests(data)
    there = told(well("copy", data, redis.url, "--data", data))
    assert digests(data, **store) == before

    with serving(tmp_path, store) as server:
        for held in (*done, running):
            with server.http() as http:
                assert http.get(f"/api/games/{held.game.hex()}/export").status_code == 200
        ended = await play(server, guests[0], 10)
        assert ended.game == running.game, "the place is the same, and the game goes on in it"
        with server.http(headers={"Authorization": f"Bearer {guests[0].token}"}) as http:
            assert http.get("/api/me").json()["name"] == "Alma"
        assert ended.events[: len(running.events)] == running.events
        for person in pair:
            person.server = server
        await asyncio.gather(*(person.play(met) for person in pair))
        for person in pair:
            await person.leave()
        await eventually(lambda: signed(server, size + 2))
        server.audit(ended.game)
        server.audit(met)
    after = digests(data, **store)
    # The file still holds the beginning of all this, and another directory holds nothing.
    fresh = tmp_path / "fresh" / "data"
    assert told(well("copy", redis.url, data, "--data", data)) != there
    await copy(redis.url, fresh, data)
    assert digests(data) == after
    for place in (data, fresh):
        with serving(place.parent) as server:
            server.audit(ended.game)
            assert await play(server, server.join(), 12)
            await eventually(lambda server=server: signed(server, size + 4))  # type: ignore[misc]


# ---------------------------------------------------------------- what is there is compared


@asynccontextmanager
async def filled(folder: Path, games: int, running: int = 2) -> AsyncIterator[Published]:
    """A data directory with games that are over, signed, and partly gone from the store; and games that run."""
    async with publishing(folder) as published:
        for number in range(games + running):
            game = Played(("relaxed", "strategic")[number % 2], number).begin().finish(at_random(number))
            start = chain.origin(game.game)
            opening = entries.encode(opening_of(game))
            if number < games:
                told = (opening, entries.encode(closing_of(game)))
                await published.log.append(game.game, start, Batch(tuple(game.events), told))
            else:
                await published.log.append(game.game, start, Batch(tuple(game.events[:9]), (opening,), wait_ms=10**9))
            await published.log.claim(game.game, f"states-{game.mode}", game.game)
        await published.log.beat()
        publisher = await published.sign()
        if games:
            # Half of them, and their outboxes.
            letting_go = LettingGo(
                published.log, published.ledger, publisher, published.archive, lambda: NOW + 10**9, keep_seconds=1
            )
            for id_ in (await published.log.games(limit=10**6))[: games // 2]:
                await letting_go._look(id_)
            for number in range(PARTITIONS // 2):
                await letting_go._trim(number)
        (folder / "keys" / "operator-1.key").write_bytes(KEY)
        (folder / "keys" / "ledger.key").write_bytes(PRIVATE)
        yield published


async def held(movable: Movable) -> tuple[object, ...]:
    kept = [each for number in range(PARTITIONS) for each in await movable.kept(number)]
    places = {each async for some in movable.places() for each in some}
    return kept, [await movable.end(number) for number in range(PARTITIONS)], places, await movable.beats()


async def assert_equal(published: Published, redis: RedisServer, games: int) -> None:
    async with redis_store(redis.url) as store:
        log, ledger = RedisLog(store), RedisLedger(store)
        mine, its = await held(SqliteMovable(published.database)), await held(RedisMovable(store))
        assert mine == its
        assert (await ledger.head(), await ledger.marks()) == (
            await published.ledger.head(),
            await published.ledger.marks(),
        )
        assert len(its[0]) == games  # type: ignore[arg-type]
        for number in range(PARTITIONS):
            assert list(await log.outbox(number)) == list(await published.log.outbox(number))
        for id_ in await published.log.games(limit=10**6):
            assert list(await log.read(id_)) == list(await published.log.read(id_))
            assert await log.before(id_) == await published.log.before(id_)


@pytest.mark.parametrize(
    ("games", "kills"), [(300, 2), pytest.param(10_000, 12, marks=pytest.mark.slow)], ids=["few", "ten thousand"]
)
@pytest.mark.thorough
async def test_a_copy_that_is_killed_again_and_again_copies_nothing_twice_and_ends_whole(
    tmp_path: Path, redis: RedisServer, games: int, kills: int
) -> None:
    data = tmp_path / "data"
    async with filled(data, games):
        pass
    words = [sys.executable, "-m", "server", "copy", str(data), redis.url, "--data", str(data)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for kill in range(1, kills + 1):
        going = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: ASYNC220
        goal = (games + 2) * kill // (kills + 1)
        while going.poll() is None and await come(redis) < goal:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        going.kill()
        out, _ = await asyncio.to_thread(going.communicate)
        assert b"Copied" not in out, "it was killed in the middle"
        assert await redis("EXISTS", "{statecraft}:copying") == 1
    refused = run("serve", "--port", "0", "--data", data, STATECRAFT_STORE=redis.url)
    assert (refused.returncode, "isn't whole" in refused.stderr) == (2, True), refused.stderr
    await copy(data, redis.url, data)
    async with publishing(data) as published:
        await assert_equal(published, redis, games + 2)
    # And back, into an empty directory: the same again.
    await copy(redis.url, tmp_path / "back", data)
    async with publishing(tmp_path / "back") as published:
        await assert_equal(published, redis, games + 2)
    await copy(tmp_path / "back", redis.url, data)  # which finds everything there


async def come(redis: RedisServer) -> int:
    """Games that have come so far."""
    script = (
        "local n = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) do n = n + redis.call(ARGV[2], key) end return n"
    )
    counted = [await redis("EVAL", script, 0, *given) for given in (("{p*}:games", "ZCARD"), ("{p*}:gone", "HLEN"))]
    return sum(counted)


async def copy(source: object, target: object, data: Path) -> None:
    """As the command does it, without a process of its own."""
    given = settings({"STATECRAFT_DATA": str(data)})
    await copied(settings_of(str(source), given), settings_of(str(target), given), Progress(disable=True))


async def refused(source: object, target: object, data: Path) -> str:
    with pytest.raises((*FAULTS, CannotMove, BadKeys, BadAddress)) as error:
        await copy(source, target, data)
    return str(error.value)


async def test_what_stands_for_a_game_of_which_nothing_was_left_stands_for_it_where_it_is_copied(
    tmp_path: Path, redis: RedisServer
) -> None:
    data, back = tmp_path / "data", tmp_path / "back"
    async with filled(data, 2):
        pass
    gone, fresh = b"g" * 16, b"f" * 16
    database = await Database.open(data / "statecraft.db", (*SCHEMAS, sqlite_meetings.SCHEMA))
    assert not await SqliteMeetings(database).replace(gone, fresh)
    await database.close()
    await copy(data, redis.url, data)
    await copy(redis.url, back, data)
    async with redis_store(redis.url) as store:
        assert await RedisMeetings(store, RedisLog(store)).instead(gone) == fresh
    database = await Database.open(back / "statecraft.db", (*SCHEMAS, sqlite_meetings.SCHEMA))
    assert await SqliteMeetings(database).instead(gone) == fresh
    await database.close()


@pytest.mark.parametrize("harm", ["another byte", "an event is missing"])
async def test_a_damaged_game_is_named_and_all_others_are_copied(tmp_path: Path, redis: RedisServer, harm: str) -> None:
    data = tmp_path / "data"
    async with filled(data, 6) as published:
        game = (await published.log.games())[-1]
        events = await published.log.read(game)
    statement = {
        "another byte": "UPDATE events SET body = x'00' WHERE game = ? AND version = 3",
        "an event is missing": "DELETE FROM events WHERE game = ? AND version = 3",
    }[harm]
    with sqlite3.connect(data / "statecraft.db") as connection:
        connection.execute(statement, (game,))
    connection.close()
    for _ in range(2):  # Said again whenever it is asked again.
        said = await asyncio.to_thread(run, "copy", data, redis.url, "--data", data)
        assert said.returncode == 1, said.stderr
        assert f"But for games whose log isn't whole in {data}" in " ".join(said.stderr.split())
        assert game.hex() in said.stderr
    async with publishing(data) as published, redis_store(redis.url) as store:
        log = RedisLog(store)
        for each in await published.log.games():
            if each != game:
                assert await log.read(each) == await published.log.read(each)
        assert not await RedisMovable(store).unfinished()
        # Of the damaged one nothing is there that somebody could play on from, and it isn't taken for an empty one.
        assert await log.head(game) == events[-1].head
        with pytest.raises(LetGo):
            await log.read(game)
    with serving(tmp_path, {"STATECRAFT_STORE": redis.url}) as server, server.http() as http:
        assert http.get(f"/api/games/{game.hex()}/export").status_code != 200
        async with connected(server, server.join()) as client:
            await client.play_on(await client.follow(await client.open()), Random(1))


async def test_a_target_with_something_else_is_left_as_it_is(tmp_path: Path, redis: RedisServer) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    async with filled(data, 6), filled(other, 0, running=1):
        pass
    async with redis_store(redis.url) as store:
        stranger = b"s" * 16
        start = chain.origin(stranger)
        await RedisLog(store).append(stranger, start, Batch(chain.extend(start, [b"mine"])))
        before = await held(RedisMovable(store))
        assert stranger.hex() in await refused(data, redis.url, data)
        assert await held(RedisMovable(store)) == before
        assert not await RedisMovable(store).unfinished()
        await redis("FLUSHALL")
        # The same game, but it went another way after its first event.
        async with publishing(data) as published:
            (id_, *_) = await published.log.games()
            first = (await published.log.read(id_, 0, 1))[0]
        log = RedisLog(store)
        head = await log.append(id_, chain.origin(id_), Batch((first,)))
        await log.append(id_, head, Batch(chain.extend(head, [b"another way"])))
        assert id_.hex() in await refused(data, redis.url, data)
        await redis("FLUSHALL")
    await copy(data, redis.url, data)
    (other / "keys" / "operator-1.key").write_bytes(bytes(32))
    assert "another key" in await refused(redis.url, other, data)
    (other / "keys" / "operator-1.key").write_bytes(KEY)
    assert "neither empty nor a beginning" in await refused(redis.url, other, data)


async def test_a_target_that_knows_other_people_is_left_as_it_is(tmp_path: Path, redis: RedisServer) -> None:
    data = tmp_path / "data"
    async with filled(data, 3):
        pass
    target = settings_of(redis.url, settings({"STATECRAFT_DATA": str(data)}))
    async with stores_to_move(target, ()) as found, people_in(found, target) as people:
        stranger, _ = await people.join(NOW)
    assert stranger.hex() in await refused(data, redis.url, data)
    async with stores_to_move(target, ()) as found:
        assert not await found.movable.unfinished()
        assert not await found.log.games()


async def test_guests_whom_an_older_release_kept_beside_the_games_are_copied_too(
    tmp_path: Path, redis: RedisServer
) -> None:
    data = tmp_path / "data"
    async with filled(data, 1):
        pass
    given = settings({"STATECRAFT_DATA": str(data)})
    assert not given.people.exists()
    old = await Database.open(given.log, (sqlite_people.SCHEMA,))
    guest, token = await SqlitePeople(old).join(NOW)
    await old.close()
    await copy(data, redis.url, data)
    target = settings_of(redis.url, given)
    async with stores_to_read(target) as found, people_in(found, target) as people:
        assert await people.who(token) == guest


@pytest.mark.thorough
async def test_nothing_is_copied_while_a_server_writes_to_either(tmp_path: Path, redis: RedisServer) -> None:
    data, other = tmp_path / "data", tmp_path / "redis-data"
    with serving(tmp_path):
        assert "is served by another process" in await refused(data, redis.url, other)
    other.mkdir()
    with serving(other, {"STATECRAFT_STORE": redis.url}):
        assert "another server signs; stop all" in await refused(data, redis.url, data)
    async with redis_store(redis.url) as store:
        going = asyncio.create_task(beats(RedisLog(store)))
        said = await refused(redis.url, tmp_path / "new", data)
        assert f"a server writes to {redis.url}" in said
        going.cancel()
    assert not (tmp_path / "new" / "keys" / "operator-1.key").exists()


async def beats(log: RedisLog) -> None:
    """Of a server that doesn't sign."""
    while True:
        await log.beat()
        await asyncio.sleep(0.5)


async def test_a_copy_from_nowhere_or_to_itself_is_refused_with_a_sentence(tmp_path: Path, redis: RedisServer) -> None:
    async with filled(tmp_path / "data", 1):
        pass
    data = tmp_path / "data"
    assert "there is no log" in await refused(tmp_path / "none", redis.url, data)
    assert "are the same" in await refused(data, data / ".." / "data", data)
    assert "are the same" in await refused(redis.url, redis.url, data)
    (data / "keys" / "operator-1.key").unlink()
    assert "there are no keys in" in await refused(data, redis.url, tmp_path / "other")
    assert "names no host" in await refused(data, "redis://", data)
    assert not (tmp_path / "none").exists()


# ---------------------------------------------------------------- the operator acts meanwhile


class Beside(Progress):
    """Does something as soon as the copy tells of `what`."""

    def __init__(self, what: str, job: Callable[[], object]) -> None:
        super().__init__(disable=True)
        self._what, self._job = what, job

    def add_task(self, description: str, *given: Any, **named: Any) -> TaskID:
        if description == self._what:
            self._job()
        return super().add_task(description, *given, **named)


async def test_who_is_erased_while_a_copy_runs_is_not_known_where_it_ends(tmp_path: Path, redis: RedisServer) -> None:
    data = tmp_path / "data"
    async with filled(data, 3):
        pass
    given = settings({"STATECRAFT_DATA": str(data)})
    async with stores_to_move(given, SCHEMAS) as found, people_in(found, given) as people:
        (gone, _), (stays, _) = [await people.join(NOW) for _ in range(2)]
        for player, name in ((gone, "Alma"), (stays, "Berta")):
            await people.choose(player, name, NOW)
    beside = Beside("compared", lambda: well("erase", gone.hex(), "--data", data))
    target = settings_of(redis.url, given)
    await copied(settings_of(str(data), given), target, beside)
    async with stores_to_read(target) as found, people_in(found, target) as people:
        assert [each.player for each in await people.page(b"", 10) if not each.erased] == [stays]
        assert await people.called([gone, stays]) == {gone: "erased player", stays: "Berta"}


@pytest.mark.parametrize("kind", ["file", "redis"])
async def test_nothing_is_done_to_players_of_a_copy_that_is_not_whole(
    tmp_path: Path, redis: RedisServer, kind: str
) -> None:
    data, there = tmp_path / "data", tmp_path / "there"
    async with filled(data, 3):
        pass
    given = settings({"STATECRAFT_DATA": str(there)} | ({"STATECRAFT_STORE": redis.url} if kind == "redis" else {}))
    there.mkdir()
    async with stores_to_move(given, (*SCHEMAS, sqlite_moving.SCHEMA)) as found:
        await found.movable.put_unfinished(True)
    store = {"STATECRAFT_STORE": redis.url} if kind == "redis" else {}
    for words in (("bar", "0" * 32, "--lift"), ("erase", "0" * 32), ("hide-name", "0" * 32)):
        said = run(*words, "--data", there, **store)
        assert (said.returncode, "isn't whole" in said.stderr) == (2, True), said.stderr
    await copy(data, redis.url if kind == "redis" else there, data)
    assert "isn't whole" not in run("erase", "0" * 32, "--data", there, **store).stderr
