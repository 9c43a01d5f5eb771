"""What the SQLite store promises beside the contract: real kills, full disks, second processes, and its own limits."""

import asyncio
import re
import resource
import sqlite3
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from events.chain import Head, check, extend, origin
from events.database import LIMITS, Busy, Database, Newer
from events.log import Batch, Conflict, NotYet, Unknown, partition
from events.sqlite import APPENDS_MAX, SCHEMA, SqliteLog
from events.writer import Limits
from tests.processes import verify
from tests.stores import Clock

pytestmark = pytest.mark.anyio

NOTES = "CREATE TABLE IF NOT EXISTS notes (note TEXT PRIMARY KEY);"
ROOT = Path(__file__).parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.db"


@asynccontextmanager
async def opened(path: Path, limits: Limits = LIMITS) -> AsyncIterator[Database]:
    database = await Database.open(path, [SCHEMA, NOTES], limits)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    async with opened(path) as database:
        yield database


def game(number: int) -> bytes:
    return number.to_bytes(16, "little")


def first(number: int, *bodies: bytes, outbox: tuple[bytes, ...] = (), wait_ms: int | None = None) -> Batch:
    """The first events of a game."""
    return Batch(extend(origin(game(number)), bodies or (b"first %d" % number,)), outbox, wait_ms)


def behind(head: Head, *bodies: bytes, expired_ms: int | None = None) -> Batch:
    return Batch(extend(head, bodies or (b"body",)), expired_ms=expired_ms)


def ask(call: Coroutine[Any, Any, Any]) -> "asyncio.Future[Any]":
    return asyncio.ensure_future(call)


async def answers(calls: "list[asyncio.Future[Any]]") -> list[Any]:
    return await asyncio.gather(*calls, return_exceptions=True)


@asynccontextmanager
async def one_group(database: Database) -> AsyncIterator[None]:
    """What is asked for in here waits, and then goes into one transaction."""
    begun, go = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        begun.set()
        go.wait(20)

    holding = ask(database.write(hold))
    assert await asyncio.to_thread(begun.wait, 20)
    try:
        yield
        for _ in range(3):
            await asyncio.sleep(0)
    finally:
        go.set()
        await holding


async def commits(database: Database) -> list[str]:
    """A list that grows by one with each COMMIT from now on."""
    seen: list[str] = []

    def trace(statement: str) -> None:
        if statement == "COMMIT":
            seen.append(statement)

    await database.write(lambda connection: connection.set_trace_callback(trace))
    seen.clear()
    return seen


def note(text: str) -> Any:
    return lambda connection: connection.execute("INSERT INTO notes VALUES (?)", (text,)).rowcount


def give(number: int) -> Any:
    return lambda connection: number


async def notes(database: Database) -> list[str]:
    rows = await database.read(lambda c: c.execute("SELECT note FROM notes ORDER BY note").fetchall())
    return [text for (text,) in rows]


def wal_bytes(path: Path) -> int:
    return path.with_name(path.name + "-wal").stat().st_size


async def process(*words: str | Path) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.processes", *map(str, words), stdout=PIPE, cwd=ROOT
    )


async def kill(running: Process) -> bytes:
    """What it still had said."""
    running.kill()
    rest, _ = await running.communicate()
    return rest


# ---------------------------------------------------------------- crashes


async def test_after_kill_9_every_acknowledged_event_is_there_and_the_chains_hold(path: Path) -> None:
    acknowledged: list[bytes] = []
    for acks_max in [1, *(Random(5).randint(2, 400) for _ in range(4))]:
        running = await process("append", path)
        assert running.stdout is not None
        for _ in range(acks_max):
            acknowledged.append(await running.stdout.readline())
        acknowledged += (await kill(running)).splitlines(keepends=True)
        async with opened(path) as database:
            log = SqliteLog(database)
            await verify(log)
            stored = {(name, event.head) for name in await log.games() for event in await log.read(name)}
            for line in acknowledged:
                if line.endswith(b"\n"):  # a line torn by the kill says nothing
                    name, version, hash_ = line.decode().split()
                    assert (bytes.fromhex(name), Head(int(version), bytes.fromhex(hash_))) in stored


async def test_every_commit_is_synced(database: Database) -> None:
    def settings(connection: sqlite3.Connection) -> list[Any]:
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]

    assert await database.write(settings) == ["wal", 2]


# ---------------------------------------------------------------- failing commits


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def out_of_reach(path: Path) -> Iterator[None]:
    away = path.rename(path.with_name("away.db"))
    path.mkdir()
    try:
        yield
    finally:
        path.rmdir()
        away.rename(path)


async def test_if_commit_fails_everything_in_the_group_is_unknown_and_nothing_is_forked(
    path: Path, database: Database
) -> None:
    log = SqliteLog(database)
    heads = [await log.append(game(n), origin(game(n)), first(n)) for n in range(10)]
    heard: list[bytes] = []
    log.listen(lambda game, head, events: heard.append(game))
    assert await log.head(game(0)) == heads[0]  # with a reader there, the WAL stays when the writer drops the file
    with files_of_at_most(wal_bytes(path)):
        async with one_group(database):
            calls = [ask(log.append(game(n), heads[n], behind(heads[n]))) for n in range(10)]
            stale = ask(log.append(game(0), origin(game(0)), first(0)))
            other = ask(database.write(note("other")))
        assert [type(outcome) for outcome in await answers([*calls, stale, other])] == [Unknown] * 12
        # Opened anew, and as full as before.
        with pytest.raises(Unknown):
            await log.append(game(0), heads[0], behind(heads[0]))
        with pytest.raises(Unknown):
            await database.write(note("other"))
        # Read again: nothing has changed, and reading works all the time.
        assert [await log.head(game(n)) for n in range(10)] == heads
    assert heard == []
    assert await asyncio.gather(*(log.append(game(n), heads[n], behind(heads[n])) for n in range(10)))
    assert await verify(log) == 20
    assert await notes(database) == []
    assert sorted(heard) == sorted(map(game, range(10)))


async def test_an_insert_that_finds_no_room_takes_the_whole_group_with_it(path: Path, database: Database) -> None:
    log = SqliteLog(database)
    head = await log.append(game(1), origin(game(1)), first(1))

    def fill(connection: sqlite3.Connection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

    await database.write(fill)
    assert await log.head(game(1)) == head  # with a reader there, the WAL stays when the writer drops the file
    wal_bytes_before = wal_bytes(path)
    async with one_group(database):
        before = ask(database.write(note("before")))
        large = ask(log.append(game(1), head, behind(head, bytes(60_000))))
        after = ask(database.write(note("after")))
    outcomes = await answers([before, large, after])
    assert [type(outcome) for outcome in outcomes] == [Unknown] * 3
    assert "full" in str(outcomes[0])
    # Before anyone was told, a commit of the writer's own went over what the failed one may have left behind.
    assert wal_bytes(path) > wal_bytes_before
    assert await log.head(game(1)) == head
    assert await notes(database) == []
    # The bound was the dropped connection's, so there is room again.
    await log.append(game(1), head, behind(head, bytes(60_000)))
    assert await verify(log) == 2


async def test_while_the_file_cannot_be_opened_everything_is_unknown(path: Path, database: Database) -> None:
    def spoil(connection: sqlite3.Connection) -> None:
        connection.execute("SELECT nonsense")

    log = SqliteLog(database)
    with out_of_reach(path):
        with pytest.raises(Unknown):
            await database.write(spoil)
        with pytest.raises(Unknown):
            await database.write(note("lost"))
        with pytest.raises(Unknown):
            await log.append(game(1), origin(game(1)), first(1))
    await database.write(note("kept"))
    await log.append(game(1), origin(game(1)), first(1))
    assert await notes(database) == ["kept"]
    assert await verify(log) == 1


# ---------------------------------------------------------------- groups


async def test_what_waits_goes_into_one_commit(database: Database) -> None:
    log = SqliteLog(database)
    seen = await commits(database)
    async with one_group(database):
        calls = [ask(log.append(game(n), origin(game(n)), first(n))) for n in range(100)]
        writes = [ask(database.write(note(f"{n}"))) for n in range(100)]
    await answers(calls)
    await answers(writes)
    assert len(seen) == 2  # the holding one, and all the others
    assert len(await log.games()) == len(await notes(database)) == 100


async def test_a_group_has_a_limit(path: Path) -> None:
    async with opened(path, Limits(group_jobs_max=30)) as database:
        seen = await commits(database)
        async with one_group(database):
            writes = [ask(database.write(note(f"{n}"))) for n in range(100)]
        await answers(writes)
        assert len(seen) == 1 + 4
        assert len(await notes(database)) == 100


async def test_who_finds_too_many_waiting_waits_for_his_turn(path: Path) -> None:
    async with opened(path, Limits(waiting_jobs_max=10)) as database:
        seen = await commits(database)
        async with one_group(database):
            writes = [ask(database.write(note(f"{n}"))) for n in range(100)]
        assert await answers(writes) == [1] * 100
        assert len(seen) > 10


async def test_more_appends_than_may_wait_take_turns(database: Database) -> None:
    log = SqliteLog(database)
    seen = await commits(database)
    async with one_group(database):
        calls = [ask(log.append(game(n), origin(game(n)), first(n))) for n in range(2 * APPENDS_MAX + 1)]
    assert [head.version for head in await answers(calls)] == [1] * len(calls)
    assert len(seen) >= 1 + 3
    assert await verify(log) == len(await log.games(limit=10_000)) == len(calls)


async def test_answers_come_in_the_order_of_the_jobs(database: Database) -> None:
    order: list[object] = []
    async with one_group(database):
        for number in range(100):
            database.submit(give(number), order.append)
    await database.write(give(100))
    assert order == list(range(100))


async def test_a_job_that_raises_takes_back_only_what_it_wrote(database: Database) -> None:
    def refused(connection: sqlite3.Connection) -> None:
        note("refused")(connection)
        raise Conflict("somebody was faster")

    def stopped(connection: sqlite3.Connection) -> None:
        note("stopped")(connection)
        next(connection.execute("SELECT 1 WHERE 0"))

    async with one_group(database):
        jobs = [note("first"), refused, note("first"), stopped, note("last")]
        calls = [ask(database.write(job)) for job in jobs]
    assert [type(outcome) for outcome in await answers(calls)] == [
        int,
        Conflict,
        sqlite3.IntegrityError,
        RuntimeError,
        int,
    ]
    assert await notes(database) == ["first", "last"]


@pytest.mark.parametrize("seed", range(8))
async def test_in_one_group_each_append_is_judged_by_itself(database: Database, seed: int) -> None:
    random = Random(seed)
    clock = Clock()
    log = SqliteLog(database, clock)
    heads = [await log.append(game(n), origin(game(n)), first(n, wait_ms=1000)) for n in range(40)]
    await clock.pass_ms(1000)
    wanted: list[tuple[int, Head, Batch, type]] = []
    for n in range(60):
        head = heads[n] if n < 40 else origin(game(n))
        fork = Head(head.version, bytes(32))
        match random.choice(["fits", "fits", "fits", "twice", "fork", "in time", "late", "too early"]):
            case "twice":
                wanted += [(n, head, behind(head, b"a"), Head), (n, head, behind(head, b"b"), Conflict)]
            case "fork":
                wanted.append((n, fork, behind(fork), Conflict))
            case "in time" if n < 40:
                one = behind(head)
                wanted += [(n, head, one, Head), (n, one.events[-1].head, behind(one.events[-1].head), Head)]
            case "late" if n < 40:
                wanted.append((n, head, behind(head, expired_ms=clock()), Head))
            case "too early":
                wanted.append((n, head, behind(head, expired_ms=clock() + 1), NotYet))
            case _:
                wanted.append((n, head, behind(head), Head))
    async with one_group(database):
        calls = [ask(log.append(game(n), head, batch)) for n, head, batch, _ in wanted]
    assert [type(outcome) for outcome in await answers(calls)] == [kind for *_, kind in wanted]
    for n, _, batch, kind in wanted:
        if kind is Head:
            assert set(batch.events) <= set(await log.read(game(n)))
    await verify(log)


# ---------------------------------------------------------------- other processes


async def test_a_file_has_one_serving_process(path: Path) -> None:
    running = await process("append", path)
    assert running.stdout is not None
    await running.stdout.readline()
    with pytest.raises(Busy, match=re.escape(str(path))):
        await Database.open(path, [SCHEMA])
    await kill(running)
    async with opened(path):
        with pytest.raises(Busy):
            await Database.open(path, [SCHEMA])


async def test_another_process_reads_while_this_one_writes(path: Path, database: Database) -> None:
    log = SqliteLog(database)
    auditing = await process("audit", path)
    heads = [origin(game(n)) for n in range(8)]
    while auditing.returncode is None:
        for n, head in enumerate(heads):
            batch = Batch(extend(head, [b"a", b"b"]), outbox=(b"entry",))
            heads[n] = await log.append(game(n), head, batch)
        if heads[0].version > 100:  # enough for it to end
            await auditing.wait()
    assert auditing.returncode == 0
    await auditing.communicate()


@pytest.mark.parametrize("how", ["closed", "killed"])
async def test_a_file_that_nobody_serves_can_be_read(path: Path, how: str) -> None:
    running = await process("append", path)
    assert running.stdout is not None
    await running.stdout.readline()
    await kill(running)
    if how == "closed":
        async with opened(path):
            pass
    reader = await Database.reader(path)
    assert await verify(SqliteLog(reader)) > 0
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await reader.read(lambda connection: connection.execute("DELETE FROM games").rowcount)
    with pytest.raises(AssertionError):
        await reader.write(note("no"))
    await reader.close()
    async with opened(path) as database:
        await database.write(note("a reader leaves no lock"))


async def test_a_file_that_is_not_there_cannot_be_read(path: Path) -> None:
    for _ in range(2):  # nor is it made by trying
        with pytest.raises(FileNotFoundError):
            await Database.reader(path)


async def test_a_file_of_a_newer_release_is_refused(path: Path) -> None:
    async with opened(path) as database:
        await database.write(note("kept"))
    set_version(path, 2)
    with pytest.raises(Newer, match=re.escape(f"{path} has version 2")):
        await Database.open(path, [SCHEMA])
    with pytest.raises(Newer, match=re.escape(f"{path} has version 2")):
        await Database.reader(path)
    set_version(path, 1)
    async with opened(path) as database:
        assert await notes(database) == ["kept"]


def set_version(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


async def test_who_finds_the_file_being_written_waits_before_he_reads(path: Path, database: Database) -> None:
    """BEGIN IMMEDIATE: a transaction that begins with a read is refused at once when it wants to write."""

    def copy(connection: sqlite3.Connection) -> int:
        (count,) = connection.execute("SELECT count(*) FROM notes").fetchone()
        return connection.execute("INSERT INTO notes VALUES (?)", (f"{count} before",)).rowcount

    with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        foreign.execute("INSERT INTO notes VALUES ('foreign')")
        call = ask(database.write(copy))
        await asyncio.sleep(0.05)
        assert not call.done()
        foreign.execute("COMMIT")
        await call
    assert await notes(database) == ["1 before", "foreign"]


async def test_who_waits_too_long_for_another_writer_does_not_know(path: Path) -> None:
    async with opened(path, Limits(lock_seconds_max=0.01)) as database:
        log = SqliteLog(database)
        with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
            foreign.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unknown):
                await log.append(game(1), origin(game(1)), first(1))
            foreign.execute("ROLLBACK")
        await log.append(game(1), origin(game(1)), first(1))


# ---------------------------------------------------------------- readers and the WAL

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, games"


async def test_the_wal_is_bounded_however_long_readers_want_to_read(path: Path) -> None:
    # However busy the machine is: only readers who are never cut off could make the writer give up.
    limits = Limits(read_seconds_max=0.02, late_seconds_max=120, wal_bytes=256 << 10, wal_bytes_max=1 << 20)
    async with opened(path, limits) as database:
        log = SqliteLog(database)
        head = await log.append(game(1), origin(game(1)), first(1))
        done = False

        async def read_for_ever() -> int:
            cut_off = 0
            while not done:
                with pytest.raises(TimeoutError, match="pages"):
                    await database.read(lambda connection: connection.execute(ENDLESS).fetchone())
                cut_off += 1
            return cut_off

        readers = [ask(read_for_ever()) for _ in range(3)]
        sizes = []
        for _ in range(60):
            head = await log.append(game(1), head, behind(head, *[bytes(10_000)] * 10))
            sizes.append(wal_bytes(path))
        done = True
        assert min(await asyncio.gather(*readers)) > 0
        assert max(sizes) < limits.wal_bytes_max + (1 << 18)


async def test_the_wal_shrinks_when_a_foreign_reader_lets_go(path: Path) -> None:
    limits = Limits(wal_bytes=256 << 10)
    async with opened(path, limits) as database:
        log = SqliteLog(database)
        head = await log.append(game(1), origin(game(1)), first(1))
        with closing(sqlite3.connect(path, isolation_level=None)) as foreign:
            foreign.execute("BEGIN")
            foreign.execute("SELECT count(*) FROM games").fetchone()
            for _ in range(40):
                head = await log.append(game(1), head, behind(head, bytes(60_000)))
            assert wal_bytes(path) > 2 << 20
        for _ in range(10):
            head = await log.append(game(1), head, behind(head, bytes(60_000)))
        assert wal_bytes(path) <= limits.wal_bytes + (1 << 17)
        assert await verify(log) == 51


async def test_a_read_sees_one_state(database: Database) -> None:
    between = asyncio.Event()
    go = threading.Event()
    loop = asyncio.get_running_loop()

    def count_twice(connection: sqlite3.Connection) -> list[int]:
        counts = [connection.execute("SELECT count(*) FROM notes").fetchone()[0]]
        loop.call_soon_threadsafe(between.set)
        go.wait()
        return [*counts, connection.execute("SELECT count(*) FROM notes").fetchone()[0]]

    reading = ask(database.read(count_twice))
    await between.wait()
    await database.write(note("meanwhile"))
    go.set()
    assert await reading == [0, 0]
    assert await notes(database) == ["meanwhile"]


async def test_a_read_that_fails_half_way_leaves_nobody_an_old_state(path: Path) -> None:
    async with opened(path, Limits(read_threads=1)) as database:
        await database.write(lambda c: c.executemany("INSERT INTO notes VALUES (?)", [("a",), ("b",)]).rowcount)

        def fail(connection: sqlite3.Connection) -> None:
            for row in connection.execute("SELECT note FROM notes"):
                raise KeyError(row)

        with pytest.raises(KeyError) as kept:
            await database.read(fail)
        await database.write(note("c"))
        assert await notes(database) == ["a", "b", "c"]
        assert kept.value.args == (("a",),)


WALKING = r"SCAN (events|games|claims|outbox|partitions)\b|TEMP B-TREE"


async def test_no_statement_of_the_store_walks_through_a_table(path: Path, database: Database) -> None:
    """A move costs the same in the first game and in the millionth."""
    statements: set[str] = set()
    log = SqliteLog(database)
    for way in (database.write, database.read, database.read):
        await way(lambda connection: connection.set_trace_callback(statements.add))
    head = await log.append(game(1), origin(game(1)), first(1, outbox=(b"entry",), wait_ms=0))
    (deadline,) = await log.deadlines()
    with pytest.raises(Conflict):
        await log.append(game(1), Head(1, bytes(32)), behind(Head(1, bytes(32))))
    await log.append(game(1), head, behind(head, expired_ms=deadline.at_ms))
    await log.claim(b"p", "states", game(1))
    await log.claimed(b"p", "states")
    await log.outbox(partition(game(1)), 1)
    await log.games(game(0))
    await log.read(game(1), 1)
    await log.head(game(1))
    looked = {text for text in statements if re.match("SELECT|INSERT|UPDATE", text)}
    assert len(looked) >= 12
    with closing(sqlite3.connect(path)) as connection:
        for text in looked:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")]
            assert not [step for step in plan if re.search(WALKING, step)], (text, plan)


# ---------------------------------------------------------------- callers who go, and the end


async def test_a_storm_of_cancellations_crosses_no_answers(database: Database) -> None:
    log = SqliteLog(database)
    random = Random(11)
    heard: list[bytes] = []
    log.listen(lambda game, head, events: heard.append(events[0].body))
    calls = [ask(log.append(game(n), origin(game(n)), first(n))) for n in range(1000)]
    writes = [ask(database.write(give(n))) for n in range(1000)]
    reads = [ask(database.read(give(n))) for n in range(1000)]
    cancelled = random.sample(range(1000), 500)
    for position, n in enumerate(cancelled):
        if position % 20 == 0:
            await asyncio.sleep(0.0005)
        for call in (calls[n], writes[n], reads[n]):
            call.cancel()
    for n, (head, written, read) in enumerate(
        zip(await answers(calls), await answers(writes), await answers(reads), strict=True)
    ):
        if n not in cancelled:
            assert (head, written, read) == (first(n).events[-1].head, n, n)
    # Whatever is stored is stored whole, and was told; the store goes on.
    await log.append(game(5000), origin(game(5000)), first(5000))
    stored = {event.body for name in await log.games(limit=5000) for event in await log.read(name)}
    assert stored == set(heard)
    assert len(heard) == len(set(heard)) >= 501


async def test_closing_answers_all_that_was_asked_before(path: Path) -> None:
    database = await Database.open(path, [SCHEMA, NOTES])
    log = SqliteLog(database)
    calls = [ask(log.append(game(n), origin(game(n)), first(n))) for n in range(50)]
    writes = [ask(database.write(note(f"{n}"))) for n in range(50)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    assert [head.version for head in await answers(calls)] == [1] * 50
    assert await answers(writes) == [1] * 50
    with pytest.raises(Unknown):
        await log.append(game(99), origin(game(99)), first(99))
    with pytest.raises(Unknown):
        await database.write(note("late"))
    async with opened(path) as again:
        assert await verify(SqliteLog(again)) == len(await notes(again)) == 50


async def test_other_modules_keep_their_tables_in_the_same_file(path: Path) -> None:
    async with opened(path) as database:
        await database.write(note("kept"))
    database = await Database.open(path, [SCHEMA, NOTES, "CREATE TABLE IF NOT EXISTS more (a, b);"])
    assert await notes(database) == ["kept"]
    assert await database.read(lambda connection: connection.execute("SELECT * FROM more").fetchall()) == []
    await database.close()


async def test_who_takes_appends_while_another_does_takes_what_is_left_and_fails_at_nothing(database: Database) -> None:
    """The loop takes those of a transaction that didn't begin, while the writer begins the next one."""
    log = SqliteLog(database)
    others: list[Any] = []

    class Contended(deque[Any]):
        def __bool__(self) -> bool:
            """Whoever looks loses the interpreter before the next step, and the other one takes what was seen."""
            if seen := len(self) > 0:
                others.append(self.popleft())
            return seen

    log._waiting = Contended([1, 2, 3])
    group: list[Any] = []
    log._take(group)
    assert sorted(others + group) == [1, 2, 3]


async def test_a_listener_that_fails_hides_nothing_from_the_others(database: Database) -> None:
    log = SqliteLog(database)
    heard: list[bytes] = []

    def failing(game: bytes, head: Head, events: object) -> None:
        raise KeyError(game)

    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    try:
        log.listen(failing)
        log.listen(lambda game, head, events: heard.append(game))
        assert (await log.append(game(1), origin(game(1)), first(1))).version == 1
    finally:
        asyncio.get_running_loop().set_exception_handler(None)
    assert heard == [game(1)]
    assert [type(failure["exception"]) for failure in failures] == [KeyError]


async def test_deadlines_are_on_the_stores_clock_to_the_millisecond(database: Database) -> None:
    clock = Clock()
    log = SqliteLog(database, clock)
    head = await log.append(game(1), origin(game(1)), first(1, wait_ms=10))
    at_ms = clock() + 10
    await clock.pass_ms(9)
    assert list(await log.deadlines()) == []
    with pytest.raises(NotYet):
        await log.append(game(1), head, behind(head, expired_ms=at_ms))
    await clock.pass_ms(1)
    assert [(deadline.game, deadline.at_ms) for deadline in await log.deadlines()] == [(game(1), at_ms)]
    after = await log.append(game(1), head, behind(head, expired_ms=at_ms))
    assert check(head, [*(await log.read(game(1), 1))]) is None
    assert after.version == 2
