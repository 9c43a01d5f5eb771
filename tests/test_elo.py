"""Ratings: the published table, whole numbers, and a test that may use floats to say what the table means."""

from projections.elo import BOUNDS, K_NEW, NEW_GAMES, RATING_MAX, START, K, expected, rated
from projections.outcomes import Outcome


def test_the_table_rises_and_stays_within_three_hundredths_of_elos_curve() -> None:
    assert len(BOUNDS) == 50
    assert list(BOUNDS) == sorted(set(BOUNDS))
    for points in range(2000):
        curve = 100 / (1 + 10 ** (-points / 400))
        assert abs(expected(START + 100 * points, START) - curve) < 3


def test_the_bounds_belong_to_the_lower_band() -> None:
    for at, bound in enumerate(BOUNDS):
        assert expected(START + 100 * bound + 99, START) == 50 + at
        assert expected(START + 100 * (bound + 1), START) == 51 + at


def test_two_players_are_expected_to_make_one_game_between_them() -> None:
    for difference in range(0, 100_000, 7):
        assert expected(START, START + difference) + expected(START + difference, START) == 100


def test_what_one_wins_the_other_loses_once_both_are_known() -> None:
    for own, other in ((START, START), (START + 12_345, START), (START, START + 99_999)):
        won, lost = (rated(own, other, NEW_GAMES, outcome) for outcome in (Outcome.WON, Outcome.LOST))
        assert won + rated(other, own, NEW_GAMES, Outcome.LOST) == own + other
        assert won - lost == 100 * K


def test_new_players_move_faster_through_their_30th_game() -> None:
    assert rated(START, START, NEW_GAMES - 1, Outcome.WON) == START + 50 * K_NEW
    assert rated(START, START, NEW_GAMES, Outcome.WON) == START + 50 * K


def test_a_rating_stays_within_what_a_board_can_hold() -> None:
    assert rated(0, 0, 0, Outcome.LOST) == 0
    assert rated(RATING_MAX, RATING_MAX, 0, Outcome.WON) == RATING_MAX
