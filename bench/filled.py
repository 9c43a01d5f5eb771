"""Stores filled before a server starts over them: many live games, or one that has gone on for thousands of battles."""

import asyncio
import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from events import chain, codec
from events.chain import Stored
from events.database import Database
from events.log import Batch
from events.sqlite import SqliteLog
from rules import fairness, game
from rules.fifty_states import FIFTY_STATES
from rules.game import OPEN_MS_MAX, Dealer, Open, Opened, Refused, Seated, Settings, Table
from rules.war import CLASSIC, Turn
from server.app import SCHEMAS
from server.clock import now_ms
from server.keys import operator_keys
from server.settings import settings

LONGEST: Settings = (("down", 1), ("length", "full"), ("seed", 83_385_644))
"""The longest game of `classic` known: 4,206 battles."""
ROWS = 10_000
"""In one statement while a store is filled."""


async def live_games(data: Path, count: int) -> None:
    """So many games against the house that wait for their players' entropy, a player each."""
    given = settings({"STATECRAFT_DATA": str(data)})
    key = operator_keys(given.keys)[1]
    await (await Database.open(given.log, SCHEMAS)).close()
    await asyncio.to_thread(_fill, given.log, key, count)


def _fill(path: Path, key: bytes, count: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    # In the order of their keys, so that the tables are written from one end to the other.
    ids = sorted(secrets.token_bytes(16) for _ in range(count))
    deadline_ms = now_ms() + OPEN_MS_MAX
    for at in range(0, count, ROWS):
        some = ids[at : at + ROWS]
        logs = {id_: tuple(_opened(id_, key)) for id_ in some}
        connection.execute("BEGIN")
        rows = [(id_, event.version, event.hash, event.body) for id_ in some for event in logs[id_]]
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        heads = [(id_, logs[id_][-1].version, logs[id_][-1].hash, deadline_ms) for id_ in some]
        connection.executemany("INSERT INTO games VALUES (?, ?, ?, ?)", heads)
        connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _opened(id_: bytes, key: bytes) -> Iterator[Stored]:
    """As the server opens a game."""
    secret, at_ms = fairness.secret(key, id_), now_ms()
    facts = (
        Opened(
            rules=FIFTY_STATES.name,
            mode="relaxed",
            settings=(),
            counts=True,
            witnessed=True,
            at_ms=at_ms,
            key=1,
            secret_hash=fairness.secret_hash(id_, secret),
            strategy_hash=FIFTY_STATES.strategy_hash("relaxed"),
        ),
        Seated(0, secrets.token_bytes(16), "", b""),
        Seated(1, b"", game.rival(secret), b""),
    )
    cause = secrets.token_bytes(16)
    yield from chain.extend(chain.origin(id_), [codec.encode(codec.Event(at_ms, cause, fact)) for fact in facts])


def war(player: bytes, battles: int) -> tuple[bytes, tuple[Stored, ...]]:
    """The longest game, `battles` turned; a fresh id each time."""
    id_ = secrets.token_bytes(16)
    table, dealer = Table(id_), Dealer(id_, bytes(32))
    events: list[Stored] = []
    head, at_ms = chain.origin(id_), now_ms()
    command: Open | Turn = Open("house", LONGEST, player, False, True, 1)
    while True:
        moved = game.move(CLASSIC, table, dealer, 0, command, at_ms)
        assert not isinstance(moved, Refused)
        table, dealer = moved.table, moved.dealer
        cause = codec.cause(id_, 0, player, f"{len(events)}", command)
        events += chain.extend(head, [codec.encode(codec.Event(at_ms, cause, fact)) for fact in moved.facts])
        head = events[-1].head
        if table.position.battles >= battles or table.finished is not None:
            return id_, tuple(events)
        command = Turn(table.position.battle, 1)


async def put(data: Path, id_: bytes, events: tuple[Stored, ...]) -> None:
    """Into the store of a server that runs."""
    database = await Database.open(settings({"STATECRAFT_DATA": str(data)}).log, SCHEMAS, shared=True)
    try:
        log = SqliteLog(database)
        await log.append(id_, chain.origin(id_), Batch(events, wait_ms=OPEN_MS_MAX))
    finally:
        await database.close()
