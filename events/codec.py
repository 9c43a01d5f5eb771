"""Facts to bytes and back. The one module that knows the stored format.

An event's body is a msgpack array in fixed order, without floats and maps:
[format, type, at_ms, cause, field, field …]. `format` is 1, `type` the fact's class name (a promise: a change of fields
is a new name), `at_ms` Unix time in milliseconds, `cause` 16 bytes. Only the shortest form of each value is taken, so
one fact has exactly one encoding.
"""

from dataclasses import dataclass
from hashlib import sha256

from events.shapes import Undecodable, is_, pack, shape, unpack
from rules.catalogue import FACTS
from rules.game import CallTime, Command, Fact
from rules.timing import Clock

FORMAT = 1
CAUSE_BYTES = 16
SERVER_SEAT = 255
"""The seat in the cause of what no seat asked for."""
NOBODY = bytes(16)

_SHAPES = {name: shape(fact) for name, fact in FACTS.items()}


@dataclass(frozen=True, slots=True)
class Event:
    """A fact with when and why it was stored."""

    at_ms: int
    cause: bytes
    fact: Fact


def cause(game: bytes, seat: int, player: bytes, command_id: str, command: Command) -> bytes:
    """What makes a command happen once: 16 bytes that only the same seat, player, id, kind and battle give again.

    A seat does no kind of command twice in a battle, so no two appends share a cause, whatever ids a client chooses."""
    kind = f"{command_id}\0{type(command).__name__}\0".encode()  # neither holds a zero byte
    battle = getattr(command, "battle", 0).to_bytes(4, "big")
    fields = game + seat.to_bytes(1, "big") + player + kind + battle
    return sha256(b"statecraft cause v1\0" + fields).digest()[:CAUSE_BYTES]


def clocks_cause(game: bytes, clock: Clock) -> bytes:
    """Of what the server does because the clock's deadline is past: of each deadline's another one."""
    return cause(game, SERVER_SEAT, NOBODY, f"time {clock.due_ms}", CallTime())


def is_clocks(game: bytes, clock: Clock, cause_: bytes) -> bool:
    """Whether an append was the clock's doing and nobody's command."""
    return clock.due_ms is not None and cause_ == clocks_cause(game, clock)


def encode(event: Event) -> bytes:
    return body(event.at_ms, event.cause, event.fact)


def body(at_ms: int, cause: bytes, fact: Fact) -> bytes:
    """As an event's, without making one."""
    name = type(fact).__name__
    packed: bytes = pack((FORMAT, name, at_ms, cause, *_SHAPES[name].values(fact)))
    return packed


def name(body: bytes) -> str:
    """The stored name of the fact in a body that `encode` wrote, without decoding it. Of other bytes: anything."""
    # A short array's head, the format, a short string's head.
    return body[3 : 3 + (body[2] & 31)].decode(errors="replace") if len(body) > 3 else ""


def decode(body: bytes) -> Event:
    """Raises Undecodable, with what was expected and what came."""
    values = unpack(body)
    if len(values) < 4:
        raise Undecodable("an event is an array of at least four values")
    format_, name, at_ms, cause_, *rest = values
    if not is_(format_, int) or format_ != FORMAT:
        raise Undecodable(f"format {format_!r}, this version knows {FORMAT}")
    if not isinstance(name, str) or name not in _SHAPES:
        raise Undecodable(f"no fact is called {name!r}")
    if not is_(at_ms, int) or at_ms < 0:
        raise Undecodable(f"at_ms is {at_ms!r}, not milliseconds")
    if not is_(cause_, bytes) or len(cause_) != CAUSE_BYTES:
        raise Undecodable("a cause has 16 bytes")
    return Event(at_ms, cause_, _SHAPES[name].make(tuple(rest)))
