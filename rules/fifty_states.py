"""The Game of 50 States, `fifty-states/1`: every rule of it, and nothing else (RULES.md, fifty-states/1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from rules import fairness, strategic
from rules.fairness import Purpose, Stream
from rules.frozen import builder
from rules.game import (
    HOUSE_SEAT,
    SEATS,
    SECONDS_MAX,
    Card,
    Command,
    Dealer,
    Fact,
    Finished,
    Reason,
    Refused,
    Rules,
    Settings,
    Strategy,
    Table,
)

V = TypeVar("V")

CARDS = 50
HAND = 7

Pair = tuple[tuple[Card, ...], tuple[Card, ...]]

# ---------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True)
class Committed:
    seat: int
    battle: int
    seal: bytes


@dataclass(frozen=True, slots=True)
class Revealed:
    """A sealed card shown; salt and card open the seal of the same battle."""

    seat: int
    battle: int
    card: Card
    salt: bytes


@dataclass(frozen=True, slots=True)
class Played:
    """The person's card against the house, which had sealed its own before."""

    seat: int
    battle: int
    card: Card


@dataclass(frozen=True, slots=True)
class Captured:
    """A battle's outcome: `seat` won it, its `discarded` card leaves the game, the lower `card` is its capture."""

    seat: int
    battle: int
    card: Card
    discarded: Card


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """Captured cards join the unplayed ones."""

    round: int


# ---------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Play:
    """A card against the house."""

    battle: int
    card: Card


@dataclass(frozen=True, slots=True)
class Commit:
    """Between people: a seal over a card."""

    battle: int
    seal: bytes


@dataclass(frozen=True, slots=True)
class Reveal:
    battle: int
    card: Card
    salt: bytes


# ---------------------------------------------------------------- what the folds hold


@dataclass(frozen=True, slots=True)
class Position:
    """The public position. `battle` counts through the game, `match` within the round."""

    battle: int
    round: int
    match: int
    sizes: tuple[int, int]
    """Cards in each current hand."""
    known: Pair
    """Cards in each current hand that everybody has seen, rising."""
    captured: Pair
    """Taken in this round, playable from the next one on, rising."""
    discarded: tuple[Card, ...]
    """Out of the game, in the order they left."""
    seals: tuple[bytes | None, bytes | None]
    shown: tuple[Card | None, Card | None]
    """Face up in this battle."""


@dataclass(frozen=True, slots=True)
class Hands:
    """The dealer's knowledge: every card of both seats, rising."""

    current: Pair
    captured: Pair


def start(counts: tuple[int, int]) -> Position:
    return Position(
        battle=1,
        round=1,
        match=1,
        sizes=counts,
        known=((), ()),
        captured=((), ()),
        discarded=(),
        seals=(None, None),
        shown=(None, None),
    )


def deal(seed: bytes, settings: Settings) -> Hands:
    """Seven cards each from the shuffled fifty; thirty-six sit out."""
    deck = Stream(seed, Purpose.DEAL).shuffled([Card(number) for number in range(1, CARDS + 1)])
    return Hands((tuple(sorted(deck[:HAND])), tuple(sorted(deck[HAND : 2 * HAND]))), ((), ()))


# ---------------------------------------------------------------- facts from commands


def decide(table: Table, dealer: Dealer, seat: int, command: Command) -> tuple[Fact, ...] | Refused:
    position: Position = table.position
    hands: Hands = dealer.hands
    if command.battle != position.battle:
        return Refused(Reason.WRONG_BATTLE)
    match command:
        case Play(battle, card):
            if not table.house:
                return Refused(Reason.WRONG_OPPONENT)
            if position.seals[HOUSE_SEAT] is None:
                return Refused(Reason.NO_SEAL)
            if (reason := _unplayable(position, hands, seat, card)) is not None:
                return Refused(reason)
            house, salt = _house(table, dealer)
            return (Revealed(HOUSE_SEAT, battle, house, salt), Played(seat, battle, card))
        case Commit(battle, seal):
            if table.house:
                return Refused(Reason.WRONG_OPPONENT)
            if position.seals[seat] is not None:
                return Refused(Reason.ALREADY_COMMITTED)
            if len(seal) != fairness.HASH_BYTES:
                return Refused(Reason.SEAL_MISMATCH)
            return (Committed(seat, battle, seal),)
        case Reveal(battle, card, salt):
            if table.house:
                return Refused(Reason.WRONG_OPPONENT)
            if None in position.seals:
                return Refused(Reason.NO_SEAL)
            if position.shown[seat] is not None:
                return Refused(Reason.ALREADY_REVEALED)
            if not 1 <= card <= CARDS:
                return Refused(Reason.NO_SUCH_CARD)
            if len(salt) != fairness.HASH_BYTES:
                return Refused(Reason.SEAL_MISMATCH)
            if fairness.seal(table.game, seat, battle, card, salt) != position.seals[seat]:
                return Refused(Reason.SEAL_MISMATCH)
            if (reason := _unplayable(position, hands, seat, card)) is not None:
                return Refused(reason)
            return (Revealed(seat, battle, card, salt),)
        case _:
            return Refused(Reason.UNKNOWN_COMMAND)


def _unplayable(position: Position, hands: Hands, seat: int, card: Card) -> Reason | None:
    if not 1 <= card <= CARDS:
        return Reason.NO_SUCH_CARD
    if card in hands.current[seat]:
        return None
    if card in position.captured[seat]:
        return Reason.CAPTURED_THIS_ROUND
    if card in position.discarded or card in position.captured[1 - seat]:
        return Reason.CARD_GONE
    # One answer for a hidden card of the other side and for one that sits out: a refusal must tell nobody which.
    return Reason.NOT_YOUR_CARD


def _house(table: Table, dealer: Dealer) -> tuple[Card, bytes]:
    """The house's card and salt for the battle it seals now, from what it may know."""
    position: Position = table.position
    assert table.opened is not None
    assert dealer.seed is not None
    stream = Stream(dealer.seed, Purpose.CHOICE, position.battle)
    strategy = STRATEGIES[table.opened.mode]
    card = strategy.choose(position, hand(dealer.hands, HOUSE_SEAT), stream)
    return card, Stream(dealer.seed, Purpose.SALT, position.battle).bytes32()


# ---------------------------------------------------------------- facts that are due


def due(table: Table, dealer: Dealer) -> Fact | None:
    position: Position = table.position
    battle, sizes = position.battle, position.sizes
    a, b = position.shown
    if a is not None and b is not None:
        return Captured(0 if a > b else 1, battle, min(a, b), max(a, b))
    if a is None and b is None and 0 in sizes:
        # Between rounds sizes are the combined hands, so an empty one then is a seat that is out.
        if position.match > 1:
            return RoundEnded(position.round)
        return Finished(1 if sizes[0] == 0 else 0, "all_cards")
    if table.house and position.seals[HOUSE_SEAT] is None:
        card, salt = _house(table, dealer)
        return Committed(HOUSE_SEAT, battle, fairness.seal(table.game, HOUSE_SEAT, battle, card, salt))
    return None


def owing(table: Table) -> tuple[int, ...]:
    position: Position = table.position
    if table.house:
        return (0,)
    awaited = position.seals if None in position.seals else position.shown
    return tuple(seat for seat in SEATS if awaited[seat] is None)


def waits(position: Position) -> tuple[str, int]:
    """Between people: both commit, then both reveal."""
    return "commit" if None in position.seals else "reveal", position.battle


# ---------------------------------------------------------------- the folds


_position = builder(Position)
_hands = builder(Hands)


def evolve(position: Position, fact: Fact) -> Position:
    match fact:
        case Committed():
            return _position(
                position.battle,
                position.round,
                position.match,
                position.sizes,
                position.known,
                position.captured,
                position.discarded,
                _with(position.seals, fact.seat, fact.seal),
                position.shown,
            )
        case Revealed() | Played():
            seat = fact.seat
            return _position(
                position.battle,
                position.round,
                position.match,
                _with(position.sizes, seat, position.sizes[seat] - 1),
                _with(position.known, seat, _without(position.known[seat], fact.card)),
                position.captured,
                position.discarded,
                position.seals,
                _with(position.shown, seat, fact.card),
            )
        case Captured():
            seat = fact.seat
            return _position(
                fact.battle + 1,
                position.round,
                position.match + 1,
                position.sizes,
                position.known,
                _with(position.captured, seat, _joined(position.captured[seat], (fact.card,))),
                (*position.discarded, fact.discarded),
                (None, None),
                (None, None),
            )
        case RoundEnded(round):
            # Every card that is not in a hand unplayed has been shown; after round one that is all of them.
            known = (
                _joined(position.known[0], position.captured[0]),
                _joined(position.known[1], position.captured[1]),
            )
            sizes = (
                position.sizes[0] + len(position.captured[0]),
                position.sizes[1] + len(position.captured[1]),
            )
            return _position(
                position.battle,
                round + 1,
                1,
                sizes,
                known,
                ((), ()),
                position.discarded,
                position.seals,
                position.shown,
            )
        case _:
            return position


def follow(hands: Hands, fact: Fact) -> Hands:
    match fact:
        case Revealed() | Played():
            seat = fact.seat
            return _hands(_with(hands.current, seat, _without(hands.current[seat], fact.card)), hands.captured)
        case Captured():
            seat = fact.seat
            return _hands(hands.current, _with(hands.captured, seat, _joined(hands.captured[seat], (fact.card,))))
        case RoundEnded():
            current = (
                _joined(hands.current[0], hands.captured[0]),
                _joined(hands.current[1], hands.captured[1]),
            )
            return _hands(current, ((), ()))
        case _:
            return hands


def hand(hands: Hands, seat: int) -> tuple[Card, ...]:
    """The playable cards of a seat, rising."""
    return hands.current[seat]


def sizes(hands: Hands) -> tuple[int, int]:
    return len(hands.current[0]), len(hands.current[1])


def _with(pair: tuple[V, V], seat: int, value: V) -> tuple[V, V]:
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple([each for each in cards if each != card])


def _joined(cards: tuple[Card, ...], more: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(sorted(cards + more))


# ---------------------------------------------------------------- audit's way back


def asked(table: Table, facts: tuple[Fact, ...]) -> tuple[int, Command] | None:
    match facts:
        case (Revealed(), Played(seat, battle, card), *_):
            return seat, Play(battle, card)
        case (Committed(seat, battle, seal), *_):
            return seat, Commit(battle, seal)
        case (Revealed(seat, battle, card, salt), *_):
            return seat, Reveal(battle, card, salt)
        case _:
            return None


# ---------------------------------------------------------------- the house's two policies


def relaxed(position: Position, own: tuple[Card, ...], stream: Stream) -> Card:
    """Uniformly random in every round."""
    return own[stream.below(len(own))]


def strategic_choice(position: Position, own: tuple[Card, ...], stream: Stream) -> Card:
    """Uniformly random in round one, then the published table of weights."""
    if position.round == 1:
        return relaxed(position, own, stream)
    person = 1 - HOUSE_SEAT
    key = strategic.position(own, position.known[person], position.captured[HOUSE_SEAT], position.captured[person])
    return own[stream.weighted(strategic.WEIGHTS[key])]


STRATEGIES: Mapping[str, Strategy] = {
    "relaxed": Strategy("uniform over the current hand, in every round\n", relaxed),
    "strategic": Strategy(strategic.TEXT, strategic_choice),
}


def settings(mode: str, given: Mapping[str, int | str]) -> Settings | Refused:
    """Against the house nothing can be set; between people the two clocks, in seconds."""
    if mode not in MODES:
        return Refused(Reason.UNKNOWN_MODE)
    known = {} if mode in STRATEGIES else {"commit_seconds": 30, "reveal_seconds": 15}
    whole: dict[str, int | str] = {**known, **given}
    if whole.keys() != known.keys():
        return Refused(Reason.UNKNOWN_SETTING)
    if any(type(value) is not int or not 1 <= value <= SECONDS_MAX for value in whole.values()):
        return Refused(Reason.UNKNOWN_SETTING)
    return tuple(sorted(whole.items()))


MODES = ("relaxed", "strategic", "versus")

FIFTY_STATES = Rules(
    name="fifty-states/1",
    ladder="states",
    modes=MODES,
    luck=False,
    settings=settings,
    facts=(Committed, Revealed, Played, Captured, RoundEnded),
    commands=(Play, Commit, Reveal),
    start=start,
    deal=deal,
    open_deal=lambda settings: None,
    decide=decide,
    due=due,
    evolve=evolve,
    follow=follow,
    hand=hand,
    sizes=sizes,
    owing=owing,
    waits=waits,
    overdue=lambda table: (),
    asked=asked,
    strategies=STRATEGIES,
)
