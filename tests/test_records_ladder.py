"""Records that follow from finished games: RULES.md's sentences, one by one, on records loaded directly."""

import pytest

from events import entries
from events.entries import Imported, LedgerEntry
from events.shapes import Undecodable
from projections import records, rivals
from projections.projection import fold
from projections.records import RECORDS, Badge, Row, key, shown, win_rate
from projections.rivals import RIVALS
from projections.trophies import Trophies
from tests.entries import MONDAY_MS, A, B, house, old, opening, versus

RELAXED, STRATEGIC = "states-relaxed", "states-strategic"


def record(*ledger: LedgerEntry, who: bytes = A, ladder: str = RELAXED) -> Row:
    return fold(RECORDS, enumerate(ledger)).get(key(who, ladder), Row())


def wins(count: int, ladder: str = RELAXED) -> list[LedgerEntry]:
    return [house(A, True, ladder)] * count


def losses(count: int, ladder: str = RELAXED) -> list[LedgerEntry]:
    return [house(A, False, ladder)] * count


def streaks(row: Row) -> list[int]:
    return [milestone for milestone, _, _ in row.streak_badges]


def rates(row: Row) -> list[int]:
    return [milestone for milestone, _, _ in row.win_rate_badges]


def test_ladders_never_mix() -> None:
    ledger = [*wins(2), *wins(3, STRATEGIC), versus(A, B, 0)]
    assert [record(*ledger, ladder=ladder).wins for ladder in (RELAXED, STRATEGIC, "states-versus")] == [2, 3, 1]
    assert record(*ledger, who=B, ladder="states-versus") == Row(games=1)


def test_one_star_a_win_in_the_ladder_of_the_game() -> None:
    row = record(*wins(12), *losses(4))
    assert shown(RELAXED, row)[:3] == ("bronze", 12, Trophies(2, 1, 0, 0))
    assert shown(STRATEGIC, record(*wins(3, STRATEGIC), ladder=STRATEGIC)).colour == "silver"
    assert shown("states-versus", record(versus(B, A, 1), ladder="states-versus"))[:2] == ("gold", 1)


def test_streak_milestones_are_earned_once_and_say_when() -> None:
    row = record(*wins(5), *losses(1), *wins(4))
    assert row.streak_badges == ((3, 2, MONDAY_MS), (5, 4, MONDAY_MS))
    assert (row.streak, row.best_streak) == (4, 5)
    assert streaks(record(*wins(50))) == [3, 5, 10, 25, 50]


def test_a_loss_ends_a_streak() -> None:
    assert streaks(record(*wins(2), *losses(1), *wins(2))) == []


def test_a_draw_ends_a_streak_and_counts_among_a_win_rates_games() -> None:
    row = record(*wins(2), house(A, None), *wins(1))
    assert (row.games, row.wins, row.draws, row.streak, row.best_streak) == (4, 3, 1, 1, 2)
    assert win_rate(row) == (3, 4)


def test_the_other_ladders_games_neither_count_nor_break_a_streak() -> None:
    assert streaks(record(*wins(2), *losses(9, STRATEGIC), *wins(1))) == [3]


def test_unfinished_games_neither_count_nor_break() -> None:
    begun = opening(house(A, True))
    assert record(*wins(2), begun, *wins(1)) == record(*wins(2), house(B, False), *wins(1))
    assert streaks(record(*wins(2), begun, *wins(1))) == [3]


def test_starting_over_is_a_resignation_a_loss() -> None:
    row = record(*wins(2), house(A, False, reason="resigned"), *wins(2))
    assert (row.games, row.streak, row.streak_badges) == (5, 2, ())


def test_a_game_lost_on_time_is_a_loss_and_for_the_other_a_win() -> None:
    ledger = [versus(A, B, 1, reason="time", owing=(0,))]
    assert record(*ledger, ladder="states-versus") == Row(games=1)
    assert record(*ledger, who=B, ladder="states-versus") == Row(games=1, wins=1, streak=1, best_streak=1)


@pytest.mark.parametrize("reason", ["void", "left", "lost"])
def test_a_void_a_left_game_and_a_lost_log_count_nowhere(reason: str) -> None:
    nothing = house(A, None, reason=reason)
    assert record(*wins(2), nothing, *wins(1)) == record(*wins(2), opening(house(A, True)), *wins(1))
    assert RIVALS.keys(0, nothing) == RECORDS.keys(0, nothing) == ()


def test_a_game_that_does_not_count_counts_nowhere() -> None:
    assert RECORDS.keys(0, house(A, True, counts=False)) == ()
    assert RIVALS.keys(0, house(A, True, counts=False)) == ()
    assert RECORDS.keys(0, versus(A, A, 0)) == ()


def test_both_late_is_a_loss_in_both_records_won_by_nobody() -> None:
    ledger = [versus(A, B, 0), versus(A, B, 1), versus(A, B, None, reason="both_late", owing=(0, 1))]
    for who in (A, B):
        row = record(*ledger, who=who, ladder="states-versus")
        assert (row.games, row.wins, row.draws, row.streak) == (3, 1, 0, 0)


def test_the_25th_game_is_included() -> None:
    assert rates(record(*losses(10), *wins(14))) == []
    row = record(*losses(10), *wins(15))
    assert row.win_rate_badges == ((60, 24, MONDAY_MS),)


def test_a_win_rate_is_checked_when_a_game_completes_also_a_lost_one() -> None:
    assert rates(record(*wins(24), *losses(1))) == [60, 70, 80, 90]
    assert rates(record(*wins(24), house(A, None))) == [60, 70, 80, 90]
    assert rates(record(*wins(25))) == [60, 70, 80, 90, 100]


def test_a_fall_below_keeps_the_badge() -> None:
    row = record(*wins(25), *losses(30), *wins(30))
    assert rates(row) == [60, 70, 80, 90, 100]
    assert {index for _, index, _ in row.win_rate_badges} == {24}
    assert shown(RELAXED, row).win_rate_badge == Badge(100, 24, MONDAY_MS)


def test_only_the_highest_badge_of_each_kind_is_shown_and_all_stay_recorded() -> None:
    row = record(*losses(5), *wins(20))
    assert shown(RELAXED, row)[3:] == (Badge(10, 14, MONDAY_MS), Badge(80, 24, MONDAY_MS))
    assert streaks(row) == [3, 5, 10]
    assert rates(row) == [60, 70, 80]
    assert shown(RELAXED, Row())[3:] == (None, None)


def test_an_import_awards_no_badge_by_itself() -> None:
    row = record(old(A, 30))
    assert (row.streak_badges, row.win_rate_badges) == ((), ())
    assert (row.games, row.old_games, row.old_wins) == (0, 30, 30)


def test_old_games_count_toward_win_rates_when_the_next_game_completes() -> None:
    row = record(old(A, 20, 4), *losses(1))
    assert row.win_rate_badges == ((60, 1, MONDAY_MS), (70, 1, MONDAY_MS), (80, 1, MONDAY_MS))
    assert win_rate(row) == (20, 25)


def test_old_games_never_count_toward_streaks_nor_break_one() -> None:
    row = record(*wins(2), old(A, 40, 3), *wins(1))
    assert streaks(row) == [3]
    assert row.best_streak == 3


def test_every_old_win_is_a_bronze_star_whatever_it_was_won_in() -> None:
    ledger = [old(A, 3, 1, STRATEGIC), old(A, 4, 1), *wins(1), *wins(2, STRATEGIC)]
    assert shown(RELAXED, record(*ledger)).stars == 8
    assert shown(STRATEGIC, record(*ledger, ladder=STRATEGIC)).stars == 2
    assert win_rate(record(*ledger, ladder=STRATEGIC)) == (5, 6)
    assert win_rate(record(*ledger)) == (5, 6)


def test_a_total_contains_the_recorded_ones() -> None:
    assert shown(RELAXED, record(old(A, 3, total=10))).stars == 10
    assert shown(RELAXED, record(old(A, 0, total=10), old(A, 3, ladder=STRATEGIC))).stars == 10
    assert shown(RELAXED, record(old(A, 12, total=10))).stars == 12


def test_a_bare_total_counts_toward_nothing_else() -> None:
    row = record(old(A, 0, total=1234), *wins(1))
    assert row._replace(old_total=0) == record(*wins(1))
    assert fold(RIVALS, enumerate([old(A, 0, total=1234)])) == {}


def test_war_earns_no_stars_badges_or_rivals() -> None:
    ledger = [versus(A, B, 0, "classic-versus")] * 30
    row = record(*ledger, ladder="classic-versus")
    assert (row.wins, row.best_streak, row.streak_badges, row.win_rate_badges) == (30, 30, (), ())
    assert shown("classic-versus", row) == (None, 0, Trophies(0, 0, 0, 0), None, None)
    assert RIVALS.keys(0, house(A, True, "classic-house", rival="opal-winterbourne")) == ()


def test_war_against_the_computer_counts_games_wins_and_draws_alone() -> None:
    ledger = [house(A, True, "classic-house"), house(A, None, "classic-house"), house(A, False, "classic-house")]
    left = house(A, None, "classic-house", reason="left")
    assert record(*ledger, left, ladder="classic-house") == Row(games=3, wins=1, draws=1)


def test_rival_record_is_per_rival_and_difficulty_with_old_games_marked() -> None:
    ledger = [
        *wins(2),
        *losses(1),
        *wins(1, STRATEGIC),
        house(A, True, rival="juniper-vale"),
        old(A, 2, 1, rival="opal-winterbourne"),
        old(A, 5, 5),
        versus(A, B, 0),
    ]
    rows = {rivals.parts(key)[1:]: row for key, row in fold(RIVALS, enumerate(ledger)).items()}
    assert rows == {
        (RELAXED, "opal-winterbourne"): rivals.Row(6, 4, 3, 2),
        (RELAXED, "juniper-vale"): rivals.Row(1, 1),
        (STRATEGIC, "opal-winterbourne"): rivals.Row(1, 1),
    }


def test_keys_say_whose_and_where() -> None:
    assert records.parts(key(A, RELAXED)) == (A, RELAXED)
    assert rivals.parts(rivals.key(A, RELAXED, "opal")) == (A, RELAXED, "opal")


def test_an_import_comes_back_from_its_bytes_and_nonsense_does_not() -> None:
    entry = Imported(bytes(16), MONDAY_MS, A, RELAXED, (("opal", True), ("", None), ("", False)), 7)
    assert entries.decode(entries.encode(entry)) == entry
    for wrong in ((("opal", 1),), (("opal",),), ((True, True),)):
        changed = Imported(bytes(16), MONDAY_MS, A, RELAXED, wrong, 7)  # type: ignore[arg-type]
        with pytest.raises(Undecodable):
            entries.decode(entries.encode(changed))
