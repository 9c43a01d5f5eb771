"""Servers of one Redis that are replaced one after the other while people play: nobody loses a move, a second or a
place by it."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest
from websockets.exceptions import InvalidHandshake

from events.redis_ledger import TAG as LEDGER
from events.redis_log import RedisLog
from rules.game import Credited, TimeUp
from server.pen import PEN
from server.presence import ABSENT_SECONDS
from server.redis_meetings import TAG as MEETINGS
from tests.meeting import both_seated, dealt, feed, invited
from tests.pairs import Person
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import (
    MSGPACK,
    RULES,
    Client,
    Closed,
    Followed,
    Server,
    connect,
    eventually,
    wait_seconds_max,
)
from tests.test_faults import Crowd, Loner, Roaming, assert_right, playing, running
from tests.test_servers import Other

pytestmark = pytest.mark.anyio

RESTARTS = 1012


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


def several(folder: Path, redis: RedisServer, count: int) -> list[Server]:
    first = Server(folder, {"STATECRAFT_STORE": redis.url})
    return [first, *(Other(folder / f"other {number}", first, redis) for number in range(1, count))]


# ---------------------------------------------------------------- a rolling deploy


class One(Roaming):
    """Of two people."""

    clients: set[Client]
    """Every connection that anybody had."""

    async def here(self) -> Client:
        client = await super().here()
        self.clients.add(client)
        return client


class Alone(Loner):
    """Against the house, and at the pace of people."""

    clients: set[Client]

    async def play(self) -> None:
        while True:
            with contextlib.suppress(Closed, OSError, InvalidHandshake, EOFError):
                client = await connect(self.server, self.guest, MSGPACK)
                self.clients.add(client)
                while not await self.one_game(client):
                    pass
                await client.leave()
                return

    async def one_game(self, client: Client) -> bool:
        """Whether it was the last."""
        last, game = self.last, await client.open()
        held = self.games.setdefault(game, Followed(game))
        await client.follow(game, held.head if held.head.version else None, held)
        if held.table["position"] is None:
            await client.mix(held, self.chance.randbytes(32))
        while not held.over:
            await client.until(lambda: held.my_turn)
            assert held.hand is not None
            await client.play(held, self.chance.choice(held.hand))
            await asyncio.sleep(0.05)
        await client.send({"type": "unsubscribe", "topic": held.topic})
        return last


def crowd(servers: Sequence[Server], groups: int, clients: set[Client]) -> list[Crowd]:
    """For each one against the house two who meet again and again."""
    crowds = []
    for number in range(groups):
        alone = Alone(servers, None, servers[0].join(), Random(number))  # type: ignore[arg-type]
        two = [One(servers, servers[0].join(), Random(f"{number} {n}"), MSGPACK) for n in range(2)]  # type: ignore[arg-type]
        alone.clients = clients
        for each in two:
            each.clients = clients
        crowds.append(Crowd(servers, [alone], list(two)))
    return crowds


async def deadlines(servers: Sequence[Server], game: bytes) -> list[int]:
    """What the clock of a game that stands still shows, at each server."""
    told = []
    for server in servers:
        client = await connect(server)
        await client.follow(game)
        told += [frame["due_ms"] for frame in client.frames if frame["type"] == "events"][-1:]
        await client.leave()
    return told


async def rolled(folder: Path, redis: RedisServer, servers: Sequence[Server], groups: int, rounds: int) -> None:
    chance = Random(rounds)
    clients: set[Client] = set()
    async with running(servers):
        crowds = await asyncio.to_thread(crowd, servers, groups, clients)
        waiting = [Person(servers[-1], await asyncio.to_thread(servers[0].join), Random(n)) for n in range(2)]
        still = await dealt(*waiting, commit_seconds=3600)
        shown = await deadlines(servers, still)
        async with contextlib.AsyncExitStack() as everybody:
            for each in crowds:
                await everybody.enter_async_context(playing(each))
            for server in [*servers] * rounds:
                await asyncio.sleep(chance.uniform(0.5, 1.5))
                assert await asyncio.to_thread(server.stop) == -15
                await asyncio.sleep(chance.uniform(0, 0.5))
                await asyncio.to_thread(server.start)
                shown += await deadlines(servers, still)
        assert len(set(shown)) == 1, "the clock of a game shows the same at each server, whichever leaves"
        for person in waiting:
            await person.do(still, "r", {"do": "Resign"})
            await person.leave()
        whole = Crowd(
            servers, [one for each in crowds for one in each.loners], [one for each in crowds for one in each.two]
        )
        whole.met = {game: held for each in crowds for game, held in each.met.items()}
        whole.met[still] = [person.games[still] for person in waiting]
        await assert_right(whole, redis, folder)
        # Whoever was sent away was told to come back at once; each command was done, or asked again and then done.
        codes = Counter(client.closed[0] for client in clients if client.closed is not None)
        assert set(codes) == {RESTARTS, 1000}, codes
        assert [frame for client in clients for frame in client.frames if frame["type"] == "refused"] == []
        async with redis_store(redis.url) as store:
            log = RedisLog(store)
            for game in whole.games:
                facts = {type(fact) for fact in Followed(game, list(await log.read(game))).facts}
                assert not {TimeUp, Credited} & facts, "there was a server all the time"


@pytest.mark.parametrize(
    ("count", "groups", "rounds"),
    [(2, 1, 1), pytest.param(2, 8, 8, marks=pytest.mark.slow), pytest.param(4, 12, 5, marks=pytest.mark.slow)],
    ids=["two", "two again and again", "four again and again"],
)
@pytest.mark.thorough
async def test_servers_are_replaced_one_after_the_other_and_no_move_and_no_second_is_lost(
    tmp_path: Path, redis: RedisServer, count: int, groups: int, rounds: int
) -> None:
    await rolled(tmp_path, redis, several(tmp_path, redis, count), groups, rounds)


# ---------------------------------------------------------------- what nobody writes into a log


@pytest.fixture
async def servers(tmp_path: Path, redis: RedisServer) -> AsyncIterator[Sequence[Server]]:
    async with running(several(tmp_path, redis, 2)) as servers:
        yield servers


async def sent_away(server: Server, to: Server, *people: Person) -> None:
    """The server leaves, and whoever was there comes back elsewhere."""
    clients = [await person.here() for person in people]
    await asyncio.to_thread(server.stop)
    for person, client in zip(people, clients, strict=True):
        assert await client.close_code() == RESTARTS
        person.server = to
        await person.here()


async def entry(redis: RedisServer, person: Person) -> bytes:
    """The person's place in the queue as it is stored: since when, and at which server."""
    async with redis_store(redis.url) as store:
        record: bytes = await store.read(MEETINGS, "HGET", b"{meetings}:queue:" + RULES.encode(), person.player)
    return record


async def test_who_waits_at_a_server_that_leaves_waits_on_at_another_one_since_the_same_time(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    first, second = servers
    one, other = (Person(server, first.join(), Random(n)) for n, server in enumerate(servers))
    await feed(one, "me")
    assert (await one.ask("queue", "q", rules=RULES))["type"] == "queued"
    before = await entry(redis, one)
    await sent_away(first, second, one)
    mine = await feed(one, "me")
    assert list(mine.rows["queues"]) == [RULES]
    after = await entry(redis, one)
    assert after[:8] == before[:8]
    assert after[8:24] != before[8:24], "else it would be dropped with the server that left"
    theirs = await feed(other, "me")
    assert (await other.ask("queue", "q", rules=RULES))["type"] == "queued"
    for each in (mine, theirs):
        await each.until(lambda rows: rows["games"] and not rows["queues"])
    for person in (one, other):
        await person.leave()


@pytest.mark.slow
async def test_who_waited_at_a_server_that_left_and_goes_from_the_next_one_waits_no_longer(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    first, second = servers
    one = Person(first, first.join(), Random(3))
    await feed(one, "me")
    await one.ask("queue", "q", rules=RULES)
    await sent_away(first, second, one)
    await feed(one, "me")
    await one.leave()
    while await entry(redis, one) is not None:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def test_a_rematch_that_was_asked_for_at_a_server_that_left_is_offered_until_its_player_goes(
    servers: Sequence[Server],
) -> None:
    first, second = servers
    maker, guest = (Person(server, first.join(), Random(5 + n)) for n, server in enumerate(servers))
    game = await dealt(maker, guest)
    await maker.do(game, "r", {"do": "Resign"})
    await guest.until(lambda: guest.games[game].over)
    offers = await feed(guest, "me")
    await feed(maker, "me")
    assert (await maker.ask("rematch", "r1", game=game.hex()))["type"] == "offered"
    await offers.until(lambda rows: rows["offers"])
    version = offers.version
    await sent_away(first, second, maker)
    await feed(maker, "me")
    assert (offers.take().version, list(offers.rows["offers"])) == (version, [game.hex()])
    await maker.leave()
    await offers.until(lambda rows: not rows["offers"])
    await guest.leave()


def seen(person: Person, game: bytes) -> list[tuple[list[bool | None], int]]:
    assert person.client is not None
    topic = f"game/{game.hex()}"
    frames = [frame for frame in person.client.frames if frame["type"] == "presence" and frame["topic"] == topic]
    return [(frame["seats"], frame["watchers"]) for frame in frames]


@pytest.mark.slow
async def test_nobody_is_shown_absent_and_no_open_seat_is_missing_because_a_server_leaves(
    servers: Sequence[Server],
) -> None:
    first, second = servers
    maker, watcher = (Person(first, first.join(), Random(7 + n)) for n in range(2))
    guest = Person(second, first.join(), Random(9))
    game = await both_seated(maker, guest)
    seat = await invited(maker, name="open", listed=True)
    await watcher.follow(game)
    lobby = await feed(guest, "lobby")
    await guest.follow(seat)  # So that the second server wonders where its maker is.
    await guest.until(lambda: seen(guest, game)[-1:] == [([True, True], 1)])
    await guest.until(lambda: seen(guest, seat)[-1:] == [([True, None], 1)])
    await lobby.until(lambda rows: seat.hex() in rows["seats"])
    told = len(seen(guest, game))
    await sent_away(first, second, maker, watcher)
    await asyncio.sleep(ABSENT_SECONDS + 2)  # So long it takes until somebody is shown absent.
    assert [seats for seats, _ in seen(guest, game)[told:] if seats != [True, True]] == []
    assert seen(guest, game)[-1] == ([True, True], 1)
    assert seat.hex() in lobby.take().rows["seats"]
    for person in (maker, watcher, guest):
        await person.leave()


async def test_a_signer_that_leaves_gives_the_pen_back_with_its_last_word(
    redis: RedisServer, servers: Sequence[Server]
) -> None:
    async with redis_store(redis.url) as store:

        async def holder() -> bytes | None:
            found: bytes | None = await store.read(LEDGER, "GET", PEN)
            return found

        async with asyncio.timeout(wait_seconds_max):
            while (held := await holder()) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        leaver, left = servers
        await asyncio.to_thread(leaver.stop)
        if await holder() == held:  # It was the other one's.
            await asyncio.to_thread(leaver.start)
            leaver, left = left, leaver
            await asyncio.to_thread(leaver.stop)
        assert await holder() != held, "it would stay his for five seconds"
    client = await connect(left, left.join())
    await client.play_on(await client.follow(await client.open()), Random(1))
    with left.http() as http:
        await eventually(lambda: http.get("/api/ledger").json()["signed"] == 2)
    await client.leave()
