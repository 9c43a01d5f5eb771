"""Primaries that die and slots that move: at the promise that says so nothing acknowledged is lost, and elsewhere the
count lost is printed while the log stays consistent."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from events.chain import Head, Stored, check, extend, origin
from events.log import Batch, Conflict, Log, Unknown, outbox_link, outbox_origin
from events.redis_ledger import RedisLedger
from events.redis_log import RedisLog
from events.redis_store import RedisStore
from events.redis_topology import Patience, Unreachable, slot_of
from tests.redis_servers import Cluster, RedisServer, cluster, sentinels
from tests.redis_stores import redis_store
from tests.running import wait_seconds_max

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PATIENCE = Patience(reply_seconds_max=3, confirm_seconds_max=1, wait_seconds_max=20, look_seconds=0.3)
FAILOVER_SECONDS_MAX = 4 * wait_seconds_max


@dataclass
class Scripted:
    """Games that are played on through whatever happens, and what was acknowledged of them."""

    log: Log
    games: list[bytes]
    acknowledged: dict[bytes, list[Stored]] = field(default_factory=dict)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    appends: int = 0
    unknown: int = 0

    async def play(self) -> None:
        await asyncio.gather(*map(self._play, self.games))

    async def _play(self, game: bytes) -> None:
        number = 0
        while not self.over.is_set():
            try:
                events = await self.log.read(game)
                head = events[-1].head if events else origin(game)
                body = b"%d %d" % (number, head.version)
                appended = Batch(extend(head, [body, b"and"]), (body,) if number % 5 == 0 else (), wait_ms=10**7)
                await self.log.append(game, head, appended)
            except Conflict:
                continue
            except (Unknown, Unreachable):
                self.unknown += 1
                continue
            self.acknowledged.setdefault(game, []).extend(appended.events)
            self.appends += 1
            number += 1

    async def moved(self, appends: int) -> None:
        """Wait until so many more appends were acknowledged."""
        goal = self.appends + appends
        with anyio.fail_after(FAILOVER_SECONDS_MAX):
            while self.appends < goal:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def _read(self, game: bytes) -> Sequence[Stored]:
        with anyio.fail_after(FAILOVER_SECONDS_MAX):
            while True:
                with contextlib.suppress(Unreachable):
                    return await self.log.read(game)

    async def lost(self) -> int:
        """How many acknowledged events are gone. Whatever is there is chained, outboxes too."""
        lost = 0
        for game in self.games:
            events = await self._read(game)
            assert check(origin(game), events) is None
            heads = {event.head for event in events}
            lost += sum(event.head not in heads for event in self.acknowledged.get(game, []))
        for number in {game[0] for game in self.games}:
            hash_ = outbox_origin(number)
            for position, entry in enumerate(await self.log.outbox(number, limit=100_000), 1):
                hash_ = outbox_link(hash_, entry.game, entry.body)
                assert (entry.position, entry.hash) == (position, hash_)
        return lost


def games(count: int) -> list[bytes]:
    return [bytes([number * 37 % 256]) + number.to_bytes(15, "big") for number in range(count)]


async def through(store: RedisStore, count: int, harm: Callable[[Scripted], Awaitable[None]]) -> tuple[Scripted, int]:
    scripted = Scripted(RedisLog(store), games(count))
    heard: list[bytes] = []
    scripted.log.listen(lambda game, head, events: heard.append(game))
    playing = asyncio.create_task(scripted.play())
    try:
        await scripted.moved(count)
        await harm(scripted)
        heard.clear()
        await scripted.moved(2 * count)
        assert heard, "it is heard again what others append"
    finally:
        scripted.over.set()
        await playing
    return scripted, await scripted.lost()


@pytest.mark.parametrize("promise", ["memory", "fsync", "replicated 1"])
async def test_sentinels_put_another_primary_in_the_place_of_a_killed_one(
    tmp_path: Path, promise: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replicas = 2 if promise == "replicated 1" else 1
    least = 1 if promise == "replicated 1" else 0
    async with sentinels(tmp_path, replicas, min_replicas_to_write=least) as watched:

        async def kill(scripted: Scripted) -> None:
            for _ in range(2):
                dead = await watched.primary()
                dead.kill()
                await scripted.moved(len(scripted.games))
                assert await watched.primary() is not dead
                await dead.start()
                await watched.settled(replicas)

        async with redis_store(watched.url, promise, PATIENCE) as store:
            scripted, lost = await through(store, 50, kill)
    with capsys.disabled():
        print(f"\n{promise}: {scripted.appends} appends, {scripted.unknown} unknown, {lost} acknowledged events lost")
    if promise == "replicated 1":
        assert lost == 0


async def test_a_cluster_goes_on_when_one_of_its_primaries_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with cluster(tmp_path, min_replicas_to_write=1, cluster_allow_replica_migration="no") as whole:

        async def kill(scripted: Scripted) -> None:
            slot = slot_of(b"p%03d" % scripted.games[0][0])
            dead = await whole.holder(slot)
            dead.kill()
            with anyio.fail_after(FAILOVER_SECONDS_MAX):
                while await whole.holder(slot) is dead:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await scripted.moved(len(scripted.games))
            await dead.start()
            await whole.settled()
            # All games, those whose primary is another one now as well.
            have = {game: len(events) for game, events in scripted.acknowledged.items()}
            with anyio.fail_after(FAILOVER_SECONDS_MAX):
                while any(len(scripted.acknowledged[game]) == have[game] for game in have):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)

        async with redis_store(whole.url, "replicated 1", PATIENCE) as store:
            scripted, lost = await through(store, 50, kill)
    with capsys.disabled():
        print(f"\ncluster: {scripted.appends} appends, {scripted.unknown} unknown, {lost} acknowledged events lost")
    assert lost == 0


async def move_slot(whole: Cluster, slot: int, to: RedisServer) -> None:
    """As `redis-cli --cluster reshard` does it, key by key, so that appends meet a slot half moved."""
    source = await whole.holder(slot)
    if source is to:
        return
    await to("CLUSTER", "SETSLOT", slot, "IMPORTING", await source("CLUSTER", "MYID"))
    await source("CLUSTER", "SETSLOT", slot, "MIGRATING", await to("CLUSTER", "MYID"))
    while keys := await source("CLUSTER", "GETKEYSINSLOT", slot, 1):
        await source("MIGRATE", "127.0.0.1", to.port, keys[0], 0, 5000)
        await asyncio.sleep(0.005)
    name = await to("CLUSTER", "MYID")
    others = [each for each in whole.servers if each not in (to, source) and (await each("ROLE"))[0] == b"master"]
    for server in (to, source, *others):
        await server("CLUSTER", "SETSLOT", slot, "NODE", name)


async def test_slots_move_while_games_are_played(tmp_path: Path) -> None:
    async with cluster(tmp_path, min_replicas_to_write=1) as whole:

        async def move(scripted: Scripted) -> None:
            for number in sorted({game[0] for game in scripted.games})[:12]:
                slot = slot_of(b"p%03d" % number)
                source = await whole.holder(slot)
                others = [server for server in whole.servers[:3] if server is not source]
                await move_slot(whole, slot, others[number % 2])
            await move_slot(whole, slot_of(b"ledger"), whole.servers[0])

        async with redis_store(whole.url, "replicated 1", PATIENCE) as store:
            scripted, lost = await through(store, 50, move)
            assert lost == 0
            assert (await RedisLedger(store).head()).size == 0
            assert all(len(scripted.acknowledged[game]) > 2 for game in scripted.games)


async def test_a_primary_that_was_cut_off_from_its_replicas_takes_no_append(tmp_path: Path) -> None:
    """Else two servers would go on with the same games."""
    quick = {"min_replicas_to_write": 1, "min_replicas_max_lag": 1}
    async with sentinels(tmp_path, 1, **quick) as watched:
        patience = Patience(confirm_seconds_max=0.5, wait_seconds_max=3)
        game = games(1)[0]
        async with redis_store(watched.servers[0].url, "replicated 1", patience) as store:
            log = RedisLog(store)
            head: Head = await log.append(game, origin(game), Batch(extend(origin(game), [b"a"])))
            for sentinel in watched.sentinels:
                sentinel.kill()
            watched.servers[1].kill()
            for _ in range(3):
                with pytest.raises(Unknown):
                    await log.append(game, head, Batch(extend(head, [b"b"])))


@pytest.mark.parametrize("promise", ["fsync", "replicated 1"])
async def test_what_a_replica_has_not_is_lost_with_the_primary_unless_the_promise_says_otherwise(
    tmp_path: Path, promise: str, capsys: pytest.CaptureFixture[str]
) -> None:
    least = 1 if promise == "replicated 1" else 0
    async with sentinels(tmp_path, 1, min_replicas_to_write=least) as watched:
        primary, replica = watched.servers
        patience = Patience(confirm_seconds_max=0.5, wait_seconds_max=3, look_seconds=0.3)
        async with redis_store(watched.url, promise, patience) as store:
            scripted = Scripted(RedisLog(store), games(20))
            starts = {game: Batch(extend(origin(game), [b"a"])) for game in scripted.games}
            for game, start in starts.items():
                await scripted.log.append(game, origin(game), start)
            replica.kill()

            async def play_on(game: bytes) -> None:
                appended = Batch(extend(starts[game].events[-1].head, [b"b"]))
                try:
                    await scripted.log.append(game, starts[game].events[-1].head, appended)
                except Unknown:
                    return
                scripted.acknowledged[game] = list(appended.events)

            await asyncio.gather(*map(play_on, scripted.games))
            primary.kill()
            await replica.start()
            with anyio.fail_after(FAILOVER_SECONDS_MAX):
                while await watched.primary() is primary:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await primary.start()
            await watched.settled(1)
            lost = await scripted.lost()
            assert {len(await scripted.log.read(game)) for game in scripted.games} <= {0, 1}
    with capsys.disabled():
        print(f"\n{promise}: {len(scripted.acknowledged)} acknowledged while the replica was away, {lost} lost")
    assert (len(scripted.acknowledged), lost) == ((20, 20) if promise == "fsync" else (0, 0))
