"""Laws of the three Wars, over games that hypothesis invents: which variant, which settings, when it is left."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import chain, codec
from events.codec import Event
from projections.audit import Findings, audit, audit_file
from projections.replay import replay
from projections.saved import Saved, save
from rules import fairness, game, open_deals, war
from rules.fairness import NO_ENTROPY
from rules.game import (
    OPEN_MS_MAX,
    CallTime,
    Card,
    Dealer,
    Dealt,
    Finished,
    Mix,
    Mixed,
    Moved,
    Opened,
    Refused,
    Resign,
    Resigned,
    Rules,
    Seated,
    Table,
    TimeUp,
    Unsealed,
)
from rules.variants import VARIANTS, in_force
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Hands, Laid, Position, Readied, Taken, Turn, Turned
from server import wire
from tests.positions import KEY, Played, piled, war_game

WARS = (PLAYBOOK, GAMEWEAVE, CLASSIC)

few = settings(max_examples=30, deadline=None)
"""A whole War may have 2,000 battles."""


@st.composite
def wars(draw: st.DrawFn, whole: bool = False) -> Played:
    """A War at any stage, or a finished one; of each variant, with any settings, open or not."""
    rules = draw(st.sampled_from(WARS))
    given_: dict[str, int | str] = {}
    if rules is CLASSIC:
        given_ = {"down": draw(st.sampled_from([1, 3])), "length": draw(st.sampled_from(["full", "short"]))}
        if draw(st.booleans()):
            given_["seed"] = draw(st.integers(0, open_deals.SEED_MAX))
    played = war_game(rules, draw(st.integers(0, 10**6)), **given_)
    times = VARIANTS[rules.name].times
    for turns in draw(st.lists(st.integers(1, times), max_size=12)):
        if played.table.finished is None:
            assert played.turn(turns) is None
    if whole and played.table.finished is None:
        match draw(st.sampled_from(["play", "left", "time"])):
            case "play":
                played.turn_out(times)
            case "left":
                assert played.do(Resign()) is None
            case _:
                played.now_ms += OPEN_MS_MAX
                assert played.do(CallTime()) is None
    return played


def folds(played: Played) -> Iterator[tuple[Any, Table, Dealer]]:
    """Every moment of the game, between an append's facts too."""
    table, dealer = Table(played.game), Dealer(played.game, fairness.secret(KEY, played.game))
    for stored in played.events:
        fact = codec.decode(stored.body).fact
        table, dealer = game.evolve(played.rules, table, fact), game.follow(played.rules, dealer, fact)
        yield fact, table, dealer


@given(wars())
def test_fifty_two_cards_are_conserved_in_every_state(played: Played) -> None:
    for _, table, dealer in folds(played):
        if not table.dealt:
            continue
        position: Position = table.position
        hands: Hands = dealer.hands
        assert sorted(hands.piles[0] + hands.piles[1]) == list(range(52))
        assert hands.in_play == position.in_play
        assert sum(position.sizes) + sum(position.in_play) == 52
        for seat in (0, 1):
            assert len(hands.piles[seat]) == position.sizes[seat] + position.in_play[seat]
            if any(position.in_play):
                # What lies face up is what the piles begin with, in the places that the laid cards leave.
                at = 0
                for row, laid in zip(position.rows, (*position.laid, (0, 0)), strict=False):
                    assert position.in_play[seat] == 0 or hands.piles[seat][at] == row[seat]
                    at += 1 + laid[seat]


@given(wars())
def test_a_position_is_bounded_and_its_counters_follow_from_the_facts(played: Played) -> None:
    turned: list[Turned] = []
    for fact, table, _ in folds(played):
        turned += [fact] if isinstance(fact, Turned) else []
        if not table.dealt:
            continue
        position: Position = table.position
        assert len(position.rows) + len(position.laid) <= 52
        assert position.battles == (turned[-1].battle if turned else 0)
        assert position.wars == sum(each.cards[0] % 13 == each.cards[1] % 13 for each in turned)
        assert position.battle == position.battles + (not any(position.in_play))


def cards_in(value: Any, hint: Any) -> Iterator[Card]:
    """Every number in a value that its type says is a Card."""
    if hint is Card:
        yield value
    elif hasattr(hint, "__dataclass_fields__"):
        hints = get_type_hints(hint)
        for field in fields(hint):
            yield from cards_in(getattr(value, field.name), hints[field.name])
    elif isinstance(value, tuple):
        args = get_args(hint)
        for at, each in enumerate(value):
            yield from cards_in(each, args[0] if len(args) == 2 and args[1] is Ellipsis else args[at])


@given(wars(), st.booleans())
def test_nothing_sent_of_a_live_game_names_a_card_that_was_not_face_up(played: Played, text: bool) -> None:
    kind = wire.JSON if text else wire.MSGPACK
    decode = msgspec.json.decode if text else msgspec.msgpack.decode
    face_up: set[Card] = set()
    for stored, (fact, table, _) in zip(played.events, folds(played), strict=True):
        if isinstance(fact, Turned):
            face_up |= set(fact.cards)
        message = decode(wire.events_frame(kind, played.game, (stored,), table, None))
        sent = codec.decode(msgspec.convert(message["events"][0]["body"], bytes) if text else message["events"][0]).fact
        told = set(cards_in(sent, type(sent)))
        if message["table"]["position"] is not None:
            position = msgspec.convert(message["table"]["position"], Position)
            assert position == table.position
            told |= set(cards_in(position, Position))
        assert told <= face_up


def test_cards_are_found_wherever_a_type_says_card() -> None:
    position = replace(war.start((26, 26)), rows=((Card(1), Card(2)), (Card(3), Card(4))), laid=((5, 6),))
    assert set(cards_in(position, Position)) == {1, 2, 3, 4}
    assert set(cards_in(Turned(9, (Card(1), Card(2))), Turned)) == {1, 2}
    assert set(cards_in(Laid(9, (3, 3)), Laid)) == set()


@given(wars())
def test_the_fold_of_the_log_is_what_play_had_in_memory(played: Played) -> None:
    at = list(played.folds)
    for _, table, dealer in folds(played):
        if at and (table, dealer) == at[0]:
            at.pop(0)
    assert not at
    assert (table, dealer) == (played.table, played.dealer)


@given(wars(), st.integers(0))
def test_folding_many_facts_at_once_is_folding_each_after_the_other(played: Played, cut: int) -> None:
    moments = list(folds(played))
    cut %= len(moments) + 1
    table, dealer = Table(played.game), Dealer(played.game, fairness.secret(KEY, played.game))
    for start, end in ((0, cut), (cut, len(moments))):
        some = played.facts[start:end]
        alone = game.evolve_all(played.rules, table, some)
        table, dealer = game.fold(played.rules, table, dealer, some)
        assert alone == table
        if end:
            assert (table, dealer) == moments[end - 1][1:]


@few
@given(wars(whole=True))
def test_a_game_from_the_log_equals_the_game_from_its_opened_seed(played: Played) -> None:
    opened: Opened = played.facts[0]
    rules = played.rules
    hands = rules.open_deal(opened.settings)
    if hands is None:
        (secret,) = [fact.secret for fact in played.facts if isinstance(fact, Unsealed)]
        (entropy,) = [fact.entropy for fact in played.facts if isinstance(fact, Mixed)]
        hands = rules.deal(fairness.seed(secret, played.game, (entropy, NO_ENTROPY)), opened.settings)
    terms = in_force(VARIANTS[rules.name], opened.settings)
    own = [fact for fact in played.facts if isinstance(fact, Turned | Laid | Taken)]
    told: list[Any] = []
    piles, battle, end = hands.piles, 0, None
    while len(told) < len(own):
        assert end is None
        battle += 1
        fought = war.fight(terms, piles, battle, hands.seed)
        told += [fact for fact in war.facts(battle, fought) if not isinstance(fact, Finished)]
        piles, end = fought.piles, fought.end
    assert told == own
    assert end is None or end in played.facts


@few
@given(wars(whole=True))
def test_every_moment_of_a_finished_war_can_be_told_again(played: Played) -> None:
    moments = list(replay(played.game, played.events))
    assert moments[-1].table == played.table
    assert {moment.hands for moment in moments} <= {None, ((), ())}


anything = st.one_of(
    st.builds(Mix, st.binary(max_size=40)),
    st.builds(Resign),
    st.builds(CallTime),
    st.builds(Turn, st.integers(-1, 20), st.integers(-1, 12)),
)


@given(wars(), anything, st.integers(0, 1))
def test_a_refusal_leaves_everything_as_it_was_and_says_the_same_again(played: Played, command: Any, seat: int) -> None:
    table, dealer = played.table, played.dealer
    first = game.move(played.rules, table, dealer, seat, command, played.now_ms)
    assert game.move(played.rules, table, dealer, seat, command, played.now_ms) == first
    assert (table, dealer) == (played.table, played.dealer)
    if isinstance(first, Moved):
        assert game.asked(played.rules, table, first.facts) == (0 if isinstance(command, CallTime) else seat, command)


@given(st.sampled_from(WARS), st.integers(0, 10**6), st.lists(st.tuples(st.integers(0, 1), st.integers(1, 10))))
def test_between_people_the_cards_fall_as_against_the_house_whoever_turns_first(
    rules: Rules, number: int, turns: list[tuple[int, int]]
) -> None:
    house = war_game(rules, number)
    table, dealer = piled(rules, house.dealer.hands.piles, "versus")
    dealer = replace(dealer, hands=house.dealer.hands)
    for seat, times in turns:
        command = Turn(table.position.battle, min(times, VARIANTS[rules.name].times))
        before = table
        moved = game.move(rules, table, dealer, seat, command, 0)
        if isinstance(moved, Refused):
            assert before.position.through[seat] >= before.position.battle or before.finished
            continue
        table, dealer = moved.table, moved.dealer
        assert game.asked(rules, before, moved.facts) == (seat, command)
        assert table.position.battles <= min(table.position.through)
    while house.table.position.battles < table.position.battles:
        house.turn()
    assert dealer.hands == house.dealer.hands
    same = replace(table.position, through=(0, 0))
    assert same == replace(house.table.position, through=(0, 0))


# ---------------------------------------------------------------- stored, and audited


@given(wars())
def test_encoding_decoding_and_encoding_again_gives_the_same_bytes(played: Played) -> None:
    for stored in played.events:
        event = codec.decode(stored.body)
        assert codec.encode(event) == stored.body


@few
@given(wars(whole=True))
def test_every_finished_war_passes_audit(played: Played) -> None:
    findings = audit(played.saved)
    assert findings.failure is None
    assert findings.over
    assert audit_file(save(played.game, played.events).encode()).passed


@few
@given(wars(whole=True), st.data())
def test_a_war_with_an_event_left_out_or_moved_fails_audit_though_it_is_hashed_anew(
    played: Played, data: st.DataObject
) -> None:
    events = [codec.decode(stored.body) for stored in played.events]
    at = data.draw(st.integers(0, len(events) - 2))
    if data.draw(st.booleans()):
        del events[at]
    else:
        events[at], events[at + 1] = events[at + 1], events[at]
    bodies = [codec.encode(event) for event in events]
    findings = audit(Saved(played.game, chain.extend(chain.origin(played.game), bodies)))
    assert not findings.passed or not findings.over
    if not isinstance(events[-1].fact, Unsealed) and played.rules.open_deal(played.facts[0].settings) is None:
        return  # Without S at its end it is a running game's log.
    assert findings.failure is not None
    assert findings.failure.version in (at, at + 1, at + 2)


@given(wars())
def test_a_running_war_is_not_called_proved(played: Played) -> None:
    findings = audit(played.saved)
    assert findings.passed
    assert findings.over == (played.table.finished is not None)


# ---------------------------------------------------------------- broken twins, hashed anew

Twin = Callable[[list[Event]], None]
"""Changes the events of a game in place."""


def rehashed(played: Played, change: Twin) -> tuple[Findings, list[Event]]:
    events = [codec.decode(stored.body) for stored in played.events]
    change(events)
    bodies = [codec.encode(event) for event in events]
    return audit(Saved(played.game, chain.extend(chain.origin(played.game), bodies))), events


def nth(events: list[Event], fact: type, number: int = 0) -> int:
    return [at for at, event in enumerate(events) if isinstance(event.fact, fact)][number]


def changed(fact: type, number: int = 0, **changes: Any) -> Twin:
    def change(events: list[Event]) -> None:
        at = nth(events, fact, number)
        events[at] = replace(events[at], fact=replace(events[at].fact, **changes))

    return change


def dropped(fact: type, number: int = 0) -> Twin:
    def drop(events: list[Event]) -> None:
        del events[nth(events, fact, number)]

    return drop


def put_in(before: type, number: int, *facts: Any) -> Twin:
    def put(events: list[Event]) -> None:
        at = nth(events, before, number)
        events[at:at] = [replace(events[at], fact=fact, cause=bytes([n]) * 16) for n, fact in enumerate(facts)]

    return put


def ended_instead(*facts: Any) -> Twin:
    """From the second turn on the game ends otherwise."""

    def end(events: list[Event]) -> None:
        at = nth(events, Readied, 1)
        last = [events[-1].fact] if isinstance(events[-1].fact, Unsealed) else []
        events[at:] = [replace(events[at], fact=fact) for fact in (*facts, *last)]

    return end


def other_card(events: list[Event]) -> None:
    at = nth(events, Turned)
    one, two = events[at].fact.cards
    events[at] = replace(events[at], fact=Turned(1, (two, one)))


def two_turns_changed_over(events: list[Event]) -> None:
    """The whole second battle shows the first one's cards: they are in the same piles, but not on top."""
    first, second = nth(events, Turned), nth(events, Turned, 1)
    events[second] = replace(events[second], fact=replace(events[second].fact, cards=events[first].fact.cards))


def wrong_winner(events: list[Event]) -> None:
    at = nth(events, Taken)
    events[at] = replace(events[at], fact=replace(events[at].fact, seat=1 - events[at].fact.seat))


def wrong_end(events: list[Event]) -> None:
    at = nth(events, Finished)
    winner = events[at].fact.winner
    events[at] = replace(events[at], fact=replace(events[at].fact, winner=None if winner is not None else 0))


GAMES = {
    "playbook": war_game(PLAYBOOK, 8).turn_out(10),
    "gameweave": war_game(GAMEWEAVE, 8).turn_out(),
    "classic": war_game(CLASSIC, 8).turn_out(),
    "open": war_game(CLASSIC, seed=12).turn_out(),
}

TWINS: list[tuple[str, Twin, type | tuple[type, ...]]] = [
    ("both cards changed over", other_card, Turned),
    ("a card that isn't on top", two_turns_changed_over, Turned),
    ("another battle's number", changed(Turned, 2, battle=9), Turned),
    ("fewer cards laid", changed(Laid, counts=(0, 1)), Laid),
    ("a war without laid cards", dropped(Laid), Turned),
    ("the wrong seat takes", wrong_winner, Taken),
    ("a card less taken", changed(Taken, count=1), Taken),
    ("nobody takes", dropped(Taken), (Readied, Turned)),
    ("a turn nobody agreed to", dropped(Readied), Turned),
    ("an agreement of the house", put_in(Readied, 1, Readied(1, 2)), Readied),
    ("an agreement to no battle", changed(Readied, through=0), Readied),
    ("an agreement to more than a command may", changed(Readied, through=11), Readied),
    ("another number of cards dealt", changed(Dealt, counts=(25, 27)), Dealt),
    ("the deal left out", dropped(Dealt), Readied),
    ("another winner", wrong_end, Finished),
    ("another reason", changed(Finished, reason="left"), Finished),
    ("the end before its time", ended_instead(Finished(0, "all_cards")), Finished),
    ("left, but won", ended_instead(Resigned(0), Finished(1, "resigned")), Finished),
    ("left by the house", ended_instead(Resigned(1), Finished(0, "left")), Resigned),
    ("time up too early", ended_instead(TimeUp((0,)), Finished(1, "time")), TimeUp),
    ("a rival's name", changed(Seated, 1, rival="barnaby-quill"), Seated),
    ("a policy", changed(Opened, strategy_hash=bytes(31) + b"\1"), Opened),
    ("a mode there is not", changed(Opened, mode="relaxed"), Opened),
    ("settings there are not", changed(Opened, settings=(("speed", 1),)), Opened),
    ("another variant", changed(Opened, rules="fifty-states/1"), Opened),
    ("entropy of the house", put_in(Readied, 1, Mixed(1, bytes(32))), Mixed),
]
OWN_TWINS: list[tuple[str, str, Twin, type | tuple[type, ...]]] = [
    ("other entropy", "classic", changed(Mixed, entropy=bytes(32)), Turned),
    ("another S", "gameweave", changed(Unsealed, secret=bytes(32)), Unsealed),
    ("another hash of S", "classic", changed(Opened, secret_hash=bytes(32)), Unsealed),
    ("no hash of S", "classic", changed(Opened, secret_hash=b""), Unsealed),
    ("other settings", "classic", changed(Opened, settings=(("down", 1), ("length", "full"))), Laid),
    ("settings left out", "classic", changed(Opened, settings=(("down", 1),)), Opened),
    ("settings twice", "classic", changed(Opened, settings=(("down", 1), ("down", 3), ("length", "full"))), Opened),
    ("a seed put in", "classic", changed(Opened, settings=(("down", 3), ("length", "full"), ("seed", 1))), Opened),
    ("another seed", "open", changed(Opened, settings=(("down", 3), ("length", "full"), ("seed", 13))), Turned),
    ("a text as seed", "open", changed(Opened, settings=(("down", 3), ("length", "full"), ("seed", "12"))), Opened),
    ("a hash of S", "open", changed(Opened, secret_hash=bytes(32)), Opened),
    ("an open deal that counts", "open", changed(Opened, counts=True), Opened),
    (
        "S where there is none",
        "open",
        lambda events: events.append(replace(events[-1], fact=Unsealed(bytes(32)))),
        Unsealed,
    ),
    ("entropy of a person", "open", put_in(Readied, 0, Mixed(0, bytes(32))), Mixed),
]
CASES = [(name, which, change, fact) for name, change, fact in TWINS for which in GAMES] + OWN_TWINS


@pytest.mark.parametrize(
    ("which", "change", "fact"), [case[1:] for case in CASES], ids=[f"{c[0]}-{c[1]}" for c in CASES]
)
def test_a_broken_twin_of_a_war_is_refused_at_its_event(
    which: str, change: Twin, fact: type | tuple[type, ...]
) -> None:
    found, events = rehashed(GAMES[which], change)
    assert found.failure is not None
    named = events[found.failure.version - 1].fact
    assert isinstance(named, fact), f"{found.failure} names {named}"


@pytest.mark.parametrize("which", list(GAMES))
def test_a_war_cut_off_is_not_called_over(which: str) -> None:
    for kept in (*range(5, 12), -1):
        findings = audit(Saved(GAMES[which].game, tuple(GAMES[which].events[:kept])))
        assert not findings.over


def test_the_games_that_the_twins_are_made_of_pass() -> None:
    for played in GAMES.values():
        found, _ = rehashed(played, lambda events: None)
        assert found.failure is None
        assert found.over


def test_a_running_open_deal_is_checked_as_far_as_it_goes() -> None:
    played = war_game(CLASSIC, seed=12)
    played.turn()
    findings = audit(played.saved)
    assert findings.passed
    assert not findings.over
    assert findings.checked["the deal, made again from its seed"] == 1
    found, _ = rehashed(played, other_card)
    assert found.failure is not None
