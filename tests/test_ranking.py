"""A board in memory against a plain sorted list: every position, rank and slice after every change."""

import random
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.leaderboard import score, value_of
from projections.ranking import Ranking
from tests.entries import player


def agree(kept: Ranking, model: dict[bytes, int], where: list[int]) -> None:
    ordered = sorted((score, who) for who, score in model.items())
    assert len(kept) == len(ordered)
    assert [(score, who) for who, score in kept.slice(0, len(ordered) + 1)] == ordered
    for position in where:
        if position < len(ordered):
            value, who = ordered[position]
            assert kept.score(who) == value
            assert kept.position(who) == position
            assert kept.ahead(value) == sum(value_of(each) > value_of(value) for each, _ in ordered)
            assert list(kept.slice(position, 5)) == [
                (who, value) for value, who in islice(ordered, position, position + 5)
            ]


changes = st.lists(
    st.tuples(st.integers(0, 30), st.none() | st.builds(score, st.integers(0, 4), st.integers(0, 6))), max_size=80
)


@given(changes, st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_after_every_change_it_is_the_sorted_list(steps: list[tuple[int, int | None]], loaded: int) -> None:
    model: dict[bytes, int] = {}
    for number, value in steps[:loaded]:
        if value is not None:
            model[player(number)] = value
    kept = Ranking(model.items(), block_rows=4)
    for number, value in steps[loaded:]:
        kept.put(player(number), value)
        kept.put(player(number), value)  # Doing it twice is harmless.
        if value is None:
            model.pop(player(number), None)
        else:
            model[player(number)] = value
        agree(kept, model, list(range(len(model))))


def test_thousands_of_players_coming_rising_and_leaving() -> None:
    chance = random.Random(3)
    model = {player(number): score(chance.randrange(50), number) for number in range(9000)}
    kept = Ranking(model.items())
    for step in range(9000, 24_000):
        who = player(chance.randrange(12_000))
        value = None if chance.random() < 0.6 and step > 14_000 else score(chance.randrange(50), step)
        kept.put(who, value)
        if value is None:
            model.pop(who, None)
        else:
            model[who] = value
        if step % 1500 == 0:
            agree(kept, model, [chance.randrange(9000) for _ in range(20)])
    for who in list(model):
        kept.put(who, None)
        model.pop(who)
    agree(kept, model, [])


def test_two_players_of_one_entry_stand_by_their_ids() -> None:
    low, high = sorted((player(1), player(2)))
    for rows in ([(low, 7), (high, 7)], [(high, 7), (low, 7)]):
        assert [who for who, _ in Ranking(rows).slice(0, 9)] == [low, high]
    assert Ranking([(low, 7)]).position(high) is None
    assert list(Ranking().slice(0, 3)) == []
    assert Ranking().ahead(5) == 0


def test_a_player_whose_id_begins_inside_anothers_is_not_mistaken() -> None:
    # The bucket holds ids end to end: this one also stands across two others.
    first, second = bytes(16), bytes(8) + bytes(range(1, 9))
    across = bytes(16)[8:] + second[:8]
    kept = Ranking([(second, 5)])
    assert kept.score(first) is None
    kept.put(across, 6)
    assert kept.score(across) == 6
    kept.put(second, None)
    assert (kept.score(second), kept.score(across)) == (None, 6)
