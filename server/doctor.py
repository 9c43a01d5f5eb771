"""`statecraft doctor`: what a server that is about to start would see of a Redis, and what is to be changed there."""

import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import hiredis
from rich.console import Console
from rich.table import Table

from events.log import PARTITIONS
from events.redis_address import Address, Place
from events.redis_connection import Connection, Lost, Refused, connect
from events.redis_durability import Durability, Facts, Finding, facts, findings
from events.redis_store import FORMAT
from events.redis_topology import Patience, Unreachable, primaries, slot_of

PATIENCE = Patience(connect_seconds_max=3, reply_seconds_max=3)


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that was looked at, and where."""

    where: str
    finding: Finding

    @property
    def verdict(self) -> str:
        if not self.finding.remedy:
            return "ok"
        return "CHANGE" if self.finding.must else "advice"


async def examine(address: Address, durability: Durability) -> AsyncIterator[Seen]:
    """Everything, as it is found. Raises Unreachable, Refused, Lost, OSError, TimeoutError."""
    if address.kind == "sentinel":
        async for seen in _sentinels(address, durability):
            yield seen
    ranges = await primaries(address, (), PATIENCE)
    held = sum(each.last - each.first + 1 for each in ranges)
    if address.kind == "cluster":
        remedy = "" if held == 16_384 else "give every slot a primary (redis-cli --cluster fix)"
        yield Seen(str(address), Finding("slots held", str(held), remedy))
    for place in dict.fromkeys(each.place for each in ranges):
        connection, said = await _greeted(address, place)
        try:
            known = await facts(connection, said)
            for finding in (*findings(durability, known), *_elections(address, durability, known)):
                yield Seen(str(place), finding)
            slot = slot_of(b"statecraft")
            if any(each.place == place and each.first <= slot <= each.last for each in ranges):
                yield Seen(str(place), await _format(connection))
        finally:
            connection.close()


async def _greeted(address: Address, place: Place) -> tuple[Connection, dict[bytes, object]]:
    return await connect(place, address.credentials, PATIENCE.connect_seconds_max, PATIENCE.reply_seconds_max)


def _elections(address: Address, durability: Durability, known: Facts) -> Iterator[Finding]:
    """A cluster's replicas elect each other by haste, not by Sentinel's look at who has most."""
    if address.kind == "cluster" and 0 < durability.replicas < known.replicas:
        remedy = (
            f"state `replicated {known.replicas}`: any of the replicas may be promoted, also one without the last moves"
        )
        yield Finding("replicas that may be promoted", str(known.replicas), remedy, must=False)


async def _format(connection: Connection) -> Finding:
    found = await connection.send("HMGET", "{statecraft}:store", "format", "partitions")
    if isinstance(found, hiredis.ReplyError):
        return Finding("what is stored", str(found), "use a database of its own")
    if found == [None, None]:
        return Finding("what is stored", "nothing yet")
    format_, partitions = (value.decode() if value else "none" for value in found)
    wrong = (format_, partitions) != (FORMAT, str(PARTITIONS))
    remedy = f"use the release that wrote it: this one knows format {FORMAT} with {PARTITIONS} partitions"
    return Finding("what is stored", f"format {format_}, {partitions} partitions", remedy if wrong else "")


async def _sentinels(address: Address, durability: Durability) -> AsyncIterator[Seen]:
    answering = 0
    for place in address.places:
        try:
            connection, _ = await connect(
                place, address.sentinel, PATIENCE.connect_seconds_max, PATIENCE.reply_seconds_max
            )
        except (OSError, TimeoutError, Lost, Refused) as error:
            yield Seen(
                str(place), Finding("Sentinel", str(error) or "no answer", "start it, or leave it out", must=False)
            )
            continue
        try:
            quorum = await connection.send("SENTINEL", "CKQUORUM", address.name)
            replicas = await connection.send("SENTINEL", "REPLICAS", address.name)
        finally:
            connection.close()
        bad = isinstance(quorum, hiredis.ReplyError)
        yield Seen(
            str(place), Finding("Sentinel", _text(quorum), "start more Sentinels, or lower the quorum" if bad else "")
        )
        answering += 1
        if answering == 1 and isinstance(replicas, list):
            yield Seen(str(place), _priorities(durability, replicas))


def _priorities(durability: Durability, replicas: list[dict[bytes, bytes]]) -> Finding:
    """Sentinel promotes by priority first, and only among equals the one that has most."""
    found = sorted({int(each[b"slave-priority"]) for each in replicas} - {0})
    remedy = "set the same replica-priority on all: else one without the last moves may be promoted"
    shown = ", ".join(map(str, found)) or "no replica"
    return Finding("replica-priority", shown, remedy if len(found) > 1 else "", must=durability.replicas > 0)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


async def run(address: Address, durability: Durability) -> int:
    """Print what is seen; 0: a server would start, 1: it would refuse to, 2: nobody answers."""
    say = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    say.print(f"{address}, promising `{durability}`", markup=False)
    seen: list[Seen] = []
    trouble: str | None = None
    try:
        async for each in examine(address, durability):
            seen.append(each)
    except (Unreachable, Refused, Lost, OSError, TimeoutError) as error:
        trouble = str(error) or "no answer"
    _print(say, seen)
    if trouble is not None:
        say.print(f"Not reached: {trouble}", style="bold red", markup=False)
        return 2
    if any(each.finding.refused for each in seen):
        say.print(f"A server that promises `{durability}` would refuse to start here.", style="bold red", markup=False)
        return 1
    say.print(f"A server can promise `{durability}` here.", style="bold green", markup=False)
    return 0


def _print(say: Console, seen: list[Seen]) -> None:
    if not say.is_terminal:
        for each in seen:
            row = (each.verdict, each.where, each.finding.what, each.finding.found, each.finding.remedy)
            print("\t".join(row).rstrip())  # rich would make spaces of the tabs
        return
    table = Table("", "where", "what", "found", "do")
    colours = {"ok": "green", "CHANGE": "bold red", "advice": "yellow"}
    for each in seen:
        style = colours[each.verdict]
        table.add_row(each.verdict, each.where, each.finding.what, each.finding.found, each.finding.remedy, style=style)
    say.print(table)
