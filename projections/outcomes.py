"""What a finished game was to each person in it (RULES.md, What counts). The one place that says which games count."""

from enum import IntEnum

from events.entries import Closing

NO_RESULT = frozenset({"void", "left", "lost"})
"""Endings that count nowhere: nobody can have seen a card, an abandoned game of War, a log the operator lost."""


class Outcome(IntEnum):
    LOST = 0
    DRAWN = 1
    WON = 2


def outcomes(entry: Closing) -> tuple[tuple[bytes, Outcome], ...]:
    """Each person and what the game was to them, by seat; empty where the game counts nowhere. The house is nobody."""
    if not entry.counts or entry.reason in NO_RESULT:
        return ()
    first, second = entry.players
    if first == second:
        return ()  # One person on both seats has beaten nobody.
    if entry.winner is None:
        both = Outcome.LOST if entry.reason == "both_late" else Outcome.DRAWN
        found = ((first, both), (second, both))
    elif entry.winner == 0:
        found = ((first, Outcome.WON), (second, Outcome.LOST))
    else:
        found = ((first, Outcome.LOST), (second, Outcome.WON))
    return tuple([each for each in found if each[0]])
