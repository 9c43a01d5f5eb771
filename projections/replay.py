"""A game told again from its log: the fold after each event, and both hands once S is known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from events import codec
from events.chain import Stored
from rules import game
from rules.catalogue import RULES
from rules.game import Card, Dealer, Fact, Opened, Rules, Table, Unsealed


@dataclass(frozen=True, slots=True)
class Moment:
    """What stood after an event."""

    version: int
    at_ms: int
    fact: Fact
    table: Table
    hands: tuple[tuple[Card, ...], tuple[Card, ...]] | None
    """Both, or None while S or the entropy isn't known."""


def replay(game_id: bytes, events: Sequence[Stored]) -> Iterator[Moment]:
    """Every moment of a game, from its first event on. Raises Undecodable, and KeyError for rules unknown here."""
    decoded = [codec.decode(stored.body) for stored in events]
    if not decoded:
        return
    opened, last = decoded[0].fact, decoded[-1].fact
    assert isinstance(opened, Opened), "a game's first event is Opened"
    rules = RULES[opened.rules]
    table = Table(game_id)
    dealer = Dealer(game_id, last.secret) if isinstance(last, Unsealed) else None
    for stored, event in zip(events, decoded, strict=True):
        table = game.evolve(rules, table, event.fact)
        dealer = game.follow(rules, dealer, event.fact) if dealer else None
        yield Moment(stored.version, event.at_ms, event.fact, table, _hands(rules, dealer))


def _hands(rules: Rules, dealer: Dealer | None) -> tuple[tuple[Card, ...], tuple[Card, ...]] | None:
    if dealer is None or dealer.hands is None:
        return None
    return rules.hand(dealer.hands, 0), rules.hand(dealer.hands, 1)
