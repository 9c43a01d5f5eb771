"""A finished game to a watcher, whole, against reading, decoding, folding and encoding it once without a socket."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import msgpack

from bench.clients import Watcher, subscription
from bench.filled import put, war
from bench.measure import Measured, Report, Row, Series, Size, alternating, leave_alone
from bench.peers import missing, rows
from bench.peers.folding import GOALS, PEERS, folds
from bench.processes import Product, product
from events import chain, codec
from events.chain import Stored
from events.database import Database
from events.sqlite import SqliteLog
from rules import fairness, game
from rules.game import Dealer, Table
from rules.war import CLASSIC
from server import wire
from server.audience import PAGE
from server.settings import settings

FOLDS = 10
"""In one measurement, each from a reading of its own: one takes a tenth of what the peers take."""


async def run(size: Size, folder: Path) -> Report:
    battles = size.of(5_000, 200)
    with product(folder / "data") as server:
        id_, events = war(bytes(range(16)), battles)
        await put(server.data, id_, events)
        leave_alone()
        database = await Database.reader(settings({"STATECRAFT_DATA": str(server.data)}).log)
        log = SqliteLog(database)

        async def watch() -> float:
            return await watched(server, id_, [event.body for event in events])

        async def once() -> float:
            began = time.thread_time()
            stored = await log.read(id_)
            fold(id_, stored)
            for at in range(0, len(stored), PAGE):
                wire.events_frame(wire.MSGPACK, id_, tuple(stored[at : at + PAGE]), None, None)
            return (time.thread_time() - began) / len(stored) * 1e6

        async def folded() -> float:
            began = time.process_time()
            for _ in range(FOLDS):
                fold(id_, await log.read(id_))
            return FOLDS * len(events) / (time.process_time() - began)

        async def table_alone() -> float:
            began = time.process_time()
            for _ in range(FOLDS):
                game.evolve_all(CLASSIC, Table(id_), codec.facts(await log.read(id_)))
            return FOLDS * len(events) / (time.process_time() - began)

        async def read() -> float:
            began = time.process_time()
            for _ in range(FOLDS):
                await log.read(id_)
            return (time.process_time() - began) / (FOLDS * len(events)) * 1e6

        try:
            cpu = await alternating(size.rounds, {"product": watch, "without a socket": once})
            stages = await alternating(size.rounds, {"reading it": read} | parts(id_, events))
            async with folds(folder, len(events)) as peers:
                rate = await alternating(size.rounds, {"product": folded, "table": table_alone} | peers)
        finally:
            await database.close()
        server.check(id_, [event.body for event in events])
    return Report(
        [
            Row(f"an event of a game of {len(events):,}", "µs CPU", cpu["product"], cpu["without a socket"], "≤ 2 ×"),
            *_folding("folding a stored game, chain and dealer too", rate),
            *_folding("folding a stored game, its table alone", rate | {"product": rate["table"]}),
            *(Row(f"of folding an event: {name}", "µs CPU", each) for name, each in stages.items()),
        ],
        [
            "each watcher got every byte of the log; the game was audited where it is finished",
            "the peers fold moves that are two numbers each, and check nothing",
            *missing(PEERS),
        ],
    )


def _folding(what: str, rate: dict[str, Series]) -> list[Row]:
    unit = "events a CPU second"
    return rows(what, unit, rate, GOALS) or [Row(what, unit, rate["product"])]


def fold(id_: bytes, events: Sequence[Stored]) -> tuple[Table, Dealer]:
    assert chain.check(chain.origin(id_), events) is None
    dealer = Dealer(id_, fairness.secret(bytes(32), id_))
    return game.fold(CLASSIC, Table(id_), dealer, codec.facts(events))


def parts(id_: bytes, events: Sequence[Stored]) -> dict[str, Measured]:
    """What `fold` does, one after the other: CPU of each for an event, µs."""
    facts = list(codec.facts(events))
    secret = fairness.secret(bytes(32), id_)
    leave_alone()

    def measured(work: Callable[[], object]) -> Measured:
        async def measure() -> float:
            began = time.thread_time()
            for _ in range(FOLDS):
                work()
            return (time.thread_time() - began) / (FOLDS * len(events)) * 1e6

        return measure

    return {
        "comparing its hash": measured(lambda: chain.check(chain.origin(id_), events)),
        "decoding it": measured(lambda: deque(codec.facts(events), maxlen=0)),
        "the table": measured(lambda: game.evolve_all(CLASSIC, Table(id_), facts)),
        "table and dealer": measured(lambda: game.fold(CLASSIC, Table(id_), Dealer(id_, secret), facts)),
    }


async def watched(server: Product, id_: bytes, bodies: list[bytes]) -> float:
    """CPU of the server for each event, µs."""
    cpu = server.cpu_seconds
    watcher = await Watcher.of(server.address, subscription(id_))
    head = len(bodies)

    seen: list[bytes] = []

    def whole() -> bool:
        for message in watcher.messages():
            decoded = msgpack.unpackb(message)
            if decoded["type"] == "events":
                seen.extend(decoded["events"])
        return len(seen) >= head

    await watcher.until(whole)
    used = server.cpu_seconds - cpu
    watcher.transport.close()
    assert seen == bodies, "a watcher saw something else"
    return used / head * 1e6
