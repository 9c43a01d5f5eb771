"""The one thread that writes to the file: whatever arrived while the last COMMIT ran goes into the next one."""

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from events.log import Unknown

EMPTY_WAL_MS_MAX = 10
Job = Callable[[sqlite3.Connection], Any]
"""Runs on the writer's thread inside its own savepoint; an exception takes back what it wrote, and nobody else's."""
Answer = Callable[[Any], None]
"""Called on the event loop with what the job returned, or with the exception. Must not raise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one file. Writers above `waiting_jobs_max` wait for their turn; nobody is refused."""

    group_jobs_max: int = 512
    waiting_jobs_max: int = 4096
    read_threads: int = 2
    waiting_reads_max: int = 4096
    read_seconds_max: float = 5.0
    late_seconds_max: float = 1.0
    """How much later than after `read_seconds_max` a reader may be cut off, where the machine is busy."""
    lock_seconds_max: float = 5.0
    """How long BEGIN waits for another process that is writing."""
    wal_bytes: int = 4 << 20
    """From here on the WAL is moved into the file after a commit, if no reader is in the way."""
    wal_bytes_max: int = 64 << 20
    """Here the writer waits for the readers, who are cut off after `read_seconds_max`: the WAL grows no further."""


class Writer:
    """Owns the only connection that writes. Nothing is answered before COMMIT has returned."""

    def __init__(
        self, connection: sqlite3.Connection, connect: Callable[[], sqlite3.Connection], wal: Path, limits: Limits
    ) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._connect = connect
        self._wal = wal
        self._limits = limits
        self._checkpoint_bytes = limits.wal_bytes
        self._jobs: SimpleQueue[tuple[Job, Answer] | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, job: Job, answer: Answer) -> None:
        self._jobs.put((job, answer))

    def scrub(self, answer: Answer) -> None:
        """After everything submitted so far: write the file anew without what was deleted, and empty the WAL."""
        self._jobs.put((_scrub, answer))

    async def stop(self) -> None:
        """After everything submitted so far has been answered."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        going = True
        while going:
            group, going = self._group()
            if group:
                outcomes = self._commit([job for job, _ in group])
                if any(job is _scrub for job, _ in group):
                    outcomes = self._scrubbed(group, outcomes)
                # Asked before the loop is woken: a question to the system gives the interpreter's lock away, and to get
                # it back from a loop that answers takes long.
                size_bytes = self._wal_bytes()
                self._loop.call_soon_threadsafe(_answer, [answer for _, answer in group], outcomes)
                self._checkpoint(size_bytes)
        self._drop()

    def _group(self) -> tuple[list[tuple[Job, Answer]], bool]:
        """All that is waiting, and whether there will be more."""
        group = []
        item = self._jobs.get()
        with contextlib.suppress(Empty):
            while item is not None:
                group.append(item)
                if len(group) == self._limits.group_jobs_max:
                    return group, True
                item = self._jobs.get_nowait()
        return group, item is not None

    def _commit(self, jobs: Sequence[Job]) -> list[Any]:
        """What came of each job. If the transaction failed, that is Unknown for every one of them."""
        try:
            if self._connection is None:
                self._connection = self._fenced()
            self._connection.execute("BEGIN IMMEDIATE")
            if len(jobs) == 1:
                return [_alone(self._connection, jobs[0])]
            outcomes = [_outcome(self._connection, job) for job in jobs]
            self._connection.execute("COMMIT")
        except Exception as error:  # whatever it was, nobody may take his job for stored, or wait for ever
            self._drop()
            with contextlib.suppress(Exception):  # else the next group tries again
                self._connection = self._fenced()
            return [_unknown(error) for _ in jobs]
        return outcomes

    def _scrubbed(self, group: Sequence[tuple[Job, Answer]], outcomes: list[Any]) -> list[Any]:
        """The outcomes, with Unknown for those who wanted it scrubbed if it couldn't be."""
        try:
            if self._connection is None:
                raise sqlite3.OperationalError("the file can't be opened")
            self._connection.execute("VACUUM")
            until = time.monotonic() + self._readers_seconds_max
            while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    raise sqlite3.OperationalError("a reader holds the WAL")
        except sqlite3.Error as error:
            unknown = _unknown(error)
            return [unknown if job is _scrub else each for (job, _), each in zip(group, outcomes, strict=True)]
        return outcomes

    def _fenced(self) -> sqlite3.Connection:
        """The file opened anew, so that it says what is stored, and goes on saying so.

        A COMMIT whose fsync failed leaves whole frames in the WAL that nobody sees, but that a crash would bring back.
        Any commit writes over them."""
        connection = self._connect()
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            connection.execute(f"PRAGMA user_version = {version}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _wal_bytes(self) -> int:
        try:
            return os.stat(self._wal).st_size
        except FileNotFoundError:
            return 0

    def _checkpoint(self, size_bytes: int) -> None:
        """Keep the WAL small: after the answers, so that no one's COMMIT takes longer for it."""
        if self._connection is None or size_bytes <= self._checkpoint_bytes:
            return
        full = size_bytes >= self._limits.wal_bytes_max
        until = time.monotonic() + (self._readers_seconds_max if full else 0)
        try:
            while not (emptied := self._empty_wal()) and time.monotonic() < until:
                pass
        except sqlite3.Error:
            self._drop()  # What is committed is safe in the WAL. If the file is ill, the next BEGIN says so.
            emptied = False
        # Where readers are in the way, trying again at every commit would only slow everybody down.
        patience_bytes = self._limits.wal_bytes_max if full else self._limits.wal_bytes
        self._checkpoint_bytes = self._limits.wal_bytes if emptied else size_bytes + patience_bytes

    @property
    def _readers_seconds_max(self) -> float:
        """After which only another process's readers can still hold the WAL."""
        # Two generations: readers of an old state, and those who came before the last of them had gone.
        return 2 * self._limits.read_seconds_max + self._limits.late_seconds_max

    def _empty_wal(self) -> bool:
        """Whether the next commit can begin the WAL anew, and so cut it to journal_size_limit."""
        assert self._connection is not None
        # Many short waits, not a long one: SQLite waits for a slot, which the next reader may have taken meanwhile.
        self._connection.execute(f"PRAGMA busy_timeout = {EMPTY_WAL_MS_MAX}")
        busy, _, _ = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        self._connection.execute(f"PRAGMA busy_timeout = {int(self._limits.lock_seconds_max * 1000)}")
        return not busy


def _scrub(connection: sqlite3.Connection) -> None:
    """Stands in the queue for what can't be done inside a transaction."""


def _outcome(connection: sqlite3.Connection, job: Job) -> Any:
    connection.execute("SAVEPOINT job")
    try:
        outcome = job(connection)
    except Exception as error:
        outcome = _refused(error)
        connection.execute("ROLLBACK TO job")
    connection.execute("RELEASE job")
    return outcome


def _alone(connection: sqlite3.Connection, job: Job) -> Any:
    """`_outcome` and the end of the transaction, where no other job's writes are in it: no savepoint is needed."""
    try:
        outcome = job(connection)
    except Exception as error:
        outcome = _refused(error)
        connection.execute("ROLLBACK")
    else:
        connection.execute("COMMIT")
    return outcome


def _refused(error: Exception) -> Exception:
    """What a job is answered with that wrote nothing. Raises what is for the whole group."""
    # A constraint that refuses is an answer like any other. Any other error of SQLite's may have ended the whole
    # transaction.
    if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
        raise error
    # A future can't carry StopIteration.
    return RuntimeError(repr(error)) if isinstance(error, StopIteration) else error


def _unknown(error: Exception) -> Unknown:
    unknown = Unknown(f"the transaction failed: {error}")
    unknown.__cause__ = error
    return unknown


def _answer(answers: Sequence[Answer], outcomes: Sequence[Any]) -> None:
    for answer, outcome in zip(answers, outcomes, strict=True):
        answer(outcome)
