"""Two server processes of one machine, one data directory, one Redis: who plays whom, and who watches, on either."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from projections import saved
from server.between import INVITATIONS_MAX
from server.connection import BURST
from server.wire import Code
from tests.meeting import feed
from tests.pairs import Person
from tests.redis_servers import RedisServer, redis_server
from tests.running import Client, Server, connect, eventually

pytestmark = pytest.mark.anyio

RULES = "fifty-states/1"


class Other(Server):
    """A further server over the data of another one."""

    def __init__(self, folder: Path, first: Server, redis: RedisServer) -> None:
        folder.mkdir()
        super().__init__(folder, {"STATECRAFT_STORE": redis.url})
        self.data = first.data


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


@pytest.fixture
async def servers(tmp_path: Path, redis: RedisServer) -> AsyncIterator[tuple[Server, Server]]:
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url})
    second = Other(tmp_path / "other", first, redis)
    for server in (first, second):
        await asyncio.to_thread(server.start)
    try:
        yield first, second
    finally:
        for server in (first, second):
            if server.running:
                assert server.stop() == -15
            assert "Traceback" not in server.errors


async def all_signed(server: Server, leaves: int) -> None:
    """By whichever server signs: this one shows it."""
    with server.http() as http:
        await eventually(lambda: http.get("/api/ledger").json()["signed"] == leaves)
        at = http.get("/api/ledger").json()
    assert (at["not_signed_because"], at["partitions_stopped"]) == (None, {})


async def paired(one: Person, other: Person, name: str = "q") -> bytes:
    """Both wait, and both are told by their own server where they play."""
    for person in (one, other):
        await person.leave()
    feeds = [await feed(person, "me") for person in (one, other)]
    for person in (one, other):
        assert (await person.ask("queue", name, rules=RULES))["type"] == "queued"
    for each in feeds:
        await each.until(lambda rows: rows["games"] and not rows["queues"])
    (game,) = {key for each in feeds for key in each.rows["games"]}
    return bytes.fromhex(game)


async def test_two_on_different_servers_are_paired_play_and_are_watched_from_either(
    servers: tuple[Server, Server],
) -> None:
    first, second = servers
    one = Person(first, first.join(), Random(1))
    # Who joined at one server is known at the other.
    other = Person(second, first.join(), Random(2))
    game = await paired(one, other)
    watchers = [await connect(server) for server in servers]
    watched = [await watcher.follow(game) for watcher in watchers]
    held, also = await asyncio.gather(one.play(game), other.play(game))
    for watcher, seen in zip(watchers, watched, strict=True):
        await watcher.until(lambda seen=seen: seen.over)  # type: ignore[misc]
        assert seen.events == held.events == also.events
    for server in servers:
        await all_signed(server, 2)
        assert (await asyncio.to_thread(server.audit, game)).over
        with server.http() as http:
            assert http.get(f"/api/games/{game.hex()}/witness").json()["witnessed"] is True
            await eventually(lambda http=http: http.get(f"/api/players/{one.guest.player}").status_code == 200)  # type: ignore[misc]
    for watcher in watchers:
        await watcher.leave()
    for person in (one, other):
        await person.leave()


async def test_who_is_too_fast_at_every_server_at_once_changes_no_more_than_at_one_and_hinders_nobody(
    servers: tuple[Server, Server],
) -> None:
    first = servers[0]
    fast, other = (Person(server, first.join(), Random(n)) for n, server in enumerate(servers))
    client = await connect(first, fast.guest)
    game = await client.open()
    held = await client.follow(game)
    await client.mix(held)
    flood = [await connect(server, fast.guest) for server in servers for _ in range(3)]
    played = {"do": "Play", "battle": held.battle, "card": held.hand[0] if held.hand else 0}

    async def pour(one: Client, number: int) -> int:
        for message in range(INVITATIONS_MAX // 2):
            invitation = {"rules": RULES, "settings": {}, "listed": False}
            await one.send({"type": "invite", "id": f"i-{number}-{message}", **invitation})
        for message in range(3 * int(BURST)):
            await one.send({"type": "do", "id": f"d-{number}-{message}", "game": game.hex(), "command": played})
        return await one.close_code()

    pouring = [asyncio.create_task(pour(one, number)) for number, one in enumerate(flood)]
    assert (await other.ask("invite", "i", rules=RULES, settings={}, listed=False))["type"] == "done"
    assert set(await asyncio.gather(*pouring)) == {Code.TOO_FAST}
    # One card, though hundreds were sent, and as many invitations as anybody may have at once.
    await client.follow(game)
    assert [type(fact).__name__ for fact in held.facts].count("Played") == 1
    mine = await feed(fast, "me")
    assert len(mine.rows["games"]) <= INVITATIONS_MAX + len(flood)
    for each in (client, *flood):
        await each.leave()
    for person in (fast, other):
        await person.leave()


async def test_when_the_server_that_signs_is_killed_the_other_goes_on_with_everything(
    servers: tuple[Server, Server],
) -> None:
    first, second = servers
    one = Person(first, first.join(), Random(3))
    other = Person(second, second.join(), Random(4))
    game = await paired(one, other)
    held = await one.follow(game)
    playing = [asyncio.create_task(person.play(game)) for person in (one, other)]
    await eventually(lambda: held.head.version > 20)
    await asyncio.to_thread(first.kill)
    one.server = second
    held, also = await asyncio.gather(*playing)
    assert held.events == also.events
    await all_signed(second, 2)
    # Now they meet again, at one server; it opens and signs as the first did.
    again = await paired(one, other, "again")
    assert again != game
    for person in (one, other):
        await person.leave()
    assert saved.load(second.export(game)).events == tuple(held.events)
