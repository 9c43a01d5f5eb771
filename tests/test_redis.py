"""The log on Redis when things go wrong: what is torn, lost, full, missing or late never costs or doubles an event."""

import asyncio
import contextlib
import datetime
import ipaddress
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from events.chain import Head, Stored, check, extend, origin
from events.entries import encode
from events.ledger import Copy, Leaf, closing, opening
from events.log import PARTITIONS, Batch, Conflict, LetGo, Unknown, outbox_link, outbox_origin
from events.merkle import EMPTY, Node, leaf_hash
from events.redis_address import address
from events.redis_connection import Value
from events.redis_durability import durability
from events.redis_ledger import CHUNK_NODES, RedisLedger
from events.redis_log import PAGE, RedisLog
from events.redis_store import BadStore, RedisStore
from events.redis_topology import Patience, Unreachable
from server.sequencer import Sequencer
from tests import leaves
from tests.redis_servers import RedisServer, redis_server
from tests.redis_stores import redis_store
from tests.running import free_port, wait_seconds_max
from tests.wire import wire

pytestmark = pytest.mark.anyio

GAME = bytes(range(16))
SHORT = Patience(connect_seconds_max=2, reply_seconds_max=1, wait_seconds_max=20, look_seconds=0.2)


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The loop that servers run on; the contract tests run on the standard library's."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with redis_server(tmp_path / "redis") as server:
        yield server


def game(number: int) -> bytes:
    return bytes([number % PARTITIONS]) + number.to_bytes(15, "big")


def batch(head: Head, *bodies: bytes, outbox: tuple[bytes, ...] = (), wait_ms: int | None = None) -> Batch:
    return Batch(extend(head, bodies), outbox, wait_ms)


async def once(log: RedisLog, game: bytes, body: bytes) -> int:
    """One command, as a server does it: after trouble read again, and look whether it is stored after all.

    How often nobody knew."""
    unknown = 0
    while True:
        events = await log.read(game)
        if any(event.body == body for event in events):
            return unknown
        head = events[-1].head if events else origin(game)
        try:
            await log.append(game, head, batch(head, body, outbox=(body,), wait_ms=10**6))
        except Conflict:
            continue
        except Unknown:
            unknown += 1
            continue
        return unknown


async def assert_once(log: RedisLog, games: list[bytes], count: int) -> None:
    """Each game has each command once, in order, chained; each outbox the same commands, chained."""
    for each in games:
        events = await log.read(each)
        assert [event.body for event in events] == [b"%d" % number for number in range(count)]
        assert check(origin(each), events) is None
    for number in {each[0] for each in games}:
        entries = await log.outbox(number, limit=100_000)
        hash_ = outbox_origin(number)
        for position, entry in enumerate(entries, 1):
            hash_ = outbox_link(hash_, entry.game, entry.body)
            assert (entry.position, entry.hash) == (position, hash_)
        for each in games:
            if each[0] == number:
                told = [entry.body for entry in entries if entry.game == each]
                assert told == [b"%d" % number for number in range(count)]


# ---------------------------------------------------------------- the wire


@pytest.mark.parametrize("seed", range(2))
async def test_however_the_wire_is_cut_each_command_is_one_event(server: RedisServer, seed: int) -> None:
    chance = Random(seed)
    async with wire(server.place) as between, redis_store(between.url, patience=SHORT) as store:
        log, games = RedisLog(store), [game(number) for number in range(8)]
        harmed, moved, unknown = asyncio.Event(), asyncio.Event(), 0

        async def harm() -> None:
            while unknown < 8:
                moved.clear()
                await moved.wait()
                await asyncio.sleep(chance.uniform(0, 0.02))
                match chance.randrange(4):
                    case 0:
                        between.cut()
                    case 1:
                        between.delay_seconds = chance.choice((0, 0.01))
                    case _:
                        between.pass_bytes = chance.randrange(1, 400)  # in the middle of a reply
            between.pass_bytes, between.delay_seconds = None, 0
            harmed.set()

        async def play(each: bytes) -> int:
            nonlocal unknown
            number = 0
            while not harmed.is_set():
                unknown += await once(log, each, b"%d" % number)
                number += 1
                moved.set()
            return number

        with anyio.fail_after(wait_seconds_max):
            harming = asyncio.create_task(harm())
            played = await asyncio.gather(*map(play, games))
            await harming
        for each, count in zip(games, played, strict=True):
            await assert_once(log, [each], count)


async def test_an_append_whose_answer_is_eaten_is_unknown_and_stored_once(server: RedisServer) -> None:
    async with wire(server.place) as between, redis_store(between.url, patience=SHORT) as store:
        log = RedisLog(store)
        head = await log.append(GAME, origin(GAME), batch(origin(GAME), b"a"))
        between.swallow = True
        with pytest.raises(Unknown):
            await log.append(GAME, head, batch(head, b"b"))
        between.swallow = False
        assert [event.body for event in await log.read(GAME)] == [b"a", b"b"]


async def test_nobody_waits_anew_for_a_server_that_others_have_waited_for_in_vain(tmp_path: Path) -> None:
    patience = Patience(connect_seconds_max=1, wait_seconds_max=0.5, late_seconds_max=0.125)
    async with redis_server(tmp_path) as server, redis_store(server.url, patience=patience) as store:
        log = RedisLog(store)
        server.kill()
        with pytest.raises(Unreachable, match=r"for 0\.5 s: "):
            await log.head(GAME)
        with pytest.raises(Unreachable, match=r"for 0\.125 s: "):
            await log.head(GAME)
        await server.start()
        with anyio.fail_after(wait_seconds_max):
            while True:
                with contextlib.suppress(Unreachable):
                    assert await log.head(GAME) == origin(GAME)
                    break
        server.kill()
        # The next time is another time.
        with pytest.raises(Unreachable, match=r"for 0\.[45]\d* s: "):
            await log.head(GAME)


async def test_an_append_that_was_never_sent_is_unknown_in_time_and_not_stored(server: RedisServer) -> None:
    patience = Patience(connect_seconds_max=1, reply_seconds_max=1, wait_seconds_max=0.5)
    async with redis_store(server.url, patience=patience) as store:
        log = RedisLog(store)
        head = await log.append(GAME, origin(GAME), batch(origin(GAME), b"a"))
        server.kill()
        with pytest.raises(Unknown):
            await log.append(GAME, head, batch(head, b"b"))
        with pytest.raises(Unknown):
            await log.append(GAME, head, batch(head, b"c"))
        with pytest.raises(Unreachable):
            await log.read(GAME)
        await server.start()
        with anyio.fail_after(wait_seconds_max):
            while True:
                try:
                    assert [event.body for event in await log.read(GAME)] == [b"a"]
                    break
                except Unreachable:
                    continue
        assert (await log.append(GAME, head, batch(head, b"b"))).version == 2


async def test_a_storm_of_cancellations_crosses_no_replies(server: RedisServer) -> None:
    chance = Random(7)
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        games = [game(number) for number in range(150)]

        async def ask(each: bytes) -> None:
            head = await log.head(each)
            assert head in {origin(each), *(event.head for event in await log.read(each))}
            if head.version < 20:
                try:
                    made = await log.append(each, head, batch(head, each + b"%d" % head.version, outbox=(each,)))
                except Conflict:
                    return
                assert made.version == head.version + 1
            assert all(event.body.startswith(each) for event in await log.read(each))

        for _ in range(8):
            tasks = [asyncio.create_task(ask(each)) for each in games for _ in range(2)]
            for task in tasks:
                if chance.random() < 0.5:
                    asyncio.get_running_loop().call_later(chance.uniform(0, 0.05), task.cancel)
            for answer in await asyncio.gather(*tasks, return_exceptions=True):
                assert answer is None or isinstance(answer, asyncio.CancelledError), repr(answer)
        for each in games:
            events = await log.read(each)
            assert check(origin(each), events) is None
            assert all(event.body.startswith(each) for event in events)


async def test_a_thousand_games_at_once_are_no_problem(server: RedisServer) -> None:
    async with redis_store(server.url) as store:
        log = RedisLog(store)

        async def play(each: bytes) -> None:
            for number in range(3):
                await once(log, each, b"%d" % number)

        games = [game(number) for number in range(1000)]
        await asyncio.gather(*map(play, games))
        await assert_once(log, games, 3)


# ---------------------------------------------------------------- the server


async def test_a_script_that_the_server_forgot_is_brought_again(server: RedisServer) -> None:
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        head = await log.append(GAME, origin(GAME), batch(origin(GAME), b"a"))
        await server("SCRIPT", "FLUSH")
        head = await log.append(GAME, head, batch(head, b"b"))
        await server("SCRIPT", "FLUSH")
        assert list(await log.deadlines()) == []
        assert [event.body for event in await log.read(GAME)] == [b"a", b"b"]


async def test_where_memory_runs_out_an_append_is_stored_whole_or_not_at_all(server: RedisServer) -> None:
    """Every length of the last append is tried: where it hits the limit, nothing of it is there."""
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        await server("CONFIG", "SET", "maxmemory", 6_000_000)
        number, refusals = 0, list[str]()
        while len(refusals) < 20:
            number += 1
            each = game(number)
            appended = batch(origin(each), *[bytes(3000)] * (1 + number % 30), outbox=(each, each), wait_ms=10**6)
            try:
                await log.append(each, origin(each), appended)
            except Unknown as error:
                refusals.append(str(error))
        assert number > 100, "most of them fitted"
        assert all("OOM" in refusal for refusal in refusals)
        await server("CONFIG", "SET", "maxmemory", 0)
        for tried in range(1, number + 1):
            each = game(tried)
            events = await log.read(each)
            assert len(events) in (0, 1 + tried % 30)
            whole = bool(events)
            assert (each in await log.games(each[:-1] + bytes([each[-1] - 1]) if each[-1] else b"", 10)) == whole
            entries = [entry for entry in await log.outbox(each[0], limit=10_000) if entry.game == each]
            assert len(entries) == 2 * whole
            assert (await server("ZSCORE", b"{p%03d}:deadlines" % each[0], each) is not None) == whole


async def test_a_key_of_another_kind_in_the_way_stops_an_append_before_its_first_write(server: RedisServer) -> None:
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        for name in (b"games", b"deadlines", b"outbox", b"outbox:head", b"game:" + GAME):
            key = b"{p000}:" + name
            await server("HSET", key, "a", "b")
            with pytest.raises(Unknown):
                await log.append(GAME, origin(GAME), batch(origin(GAME), b"a", outbox=(b"x",), wait_ms=10**6))
            assert await server("KEYS", "{p000}:*") == [key]
            await server("DEL", key)
        await server("SET", "{p000}:gone", "a")
        with pytest.raises(Unknown):
            await log.append(GAME, origin(GAME), batch(origin(GAME), b"a"))
        await server("DEL", "{p000}:gone")
        head = await log.append(GAME, origin(GAME), batch(origin(GAME), b"a", outbox=(b"x",)))
        for name in (b"deadlines", b"gone"):
            await server("SET", b"{p000}:" + name, "a")
            with pytest.raises(Unknown):
                await log.let_go(GAME, head)
            await server("DEL", b"{p000}:" + name)
        assert [event.body for event in await log.read(GAME)] == [b"a"]


async def test_in_full_memory_games_and_outbox_entries_still_go_and_of_a_game_a_head_is_left(
    server: RedisServer,
) -> None:
    each, before, player = b"g" * 16, b"h" * 16, b"p" * 16
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        await log.claim(player, "states", before)
        await log.claim(player, "states", each, before)
        head = await log.append(each, origin(each), batch(origin(each), b"a", outbox=(b"x", b"y"), wait_ms=10**6))
        assert len(await server("KEYS", b"*" + each)) == 2
        await server("CONFIG", "SET", "maxmemory", 1)
        with pytest.raises(Unknown, match="OOM"):
            await log.append(each, head, batch(head, b"b"))
        await log.let_go(each, head)
        await log.trim(each[0], 2)
        await server("CONFIG", "SET", "maxmemory", 0)
        with pytest.raises(Conflict):
            await log.append(each, head, batch(head, b"b"))
        assert await log.head(each) == head
        assert [entry.body for entry in await log.outbox(each[0])] == [b"y"]
        left = {b"{p103}:gone", b"{p103}:outbox", b"{p103}:outbox:head"}
        assert set(await server("KEYS", "{p103}:*")) == left
        assert await server("KEYS", "*:befores:*") == []
        assert await log.claimed(player, "states") == each


class LettingGoAfterOnePage(RedisStore):
    """A store in which somebody else lets the game go as soon as a reader has its first page."""

    head: Head | None = None

    async def read(self, tag: bytes, *command: Value) -> Any:
        reply = await super().read(tag, *command)
        if command[0] == "XRANGE" and self.head is not None:
            head, self.head = self.head, None
            await RedisLog(self).let_go(GAME, head)
        return reply


async def test_a_game_that_goes_while_it_is_read_is_not_taken_for_a_shorter_one(server: RedisServer) -> None:
    store = await LettingGoAfterOnePage.open(address(server.url), durability("fsync"))
    log = RedisLog(store)
    bodies = [b"%d" % number for number in range(PAGE + 1)]
    head = await log.append(GAME, origin(GAME), batch(origin(GAME), *bodies))
    assert len(await log.read(GAME)) == PAGE + 1
    store.head = head
    with pytest.raises(LetGo):
        await log.read(GAME)
    await store.close()


async def test_versions_are_compared_as_they_are_and_not_as_doubles(server: RedisServer) -> None:
    """2^53 and 2^53 + 1 are one number to Lua."""
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        last = 2**53 - 1
        await server("XADD", b"{p000}:game:" + GAME, f"{last}-0", "h", bytes(32), "b", "body")
        head = Head(last, bytes(32))
        assert await log.head(GAME) == head
        for _ in range(4):
            for wrong in (Head(head.version - 1, head.hash), Head(head.version + 1, head.hash)):
                with pytest.raises(Conflict):
                    await log.append(GAME, wrong, batch(wrong, b"no"))
            head = await log.append(GAME, head, batch(head, b"yes"))
        events = await log.read(GAME, last)
        assert [event.version for event in events] == [last + 1, last + 2, last + 3, last + 4]


async def test_what_is_stored_outlives_the_kill_of_the_server(server: RedisServer) -> None:
    async with redis_store(server.url, patience=SHORT) as store:
        log = RedisLog(store)
        heads = {game(number): origin(game(number)) for number in range(20)}

        async def play(each: bytes) -> None:
            while True:
                appended = batch(heads[each], b"body", outbox=(b"told",), wait_ms=10**6)
                try:
                    heads[each] = await log.append(each, heads[each], appended)
                except (Unknown, Conflict):
                    return

        playing = [asyncio.create_task(play(each)) for each in heads]
        await asyncio.sleep(0.3)
        server.kill()
        await asyncio.gather(*playing)
        await server.start()
        for each, head in heads.items():
            events = await log.read(each)
            assert head.version > 0
            assert events[head.version - 1].head == head, "it was acknowledged"
            assert check(origin(each), events) is None


@pytest.mark.slow
async def test_a_ledger_longer_than_a_chunk_of_nodes_is_the_same_tree(server: RedisServer) -> None:
    """The two longest levels are cut between values; a restart finds all of them."""
    async with redis_store(server.url) as store:
        ledger = RedisLedger(store)
        head, expected, all_nodes = EMPTY, EMPTY, dict[Node, bytes]()
        for first in range(0, CHUNK_NODES + 3000, 3000):
            leaves = tuple(Leaf(b"%d" % number, b"leaf %d" % number) for number in range(first, first + 3000))
            head = await ledger.append(head, Copy(leaves))
            expected, finished = expected.extend(leaf_hash(leaf.body) for leaf in leaves)
            all_nodes |= finished
            assert head == expected
        assert await ledger.head() == head
        edge = [(0, CHUNK_NODES - 1), (0, CHUNK_NODES), (0, head.size - 1), (1, CHUNK_NODES // 2), (16, 0), (5, 2047)]
        assert await ledger.hashes(edge) == [all_nodes[node] for node in edge]
        with pytest.raises(KeyError):
            await ledger.hashes([(0, head.size)])
        await ledger.restart()
        assert await ledger.head() == EMPTY
        with pytest.raises(KeyError):
            await ledger.hashes([(0, 0)])
        assert set(await server("KEYS", "{ledger}*")) == set()


async def test_two_sequencers_on_a_torn_wire_enter_each_leaf_once(server: RedisServer) -> None:
    async with (
        wire(server.place) as between,
        redis_store(between.url, patience=SHORT) as torn,
        redis_store(server.url) as whole,
    ):
        log = RedisLog(whole)
        games = [game(number) for number in range(40)]
        for each in games:
            told = tuple(encode(entry) for entry in (leaves.opening(each), leaves.closing(each)))
            await log.append(each, origin(each), batch(origin(each), b"a", outbox=told))

        async def copy(store: RedisStore) -> None:
            await Sequencer(RedisLog(store), RedisLedger(store), leaves_max=7).copy_all()

        async def harm() -> None:
            for _ in range(10):
                between.pass_bytes = 2000
                await asyncio.sleep(0.02)
            between.pass_bytes = None

        with anyio.fail_after(wait_seconds_max):
            await asyncio.gather(copy(torn), copy(whole), harm())
        ledger = RedisLedger(whole)
        assert (await ledger.head()).size == 80
        for each in games:
            opened, closed = await ledger.find(opening(each)), await ledger.find(closing(each))
            assert opened is not None
            assert closed is not None
            assert opened < closed


async def test_deadlines_are_set_and_called_by_the_clock_of_the_server(server: RedisServer) -> None:
    async with redis_store(server.url) as store:
        log = RedisLog(store)
        seconds, microseconds = map(int, await server("TIME"))
        before_ms = seconds * 1000 + microseconds // 1000
        head = await log.append(GAME, origin(GAME), batch(origin(GAME), b"a", wait_ms=40))
        seconds, microseconds = map(int, await server("TIME"))
        after_ms = seconds * 1000 + microseconds // 1000
        with anyio.fail_after(wait_seconds_max):
            while not (past := await log.deadlines()):
                continue
        assert before_ms + 40 <= past[0].at_ms <= after_ms + 40
        time_up = Batch(extend(head, [b"time up"]), expired_ms=past[0].at_ms)
        assert (await log.append(GAME, head, time_up)).version == 2
        await log.beat()
        assert await log.silence(before_ms, before_ms) == 0


# ---------------------------------------------------------------- several servers


async def test_every_server_hears_every_append_in_the_games_order(server: RedisServer) -> None:
    async with redis_store(server.url) as one, redis_store(server.url) as two:
        logs = (RedisLog(one), RedisLog(two))
        heard: list[dict[bytes, list[Stored]]] = [{}, {}]
        for log, told in zip(logs, heard, strict=True):

            def listener(
                each: bytes, before: Head, events: tuple[Stored, ...], told: dict[bytes, list[Stored]] = told
            ) -> None:
                assert before == (told[each][-1].head if each in told else origin(each))
                told.setdefault(each, []).extend(events)

            log.listen(listener)

        async def play(log: RedisLog, each: bytes) -> None:
            for number in range(20):
                await once(log, each, b"%d %d" % (id(log), number))

        games = [game(number) for number in range(10)]
        await asyncio.gather(*(play(log, each) for log in logs for each in games))
        with anyio.fail_after(wait_seconds_max):
            while any(sum(map(len, told.values())) < 400 for told in heard):
                await log.head(GAME)  # what was published before it is heard before its answer, or right after
        for each in games:
            assert heard[0][each] == heard[1][each] == list(await logs[0].read(each))


async def test_after_a_cut_a_server_hears_again(server: RedisServer) -> None:
    async with wire(server.place) as between, redis_store(between.url) as cut, redis_store(server.url) as other:
        news: asyncio.Queue[bytes] = asyncio.Queue()
        RedisLog(cut).listen(lambda each, before, events: news.put_nowait(each))
        log = RedisLog(other)
        await log.append(game(1), origin(game(1)), batch(origin(game(1)), b"a"))
        with anyio.fail_after(wait_seconds_max):
            assert await news.get() == game(1)
            between.cut()
            number = 1
            while news.empty():
                number += 1
                await log.append(game(number), origin(game(number)), batch(origin(game(number)), b"a"))
                await asyncio.sleep(0.01)


async def test_outboxes_that_two_servers_fill_stay_chained(server: RedisServer) -> None:
    async with redis_store(server.url) as one, redis_store(server.url) as two:
        games = [bytes([9]) + number.to_bytes(15, "big") for number in range(20)]

        async def play(log: RedisLog, each: bytes) -> None:
            for number in range(5):
                await once(log, each, b"%d" % number)

        logs = (RedisLog(one), RedisLog(two))
        await asyncio.gather(*(play(logs[number % 2], each) for number, each in enumerate(games)))
        await assert_once(logs[0], games, 5)


# ---------------------------------------------------------------- what is refused at the start


async def test_a_store_of_another_format_is_refused(server: RedisServer) -> None:
    async with redis_store(server.url):
        pass
    await server("HSET", "{statecraft}:store", "partitions", 128)
    with pytest.raises(BadStore, match="128"):
        await RedisStore.open(address(server.url), durability("fsync"))


async def test_a_server_that_is_not_there_is_said_to_be_unreachable(server: RedisServer) -> None:
    server.kill()
    with pytest.raises(Unreachable, match=str(server.port)):
        await RedisStore.open(address(server.url), durability("fsync"), Patience(connect_seconds_max=2))


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1, and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


async def test_over_tls_a_server_is_believed_only_with_a_certificate_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path)
    tls: dict[str, Any] = {
        "tls_port": free_port(),
        "tls_cert_file": certificate,
        "tls_key_file": key,
        "tls_auth_clients": "no",
    }
    async with redis_server(tmp_path / "redis", "redis", **tls):
        url = f"rediss://127.0.0.1:{tls['tls_port']}"
        with pytest.raises(Unreachable, match="certificate"):
            await RedisStore.open(address(url), durability("fsync"), Patience(connect_seconds_max=2))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with redis_store(url) as store:
            assert (await RedisLog(store).append(GAME, origin(GAME), batch(origin(GAME), b"a"))).version == 1


async def test_a_password_opens_the_server_and_a_wrong_one_does_not(server: RedisServer) -> None:
    await server("CONFIG", "SET", "requirepass", "se/cr@t")
    async with redis_store(f"redis://:se%2Fcr%40t@{server.place}") as store:
        assert "se" not in str(store.address)
    for wrong in (f"redis://:other@{server.place}", server.url):
        with pytest.raises(Exception, match=r"WRONGPASS|NOAUTH"):
            await RedisStore.open(address(wrong), durability("fsync"), Patience(connect_seconds_max=2))
