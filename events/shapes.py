"""Records to msgpack arrays and back, strictly: exact types, no floats, no maps, one encoding for each value."""

import types
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgpack

pack = msgpack.Packer(use_bin_type=True).pack


class Undecodable(Exception):
    """These bytes are nothing of a format this version knows."""


def unpack(body: bytes) -> tuple[Any, ...]:
    """The array in `body`, with tuples for arrays. Raises Undecodable, also where a shorter form would do."""
    try:
        values = msgpack.unpackb(body, use_list=False, raw=False, strict_map_key=True)
        shortest = pack(values)
    except Exception as error:  # msgpack has no common ancestor for what it raises on nonsense
        raise Undecodable(f"not msgpack: {error}") from error
    if not isinstance(values, tuple):
        raise Undecodable("not an array")
    if shortest != body:
        raise Undecodable("not the shortest form")
    return values


@dataclass(frozen=True, slots=True)
class Shape:
    record: type
    names: tuple[str, ...]
    hints: tuple[Any, ...]

    def values(self, record: Any) -> tuple[Any, ...]:
        return tuple([getattr(record, name) for name in self.names])

    def make(self, values: tuple[Any, ...]) -> Any:
        """The record with these field values. Raises Undecodable, with what was expected and what came."""
        called = self.record.__name__
        if len(values) != len(self.names):
            raise Undecodable(f"{called} has {len(self.names)} fields, {len(values)} came")
        for name, hint, value in zip(self.names, self.hints, values, strict=True):
            if not is_(value, hint):
                raise Undecodable(f"{called}.{name} can't be {value!r}")
        return self.record(*values)


@cache
def shape(record: type) -> Shape:
    hints = get_type_hints(record)
    names = tuple(field.name for field in fields(record))
    return Shape(record, names, tuple(hints[name] for name in names))


def is_(value: Any, hint: Any) -> bool:
    """Whether a decoded value has exactly the annotated type (int, str, bool, bytes, None, unions, tuples)."""
    hint = getattr(hint, "__supertype__", hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(is_(value, each) for each in get_args(hint))
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        args = get_args(hint)
        if len(args) == 2 and args[1] is Ellipsis:
            return all(is_(each, args[0]) for each in value)
        return len(value) == len(args) and all(map(is_, value, args))
    if type(value) is int:
        return hint is int and value >= 0
    return type(value) is (type(None) if hint is None else hint)
