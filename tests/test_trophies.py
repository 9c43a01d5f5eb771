"""Trophies and milestones, by the vectors and by the rules' own sentences."""

import json
from pathlib import Path
from typing import Any

import pytest

from projections.trophies import (
    COLOURS,
    STREAKS,
    WIN_RATE_GAMES_MIN,
    WIN_RATES_PERCENT,
    Trophies,
    trophies,
    win_rates_reached,
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    path = Path(metafunc.config.getoption("vectors")) / "fifty_states.json"
    vectors = json.loads(path.read_text()) if path.is_file() else {}
    if "trophy_vector" in metafunc.fixturenames:
        cases = vectors.get("trophies", {}).get("cases", [])
        metafunc.parametrize("trophy_vector", cases, ids=[f"{each['wins']} wins" for each in cases])
    if "badge_vector" in metafunc.fixturenames:
        metafunc.parametrize("badge_vector", [vectors["badges"]] if "badges" in vectors else [], ids=["badges"])


def test_vector_of_wins_is_so_many_stars_medals_shields_and_flags(trophy_vector: dict[str, int]) -> None:
    expected = Trophies(*(trophy_vector[name] for name in Trophies._fields))
    assert trophies(trophy_vector["wins"]) == expected


def test_vector_of_badges_names_the_milestones(badge_vector: dict[str, Any]) -> None:
    assert badge_vector == {
        "streak": list(STREAKS),
        "win_rate_percent": list(WIN_RATES_PERCENT),
        "win_rate_min_games": WIN_RATE_GAMES_MIN,
    }


def test_trophies_are_worth_the_wins_they_stand_for() -> None:
    for wins in range(12_000):
        stars, medals, shields, flags = trophies(wins)
        assert stars + 10 * medals + 100 * shields + 1000 * flags == wins
        assert max(stars, medals, shields) < 10


def test_relaxed_is_bronze_strategic_silver_person_against_person_gold_and_war_earns_none() -> None:
    assert COLOURS == {"states-relaxed": "bronze", "states-strategic": "silver", "states-versus": "gold"}


def test_a_win_rate_counts_from_the_25th_game_on_and_exactly() -> None:
    assert win_rates_reached(24, 24) == ()
    assert win_rates_reached(25, 25) == WIN_RATES_PERCENT
    assert win_rates_reached(15, 25) == (60,)
    assert win_rates_reached(14, 25) == ()
    assert win_rates_reached(699_999, 1_000_000) == (60,)
    assert win_rates_reached(999_999, 1_000_000) == (60, 70, 80, 90)
