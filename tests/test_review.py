"""The review after the end: exact values from round two on, and what each choice cost."""

from fractions import Fraction

import pytest

from projections.review import review
from rules import strategic
from rules.game import Resign
from tests.positions import Played, at_random


@pytest.mark.parametrize("number", range(12))
def test_every_choice_from_round_two_on_is_weighed_and_none_of_round_one(number: int) -> None:
    played = Played("strategic", number).begin().finish(at_random(number))
    battles = [table.position for table, _ in played.folds if table.dealt and not table.finished]
    expected = [position.battle for position in battles if position.round > 1]
    assert [reviewed.battle for reviewed in review(played.game, played.events)] == expected


@pytest.mark.parametrize("number", range(12))
def test_a_choice_costs_what_it_is_worth_less_and_a_best_one_costs_nothing(number: int) -> None:
    played = Played("strategic", number).begin().finish(at_random(number))
    for reviewed in review(played.game, played.events):
        assert min(choice.cost for choice in reviewed.choices) == 0
        assert all(choice.worth + choice.cost == reviewed.value for choice in reviewed.choices)
        assert reviewed.chosen in [choice.card for choice in reviewed.choices]
        assert 0 <= reviewed.value <= 1


def test_the_last_battle_of_a_won_game_is_worth_a_win() -> None:
    for number in range(60):
        played = Played("relaxed", number).begin().finish(at_random(number))
        reviewed = review(played.game, played.events)
        assert played.table.finished is not None
        if reviewed and played.table.finished.winner == 0:
            chosen = next(each for each in reviewed[-1].choices if each.card == reviewed[-1].chosen)
            assert chosen.worth > 0


def test_values_are_those_of_the_published_table_at_that_position() -> None:
    played = Played("strategic", 3).begin().finish(at_random(3))
    first, *_ = review(played.game, played.events)
    position = next(
        table.position for table, _ in played.folds if table.dealt and table.position.battle == first.battle
    )
    key = strategic.position(*position.known, *position.captured)
    assert first.value == strategic.value(key)
    assert [choice.worth for choice in first.choices] == list(strategic.worth(key))
    assert isinstance(first.value, Fraction)


def test_a_game_that_ended_in_round_one_has_nothing_to_review() -> None:
    played = Played("relaxed", 1).begin()
    played.do(Resign())
    assert review(played.game, played.events) == ()
    assert review(played.game, ()) == ()
