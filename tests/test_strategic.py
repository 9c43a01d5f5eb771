"""Point 6 of fifty-states/1, Strategic. The only place where the table is proved, and not in the way it was made: by
duality for the value, by elimination of directions for the choice among optimal mixes, by games for the totals."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import gcd
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import strategic
from rules.strategic import TEXT, WEIGHTS, flip, play, position, value, worth
from scripts import solve_strategic

Mix = tuple[Fraction, ...]
Policy = Callable[[str], Mix]

ROUND_ONE_ENDS = ["".join(letters) for letters in product("ab", repeat=7)]


def mix(weights: tuple[int, ...]) -> Mix:
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def dot(left: Mix, right: Mix) -> Fraction:
    return sum((x * y for x, y in zip(left, right, strict=True)), start=Fraction(0))


def table(key: str) -> Mix:
    return mix(WEIGHTS[key])


def random(key: str) -> Mix:
    return mix((1,) * key.count("a"))


def highest(key: str) -> Mix:
    return mix((0,) * (key.count("a") - 1) + (1,))


def matrix(key: str, chance: Callable[[str], Fraction]) -> list[Mix]:
    def worth_of(after: str | bool) -> Fraction:
        return Fraction(after) if isinstance(after, bool) else chance(after)

    return [tuple(worth_of(play(key, own, other)) for other in range(key.count("b"))) for own in range(key.count("a"))]


def over_round_one(chance: Callable[[str], Fraction]) -> Fraction:
    """The mean over the 128 ends of round one; in two of them one side has every card and has won."""
    total = sum((chance(key) for key in ROUND_ONE_ENDS if len(set(key)) == 2), start=Fraction(1))
    return total / len(ROUND_ONE_ENDS)


def wins(own: Policy, other: Policy) -> Fraction:
    @cache
    def chance(key: str) -> Fraction:
        against = other(flip(key))
        return dot(own(key), tuple(dot(row, against) for row in matrix(key, chance)))

    return over_round_one(chance)


def best_wins(other: Policy) -> Fraction:
    """What whoever knows the other's policy wins: every choice the best there is."""

    @cache
    def chance(key: str) -> Fraction:
        against = other(flip(key))
        return max(dot(row, against) for row in matrix(key, chance))

    return over_round_one(chance)


# A way out is a direction in which a mix can be changed a little and stays optimal. It adds up to zero, takes nothing
# from a card without weight and lowers no column that is already at the value. If one begins with zeros and then +1,
# the mix has too little weight on that card; if one begins with zeros and then -1, there is an optimal mix besides it.


def way_out(rows: list[Mix], chosen: Mix, worth_of_game: Fraction, first: int, sign: int) -> bool:
    cards = range(len(rows))
    columns = [tuple(row[column] for row in rows) for column in range(len(rows[0]))]
    demands = [tuple(Fraction(card == other) for other in cards) for card in cards if chosen[card] == 0]
    demands += [column for column in columns if dot(column, chosen) == worth_of_game]
    demands += [(Fraction(1),) * len(rows), (Fraction(-1),) * len(rows)]
    # Cards before `first` don't change, `first` changes by sign; the rest is unknown.
    return solvable({(*demand[first + 1 :], sign * demand[first]) for demand in demands})


def solvable(demands: set[Mix]) -> bool:
    """Whether some x makes c·x + d >= 0 for all (c, d): Fourier-Motzkin, one unknown after the other eliminated."""
    for _ in range(len(next(iter(demands))) - 1):
        below = [demand for demand in demands if demand[0] > 0]
        above = [demand for demand in demands if demand[0] < 0]
        demands = {demand[1:] for demand in demands if demand[0] == 0} | {
            tuple(x / low[0] - y / high[0] for x, y in zip(low[1:], high[1:], strict=True))
            for low, high in product(below, above)
        }
    return all(constant >= 0 for (constant,) in demands)


def optimal(rows: list[Mix], chosen: Mix, other: Mix) -> bool:
    """Duality: what my mix guarantees is all that the other's lets me have, so neither can be bettered."""
    guaranteed = min(dot(tuple(row[column] for row in rows), chosen) for column in range(len(other)))
    return guaranteed == max(dot(row, other) for row in rows)


def rightful(key: str, weights: tuple[int, ...]) -> bool:
    """Whether these are the weights that the rules name for this key, all others being right."""
    if len(weights) != key.count("a") or min(weights) < 0 or gcd(*weights) != 1:
        return False
    rows, chosen = matrix(key, value), mix(weights)
    return optimal(rows, chosen, table(flip(key))) and not any(
        way_out(rows, chosen, value(key), card, +1) for card in range(len(rows))
    )


def test_850_positions_follow_from_the_ends_of_round_one() -> None:
    seen: set[str] = set()
    ahead = {key for key in ROUND_ONE_ENDS if len(set(key)) == 2}
    assert len(ahead) == 126
    while ahead:
        seen |= ahead
        turns = ((key, own, other) for key in ahead for own, other in product(range(7), repeat=2))
        after = {play(*turn) for turn in turns if turn[1] < turn[0].count("a") and turn[2] < turn[0].count("b")}
        ahead = {key for key in after if isinstance(key, str)} - seen
    assert len(seen) == 850
    assert set(WEIGHTS) == seen == {flip(key) for key in seen}


def test_a_matrix_game_is_at_most_three_by_four() -> None:
    sizes = {tuple(sorted((key.count("a"), key.count("b")))) for key in WEIGHTS}
    assert {size for size in sizes if size[0] > 1} == {(2, 2), (2, 3), (2, 5), (3, 4)}


@pytest.mark.parametrize("cards", range(2, 8))
def test_each_row_is_the_optimal_mix_with_most_weight_on_low_cards(cards: int) -> None:
    keys = [key for key in WEIGHTS if len(key) == cards]
    assert keys
    assert [key for key in keys if not rightful(key, WEIGHTS[key])] == []


def test_531_positions_have_several_optimal_mixes() -> None:
    several = [
        key
        for key in WEIGHTS
        if any(way_out(matrix(key, value), table(key), value(key), card, -1) for card in range(key.count("a")))
    ]
    assert len(several) == 531
    assert several == [key for key, found in solve_strategic.solve().items() if len(found.corners) > 1]


def test_a_row_with_one_weight_changed_is_never_the_named_mix() -> None:
    for key, weights in WEIGHTS.items():
        for card, weight in enumerate(weights):
            for wrong in (weight + 1, weight - 1):
                twin = (*weights[:card], wrong, *weights[card + 1 :])
                assert not rightful(key, twin), (key, twin)


def test_of_two_optimal_mixes_the_one_without_the_low_card_is_refused() -> None:
    assert WEIGHTS["aabab"] == (1, 0, 1)
    assert optimal(matrix("aabab", value), mix((0, 1, 1)), table("bbaba"))
    assert not rightful("aabab", (0, 1, 1))


def test_weights_that_are_not_coprime_are_refused() -> None:
    assert rightful("ab", (1,))
    assert not rightful("ab", (2,))


def test_both_sides_agree_on_the_value() -> None:
    assert all(value(key) + value(flip(key)) == 1 for key in WEIGHTS)


def test_no_choice_is_worth_more_than_the_position_and_chosen_cards_are_worth_exactly_that() -> None:
    for key, weights in WEIGHTS.items():
        assert max(worth(key)) == value(key)
        assert all(chance == value(key) for chance, weight in zip(worth(key), weights, strict=True) if weight)


def test_against_random_play_it_wins_exactly_this_often() -> None:
    assert wins(table, random) == Fraction(57964458773, 105020375040)
    assert 1 - wins(random, table) == Fraction(57964458773, 105020375040)


def test_against_highest_card_first_it_wins_exactly_this_often() -> None:
    assert wins(table, highest) == Fraction(6375907, 9116352)


def test_no_policy_wins_more_often_than_5542_in_10000_against_random_play() -> None:
    assert best_wins(random) == Fraction(8513, 15360)
    assert round(best_wins(random) * 10000) == 5542
    assert wins(table, random) < best_wins(random)


def test_a_best_response_to_it_wins_exactly_half() -> None:
    assert best_wins(table) == over_round_one(value) == Fraction(1, 2)


def test_a_best_response_to_highest_card_first_wins_more_than_half() -> None:
    assert best_wins(highest) > Fraction(1, 2)


def test_a_check_writes_nothing_and_fails_until_the_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(solve_strategic, "ROOT", tmp_path)
    assert solve_strategic.main(["--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err.count("is not what the solver makes") == 2
    assert solve_strategic.main([]) == 0
    assert solve_strategic.main(["--check"]) == 0


def test_the_solver_makes_the_stored_files_byte_for_byte() -> None:
    assert solve_strategic.main(["--check"]) == 0
    assert solve_strategic.text(solve_strategic.solve()) == TEXT


def test_browsers_are_served_the_published_text_byte_for_byte() -> None:
    assert (solve_strategic.ROOT / "server/web/verify/strategic.txt").read_bytes() == TEXT.encode("ascii")


def test_a_flipped_byte_in_either_file_is_noticed(tmp_path: Path) -> None:
    solve_strategic.write(tmp_path, TEXT)
    assert solve_strategic.stale(tmp_path, TEXT) == []
    for path, content in solve_strategic.files(TEXT).items():
        (tmp_path / path).write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        assert solve_strategic.stale(tmp_path, TEXT) == [path]
        (tmp_path / path).unlink()
        assert solve_strategic.stale(tmp_path, TEXT) == [path]
        (tmp_path / path).write_bytes(content)


def test_the_published_text_is_sorted_ascii_one_line_a_position() -> None:
    lines = TEXT.split("\n")
    assert lines.pop() == ""
    assert lines == [f"{key} {' '.join(map(str, weights))}" for key, weights in WEIGHTS.items()]
    assert list(WEIGHTS) == sorted(WEIGHTS, key=lambda key: (len(key), key))
    assert TEXT.isascii()


def test_nobody_can_write_into_the_table() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        strategic.WEIGHTS["ab"] = (1,)  # type: ignore[index]


def test_a_position_that_round_one_never_leads_to_has_no_value() -> None:
    with pytest.raises(KeyError):
        value("aabb" * 2)


def test_a_card_in_two_places_or_an_empty_hand_is_no_position() -> None:
    assert position({3}, {2}, {1}, ()) == "Aba"
    with pytest.raises(AssertionError, match="one place"):
        position({3}, {2}, {3}, ())
    with pytest.raises(AssertionError, match="empty hand"):
        position((), {2}, {1}, ())
    with pytest.raises(AssertionError, match="empty hand"):
        position({3}, (), {1}, ())


Seats = tuple[set[int], set[int], set[int], set[int]]


@st.composite
def seats(draw: st.DrawFn) -> Seats:
    """Two hands and two piles of captured cards of the fifty, both hands holding a card, as a battle finds them."""
    cards = draw(st.lists(st.integers(1, 50), min_size=2, max_size=10, unique=True))
    owners = [0, 1, *draw(st.lists(st.integers(0, 3), min_size=len(cards) - 2, max_size=len(cards) - 2))]
    return (
        {card for card, owner in zip(cards, owners, strict=True) if owner == 0},
        {card for card, owner in zip(cards, owners, strict=True) if owner == 1},
        {card for card, owner in zip(cards, owners, strict=True) if owner == 2},
        {card for card, owner in zip(cards, owners, strict=True) if owner == 3},
    )


def battle(start: Seats, own: int, other: int) -> Seats | bool:
    """One battle and a round's end by the words of the rules, on cards."""
    mine, theirs, my_captures, their_captures = start
    hands, captures = [mine - {own}, theirs - {other}], [set(my_captures), set(their_captures)]
    captures[0 if own > other else 1].add(min(own, other))
    if not all(hands):
        hands, captures = [hands[0] | captures[0], hands[1] | captures[1]], [set(), set()]
        if not all(hands):
            return bool(hands[0])
    return hands[0], hands[1], captures[0], captures[1]


anywhere = settings(deadline=None, derandomize=True)


@anywhere
@given(seats(), st.data())
def test_a_key_follows_from_a_key_as_cards_follow_from_cards(start: Seats, data: st.DataObject) -> None:
    own, other = data.draw(st.sampled_from(sorted(start[0]))), data.draw(st.sampled_from(sorted(start[1])))
    places = sorted(start[0]).index(own), sorted(start[1]).index(other)
    cards, key = battle(start, own, other), play(position(*start), *places)
    assert key == (cards if isinstance(cards, bool) else position(*cards))


@anywhere
@given(seats(), st.data())
def test_both_sides_see_the_same_battle(start: Seats, data: st.DataObject) -> None:
    key = position(*start)
    own, other = data.draw(st.integers(0, len(start[0]) - 1)), data.draw(st.integers(0, len(start[1]) - 1))
    mine, theirs = play(key, own, other), play(flip(key), other, own)
    assert theirs == (not mine if isinstance(mine, bool) else flip(mine))


@anywhere
@given(seats())
def test_flipping_is_changing_seats_and_twice_changes_nothing(start: Seats) -> None:
    own, other, own_captured, other_captured = start
    assert flip(position(*start)) == position(other, own, other_captured, own_captured)
    assert flip(flip(position(*start))) == position(*start)


@anywhere
@given(seats())
def test_only_the_order_of_live_cards_counts(start: Seats) -> None:
    rank = {card: place for place, card in enumerate(sorted(set().union(*start)))}
    own, other, own_captured, other_captured = ([rank[card] for card in cards] for cards in start)
    assert position(own, other, own_captured, other_captured) == position(*start)


@anywhere
@given(seats(), st.data())
def test_each_battle_takes_one_card_out_of_the_game(start: Seats, data: st.DataObject) -> None:
    key = position(*start)
    own, other = data.draw(st.integers(0, len(start[0]) - 1)), data.draw(st.integers(0, len(start[1]) - 1))
    after = play(key, own, other)
    assert isinstance(after, bool) or len(after) == len(key) - 1
