"""Types to decoders of msgpack arrays: the one place that knows how annotations become checks in C."""

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Meta

Decoder = Callable[[bytes], tuple[Any, ...]]
"""Raises msgspec.DecodeError, or a UnicodeDecodeError, with what was expected and what came."""

pack: Callable[[tuple[Any, ...]], bytes] = msgspec.msgpack.Encoder().encode
"""The one form that counts, the shortest of each value. What a decoder gave is taken only if it packs to the same
bytes again: so it need not know of longer forms, of floats or whatever else it might take for an integer."""


def decoder(types: tuple[Any, ...]) -> Decoder:
    """Of arrays with exactly these types in this order, tuples for arrays."""
    return msgspec.msgpack.Decoder(_tuple(types)).decode


def _tuple(types: tuple[Any, ...]) -> Any:
    return tuple.__class_getitem__(tuple(map(_strict, types)))


def _strict(hint: Any) -> Any:
    """The annotation as it is stored: no integer is below zero."""
    hint = getattr(hint, "__supertype__", hint)
    if hint is int:
        return Annotated[int, Meta(ge=0)]
    if get_origin(hint) is tuple:
        return _tuple(get_args(hint))
    if get_origin(hint) is UnionType:
        first, *others = map(_strict, get_args(hint))
        for other in others:
            first |= other
        return first
    return hint
