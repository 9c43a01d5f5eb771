"""The boards: which there are, what they measure, in which window, in which order."""

import pytest

from events.entries import LedgerEntry
from projections import elo, leaderboard
from projections.leaderboard import (
    LADDERS,
    LEADERBOARD,
    VALUE_MAX,
    BadBoard,
    Board,
    Row,
    board,
    index_of,
    measures,
    score,
    score_of,
    standing,
    value_of,
)
from projections.projection import fold
from projections.windows import DAY_MS, BadWindow
from tests.entries import MONDAY_MS, A, B, house, old, opening, versus

RELAXED, VERSUS = "states-relaxed", "states-versus"
ALL, LAST_WEEK, SUNDAY, WEEK, MONDAY = "all", "2026-W48", "2026-11-29", "2026-W49", "2026-11-30"


def row(*ledger: LedgerEntry, who: bytes = A, ladder: str = RELAXED, window: str = ALL) -> Row:
    return fold(LEADERBOARD, enumerate(ledger)).get(leaderboard.prefix(ladder, window) + who, Row())


def test_ladders_and_measures_are_those_of_the_rules() -> None:
    assert measures(RELAXED) == measures("states-strategic") == ("wins", "best_streak", "current_streak", "win_rate")
    assert measures(VERSUS) == (*measures(RELAXED), "rating")
    for ladder in ("playbook-versus", "gameweave-versus", "classic-versus"):
        assert measures(ladder) == ("wins", "best_streak", "current_streak")
    assert not any(ladder.endswith("-house") for ladder in LADDERS)


def test_war_against_the_computer_has_no_board() -> None:
    assert LEADERBOARD.keys(0, house(A, True, "classic-house")) == ()
    with pytest.raises(BadBoard):
        board("classic-house", "wins", "all", MONDAY_MS)


@pytest.mark.parametrize(
    ("ladder", "measure", "window"),
    [
        (RELAXED, "rating", "all"),
        ("classic-versus", "win_rate", "all"),
        (RELAXED, "current_streak", "week"),
        (VERSUS, "rating", "2026-W48"),
        (RELAXED, "luck", "all"),
        ("states", "wins", "all"),
    ],
)
def test_there_is_no_board_but_those(ladder: str, measure: str, window: str) -> None:
    with pytest.raises(BadBoard):
        board(ladder, measure, window, MONDAY_MS)


def test_a_board_of_the_week_is_resolved_when_asked() -> None:
    assert board(RELAXED, "wins", "week", MONDAY_MS - 1) == Board(RELAXED, "wins", LAST_WEEK)
    assert board(RELAXED, "wins", "week", MONDAY_MS) == Board(RELAXED, "wins", WEEK)
    with pytest.raises(BadWindow):
        board(RELAXED, "wins", "2026-W54", MONDAY_MS)


def test_what_counts_nowhere_and_what_is_imported_is_on_no_board() -> None:
    nothing: list[LedgerEntry] = [
        old(A, 50),
        opening(house(A, True)),
        house(A, True, counts=False),
        house(A, None, reason="void"),
        versus(A, A, 0),
    ]
    assert fold(LEADERBOARD, enumerate(nothing)) == {}


def test_each_value_cites_the_entry_that_gave_it() -> None:
    ledger: list[LedgerEntry] = [
        house(A, True),
        house(A, True),
        house(A, False),
        house(A, True),
        opening(house(A, True)),
    ]
    found = row(*ledger)
    assert standing("wins", found) == (3, 3)
    assert standing("best_streak", found) == (2, 1)
    assert standing("current_streak", found) == (1, 3)
    assert standing("win_rate", found) is None


def test_nobody_without_a_win_stands_on_a_board_of_wins_or_streaks() -> None:
    found = row(house(A, False))
    assert [standing(measure, found) for measure in measures(RELAXED)] == [None] * 4
    assert standing("current_streak", row(house(A, True), house(A, False))) is None
    assert standing("best_streak", row(house(A, True), house(A, False))) == (1, 0)


def test_a_win_rate_needs_a_hundred_games_in_its_window() -> None:
    wins, losses = [house(A, True)] * 66, [house(A, False)] * 33
    assert standing("win_rate", row(*wins, *losses)) is None
    assert standing("win_rate", row(*wins, *losses, house(A, False))) == (660_000, 99)
    assert standing("win_rate", row(*wins, *losses, house(A, True), house(A, True))) == (673_267, 100)
    earlier = [house(A, True, at_ms=MONDAY_MS - 1)]
    ledger = [*earlier, *wins, *losses]
    assert standing("win_rate", row(*ledger)) == (670_000, 99)
    assert standing("win_rate", row(*ledger, window=WEEK)) is None
    assert standing("win_rate", row(*ledger, house(A, False), window=WEEK)) == (660_000, 100)


def test_a_win_rate_of_nothing_in_a_hundred_games_is_one() -> None:
    assert standing("win_rate", row(*[house(A, False)] * 101)) == (0, 99)


def test_a_value_that_stays_keeps_its_entry() -> None:
    assert standing("win_rate", row(*[house(A, True)] * 102)) == (1_000_000, 99)


def test_a_draw_ends_a_streak_and_both_late_is_a_loss_for_both() -> None:
    ledger = [versus(A, B, 0), versus(A, B, None, reason="battle_limit"), versus(A, B, 1)]
    assert row(*ledger, ladder=VERSUS)[:2] == (3, 1)
    late = [versus(A, B, 0), versus(A, B, None, reason="both_late")]
    for who, wins in ((A, 1), (B, 0)):
        found = row(*late, who=who, ladder=VERSUS)
        assert (found.games, found.wins, found.streak) == (2, wins, 0)
    first = elo.START + 20_00
    assert row(*late, ladder=VERSUS).rating == first - 40 * elo.expected(first, elo.START - 20_00) < elo.START


def test_a_millisecond_before_midnight_belongs_to_the_day_before() -> None:
    ledger = [house(A, True, at_ms=MONDAY_MS - 1), house(A, True, at_ms=MONDAY_MS), house(A, True, at_ms=MONDAY_MS + 1)]
    for window, wins in ((ALL, 3), (LAST_WEEK, 1), (SUNDAY, 1), (WEEK, 2), (MONDAY, 2), ("2026-12-01", 0)):
        assert row(*ledger, window=window).wins == wins, window


def test_a_finish_recorded_late_belongs_to_the_window_of_its_recorded_time() -> None:
    ledger = [house(A, True, at_ms=MONDAY_MS + DAY_MS), house(B, True), house(A, True, at_ms=MONDAY_MS - 1)]
    late = row(*ledger, window=SUNDAY)
    assert standing("wins", late) == (1, 2)
    assert standing("wins", row(*ledger, window="2026-12-01")) == (1, 0)
    assert standing("current_streak", row(*ledger)) == (2, 2)


def test_a_windows_best_streak_is_made_of_its_own_games() -> None:
    ledger = [house(A, True, at_ms=MONDAY_MS + offset) for offset in (-3, -2, -1, 0, 1)]
    assert [row(*ledger, window=window).best for window in (ALL, SUNDAY, MONDAY)] == [5, 3, 2]


def test_ratings_are_of_games_between_people_and_for_all_time() -> None:
    ledger = [versus(A, B, 0), versus(A, B, 0)]
    winner, loser = row(*ledger, ladder=VERSUS), row(*ledger, who=B, ladder=VERSUS)
    second = 40 * (100 - elo.expected(elo.START + 20_00, elo.START - 20_00))
    assert standing("rating", winner) == (elo.START + 20_00 + second, 1)
    assert standing("rating", loser) == (elo.START - 20_00 - second, 1)
    assert row(*ledger, ladder=VERSUS, window=WEEK).rating == elo.START
    assert row(versus(A, B, 0, "classic-versus"), ladder="classic-versus").rating == elo.START


def test_the_order_is_value_then_whoever_got_there_first_exact_in_a_double() -> None:
    assert score(5, 900) < score(4, 3) < score(4, 4) < score(0, 0)
    for value, index in ((0, 2**33 - 1), (VALUE_MAX, 0), (1_000_000, 123_456_789), (0, 0)):
        number = score(value, index)
        assert 0 <= number < 2**53
        assert int(float(number)) == number
        assert (value_of(number), index_of(number)) == (value, index)
    assert score(VALUE_MAX + 7, 1) == score(VALUE_MAX, 1)
    assert score_of("wins", Row()) is None
