"""A store that forgot what it had acknowledged: the same bytes are put back, and what went another way is closed."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGSTOP

import pytest

from events.chain import Head, check, extend, origin
from events.log import Batch, Conflict
from events.redis_log import RedisLog
from projections import saved
from rules.fifty_states import FIFTY_STATES, Committed
from rules.game import Finished, Lost, Mixed, Rules, Seated, Unsealed, shows_cards
from rules.war import CLASSIC
from server.recent import Fork, RecentLog
from tests.pairs import Person
from tests.positions import Played, at_random, war_game
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import Client, Followed, Server, connect, eventually, serving
from tests.test_backup import signed, well
from tests.test_servers import RULES, Other

pytestmark = pytest.mark.anyio

GAME = bytes(16)


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


async def remember(redis: RedisServer, place: Path) -> None:
    """What its disk holds now."""
    redis.kill()
    shutil.copytree(redis.folder / "appendonlydir", place)
    await redis.start()


async def forget(redis: RedisServer, place: Path) -> None:
    """Everything since: as a replica that hadn't got it takes over."""
    redis.kill()
    shutil.rmtree(redis.folder / "appendonlydir")
    shutil.copytree(place, redis.folder / "appendonlydir")
    await redis.start()


# ---------------------------------------------------------------- the log


async def test_the_writer_puts_the_same_bytes_back_with_outbox_and_deadline(tmp_path: Path, redis: RedisServer) -> None:
    async with redis_store(redis.url) as store:
        log = RecentLog(RedisLog(store))
        store.on_join(log.suspect)
        forks: list[Fork] = []
        log.on_fork(noting(forks))
        head = await log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"]), (b"told",)))
        await remember(redis, tmp_path / "kept")
        for number in range(3):
            batch = Batch(extend(head, [b"b", b"%d" % number]), (b"told %d" % number,), wait_ms=10**8)
            head = await log.append(GAME, head, batch)
        events, outbox = await log.read(GAME), await log.outbox(0)
        await forget(redis, tmp_path / "kept")
        assert await log.head(GAME) == head
        assert (await log.read(GAME), await log.outbox(0)) == (events, outbox)
        assert await log.next_deadline() is not None
        assert (log.tally.put_back, forks) == (3, [])
        # Nothing is missing, and nothing is put back.
        log.suspect()
        assert await log.head(GAME) == head
        assert log.tally.put_back == 3


def noting(forks: list[Fork]):  # type: ignore[no-untyped-def]
    async def forked(fork: Fork) -> None:
        forks.append(fork)

    return forked


async def test_a_log_that_went_another_way_is_told_with_the_last_common_head(
    tmp_path: Path, redis: RedisServer
) -> None:
    async with redis_store(redis.url) as store, redis_store(redis.url) as elsewhere:
        log, other = RecentLog(RedisLog(store)), RedisLog(elsewhere)
        forks: list[Fork] = []
        log.on_fork(noting(forks))
        common = await log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"])))
        await remember(redis, tmp_path / "kept")
        dropped = extend(common, [b"b", b"c"])
        head = await log.append(GAME, common, Batch(dropped))
        await forget(redis, tmp_path / "kept")
        # Before this one looks, somebody who never saw them goes on.
        await other.append(GAME, common, Batch(extend(common, [b"x"])))
        with pytest.raises(Conflict):
            await log.append(GAME, head, Batch(extend(head, [b"d"])))
        assert forks == [Fork(GAME, common, dropped)]
        assert log.common(GAME, head) == common
        assert log.common(GAME, Head(2, bytes(32))) == origin(GAME), "that was never shown"
        events = await log.read(GAME)
        assert [event.body for event in events] == [b"a", b"x"]
        assert check(origin(GAME), events) is None
        assert (log.tally.put_back, log.tally.forks) == (0, 1)


async def test_what_another_server_wrote_and_never_puts_back_is_a_fork(tmp_path: Path, redis: RedisServer) -> None:
    async with redis_store(redis.url) as store, redis_store(redis.url) as elsewhere:
        log, other = RecentLog(RedisLog(store)), RedisLog(elsewhere)
        forks: list[Fork] = []
        log.on_fork(noting(forks))
        common = await log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"])))
        await remember(redis, tmp_path / "kept")
        await heard_again(log, other)
        dropped = extend(common, [b"b"])
        await other.append(GAME, common, Batch(dropped))
        await heard_again(log, other)
        await forget(redis, tmp_path / "kept")
        log.suspect()
        assert await log.head(GAME) == common, "it waits for the other one, and then no longer"
        assert [fork for fork in forks if fork.game == GAME] == [Fork(GAME, common, dropped)]


async def heard_again(log: RecentLog, other: RedisLog) -> None:
    """The other one appends to a neighbour of the game's until this one hears of it: all before it was heard then."""
    heard: list[bytes] = []
    log.listen(lambda game, before, events: heard.append(game))
    neighbour = bytes(15) + b"\1"
    while neighbour not in heard:
        head = await other.head(neighbour)
        await other.append(neighbour, head, Batch(extend(head, [b"news"])))
        await asyncio.sleep(0.05)


async def test_no_more_is_kept_than_is_allowed_and_the_game_that_rested_longest_goes_first(
    tmp_path: Path, redis: RedisServer
) -> None:
    games = [bytes(15) + bytes([number]) for number in range(6)]
    async with redis_store(redis.url) as store:
        log = RecentLog(RedisLog(store), appends_max=8)
        await remember(redis, tmp_path / "kept")
        for game in games:
            for _ in range(2):
                head = await log.head(game)
                await log.append(game, head, Batch(extend(head, [b"a"])))
                assert len(log) <= 8
        await forget(redis, tmp_path / "kept")
        log.suspect()
        assert [(await log.head(game)).version for game in games[-4:]] == [2, 2, 2, 2]
        assert (await log.head(games[0])).version == 0


def test_a_card_is_shown_by_a_hand_on_the_table_or_by_the_secret_and_not_by_a_seal() -> None:
    def shown(rules: Rules, facts: Sequence[object]) -> set[str]:
        return {type(fact).__name__ for fact in facts if shows_cards(rules, fact)}

    states = Played("strategic", 3).begin().finish(at_random(3))
    assert shown(FIFTY_STATES, states.facts) == {"Dealt", "Played", "Revealed", "Captured", "Unsealed"}
    assert not shown(FIFTY_STATES, [Committed(0, 1, bytes(32)), Mixed(0, bytes(32)), Seated(0, bytes(16), "", b"")])
    # In War nobody sees a card before it is turned.
    assert shown(CLASSIC, war_game(CLASSIC, 1, length="short").turn_out().facts) == {"Turned", "Unsealed"}


# ---------------------------------------------------------------- servers


async def battles(client: Client, held: Followed, count: int, last: bool = False) -> None:
    for _ in range(count):
        await client.until(lambda: held.my_turn)
        assert held.hand is not None
        await client.play(held, held.hand[-1 if last else 0])


async def test_players_notice_nothing_where_the_bytes_are_put_back(tmp_path: Path, redis: RedisServer) -> None:
    with serving(tmp_path, {"STATECRAFT_STORE": redis.url}) as server:
        client = await connect(server, server.join())
        held = await client.follow(await client.open())
        await client.mix(held)
        await battles(client, held, 1)
        await remember(redis, tmp_path / "kept")
        await battles(client, held, 2)
        shown = list(held.events)
        await forget(redis, tmp_path / "kept")
        await client.play_on(held, Random(1))
        assert (held.events[: len(shown)], held.forks) == (shown, 0)
        findings = server.audit(held.game)
        assert findings.over
        await client.leave()
        await eventually(lambda: signed(server, 2))
        assert saved.load(server.export(held.game)).events == tuple(held.events)


async def test_a_game_that_had_shown_a_card_and_went_another_way_is_closed_as_lost(
    tmp_path: Path, redis: RedisServer
) -> None:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url}).start()
    second = Other(tmp_path / "other", first, redis)
    try:
        guest = first.join()
        client = await connect(first, guest)
        held = await client.follow(await client.open())
        await client.mix(held)
        await battles(client, held, 1)
        await remember(redis, tmp_path / "kept")
        left = held.head
        await battles(client, held, 1)
        shown = list(held.events)
        assert shown[-1].version > left.version
        # While the first one sleeps the store forgets, and a second one, which knows of nothing, goes on.
        first.send_signal(SIGSTOP)
        await forget(redis, tmp_path / "kept")
        await asyncio.to_thread(second.start)
        again = await connect(second, guest)
        also = await again.follow(held.game)
        assert also.head == left
        await battles(again, also, 1, last=True)
        first.send_signal(SIGCONT)
        await again.until(lambda: also.over)
        await client.until(lambda: held.over)
        assert (held.forks, held.events) == (1, also.events)
        *_, lost, finished, unsealed = also.facts
        assert (lost, finished) == (Lost(left.version, shown[-1].hash), Finished(None, "lost"))
        assert isinstance(unsealed, Unsealed)
        assert second.audit(held.game).result == "nobody won (lost)"
        # Whoever asks again for what is gone isn't told that it was done.
        assert (await client.do(held.game, {"do": "Resign"}, "late"))["reason"] == "over"
        for each in (client, again):
            await each.leave()
        await eventually(lambda: signed(second, 2))
        with second.http() as http:
            await eventually(lambda: http.get(f"/api/players/{guest.player}/games").json()["games"])
            (told,) = http.get(f"/api/players/{guest.player}/games").json()["games"]
        assert told["result"] == "annulled"
        said = await asyncio.to_thread(well, "audit", "--all", first.data / "archive", "--state", tmp_path / "seen")
        assert "Against the operator: 1 games" in said
    finally:
        first.send_signal(SIGCONT)
        for server in (first, second):
            if server.running:
                server.stop()
    assert "Traceback" not in first.errors + second.errors


async def test_who_was_shown_the_secret_by_an_end_that_is_lost_may_not_mix_and_play_on(
    tmp_path: Path, redis: RedisServer
) -> None:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url}).start()
    second = Other(tmp_path / "other", first, redis)
    try:
        guest = first.join()
        client = await connect(first, guest)
        held = await client.follow(await client.open())
        await remember(redis, tmp_path / "kept")
        left = held.head
        await client.do(held.game, {"do": "Resign"}, "c1")
        await client.until(lambda: held.over)
        assert isinstance(held.facts[-1], Unsealed), "with S in hand he could choose the entropy that deals best"
        shown = held.head
        first.send_signal(SIGSTOP)
        await forget(redis, tmp_path / "kept")
        await asyncio.to_thread(second.start)
        again = await connect(second, guest)
        also = await again.follow(held.game)
        assert also.head == left
        await again.mix(also)
        first.send_signal(SIGCONT)
        await again.until(lambda: also.over)
        assert also.facts[-3:-1] == [Lost(left.version, shown.hash), Finished(None, "lost")]
        for each in (client, again):
            await each.leave()
    finally:
        first.send_signal(SIGCONT)
        for server in (first, second):
            if server.running:
                server.stop()


@pytest.mark.slow
async def test_a_game_of_which_nothing_is_left_is_not_opened_again_under_its_secret(
    tmp_path: Path, redis: RedisServer
) -> None:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url}).start()
    second = Other(tmp_path / "other", first, redis)
    await asyncio.to_thread(second.start)
    try:
        guest = first.join()
        client = await connect(first, guest)
        met = await client.ask("meet", rules="fifty-states/1", mode="relaxed")
        await remember(redis, tmp_path / "kept")
        held = await client.follow(await client.open())
        assert held.game.hex() == met["game"]
        watcher = await connect(second, None)
        also = await watcher.follow(held.game)
        await client.do(held.game, {"do": "Resign"}, "c1")
        await watcher.until(lambda: also.over)
        assert isinstance(also.facts[-1], Unsealed)
        # Whoever wrote it dies together with the store's last moments.
        first.kill()
        await forget(redis, tmp_path / "kept")
        await watcher.until(lambda: also.forks == 1)
        # Who watched isn't left waiting, and the server doesn't look for more for ever.
        gone = {"type": "not_subscribed", "topic": also.topic, "reason": "unknown_game"}
        await watcher.until(lambda: gone in watcher.frames)
        again = await connect(second, guest)
        assert await again.open() != held.game
        for each in (watcher, again):
            await each.leave()
    finally:
        for server in (first, second):
            if server.running:
                server.stop()


async def test_who_sat_in_what_the_store_lost_gets_no_hand_of_whoever_sits_there_now(
    tmp_path: Path, redis: RedisServer
) -> None:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url}).start()
    second = Other(tmp_path / "other", first, redis)
    try:
        maker, sat, sits = (Person(first, first.join(), Random(number)) for number in range(3))
        opened = await maker.ask("invite", "i", rules=RULES, settings={}, listed=False)
        game = bytes.fromhex(opened["game"])
        await maker.sit(game)
        held = await sat.follow(game)
        watching = await sat.here()
        await remember(redis, tmp_path / "kept")
        assert (await sat.sit(game))["type"] == "done"
        await watching.until(lambda: any(isinstance(fact, Seated) and fact.seat for fact in held.facts))
        first.send_signal(SIGSTOP)
        await forget(redis, tmp_path / "kept")
        await asyncio.to_thread(second.start)
        again = Person(second, maker.guest, Random(0))
        sits.server = second
        assert (await sits.sit(game))["type"] == "done"
        for person in (again, sits):
            assert (await person.mix(game))["type"] == "done"
        await sits.until(lambda: sits.games[game].hand)
        first.send_signal(SIGCONT)
        await watching.until(lambda: held.forks == 1 and held.events == sits.games[game].events)
        await sits.do(game, "r", {"do": "Resign"})
        await watching.until(lambda: held.over)
        assert not [frame for frame in watching.frames if frame["type"] == "hand"]
        for each in (maker, sat, again, sits):
            await each.leave()
    finally:
        first.send_signal(SIGCONT)
        for server in (first, second):
            if server.running:
                server.stop()
    assert "Traceback" not in first.errors + second.errors
