"""Facts to bytes and back. The one module that knows the stored format.

An event's body is a msgpack array in fixed order, without floats and maps:
[format, type, at_ms, cause, field, field …]. `format` is 1, `type` the fact's class name (a promise: a change of fields
is a new name), `at_ms` Unix time in milliseconds, `cause` 16 bytes. Only the shortest form of each value is taken, so
one fact has exactly one encoding.
"""

import types
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgpack

from rules.catalogue import FACTS
from rules.game import Fact

FORMAT = 1
CAUSE_BYTES = 16
SERVER_SEAT = 255
"""The seat in the cause of what no seat asked for."""
NOBODY = bytes(16)

_pack = msgpack.Packer(use_bin_type=True).pack


class Undecodable(Exception):
    """These bytes are no event of a format this version knows."""


@dataclass(frozen=True, slots=True)
class Event:
    """A fact with when and why it was stored."""

    at_ms: int
    cause: bytes
    fact: Fact


def cause(game: bytes, seat: int, player: bytes, command_id: str) -> bytes:
    """What makes a command happen once: 16 bytes that only the same seat, player and command id give again."""
    fields_ = game + seat.to_bytes(1, "big") + player + command_id.encode()
    return sha256(b"statecraft cause v1\0" + fields_).digest()[:CAUSE_BYTES]


def encode(event: Event) -> bytes:
    fact = event.fact
    return _pack((FORMAT, type(fact).__name__, event.at_ms, event.cause, *_values(fact)))


def _values(fact: Fact) -> tuple[Any, ...]:
    return tuple(getattr(fact, name) for name in _SHAPES[type(fact).__name__].names)


def decode(body: bytes) -> Event:
    """Raises Undecodable, with what was expected and what came."""
    try:
        values = msgpack.unpackb(body, use_list=False, raw=False, strict_map_key=True)
    except Exception as error:  # msgpack has no common ancestor for what it raises on nonsense
        raise Undecodable(f"not msgpack: {error}") from error
    if not isinstance(values, tuple) or len(values) < 4:
        raise Undecodable("an event is an array of at least four values")
    format_, type_name, at_ms, cause_, *rest = values
    if not _is(format_, int) or format_ != FORMAT:
        raise Undecodable(f"format {format_!r}, this version knows {FORMAT}")
    shape = _SHAPES.get(type_name) if isinstance(type_name, str) else None
    if shape is None:
        raise Undecodable(f"no fact is called {type_name!r}")
    if not _is(at_ms, int) or at_ms < 0:
        raise Undecodable(f"at_ms is {at_ms!r}, not milliseconds")
    if not _is(cause_, bytes) or len(cause_) != CAUSE_BYTES:
        raise Undecodable("a cause has 16 bytes")
    if len(rest) != len(shape.names):
        raise Undecodable(f"{type_name} has {len(shape.names)} fields, {len(rest)} came")
    for name, hint, value in zip(shape.names, shape.hints, rest, strict=True):
        if not _is(value, hint):
            raise Undecodable(f"{type_name}.{name} can't be {value!r}")
    event = Event(at_ms, cause_, shape.fact(*rest))
    if encode(event) != body:
        raise Undecodable("not the shortest form")
    return event


@dataclass(frozen=True, slots=True)
class _Shape:
    fact: type
    names: tuple[str, ...]
    hints: tuple[Any, ...]


def _shape(fact: type) -> _Shape:
    hints = get_type_hints(fact)
    names = tuple(field.name for field in fields(fact))
    return _Shape(fact, names, tuple(hints[name] for name in names))


def _is(value: Any, hint: Any) -> bool:
    """Whether a decoded value has exactly the annotated type (int, str, bool, bytes, None, unions, tuples)."""
    hint = getattr(hint, "__supertype__", hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_is(value, each) for each in get_args(hint))
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        args = get_args(hint)
        if len(args) == 2 and args[1] is Ellipsis:
            return all(_is(each, args[0]) for each in value)
        return len(value) == len(args) and all(map(_is, value, args))
    return type(value) is (type(None) if hint is None else hint)


_SHAPES = {name: _shape(fact) for name, fact in FACTS.items()}
