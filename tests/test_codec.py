"""Events are taken in one form alone: `decode` against the slow checks of events/shapes.py, one value at a time."""

import contextlib
import struct
from collections.abc import Callable
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from events import codec
from events.chain import Stored
from events.codec import Event
from events.shapes import Undecodable, is_, shape, unpack
from rules.catalogue import FACTS
from rules.game import Card, Finished, Opened, TimeUp
from rules.war import Turned

CAUSE = bytes(range(16))
INT_MAX = 2**64 - 1


def slowly(body: bytes) -> Event:
    """`codec.decode`, without its tables: by the annotations, through another library. Raises Undecodable."""
    values = unpack(body)
    if len(values) < 4 or not is_(values[0], int) or values[0] != codec.FORMAT:
        raise Undecodable("format")
    if not is_(values[1], str) or values[1] not in FACTS or not is_(values[2], int):
        raise Undecodable("type or time")
    if not is_(values[3], bytes) or len(values[3]) != codec.CAUSE_BYTES:
        raise Undecodable("cause")
    return Event(values[2], values[3], shape(FACTS[values[1]]).make(values[4:]))


def taken(decode: Callable[[bytes], Any], body: bytes) -> Any:
    """What it gives, or None where it refuses; whatever else it raises is a failure."""
    with contextlib.suppress(Undecodable):
        return decode(body)
    return None


def agree(body: bytes) -> Event | None:
    event: Event | None = taken(codec.decode, body)
    assert event == taken(slowly, body)
    facts = taken(lambda body: list(codec.facts([Stored(1, b"", body)])), body)
    assert facts == ([event.fact] if event is not None else None)
    if event is not None:
        assert codec.encode(event) == body
    return event


numbers = st.one_of(st.integers(0, 300), st.integers(0, INT_MAX))


def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation, as they may be stored."""
    hint, args = getattr(hint, "__supertype__", hint), get_args(hint)
    if get_origin(hint) is UnionType:
        return st.one_of(*map(of, args))
    if get_origin(hint) is tuple:
        return st.lists(of(args[0]), max_size=3).map(tuple) if args[1] is Ellipsis else st.tuples(*map(of, args))
    return numbers if hint is int else st.from_type(hint)


facts = st.sampled_from(list(FACTS.values())).flatmap(
    lambda fact: st.builds(fact, *(of(get_type_hints(fact)[field.name]) for field in fields(fact)))
)
events = st.builds(Event, numbers, st.binary(min_size=16, max_size=16), facts)

single = st.one_of(
    st.integers(-(2**63), INT_MAX),
    st.integers(-2, 2),
    st.floats(),
    st.sampled_from([0.0, 1.0, 7.0]),
    st.booleans(),
    st.none(),
    st.text(max_size=40),
    st.sampled_from(sorted(FACTS)),
    st.binary(max_size=40),
)
anything = st.recursive(
    single, lambda each: st.one_of(st.lists(each, max_size=3).map(tuple), st.dictionaries(single, each, max_size=2))
)


def packed(values: object) -> bytes:
    body: bytes = msgpack.packb(values, use_bin_type=True)
    return body


def _values(event: Event) -> list[Any]:
    return list(msgpack.unpackb(codec.encode(event), use_list=False))


@given(events)
def test_every_event_is_taken_as_it_was_written(event: Event) -> None:
    assert agree(codec.encode(event)) == event
    assert codec.name(codec.encode(event)) == type(event.fact).__name__


@given(events, st.data())
def test_an_event_with_another_value_in_one_place_is_taken_only_where_it_is_of_the_type(
    event: Event, data: st.DataObject
) -> None:
    values = _values(event)
    at = data.draw(st.integers(0, len(values) - 1))
    if type(values[at]) is tuple and values[at] and data.draw(st.booleans()):
        inner = list(values[at])
        inner[data.draw(st.integers(0, len(inner) - 1))] = data.draw(anything)
        values[at] = tuple(inner)
    else:
        values[at] = data.draw(anything)
    agree(packed(tuple(values)))


@given(events, st.data())
def test_an_event_with_a_value_more_or_less_is_refused(event: Event, data: st.DataObject) -> None:
    values = _values(event)
    at = data.draw(st.integers(0, len(values) - 1))
    assert agree(packed((*values[:at], *values[at + 1 :]))) is None
    assert agree(packed((*values[:at], data.draw(anything), *values[at:]))) is None


def longer(value: Any, data: st.DataObject) -> bytes:
    """`value` in a form that isn't the shortest: the next one, or the longest."""
    last = data.draw(st.booleans())
    match value:
        case bool() | None:
            return packed(value)
        case int():
            forms = [(">BB", 0xCC, 2**8), (">BH", 0xCD, 2**16), (">BI", 0xCE, 2**32), (">BQ", 0xCF, 2**64)]
            fitting = [(form, head) for form, head, limit in forms if value < limit]
            at = -1 if last or value >= 2**32 else int(value >= 2**7 and len(fitting) > 1)
            return struct.pack(*fitting[at], value)
        case str():
            text = value.encode()
            return struct.pack(">BI" if last else ">BH", 0xDB if last else 0xDA, len(text)) + text
        case bytes():
            return struct.pack(">BI" if last else ">BH", 0xC6 if last else 0xC5, len(value)) + value
        case _:
            head = struct.pack(">BI" if last else ">BH", 0xDD if last else 0xDC, len(value))
            return head + b"".join(map(packed, value))


@given(events, st.data())
def test_no_longer_form_of_any_value_is_taken(event: Event, data: st.DataObject) -> None:
    values = _values(event)
    at = data.draw(st.integers(0, len(values)))
    each = list(map(packed, values))
    if at < len(values):
        each[at] = longer(values[at], data)
        head = packed(tuple(values))[:1]
    else:
        head = longer(tuple(values), data)[:3]
        head = head if head[:1] == b"\xdc" else b"\xdd" + len(values).to_bytes(4, "big")
    body = head + b"".join(each)
    assert (agree(body) is None) == (body != codec.encode(event))


@given(events, st.binary(min_size=1, max_size=3), st.integers(1, 12))
def test_an_event_that_is_cut_or_goes_on_is_refused(event: Event, more: bytes, cut: int) -> None:
    body = codec.encode(event)
    assert agree(body + more) is None
    assert agree(body + body) is None
    assert agree(body[:-cut]) is None


@given(events, st.data())
def test_an_event_with_a_byte_changed_is_taken_only_where_that_is_another_event(
    event: Event, data: st.DataObject
) -> None:
    body = bytearray(codec.encode(event))
    body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    assert agree(bytes(body)) != event


@given(st.binary(max_size=60))
@example(b"")
@example(b"\x91" * 5000)
@example(b"\x94\x01\xa5Mixed" + b"\x91" * 5000)
@example(b"\x96\x01\xa6Turned\xdd\xff\xff\xff\xff")
@example(b"\x96\x01\xa6Turned\xdb\xff\xff\xff\xff")
@example(codec.body(5, CAUSE, TimeUp(()))[:-1] + b"\xdd\xff\xff\xff\xff\x00")
def test_bytes_that_are_no_event_are_refused(body: bytes) -> None:
    assert agree(body) is None


TURNED = Event(5, CAUSE, Turned(3, (Card(1), Card(2))))


@pytest.mark.parametrize(
    "body",
    [
        packed((1, "Turned", 5, CAUSE, True, (1, 2))),
        packed((1, "Turned", 5, CAUSE, 3.0, (1, 2))),
        packed((1, "Turned", 5, CAUSE, -3, (1, 2))),
        packed((1, "Turned", 5, CAUSE, "3", (1, 2))),
        packed((1, "Turned", 5, CAUSE, None, (1, 2))),
        packed((1, "Turned", 5, CAUSE, 3, (1, 2, 3))),
        packed((1, "Turned", 5, CAUSE, 3, (1,))),
        packed((1, "Turned", 5, CAUSE, 3, {1: 2})),
        packed((1, "Turned", 5, CAUSE, 3, b"\1\2")),
        packed((1, "Turned", 5, CAUSE, 3, (1, 2.0))),
        packed((1, "Turned", 5, CAUSE[:15], 3, (1, 2))),
        packed((1, "Turned", 5, CAUSE + b"x", 3, (1, 2))),
        packed((1, "Turned", 5, "0123456789abcdef", 3, (1, 2))),
        packed((1, "Turned", -5, CAUSE, 3, (1, 2))),
        packed((1, b"Turned", 5, CAUSE, 3, (1, 2))),
        packed((2, "Turned", 5, CAUSE, 3, (1, 2))),
        packed((True, "Turned", 5, CAUSE, 3, (1, 2))),
        packed((1.0, "Turned", 5, CAUSE, 3, (1, 2))),
        packed((1, "turned", 5, CAUSE, 3, (1, 2))),
        packed((1, "Moved", 5, CAUSE, 3, (1, 2))),
        msgpack.packb([1, msgpack.ExtType(5, b"Turned"), 5, CAUSE, 3, (1, 2)]),
        packed((1, "Finished", 5, CAUSE, 0, "\x00")).replace(b"\xa1\x00", b"\xa1\xff"),
        msgpack.packb({1: "Turned"}),
    ],
)
def test_a_value_of_another_kind_is_refused(body: bytes) -> None:
    assert agree(packed((1, "Turned", 5, CAUSE, 3, (1, 2)))) == TURNED
    assert agree(body) is None


@pytest.mark.parametrize(
    "fact",
    [
        TimeUp(()),
        TimeUp((0, 1)),
        Finished(None, "void"),
        Finished(INT_MAX, "ä" * 300),
        Opened("r", "m", (("down", 3), ("length", "full")), True, False, INT_MAX, 2**63, b"", bytes(70_000)),
    ],
)
def test_empty_long_and_large_values_come_back(fact: Any) -> None:
    assert agree(codec.encode(Event(INT_MAX, CAUSE, fact))) == Event(INT_MAX, CAUSE, fact)
