"""One SQLite file: a writer that commits in groups, and readers beside it. The only place that opens the file."""

import asyncio
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from events.log import Unknown
from events.writer import Answer, Job, Limits, Writer

SCHEMA_VERSION = 1
"""Of the whole file, in `PRAGMA user_version`. A file with a higher one belongs to a newer release."""
CACHE_BYTES = 64 << 20
LIMITS = Limits()

T = TypeVar("T")


class Busy(Exception):
    """Another process serves this file."""


class Newer(Exception):
    """A newer release has written this file."""


class Database:
    """One file, its writer and its readers. Made by `open` or `reader`, on the event loop that uses it.

    Jobs are called with a connection, off the event loop. They must not begin or end transactions, keep cursors, or
    touch anything but the connection and what they were given."""

    def __init__(self, path: Path, limits: Limits, writer: Writer | None = None, lock: int | None = None) -> None:
        self._readers = _Readers(path, limits)
        self._writer = writer
        self._lock = lock
        self._room = asyncio.Semaphore(limits.waiting_jobs_max)
        self._closed = False

    @classmethod
    async def open(
        cls, path: str | Path, schemas: Sequence[str] = (), limits: Limits = LIMITS, shared: bool = False
    ) -> "Database":
        """Serve the file at `path`, creating it if it isn't there. Each schema is `CREATE … IF NOT EXISTS …;` text.

        A `shared` file may be written by several processes, each of whose jobs compares what it expects.

        Raises Busy if another process serves it, Newer if a newer release has written it."""
        found, lock, connection = await asyncio.to_thread(_serve, Path(path), schemas, limits, shared)
        writer = Writer(connection, partial(_connect, found, limits), Path(f"{found}-wal"), limits)
        writer.start()
        return cls(found, limits, writer, lock)

    @classmethod
    async def reader(cls, path: str | Path, limits: Limits = LIMITS) -> "Database":
        """Read the file at `path`, whether a process serves it or not. Raises FileNotFoundError, Newer."""
        found = await asyncio.to_thread(_readable, Path(path), limits)
        return cls(found, limits)

    async def write(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returned, after COMMIT. What it raises is raised here, and takes back what it wrote.

        Raises Unknown if the transaction failed. A cancelled call may still be stored. While too many jobs wait, waits
        for its turn."""
        await self._room.acquire()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        def answer(outcome: Any) -> None:
            self._room.release()
            resolve(future, outcome)

        self.submit(job, answer)
        return await future

    def submit(self, job: Job, answer: Answer) -> None:
        """`write` without a task and without a bound, for callers who keep one: `answer` gets the result or exception.

        Answers come on the event loop in the order of the jobs."""
        assert self._writer is not None, "this process only reads"
        if self._closed:
            answer(Unknown("the file is closed"))
        else:
            self._writer.submit(job, answer)

    async def scrub(self) -> None:
        """Nothing that was deleted before is in the file's bytes, or its WAL's, when this returns. Raises Unknown.

        The whole file is written anew: for small files, in which no game waits."""
        assert self._writer is not None, "this process only reads"
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._closed:
            raise Unknown("the file is closed")
        self._writer.scrub(partial(resolve, future))
        await future

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """What `job` returned; all its statements see one committed state.

        Raises TimeoutError if it takes longer than `read_seconds_max`: while an old state is held the WAL can't be
        emptied. Read in pages."""
        return await self._readers.read(job)

    async def close(self) -> None:
        """After everything asked for so far has been answered. Closing twice is harmless."""
        await asyncio.sleep(0)  # Appends of this tick are submitted at its end.
        if self._closed:
            return
        self._closed = True
        await self._readers.close()
        if self._writer is not None:
            await self._writer.stop()
        if self._lock is not None:
            os.close(self._lock)


def resolve(future: "asyncio.Future[T]", outcome: T | Exception) -> None:
    """Give `future` its outcome, unless whoever waited has gone."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


class _Readers:
    """A few read-only connections and as many threads."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._idle: SimpleQueue[sqlite3.Connection | None] = SimpleQueue()
        """None stands for one that is still to be opened."""
        for _ in range(limits.read_threads):
            self._idle.put(None)
        self._threads = ThreadPoolExecutor(limits.read_threads, "reader")
        self._room = asyncio.Semaphore(limits.waiting_reads_max)

    async def read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        async with self._room:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, job)

    def _read(self, job: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._idle.get()
        try:
            if connection is None:
                connection = _connect_to_read(self._path, self._limits)
            return self._snapshot(connection, job)
        except BaseException:
            # A cursor that lives on in the traceback would hold this connection at an old state.
            if connection is not None:
                connection.close()
            connection = None
            raise
        finally:
            self._idle.put(connection)

    def _snapshot(self, connection: sqlite3.Connection, job: Callable[[sqlite3.Connection], T]) -> T:
        until = time.monotonic() + self._limits.read_seconds_max
        connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        connection.execute("BEGIN")
        try:
            result = job(connection)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            raise TimeoutError(f"a read takes at most {self._limits.read_seconds_max} s: read in pages") from error
        connection.execute("ROLLBACK")
        return result

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            connection = self._idle.get()
            if connection is not None:
                connection.close()


def _serve(
    path: Path, schemas: Sequence[str], limits: Limits, shared: bool
) -> tuple[Path, int | None, sqlite3.Connection]:
    path = path.resolve()
    lock = None if shared else _lock(path)
    try:
        connection = _connect(path, limits)
        try:
            _check_version(connection, path)
            version = f"PRAGMA user_version = {SCHEMA_VERSION};"
            connection.executescript("\n".join(("BEGIN IMMEDIATE;", *schemas, version, "COMMIT;")))
        except BaseException:
            connection.close()
            raise
    except BaseException:
        if lock is not None:
            os.close(lock)
        raise
    return path, lock, connection


def _lock(path: Path) -> int:
    """The lock that the serving process holds until it ends, however it ends."""
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise Busy(f"{path} is served by another process") from None
    return lock


def _readable(path: Path, limits: Limits) -> Path:
    path = path.resolve(strict=True)
    _connect_to_read(path, limits).close()
    return path


def _connect(path: Path, limits: Limits) -> sqlite3.Connection:
    connection = sqlite3.connect(path, limits.lock_seconds_max, isolation_level=None, check_same_thread=False)
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        assert mode == "wal", f"{path}: this file system can't keep a WAL, journal mode is {mode}"
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")  # on macOS a plain fsync stops at the disk's own cache
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # the writer does it, after it has answered
        connection.execute(f"PRAGMA journal_size_limit = {limits.wal_bytes}")
        connection.execute(f"PRAGMA cache_size = {-CACHE_BYTES // 1024}")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path, limits: Limits) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=ro", limits.lock_seconds_max, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        _check_version(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise Newer(f"{path} has version {version}, this release knows {SCHEMA_VERSION}: use a newer release")
