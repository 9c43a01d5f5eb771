"""What is promised is enforced: where Redis isn't set so a server refuses to start, and says what to change."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from events.chain import extend, origin
from events.log import Batch, Unknown
from events.redis_address import BadAddress, Credentials, Place, address
from events.redis_connection import Refused
from events.redis_durability import BadDurability, Facts, durability, findings, refusal
from events.redis_log import RedisLog
from events.redis_store import RedisStore
from events.redis_topology import Patience
from server.cli import command
from tests.redis_servers import RedisServer, Watched, redis_server, sentinels
from tests.redis_stores import redis_store

pytestmark = pytest.mark.anyio

GAME = bytes(16)
SHORT = Patience(connect_seconds_max=2)
WELL = Facts(
    (7, 0, 15),
    "master",
    {
        "maxmemory": "1000",
        "maxmemory-policy": "noeviction",
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        "min-replicas-to-write": "2",
        "min-replicas-max-lag": "10",
    },
    replicas=2,
    waitaof=True,
)


@pytest.mark.parametrize("text", ["memory", "fsync", "replicated 1", "replicated 2 fsync"])
def test_a_durability_is_read_and_said_in_the_same_words(text: str) -> None:
    assert str(durability(text)) == text
    assert durability(f"  {text.upper()} ") == durability(text)


@pytest.mark.parametrize(
    "text", ["", "always", "replicated", "replicated 0", "replicated -1", "replicated ²", "fsync 1"]
)
def test_what_is_no_durability_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadDurability, match="replicated N fsync"):
        durability(text)


@pytest.mark.parametrize("text", ["memory", "fsync", "replicated 1", "replicated 2", "replicated 2 fsync"])
def test_a_server_that_is_set_well_can_promise_everything(text: str) -> None:
    assert refusal(findings(durability(text), WELL)) is None


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("memory", "maxmemory-policy", "allkeys-lru"),
        ("fsync", "maxmemory-policy", "volatile-ttl"),
        ("fsync", "appendonly", "no"),
        ("fsync", "appendfsync", "everysec"),
        ("fsync", "no-appendfsync-on-rewrite", "yes"),
        ("replicated 2", "min-replicas-to-write", "1"),
        ("replicated 1", "min-replicas-max-lag", "0"),
        ("replicated 1 fsync", "appendonly", "no"),
    ],
)
def test_one_wrong_setting_is_refused_by_its_name(text: str, name: str, value: str) -> None:
    wrong = replace(WELL, config={**WELL.config, name: value})
    why = refusal(findings(durability(text), wrong))
    assert why is not None
    assert f"{name} is {value}: set {name} " in why
    missing = {key: each for key, each in WELL.config.items() if key != name}
    assert name in (refusal(findings(durability(text), replace(WELL, config=missing))) or "")


@pytest.mark.parametrize(
    ("facts", "text", "why"),
    [
        (replace(WELL, version=(6, 2, 9)), "memory", "6.2.9"),
        (replace(WELL, role="replica"), "memory", "primary"),
        (replace(WELL, replicas=1), "replicated 2", "replicas connected is 1"),
        (replace(WELL, waitaof=False), "replicated 1 fsync", "WAITAOF"),
    ],
)
def test_what_no_setting_can_mend_is_refused_too(facts: Facts, text: str, why: str) -> None:
    assert why in (refusal(findings(durability(text), facts)) or "")


# ---------------------------------------------------------------- addresses


def test_addresses_are_read_in_all_their_forms() -> None:
    one = address("redis://me:p%40ss@db.example:7000/3")
    assert (one.kind, one.places, one.credentials) == (
        "server",
        (Place("db.example", 7000),),
        Credentials("me", "p@ss", 3),
    )
    assert "p@ss" not in f"{one} {one!r}"
    watched = address("rediss+sentinel://:pw@a,b:27000,[::1]/main?sentinel_password=x")
    assert watched.places == (Place("a", 26379), Place("b", 27000), Place("::1", 26379))
    assert (watched.name, watched.credentials.tls, watched.sentinel) == ("main", True, Credentials(None, "x", 0, True))
    assert address("redis+cluster://a:1,b:2").places == (Place("a", 1), Place("b", 2))
    assert str(address("redis+cluster://a:1,b:2")) == "redis+cluster://a:1,b:2"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://a",
        "redis+other://a",
        "redis+://a",
        "redis://",
        "redis://a,b",
        "redis://a:port",
        "redis://a:99999",
        "redis://a/x",
        "redis://a?db=1",
        "redis+cluster://a/1",
        "redis+sentinel://a",
        "redis+sentinel://a/x/y",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        address(url)


# ---------------------------------------------------------------- real servers


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


@pytest.fixture(scope="module")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watched]:
    async with sentinels(tmp_path_factory.mktemp("sentinels"), min_replicas_to_write=1) as watched:
        yield watched


@pytest.mark.parametrize(
    ("name", "value"), [("maxmemory-policy", "allkeys-lru"), ("appendfsync", "everysec"), ("appendonly", "no")]
)
async def test_a_server_that_can_not_keep_the_promise_is_not_written_to(
    server: RedisServer, name: str, value: str
) -> None:
    await server("CONFIG", "SET", name, value)
    with pytest.raises(Refused, match=name):
        await RedisStore.open(address(server.url), durability("fsync"), SHORT)
    assert await server("KEYS", "*") == []


async def test_a_setting_that_was_weakened_later_is_seen_at_the_next_connection(server: RedisServer) -> None:
    async with redis_store(server.url, patience=Patience(wait_seconds_max=0.5)) as store:
        log = RedisLog(store)
        head = await log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"])))
        await server("CONFIG", "SET", "appendfsync", "everysec")
        await server("CLIENT", "KILL", "TYPE", "normal")
        await server("CLIENT", "KILL", "TYPE", "pubsub")
        with pytest.raises(Unknown, match=r"appendfsync|gone"):
            await log.append(GAME, head, Batch(extend(head, [b"b"])))
        with pytest.raises(Unknown, match="appendfsync"):
            await log.append(GAME, head, Batch(extend(head, [b"b"])))
        await server("CONFIG", "SET", "appendfsync", "always")
        assert await log.head(GAME) == head


async def test_a_replica_is_not_taken_for_a_primary(watched: Watched) -> None:
    with pytest.raises(Refused, match="primary"):
        await RedisStore.open(address(watched.servers[1].url), durability("memory"), SHORT)


async def test_what_replicas_do_not_confirm_is_unknown_and_shown_to_nobody(watched: Watched) -> None:
    primary, replica = watched.servers
    async with redis_store(primary.url, "replicated 1", Patience(confirm_seconds_max=0.5, wait_seconds_max=2)) as store:
        log = RedisLog(store)
        told: list[bytes] = []
        log.listen(lambda game, head, events: told.extend(event.body for event in events))
        head = await log.append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"])))
        assert replica.process is not None
        replica.process.send_signal(signal.SIGSTOP)  # it stands still, and its connection stays
        try:
            with pytest.raises(Unknown):
                await log.append(GAME, head, Batch(extend(head, [b"b"])))
            with pytest.raises(TimeoutError):
                await log.read(GAME)
            assert told == [b"a"]
        finally:
            replica.process.send_signal(signal.SIGCONT)
        await watched.settled(1)
    async with redis_store(primary.url, "replicated 1") as store:
        assert [event.body for event in await RedisLog(store).read(GAME)] == [b"a", b"b"]


async def test_on_a_valkey_a_write_waits_for_the_disks_of_its_replicas(tmp_path: Path) -> None:
    slow = {"appendfsync": "everysec", "min_replicas_to_write": 1, "repl_diskless_sync_delay": 0}
    async with redis_server(tmp_path / "0", "valkey", **slow) as primary:
        with pytest.raises(Refused, match="replicas connected is 0"):
            await RedisStore.open(address(primary.url), durability("replicated 1 fsync"), SHORT)
        async with redis_server(tmp_path / "1", "valkey", replicaof=f"127.0.0.1 {primary.port}", **slow):
            patience = Patience(connect_seconds_max=20)
            async with redis_store(primary.url, "replicated 1 fsync", patience) as store:
                head = await RedisLog(store).append(GAME, origin(GAME), Batch(extend(origin(GAME), [b"a"])))
                assert await RedisLog(store).head(GAME) == head
            with pytest.raises(Refused, match="appendfsync"):
                await RedisStore.open(address(primary.url), durability("fsync"), SHORT)


# ---------------------------------------------------------------- the doctor


def doctor(url: str, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "server", "doctor", url, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


async def test_the_doctor_finds_a_good_server_good_and_says_so_plainly(server: RedisServer) -> None:
    code, said = doctor(server.url)
    assert code == 0, said
    assert f"ok\t{server.place}\tappendfsync\talways\n" in said
    assert f"advice\t{server.place}\tmaxmemory\t0\tset maxmemory" in said
    assert "what is stored\tnothing yet" in said
    assert "A server can promise `fsync` here." in said
    async with redis_store(server.url):
        pass
    assert "what is stored\tformat 1, 256 partitions" in doctor(server.url)[1]


async def test_the_doctor_names_each_setting_that_is_to_be_changed(server: RedisServer) -> None:
    await server("CONFIG", "SET", "appendfsync", "everysec")
    await server("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
    code, said = doctor(server.url)
    assert code == 1
    assert "CHANGE" in said
    assert "set appendfsync always" in said
    assert "set maxmemory-policy noeviction" in said
    assert "would refuse to start" in said
    code, said = doctor(server.url, "--durability", "memory")
    assert code == 1
    assert "set appendfsync" not in said


async def test_the_doctor_says_what_it_can_not_reach(server: RedisServer) -> None:
    server.kill()
    code, said = doctor(server.url)
    assert (code, "Not reached" in said) == (2, True)


@pytest.mark.parametrize("words", [["http://nowhere"], ["redis://127.0.0.1", "--durability", "always"]])
def test_the_doctor_says_what_it_can_not_read(words: list[str]) -> None:
    assert CliRunner().invoke(command, ["doctor", *words]).exit_code == 2


async def test_the_doctor_looks_at_sentinels_and_at_who_would_be_promoted(watched: Watched) -> None:
    code, said = doctor(watched.url, "--durability", "replicated 1")
    assert code == 0, said
    assert said.count("\tSentinel\tOK 3 usable Sentinels") == 3
    assert "replica-priority\t100" in said
    assert "replicas connected\t1\n" in said
    code, said = doctor(watched.url, "--durability", "replicated 2")
    assert code == 1
    assert "connect 2 replicas" in said
    assert "set min-replicas-to-write 2" in said
