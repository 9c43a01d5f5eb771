"""Records built by `rules.frozen` are those that their class makes, frozen as they are."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any

import pytest

from rules import fifty_states, war
from rules.catalogue import FACTS
from rules.frozen import builder
from rules.game import Dealer, Table

RECORDS = [*FACTS.values(), Table, Dealer, war.Position, war.Hands, fifty_states.Position, fifty_states.Hands]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.__module__}.{record.__name__}")
def test_what_is_built_is_what_the_class_makes(record: Any) -> None:
    build: Any = builder(record)
    values = tuple(range(len(fields(record))))
    built, made = build(*values), record(*values)
    assert type(built) is record
    assert (built, hash(built), repr(built)) == (made, hash(made), repr(made))
    assert built != build(*values[:-1], None)
    assert pickle.loads(pickle.dumps(built)) == copy.deepcopy(built) == made
    assert replace(built, **{fields(record)[0].name: 7}) == replace(made, **{fields(record)[0].name: 7})


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.__module__}.{record.__name__}")
def test_nobody_can_write_to_what_is_built(record: Any) -> None:
    built = builder(record)(*range(len(fields(record))))
    for field in fields(record):
        with pytest.raises(FrozenInstanceError):
            setattr(built, field.name, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(built, field.name)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        built.another = 1
    assert not hasattr(built, "__dict__")


def test_what_is_left_out_is_what_the_class_leaves_out() -> None:
    assert builder(Table)(bytes(16)) == Table(bytes(16))
    assert builder(Dealer)(b"g", secret=b"s", seed=b"x") == Dealer(b"g", b"s", seed=b"x")
    with pytest.raises(TypeError):
        builder(war.Turned)(1)  # type: ignore[call-arg]


def test_a_record_with_more_slots_than_fields_is_none_of_ours() -> None:
    @dataclass(frozen=True)
    class Loose:
        a: int

    @dataclass(frozen=True, slots=True)
    class Base:
        a: int

    @dataclass(frozen=True, slots=True)
    class Derived(Base):
        b: int

    with pytest.raises(AttributeError):
        builder(Loose)
    with pytest.raises(AssertionError):
        builder(Derived)
