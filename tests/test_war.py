"""The sentences of RULES.md's War that a command, a setting or the end of a pile can meet."""

from typing import Any

import pytest

from rules import game, open_deals, war
from rules.cards import name, rank, suit
from rules.catalogue import RULES
from rules.game import (
    OPEN_MS_MAX,
    CallTime,
    Card,
    Dealer,
    Dealt,
    Finished,
    Mix,
    Moved,
    Open,
    Opened,
    Reason,
    Refused,
    Resign,
    Rules,
    Seated,
    Table,
    Unsealed,
)
from rules.variants import VARIANTS, in_force
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Laid, Readied, Taken, Turn, Turned
from tests.positions import NOW, PLAYER, Played, piled, war_game

WARS = (PLAYBOOK, GAMEWEAVE, CLASSIC)
EACH = pytest.mark.parametrize("rules", WARS, ids=[rules.ladder for rules in WARS])

A_NINE, ANOTHER_NINE = Card(7), Card(20)
KING, SEVEN = Card(11), Card(18)


def reason(rules: Rules, table: Table, dealer: Dealer, seat: int, command: object, now_ms: int = NOW) -> Reason | None:
    moved = game.move(rules, table, dealer, seat, command, now_ms)
    return moved.reason if isinstance(moved, Refused) else None


def moved(rules: Rules, table: Table, dealer: Dealer, seat: int, command: object) -> Moved:
    done = game.move(rules, table, dealer, seat, command, NOW)
    assert isinstance(done, Moved), done
    return done


def names(facts: Any) -> list[str]:
    return [type(fact).__name__ for fact in facts]


# ---------------------------------------------------------------- cards and deals


def test_a_card_says_its_rank_and_suit() -> None:
    assert [name(Card(number)) for number in (0, 8, 12, 20, 33, 51)] == ["2♠", "10♠", "A♠", "9♥", "9♣", "A♦"]
    assert len({(rank(Card(number)), suit(Card(number))) for number in range(52)}) == 52


@EACH
def test_mixing_deals_twenty_six_cards_face_down_to_each_seat(rules: Rules) -> None:
    played = war_game(rules)
    assert names(played.facts) == ["Opened", "Seated", "Seated", "Mixed", "Dealt"]
    assert played.facts[-1] == Dealt((26, 26))
    piles = played.dealer.hands.piles
    assert sorted(piles[0] + piles[1]) == list(range(52))
    assert played.table.position.sizes == (26, 26)
    assert war_game(rules, 1).dealer.hands.piles != piles


def test_the_house_plays_war_in_no_rivals_name_and_promises_no_policy() -> None:
    opened, _, house = war_game(CLASSIC).facts[:3]
    assert house == Seated(1, b"", "", b"")
    assert opened.strategy_hash == bytes(32)


def test_nobody_holds_a_card_that_he_knows() -> None:
    played = war_game(PLAYBOOK)
    played.turn(10)
    assert war.hand(played.dealer.hands, 0) == war.hand(played.dealer.hands, 1) == ()


# ---------------------------------------------------------------- turning


@EACH
def test_against_the_house_one_turn_is_one_append_with_the_whole_battle(rules: Rules) -> None:
    table, dealer = piled(rules, [[KING, 0, 1], [SEVEN, 2, 3]])
    facts = moved(rules, table, dealer, 0, Turn(1, 1)).facts
    assert facts == (Readied(0, 1), Turned(1, (KING, SEVEN)), Taken(1, 0, 2))


def test_a_war_lies_between_two_turns_of_one_battle() -> None:
    table, dealer = piled(CLASSIC, [[A_NINE, 0, 1, 2, KING, 3], [ANOTHER_NINE, 13, 14, 15, SEVEN, 16]])
    facts = moved(CLASSIC, table, dealer, 0, Turn(1, 1)).facts
    assert facts == (
        Readied(0, 1),
        Turned(1, (A_NINE, ANOTHER_NINE)),
        Laid(1, (3, 3)),
        Turned(1, (KING, SEVEN)),
        Taken(1, 0, 10),
    )


def test_ten_turns_are_one_command_and_one_append() -> None:
    played = war_game(PLAYBOOK, 3)
    appends = len(played.folds)
    assert played.turn(10) is None
    assert len(played.folds) == appends + 1
    assert played.table.position.battles == 10
    assert played.facts.count(Readied(0, 10)) == 1
    one_by_one = war_game(PLAYBOOK, 3)
    for _ in range(10):
        assert one_by_one.turn() is None
    assert one_by_one.dealer == played.dealer
    assert one_by_one.table == played.table


def test_ten_turns_stop_at_the_end_of_the_game() -> None:
    table, dealer = piled(PLAYBOOK, [[KING, 12], [SEVEN, 13]])
    done = moved(PLAYBOOK, table, dealer, 0, Turn(1, 10))
    assert names(done.facts) == ["Readied", *["Turned", "Taken"] * 2, "Finished", "Unsealed"]
    assert done.table.finished == Finished(0, "all_cards")


def test_between_people_a_battle_waits_for_both_in_either_order() -> None:
    for order in ((0, 1), (1, 0)):
        table, dealer = piled(PLAYBOOK, [[KING, 0, 1], [SEVEN, 2, 3]], "versus")
        assert war.owing(table) == (0, 1)
        first = moved(PLAYBOOK, table, dealer, order[0], Turn(1, 1))
        assert first.facts == (Readied(order[0], 1),)
        assert war.owing(first.table) == (order[1],)
        assert reason(PLAYBOOK, first.table, first.dealer, order[0], Turn(1, 1)) is Reason.ALREADY_READIED
        second = moved(PLAYBOOK, first.table, first.dealer, order[1], Turn(1, 1))
        assert second.facts == (Readied(order[1], 1), Turned(1, (KING, SEVEN)), Taken(1, 0, 2))


def test_between_people_battles_go_on_to_the_last_one_that_both_agreed_to() -> None:
    played = war_game(PLAYBOOK, 5)
    table, dealer = piled(PLAYBOOK, played.dealer.hands.piles, "versus")
    done = moved(PLAYBOOK, table, dealer, 0, Turn(1, 10))
    done = moved(PLAYBOOK, done.table, done.dealer, 1, Turn(1, 3))
    assert done.table.position.battles == 3
    assert war.owing(done.table) == (1,)
    assert reason(PLAYBOOK, done.table, done.dealer, 0, Turn(4, 1)) is Reason.ALREADY_READIED
    done = moved(PLAYBOOK, done.table, done.dealer, 1, Turn(4, 10))
    assert done.table.position.battles == 10
    assert done.table.position.through == (10, 13)
    assert war.owing(done.table) == (0,)


def test_against_the_house_only_the_person_owes_a_turn() -> None:
    assert war.owing(war_game(CLASSIC).table) == (0,)


# ---------------------------------------------------------------- refusals


@EACH
def test_a_turn_after_the_end_is_refused(rules: Rules) -> None:
    table, dealer = piled(rules, [[KING], [SEVEN]])
    done = moved(rules, table, dealer, 0, Turn(1, 1))
    assert done.table.finished == Finished(0, "all_cards")
    for battle in (1, 2):
        assert reason(rules, done.table, done.dealer, 0, Turn(battle, 1)) is Reason.OVER


@EACH
@pytest.mark.parametrize("battle", [-1, 0, 1, 3, 500])
def test_a_turn_for_another_battle_is_refused(rules: Rules, battle: int) -> None:
    played = war_game(rules)
    played.turn()
    assert played.do(Turn(battle, 1)) == Refused(Reason.WRONG_BATTLE)


@EACH
@pytest.mark.parametrize("times", [-1, 0, 2, 10, 11])
def test_more_turns_than_the_game_has_a_control_for_are_refused(rules: Rules, times: int) -> None:
    allowed = rules is PLAYBOOK and 1 <= times <= 10
    assert war_game(rules).turn(times) == (None if allowed else Refused(Reason.BAD_TIMES))


def test_a_turn_before_the_deal_is_refused() -> None:
    played = Played("house", rules=CLASSIC).begin(mix=False)
    assert played.do(Turn(1, 1)) == Refused(Reason.NOT_DEALT)


def test_from_the_houses_seat_nothing_is_asked() -> None:
    played = war_game(CLASSIC)
    for command in (Turn(1, 1), Mix(bytes(32)), Resign()):
        assert played.do(command, seat=1) == Refused(Reason.NOT_SEATED)


@EACH
def test_the_command_of_another_game_is_refused(rules: Rules) -> None:
    played = war_game(rules)
    assert played.do(RULES["fifty-states/1"].commands[0](1, Card(1))) == Refused(Reason.UNKNOWN_COMMAND)


# ---------------------------------------------------------------- settings


def asked_for(rules: Rules, mode: str = "house", **given: Any) -> Reason | None:
    refused = Played(mode, rules=rules).do(Open(mode, tuple(sorted(given.items())), PLAYER, True, False, 1))
    return refused.reason if refused else None


@pytest.mark.parametrize(
    "seed", ["", "12", "0x10", "abc", "1.0", "-0", "９", " 12", -1, 2**32, 2**64, True, False], ids=repr
)
def test_a_seed_that_is_no_integer_of_its_range_is_refused(seed: Any) -> None:
    assert asked_for(CLASSIC, seed=seed) is Reason.BAD_SEED


@pytest.mark.parametrize("seed", [0, 1, 12, 2**32 - 1])
def test_a_seed_from_0_to_the_highest_word_makes_an_open_deal(seed: int) -> None:
    assert asked_for(CLASSIC, seed=seed) is None


@pytest.mark.parametrize(
    "given",
    [
        {"down": 2},
        {"down": 0},
        {"down": "3"},
        {"down": True},
        {"length": "long"},
        {"length": 100},
        {"length": ""},
        {"speed": 1},
        {"down": 3, "limit": 7},
    ],
    ids=repr,
)
def test_settings_that_do_not_exist_are_refused(given: dict[str, Any]) -> None:
    assert asked_for(CLASSIC, **given) is Reason.UNKNOWN_SETTING


@pytest.mark.parametrize("rules", [PLAYBOOK, GAMEWEAVE])
@pytest.mark.parametrize("given", [{"down": 3}, {"length": "full"}, {"seed": 12}], ids=repr)
def test_the_other_variants_have_no_settings(rules: Rules, given: dict[str, Any]) -> None:
    assert asked_for(rules, **given) is Reason.UNKNOWN_SETTING
    assert asked_for(rules) is None


@EACH
def test_a_mode_there_is_not_is_refused(rules: Rules) -> None:
    for mode in ("", "relaxed", "House"):
        assert asked_for(rules, mode) is Reason.UNKNOWN_MODE


def test_settings_left_out_stand_in_the_opening_with_their_defaults() -> None:
    assert war_game(CLASSIC).facts[0].settings == (("down", 3), ("length", "full"))
    assert war_game(CLASSIC, length="short").facts[0].settings == (("down", 3), ("length", "short"))
    assert war_game(CLASSIC, down=1, seed=7).facts[0].settings == (("down", 1), ("length", "full"), ("seed", 7))
    assert war_game(PLAYBOOK).facts[0].settings == ()


# ---------------------------------------------------------------- open deals


def test_the_fifth_battle_of_seed_12_is_nine_of_hearts_against_nine_of_clubs() -> None:
    played = war_game(CLASSIC, seed=12)
    for _ in range(4):
        assert played.turn() is None
    before = len(played.facts)
    assert played.turn() is None
    told = played.facts[before:]
    rows = [tuple(map(name, fact.cards)) for fact in told if isinstance(fact, Turned)]
    assert rows == [("9♥", "9♣"), ("5♠", "2♣")]
    assert told[-1] == Taken(5, 0, 10)
    assert played.table.position.sizes == (29, 23)
    assert played.table.position.rows == ((20, 33), (3, 26))


def test_an_open_deal_is_dealt_at_once_and_has_neither_secret_nor_entropy() -> None:
    played = war_game(CLASSIC, seed=12)
    assert names(played.facts) == ["Opened", "Seated", "Seated", "Dealt"]
    assert played.facts[0].secret_hash == b""
    assert played.do(Mix(bytes(32))) == Refused(Reason.OPEN_DEAL)
    played.turn_out()
    assert isinstance(played.facts[-1], Finished)
    assert Unsealed not in map(type, played.facts)


def test_an_open_deal_counts_nowhere_whatever_was_asked() -> None:
    assert not war_game(CLASSIC, seed=12).facts[0].counts
    assert war_game(CLASSIC).facts[0].counts


def test_the_seed_alone_fixes_the_cards_and_with_the_settings_the_game() -> None:
    one, two = war_game(CLASSIC, 1, seed=9).turn_out(), war_game(CLASSIC, 2, seed=9).turn_out()
    assert one.facts[3:] == two.facts[3:]
    piles = {
        war_game(CLASSIC, 1, seed=9, down=down, length=length).dealer.hands.piles
        for down in (1, 3)
        for length in ("full", "short")
    }
    assert piles == {(open_deals.deck(9)[:26], open_deals.deck(9)[26:])}


# ---------------------------------------------------------------- ends


def settled(rules: Rules, piles: list[list[Card]], mode: str = "house", **settings: int | str) -> Moved:
    table, dealer = piled(rules, piles, mode, tuple(settings.items()))
    done = moved(rules, table, dealer, 0, Turn(1, 1))
    return done if mode == "house" else moved(rules, done.table, done.dealer, 1, Turn(1, 1))


NINES = ([A_NINE], [ANOTHER_NINE])
LOW, REST = [Card(0), Card(1), Card(2)], [Card(number) for number in range(26, 39)]


@pytest.mark.parametrize("few", [0, 1])
def test_who_has_fewer_cards_than_a_war_needs_loses_at_playbook(few: int) -> None:
    end = settled(PLAYBOOK, [NINES[0] + LOW[:few], NINES[1] + REST])
    assert end.facts[-2:] == (Finished(1, "shortage"), end.facts[-1])
    assert end.table.position.in_play == (1, 1)
    assert end.table.position.sizes == (few, len(REST))
    assert settled(PLAYBOOK, [NINES[0] + REST, NINES[1] + LOW[:few]]).table.finished == Finished(0, "shortage")


@pytest.mark.parametrize("few", [0, 1])
def test_both_short_alike_is_a_draw_at_playbook(few: int) -> None:
    end = settled(PLAYBOOK, [NINES[0] + LOW[:few], NINES[1] + REST[:few]])
    assert end.table.finished == Finished(None, "equal_shortage")


def test_nobody_keeps_a_card_back_at_gameweave() -> None:
    end = settled(GAMEWEAVE, [NINES[0] + LOW, NINES[1] + REST])
    assert end.facts[2:4] == (Laid(1, (3, 3)), Finished(1, "cannot_flip"))
    assert settled(GAMEWEAVE, [NINES[0] + LOW, NINES[1] + REST[:2]]).table.finished == Finished(None, "cannot_flip")


def test_who_is_short_keeps_one_card_to_turn_up_at_classic() -> None:
    end = settled(CLASSIC, [[*NINES[0], Card(12)], NINES[1] + REST])
    assert end.facts[2:] == (Laid(1, (0, 3)), Turned(1, (Card(12), REST[3])), Taken(1, 0, 7))
    end = settled(CLASSIC, [NINES[0] + LOW, NINES[1] + REST])
    assert end.facts[2] == Laid(1, (2, 3))
    end = settled(CLASSIC, [NINES[0] + LOW, NINES[1] + REST], down=1)
    assert end.facts[2] == Laid(1, (1, 1))


def test_who_has_no_card_for_a_war_loses_all_in_play_at_classic() -> None:
    end = settled(CLASSIC, [NINES[0], NINES[1] + REST])
    assert end.facts[2:4] == (Taken(1, 1, 2), Finished(1, "no_cards_for_war"))
    assert end.table.position.wars == 1
    assert end.dealer.hands.piles == ((), (*REST, ANOTHER_NINE, A_NINE))


def test_both_out_at_a_war_take_back_their_own_at_classic() -> None:
    both = [list(map(Card, pile)) for pile in ((7, 0, 1, 2, 11), (20, 13, 14, 15, 24))]
    for mode in ("house", "versus"):
        end = settled(CLASSIC, both, mode)
        taken = [fact for fact in end.facts if isinstance(fact, Taken)]
        assert taken == [Taken(1, 0, 5), Taken(1, 1, 5)]
        assert end.table.finished == Finished(None, "both_out_at_war")
        assert end.dealer.hands.piles == tuple(map(tuple, both))
        assert end.table.position.winner is None
        assert end.table.position.wars == 2


def test_won_cards_go_under_the_winners_pile_winners_first() -> None:
    end = settled(CLASSIC, [[A_NINE, *LOW, SEVEN, Card(3)], [ANOTHER_NINE, *REST[:3], KING, Card(4)]])
    assert end.dealer.hands.piles == ((3,), (4, ANOTHER_NINE, *REST[:3], KING, A_NINE, *LOW, SEVEN))


def test_won_cards_go_back_in_the_order_that_the_games_seed_draws_at_gameweave() -> None:
    orders = set()
    for seed in range(40):
        piles = ((A_NINE, *LOW, KING, Card(3)), (ANOTHER_NINE, *REST[:3], SEVEN, Card(4)))
        fought = war.fight(VARIANTS["gameweave/1"], piles, 1, seed.to_bytes(32, "big"))
        assert sorted(fought.piles[0][1:]) == sorted(piles[0][:5] + piles[1][:5])
        orders.add(fought.piles[0])
    assert len(orders) == 40


@pytest.mark.parametrize(
    ("rules", "limit", "settings"),
    [(PLAYBOOK, 500, {}), (CLASSIC, 5000, {}), (CLASSIC, 100, {"length": "short"})],
    ids=["playbook", "full", "short"],
)
def test_the_game_ends_after_the_limits_battle_and_not_before(
    rules: Rules, limit: int, settings: dict[str, int | str]
) -> None:
    piles = [[KING, 0, 1, 2], [SEVEN, 3, 4]]
    table, dealer = piled(rules, piles, "house", tuple(settings.items()), battles=limit - 2)
    before = moved(rules, table, dealer, 0, Turn(limit - 1, 1))
    assert before.table.finished is None
    table, dealer = piled(rules, piles, "house", tuple(settings.items()), battles=limit - 1)
    after = moved(rules, table, dealer, 0, Turn(limit, 1)).table
    assert after.finished == Finished(0 if rules is CLASSIC else None, "battle_limit")


def test_equal_piles_at_the_limit_of_classic_are_a_draw() -> None:
    table, dealer = piled(CLASSIC, [[KING, 0], [SEVEN, 3, 4, 5]], battles=4999)
    assert moved(CLASSIC, table, dealer, 0, Turn(5000, 1)).table.finished == Finished(None, "battle_limit")


def test_all_cards_on_the_limits_battle_is_an_ordinary_win() -> None:
    for rules, limit in ((PLAYBOOK, 500), (CLASSIC, 5000)):
        table, dealer = piled(rules, [[KING, 0], [SEVEN]], battles=limit - 1)
        assert moved(rules, table, dealer, 0, Turn(limit, 1)).table.finished == Finished(0, "all_cards")


def test_gameweave_has_no_limit() -> None:
    table, dealer = piled(GAMEWEAVE, [[KING, 0, 1], [SEVEN, 2, 3]], battles=60_000)
    assert moved(GAMEWEAVE, table, dealer, 0, Turn(60_001, 1)).table.finished is None


# ---------------------------------------------------------------- leaving, time, void


@EACH
def test_leaving_a_war_against_the_computer_is_no_loss(rules: Rules) -> None:
    played = war_game(rules)
    played.turn()
    assert played.do(Resign()) is None
    assert played.table.finished == Finished(None, "left")
    assert isinstance(played.facts[-1], Unsealed)


def test_leaving_an_open_deal_is_left_too_and_publishes_nothing() -> None:
    played = war_game(CLASSIC, seed=3)
    assert played.do(Resign()) is None
    assert names(played.facts[-2:]) == ["Resigned", "Finished"]
    assert played.table.finished == Finished(None, "left")


@EACH
def test_leaving_a_person_is_a_resignation(rules: Rules) -> None:
    table, dealer = piled(rules, [[KING, 0], [SEVEN, 1]], "versus")
    assert moved(rules, table, dealer, 1, Resign()).table.finished == Finished(0, "resigned")


def test_leaving_before_any_entropy_is_a_void() -> None:
    played = Played("house", rules=GAMEWEAVE).begin(mix=False)
    assert played.do(Resign()) is None
    assert played.table.finished == Finished(None, "void")


@pytest.mark.parametrize("played", [war_game(CLASSIC), war_game(CLASSIC, seed=4)], ids=["dealt", "open"])
def test_a_war_is_over_after_seven_days(played: Played) -> None:
    opened: Opened = played.facts[0]
    early = game.move(CLASSIC, played.table, played.dealer, 0, CallTime(), opened.at_ms + OPEN_MS_MAX - 1)
    assert early == Refused(Reason.NOT_DUE)
    played.now_ms = opened.at_ms + OPEN_MS_MAX
    assert played.do(CallTime()) is None
    assert played.table.finished == Finished(1, "time")


# ---------------------------------------------------------------- the engine for many games


@EACH
@pytest.mark.parametrize("number", range(5))
def test_a_game_without_its_facts_goes_as_the_log_says(rules: Rules, number: int) -> None:
    played = war_game(rules, number)
    hands = played.dealer.hands
    terms = in_force(VARIANTS[rules.name], played.facts[0].settings)
    outcome = war.play_out(terms, hands.piles, hands.seed)
    played.turn_out(VARIANTS[rules.name].times)
    end = played.table.finished
    assert end is not None
    position = played.table.position
    assert outcome == (position.battles, position.wars, end.winner, end.reason)
