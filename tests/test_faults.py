"""Whole servers over a Redis that is torn, killed or replaced, and servers that are killed: every game ends right."""

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import anyio
import pytest

from events import entries
from events.chain import extend, origin
from events.entries import Closing, Opening
from events.log import Batch
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from events.redis_topology import slot_of
from server.recent import RecentLog
from tests import pairs, test_kill_ledger
from tests.redis_servers import RedisServer, cluster, redis_server, sentinels
from tests.redis_stores import redis_store
from tests.running import RULES, Followed, Guest, Message, Server, wait_seconds_max
from tests.test_backup import well
from tests.test_redis_failover import PATIENCE, Scripted, games, move_slot, through
from tests.test_servers import Other
from tests.wire import Wire, wire

pytestmark = pytest.mark.anyio

BUDGET = int(os.environ.get("STATECRAFT_BUDGET", "1"))


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


@contextlib.asynccontextmanager
async def running(servers: Sequence[Server]) -> AsyncIterator[Sequence[Server]]:
    """In the end each that runs must stop well."""
    try:
        for server in servers:
            await asyncio.to_thread(server.start)
        yield servers
    finally:
        codes = [await asyncio.to_thread(server.stop) for server in servers if server.running]
    assert set(codes) == {-15}
    assert not any("Traceback" in server.errors for server in servers)


# ---------------------------------------------------------------- people at any server


class Roaming(pairs.Person):
    """One of two people: each connection goes to a server drawn at random."""

    @property
    def server(self) -> Server:
        return self.chance.choice(self.servers)

    @server.setter
    def server(self, servers: "Sequence[Server] | Server") -> None:
        self.servers: Sequence[Server] = [servers] if isinstance(servers, Server) else servers

    async def act(self, held: Followed, seat: int) -> Message:
        await asyncio.sleep(0.05)  # Whoever never pauses is too fast one day.
        return await super().act(held, seat)


class Loner(test_kill_ledger.Person):
    """Plays the house, game after game, at servers drawn at random."""

    @property
    def server(self) -> Server:
        return self.chance.choice(self.servers)

    @server.setter
    def server(self, servers: "Sequence[Server] | Server") -> None:
        self.servers: Sequence[Server] = [servers] if isinstance(servers, Server) else servers


@dataclass
class Crowd:
    """Loners, and two who meet again and again."""

    servers: Sequence[Server]
    loners: list[Loner]
    two: list[Roaming]
    last: bool = False
    met: dict[bytes, list[Followed]] = field(default_factory=dict)
    """Every game of the two, as each of them holds it."""

    async def meet(self) -> None:
        number = 0
        while not self.last:
            number += 1
            made = await self.two[0].ask("invite", f"i{number}", rules=RULES, settings={}, listed=False)
            assert made["type"] == "done", made
            game = bytes.fromhex(made["game"])
            self.met[game] = list(await asyncio.gather(*(person.play(game) for person in self.two)))
            for person in self.two:
                # No connection follows many games, and the next one need not know of this one.
                del person.games[game]
                if person.client is not None:
                    await person.client.send({"type": "unsubscribe", "topic": f"game/{game.hex()}"})

    def end(self) -> None:
        self.last = True
        for loner in self.loners:
            loner.last = True

    @property
    def games(self) -> dict[bytes, list[Followed]]:
        return self.met | {game: [held] for loner in self.loners for game, held in loner.games.items()}


def crowd(servers: Sequence[Server], loners: int, seed: int) -> Crowd:
    up = asyncio.Event()
    up.set()

    def guest() -> Guest:
        return servers[0].join()

    lone = [Loner(servers, up, guest(), Random(f"{seed} {n}")) for n in range(loners)]  # type: ignore[arg-type]
    two = [Roaming(servers, guest(), Random(f"{seed} two {n}")) for n in range(2)]  # type: ignore[arg-type]
    return Crowd(servers, lone, two)


@contextlib.asynccontextmanager
async def playing(everybody: Crowd) -> AsyncIterator[None]:
    """For as long as the block lasts, and then until every game is over."""
    tasks = [asyncio.create_task(person.play()) for person in everybody.loners]
    tasks.append(asyncio.create_task(everybody.meet()))
    yield
    for task in tasks:
        assert not task.done(), task.exception()
    everybody.end()
    await asyncio.gather(*tasks)
    for person in everybody.two:
        await person.leave()


async def assert_right(everybody: Crowd, redis: RedisServer, folder: Path) -> None:
    """Every client agrees with the log, each command is one event, and the ledger is what the logs tell."""
    games = everybody.games
    server = everybody.servers[0]
    async with redis_store(redis.url) as store:
        log, ledger = RedisLog(store), RedisLedger(store)
        with anyio.fail_after(wait_seconds_max):
            while (await ledger.head()).size < 2 * len(games):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        told = [entries.decode(body) for body in await ledger.leaves(0, 10**6)]
        for game, clients in games.items():
            events = list(await log.read(game))
            for held in clients:
                # Whose game ended while he was away opens the next one, and never asks for the end of this one.
                assert held.events == events[: len(held.events)]
                assert held.over or game not in everybody.met
            # Which also fails where one command was taken twice.
            assert (await asyncio.to_thread(server.audit, game)).over
            closings = [entry for entry in told if isinstance(entry, Closing) and entry.game == game]
            assert [(each.version, each.hash) for each in closings] == [(events[-1].version, events[-1].hash)]
        counted = Counter((type(entry), entry.game) for entry in told if isinstance(entry, Opening | Closing))
        assert counted == {(kind, game): 1 for kind in (Opening, Closing) for game in games}
        for person in everybody.two:
            heads = {event.head for game in everybody.met for event in await log.read(game)}
            assert person.acknowledged
            assert all(head in heads for _, head in person.acknowledged)
    state = folder / "seen"
    with anyio.fail_after(wait_seconds_max):
        while f"{2 * len(games)} leaves" not in (  # noqa: ASYNC110
            said := await asyncio.to_thread(well, "audit", "--all", server.data / "archive", "--state", state)
        ):
            await asyncio.sleep(0.2)
    assert f"PASSED: {2 * len(games)} leaves, {len(games)} closed games, 0 open" in said


# ---------------------------------------------------------------- the wire to Redis


async def harm(between: Wire, chance: Random, times: int, swallows: int) -> None:
    for number in range(times):
        await asyncio.sleep(chance.uniform(0.05, 0.5))
        if number < swallows:
            between.swallow = True
            await asyncio.sleep(1)
            between.swallow = False
            between.cut()
        match chance.randrange(4):
            case 0:
                between.cut()
            case 1:
                between.delay_seconds = chance.choice((0, 0.02))
            case _:
                between.pass_bytes = chance.randrange(1, 2000)  # in the middle of a reply
        await asyncio.sleep(chance.uniform(0, 0.2))
        between.pass_bytes = None
    between.delay_seconds = 0


@pytest.mark.parametrize(
    ("times", "loners"), [(12, 2), pytest.param(150 * BUDGET, 6, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.thorough
async def test_however_the_wire_between_server_and_redis_is_torn_a_command_is_one_event(
    tmp_path: Path, redis: RedisServer, times: int, loners: int
) -> None:
    async with (
        wire(redis.place) as between,
        running([Server(tmp_path, {"STATECRAFT_STORE": between.url})]) as servers,
    ):
        everybody = await asyncio.to_thread(crowd, servers, loners, times)
        async with playing(everybody):
            await harm(between, Random(times), times, swallows=times // 6)
        await assert_right(everybody, redis, tmp_path)


# ---------------------------------------------------------------- servers


@pytest.mark.parametrize(
    ("count", "kills", "loners"),
    [
        (2, 3, 2),
        pytest.param(2, 40 * BUDGET, 6, marks=pytest.mark.slow),
        pytest.param(4, 40 * BUDGET, 10, marks=pytest.mark.slow),
    ],
    ids=["two", "two for two minutes", "four for two minutes"],
)
@pytest.mark.thorough
async def test_servers_are_killed_one_after_the_other_and_every_game_ends_right(
    tmp_path: Path, redis: RedisServer, count: int, kills: int, loners: int
) -> None:
    chance = Random(count)
    first = Server(tmp_path, {"STATECRAFT_STORE": redis.url})
    others = [Other(tmp_path / f"other {number}", first, redis) for number in range(1, count)]
    async with running([first, *others]) as servers:
        everybody = await asyncio.to_thread(crowd, servers, loners, count)
        async with playing(everybody):
            for _ in range(kills):
                await asyncio.sleep(chance.uniform(0.5, 3))
                server = chance.choice(servers)
                await asyncio.to_thread(server.kill)
                await asyncio.sleep(chance.uniform(0, 1))
                await asyncio.to_thread(server.start)
        await assert_right(everybody, redis, tmp_path)


# ---------------------------------------------------------------- primaries


async def assert_nothing_lost(scripted: Scripted, lost: int, kills: int) -> None:
    assert lost == 0
    assert scripted.appends > kills * len(scripted.games)


@pytest.mark.parametrize(
    ("games", "kills"), [(20, 1), pytest.param(200, 10 * BUDGET, marks=pytest.mark.slow)], ids=["once", "ten times"]
)
@pytest.mark.thorough
async def test_primaries_are_killed_again_and_again_and_nothing_acknowledged_is_lost(
    tmp_path: Path, games: int, kills: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async with sentinels(tmp_path, 2, min_replicas_to_write=1) as watched:

        async def kill(scripted: Scripted) -> None:
            for _ in range(kills):
                dead = await watched.primary()
                dead.kill()
                await scripted.moved(len(scripted.games))
                assert await watched.primary() is not dead
                await dead.start()
                await watched.settled(2)

        async with redis_store(watched.url, "replicated 1", PATIENCE) as store:
            scripted, lost = await through(store, games, kill)
    with capsys.disabled():
        print(f"\n{kills} primaries killed: {scripted.appends} appends, {scripted.unknown} unknown, {lost} lost")
    await assert_nothing_lost(scripted, lost, kills)


@pytest.mark.thorough
async def test_a_node_is_added_and_takes_slots_over_while_games_are_played(tmp_path: Path) -> None:
    async with cluster(tmp_path, min_replicas_to_write=1) as whole:

        async def grow(scripted: Scripted) -> None:
            added = await whole.add(tmp_path)
            for number in sorted({game[0] for game in scripted.games})[:4]:
                await move_slot(whole, slot_of(b"p%03d" % number), added)
            await move_slot(whole, slot_of(b"ledger"), added)
            # The scripts are missing there, and are brought by whoever comes first.
            assert await added("DBSIZE") > 0

        async with redis_store(whole.url, "replicated 1", PATIENCE) as store:
            scripted, lost = await through(store, 20, grow)
            assert lost == 0
            assert (await RedisLedger(store).head()).size == 0
            assert all(len(scripted.acknowledged[game]) > 2 for game in scripted.games)


@pytest.mark.slow
async def test_what_a_new_primary_lacks_is_put_back_by_whoever_wrote_it(tmp_path: Path) -> None:
    async with sentinels(tmp_path, 1) as watched:
        primary, replica = watched.servers
        async with redis_store(watched.url, "fsync", PATIENCE) as store:
            log = RecentLog(RedisLog(store))
            store.on_join(log.suspect)
            scripted = Scripted(log, games(20))
            heads = {}
            for game in scripted.games:
                heads[game] = await log.append(game, origin(game), Batch(extend(origin(game), [b"a"])))
            replica.kill()
            for game, head in heads.items():
                events = extend(head, [b"b", b"c"])
                await log.append(game, head, Batch(events, (b"told",)))
                scripted.acknowledged[game] = list(events)
            primary.kill()
            await replica.start()
            with anyio.fail_after(4 * wait_seconds_max):
                while await watched.primary() is primary:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert await scripted.lost() == 0
            assert log.tally.put_back >= len(scripted.games)
            for number in {game[0] for game in scripted.games}:
                assert [entry.body for entry in await log.outbox(number)] == [b"told"]
