"""Laws of every game, over games that hypothesis invents: who plays what, who leaves when, what is sent wrongly."""

import contextlib
import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import chain, codec, entries
from events.shapes import Undecodable
from projections.audit import audit, audit_file
from projections.replay import replay
from projections.saved import save
from rules import fairness, fifty_states, game
from rules.catalogue import FACTS
from rules.fifty_states import FIFTY_STATES, Commit, Hands, Position, Reveal
from rules.game import CallTime, Card, Dealer, Mix, Open, Refused, Resign, Table
from tests.positions import KEY, PLAYER, Played

choices = st.lists(st.integers(0, 6), max_size=14)


@st.composite
def games(draw: st.DrawFn, whole: bool = False) -> Played:
    """A game at any stage, or a finished one."""
    played = Played(draw(st.sampled_from(["relaxed", "strategic"])), draw(st.integers(0, 10**6)))
    stage = 2 if whole else draw(st.integers(0, 2))
    if stage == 0:
        return played.begin(mix=False)
    played.begin()
    picks = draw(choices)
    for pick in picks if stage == 2 else []:
        if played.table.finished is None:
            hand = played.dealer.hands.current[0]
            assert played.play(hand[pick % len(hand)]) is None
    if whole and played.table.finished is None:
        ending = draw(st.sampled_from(["play", "resign", "time"]))
        match ending:
            case "play":
                played.finish(lambda _, hand: hand[0])
            case "resign":
                assert played.do(Resign()) is None
            case _:
                played.now_ms += game.OPEN_MS_MAX
                assert played.do(CallTime()) is None
    return played


@given(games())
def test_the_fold_of_any_prefix_never_fails_and_is_what_play_had_in_memory(played: Played) -> None:
    table, dealer = Table(played.game), Dealer(played.game, fairness.secret(KEY, played.game))
    at = {(t.position, t.finished, d.hands) for t, d in played.folds}
    for stored in played.events:
        fact = codec.decode(stored.body).fact
        table, dealer = game.evolve(FIFTY_STATES, table, fact), game.follow(FIFTY_STATES, dealer, fact)
        at.discard((table.position, table.finished, dealer.hands))
    assert (table, dealer) == (played.table, played.dealer)
    assert not at


@given(games(), st.data())
def test_folding_many_facts_at_once_is_folding_each_after_the_other(played: Played, data: st.DataObject) -> None:
    table, dealer = Table(played.game), Dealer(played.game, fairness.secret(KEY, played.game))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(played.facts)), max_size=3)))
    for start, end in pairwise([0, *cuts, len(played.facts)]):
        some = played.facts[start:end]
        before = copy.deepcopy((table, dealer))
        folded = game.fold(FIFTY_STATES, table, dealer, iter(some))
        assert game.evolve_all(FIFTY_STATES, table, some) == folded[0]
        assert (table, dealer) == before, "what was folded from is as it was"
        for fact in some:
            table, dealer = game.evolve(FIFTY_STATES, table, fact), game.follow(FIFTY_STATES, dealer, fact)
        assert folded == (table, dealer)


def test_facts_before_the_deal_that_need_one_change_nothing_when_folded_at_once() -> None:
    played = Played("relaxed", 1).begin(mix=False)
    early = [fifty_states.Played(0, 1, Card(3)), fifty_states.RoundEnded(1)]
    table, dealer = game.fold(FIFTY_STATES, played.table, played.dealer, early)
    assert table is game.evolve_all(FIFTY_STATES, played.table, early) is played.table
    assert dealer is played.dealer


@given(games(whole=True))
def test_hands_at_any_version_are_rebuilt_from_the_log_and_the_opened_secret(played: Played) -> None:
    moments = list(replay(played.game, played.events))
    assert moments[-1].table == played.table
    for moment in moments:
        if moment.hands is not None and moment.table.dealt:
            assert tuple(map(len, moment.hands)) == moment.table.position.sizes


@given(games())
def test_fourteen_cards_are_conserved(played: Played) -> None:
    table, dealer = Table(played.game), Dealer(played.game, fairness.secret(KEY, played.game))
    dealt: set[Card] = set()
    for fact in played.facts:
        table, dealer = game.evolve(FIFTY_STATES, table, fact), game.follow(FIFTY_STATES, dealer, fact)
        if not table.dealt:
            continue
        position: Position = table.position
        hands: Hands = dealer.hands
        shown = [card for card in position.shown if card is not None]
        everywhere = [card for pair in (hands.current, hands.captured) for hand in pair for card in hand]
        everywhere += [*position.discarded, *shown]
        dealt = dealt or set(everywhere)
        assert len(everywhere) == 14
        assert set(everywhere) == dealt
        assert hands.captured == position.captured
        assert position.sizes == (len(hands.current[0]), len(hands.current[1]))
        for seat in (0, 1):
            assert set(position.known[seat]) <= set(hands.current[seat])
            if position.round > 1:
                assert position.known[seat] == hands.current[seat]


anything = st.one_of(
    st.builds(Mix, st.binary(max_size=40)),
    st.builds(Resign),
    st.builds(CallTime),
    st.builds(fifty_states.Play, st.integers(-1, 15), st.integers(-1, 60).map(Card)),
    st.builds(Commit, st.integers(0, 15), st.binary(max_size=33)),
    st.builds(Reveal, st.integers(0, 15), st.integers(-1, 60).map(Card), st.binary(max_size=33)),
    st.builds(Open, st.text(max_size=5), st.just(()), st.just(PLAYER), st.booleans(), st.booleans(), st.integers(0, 3)),
)


@given(games(), anything, st.integers(0, 1))
def test_a_refusal_leaves_everything_as_it_was_and_says_the_same_again(played: Played, command: Any, seat: int) -> None:
    table, dealer = played.table, played.dealer
    first = game.move(FIFTY_STATES, table, dealer, seat, command, played.now_ms)
    assert game.move(FIFTY_STATES, table, dealer, seat, command, played.now_ms) == first
    if isinstance(first, Refused):
        assert (table, dealer) == (played.table, played.dealer)
    else:
        # What was taken can be told again from its facts alone.
        assert game.asked(FIFTY_STATES, table, first.facts) == (
            seat if not isinstance(command, Open | CallTime) else 0,
            command,
        )


@given(games(), st.data())
def test_what_was_asked_is_told_by_the_next_few_facts(played: Played, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(played.facts) - 1))
    table = game.evolve_all(FIFTY_STATES, Table(played.game), played.facts[:cut])
    next_ = tuple(played.facts[cut:])
    assert game.asked(FIFTY_STATES, table, next_[: game.ASKED_FACTS]) == game.asked(FIFTY_STATES, table, next_)


@given(games())
def test_encoding_decoding_and_encoding_again_gives_the_same_bytes(played: Played) -> None:
    for stored in played.events:
        event = codec.decode(stored.body)
        assert codec.encode(event) == stored.body
        assert codec.decode(codec.encode(event)) == event


@given(games(), st.data())
def test_a_stored_event_with_one_byte_changed_is_another_event_or_none(played: Played, data: st.DataObject) -> None:
    stored = data.draw(st.sampled_from(played.events))
    at = data.draw(st.integers(0, len(stored.body) - 1))
    changed = bytearray(stored.body)
    changed[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(Undecodable):
        assert codec.decode(bytes(changed)) != codec.decode(stored.body)


@given(st.binary(max_size=80))
def test_bytes_that_are_no_event_are_refused_and_never_crash(body: bytes) -> None:
    with pytest.raises(Undecodable):
        codec.decode(body)
    with pytest.raises(Undecodable):
        entries.decode_of_game(body)


@given(games(whole=True))
def test_every_finished_game_passes_audit(played: Played) -> None:
    findings = audit(played.saved)
    assert findings.failure is None
    assert findings.over
    assert audit_file(save(played.game, played.events).encode()).passed


@settings(max_examples=60)
@given(games(whole=True), st.data())
def test_one_flipped_byte_anywhere_in_a_saved_game_fails_audit_at_its_event(
    played: Played, data: st.DataObject
) -> None:
    text = save(played.game, played.events).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    changed = bytearray(text)
    changed[at] ^= data.draw(st.integers(1, 255))
    failure = audit_file(bytes(changed)).failure
    line = text[:at].count(b"\n")
    assert failure is not None
    # Line 0 names the game, and with another game's id the first event doesn't chain.
    assert failure.version in ({0, 1} if line == 0 else {line})


@given(games(whole=True), st.data())
def test_a_saved_game_with_an_event_left_out_doubled_or_moved_fails_audit(played: Played, data: st.DataObject) -> None:
    events = list(played.events)
    at = data.draw(st.integers(0, len(events) - 2))
    match data.draw(st.sampled_from(["left out", "doubled", "moved"])):
        case "left out":
            del events[at]
        case "doubled":
            events.insert(at, events[at])
        case _:
            events[at], events[at + 1] = events[at + 1], events[at]
    failure = audit_file(save(played.game, events).encode()).failure
    assert failure is not None
    assert failure.version in (at + 1, at + 2)


@given(games())
def test_a_running_game_is_not_called_proved(played: Played) -> None:
    findings = audit(played.saved)
    assert findings.passed
    assert findings.over == (played.table.secret is not None)


def test_every_fact_there_is_has_a_stored_form() -> None:
    assert set(FACTS) == {
        *(
            "Opened",
            "Reserved",
            "Seated",
            "Mixed",
            "Dealt",
            "Resigned",
            "TimeUp",
            "Credited",
            "Lost",
            "Finished",
            "Unsealed",
        ),
        *("Committed", "Revealed", "Played", "Captured", "RoundEnded"),
        *("Readied", "Turned", "Laid", "Taken"),
    }


def test_the_chain_names_the_first_event_that_does_not_follow() -> None:
    events = chain.extend(chain.origin(bytes(16)), [b"a", b"b", b"c"])
    assert chain.check(chain.origin(bytes(16)), events) is None
    broken = chain.check(chain.origin(bytes(16)), (events[0], events[2]))
    assert broken is not None
    assert broken.version == 2


def test_a_command_id_used_again_for_another_command_gives_another_cause() -> None:
    asked = [Mix(bytes(32)), Resign(), fifty_states.Play(1, Card(50)), fifty_states.Play(2, Card(50))]
    assert len({codec.cause(bytes(16), 0, PLAYER, "again", command) for command in asked}) == 4
    same = {codec.cause(bytes(16), 0, PLAYER, "again", fifty_states.Play(1, Card(card))) for card in (1, 50)}
    assert len(same) == 1, "a card is not in it: of each kind and battle only one can be taken"
