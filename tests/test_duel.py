"""Games between two people by the rules alone: seats, promises, deadlines, endings; and what audit makes of each."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import chain, codec
from events.codec import Event
from projections.audit import Findings, audit, audit_file
from projections.replay import replay
from projections.saved import Saved, save
from projections.told import told
from rules import fairness, game, timing
from rules.catalogue import RULES
from rules.fifty_states import FIFTY_STATES, Committed, Play, Reveal, Revealed
from rules.game import (
    DAY_MS,
    OPEN_MS_MAX,
    SEATS,
    CallTime,
    Card,
    Credit,
    Credited,
    Dealt,
    Finished,
    Lose,
    Mix,
    Mixed,
    OpenBetween,
    Opened,
    Reason,
    Refused,
    Reserved,
    Resign,
    Rules,
    Seated,
    Sit,
    TimeUp,
)
from rules.timing import EARLY_MS_MAX, MIX_MS, SEATS_MS
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Readied
from tests.conftest import VECTORS
from tests.pairs import PLAYERS, Duel
from tests.positions import OTHER, PLAYER, Played

GOLDEN = sorted((VECTORS.parent / "golden" / "between").glob("*.jsonl"))
ALL = list(RULES.values())
WARS = (PLAYBOOK, GAMEWEAVE, CLASSIC)
SHORT = (("length", "short"),)
STRANGER = b"somebody else 16"


def named(rules: Rules) -> str:
    return rules.name


def reason(refused: Refused | None) -> Reason | None:
    return refused.reason if refused is not None else None


def names(facts: list[Any]) -> list[str]:
    return [type(fact).__name__ for fact in facts]


# ---------------------------------------------------------------- seats


@pytest.mark.parametrize("rules", ALL, ids=named)
def test_a_paired_game_keeps_a_seat_for_each_and_counts(rules: Rules) -> None:
    duel = Duel(rules).open()
    opened, *kept = duel.facts
    assert kept == [Reserved(0, PLAYER), Reserved(1, OTHER)]
    assert opened.mode == "versus"
    assert opened.counts
    assert opened.strategy_hash == bytes(32)


def test_a_game_with_a_free_seat_counts_for_nothing() -> None:
    assert not Duel(kept=(PLAYER, b"")).open().facts[0].counts


def test_a_game_that_is_kept_for_nobody_or_twice_for_one_is_not_opened() -> None:
    for kept, why in (((b"", b""), Reason.NOT_SEATED), ((PLAYER, PLAYER), Reason.ALREADY_SEATED)):
        assert reason(Duel().do(OpenBetween((), kept, True, False, 1))) is why


def test_a_kept_seat_is_its_players_only() -> None:
    duel = Duel().open()
    assert reason(duel.do(Sit(STRANGER, bytes(32)), 0)) is Reason.SEAT_TAKEN
    assert reason(duel.do(Sit(PLAYER, bytes(32)), 1)) is Reason.SEAT_TAKEN
    assert duel.sit(0) is None


def test_a_free_seat_is_the_first_comers() -> None:
    duel = Duel(kept=(b"", OTHER)).open()
    assert game.seat_for(duel.table, STRANGER) == 0
    assert duel.do(Sit(STRANGER, bytes(32)), 0) is None
    assert reason(duel.do(Sit(PLAYER, bytes(32)), 0)) is Reason.SEAT_TAKEN
    assert game.seat_for(duel.table, PLAYER) is None


def test_nobody_sits_twice() -> None:
    duel = Duel(kept=(PLAYER, b"")).open()
    assert duel.sit(0) is None
    for seat in SEATS:
        assert reason(duel.do(Sit(PLAYER, bytes(32)), seat)) is Reason.ALREADY_SEATED


def test_nobody_sits_at_a_game_against_the_house() -> None:
    played = Played().begin()
    assert played.do(Sit(OTHER, bytes(32)), 0) == Refused(Reason.SEAT_TAKEN)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_seat_is_taken_with_a_hash_of_32_bytes(size: int) -> None:
    assert reason(Duel().open().do(Sit(PLAYER, bytes(size)), 0)) is Reason.BAD_ENTROPY


# ---------------------------------------------------------------- entropy


def test_nobody_mixes_before_both_sit() -> None:
    duel = Duel().open()
    assert duel.sit(1) is None
    assert reason(duel.mix(1)) is Reason.NOT_BOTH_SEATED
    assert duel.sit(0) is None
    assert duel.mix(1) is None


def test_entropy_that_does_not_open_its_seats_hash_is_refused() -> None:
    duel = Duel().open()
    assert duel.sit(0) is None
    assert duel.sit(1) is None
    for wrong in (bytes(32), duel.entropy(1), duel.entropy(0)[::-1], duel.entropy(0)[:31]):
        assert reason(duel.do(Mix(wrong), 0)) is Reason.BAD_ENTROPY
    assert duel.mix(0) is None
    assert reason(duel.mix(0)) is Reason.ALREADY_MIXED


@pytest.mark.parametrize("rules", ALL, ids=named)
def test_the_cards_follow_from_both_entropies_and_are_dealt_when_both_have_mixed(rules: Rules) -> None:
    duel = Duel(rules).begin((1, 0))
    assert names(duel.facts)[-3:] == ["Mixed", "Mixed", "Dealt"]
    entropies = (duel.entropy(0), duel.entropy(1))
    seed = fairness.seed(duel.dealer.secret, duel.game, entropies)
    assert duel.dealer.hands == rules.deal(seed, duel.dealer.settings)


def test_an_open_deal_between_people_needs_no_entropy_and_counts_for_nothing() -> None:
    duel = Duel(CLASSIC, settings=(("seed", 12),)).open()
    assert duel.sit(0) is None
    assert duel.sit(1) is None
    assert duel.table.dealt
    assert not duel.facts[0].counts
    assert reason(duel.mix(0)) is Reason.OPEN_DEAL
    duel.finish(Random(1))
    assert audit(duel.saved).over
    assert audit(duel.saved).passed


# ---------------------------------------------------------------- time


def stages(duel: Duel) -> tuple[str, int] | None:
    """The stage that the game is in, and how many milliseconds it has from its beginning."""
    stage, due_ms = duel.clock.stage, duel.clock.due_ms
    return (stage.name, due_ms - duel.clock.since_ms) if stage is not None and due_ms is not None else None


def test_each_stage_has_its_time_from_the_append_that_began_it() -> None:
    duel = Duel(settings=(("commit_seconds", 20),)).open()
    assert stages(duel) == ("seats", SEATS_MS)
    assert duel.sit(0) is None
    assert stages(duel) == ("seats", SEATS_MS)
    assert duel.sit(1) is None
    assert stages(duel) == ("mix", MIX_MS)
    since = duel.clock.since_ms
    assert duel.mix(0) is None
    assert duel.clock.since_ms == since
    assert duel.mix(1) is None
    assert stages(duel) == ("commit", 20_000)
    cards = [duel.dealer.hands.current[seat][0] for seat in SEATS]
    since = duel.clock.since_ms
    assert duel.commit(1, cards[1]) is None
    assert duel.clock.since_ms == since, "the other's commit starts nothing again"
    assert duel.commit(0, cards[0]) is None
    assert stages(duel) == ("reveal", 15_000)
    assert duel.reveal(0, cards[0]) is None
    assert duel.reveal(1, cards[1]) is None
    assert stages(duel) == ("commit", 20_000)
    assert duel.clock.since_ms == duel.now_ms - 1000
    assert duel.do(Resign(), 1) is None
    assert stages(duel) is None


@given(st.integers(0, 10**6), st.sampled_from(ALL), st.integers(0, 60))
def test_the_clock_folded_fact_by_fact_is_the_one_folded_append_by_append(number: int, rules: Rules, to: int) -> None:
    duel = Duel(rules, number, SHORT if rules is CLASSIC else ()).begin()
    for _ in range(to % 7):
        assert duel.table.finished is not None or duel.do(CallTime()) is None
    table, clock = game.Table(duel.game), timing.Clock()
    for stored in duel.events:
        event = codec.decode(stored.body)
        table = game.evolve(rules, table, event.fact)
        clock = timing.step(rules, clock, table, (event.fact,), event.at_ms)
    assert clock == duel.clock


def test_a_free_seat_waits_a_day() -> None:
    assert stages(Duel(kept=(PLAYER, b"")).open()) == ("seats", DAY_MS)


@pytest.mark.parametrize("rules", WARS, ids=named)
def test_a_turn_has_five_seconds_unless_the_game_was_opened_with_others(rules: Rules) -> None:
    assert stages(Duel(rules).begin()) == ("turn", 5000)
    assert stages(Duel(rules, settings=(("turn_seconds", 7),)).begin()) == ("turn", 7000)


@pytest.mark.parametrize("rules", WARS, ids=named)
@pytest.mark.parametrize("value", [0, -1, 3601, "5", True])
def test_seconds_that_can_not_be_set_are_refused(rules: Rules, value: Any) -> None:
    command = OpenBetween((("turn_seconds", value),), PLAYERS, True, False, 1)
    assert reason(Duel(rules).do(command)) is Reason.UNKNOWN_SETTING
    assert isinstance(rules.settings("house", {"turn_seconds": 5}), Refused)


def test_against_the_house_only_the_seven_days_bind() -> None:
    played = Played().begin()
    clock = timing.step(FIFTY_STATES, timing.Clock(), played.table, tuple(played.facts), played.now_ms)
    assert clock.due_ms == played.facts[0].at_ms + OPEN_MS_MAX
    assert played.do(Credit(5)) == Refused(Reason.NOT_DUE)


@pytest.mark.parametrize("rules", WARS, ids=named)
@pytest.mark.parametrize("turned", [(), (0,), (1,)])
def test_a_turn_not_made_in_time_is_made_by_the_clock(rules: Rules, turned: tuple[int, ...]) -> None:
    duel = Duel(rules).begin()
    for seat in turned:
        assert duel.turn(seat) is None
    before = len(duel.facts)
    assert duel.do(CallTime()) is None
    readied = [fact for fact in duel.facts[before:] if isinstance(fact, Readied)]
    assert readied == [Readied(seat, 1) for seat in SEATS if seat not in turned]
    assert duel.table.position.battles == 1
    duel.finish(Random(3))
    assert audit(duel.saved).passed


def test_what_was_given_back_moves_the_deadline_but_never_the_seven_days() -> None:
    duel = Duel(settings=(("commit_seconds", 3600),)).begin()
    due = duel.clock.due_ms
    assert due is not None
    duel.now_ms = due
    assert duel.do(Credit(1_000_000)) is None
    assert duel.clock.due_ms == due + 1_000_000
    duel.now_ms += OPEN_MS_MAX
    assert duel.do(Credit(2 * OPEN_MS_MAX)) is None
    assert duel.clock.due_ms == duel.facts[0].at_ms + OPEN_MS_MAX


@pytest.mark.parametrize("rules", ALL, ids=named)
def test_any_game_is_over_seven_days_after_its_opening(rules: Rules) -> None:
    duel = Duel(rules).begin()
    duel.now_ms = duel.facts[0].at_ms + OPEN_MS_MAX
    assert duel.do(CallTime()) is None
    assert duel.table.finished == Finished(None, "both_late")


# ---------------------------------------------------------------- endings


def committed(duel: Duel, *seats: int) -> Duel:
    for seat in seats:
        assert duel.commit(seat, duel.dealer.hands.current[seat][0]) is None
    return duel


def revealed(duel: Duel, *seats: int) -> Duel:
    committed(duel, 0, 1)
    for seat in seats:
        assert duel.reveal(seat, duel.dealer.hands.current[seat][0]) is None
    return duel


def seated(duel: Duel, *mixed: int) -> Duel:
    duel.open()
    for seat in SEATS:
        assert duel.sit(seat) is None
    for seat in mixed:
        assert duel.mix(seat) is None
    return duel


ENDINGS: list[tuple[str, Callable[[], Duel], tuple[int, ...], Finished]] = [
    ("nobody sits", lambda: Duel().open(), (0, 1), Finished(None, "void")),
    ("nobody mixes", lambda: seated(Duel()), (0, 1), Finished(None, "void")),
    ("one hasn't mixed", lambda: seated(Duel(), 1), (0,), Finished(1, "time")),
    ("one hasn't committed", lambda: committed(Duel().begin(), 0), (1,), Finished(0, "time")),
    ("nobody has committed", lambda: Duel().begin(), (0, 1), Finished(None, "both_late")),
    ("one hasn't revealed", lambda: revealed(Duel().begin(), 1), (0,), Finished(1, "time")),
    ("nobody has revealed", lambda: revealed(Duel().begin()), (0, 1), Finished(None, "both_late")),
]


@pytest.mark.parametrize(("made", "owing", "finished"), [end[1:] for end in ENDINGS], ids=[end[0] for end in ENDINGS])
def test_whoever_owes_when_time_is_up_loses(
    made: Callable[[], Duel], owing: tuple[int, ...], finished: Finished
) -> None:
    duel = made()
    assert duel.do(CallTime()) is None
    assert duel.table.late == owing
    assert duel.table.finished == finished
    findings = audit(duel.saved)
    assert findings.failure is None
    assert findings.over


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize(
    ("made", "finished"),
    [
        (lambda: seated(Duel()), Finished(None, "void")),
        (lambda: seated(Duel(), 0), "resigned"),
        (lambda: Duel().begin(), "resigned"),
        (lambda: Duel(CLASSIC).begin(), "resigned"),
    ],
    ids=["nobody mixed", "one mixed", "dealt", "war"],
)
def test_leaving_is_a_resignation_from_the_first_entropy_on(
    made: Callable[[], Duel], finished: Finished | str, seat: int
) -> None:
    duel = made()
    assert duel.do(Resign(), seat) is None
    expected = Finished(1 - seat, finished) if isinstance(finished, str) else finished
    assert duel.table.finished == expected
    assert audit(duel.saved).passed


def test_the_ledger_hears_of_the_opening_when_the_second_sits_and_of_no_game_that_nobody_joined() -> None:
    duel = Duel().open()
    assert duel.sit(1) is None
    assert told(duel.saved) == (None, None)
    assert duel.sit(0) is None
    opening, closing = told(duel.saved)
    assert opening is not None
    assert (opening.version, opening.players, opening.ladder) == (len(duel.events), PLAYERS, "states-versus")
    assert closing is None
    alone = Duel(number=2).open()
    assert alone.do(CallTime()) is None
    assert alone.table.finished == Finished(None, "void")
    assert told(alone.saved) == (None, None)


# ---------------------------------------------------------------- playing


def test_nobody_reveals_before_both_have_committed() -> None:
    duel = committed(Duel().begin(), 0)
    assert reason(duel.reveal(0, duel.dealer.hands.current[0][0])) is Reason.NO_SEAL


def test_a_card_is_not_changed_once_it_is_sealed() -> None:
    duel = committed(Duel().begin(), 0, 1)
    own, other = duel.dealer.hands.current
    assert reason(duel.commit(0, own[1])) is Reason.ALREADY_COMMITTED
    assert reason(duel.reveal(0, own[1])) is Reason.SEAL_MISMATCH
    assert reason(duel.do(Reveal(1, own[0], bytes(32)), 0)) is Reason.SEAL_MISMATCH
    assert reason(duel.do(Play(1, own[0]), 0)) is Reason.WRONG_OPPONENT
    assert duel.reveal(0, own[0]) is None
    assert reason(duel.reveal(0, own[0])) is Reason.ALREADY_REVEALED
    assert other == duel.dealer.hands.current[1]


def test_a_sealed_card_that_is_not_held_can_not_be_revealed() -> None:
    duel = Duel().begin()
    others = duel.dealer.hands.current[1][0]
    assert duel.commit(0, others) is None
    committed(duel, 1)
    assert reason(duel.reveal(0, others)) is Reason.NOT_YOUR_CARD


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(ALL), st.randoms(use_true_random=False))
def test_every_game_between_two_ends_and_passes_audit_in_whatever_order_they_act(
    number: int, rules: Rules, chance: Random
) -> None:
    duel = Duel(rules, number, SHORT if rules is CLASSIC else ()).begin((1, 0) if number % 2 else (0, 1))
    if rules is not GAMEWEAVE:
        duel.finish(chance)
    else:
        for _ in range(10):
            assert duel.table.finished is not None or duel.do(CallTime()) is None
        if duel.table.finished is None:
            assert duel.do(Resign(), number % 2) is None
    findings = audit_file(save(duel.game, duel.events).encode())
    assert findings.failure is None
    assert findings.over
    assert list(replay(duel.game, duel.events))[-1].table == duel.table
    for stored in duel.events:
        assert codec.encode(codec.decode(stored.body)) == stored.body


# ---------------------------------------------------------------- audit


PLAYED = Duel(number=7).begin().finish(Random(7))


def credited() -> Duel:
    """Late, but a server was down for eight seconds; then late for good."""
    duel = committed(Duel(number=8).begin(), 0)
    assert duel.clock.due_ms is not None
    duel.now_ms = duel.clock.due_ms + 500
    assert duel.do(Credit(8000)) is None
    assert duel.do(CallTime()) is None
    return duel


def clocked() -> Duel:
    """A War whose first turns the clock makes, for both and then for one."""
    duel = Duel(CLASSIC, 9, SHORT).begin()
    assert duel.do(CallTime()) is None
    assert duel.turn(1) is None
    assert duel.do(CallTime()) is None
    return duel.finish(Random(9))


Twin = Callable[[list[Event]], None]


def rehashed(duel: Duel, change: Twin) -> Findings:
    events = [codec.decode(stored.body) for stored in duel.events]
    change(events)
    bodies = [codec.encode(event) for event in events]
    return audit(Saved(duel.game, chain.extend(chain.origin(duel.game), bodies)))


def at(events: list[Event], fact: type, nth: int = 0) -> int:
    return [number for number, event in enumerate(events) if isinstance(event.fact, fact)][nth]


def changed(fact: type, nth: int = 0, **changes: object) -> Twin:
    def change(events: list[Event]) -> None:
        place = at(events, fact, nth)
        events[place] = replace(events[place], fact=replace(events[place].fact, **changes))

    return change


def drop(fact: type, nth: int = 0) -> Twin:
    def change(events: list[Event]) -> None:
        del events[at(events, fact, nth)]

    return change


def exchanged(fact: type, name: str) -> Twin:
    """A field of the first two of a kind."""

    def change(events: list[Event]) -> None:
        places = (at(events, fact), at(events, fact, 1))
        values = [getattr(events[place].fact, name) for place in reversed(places)]
        for place, value in zip(places, values, strict=True):
            events[place] = replace(events[place], fact=replace(events[place].fact, **{name: value}))

    return change


def later(fact: type, ms: int, nth: int = 0) -> Twin:
    """Everything from there on at another time."""

    def change(events: list[Event]) -> None:
        place = at(events, fact, nth)
        events[place:] = [replace(event, at_ms=event.at_ms + ms) for event in events[place:]]

    return change


def early(fact: type, nth: int = 0) -> Twin:
    """Just more than is allowed before the deadline that the duels wait for."""
    return later(fact, -EARLY_MS_MAX - 1, nth)


TWINS: list[tuple[str, Duel, Twin, type]] = [
    ("a seat kept for somebody else", PLAYED, changed(Reserved, 1, player=STRANGER), Seated),
    ("a seat that wasn't kept", PLAYED, drop(Reserved, 1), Opened),
    ("the same player twice", PLAYED, changed(Reserved, 1, player=PLAYER), Opened),
    ("somebody else sits", PLAYED, changed(Seated, player=STRANGER), Seated),
    ("another hash of entropy", PLAYED, changed(Seated, entropy_hash=bytes(32)), Mixed),
    ("other entropy", PLAYED, changed(Mixed, entropy=bytes(32)), Mixed),
    ("entropy of the other seat", PLAYED, exchanged(Mixed, "entropy"), Mixed),
    ("a seat left out", PLAYED, drop(Seated, 1), Mixed),
    ("the deal left out", PLAYED, drop(Dealt), Committed),
    ("another seal", PLAYED, changed(Committed, seal=bytes(32)), Revealed),
    ("seals exchanged", PLAYED, exchanged(Committed, "seal"), Revealed),
    ("a commit left out", PLAYED, drop(Committed, 1), Revealed),
    ("another salt", PLAYED, changed(Revealed, salt=bytes(32)), Revealed),
    ("another card", PLAYED, changed(Revealed, card=Card(51)), Revealed),
    ("time up too early", credited(), early(TimeUp), TimeUp),
    ("time up as if nothing was given back", credited(), later(TimeUp, -8000), TimeUp),
    ("given back too early", credited(), later(Credited, -500 - EARLY_MS_MAX - 1), Credited),
    ("more given back than had passed", credited(), changed(Credited, ms=40_000), Credited),
    ("nothing given back", credited(), changed(Credited, ms=0), Credited),
    ("the wrong seat late", credited(), changed(TimeUp, owing=(0,)), TimeUp),
    ("nobody late", credited(), changed(TimeUp, owing=()), TimeUp),
    ("a turn by the clock too early", clocked(), early(Readied), Readied),
    ("a turn by the clock for one of two", clocked(), drop(Readied), Readied),
    ("one turn by the clock too early", clocked(), early(Readied, 3), Readied),
]


@pytest.mark.parametrize(("duel", "change", "fact"), [twin[1:] for twin in TWINS], ids=[twin[0] for twin in TWINS])
def test_a_broken_twin_is_refused_at_its_event(duel: Duel, change: Twin, fact: type) -> None:
    assert rehashed(duel, lambda events: None).passed
    found = rehashed(duel, change)
    assert found.failure is not None
    events = [codec.decode(stored.body) for stored in duel.events]
    change(events)
    named = events[found.failure.version - 1].fact
    assert isinstance(named, fact), f"{found.failure} names {named}"


def test_time_called_two_seconds_early_is_the_clocks_of_two_machines() -> None:
    assert rehashed(credited(), later(TimeUp, -EARLY_MS_MAX)).passed


def lost(duel: Duel) -> Duel:
    """The operator's store forgot the last event, and the game went on otherwise."""
    assert duel.do(Lose(len(duel.events) - 1, sha256(b"the log that was lost").digest())) is None
    return duel


GAMES: dict[str, Callable[[], Duel]] = {
    "fifty-states": lambda: PLAYED,
    "fifty-states-both-late": lambda: revealed(Duel(number=11).begin()),
    "fifty-states-credited": credited,
    "fifty-states-time": lambda: revealed(Duel(number=12).begin(), 0),
    "fifty-states-resigned": lambda: revealed(Duel(number=13).begin(), 0),
    "fifty-states-unmixed": lambda: seated(Duel(number=14), 0),
    "fifty-states-lost": lambda: lost(revealed(Duel(number=19).begin(), 0)),
    "fifty-states-void": lambda: seated(Duel(number=15, kept=(PLAYER, b""))),
    "war-classic-clocked": clocked,
    "war-classic-seed": lambda: Duel(CLASSIC, 16, (("length", "short"), ("seed", 5))),
    "war-gameweave-resigned": lambda: Duel(GAMEWEAVE, 17).begin(),
    "war-playbook": lambda: Duel(PLAYBOOK, 18).begin().finish(Random(18)),
}


def ended(name: str) -> Duel:
    duel = GAMES[name]()
    if name == "war-classic-seed":
        duel = seated(duel).finish(Random(16))
    if duel.table.finished is None:
        assert duel.do(Resign() if name.endswith("resigned") else CallTime(), 1) is None
    return duel


@pytest.mark.parametrize("name", GAMES)
def test_golden_games_between_people_are_to_the_byte_what_the_rules_give(name: str) -> None:
    path = VECTORS.parent / "golden" / "between" / f"{name}.jsonl"
    duel = ended(name)
    assert save(duel.game, duel.events) == path.read_text()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_games_between_people_replay(path: Path) -> None:
    findings = audit_file(path.read_bytes())
    assert findings.failure is None
    assert findings.over


def test_there_are_golden_games_between_people_of_every_ending() -> None:
    results = {audit_file(path.read_bytes()).result.split(" (")[1] for path in GOLDEN}
    assert {"all_cards)", "time)", "both_late)", "resigned)", "void)", "lost)"} <= results
