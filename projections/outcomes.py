"""What a finished game was to each person in it (RULES.md, What counts). The one place that says which games count."""

from enum import IntEnum

from events.entries import Closing

NO_RESULT = frozenset({"void", "left", "lost"})
"""Endings that count nowhere: nobody can have seen a card, an abandoned game of War, a log the operator lost."""


class Outcome(IntEnum):
    LOST = 0
    DRAWN = 1
    WON = 2


LOST, DRAWN, WON = Outcome
"""Written so where a whole ledger is folded: looking a member up takes longer than what is done with it."""
_WON_BY_SEAT = ((WON, LOST), (LOST, WON))
_BOTH_LOST = (LOST, LOST)
_DRAWN = (DRAWN, DRAWN)


def by_seat(entry: Closing) -> tuple[Outcome, Outcome] | None:
    """What the game was to each seat, whether it counts or not; None where it has no result."""
    if entry.reason in NO_RESULT:
        return None
    if entry.winner is None:
        return _BOTH_LOST if entry.reason == "both_late" else _DRAWN
    return _WON_BY_SEAT[entry.winner]


def outcomes(entry: Closing) -> tuple[tuple[bytes, Outcome], ...]:
    """Each person and what the game was to them, by seat; empty where the game counts nowhere. The house is nobody."""
    # Each projection asks this twice of every entry, for its keys and for its rows.
    global _asked
    last, found = _asked
    if last is not entry:
        found = _outcomes(entry)
        _asked = entry, found
    return found


_asked: tuple[Closing | None, tuple[tuple[bytes, Outcome], ...]] = (None, ())


def _outcomes(entry: Closing) -> tuple[tuple[bytes, Outcome], ...]:
    found = by_seat(entry) if entry.counts else None
    first, second = entry.players
    if found is None or first == second:
        return ()  # One person on both seats has beaten nobody.
    if not second:
        return ((first, found[0]),)
    return ((first, found[0]), (second, found[1])) if first else ((second, found[1]),)
