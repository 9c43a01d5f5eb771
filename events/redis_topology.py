"""Which server holds which key: of one server, of what Sentinels say, of a cluster. The only place that asks them."""

import asyncio
from binascii import crc_hqx
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import hiredis

from events.log import Unknown
from events.redis_address import Address, Credentials, Place
from events.redis_connection import Lost, Refused, Reply, Value, connect

SLOTS = 16_384


class Unreachable(Unknown, TimeoutError):
    """No server that could answer was found in time. Nothing was changed by what asked."""


@dataclass(frozen=True, slots=True)
class Range:
    """Slots `first` to `last` are held by the primary at `place`."""

    first: int
    last: int
    place: Place


@dataclass(frozen=True, slots=True)
class Patience:
    """Bounds of all dealings with one deployment of Redis, in seconds unless named otherwise."""

    connect_seconds_max: float = 3.0
    reply_seconds_max: float = 10.0
    """A connection that has owed an answer, and said nothing, for so long is given up."""
    confirm_seconds_max: float = 5.0
    """How long replicas may take to have a write; below `reply_seconds_max`."""
    wait_seconds_max: float = 15.0
    """How long a call waits for a server that takes it, as in a failover; then it is Unknown or Unreachable."""
    late_seconds_max: float = 1.0
    """The same, for a call that comes when servers have been missing for so long already."""
    in_flight_max: int = 4096
    """Writes under way; more wait for their turn, and nobody is refused."""
    look_seconds: float = 5.0
    """Between two looks at Sentinels or cluster, whether anything went wrong or not."""


def slot_of(tag: bytes) -> int:
    """Of every key that begins with `{tag}` (Redis Cluster specification, Hash tags): CRC16 modulo 16,384."""
    return crc_hqx(tag, 0) % SLOTS


async def primaries(address: Address, known: Sequence[Place], patience: Patience) -> Sequence[Range]:
    """Who holds what now. `known` places are asked before those of the address. Raises Unreachable, Refused."""
    match address.kind:
        case "server":
            return (Range(0, SLOTS - 1, address.places[0]),)
        case "sentinel":
            return (Range(0, SLOTS - 1, await _named(address, patience)),)
        case "cluster":
            return await _slots(address, known, patience)
        case _:
            assert_never(address.kind)


async def _named(address: Address, patience: Patience) -> Place:
    """The first answer that any Sentinel gives."""
    troubles = []
    for place in address.places:
        try:
            answer = await _once(place, address.sentinel, patience, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.name)
        except (OSError, TimeoutError, Lost, Refused) as error:
            troubles.append(f"{place}: {error or 'no answer'}")
            continue
        if isinstance(answer, list):
            return Place(answer[0].decode(), int(answer[1]))
        troubles.append(f"{place}: it knows no primary called {address.name!r}")
    raise Unreachable(f"no Sentinel names a primary ({'; '.join(troubles)})")


async def _slots(address: Address, known: Sequence[Place], patience: Patience) -> Sequence[Range]:
    troubles = []
    for place in dict.fromkeys((*known, *address.places)):
        try:
            answer = await _once(place, address.credentials, patience, "CLUSTER", "SLOTS")
        except (OSError, TimeoutError, Lost, Refused) as error:
            troubles.append(f"{place}: {error or 'no answer'}")
            continue
        if isinstance(answer, list) and answer:
            return [
                # A node that doesn't know its own address leaves it out: it is where it was asked.
                Range(first, last, Place((primary[0] or b"").decode() or place.host, primary[1]))
                for first, last, primary, *_ in answer
            ]
        troubles.append(f"{place}: {answer if isinstance(answer, hiredis.ReplyError) else 'it holds no slots'}")
    raise Unreachable(f"no node of the cluster tells who holds what ({'; '.join(troubles)})")


async def _once(place: Place, credentials: Credentials, patience: Patience, *command: Value) -> Reply:
    connection, _ = await connect(place, credentials, patience.connect_seconds_max, patience.reply_seconds_max)
    try:
        async with asyncio.timeout(patience.connect_seconds_max):
            return await connection.send(*command)
    finally:
        connection.close()
