"""Games between two people of every kind and with every end, for whoever judges them; chance decides who is first."""

from random import Random
from typing import Any

from rules import game
from rules.fifty_states import FIFTY_STATES, hand
from rules.game import CallTime, Credit, Resign, Rules
from tests.pairs import PLAYERS, Duel
from tests.positions import OTHER, PLAYER

Given = dict[str, int | str]


class Going:
    """A game, told step by step; each step must be taken."""

    def __init__(self, rules: Rules, number: int, given: Given, paired: bool = True) -> None:
        self.chance = Random(number)
        kept = PLAYERS if paired else self.chance.choice([(PLAYER, b""), (b"", OTHER)])
        self.duel = Duel(rules, number, tuple(sorted(given.items())), kept, paired).open()

    def must(self, command: Any, seat: int = 0) -> "Going":
        assert self.duel.do(command, seat) is None, command
        return self

    def order(self) -> list[int]:
        return self.chance.sample(game.SEATS, 2)

    def sit(self, *seats: int) -> "Going":
        """These, or both."""
        for seat in seats or self.order():
            assert self.duel.sit(seat) is None
        return self

    def mix(self, *seats: int) -> "Going":
        for seat in () if self.duel.table.open_deal else seats or self.order():
            assert self.duel.mix(seat) is None
        return self

    def battle(self, stop: int = 4) -> "Going":
        """The next one, or only the first so many actions of it."""
        duel = self.duel
        if duel.rules is not FIFTY_STATES:
            for seat in [seat for seat in self.order() if seat in game.owes(duel.rules, duel.table)][:stop]:
                assert duel.turn(seat) is None
            return self
        cards = [self.chance.choice(hand(duel.dealer.hands, seat)) for seat in game.SEATS]
        steps = [(act, seat) for act in (duel.commit, duel.reveal) for seat in self.order()]
        for act, seat in steps[:stop]:
            assert act(seat, cards[seat]) is None
        return self

    def battles(self, most: int = 10**9) -> "Going":
        while self.duel.table.finished is None and most:
            self.battle()
            most -= 1
        return self

    def credit(self, ms: int = 5000) -> "Going":
        """Time is up, but no server ran for so long before."""
        self.duel.now_ms = max(self.duel.now_ms, self.duel.clock.due_ms or 0)
        return self.must(Credit(ms))

    def call(self, early_ms: int = 0) -> "Going":
        """Time is up."""
        self.duel.early_ms = early_ms
        return self.must(CallTime())

    def resign(self, seat: int) -> "Going":
        return self.must(Resign(), seat)
