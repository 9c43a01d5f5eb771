"""One server with log and ledger on Redis plays as with the embedded file: games, ledger, kills, command line."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import anyio
import pytest

from events.chain import check, origin
from events.ledger import closing, opening
from events.log import LetGo
from events.redis_durability import Durability
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from server.naming import ERASED
from server.settings import BadSetting, settings
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import RULES, Closed, Server, all_signed, connect, connected, serving, wait_seconds_max
from tests.test_cli import run
from tests.test_kill_ledger import Person

pytestmark = pytest.mark.anyio


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


async def signed(server: Server) -> None:
    with server.http() as http:
        assert (await asyncio.to_thread(all_signed, http))["leaves"] > 0


async def test_a_game_is_played_to_its_end_and_signed_with_nothing_of_it_in_the_embedded_file(
    tmp_path: Path, redis: RedisServer
) -> None:
    environment = {"STATECRAFT_STORE": redis.url}
    with serving(tmp_path, environment) as server:
        client = await connect(server, server.join())
        game = await client.open()
        followed = await client.follow(game)
        await client.play_on(followed, Random(1))
        await signed(server)
        server.audit(game)
        await client.leave()
        async with redis_store(redis.url) as store:
            events = await RedisLog(store).read(game)
            assert check(origin(game), events) is None
            assert await RedisLedger(store).find(opening(game)) == 0
            assert await RedisLedger(store).find(closing(game)) == 1
        # While the server runs, the command line reads the same store.
        for words in (["audit", game.hex()], ["proof", game.hex(), "-o", tmp_path / "proof"], ["rebuild"]):
            done = await asyncio.to_thread(run, *words, "--data", server.data, **environment)
            assert done.returncode == 0, (words, done.stderr)
        done = await asyncio.to_thread(run, "audit", game.hex(), "--data", server.data)
        assert (done.returncode, "there is no log" in done.stderr) == (2, True), "nothing of it is in a file"


async def test_a_closed_game_goes_to_the_archive_and_is_read_from_there(tmp_path: Path, redis: RedisServer) -> None:
    environment = {"STATECRAFT_STORE": redis.url, "STATECRAFT_KEEP_SECONDS": "0"}
    with serving(tmp_path, environment) as server:
        guest = server.join()
        client = await connect(server, guest)
        game = await client.open()
        followed = await client.follow(game)
        await client.play_on(followed, Random(1))
        await client.leave()
        async with redis_store(redis.url) as store:
            log = RedisLog(store)
            with anyio.fail_after(wait_seconds_max):
                while await log.games():  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert await log.head(game) == followed.head
            with pytest.raises(LetGo):
                await log.read(game)
        client = await connect(server, guest)
        assert (await client.follow(game)).events == followed.events
        assert (await client.do(game, {"do": "Resign"}, "late"))["reason"] == "over"
        await client.leave()
        for words in (["audit", game.hex()], ["proof", game.hex(), "-o", tmp_path / "proof"]):
            done = await asyncio.to_thread(run, *words, "--data", server.data, **environment)
            assert done.returncode == 0, (words, done.stderr)


@pytest.mark.thorough
async def test_what_the_operator_does_to_players_is_written_to_the_same_ledger(
    tmp_path: Path, redis: RedisServer
) -> None:
    environment = {"STATECRAFT_STORE": redis.url}
    old = tmp_path / "old.jsonl"
    with serving(tmp_path, environment) as server:
        guest = server.join()
        player = guest.player
        with server.http(headers={"Authorization": f"Bearer {guest.token}"}) as http:
            assert http.put("/api/me/name", json={"name": "Ada"}).status_code == 200
        old.write_text(
            f'{{"player":"{player}","ladder":"states-relaxed","games":[["opal-winterbourne",true]],"total":1}}\n'
        )
        commands = (["import", old], ["bar", player, "--reason", "two accounts"], ["hide-name", player])
        named: list[str | None] = ["Ada", "Ada", None, ERASED]
        async with connected(server, guest) as client:
            for words in (*commands, ["erase", player]):
                done = await asyncio.to_thread(run, *words, "--data", server.data, **environment)
                assert done.returncode == 0, (words, done.stderr)
                with server.http() as http:
                    assert http.get(f"/api/players/{player}").json()["name"] == named.pop(0)
            with pytest.raises(Closed):
                await client.until(lambda: None)
            assert client.closed is not None
            assert client.closed[0] == 4001, "the erased player's connection is ended"
        done = await asyncio.to_thread(run, "erase", player, "--data", server.data, **environment)
        assert (done.returncode, "there is no player" in done.stderr) == (1, True)
        assert not list(server.data.glob("people.db*")), "people are in Redis, too"
        await signed(server)
        with server.http() as http:
            (bar,) = http.get(f"/api/players/{player}/bars").json()["bars"]
            assert bar["reason"] == "two accounts"
        async with redis_store(redis.url) as store:
            assert (await RedisLedger(store).head()).size == 2
    redis.kill()
    done = await asyncio.to_thread(run, "bar", player, "--lift", "--data", server.data, **environment)
    assert (done.returncode, redis.url in done.stderr) == (2, True), done.stderr


async def test_two_who_are_paired_hold_their_places_in_the_log(tmp_path: Path, redis: RedisServer) -> None:
    with serving(tmp_path, {"STATECRAFT_STORE": redis.url}) as server:
        guests = [server.join(), server.join()]
        players = [bytes.fromhex(guest.player) for guest in guests]
        clients = [await connect(server, guest) for guest in guests]
        for client in clients:
            assert (await client.ask("queue", rules=RULES))["type"] == "queued"
        async with redis_store(redis.url) as store:
            log = RedisLog(store)
            with anyio.fail_after(wait_seconds_max):
                while (game := await log.claimed(players[0], "states-versus")) is None or not await log.read(game):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert await log.claimed(players[1], "states-versus") == game
        for client in clients:
            await client.leave()


@pytest.mark.thorough
async def test_while_redis_is_away_everybody_is_told_to_come_again(tmp_path: Path, redis: RedisServer) -> None:
    with serving(tmp_path, {"STATECRAFT_STORE": redis.url}) as server:
        guest = server.join()
        client = await connect(server, guest)
        game = await client.open()
        redis.kill()
        other = "00" * 16
        with server.http() as http:
            answers, page, board = await asyncio.gather(
                client.ask("do", "a", game=other, command={"do": "Resign"}),
                asyncio.to_thread(http.get, f"/api/games/{game.hex()}/export"),
                asyncio.to_thread(http.get, "/api/boards/states-relaxed/wins/all"),
            )
        assert (answers["type"], answers["reason"]) == ("refused", "try_again")
        for answer in (page, board):
            assert (answer.status_code, answer.json()["error"]) == (503, "try_again")
        topics = (f"game/{other}", "board/states-relaxed/wins/all")
        for topic in topics:
            await client.send({"type": "subscribe", "topic": topic})
        for topic in topics:
            told = {"type": "not_subscribed", "topic": topic, "reason": "try_again"}
            await client.until(lambda told=told: told in client.frames)  # type: ignore[misc]
        await redis.start()
        await client.insist("do", "b", game=game.hex(), command={"do": "Resign"})
        await client.leave()


@pytest.mark.slow
async def test_however_server_and_redis_are_killed_every_game_ends_right(tmp_path: Path, redis: RedisServer) -> None:
    chance = Random(5)
    server = Server(tmp_path, {"STATECRAFT_STORE": redis.url}).start()
    up = asyncio.Event()
    up.set()
    people = [Person(server, up, server.join(), Random(f"redis {number}")) for number in range(4)]
    playing = [asyncio.create_task(person.play()) for person in people]
    for number in range(6):
        await asyncio.sleep(chance.random() * 0.8)
        if number % 2:
            redis.kill()
            await redis.start()
        else:
            up.clear()
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            up.set()
        for task in playing:
            assert not task.done(), task.exception()
    for person in people:
        person.last = True
    await asyncio.gather(*playing)
    await signed(server)
    for person in people:
        for game in person.games:
            server.audit(game)
    assert server.stop() == -15
    whole = await asyncio.to_thread(run, "audit", "--all", server.data / "archive", "--state", tmp_path / "seen")
    assert f"{sum(len(person.games) for person in people)} closed games, 0 open" in whole.stdout


async def test_a_server_does_not_start_where_redis_can_not_keep_the_promise(tmp_path: Path, redis: RedisServer) -> None:
    await redis("CONFIG", "SET", "appendfsync", "everysec")
    environment = {"STATECRAFT_STORE": redis.url}
    done = await asyncio.to_thread(run, "serve", "--port", "0", "--data", tmp_path / "data", **environment)
    assert done.returncode == 2
    assert "set appendfsync always" in done.stderr
    redis.kill()
    done = await asyncio.to_thread(run, "serve", "--port", "0", "--data", tmp_path / "data", **environment)
    assert done.returncode == 2
    assert redis.url in done.stderr


def test_a_store_that_is_none_is_refused_without_telling_its_password() -> None:
    with pytest.raises(BadSetting, match="STATECRAFT_STORE") as refused:
        settings({"STATECRAFT_STORE": "redis://:hunter2@a,b"})
    assert "hunter2" not in str(refused.value)
    with pytest.raises(BadSetting, match="STATECRAFT_DURABILITY"):
        settings({"STATECRAFT_DURABILITY": "always"})
    given = settings({"STATECRAFT_STORE": "redis://:hunter2@a", "STATECRAFT_DURABILITY": "replicated 2"})
    assert given.durability == Durability(2, False)
    assert "hunter2" not in repr(given)
