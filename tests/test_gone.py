"""Games between people of which the store lost something, or everything: no secret is dealt twice, no place is lost."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events import redis_keys
from events.chain import Head
from events.log import Batch, Unknown
from events.redis_connection import Value
from events.redis_log import RedisLog
from events.redis_script import Script
from projections import saved
from rules.fifty_states import FIFTY_STATES
from rules.game import DAY_MS, Finished
from server.between import Between
from server.games import Games
from server.meetings import Entry, Meeting
from server.queue import PAIR_SECONDS, Queue
from server.redis_meetings import BY_GAME, GAMES, INSTEAD, UNOPENED, RedisMeetings
from server.redis_meetings import TAG as MEETINGS
from server.unopened import Unopened
from server.wire import Trouble
from tests.meeting import Feed, feed, invited
from tests.pairs import Person
from tests.positions import NOW
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store, shared_store
from tests.running import RULES, Server, connect, wait_seconds_max
from tests.test_faults import running
from tests.test_forked import forget, remember
from tests.test_queue import LADDER, Torn
from tests.test_servers import Other, paired

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


@pytest.fixture
async def servers(tmp_path: Path, redis: RedisServer) -> AsyncIterator[Sequence[Server]]:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url})
    async with running([first, Other(tmp_path / "other", first, redis)]) as servers:
        yield servers


async def lose(redis: RedisServer, game: bytes) -> None:
    """As if the node that held it were replaced by a replica that had never heard of it; all others are well."""
    stream, games, deadlines, _ = redis_keys.game_keys(game)
    tag = redis_keys.TAGS[game[0]]
    async with redis_store(redis.url) as store:
        assert await store.read(tag, "DEL", stream) == 1
        await store.read(tag, "ZREM", games, game)
        await store.read(tag, "ZREM", deadlines, game)
    redis.kill()  # So that servers connect anew, and look.
    await redis.start()


async def met_today(redis: RedisServer) -> dict[bytes, int]:
    """How many games that count any two were paired for."""
    async with redis_store(redis.url) as store:
        days = [key async for some in store.keys(b"{meetings}:day:*") for key in some]
        found = [await store.read(MEETINGS, "HGETALL", day) for day in days]
    return {met: int(count) for each in found for met, count in each.items()}


async def until_there_are(redis: RedisServer, count: int, key: bytes) -> None:
    async with asyncio.timeout(wait_seconds_max), redis_store(redis.url) as store:
        while await store.read(MEETINGS, "HLEN", key) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def seen_cards(*people: Person, game: bytes) -> None:
    """Both sit, and one battle is fought."""
    held = [await person.follow(game) for person in people]
    for person in people:
        await person.sit(game)
    for person in people:
        await person.mix(game)
    for act in ("commit", "reveal"):
        for person, each in zip(people, held, strict=True):
            await person.until(lambda each=each: each.my_turn)  # type: ignore[misc]
            assert (await getattr(person, act)(game))["type"] == "done"
    for person, each in zip(people, held, strict=True):
        await person.until(lambda each=each: each.table["position"]["battle"] == 2)  # type: ignore[misc]


async def forgotten(redis: RedisServer, servers: Sequence[Server]) -> tuple[Person, Person, bytes]:
    """Two who have seen cards of a game of which nothing is left, nor anybody who knew of it."""
    first = servers[0]
    one, other = (Person(first, first.join(), Random(n)) for n in range(2))
    game = await paired(one, other)
    await seen_cards(one, other, game=game)
    for server in servers:
        await asyncio.to_thread(server.kill)
    await lose(redis, game)
    return one, other, game


async def moved(server: Server, *people: Person) -> list[Feed]:
    """To another server, where they know of no game yet; their own feeds there."""
    for person in people:
        await person.leave()
        person.server = server
        person.games.clear()
    return [await feed(person, "me") for person in people]


async def fresh_game(feeds: Sequence[Feed], old: bytes) -> bytes:
    """The one that is instead of an old one."""
    for each in feeds:
        await each.until(lambda rows: rows["games"] and not rows["queues"])
    (game,) = {game for each in feeds for game in each.rows["games"]}
    assert game != old.hex()
    return bytes.fromhex(game)


async def played_to_the_end(server: Server, game: bytes, *people: Person) -> None:
    held, also = await asyncio.gather(*(person.play(game) for person in people))
    assert held.events == also.events == list(saved.load(server.export(game)).events)
    assert (await asyncio.to_thread(server.audit, game)).over


async def test_two_whose_game_is_gone_with_all_of_its_log_meet_in_another_one(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    first, second = servers
    one, other = (Person(first, first.join(), Random(n)) for n in range(2))
    game = await paired(one, other)
    watcher = await connect(second)
    seen = await watcher.follow(game)
    await seen_cards(one, other, game=game)
    await watcher.until(lambda: seen.head == one.games[game].head)
    # Whoever wrote it dies together with the only node that had it.
    await asyncio.to_thread(first.kill)
    await lose(redis, game)
    await watcher.until(lambda: seen.forks == 1)
    gone = {"type": "not_subscribed", "topic": seen.topic, "reason": "unknown_game"}
    await watcher.until(lambda: gone in watcher.frames)
    feeds = await moved(second, one, other)
    fresh = await fresh_game(feeds, game)
    assert feeds[0].rows["games"][fresh.hex()]["counts"]
    assert set((await met_today(redis)).values()) == {1}
    assert (await one.ask("queue", "q2", rules=RULES))["reason"] == "already_playing"
    await played_to_the_end(second, fresh, one, other)
    # Their places are free again, and nobody is paired with the old one in mind.
    assert await paired(one, other, "again") not in (game, fresh)
    for person in (one, other):
        await person.leave()
    await watcher.leave()


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["opened", "unopened"])
async def test_where_nobody_knows_what_was_in_it_the_game_is_not_dealt_again_either(
    redis: RedisServer, servers: Sequence[Server], mark: str
) -> None:
    _, second = servers
    one, other, game = await forgotten(redis, servers)
    if mark == "unopened":
        async with redis_store(redis.url) as store:
            await store.read(MEETINGS, "SADD", UNOPENED, game)
    await asyncio.to_thread(second.start)
    feeds = await moved(second, one, other)
    if mark == "opened":
        # Who asks for a game finds out that his isn't there, and so does the server.
        assert (await one.ask("queue", "q2", rules=RULES))["reason"] == "already_playing"
    await played_to_the_end(second, await fresh_game(feeds, game), one, other)
    for person in (one, other):
        await person.leave()


@pytest.mark.slow
async def test_a_place_whose_game_is_gone_and_not_arranged_either_is_free(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    _, second = servers
    one, other, game = await forgotten(redis, servers)
    async with redis_store(redis.url) as store:
        await store.read(MEETINGS, "DEL", GAMES, BY_GAME, b"{meetings}:by-player")
    await asyncio.to_thread(second.start)
    await moved(second, one, other)
    again = await paired(one, other, "again")
    assert again != game
    await played_to_the_end(second, again, one, other)
    for person in (one, other):
        await person.leave()


@pytest.mark.slow
async def test_an_invitation_to_a_game_that_is_gone_is_another_game_however_often_it_is_asked_for(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    first, second = servers
    maker, guest = (Person(first, first.join(), Random(n)) for n in range(2))
    game = await invited(maker)
    await seen_cards(maker, guest, game=game)
    watcher = await connect(second)
    seen = await watcher.follow(game)
    assert seen.head == maker.games[game].head
    await maker.do(game, "r", {"do": "Resign"})  # Which shows the secret.
    await watcher.until(lambda: seen.over)
    await until_there_are(redis, 0, GAMES)
    await asyncio.to_thread(first.kill)
    await lose(redis, game)
    await until_there_are(redis, 1, INSTEAD)
    mine, _ = await moved(second, maker, guest)
    again = await invited(maker)
    assert again != game
    assert await invited(maker) == again
    await mine.until(lambda rows: list(rows["games"]) == [again.hex()])
    await played_to_the_end(second, again, maker, guest)
    for person in (maker, guest):
        await person.leave()
    await watcher.leave()


class Sleepy(RedisLog):
    """A log of a server that sleeps before it appends, until others have taken its game for gone."""

    sleeps = False

    async def append(self, game: bytes, before: Head, batch: Batch) -> Head:
        if self.sleeps:
            self.sleeps = False
            await RedisMeetings(self._store, self).replace(game, b"another game, 16")
        return await super().append(game, before, batch)


async def test_who_slept_before_he_opened_a_game_brings_nobody_into_it_who_meets_in_another_one_by_now() -> None:
    async with shared_store("redis") as redis:
        log = Sleepy(redis)
        kept = RedisMeetings(redis, log)
        one, other, fresh = (bytes([number]) * 16 for number in (1, 2, 3))
        meeting = Meeting(b"this is a game's", RULES, (), (one, other), True, False)
        between = Between(Games(log, {1: bytes(32)}, lambda: NOW), kept, b"key", lambda player: True)
        await kept.arrange(meeting)
        await kept.replace(meeting.game, fresh)
        await between.open(meeting)
        assert await kept.unopened() == await kept.of(one) == [replace(meeting, game=fresh)]
        assert (await log.head(meeting.game)).version == 0
        # He may sleep still later: what he opens then is nobody's.
        log.sleeps = True
        assert await between.invite(one, FIFTY_STATES, (), False, "i") is Trouble.TRY_AGAIN
        again = await between.invite(one, FIFTY_STATES, (), False, "i")
        assert isinstance(again, tuple)
        assert again[0] == b"another game, 16"


def a_queue(log: RedisLog, kept: RedisMeetings) -> tuple[Queue, Unopened]:
    """Of a server among others, whose loops don't run."""
    games = Games(log, {1: bytes(32)}, lambda: NOW)
    between = Between(games, kept, b"key", lambda player: True)
    unopened = Unopened(games, kept, between, alone=False)

    async def rating(player: bytes, ladder: str) -> int:
        return player[0] * 100_000

    return Queue(games, between, unopened, kept, rating, lambda: NOW, lambda player: True), unopened


async def test_a_place_is_not_free_while_its_game_goes_on_under_an_id_that_has_not_claimed_it_yet() -> None:
    async with shared_store("redis") as redis:
        torn, log = RedisMeetings(redis, Torn(redis)), RedisLog(redis)
        kept = RedisMeetings(redis, log)
        players = [bytes([number]) * 16 for number in (1, 2)]
        for player in players:
            await kept.enter(Entry(RULES, player, LADDER, 0, NOW, b"", b"a server's 16 id"))
        (meeting,) = await kept.pair(RULES, b"a server's 16 id", NOW)
        with pytest.raises(Unknown):
            await torn.replace(meeting.game, b"another game, 16")
        assert await log.claimed(players[0], LADDER) == meeting.game
        queue, unopened = a_queue(log, kept)
        assert await queue.enter(players[0], FIFTY_STATES) is Trouble.ALREADY_PLAYING
        assert await unopened.resume() == []
        assert unopened.misses
        assert await log.claimed(players[0], LADDER) == b"another game, 16"
        # When that one is over the place is free.
        await kept.forget(b"another game, 16", void=False)
        assert await queue.enter(players[0], FIFTY_STATES) is None


async def test_who_was_paired_by_a_server_that_died_before_it_claimed_his_place_is_not_paired_once_more() -> None:
    async with shared_store("redis") as redis:
        torn, log = RedisMeetings(redis, Torn(redis)), RedisLog(redis)
        kept = RedisMeetings(redis, log)
        players = [bytes([number]) * 16 for number in (1, 2)]
        queue, _ = a_queue(log, kept)
        running = asyncio.create_task(queue.run())
        for player in players:
            assert await queue.enter(player, FIFTY_STATES) is None
        await asyncio.sleep(2 * PAIR_SECONDS)  # It has looked for what is to be opened, and goes on looking for pairs.
        with pytest.raises(Unknown):
            await torn.pair(RULES, b"a server's 16 id", NOW + DAY_MS)  # When they are near enough.
        other, _ = a_queue(log, kept)
        assert await other.enter(players[0], FIFTY_STATES) is Trouble.ALREADY_PLAYING
        assert await kept.waiting(RULES) == 0
        # The server at which they wait finds out, and opens it, though nobody asks.
        async with asyncio.timeout(wait_seconds_max):
            while not await log.read((await kept.of(players[0]))[0].game):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert [queue.of(player) for player in players] == [[], []]
        ((meeting,), (also,)) = [await kept.of(player) for player in players]
        assert meeting == also
        assert {await log.claimed(player, LADDER) for player in players} == {meeting.game}


async def test_an_invitation_that_was_open_is_not_opened_again_by_a_server_that_finds_nothing_of_it() -> None:
    async with shared_store("redis") as redis:
        log = RedisLog(redis)
        kept = RedisMeetings(redis, log)
        player = bytes([1]) * 16
        first = Between(Games(log, {1: bytes(32)}, lambda: NOW), kept, b"key", lambda player: True)
        invited = await first.invite(player, FIFTY_STATES, (), False, "i")
        assert isinstance(invited, tuple)
        game, _ = invited
        # Another server, which has nothing in mind, finds the log empty: perhaps its cards were seen.
        stream, *_ = redis_keys.game_keys(game)
        assert await redis.read(redis_keys.TAGS[game[0]], "DEL", stream) == 1
        games = Games(log, {1: bytes(32)}, lambda: NOW)
        second = Between(games, kept, b"key", lambda player: True)
        unopened = Unopened(games, kept, second, alone=False)
        doubts: list[bool] = []
        unopened.on_doubt(lambda: doubts.append(True))
        assert await second.invite(player, FIFTY_STATES, (), False, "i") is Trouble.TRY_AGAIN
        assert await log.read(game) == []
        assert doubts, "else nobody would deal it anew"
        assert unopened.misses


class Halting(RedisMeetings):
    """Of a Redis that goes away after each answer, once."""

    writes = 0
    """So many are answered yet."""

    async def _write(self, script: Script, keys: Sequence[bytes], *arguments: Value) -> Any:
        if not self.writes:
            raise Unknown("the connection is gone")
        self.writes -= 1
        return await super()._write(script, keys, *arguments)


@pytest.mark.parametrize("writes", range(4))
async def test_a_game_that_was_over_is_not_dealt_anew_wherever_redis_goes_away_meanwhile(writes: int) -> None:
    async with shared_store("redis") as redis:
        log = RedisLog(redis)
        kept, halting = RedisMeetings(redis, log), Halting(redis, log)
        players = [bytes([number]) * 16 for number in (1, 2)]
        for player in players:
            await kept.enter(Entry(RULES, player, LADDER, 0, NOW, b"", b"a server's 16 id"))
        (meeting,) = await kept.pair(RULES, b"a server's 16 id", NOW)
        await kept.opened(meeting.game)
        _, unopened = a_queue(log, halting)
        halting.writes = writes
        with contextlib.suppress(Unknown):
            await unopened.lost(meeting.game, players, was_over=True)
        halting.writes = 4
        await unopened.lost(meeting.game, players, was_over=True)
        assert await kept.unopened() == await kept.of(players[0]) == []
        assert await kept.instead(meeting.game) != meeting.game
        # It is none of the three of the day, and both places are free.
        queue, _ = a_queue(log, kept)
        for player in players:
            assert await queue.enter(player, FIFTY_STATES) is None


async def test_a_game_that_was_closed_as_lost_is_none_of_the_three_of_a_day_and_gives_both_places_back(
    tmp_path: Path, redis: RedisServer, servers: Sequence[Server]
) -> None:
    first, second = servers
    one, other = (Person(first, first.join(), Random(n)) for n in range(2))
    game = await paired(one, other)
    watcher = await connect(second)
    seen = await watcher.follow(game)
    for person in (one, other):
        await person.sit(game)
    await remember(redis, tmp_path / "kept")
    for person in (one, other):
        await person.mix(game)
    await watcher.until(lambda: seen.table["position"] is not None)
    await watcher.until(lambda: seen.head.version >= one.games[game].head.version)
    await asyncio.to_thread(first.kill)
    await forget(redis, tmp_path / "kept")
    await watcher.until(lambda: seen.over)
    assert Finished(None, "lost") in seen.facts
    async with asyncio.timeout(wait_seconds_max):
        while set((await met_today(redis)).values()) != {0}:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await moved(second, one, other)
    again = await paired(one, other, "again")
    assert again != game
    for person in (one, other):
        await person.leave()
    await watcher.leave()
