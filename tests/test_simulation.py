"""Twenty thousand games through the rules, seeds fixed: the house wins as often as it must (four standard errors)."""

import os

import pytest

from tests.positions import Pick, Played, at_random, highest

BUDGET = int(os.environ.get("STATECRAFT_BUDGET", "1"))
GAMES = 20_000 * BUDGET

pytestmark = pytest.mark.slow


def wins_of_the_house(mode: str, person: Pick) -> float:
    """Percent."""
    won = 0
    for number in range(GAMES):
        finished = Played(mode, number).begin().finish(person).table.finished
        assert finished is not None
        won += finished.winner == 1
    return 100 * won / GAMES


def test_relaxed_wins_half_against_random_play() -> None:
    assert wins_of_the_house("relaxed", at_random(1)) == pytest.approx(50, abs=1.5)


def test_strategic_wins_55_percent_against_random_play() -> None:
    assert wins_of_the_house("strategic", at_random(2)) == pytest.approx(55.19, abs=1.5)


def test_strategic_wins_70_percent_against_highest_card_first() -> None:
    assert wins_of_the_house("strategic", highest) == pytest.approx(69.94, abs=1.5)


def test_random_against_random_lasts_as_long_as_the_rules_say() -> None:
    battles = rounds = 0
    for number in range(GAMES):
        position = Played("relaxed", number).begin().finish(at_random(number)).table.position
        battles += position.battle - 1
        rounds += position.round - 1
    # Measured standard deviations are 1.55 battles and 0.98 rounds a game: four standard errors of their means.
    assert battles / GAMES == pytest.approx(10.93, abs=0.05)
    assert rounds / GAMES == pytest.approx(3.22, abs=0.035)
