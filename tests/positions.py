"""Games to start a test from: any dealt position, and whole games played through the rules."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from events import chain, codec
from events.chain import Head, Stored
from projections.saved import Saved
from rules import fairness, fifty_states, game, war
from rules.fifty_states import FIFTY_STATES, Hands, Play, Position
from rules.game import Card, Dealer, Fact, Mix, Moved, Open, Refused, Rules, Seated, Settings, Table
from rules.war import Turn

GAME = bytes(range(16))
KEY = b"an operator's key of 32 bytes ok"
PLAYER = b"player zero's id"
OTHER = b"player one's id."
NOW = 1_790_000_000_000


def opened(mode: str, rules: Rules = FIFTY_STATES, given: Settings = ()) -> game.Opened:
    settings = rules.settings(mode, dict(given))
    assert not isinstance(settings, Refused)
    return game.Opened(rules.name, mode, settings, True, False, NOW, 1, bytes(32), rules.strategy_hash(mode))


def dealt(mode: str, hands: Sequence[Sequence[int]], seed: bytes = bytes(32)) -> tuple[Table, Dealer]:
    """A game of 50 States that stands right after the deal of these hands, with what was due then done."""
    first, second = (tuple(Card(card) for card in sorted(hand)) for hand in hands)
    seats = (Seated(0, PLAYER, "", b""), Seated(1, OTHER, "", b""))
    position = fifty_states.start((len(first), len(second)))
    table = Table(GAME, opened(mode), seats, (bytes(32), bytes(32)), position=position)
    dealer = Dealer(GAME, bytes(32), (), (bytes(32), bytes(32)), seed, Hands((first, second), ((), ())))
    while (fact := game.due(FIFTY_STATES, table, dealer)) is not None:
        table = game.evolve(FIFTY_STATES, table, fact)
        dealer = game.follow(FIFTY_STATES, dealer, fact)
    return table, dealer


def piled(
    rules: Rules,
    piles: Sequence[Sequence[int]],
    mode: str = "house",
    settings: Settings = (),
    battles: int = 0,
    wars: int = 0,
) -> tuple[Table, Dealer]:
    """A War with these piles, top card first, before the battle that follows so many."""
    first, second = (tuple(map(Card, pile)) for pile in piles)
    seats = (Seated(0, PLAYER, "", b""), Seated(1, b"" if mode == "house" else OTHER, "", b""))
    position = replace(war.start((len(first), len(second))), battle=battles + 1, battles=battles, wars=wars)
    table = Table(GAME, opened(mode, rules, settings), seats, (bytes(32), bytes(32)), position=position)
    hands = war.Hands((first, second), (0, 0), bytes(32))
    return table, Dealer(GAME, bytes(32), (), (bytes(32), bytes(32)), bytes(32), hands)


Pick = Callable[[Position, tuple[Card, ...]], Card]


@dataclass
class Played:
    """A game against the house, played through the rules and stored as the server would."""

    mode: str = "relaxed"
    number: int = 0
    now_ms: int = NOW
    rules: Rules = FIFTY_STATES
    settings: Settings = ()
    player: bytes = PLAYER
    facts: list[Fact] = field(default_factory=list, init=False, repr=False)
    events: list[Stored] = field(default_factory=list, init=False, repr=False)
    folds: list[tuple[Table, Dealer]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self.game = sha256(b"played %d" % self.number).digest()[:16]
        self.table = Table(self.game)
        self.dealer = Dealer(self.game, fairness.secret(KEY, self.game))
        self.head: Head = chain.origin(self.game)

    def do(self, command: Any, seat: int = 0) -> Refused | None:
        before = (self.table, self.dealer)
        moved = game.move(self.rules, self.table, self.dealer, seat, command, self.now_ms)
        if isinstance(moved, Refused):
            assert (self.table, self.dealer) == before
            return moved
        assert isinstance(moved, Moved)
        cause = codec.cause(self.game, seat, self.player, f"{len(self.events)}", command)
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
        assert self.do(Open(self.mode, self.settings, self.player, True, False, 1)) is None
        if mix:
            assert self.do(Mix(sha256(b"entropy %d" % self.number).digest())) is None
        return self

    def play(self, card: Card) -> Refused | None:
        return self.do(Play(self.table.position.battle, card))

    def finish(self, pick: Pick) -> "Played":
        while self.table.finished is None:
            assert self.play(pick(self.table.position, fifty_states.hand(self.dealer.hands, 0))) is None
        return self

    def turn(self, times: int = 1) -> Refused | None:
        return self.do(Turn(self.table.position.battle, times))

    def turn_out(self, times: int = 1) -> "Played":
        """A War to its end."""
        while self.table.finished is None:
            assert self.turn(times) is None
        return self

    @property
    def saved(self) -> Saved:
        return Saved(self.game, tuple(self.events))


def war_game(rules: Rules, number: int = 0, **settings: int | str) -> Played:
    """Against the computer, dealt."""
    played = Played("house", number, rules=rules, settings=tuple(sorted(settings.items())))
    return played.begin(mix="seed" not in settings)


def at_random(number: int) -> Pick:
    """A person who plays any card."""
    chance = random.Random(number)
    return lambda position, hand: chance.choice(hand)


def highest(position: Position, hand: tuple[Card, ...]) -> Card:
    return max(hand)


__all__ = [
    *("GAME", "KEY", "NOW", "OTHER", "PLAYER"),
    *("Played", "at_random", "dealt", "highest", "opened", "piled", "war_game"),
]
