"""Two servers of two machines, one Redis, one archive: who plays, watches, is there, is erased; and one is killed."""

import asyncio
import re
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from projections import saved
from rules.game import Seated
from server.naming import ERASED
from tests.machines import Machine, machines
from tests.meeting import dealt, feed, invited
from tests.pairs import Person
from tests.redis_servers import DURABLE, RedisServer, redis_server
from tests.running import ROOT, Client, Closed, Followed, Guest, Server, connect, connected, eventually
from tests.running import all_signed as signed
from tests.test_between import names, presence
from tests.test_cli import run
from tests.test_servers import RULES, paired

pytestmark = pytest.mark.anyio

JOINS_MAX = 40
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    redis = RedisServer(tmp_path_factory.mktemp("redis"), config=DURABLE)
    asyncio.run(redis.start())
    try:
        yield redis
    finally:
        redis.kill()


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, redis: RedisServer) -> Iterator[tuple[Machine, Machine]]:
    with machines(tmp_path_factory.mktemp("machines"), redis, STATECRAFT_JOINS_MAX=str(JOINS_MAX)) as both:
        yield both


def bearer(guest: Guest) -> dict[str, str]:
    return {"Authorization": f"Bearer {guest.token}"}


def called(server: Server, guest: Guest, name: str) -> None:
    with server.http(headers=bearer(guest)) as http:
        assert http.put("/api/me/name", json={"name": name}).status_code == 200


async def told(person: Person, game: bytes, **what: Any) -> None:
    def holds() -> bool:
        last = presence(person, game)
        return last is not None and all(last[name] == value for name, value in what.items())

    await person.until(holds)


def winner_of(held: Followed) -> bytes:
    seat = held.table["finished"]["winner"]
    (player,) = (fact.player for fact in held.facts if isinstance(fact, Seated) and fact.seat == seat)
    return player


def places(server: Server) -> Any:
    with server.http() as http:
        return http.get("/api/boards/states-versus/wins/all").json().get("places")


async def all_signed(server: Server) -> None:
    """Whoever signs: this one shows it."""
    with server.http() as http:
        assert (await asyncio.to_thread(signed, http))["not_signed_because"] is None


async def test_a_game_across_them_is_played_watched_seen_and_counted_as_at_one(both: tuple[Machine, Machine]) -> None:
    first, second = both
    one, other = Person(first, first.join(), Random(1)), Person(second, first.join(), Random(2))
    called(first, one.guest, "Ada")
    called(second, other.guest, "Bea")
    game = await paired(one, other)
    watchers = [Person(server, server.join(), Random(3)) for server in both]
    lobbies = [await feed(watcher, "lobby") for watcher in watchers]
    for each in (one, other, *watchers):
        await each.follow(game)
    for each in (one, other):
        await told(each, game, watchers=2)
        seats = presence(each, game)
        assert seats is not None
        assert seats["seats"] == [True, True]
    # Nobody was ever told that somebody who is there isn't.
    for each in (one, other, *watchers):
        assert each.client is not None
        assert not [frame for frame in each.client.frames if frame["type"] == "presence" and False in frame["seats"]]
        await each.until(lambda each=each: {name for told in names(each, game) for name in told} == {"Ada", "Bea"})  # type: ignore[misc]
    held, also = await asyncio.gather(one.play(game), other.play(game))
    for watcher, lobby in zip(watchers, lobbies, strict=True):
        seen = watcher.games[game]
        await watcher.until(lambda seen=seen: seen.over)  # type: ignore[misc]
        assert seen.events == held.events == also.events
        await lobby.until(lambda rows: game.hex() not in rows["live"])
    winner = ("Ada", "Bea")[[one.player, other.player].index(winner_of(held))]
    for server in both:
        await all_signed(server)
        rows = await eventually(partial(places, server))
        assert [(row["name"], row["value"]) for row in rows] == [(winner, 1)]
        assert not list(server.data.glob("people.db*")), "whoever is known is known in Redis alone"
    for each in (one, other, *watchers):
        await each.leave()


@pytest.mark.thorough
async def test_open_seats_games_and_offers_of_one_are_seen_at_the_other(both: tuple[Machine, Machine]) -> None:
    first, second = both
    maker, guest = Person(first, first.join(), Random(1)), Person(second, second.join(), Random(2))
    watcher = Person(second, second.join(), Random(3))
    called(first, maker.guest, "Cleo")
    lobby = await feed(watcher, "lobby")
    seat = await invited(maker, listed=True)
    assert (await lobby.until(lambda rows: rows["seats"].get(seat.hex())))["name"] == "Cleo"
    client = await maker.here()
    house = await client.open()
    await lobby.until(lambda rows: rows["live"].get(house.hex()))
    # The seat is taken at the other server; each has the game in its own feed.
    game = await dealt(maker, guest, name="g")
    feeds = [await feed(each, "me") for each in (maker, guest)]
    for own in feeds:
        await own.until(lambda rows: game.hex() in rows["games"])
    row = await lobby.until(lambda rows: rows["live"].get(game.hex()))
    assert row["players"] == [maker.guest.player, guest.guest.player]
    await guest.do(game, "r", {"do": "Resign"})
    await maker.until(lambda: maker.games[game].over)
    for own in feeds:
        await own.until(lambda rows: game.hex() not in rows["games"])
    # A rematch that is asked for here is offered there at once, and is none when who asked has gone.
    assert (await maker.ask("rematch", "m1", game=game.hex()))["type"] == "offered"
    await feeds[1].until(lambda rows: game.hex() in rows["offers"])
    await maker.leave()
    await feeds[1].until(lambda rows: game.hex() not in rows["offers"])
    await lobby.until(lambda rows: seat.hex() not in rows["seats"])
    for each in (guest, watcher):
        await each.leave()


@pytest.mark.thorough
async def test_who_is_connected_to_both_is_there_and_waits_until_the_last_connection_ends(
    both: tuple[Machine, Machine],
) -> None:
    first, second = both
    waits, rival = first.join(), Person(second, second.join(), Random(2))
    one, two = Person(first, waits, Random(1)), Person(second, waits, Random(1))
    game = await dealt(one, rival)
    await two.here()
    for each in (one, rival):
        await told(each, game, seats=[True, True])
    assert (await one.ask("queue", "q", rules="classic/1"))["type"] == "queued"
    # With the watcher the other server has told of the player's connection there, too.
    watcher = Person(second, second.join(), Random(3))
    await watcher.follow(game)
    await told(one, game, watchers=1)
    await one.leave()
    fresh = Person(second, second.join(), Random(4))
    await asyncio.sleep(6)
    await told(rival, game, seats=[True, True])
    assert rival.client is not None
    assert not [frame for frame in rival.client.frames if frame["type"] == "presence" and False in frame["seats"]]
    assert (await fresh.ask("queue", "q", rules="classic/1"))["type"] == "queued"
    mine = await feed(two, "me")
    await mine.until(lambda rows: len(rows["games"]) == 2), "he waited on"
    # Now he waits again, and goes from both.
    third = Person(first, first.join(), Random(5))
    assert (await third.ask("queue", "q", rules=RULES))["type"] == "queued"
    await third.leave()
    await two.leave()
    await told(rival, game, seats=[False, True])
    late = Person(second, second.join(), Random(6))
    assert (await late.ask("queue", "q", rules=RULES))["type"] == "queued"
    own = await feed(late, "me")
    assert own.rows["queues"]
    assert not own.rows["games"], "who went waits no longer"
    assert (await late.ask("leave_queue", "l", rules=RULES))["type"] == "left"
    for each in (rival, watcher, fresh, late):
        await each.leave()


async def ended(client: Client) -> None:
    with pytest.raises(Closed):
        await client.until(lambda: None)
    assert client.closed is not None
    assert client.closed[0] == 4001


async def test_who_is_erased_or_renewed_at_one_is_so_at_the_other_at_once(both: tuple[Machine, Machine]) -> None:
    first, second = both
    guest = first.join()
    called(second, guest, "Lovelace")
    async with connected(second, guest) as client:
        with first.http(headers=bearer(guest)) as http:
            renewed = http.post("/api/session/renew", json={})
            assert renewed.status_code == 200
            await ended(client)
    with second.http() as http:
        assert http.get("/api/session", headers=bearer(guest)).status_code == 401
    guest = Guest(guest.player, renewed.json()["token"])
    async with connected(second, guest) as client:
        with first.http(headers=bearer(guest)) as http:
            await client.open()
            assert http.request("DELETE", "/api/me", json={}).json() == {"erased": guest.player}
            await ended(client)
    for server in both:
        with server.http() as http:
            assert http.get("/api/session", headers=bearer(guest)).status_code == 401
            assert http.get(f"/api/players/{guest.player}").json()["name"] == ERASED
    called(second, second.join(), "Lovelace")  # The name is free.
    for server in both:
        for path in server.data.rglob("*"):
            assert path.is_dir() or b"Lovelace" not in path.read_bytes(), "no machine has a name on its disk"


async def test_an_address_makes_so_many_players_at_both_together(both: tuple[Machine, Machine]) -> None:
    codes = []
    began = time.monotonic()
    for number in range(3 * JOINS_MAX):
        with both[number % 2].http(headers={"X-Forwarded-For": "192.0.2.99"}) as http:
            codes.append(http.post("/api/session", json={"keep": "bearer"}).status_code)
    assert codes[:JOINS_MAX] == [201] * JOINS_MAX
    assert codes.count(201) <= JOINS_MAX + 1 + time.monotonic() - began, "and then one a second, not one at each"


@pytest.mark.slow
async def test_after_redis_was_away_they_hear_of_each_other_again(
    both: tuple[Machine, Machine], redis: RedisServer
) -> None:
    first, second = both
    one, other = Person(first, first.join(), Random(1)), Person(second, second.join(), Random(2))
    game = await dealt(one, other)
    watcher, further = (Person(second, second.join(), Random(number)) for number in (3, 4))
    await watcher.follow(game)
    await told(one, game, watchers=1, seats=[True, True])
    redis.kill()
    # Somebody who knocks meanwhile is told to come back, and who watches is told nothing wrong.
    with pytest.raises(InvalidStatus) as refused:
        await connect(second, further.guest)
    assert refused.value.response.status_code == 503
    await told(one, game, watchers=1, seats=[True, True])
    await redis.start()
    await further.follow(game)
    await told(one, game, watchers=2, seats=[True, True])
    await watcher.leave()
    await told(one, game, watchers=1)
    await other.do(game, "r", {"do": "Resign"})
    mine = await feed(other, "me")
    assert (await one.ask("rematch", "m", game=game.hex()))["type"] == "offered"
    await mine.until(lambda rows: game.hex() in rows["offers"])
    for each in (one, other, further):
        await each.leave()


async def test_when_one_is_killed_the_other_signs_on_and_nothing_is_lost(both: tuple[Machine, Machine]) -> None:
    first, second = both
    one, other = Person(first, first.join(), Random(3)), Person(second, second.join(), Random(4))
    game = await paired(one, other)
    held = await one.follow(game)
    watcher = Person(second, second.join(), Random(5))
    await watcher.follow(game)
    # Somebody who stays away sits at the server that dies, too.
    gone = Person(first, first.join(), Random(6))
    left = await dealt(gone, watcher, name="left", commit_seconds=3600)
    await told(watcher, left, seats=[True, True])
    playing = [asyncio.create_task(person.play(game)) for person in (one, other)]
    await eventually(lambda: held.head.version > 20)
    await asyncio.to_thread(first.kill)
    one.server = second
    played, also = await asyncio.gather(*playing)
    assert played.events == also.events
    await told(watcher, left, seats=[False, True])
    await all_signed(second)
    assert (second.keys / "ledger.note").is_file()
    again = await paired(one, other, "again")
    assert again != game
    assert saved.load(second.export(game)).events == tuple(held.events)
    # The first comes back, and what was signed without it is what it shows.
    await asyncio.to_thread(first.start)
    with first.http() as http, second.http() as also_http:
        await eventually(lambda: http.get("/checkpoint").text == also_http.get("/checkpoint").text)
    for each in (one, other, watcher, gone):
        await each.leave()


@pytest.mark.slow
async def test_a_machine_without_the_keys_does_not_start_and_one_that_does_not_sign_needs_no_ledger_key(
    tmp_path: Path,
) -> None:
    async with redis_server(tmp_path / "redis") as redis:
        await without_keys(tmp_path, redis)


def told_key(server: Server) -> str:
    """Of the ledger, once it was said whole."""
    _, _, told = server.said.partition("The ledger's key is ")
    return told if told.endswith("\n") else ""


async def without_keys(tmp_path: Path, redis: RedisServer) -> None:
    first = Machine(tmp_path / "one", redis, tmp_path / "archive")
    await asyncio.to_thread(first.start)
    second = Machine(tmp_path / "two", redis, tmp_path / "archive", STATECRAFT_SIGNS="0")
    done = await asyncio.to_thread(run, "serve", "--port", "0", "--data", second.data, **second.environment)
    assert (done.returncode, "Traceback" in done.stderr, "copy them" in done.stderr) == (2, False, True), done.stderr
    second.copy_keys(first, "operator-1.key")
    await asyncio.to_thread(second.start)
    try:
        keys = [await eventually(lambda each=each: told_key(each)) for each in (first, second)]  # type: ignore[misc]
        assert keys[0] == keys[1]
        client = await connect(second, second.join())
        followed = await client.follow(await client.open())
        await client.play_on(followed, Random(1))
        await client.leave()
        await all_signed(second)
        # Nothing was made, and what only reads needs no more.
        for command in (
            ["audit", followed.game.hex()],
            ["proof", followed.game.hex(), "-o", tmp_path / "p"],
            ["rebuild"],
        ):
            done = await asyncio.to_thread(run, *command, "--data", second.data, **second.environment)
            assert done.returncode == 0, (command, done.stderr)
        assert not (second.keys / "ledger.key").exists()
        # When who signs has gone, nobody does; and goes on when it is back.
        assert await asyncio.to_thread(first.stop) == -15
        client = await connect(second, second.join())
        followed = await client.follow(await client.open())
        await client.do(followed.game, {"do": "Resign"}, "r")
        await client.leave()
        with second.http() as http:
            assert http.get("/api/ledger").json()["signed"] == 2, "it signs nothing itself"
        await asyncio.to_thread(first.start)
        await all_signed(second)
    finally:
        for server in (first, second):
            if server.running:
                assert server.stop() == -15


@pytest.mark.slow
async def test_a_server_whose_redis_is_away_leaves_in_the_time_that_is_documented(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path / "redis", config=DURABLE)
    await redis.start()
    server = Machine(tmp_path / "one", redis, tmp_path / "archive").start()
    try:
        guest = server.join()
        async with connected(server, guest) as client:
            followed = await client.follow(await client.open())
            assert redis.process is not None
            redis.process.send_signal(signal.SIGSTOP)
            waiting = asyncio.create_task(client.mix(followed))
            await client.ping()
            server.send_signal(signal.SIGTERM)
            seconds = int(re.findall(r"Give it (\d+) seconds before it is killed", OPERATIONS)[0])
            async with asyncio.timeout(seconds):
                while server.running:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            with pytest.raises(Closed):
                await waiting
            assert client.closed is not None
            assert client.closed[0] == 1012
    finally:
        if server.running:
            server.kill()
        redis.kill()
    assert "Traceback" not in server.errors
