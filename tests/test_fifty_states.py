"""The sentences of RULES.md's fifty-states/1 that a command can break, each with its refusal."""

from dataclasses import fields, replace

import pytest

from rules import fairness, fifty_states, game
from rules.fifty_states import FIFTY_STATES, Captured, Commit, Committed, Play, Position, Reveal, Revealed, start
from rules.game import (
    OPEN_MS_MAX,
    CallTime,
    Card,
    Dealer,
    Finished,
    Mix,
    Mixed,
    Moved,
    Open,
    Reason,
    Refused,
    Resign,
    Table,
    Unsealed,
)
from tests.positions import GAME, NOW, PLAYER, Played, at_random, dealt

YOU = (2, 9, 17, 25, 33, 41, 50)
HOUSE = (1, 8, 16, 24, 32, 40, 49)
SALT = bytes(32)


def reason(table: Table, dealer: Dealer, seat: int, command: object, now_ms: int = NOW) -> Reason | None:
    moved = game.move(FIFTY_STATES, table, dealer, seat, command, now_ms)
    return moved.reason if isinstance(moved, Refused) else None


def moved(table: Table, dealer: Dealer, seat: int, command: object, now_ms: int = NOW) -> tuple[Table, Dealer]:
    done = game.move(FIFTY_STATES, table, dealer, seat, command, now_ms)
    assert isinstance(done, Moved), done
    return done.table, done.dealer


def names(facts: list[game.Fact]) -> list[str]:
    return [type(fact).__name__ for fact in facts]


def test_a_game_opens_with_its_promises_and_both_seats() -> None:
    played = Played("strategic").begin(mix=False)
    assert names(played.facts) == ["Opened", "Seated", "Seated"]
    opened, _, house = played.facts
    assert opened.strategy_hash == FIFTY_STATES.strategy_hash("strategic")
    assert opened.secret_hash == fairness.secret_hash(played.game, played.dealer.secret)
    assert house.rival == game.rival(played.dealer.secret)


def test_mixing_deals_and_the_house_seals_before_the_person_may_choose() -> None:
    played = Played().begin()
    assert names(played.facts[3:]) == ["Mixed", "Dealt", "Committed"]
    assert played.facts[4].counts == (7, 7)


def test_a_battle_is_one_append_of_four_facts_in_this_order() -> None:
    played = Played().begin()
    before = len(played.facts)
    played.play(played.dealer.hands.current[0][0])
    assert names(played.facts[before:]) == ["Revealed", "Played", "Captured", "Committed"]


def test_a_fact_of_the_games_own_moves_the_position_and_the_hands_and_nothing_else() -> None:
    # Both are made field by field: one that was forgotten would fall back to its default.
    played = Played().begin()
    full = {field.name: object() for field in fields(Table)} | {"position": played.table.position}
    table = Table(**full)  # type: ignore[arg-type]
    dealer = replace(played.dealer, settings=(("known", 1),))
    battle, card = 1, played.dealer.hands.current[0][0]
    for fact in (
        Revealed(1, battle, Card(50), bytes(32)),
        fifty_states.Played(0, battle, card),
        Captured(0, battle, card, card),
    ):
        moved_on = game.evolve(FIFTY_STATES, table, fact)
        assert moved_on == replace(table, position=FIFTY_STATES.evolve(table.position, fact))
        assert moved_on.position != table.position
        knows = game.follow(FIFTY_STATES, dealer, fact)
        assert knows == replace(dealer, hands=FIFTY_STATES.follow(dealer.hands, fact))


def test_each_fact_moves_its_own_fields_of_the_position() -> None:
    position = start((7, 7))
    full = {field.name: getattr(position, field.name) for field in fields(position)} | {"round": 3, "match": 2}
    position = Position(**{**full, "captured": ((), (Card(9),)), "discarded": (Card(8),), "seals": (b"a", b"b")})
    moves = {
        Committed(0, 1, b"c"): {"seals"},
        Revealed(0, 1, Card(5), b""): {"shown", "sizes"},
        Captured(0, 1, Card(5), Card(6)): {"battle", "match", "captured", "discarded", "seals"},
    }
    for fact, changed in moves.items():
        after = FIFTY_STATES.evolve(position, fact)
        assert {each.name for each in fields(after) if getattr(after, each.name) != getattr(position, each.name)} == (
            changed
        )


def test_a_battle_that_ends_a_round_has_five_facts_and_the_last_one_six() -> None:
    played = Played(number=3).begin().finish(at_random(3))
    text = " ".join(names(played.facts))
    assert "Played Captured RoundEnded Committed" in text
    assert text.endswith("Revealed Played Captured RoundEnded Finished Unsealed")


def test_unplayed_cards_stay_with_their_owner_and_captured_ones_join_them() -> None:
    ends = 0
    for number in range(20):
        played = Played(number=number).begin().finish(at_random(number))
        for (_, before), (_, after) in zip(played.folds, played.folds[1:], strict=False):
            if before.hands and before.hands.captured != ((), ()) and after.hands.captured == ((), ()):
                ends += 1
                for seat in (0, 1):
                    assert set(before.hands.captured[seat]) <= set(after.hands.current[seat])
                    left = set(before.hands.current[seat]) - set(after.hands.current[seat])
                    assert len(left) == 1, "only the card just played left the hand"
    assert ends > 30


@pytest.mark.parametrize("mode", ["relaxed", "strategic"])
def test_games_last_seven_to_thirteen_battles(mode: str) -> None:
    lengths = {
        Played(mode, number).begin().finish(at_random(number)).table.position.battle - 1 for number in range(150)
    }
    assert min(lengths) >= 7
    assert max(lengths) <= 13
    assert len(lengths) > 3


def test_not_your_card_is_refused() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    assert reason(table, dealer, 0, Play(1, Card(49))) is Reason.NOT_YOUR_CARD
    assert reason(table, dealer, 0, Play(1, Card(3))) is Reason.NOT_YOUR_CARD


@pytest.mark.parametrize("card", [0, 51, 255, -1])
def test_no_such_card_is_refused(card: int) -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    assert reason(table, dealer, 0, Play(1, Card(card))) is Reason.NO_SUCH_CARD


def test_a_card_of_the_past_is_refused() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    table, dealer = moved(table, dealer, 0, Play(1, Card(50)))
    assert reason(table, dealer, 0, Play(2, Card(50))) is Reason.CARD_GONE
    table, dealer = moved(table, dealer, 0, Play(2, Card(2)))
    if 2 in table.position.captured[1]:
        assert reason(table, dealer, 0, Play(3, Card(2))) is Reason.CARD_GONE


def test_a_card_captured_in_this_round_is_refused_until_the_next() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    table, dealer = moved(table, dealer, 0, Play(1, Card(50)))
    (taken,) = table.position.captured[0]
    assert reason(table, dealer, 0, Play(2, taken)) is Reason.CAPTURED_THIS_ROUND


def test_another_battle_is_refused() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    for battle in (0, 2, 7):
        assert reason(table, dealer, 0, Play(battle, Card(50))) is Reason.WRONG_BATTLE


def test_nothing_is_played_before_the_deal_and_the_house_seal() -> None:
    played = Played().begin(mix=False)
    assert reason(played.table, played.dealer, 0, Play(1, Card(1))) is Reason.NOT_DEALT
    table, dealer = dealt("versus", (YOU, HOUSE))
    assert reason(table, dealer, 0, Play(1, Card(50))) is Reason.WRONG_OPPONENT


def test_entropy_is_mixed_once_and_has_32_bytes() -> None:
    played = Played().begin(mix=False)
    assert reason(played.table, played.dealer, 0, Mix(bytes(31))) is Reason.BAD_ENTROPY
    assert reason(played.table, played.dealer, 0, Mix(b"")) is Reason.BAD_ENTROPY
    played.do(Mix(bytes(32)))
    assert reason(played.table, played.dealer, 0, Mix(bytes(32))) is Reason.ALREADY_MIXED


def test_a_finished_game_takes_nothing() -> None:
    played = Played().begin().finish(at_random(1))
    for command in (Play(1, Card(1)), Resign(), Mix(bytes(32)), CallTime()):
        assert reason(played.table, played.dealer, 0, command, NOW + 2 * OPEN_MS_MAX) is Reason.OVER


def test_nobody_opens_a_game_twice() -> None:
    played = Played().begin()
    assert reason(played.table, played.dealer, 0, Open("relaxed", (), PLAYER, True, False, 1)) is Reason.ALREADY_OPEN


@pytest.mark.parametrize("mode", ["", "house", "Relaxed", "classic"])
def test_a_mode_there_is_not_is_refused(mode: str) -> None:
    dealer = Dealer(GAME, bytes(32))
    assert reason(Table(GAME), dealer, 0, Open(mode, (), PLAYER, True, False, 1)) is Reason.UNKNOWN_MODE


def test_settings_there_are_not_are_refused() -> None:
    dealer = Dealer(GAME, bytes(32))
    for settings in ((("speed", 1),), (("commit_seconds", 30),)):
        command = Open("relaxed", settings, PLAYER, True, False, 1)
        assert reason(Table(GAME), dealer, 0, command) is Reason.UNKNOWN_SETTING
    for value in (0, -1, 3601, "30"):
        command = Open("versus", (("commit_seconds", value),), PLAYER, True, False, 1)
        assert reason(Table(GAME), dealer, 0, command) is Reason.UNKNOWN_SETTING


def test_resigning_is_a_loss_and_publishes_the_secret() -> None:
    played = Played().begin()
    played.do(Resign())
    assert played.facts[-3:] == [
        game.Resigned(0),
        Finished(1, "resigned"),
        Unsealed(played.dealer.secret),
    ]


def test_a_game_left_before_any_entropy_is_void() -> None:
    played = Played().begin(mix=False)
    played.do(Resign())
    assert played.table.finished == Finished(None, "void")


def test_time_is_up_seven_days_after_the_opening_against_whoever_owes() -> None:
    played = Played().begin()
    early = NOW + OPEN_MS_MAX - 1
    assert reason(played.table, played.dealer, 0, CallTime(), early) is Reason.NOT_DUE
    table, _ = moved(played.table, played.dealer, 0, CallTime(), early + 1)
    assert table.late == (0,)
    assert table.finished == Finished(1, "time")


def test_both_commit_in_either_order_and_both_seals_stand() -> None:
    for order in ((0, 1), (1, 0)):
        table, dealer = dealt("versus", (YOU, HOUSE))
        for seat in order:
            seal = fairness.seal(GAME, seat, 1, (YOU, HOUSE)[seat][0], SALT)
            table, dealer = moved(table, dealer, seat, Commit(1, seal))
        assert None not in table.position.seals


def test_nobody_reveals_before_both_have_committed() -> None:
    table, dealer = dealt("versus", (YOU, HOUSE))
    table, dealer = moved(table, dealer, 0, Commit(1, fairness.seal(GAME, 0, 1, 50, SALT)))
    assert reason(table, dealer, 0, Reveal(1, Card(50), SALT)) is Reason.NO_SEAL


def test_nobody_commits_twice_or_reveals_what_the_seal_does_not_hold() -> None:
    table, dealer = dealt("versus", (YOU, HOUSE))
    table, dealer = moved(table, dealer, 0, Commit(1, fairness.seal(GAME, 0, 1, 50, SALT)))
    assert reason(table, dealer, 0, Commit(1, bytes(32))) is Reason.ALREADY_COMMITTED
    table, dealer = moved(table, dealer, 1, Commit(1, fairness.seal(GAME, 1, 1, 49, SALT)))
    assert reason(table, dealer, 0, Reveal(1, Card(41), SALT)) is Reason.SEAL_MISMATCH
    assert reason(table, dealer, 0, Reveal(1, Card(50), bytes(31))) is Reason.SEAL_MISMATCH
    table, dealer = moved(table, dealer, 0, Reveal(1, Card(50), SALT))
    assert reason(table, dealer, 0, Reveal(1, Card(50), SALT)) is Reason.ALREADY_REVEALED


def test_against_the_house_nobody_commits_or_reveals() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    assert reason(table, dealer, 0, Commit(1, bytes(32))) is Reason.WRONG_OPPONENT
    assert reason(table, dealer, 0, Reveal(1, Card(50), SALT)) is Reason.WRONG_OPPONENT


def test_both_late_between_people_lose_both() -> None:
    table, dealer = dealt("versus", (YOU, HOUSE))
    table, _ = moved(table, dealer, 0, CallTime(), NOW + OPEN_MS_MAX)
    assert table.finished == Finished(None, "both_late")


def test_a_command_that_is_no_command_of_the_game_is_refused() -> None:
    table, dealer = dealt("relaxed", (YOU, HOUSE))
    assert reason(table, dealer, 0, Mixed(0, bytes(32))) is Reason.UNKNOWN_COMMAND


def test_the_house_seat_asks_for_nothing() -> None:
    played = Played().begin()
    for command in (Resign(), Mix(bytes(32)), Play(1, played.dealer.hands.current[1][0])):
        assert reason(played.table, played.dealer, 1, command) is Reason.NOT_SEATED


def test_a_setting_that_is_a_truth_value_is_refused() -> None:
    command = Open("versus", (("commit_seconds", True),), PLAYER, True, False, 1)
    assert reason(Table(GAME), Dealer(GAME, bytes(32)), 0, command) is Reason.UNKNOWN_SETTING
