"""What each choice of a finished game was worth: exact win probabilities from round two on (RULES.md 6, Strategic).

Values are seat 0's chances when both sides play the published minimax table from there on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from events.chain import Stored
from projections.replay import Moment, replay
from rules import strategic
from rules.fifty_states import Played, Position, Revealed
from rules.game import Card, Opened


@dataclass(frozen=True, slots=True)
class Choice:
    card: Card
    worth: Fraction
    cost: Fraction
    """The position's value less this card's worth: 0 for a best choice."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One choice of seat 0, with all there were."""

    battle: int
    round: int
    value: Fraction
    chosen: Card
    choices: tuple[Choice, ...]


def review(game_id: bytes, events: Sequence[Stored]) -> tuple[Reviewed, ...]:
    """Of a finished game of 50 States; empty where round two was never reached, or for another game."""
    moments = list(replay(game_id, events))
    if not moments or not isinstance(moments[0].fact, Opened) or moments[0].fact.rules != "fifty-states/1":
        return ()
    return tuple(_reviewed(moments))


def _reviewed(moments: list[Moment]) -> Iterator[Reviewed]:
    standing: Position | None = None
    for moment in moments:
        position = moment.table.position
        if isinstance(position, Position) and position.shown == (None, None):
            standing = position
        played = _chosen(moment)
        if played is not None and standing is not None and standing.round > 1:
            yield _weighed(standing, played)


def _chosen(moment: Moment) -> Card | None:
    match moment.fact:
        case Played(0, _, card) | Revealed(0, _, card, _):
            return card
        case _:
            return None


def _weighed(position: Position, chosen: Card) -> Reviewed:
    key = strategic.position(position.known[0], position.known[1], position.captured[0], position.captured[1])
    value = strategic.value(key)
    choices = tuple(
        Choice(card, worth, value - worth) for card, worth in zip(position.known[0], strategic.worth(key), strict=True)
    )
    return Reviewed(position.battle, position.round, value, chosen, choices)
