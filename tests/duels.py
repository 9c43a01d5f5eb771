"""Games between two people, played through the rules and stored as the server would, with all that may end them."""

import random
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from events import chain, codec
from events.chain import Stored
from rules import fairness, game, timing
from rules.fifty_states import FIFTY_STATES, Commit, Reveal
from rules.game import CallTime, Credit, Dealer, Mix, Moved, OpenBetween, Refused, Resign, Rules, Sit, Table
from rules.timing import Clock
from rules.war import Turn
from tests.positions import KEY, NOW, OTHER, PLAYER

PLAYERS = (PLAYER, OTHER)
Given = dict[str, int | str]


def salt(seat: int, battle: int) -> bytes:
    return sha256(b"salt %d %d" % (seat, battle)).digest()


@dataclass
class Duel:
    """One game. Chance decides who acts first, what is played, and how long everything takes."""

    rules: Rules
    number: int
    given: Given = field(default_factory=dict)
    paired: bool = True
    events: list[Stored] = field(default_factory=list, init=False, repr=False)
    now_ms: int = field(default=NOW, init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.number)
        self.game = sha256(b"duel %d" % self.number).digest()[:16]
        self.table, self.clock = Table(self.game), Clock()
        self.dealer = Dealer(self.game, fairness.secret(KEY, self.game))
        self.entropies = [sha256(b"entropy %d %d" % (self.number, seat)).digest() for seat in game.SEATS]

    def do(self, command: Any, seat: int = 0, cause: bytes | None = None) -> Refused | None:
        moved = game.move(self.rules, self.table, self.dealer, seat, command, self.now_ms)
        if isinstance(moved, Refused):
            return moved
        assert isinstance(moved, Moved)
        cause = cause or codec.cause(self.game, seat, PLAYERS[seat], f"{len(self.events)}", command)
        head = self.events[-1].head if self.events else chain.origin(self.game)
        bodies = [codec.encode(codec.Event(self.now_ms, cause, fact)) for fact in moved.facts]
        self.events += chain.extend(head, bodies)
        self.table, self.dealer = moved.table, moved.dealer
        self.clock = timing.step(self.rules, self.clock, self.table, moved.facts, self.now_ms)
        self.now_ms += self.chance.randrange(40)
        return None

    def must(self, command: Any, seat: int = 0) -> None:
        assert self.do(command, seat) is None, command

    def order(self) -> tuple[int, ...]:
        return self.chance.choice([(0, 1), (1, 0)])

    # ---- what happens

    def open(self) -> "Duel":
        players = PLAYERS if self.paired else self.chance.choice([(PLAYER, b""), (b"", OTHER)])
        self.must(OpenBetween(tuple(sorted(self.given.items())), players, self.paired, False, 1))
        return self

    def sit(self, seats: tuple[int, ...] | None = None) -> "Duel":
        for seat in self.order() if seats is None else seats:
            hash_ = fairness.entropy_hash(self.game, seat, self.entropies[seat])
            self.must(Sit(PLAYERS[seat], hash_), seat)
        return self

    def mix(self, seats: tuple[int, ...] | None = None) -> "Duel":
        for seat in () if self.table.open_deal else self.order() if seats is None else seats:
            self.must(Mix(self.entropies[seat]), seat)
        return self

    def battle(self, stop: int = 4) -> "Duel":
        """The next one, or only the first so many actions of it."""
        position = self.table.position
        if self.rules is not FIFTY_STATES:
            for seat in [seat for seat in self.order() if seat in game.owes(self.rules, self.table)][:stop]:
                self.must(Turn(position.battle, 1), seat)
            return self
        cards = [self.chance.choice(self.dealer.hands.current[seat]) for seat in game.SEATS]
        for at, seat in enumerate((*self.order(), *self.order())):
            hidden = salt(seat, position.battle)
            if at < min(2, stop):
                self.must(
                    Commit(
                        position.battle, fairness.seal(self.game, seat, position.battle, cards[seat], hidden)
                    ),
                    seat,
                )
            elif at < stop:
                self.must(Reveal(position.battle, cards[seat], hidden), seat)
        return self

    def battles(self, most: int = 10**9) -> "Duel":
        while self.table.finished is None and most:
            self.battle()
            most -= 1
        return self

    def credit(self, ms: int = 5000) -> "Duel":
        """Time is up, but no server ran for so long before."""
        assert self.clock.due_ms is not None
        self.now_ms = max(self.now_ms, self.clock.due_ms)
        self.must(Credit(ms))
        return self

    def call(self, early_ms: int = 0) -> "Duel":
        """Time is up."""
        assert self.clock.due_ms is not None
        self.now_ms = max(self.now_ms, self.clock.due_ms - early_ms)
        assert self.do(CallTime(), cause=codec.clocks_cause(self.game, self.clock)) is None
        return self

    def resign(self, seat: int) -> "Duel":
        self.must(Resign(), seat)
        return self
