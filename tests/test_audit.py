"""Broken twins of a game, each hashed anew so that only the rules and the promises can tell: audit names the event."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from events import chain, codec
from events.codec import Event
from projections.audit import Findings, audit, audit_file
from projections.saved import Saved, load, save
from rules import fairness
from rules.fairness import Purpose, Stream
from rules.fifty_states import Captured, Committed, Play, Revealed, RoundEnded, deal
from rules.fifty_states import Played as PlayedCard
from rules.game import (
    OPEN_MS_MAX,
    CallTime,
    Card,
    Dealt,
    Finished,
    Lost,
    Mixed,
    Opened,
    Reserved,
    Resign,
    Resigned,
    Seated,
    TimeUp,
    Unsealed,
)
from tests.conftest import VECTORS
from tests.positions import KEY, Played, at_random

GOLDEN = sorted((VECTORS.parent / "golden").glob("*.jsonl"))

Twin = Callable[[list[Event]], None]
"""Changes the events of a game in place."""


def rehashed(played: Played | Saved, change: Twin) -> Findings:
    events = [codec.decode(stored.body) for stored in played.events]
    change(events)
    bodies = [codec.encode(event) for event in events]
    return audit(Saved(played.game, chain.extend(chain.origin(played.game), bodies)))


def first(events: list[Event], fact: type) -> int:
    return next(at for at, event in enumerate(events) if isinstance(event.fact, fact))


def put(events: list[Event], at: int, **changes: object) -> None:
    events[at] = replace(events[at], fact=replace(events[at].fact, **changes))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_games_replay_under_their_own_rules_version(path: Path) -> None:
    findings = audit_file(path.read_bytes())
    assert findings.failure is None
    assert findings.over


def test_there_are_golden_games_of_every_ending() -> None:
    results = {audit_file(path.read_bytes()).result for path in GOLDEN}
    assert results >= {
        "seat 1 won (all_cards)",
        "seat 1 won (resigned)",
        "seat 1 won (time)",
        "nobody won (void)",
        "nobody won (lost)",
    }


def another_house_card(events: list[Event]) -> None:
    """Of its own hand, and properly sealed: but the policy and its stream say which it had to be."""
    seal, reveal = first(events, Committed), first(events, Revealed)
    shown: Revealed = events[reveal].fact
    seed, hand = seed_and_house_hand(events)
    other = next(card for card in hand if card != shown.card)
    salt = Stream(seed, Purpose.SALT, 1).bytes32()
    put(events, seal, seal=fairness.seal(PLAYED.game, 1, 1, other, salt))
    put(events, reveal, card=other)


def another_salt(events: list[Event]) -> None:
    seal, reveal = first(events, Committed), first(events, Revealed)
    card = events[reveal].fact.card
    put(events, seal, seal=fairness.seal(PLAYED.game, 1, 1, card, bytes(32)))
    put(events, reveal, salt=bytes(32))


def seed_and_house_hand(events: list[Event]) -> tuple[bytes, tuple[Card, ...]]:
    mixed: Mixed = events[first(events, Mixed)].fact
    secret = fairness.secret(KEY, PLAYED.game)
    seed = fairness.seed(secret, PLAYED.game, (mixed.entropy, fairness.NO_ENTROPY))
    return seed, deal(seed, ()).current[1]


PLAYED = Played("strategic", 3).begin().finish(at_random(3))
FACTS = [codec.decode(stored.body) for stored in PLAYED.events]


def card_not_in_hand(events: list[Event]) -> None:
    _, house = seed_and_house_hand(events)
    put(events, first(events, PlayedCard), card=house[-1])


def drop(fact: type) -> Twin:
    def dropped(events: list[Event]) -> None:
        del events[first(events, fact)]

    return dropped


def changed(fact: type, **changes: object) -> Twin:
    return lambda events: put(events, first(events, fact), **changes)


def after_the_end(events: list[Event]) -> None:
    events.append(events[first(events, Dealt)])


def before_the_end(events: list[Event]) -> None:
    at = first(events, Unsealed)
    events[at - 1 : at + 1] = events[at], events[at - 1]


def without_secret(events: list[Event]) -> None:
    events[-1] = replace(events[-1], fact=Unsealed(bytes(32)))


def time_falls(events: list[Event]) -> None:
    events[5] = replace(events[5], at_ms=events[4].at_ms - 1)


def time_up_too_early(events: list[Event]) -> None:
    at = first(events, Revealed)
    ending = [TimeUp((0,)), Finished(1, "time"), Unsealed(events[-1].fact.secret)]
    events[at:] = [replace(events[at], fact=fact) for fact in ending]


def a_rival_of_the_operators_choice(events: list[Event]) -> None:
    at = [n for n, event in enumerate(events) if isinstance(event.fact, Seated)][1]
    put(events, at, rival="opal-winterbourne" if events[at].fact.rival != "opal-winterbourne" else "barnaby-quill")


def another_cause_within_an_append(events: list[Event]) -> None:
    at = first(events, Captured)
    events[at] = replace(events[at], cause=bytes(16))


def another_time_within_an_append(events: list[Event]) -> None:
    at = first(events, Captured)
    events[at:] = [replace(event, at_ms=event.at_ms + 1) for event in events[at:]]


def one_cause_twice(events: list[Event]) -> None:
    at = first(events, Mixed)
    events[at : at + 3] = [replace(event, cause=events[0].cause) for event in events[at : at + 3]]


def the_house_resigns(events: list[Event]) -> None:
    at = first(events, Revealed)
    ending = [Resigned(1), Finished(0, "resigned"), Unsealed(events[-1].fact.secret)]
    events[at:] = [replace(events[at], fact=fact) for fact in ending]


def lost(version: int, hash_: bytes, reason: str = "lost", winner: int | None = None) -> Twin:
    """The operator says that he lost something, instead of the first reveal."""

    def change(events: list[Event]) -> None:
        at = first(events, Revealed)
        ending = [Lost(version, hash_), Finished(winner, reason), Unsealed(events[-1].fact.secret)]
        events[at:] = [replace(events[at], fact=fact) for fact in ending]

    return change


def test_a_game_that_the_operator_lost_has_no_result_and_says_so() -> None:
    findings = rehashed(PLAYED, lost(5, bytes(32)))
    assert (findings.failure, findings.over, findings.result) == (None, True, "nobody won (lost)")
    assert findings.checked["events that the operator had shown and lost, which counts against him"] == 1


TWINS: list[tuple[str, Twin, type]] = [
    ("another card of the house", another_house_card, Committed),
    ("a salt of the operator's choice", another_salt, Committed),
    ("a card the person didn't hold", card_not_in_hand, Revealed),
    ("the wrong side captures", changed(Captured, seat=1 - FACTS[first(FACTS, Captured)].fact.seat), Captured),
    ("a round end left out", drop(RoundEnded), Committed),
    ("a capture left out", drop(Captured), Committed),
    ("a seal left out", drop(Committed), Revealed),
    ("the deal left out", drop(Dealt), Committed),
    ("another number of cards", changed(Dealt, counts=(7, 6)), Dealt),
    ("other entropy", changed(Mixed, entropy=bytes(32)), Committed),
    ("another winner", changed(Finished, winner=1 - FACTS[first(FACTS, Finished)].fact.winner), Finished),
    ("another reason", changed(Finished, reason="resigned"), Finished),
    ("another S", without_secret, Unsealed),
    ("another hash of S", changed(Opened, secret_hash=bytes(32)), Unsealed),
    ("another policy", changed(Opened, strategy_hash=bytes(32)), Opened),
    ("another mode", changed(Opened, mode="relaxed"), Opened),
    ("rules there are not", changed(Opened, rules="fifty-states/9"), Opened),
    ("another opening time", changed(Opened, at_ms=1), Opened),
    ("a rival of the operator's choice", a_rival_of_the_operators_choice, Seated),
    ("a player whose id is short", changed(Seated, player=bytes(15)), Seated),
    ("nobody in a player's seat", changed(Seated, player=b""), Seated),
    ("time up too early", time_up_too_early, TimeUp),
    ("time falling", time_falls, Committed),
    ("another cause within an append", another_cause_within_an_append, Captured),
    ("another time within an append", another_time_within_an_append, Captured),
    ("one cause twice", one_cause_twice, Mixed),
    ("the house resigning", the_house_resigns, Resigned),
    ("something after the end", after_the_end, Dealt),
    ("S before the end", before_the_end, Unsealed),
    ("a loss of what comes later", lost(99, bytes(32)), Lost),
    ("a loss without the hash of what was lost", lost(5, b""), Lost),
    ("a loss with a winner", lost(5, bytes(32), winner=0), Finished),
    ("a loss under another name", lost(5, bytes(32), reason="void"), Finished),
]


@pytest.mark.parametrize(("change", "fact"), [twin[1:] for twin in TWINS], ids=[twin[0] for twin in TWINS])
def test_a_broken_twin_is_refused_at_its_event(change: Twin, fact: type) -> None:
    assert rehashed(PLAYED, lambda events: None).passed
    found = rehashed(PLAYED, change)
    assert found.failure is not None
    events = list(FACTS)
    change(events)
    named = events[found.failure.version - 1].fact
    assert isinstance(named, fact), f"{found.failure} names {named}"


@pytest.mark.parametrize("fact", [Reserved, Seated])
@pytest.mark.parametrize("player", [b"", bytes(15), bytes(17)], ids=len)
def test_between_people_every_seat_is_kept_for_and_taken_by_an_id_of_sixteen_bytes(fact: type, player: bytes) -> None:
    game = load((VECTORS.parent / "golden" / "between" / "fifty-states-void.jsonl").read_bytes())
    assert rehashed(game, lambda events: None).passed
    facts = [codec.decode(stored.body).fact for stored in game.events]
    for version in [at for at, each in enumerate(facts, 1) if isinstance(each, fact)]:
        found = rehashed(game, lambda events, at=version - 1: put(events, at, player=player))  # type: ignore[misc]
        assert found.failure is not None
        # A seat that is kept for nobody isn't kept: then it is the opening that doesn't lead to it.
        assert found.failure.version == (1 if fact is Reserved and not player else version)


def test_a_log_cut_off_is_not_called_over() -> None:
    findings = audit(Saved(PLAYED.game, tuple(PLAYED.events[:-1])))
    assert not findings.over
    findings = audit(Saved(PLAYED.game, tuple(PLAYED.events[:20])))
    assert not findings.over


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}\n", b"[]\n", b"\xff\n", b"null\n", b'{"format":"statecraft-game/1"}\n']
)
def test_a_file_that_is_no_saved_game_fails_at_its_first_line(data: bytes) -> None:
    failure = audit_file(data).failure
    assert failure is not None
    assert failure.version == 0


def test_a_version_that_is_a_truth_value_is_not_written_in_the_one_form() -> None:
    text = save(PLAYED.game, PLAYED.events).replace('"version":1,', '"version":true,')
    failure = audit_file(text.encode()).failure
    assert failure is not None
    assert failure.version == 1


def test_a_file_without_events_fails() -> None:
    first_line = f'{{"format":"statecraft-game/1","game":"{PLAYED.game.hex()}"}}\n'
    failure = audit_file(first_line.encode()).failure
    assert failure is not None
    assert failure.version == 1


@pytest.mark.parametrize("ending", [Resign(), CallTime()], ids=["resigned", "time"])
@pytest.mark.parametrize("battles", [0, 3])
def test_games_that_end_otherwise_pass_too(ending: object, battles: int) -> None:
    played = Played("relaxed", 9).begin()
    for _ in range(battles):
        played.do(Play(played.table.position.battle, played.dealer.hands.current[0][0]))
    played.now_ms += OPEN_MS_MAX
    assert played.do(ending) is None
    assert audit(played.saved).failure is None
