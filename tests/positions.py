"""Games to start a test from: any dealt position, and whole games played through the rules."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from events import chain, codec
from events.chain import Head, Stored
from projections.saved import Saved
from rules import fairness, fifty_states, game
from rules.fairness import NO_ENTROPY
from rules.fifty_states import FIFTY_STATES, Hands, Play, Position
from rules.game import Card, Dealer, Fact, Mix, Moved, Open, Refused, Seated, Table

GAME = bytes(range(16))
KEY = b"an operator's key of 32 bytes ok"
PLAYER = b"player zero's id"
OTHER = b"player one's id."
NOW = 1_790_000_000_000


def opened(mode: str) -> game.Opened:
    settings = FIFTY_STATES.settings(mode, {})
    assert not isinstance(settings, Refused)
    return game.Opened(
        FIFTY_STATES.name, mode, settings, True, False, NOW, 1, bytes(32), FIFTY_STATES.strategy_hash(mode)
    )


def dealt(mode: str, hands: Sequence[Sequence[int]], seed: bytes = bytes(32)) -> tuple[Table, Dealer]:
    """A game of 50 States that stands right after the deal of these hands, with what was due then done."""
    first, second = (tuple(Card(card) for card in sorted(hand)) for hand in hands)
    seats = (Seated(0, PLAYER, "", b""), Seated(1, OTHER, "", b""))
    position = fifty_states.start((len(first), len(second)))
    table = Table(GAME, opened(mode), seats, (bytes(32), bytes(32)), position)
    dealer = Dealer(GAME, bytes(32), (), (bytes(32), bytes(32)), seed, Hands((first, second), ((), ())))
    while (fact := game.due(FIFTY_STATES, table, dealer)) is not None:
        table = game.evolve(FIFTY_STATES, table, fact)
        dealer = game.follow(FIFTY_STATES, dealer, fact)
    return table, dealer


Pick = Callable[[Position, tuple[Card, ...]], Card]


@dataclass
class Played:
    """A game against the house, played through the rules and stored as the server would."""

    mode: str = "relaxed"
    number: int = 0
    now_ms: int = NOW
    facts: list[Fact] = field(default_factory=list)
    events: list[Stored] = field(default_factory=list)
    folds: list[tuple[Table, Dealer]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.game = sha256(b"played %d" % self.number).digest()[:16]
        self.table = Table(self.game)
        self.dealer = Dealer(self.game, fairness.secret(KEY, self.game))
        self.head: Head = chain.origin(self.game)

    def do(self, command: Any, seat: int = 0) -> Refused | None:
        before = (self.table, self.dealer)
        moved = game.move(FIFTY_STATES, self.table, self.dealer, seat, command, self.now_ms)
        if isinstance(moved, Refused):
            assert (self.table, self.dealer) == before
            return moved
        assert isinstance(moved, Moved)
        cause = codec.cause(self.game, seat, PLAYER, f"{len(self.events)}", command)
        self.facts += moved.facts
        self.events += chain.extend(
            self.head, [codec.encode(codec.Event(self.now_ms, cause, fact)) for fact in moved.facts]
        )
        self.head = self.events[-1].head
        self.table, self.dealer = moved.table, moved.dealer
        self.folds.append((self.table, self.dealer))
        self.now_ms += 1500
        return None

    def begin(self, mix: bool = True) -> "Played":
        assert self.do(Open(self.mode, (), PLAYER, True, False, 1)) is None
        if mix:
            assert self.do(Mix(sha256(b"entropy %d" % self.number).digest())) is None
        return self

    def play(self, card: Card) -> Refused | None:
        return self.do(Play(self.table.position.battle, card))

    def finish(self, pick: Pick) -> "Played":
        while self.table.finished is None:
            assert self.play(pick(self.table.position, fifty_states.hand(self.dealer.hands, 0))) is None
        return self

    @property
    def saved(self) -> Saved:
        return Saved(self.game, tuple(self.events))


def at_random(number: int) -> Pick:
    """A person who plays any card."""
    chance = random.Random(number)
    return lambda position, hand: chance.choice(hand)


def highest(position: Position, hand: tuple[Card, ...]) -> Card:
    return max(hand)


__all__ = ["GAME", "KEY", "NOW", "NO_ENTROPY", "OTHER", "PLAYER", "Played", "at_random", "dealt", "highest", "opened"]
