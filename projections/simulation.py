"""Many games at once, by the rules' own code, and what they say together: `statecraft simulate`.

A deal is named by a number, so whoever has the number has the game again. Deal `n` of a game is what the seed
SHA-256("statecraft simulated deal v1\\0" || n, 8 bytes, big-endian) deals by the game's own rules.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256

from rules import fairness, fifty_states, game, open_deals, war
from rules.cards import CARDS
from rules.catalogue import RULES
from rules.fairness import Purpose, Stream
from rules.fifty_states import Play
from rules.game import Dealer, Mix, Moved, Open, Refused, Rules, Settings, Table
from rules.variants import VARIANTS, in_force

PERCENTILES = (5, 25, 75, 95)
GAME = bytes(fairness.GAME_BYTES)


class NoSimulation(Exception):
    """There is nothing of this kind to simulate."""


@dataclass(frozen=True, slots=True)
class Result:
    """One game."""

    number: int
    """Of its deal: the seed of an open one, else what its seed was made from."""
    battles: int
    wars: int | None
    """None where a battle can't tie."""
    winner: int | None
    reason: str


def named(name: str) -> Rules:
    """The rules of that name, or the newest version of it if it has none. Raises NoSimulation."""
    if name in RULES:
        return RULES[name]
    versions = {int(each.partition("/")[2]): each for each in RULES if each.partition("/")[0] == name}
    if not versions:
        raise NoSimulation(f"there are no rules {name}; known are {', '.join(RULES)}")
    return RULES[versions[max(versions)]]


def settings_of(rules: Rules, given: Mapping[str, int | str], open_deals_: bool) -> Settings:
    """The whole settings of the games, which are against the house. Raises NoSimulation."""
    settings = rules.settings(rules.modes[0], given)
    if isinstance(settings, Refused):
        raise NoSimulation(f"{rules.name} has no setting {' or '.join(given)} of that value")
    if open_deals_ and (rules.name not in VARIANTS or VARIANTS[rules.name].shuffled):
        raise NoSimulation(f"{rules.name} needs more chance than an open deal has: simulate it with --deals")
    return settings


def seed(number: int) -> bytes:
    return sha256(b"statecraft simulated deal v1\0" + number.to_bytes(8, "big")).digest()


def dealt(rules: Rules, settings: Settings, number: int) -> Result:
    """The game that a number's seed deals, by the product's own dealing."""
    if rules.name not in VARIANTS:
        return _chosen(rules, number)
    hands = rules.deal(seed(number), settings)
    return _fought(rules, settings, number, hands.piles, hands.seed)


def opened(rules: Rules, settings: Settings, number: int) -> Result:
    """The game of an open deal. A War that has none itself is played from the same piles."""
    deck = open_deals.deck(number)
    return _fought(rules, settings, number, (deck[: CARDS // 2], deck[CARDS // 2 :]), b"")


def _fought(rules: Rules, settings: Settings, number: int, piles: war.Piles, seed: bytes) -> Result:
    outcome = war.play_out(in_force(VARIANTS[rules.name], settings), piles, seed)
    return Result(number, outcome.battles, outcome.wars, outcome.winner, outcome.reason)


def _chosen(rules: Rules, number: int) -> Result:
    """Relaxed against a person who plays any card, through the rules' one loop."""
    assert rules.name == fifty_states.FIFTY_STATES.name
    secret = seed(number)
    table, dealer = Table(GAME), Dealer(GAME, secret)
    for command in (Open("relaxed", (), b"", False, False, 0), Mix(secret)):
        table, dealer = _moved(rules, table, dealer, command)
    while table.finished is None:
        battle = table.position.battle
        hand = rules.hand(dealer.hands, 0)
        # The house draws from the game's seed, the person from S: two streams that share nothing.
        card = hand[Stream(secret, Purpose.CHOICE, battle).below(len(hand))]
        table, dealer = _moved(rules, table, dealer, Play(battle, card))
    return Result(number, table.position.battle - 1, None, table.finished.winner, table.finished.reason)


def _moved(rules: Rules, table: Table, dealer: Dealer, command: game.Command) -> tuple[Table, Dealer]:
    moved = game.move(rules, table, dealer, 0, command, 0)
    assert isinstance(moved, Moved)
    return moved.table, moved.dealer


# ---------------------------------------------------------------- what they say together


@dataclass(slots=True)
class Summary:
    """Sums over games. Exact: nothing in it is rounded."""

    lengths: Counter[int] = field(default_factory=Counter)
    """How many games took so many battles."""
    wars: int | None = None
    winners: Counter[int | None] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    longest: Result | None = None
    """The first of the longest."""

    def add(self, result: Result) -> None:
        self.lengths[result.battles] += 1
        if result.wars is not None:
            self.wars = (self.wars or 0) + result.wars
        self.winners[result.winner] += 1
        self.reasons[result.reason] += 1
        if self.longest is None or result.battles > self.longest.battles:
            self.longest = result

    @property
    def games(self) -> int:
        return self.lengths.total()

    @property
    def battles(self) -> int:
        return sum(battles * games for battles, games in self.lengths.items())

    @property
    def mean(self) -> Fraction:
        return Fraction(self.battles, self.games)

    @property
    def median(self) -> Fraction:
        """The middle length; of an even number of games the mean of both in the middle."""
        return Fraction(self._at((self.games - 1) // 2) + self._at(self.games // 2), 2)

    def percentile(self, percent: int) -> int:
        """The smallest length that at least so many percent of the games don't exceed (nearest rank)."""
        return self._at(-(-self.games * percent // 100) - 1)

    def _at(self, rank: int) -> int:
        for battles in sorted(self.lengths):
            rank -= self.lengths[battles]
            if rank < 0:
                return battles
        raise AssertionError("ranks end with the games")


def summed(results: Iterable[Result]) -> Summary:
    summary = Summary()
    for result in results:
        summary.add(result)
    return summary
