"""The Log in one SQLite file. The only place that knows its tables.

All appends that are waiting when the writer comes by become one job of a few statements, however many they are: each
statement costs a handing-over of the interpreter's lock, which is dear when the event loop is busy.
"""

import asyncio
import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from events.chain import Head, Stored, origin
from events.database import Database, resolve
from events.log import (
    BEAT_GAP_MS_MAX,
    BEATS_KEPT_MS,
    Batch,
    Conflict,
    Deadline,
    LetGo,
    Listener,
    NotYet,
    OutboxEntry,
    Unknown,
    outbox_link,
    outbox_origin,
    partition,
    silence,
)

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    game BLOB NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (game, version)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS games (
    game BLOB PRIMARY KEY NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL, deadline_ms INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS let_go (
    game BLOB PRIMARY KEY NOT NULL, version INTEGER NOT NULL, hash BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deadlines ON games (deadline_ms, game) WHERE deadline_ms IS NOT NULL;
CREATE TABLE IF NOT EXISTS claims (
    player BLOB NOT NULL, ladder TEXT NOT NULL, game BLOB NOT NULL, PRIMARY KEY (player, ladder)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS befores (
    game BLOB PRIMARY KEY NOT NULL, before BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (
    partition INTEGER NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL, game BLOB NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (partition, position)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS beats (
    since_ms INTEGER PRIMARY KEY NOT NULL, until_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS partitions (
    partition INTEGER PRIMARY KEY NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL
) WITHOUT ROWID;
"""
"""`games` holds each log's head, `let_go` that of each whose events are gone, and `partitions` each outbox's;
`beats` a row for each time that servers were up without a gap."""

APPENDS_MAX = 1024
"""Waiting or in a commit; more wait for their turn."""
OUTBOX_BYTES_MAX = 65_535
EVENT_ROWS = 256
"""Events stored by one statement."""


def store_clock() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True, eq=False)
class _Append:
    game: bytes
    head: Head
    batch: Batch
    stored: "asyncio.Future[Head]"
    refusal: Conflict | NotYet | None = None


class SqliteLog:
    """`events.log.Log` in a Database opened with SCHEMA. Appends and claims raise Unknown if a COMMIT fails."""

    def __init__(self, database: Database, clock: Callable[[], int] = store_clock) -> None:
        self._database = database
        self._clock = clock
        """Unix time in milliseconds; called on any thread."""
        self._waiting: deque[_Append] = deque()
        self._asked = False
        """Whether a job that will take what is waiting is with the writer, and hasn't begun."""
        self._room = asyncio.Semaphore(APPENDS_MAX)
        self._listeners: list[Listener] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        _assert_fits(game, head, batch)
        if head.version == 0 and head != origin(game):
            raise Conflict("this is not the game's origin")
        await self._room.acquire()
        loop = self._loop = self._loop or asyncio.get_running_loop()
        append = _Append(game, head, batch, loop.create_future())
        self._waiting.append(append)
        if not self._asked:
            self._asked = True
            # When this tick is over: whoever else appends in it goes along, and the writer's thread, woken now, would
            # only take the interpreter away from them.
            loop.call_soon(self._ask)
        return await append.stored

    def _ask(self) -> None:
        group: list[_Append] = []
        self._database.submit(partial(self._store, group), partial(self._answer, group))

    def _take(self, group: list[_Append]) -> None:
        # First the flag, then the appends: who comes in between is taken here, and asks once more for nothing.
        self._asked = False
        # Nobody looks first whether one is there: the loop and the writer may take at the same moment.
        with contextlib.suppress(IndexError):
            while True:
                group.append(self._waiting.popleft())

    def _store(self, group: list[_Append], connection: sqlite3.Connection) -> None:
        """On the writer's thread. What can't be stored has a refusal afterwards."""
        self._take(group)
        # Openings first, so that heads can be moved by one kind of statement at a time.
        group.sort(key=lambda append: not _opens(append))
        openings = sum(map(_opens, group))
        now_ms = self._clock()
        _store_appends(connection, group[:openings], now_ms)
        _store_appends(connection, group[openings:], now_ms)
        for append in group:
            if append.batch.outbox and append.refusal is None:
                _store_outbox(connection, append.game, append.batch.outbox)

    def _answer(self, group: list[_Append], outcome: Exception | None) -> None:
        """On the event loop, after COMMIT."""
        if outcome is not None and not group:
            self._take(group)  # the transaction didn't even begin, so the job never ran
        for append in group:
            self._room.release()
            if outcome is not None:
                unknown = Unknown(*outcome.args)
                unknown.__cause__ = outcome
                resolve(append.stored, unknown)
            elif append.refusal is not None:
                resolve(append.stored, append.refusal)
            else:
                self._tell(append)
                resolve(append.stored, append.batch.events[-1].head)

    def _tell(self, append: _Append) -> None:
        for listener in self._listeners:
            try:
                listener(append.game, append.head, append.batch.events)
            except Exception as error:  # a listener's fault must not hide from the others that this is stored
                append.stored.get_loop().call_exception_handler({"message": "a listener failed", "exception": error})

    async def head(self, game: bytes) -> Head:
        return await self._database.read(lambda connection: _head(connection, game))

    async def read(self, game: bytes, after: int = 0, limit: int | None = None) -> Sequence[Stored]:
        values = (game, after, -1 if limit is None else limit)

        def events(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            query = "SELECT version, hash, body FROM events WHERE game = ? AND version > ? ORDER BY version LIMIT ?"
            rows = connection.execute(query, values).fetchall()
            if not rows and (head := _let_go_at(connection, game)) is not None:
                raise LetGo(game, head)
            return rows

        return list(map(Stored._make, await self._database.read(events)))

    async def games(self, after: bytes = b"", limit: int = 1000) -> Sequence[bytes]:
        rows = await self._rows("SELECT game FROM games WHERE game > ? ORDER BY game LIMIT ?", (after, limit))
        return [game for (game,) in rows]

    async def let_go(self, game: bytes, head: Head) -> None:
        def job(connection: sqlite3.Connection) -> None:
            if (stored := _head(connection, game)) != head:
                raise Conflict(f"the head is {stored.version}, not {head.version}, or has another hash")
            for table in ("events", "games", "befores"):
                connection.execute(f"DELETE FROM {table} WHERE game = ?", (game,))
            connection.execute("INSERT OR IGNORE INTO let_go VALUES (?, ?, ?)", (game, head.version, head.hash))

        assert head.version > 0
        await self._database.write(job)

    async def trim(self, partition: int, position: int) -> None:
        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM outbox WHERE partition = ?1 AND position < ?2"
                " AND EXISTS (SELECT 1 FROM outbox WHERE partition = ?1 AND position = ?2)",
                (partition, position),
            )

        await self._database.write(job)

    async def deadlines(self, limit: int = 100) -> Sequence[Deadline]:
        rows = await self._rows(
            "SELECT game, deadline_ms FROM games WHERE deadline_ms <= ? ORDER BY deadline_ms, game LIMIT ?",
            (self._clock(), limit),
        )
        return [Deadline(*row) for row in rows]

    async def next_deadline(self) -> int | None:
        now_ms = self._clock()
        ((nearest_ms,),) = await self._rows("SELECT min(deadline_ms) FROM games WHERE deadline_ms > ?", (now_ms,))
        return None if nearest_ms is None else nearest_ms - now_ms

    async def beat(self) -> None:
        now_ms = self._clock()
        await self._database.write(partial(_beat, now_ms=now_ms))

    async def silence(self, from_ms: int, to_ms: int) -> int:
        return await self._database.read(partial(_silence, from_ms=from_ms, to_ms=to_ms))

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        return await self._database.write(lambda connection: claim(connection, player, ladder, game, instead_of))

    async def claimed(self, player: bytes, ladder: str) -> bytes | None:
        return await self._database.read(lambda connection: claimed(connection, player, ladder))

    async def before(self, game: bytes) -> bytes | None:
        rows = await self._rows("SELECT before FROM befores WHERE game = ?", (game,))
        return rows[0][0] if rows else None

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        rows = await self._rows(
            "SELECT partition, position, hash, game, body FROM outbox"
            " WHERE partition = ? AND position > ? ORDER BY position LIMIT ?",
            (partition, after, limit),
        )
        return [OutboxEntry(*row) for row in rows]

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return await self._database.read(lambda connection: connection.execute(query, values).fetchall())


def _assert_fits(game: bytes, head: Head, batch: Batch) -> None:
    assert len(game) == 16
    assert batch.events
    version = head.version
    for event in batch.events:
        version += 1
        assert event.version == version, "they don't follow the head"
    for body in batch.outbox:
        assert len(body) <= OUTBOX_BYTES_MAX


def _opens(append: _Append) -> bool:
    # An empty log has no deadline, so nothing can open it because of one.
    return append.head.version == 0 and append.batch.expired_ms is None


def _store_appends(connection: sqlite3.Connection, appends: Sequence[_Append], now_ms: int) -> None:
    """In a statement for all heads and one for all events, as often as a game has appends among these: its second goes
    by what its first has left."""
    while appends:
        first = {append.game: append for append in reversed(appends)}
        now = list(first.values())
        move_heads = _open_games if _opens(now[0]) else _continue_games
        if move_heads(connection, now, now_ms) < len(now):
            for append in now:
                append.refusal = _refusal(connection, append)
            now = [append for append in now if append.refusal is None]
        _store_events(connection, now)
        appends = (
            [append for append in appends if first[append.game] is not append] if len(first) < len(appends) else ()
        )


def _open_games(connection: sqlite3.Connection, appends: Sequence[_Append], now_ms: int) -> int:
    """How many weren't open. Which is not asked: each row of an answer would be another handing-over of the lock."""
    rows = [(append.game, *_next(append, now_ms)) for append in appends]
    query = (
        "INSERT INTO games SELECT * FROM ({}) WHERE column1 IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM let_go WHERE let_go.game = column1) ON CONFLICT DO NOTHING"
    )
    return _execute(connection, query, rows).rowcount


def _continue_games(connection: sqlite3.Connection, appends: Sequence[_Append], now_ms: int) -> int:
    """How many games stood where their appends say."""
    rows = [
        (append.game, *_next(append, now_ms), append.head.version, append.head.hash, append.batch.expired_ms, now_ms)
        for append in appends
    ]
    query = (
        "UPDATE games SET version = column2, hash = column3, deadline_ms = column4 FROM ({})"
        " WHERE game = column1 AND version = column5 AND hash = column6"
        " AND (column7 IS NULL OR column7 = deadline_ms AND column7 <= column8)"
    )
    return _execute(connection, query, rows).rowcount


def _next(append: _Append, now_ms: int) -> tuple[int, bytes, int | None]:
    last, wait_ms = append.batch.events[-1], append.batch.wait_ms
    return last.version, last.hash, None if wait_ms is None else now_ms + wait_ms


def _refusal(connection: sqlite3.Connection, append: _Append) -> Conflict | NotYet | None:
    """Why the append didn't move its game's head; None: it did, and its events are still to be stored."""
    if _let_go_at(connection, append.game) is not None:
        return Conflict("its log was let go")
    head, after = _head(connection, append.game), append.batch.events[-1].head
    if head == after and not _has_event(connection, append.game, after.version):
        return None
    if head == append.head:
        return NotYet(f"{append.batch.expired_ms} is not the deadline, or not past")
    return Conflict(f"the head is {head.version}, not {append.head.version}, or has another hash")


def _has_event(connection: sqlite3.Connection, game: bytes, version: int) -> bool:
    found = connection.execute("SELECT 1 FROM events WHERE game = ? AND version = ?", (game, version)).fetchall()
    return bool(found)


def _store_events(connection: sqlite3.Connection, appends: Sequence[_Append]) -> None:
    rows = [(append.game, event.version, event.hash, event.body) for append in appends for event in append.batch.events]
    for start in range(0, len(rows), EVENT_ROWS):
        query = "INSERT INTO events SELECT * FROM ({}) WHERE column1 IS NOT NULL"
        _execute(connection, query, rows[start : start + EVENT_ROWS])


def _store_outbox(connection: sqlite3.Connection, game: bytes, bodies: Sequence[bytes]) -> None:
    number = partition(game)
    last = connection.execute("SELECT position, hash FROM partitions WHERE partition = ?", (number,)).fetchone()
    position, hash_ = last or (0, outbox_origin(number))
    rows = []
    for body in bodies:
        position, hash_ = position + 1, outbox_link(hash_, game, body)
        rows.append((number, position, hash_, game, body))
    connection.executemany("INSERT INTO outbox VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT OR REPLACE INTO partitions VALUES (?, ?, ?)", (number, position, hash_))


def _execute(connection: sqlite3.Connection, query: str, rows: Sequence[tuple[Any, ...]]) -> sqlite3.Cursor:
    """`query` once over all `rows`, which stand at its `{}` as `column1`, `column2` …, among rows of NULL."""
    width = len(rows[0])
    size = 1 << (len(rows) - 1).bit_length()
    values = [value for row in rows for value in row]
    return connection.execute(_text(query, width, size), values + [None] * (width * size - len(values)))


@cache
def _text(query: str, width: int, size: int) -> str:
    # Sizes are powers of two, so that SQLite compiles a dozen texts and not a thousand.
    row = f"({', '.join('?' * width)})"
    return query.format(f"VALUES {', '.join([row] * size)}")


def _head(connection: sqlite3.Connection, game: bytes) -> Head:
    row = connection.execute("SELECT version, hash FROM games WHERE game = ?", (game,)).fetchone()
    return Head(*row) if row else _let_go_at(connection, game) or origin(game)


def _let_go_at(connection: sqlite3.Connection, game: bytes) -> Head | None:
    row = connection.execute("SELECT version, hash FROM let_go WHERE game = ?", (game,)).fetchone()
    return Head(*row) if row else None


def claim(connection: sqlite3.Connection, player: bytes, ladder: str, game: bytes, instead_of: bytes | None) -> bytes:
    """`Log.claim`, for whoever must do more in the same transaction."""
    holder_before = claimed(connection, player, ladder)
    connection.execute(
        "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET game = excluded.game WHERE claims.game = ?",
        (player, ladder, game, instead_of),
    )
    holder = claimed(connection, player, ladder)
    assert holder is not None
    if holder_before is not None and holder != holder_before:
        connection.execute("INSERT OR REPLACE INTO befores VALUES (?, ?)", (holder, holder_before))
    return holder


def _beat(connection: sqlite3.Connection, now_ms: int) -> None:
    moved = connection.execute(
        "UPDATE beats SET until_ms = max(until_ms, ?1)"
        " WHERE since_ms = (SELECT max(since_ms) FROM beats) AND until_ms >= ?1 - ?2",
        (now_ms, BEAT_GAP_MS_MAX),
    )
    if not moved.rowcount:
        connection.execute("INSERT OR IGNORE INTO beats VALUES (?1, ?1)", (now_ms,))
        connection.execute("DELETE FROM beats WHERE until_ms < ?", (now_ms - BEATS_KEPT_MS,))


def _silence(connection: sqlite3.Connection, from_ms: int, to_ms: int) -> int:
    rows = connection.execute("SELECT since_ms, until_ms FROM beats ORDER BY since_ms").fetchall()
    return silence(rows, from_ms, to_ms)


def claimed(connection: sqlite3.Connection, player: bytes, ladder: str) -> bytes | None:
    """`Log.claimed`, in a transaction."""
    row = connection.execute("SELECT game FROM claims WHERE player = ? AND ladder = ?", (player, ladder)).fetchone()
    return row[0] if row else None
