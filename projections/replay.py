"""A game told again from its log: the fold after each event, and both hands once S is known.

A `Recording` keeps a fold every so many events, so that any moment is few steps away, however long the game is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from events import chain, codec
from events.chain import Head, Stored
from events.shapes import Undecodable
from rules import game
from rules.catalogue import RULES
from rules.game import Card, Dealer, Fact, Opened, Rules, Table, Unsealed

KEPT_EVERY = 64
"""Events from one kept fold to the next: no seek folds more, once the game was folded through."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What stood after an event."""

    version: int
    at_ms: int
    fact: Fact | None
    """None before the first event."""
    table: Table
    hands: tuple[tuple[Card, ...], tuple[Card, ...]] | None
    """Both, or None while S or the entropy isn't known."""
    dealer: Dealer | None = None


class Recording:
    """One game's log as far as it is known, and the way to any moment of it."""

    def __init__(self, game_id: bytes, events: Sequence[Stored]) -> None:
        """`events`: from the first one on, chained. Raises Undecodable, also for rules unknown here."""
        opened = codec.decode(events[0].body).fact if events else None
        if not isinstance(opened, Opened) or opened.rules not in RULES:
            raise Undecodable("it doesn't begin with an opening of rules known here")
        self.game = game_id
        self.rules: Rules = RULES[opened.rules]
        self._open_deal = not opened.secret_hash
        self.events: list[Stored] = []
        self.extend(events)

    def extend(self, events: Sequence[Stored]) -> None:
        """Events that follow. Raises Undecodable."""
        self.events += events
        last = codec.decode(self.events[-1].body).fact
        # S comes last and opens what was hidden from the first event on: what was folded without it is folded anew.
        dealer = Dealer(self.game, last.secret) if isinstance(last, Unsealed) else None
        if self._open_deal and isinstance(last, game.Finished):
            dealer = Dealer(self.game, b"")  # It has no S, and its hands follow from its settings.
        if dealer is not None or len(self.events) == len(events):
            self._kept = [Moment(0, 0, None, Table(self.game), None, dealer)]

    @property
    def head(self) -> Head:
        return self.events[-1].head

    @property
    def over(self) -> bool:
        """Whether the log ends with the game's end: nothing is hidden any more."""
        last = codec.decode(self.events[-1].body).fact
        return isinstance(last, game.Finished if self._open_deal else Unsealed)

    def head_at(self, version: int) -> Head:
        return self.events[version - 1].head if version else chain.origin(self.game)

    def reach(self, version: int, events_max: int) -> bool:
        """Fold towards a moment, at most so many events: whether `at` is then at most KEPT_EVERY steps from it."""
        end = min(version // KEPT_EVERY, len(self._kept) - 1 + max(1, events_max // KEPT_EVERY))
        while len(self._kept) <= end:
            self._kept.append(self._forward(self._kept[-1], len(self._kept) * KEPT_EVERY))
        return end == version // KEPT_EVERY

    def at(self, version: int) -> Moment:
        """What stood after that many events, 0 to the head's version: the fold of them. Raises Undecodable."""
        assert 0 <= version <= self.head.version
        self.reach(version, len(self.events) + KEPT_EVERY)
        return self._forward(self._kept[version // KEPT_EVERY], version)

    def _forward(self, moment: Moment, version: int) -> Moment:
        between = self.events[moment.version : version]
        if not between:
            return moment
        facts = list(codec.facts(between))
        table, dealer = moment.table, moment.dealer
        if dealer is None:
            table = game.evolve_all(self.rules, table, facts)
        else:
            table, dealer = game.fold(self.rules, table, dealer, facts)
        return Moment(version, self.at_ms(version), facts[-1], table, _hands(self.rules, dealer), dealer)

    def after(self, moment: Moment) -> Moment:
        """The next moment. Raises Undecodable."""
        event = codec.decode(self.events[moment.version].body)
        table = game.evolve(self.rules, moment.table, event.fact)
        dealer = game.follow(self.rules, moment.dealer, event.fact) if moment.dealer else None
        return Moment(moment.version + 1, event.at_ms, event.fact, table, _hands(self.rules, dealer), dealer)

    def at_ms(self, version: int) -> int:
        """When an event was recorded, Unix time in milliseconds."""
        return codec.decode(self.events[version - 1].body).at_ms


def replay(game_id: bytes, events: Sequence[Stored]) -> Iterator[Moment]:
    """Every moment of a game, from its first event on. Raises Undecodable, also for rules unknown here."""
    if not events:
        return
    recording = Recording(game_id, events)
    moment = recording.at(0)
    while moment.version < len(events):
        moment = recording.after(moment)
        yield moment


def battle_after(recording: Recording, moment: Moment) -> Moment:
    """The next moment at which a battle is decided, or the last one."""
    at, before = moment, _battle(moment)
    while at.version < recording.head.version:
        at = recording.after(at)
        if _battle(at) != before and before is not None:
            return at
        before = _battle(at)
    return at


def battle_before(recording: Recording, moment: Moment) -> Moment:
    """The last moment before this one at which a battle was decided, or the first of all."""
    end = moment.version - 1
    while end > 0:
        # From one kept fold to the next: a step back costs no more than a step on.
        start = (end - 1) // KEPT_EVERY * KEPT_EVERY
        at, found = recording.at(start), None
        while at.version < end:
            before, at = at, recording.after(at)
            if _battle(before) not in (None, _battle(at)):
                found = at
        if found is not None:
            return found
        end = start
    return recording.at(0)


def _battle(moment: Moment) -> int | None:
    """The battle that is played, in every game's position; None before the deal."""
    position = moment.table.position
    return None if position is None else int(position.battle)


def _hands(rules: Rules, dealer: Dealer | None) -> tuple[tuple[Card, ...], tuple[Card, ...]] | None:
    if dealer is None or dealer.hands is None:
        return None
    return rules.hand(dealer.hands, 0), rules.hand(dealer.hands, 1)
