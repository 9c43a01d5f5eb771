"""Facts to bytes and back. The one module that knows the stored format.

An event's body is a msgpack array in fixed order, without floats and maps:
[format, type, at_ms, cause, field, field …]. `format` is 1, `type` the fact's class name (a promise: a change of fields
is a new name), `at_ms` Unix time in milliseconds, `cause` 16 bytes. Only the shortest form of each value is taken, so
one fact has exactly one encoding.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from events.chain import Stored
from events.shapes import Undecodable, shape
from events.strict import Decoder, decoder, pack
from rules.catalogue import FACTS
from rules.frozen import builder
from rules.game import CallTime, Command, Fact
from rules.timing import Clock

FORMAT = 1
CAUSE_BYTES = 16
SERVER_SEAT = 255
"""The seat in the cause of what no seat asked for."""
NOBODY = bytes(16)

_FIELDS = {fact: shape(fact).values for fact in FACTS.values()}


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
    kind = type(fact)
    return pack((FORMAT, kind.__name__, at_ms, cause, *_FIELDS[kind](fact)))


def name(body: bytes) -> str:
    """The stored name of the fact in a body that `encode` wrote, without decoding it. Of other bytes: anything."""
    # A short array's head, the format, a short string's head.
    return body[3 : 3 + (body[2] & 31)].decode(errors="replace") if len(body) > 3 else ""


def decode(body: bytes) -> Event:
    """Raises Undecodable, with what was expected and what came."""
    build, values = _read(body)
    return _event(values[2], values[3], build(*values[4:]))


def facts(events: Iterable[Stored]) -> Iterator[Fact]:
    """What happened, alone: for folds. Checked as by `decode`. Raises Undecodable at the event that it can't read."""
    for _, _, body in events:
        build, values = _read(body)
        yield build(*values[4:])


def _read(body: bytes) -> tuple[Callable[..., Fact], tuple[Any, ...]]:
    """What makes the fact, and all values of the array: each of its type, in the one form that counts."""
    # A short array of: the format in one byte, the name as a string of less than 32 bytes, which its head tells.
    known = _KNOWN.get(body[3 : body[2] - _STRING + 3]) if len(body) > 2 else None
    if known is None:
        raise Undecodable(f"not an event of format {FORMAT} with a fact that is known: {body[:40].hex()}")
    build, decode = known
    try:
        values = decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Undecodable(f"no {name(body)}: {error}") from error
    if pack(values) != body:
        raise Undecodable(f"{name(body)}: not the shortest form")
    return build, values


_Cause = Annotated[bytes, Meta(min_length=CAUSE_BYTES, max_length=CAUSE_BYTES)]


def _known(fact: type[Any]) -> tuple[Callable[..., Fact], Decoder]:
    hints = get_type_hints(fact)
    head = (Literal[FORMAT], Literal[fact.__name__], int, _Cause)
    return builder(fact), decoder((*head, *(hints[field.name] for field in fields(fact))))


_STRING = 0xA0
"""The head of a short string, without its length."""
_KNOWN = {name.encode(): _known(fact) for name, fact in FACTS.items()}
assert all(len(name) < 32 for name in _KNOWN), "a name has a head of one byte"
_event = builder(Event)
