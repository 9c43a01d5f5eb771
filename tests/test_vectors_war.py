"""Every position of playbook.json, gameweave.json, classic.json and classic_seeds.json, through the product's rules.

`--vectors DIR` runs another folder; files it lacks make no test.
"""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from rules import game, open_deals, war
from rules.game import Card, Dealer, Fact, Finished, Moved, Reason, Refused, Rules, Settings, Table
from rules.variants import VARIANTS, in_force
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Laid, Taken, Turn, Turned
from tests.positions import NOW, piled, war_game

RULES = {"playbook": PLAYBOOK, "gameweave": GAMEWEAVE, "classic": CLASSIC}
RANKS, SUITS = "23456789TJQKA", "SHCD"
SEATS = {"you": 0, "player": 0, "a": 0, "computer": 1, "b": 1}
NOBODY = {"draw", "tie", None}


def read(config: pytest.Config, name: str) -> dict[str, Any]:
    path = Path(config.getoption("vectors")) / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "vector" in metafunc.fixturenames:
        vectors = [(name, each) for name in RULES for each in read(metafunc.config, name).get("vectors", [])]
        metafunc.parametrize(("name", "vector"), vectors, ids=[each["id"] for _, each in vectors])
    if "open_deal" in metafunc.fixturenames:
        seeds = read(metafunc.config, "classic_seeds").get("seeds", [])
        metafunc.parametrize("open_deal", seeds, ids=[f"seed-{each['seed']}" for each in seeds])
    if "known" in metafunc.fixturenames:
        known = read(metafunc.config, "classic_seeds").get("first_outputs_seed12")
        metafunc.parametrize("known", [] if known is None else [known], ids=str)


def card(text: str) -> Card:
    return Card(13 * SUITS.index(text[1]) + RANKS.index(text[0]))


def written(cards: tuple[Card, ...]) -> list[str]:
    return [RANKS[each % 13] + SUITS[each // 13] for each in cards]


class Replayed:
    """A vector's game, turned as its `action` says, with what stood after each battle."""

    def __init__(self, name: str, vector: dict[str, Any], mode: str) -> None:
        self.rules: Rules = RULES[name]
        self.seats = [key for key, value in vector["start"].items() if isinstance(value, list)]
        self.settings: Settings = tuple(sorted(vector.get("settings", {}).items()))
        piles = [[card(text) for text in vector["start"][key]] for key in self.seats]
        start = vector["start"]
        self.table, self.dealer = piled(
            self.rules, piles, mode, self.settings, start.get("battles", 0), start.get("wars", 0)
        )
        self.mode = mode
        self.battles: list[dict[str, Any]] = []

    def turn(self, times: int) -> None:
        """One command of each person, and the facts it led to told battle by battle."""
        battle = self.table.position.battle
        for seat in (0,) if self.mode == "house" else (1, 0):
            before = (self.table, self.dealer)
            moved = game.move(self.rules, self.table, self.dealer, seat, Turn(battle, times), NOW)
            assert isinstance(moved, Moved), moved
            self.table, self.dealer = moved.table, moved.dealer
            facts = moved.facts
        self.tell(*before, facts)

    def tell(self, table: Table, dealer: Dealer, facts: tuple[Fact, ...]) -> None:
        """Folds the facts one by one; each battle is over before the next one is begun."""
        own: list[list[Fact]] = []
        for fact in facts:
            if isinstance(fact, Turned) and (not own or fact.battle != own[-1][0].battle):
                own.append([])
            if own:
                own[-1].append(fact)
        first = facts[: len(facts) - sum(map(len, own))]
        for fact in first:
            table, dealer = game.evolve(self.rules, table, fact), game.follow(self.rules, dealer, fact)
        for battle in own:
            wars = table.position.wars
            piles = dealer.hands.piles
            for fact in battle:
                table, dealer = game.evolve(self.rules, table, fact), game.follow(self.rules, dealer, fact)
            self.battles.append(self.seen(table, dealer, battle, wars, piles))
        assert (table, dealer) == (self.table, self.dealer)

    def seen(self, table: Table, dealer: Dealer, facts: list[Fact], wars: int, piles: war.Piles) -> dict[str, Any]:
        """Everything a vector's `expect` may say of a battle."""
        position: war.Position = table.position
        rows = [fact.cards for fact in facts if isinstance(fact, Turned)]
        laid = [fact.counts for fact in facts if isinstance(fact, Laid)]
        assert (tuple(rows), tuple(laid)) == (position.rows, position.laid)
        assert position.battle == position.battles + (not any(position.in_play))
        played = [len(rows) + sum(counts[seat] for counts in laid) for seat in (0, 1)]
        taken = [fact for fact in facts if isinstance(fact, Taken)]
        end = table.finished
        told: dict[str, Any] = {
            "battle": position.battles,
            "round": position.battles,
            "winner": position.winner if len(taken) < 2 else None,
            "wars_in_battle": position.wars - wars,
            "wars_in_round": position.wars - wars,
            "wars_total": position.wars,
            "cards_in_play": sum(played),
            "faceup": [written(row) for row in rows],
            "face_down": [list(counts) for counts in laid],
            "over": end is not None,
            "result": end.winner if end else None,
            "reason": end.reason if end else None,
        }
        for seat, key in enumerate(self.seats):
            told[f"{key}_count"] = position.sizes[seat]
            told[f"{key}_played"] = written(piles[seat][: played[seat]])
            told[f"{key}_pile"] = written(dealer.hands.piles[seat][dealer.hands.in_play[seat] :])
            assert len(told[f"{key}_pile"]) == position.sizes[seat]
        if position.winner is not None:
            told["won"] = sorted(written(piles[0][: played[0]] + piles[1][: played[1]]))
        return told


def compare(seen: dict[str, Any], expected: dict[str, Any]) -> None:
    for claim, value in expected.items():
        if claim in ("winner", "result"):
            assert (seen[claim] is None and value in NOBODY) or seen[claim] == SEATS.get(value), (claim, seen[claim])
            if claim == "result":
                assert seen["over"] or value is None
        elif claim == "won":
            assert seen[claim] == sorted(value)
        else:
            assert seen[claim] == value, claim


@pytest.mark.parametrize("mode", ["house", "versus"])
def test_vector_comes_out_to_the_letter(name: str, vector: dict[str, Any], mode: str) -> None:
    replayed = Replayed(name, vector, mode)
    if vector.get("action") == "play10":
        replayed.turn(10)
    else:
        for _ in vector["expect"]:
            replayed.turn(1)
    assert len(replayed.battles) == len(vector["expect"])
    for seen, expected in zip(replayed.battles, vector["expect"], strict=True):
        compare(seen, expected)
    for claim, value in vector["hand_checked"].items():
        if claim == "n_battles":
            assert len(replayed.battles) == value
        else:
            compare(replayed.battles[-1], {claim: value})
    for key, pile in vector.get("piles_after_last", {}).items():
        assert replayed.battles[-1][f"{key}_pile"] == pile
    end = replayed.table.finished
    refused = game.move(
        replayed.rules, replayed.table, replayed.dealer, 0, Turn(replayed.table.position.battle, 1), NOW
    )
    assert (refused == Refused(Reason.OVER)) == (end is not None)


def test_vector_is_the_same_battle_by_battle_without_facts(name: str, vector: dict[str, Any]) -> None:
    """What `simulate` runs is what the log holds."""
    replayed = Replayed(name, vector, "house")
    terms = in_force(VARIANTS[replayed.rules.name], replayed.table.opened.settings)  # type: ignore[union-attr]
    piles = replayed.dealer.hands.piles
    number = replayed.table.position.battle
    for expected in vector["expect"]:
        fought = war.fight(terms, piles, number, replayed.dealer.hands.seed)
        piles, number = fought.piles, number + 1
        assert [written(row) for row in fought.rows] == expected["faceup"]
        assert fought.wars == expected.get("wars_in_battle", expected.get("wars_in_round"))
        assert (fought.end.reason if fought.end else None) == expected["reason"]
        for seat, key in enumerate(replayed.seats):
            assert len(piles[seat]) == expected.get(f"{key}_count", len(piles[seat]))


def test_vector_of_the_generator_comes_out(known: list[float]) -> None:
    assert [word / 2**32 for word in islice(open_deals.words(12), len(known))] == known


def test_vector_of_an_open_deal_comes_out_to_the_card(open_deal: dict[str, Any]) -> None:
    deck = open_deals.deck(open_deal["seed"])
    assert written(deck[:26]) == open_deal["you_pile"]
    assert written(deck[26:]) == open_deal["computer_pile"]
    assert written(deck[:10]) == open_deal["you_first10"]
    assert written(deck[26:36]) == open_deal["computer_first10"]


@pytest.mark.parametrize("terms", ["down3_full", "down3_short", "down1_full", "down1_short"])
def test_vector_of_an_open_deal_ends_as_it_must(open_deal: dict[str, Any], terms: str) -> None:
    expected = open_deal["games"][terms]
    down, length = int(terms[4]), terms[6:]
    played = war_game(CLASSIC, seed=open_deal["seed"], down=down, length=length).turn_out()
    position, end = played.table.position, played.table.finished
    assert isinstance(end, Finished)
    assert position.battles == expected["battles"]
    assert position.wars == expected["wars"]
    assert position.sizes == (expected["you_count"], expected["computer_count"])
    assert end.reason == expected["reason"]
    assert end.winner == SEATS.get(expected["result"])
