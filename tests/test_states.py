"""The fifty states: their order is the strength of the cards, so it must be history's."""

from datetime import date
from itertools import pairwise

import pytest

from rules.states import STATES


def test_there_are_fifty_numbered_from_one() -> None:
    assert [state.number for state in STATES] == list(range(1, 51))


def test_they_stand_in_order_of_statehood() -> None:
    dated = [(date.fromisoformat(state.statehood), state.number) for state in STATES]
    assert dated == sorted(dated)
    assert dated[0][0] == date(1787, 12, 7)
    assert dated[-1][0] == date(1959, 8, 21)


def test_states_of_one_day_stand_in_order_of_the_alphabet() -> None:
    shared = [(a.name, b.name) for a, b in pairwise(STATES) if a.statehood == b.statehood]
    assert shared == [("North Dakota", "South Dakota")]


def test_names_and_postal_codes_are_unique() -> None:
    assert len({state.name for state in STATES}) == 50
    assert len({state.postal for state in STATES}) == 50
    assert all(len(state.postal) == 2 and state.postal.isascii() and state.postal.isupper() for state in STATES)
    assert "DC" not in {state.postal for state in STATES}


@pytest.mark.parametrize(
    ("number", "name", "postal", "statehood"),
    [
        (1, "Delaware", "DE", "1787-12-07"),
        (9, "New Hampshire", "NH", "1788-06-21"),
        (13, "Rhode Island", "RI", "1790-05-29"),
        (14, "Vermont", "VT", "1791-03-04"),
        (15, "Kentucky", "KY", "1792-06-01"),
        (16, "Tennessee", "TN", "1796-06-01"),
        (17, "Ohio", "OH", "1803-03-01"),
        (26, "Michigan", "MI", "1837-01-26"),
        (28, "Texas", "TX", "1845-12-29"),
        (35, "West Virginia", "WV", "1863-06-20"),
        (39, "North Dakota", "ND", "1889-11-02"),
        (40, "South Dakota", "SD", "1889-11-02"),
        (46, "Oklahoma", "OK", "1907-11-16"),
        (49, "Alaska", "AK", "1959-01-03"),
        (50, "Hawaii", "HI", "1959-08-21"),
    ],
)
def test_the_almanac_agrees(number: int, name: str, postal: str, statehood: str) -> None:
    assert STATES[number - 1] == (number, name, postal, statehood)
