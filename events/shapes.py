"""Records to msgpack arrays and back, strictly: exact types, no floats, no maps, one encoding for each value."""

import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from operator import attrgetter
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgpack

pack = msgpack.Packer(use_bin_type=True).pack


unpack_own: Callable[[bytes], tuple[Any, ...]] = partial(msgpack.unpackb, use_list=False)
"""`unpack` of what `pack` made here: nothing is checked."""


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
    checks: tuple["Check", ...]
    values: Callable[[Any], tuple[Any, ...]]
    """Of a record's fields, in order."""

    def make(self, values: tuple[Any, ...]) -> Any:
        """The record with these field values. Raises Undecodable, with what was expected and what came."""
        called = self.record.__name__
        if len(values) != len(self.names):
            raise Undecodable(f"{called} has {len(self.names)} fields, {len(values)} came")
        for name, check, value in zip(self.names, self.checks, values, strict=True):
            if not check(value):
                raise Undecodable(f"{called}.{name} can't be {value!r}")
        return self.record(*values)


@cache
def shape(record: type) -> Shape:
    hints = get_type_hints(record)
    names = tuple(field.name for field in fields(record))
    types_ = tuple(hints[name] for name in names)
    return Shape(record, names, types_, tuple(map(check, types_)), _values(names))


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple([getattr(record, name) for name in names])


Check = Callable[[Any], bool]


def is_(value: Any, hint: Any) -> bool:
    """Whether a decoded value has exactly the annotated type (int, str, bool, bytes, None, unions, tuples)."""
    return check(hint)(value)


@cache
def check(hint: Any) -> Check:
    """`is_` for one annotation, which is looked into once: a decoded field then costs a call or two."""
    hint = getattr(hint, "__supertype__", hint)
    origin = get_origin(hint)
    args = get_args(hint)
    if origin in (Union, types.UnionType):
        either = tuple(map(check, args))
        return lambda value: any(each(value) for each in either)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        every = check(args[0])
        return lambda value: type(value) is tuple and all(map(every, value))
    if origin is tuple:
        checks = tuple(map(check, args))
        return lambda value: (
            type(value) is tuple
            and len(value) == len(checks)
            and all(each(item) for each, item in zip(checks, value, strict=True))
        )
    if hint is int:
        return lambda value: type(value) is int and value >= 0
    exact = type(None) if hint is None else hint
    return lambda value: type(value) is exact
