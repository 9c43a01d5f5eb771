"""Every position of fifty_states.json, through the product's own rules (`--vectors DIR` runs another folder)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rules import fairness, game
from rules.fifty_states import FIFTY_STATES, Captured, Commit, Play, Position, Reveal
from rules.game import Card, Dealer, Fact, Finished, Moved, Refused, Table
from tests.positions import GAME, NOW, dealt

SALT = bytes(32)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    path = Path(metafunc.config.getoption("vectors")) / "fifty_states.json"
    vectors = json.loads(path.read_text())["vectors"] if path.is_file() else []
    if "vector" in metafunc.fixturenames:
        metafunc.parametrize("vector", vectors, ids=[each["id"] for each in vectors])


def battle(table: Table, dealer: Dealer, cards: tuple[int, int]) -> tuple[Table, Dealer, list[Fact]]:
    """Both seats commit and reveal; the facts of all four appends."""
    number = table.position.battle
    commands: list[tuple[int, Any]] = [
        (seat, Commit(number, fairness.seal(GAME, seat, number, cards[seat], SALT))) for seat in (1, 0)
    ]
    commands += [(seat, Reveal(number, Card(cards[seat]), SALT)) for seat in (0, 1)]
    facts: list[Fact] = []
    for seat, command in commands:
        moved = game.move(FIFTY_STATES, table, dealer, seat, command, NOW)
        assert isinstance(moved, Moved), moved
        table, dealer = moved.table, moved.dealer
        facts += moved.facts
    return table, dealer, facts


def seen(before: Position, table: Table, dealer: Dealer, cards: tuple[int, int], facts: list[Fact]) -> dict[str, Any]:
    """What a vector's `expect` says, read off the table and the dealer."""
    (captured,) = [fact for fact in facts if isinstance(fact, Captured)]
    position: Position = table.position
    told: dict[str, Any] = {
        "round": before.round,
        "match": before.match,
        "cards": list(cards),
        "winner": captured.seat,
        "discarded": captured.discarded,
        "captured": captured.card,
        "round_over": position.round > before.round,
        "game_over": table.finished is not None,
        "you_hand": list(dealer.hands.current[0]),
        "computer_hand": list(dealer.hands.current[1]),
        "you_captured": list(position.captured[0]),
        "computer_captured": list(position.captured[1]),
    }
    if isinstance(table.finished, Finished):
        told["game_winner"] = table.finished.winner
    return told


def refusal(table: Table, dealer: Dealer, seat: int, card: int) -> Refused:
    """What a card gets that may not be played: at once where that is known, or when its seal is opened."""
    number = table.position.battle
    for each in (1, 0):
        value = card if each == seat else dealer.hands.current[each][0]
        commit = Commit(number, fairness.seal(GAME, each, number, value % 256, SALT))
        moved = game.move(FIFTY_STATES, table, dealer, each, commit, NOW)
        assert isinstance(moved, Moved)
        table, dealer = moved.table, moved.dealer
    refused = game.move(FIFTY_STATES, table, dealer, seat, Reveal(number, Card(card), SALT), NOW)
    assert isinstance(refused, Refused)
    return refused


def test_vector_of_two_seats_comes_out_to_the_letter(vector: dict[str, Any]) -> None:
    table, dealer = dealt("versus", (vector["start"]["you"], vector["start"]["computer"]))
    standing = [(table, dealer)]
    last: dict[str, Any] = {}
    for (a, b), expected in zip(vector["moves"], vector["expect"], strict=True):
        before = table.position
        table, dealer, facts = battle(table, dealer, (a, b))
        standing.append((table, dealer))
        last = seen(before, table, dealer, (a, b), facts)
        assert last == expected
    for claim, value in vector["hand_checked"].items():
        match claim:
            case "n_matches":
                assert len(vector["moves"]) == value
            case "round_now":
                assert table.position.round == value
            case _:
                assert last[claim] == value
    for illegal in vector.get("illegal", []):
        table, dealer = standing[illegal["after"]]
        refusal(table, dealer, illegal["side"], illegal["card"])


def test_vector_against_the_house_refuses_the_same_cards(vector: dict[str, Any]) -> None:
    for illegal in vector.get("illegal", []):
        if illegal["side"] != 0:
            continue
        table, dealer = dealt("versus", (vector["start"]["you"], vector["start"]["computer"]))
        for a, b in vector["moves"][: illegal["after"]]:
            table, dealer, _ = battle(table, dealer, (a, b))
        house_table, _ = dealt("relaxed", dealer.hands.current)
        position = table.position
        against = replace(house_table, position=replace(position, seals=(None, bytes(32))))
        played = game.move(FIFTY_STATES, against, dealer, 0, Play(position.battle, Card(illegal["card"])), NOW)
        assert isinstance(played, Refused)
