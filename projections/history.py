"""A player's finished games, each a row: what it was, against whom, and how it ended. Voids and uncounted ones too."""

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from events.entries import Closing, LedgerEntry
from projections.outcomes import Outcome, by_seat
from projections.projection import Projection, Values

PLAYER_BYTES = 16
INDEX_BYTES = 8
INDEX_MAX = (1 << 8 * INDEX_BYTES) - 1

RESULTS = {Outcome.WON: "won", Outcome.LOST: "lost", Outcome.DRAWN: "drawn"}
NO_RESULTS = {"void": "void", "left": "left", "lost": "annulled"}
"""By the reason of the closing. A log that the operator lost is no defeat of the player's."""


class Row(NamedTuple):
    """A game as one of its players looks back on it. Written once, by its closing."""

    game: bytes = b""
    rules: str = ""
    opponent: bytes = b""
    """A player; empty where the house played."""
    rival: str = ""
    """In whose name the house played; empty in War, where it has none."""
    result: str = ""
    """One of RESULTS or NO_RESULTS."""
    reason: str = ""
    counts: bool = False
    """Whether it was to count, as frozen in its opening."""
    at_ms: int = 0
    """When it finished."""


def ladder_prefix(player: bytes, ladder: str) -> bytes:
    return player + _ladder(ladder)


@lru_cache(256)
def _ladder(ladder: str) -> bytes:
    return f"{ladder}/".encode()


def key(player: bytes, ladder: str, index: int) -> bytes:
    """Rising keys of a ladder go from the newest game to the oldest."""
    return ladder_prefix(player, ladder) + (INDEX_MAX - index).to_bytes(INDEX_BYTES, "big")


def parts(key: bytes) -> tuple[bytes, str, int]:
    """The player, the ladder and the closing's ledger index of a key."""
    ladder = key[PLAYER_BYTES : -INDEX_BYTES - 1].decode()
    return key[:PLAYER_BYTES], ladder, INDEX_MAX - int.from_bytes(key[-INDEX_BYTES:], "big")


def keys(index: int, entry: LedgerEntry) -> tuple[bytes, ...]:
    """By seat. One person on both seats has one row."""
    match entry:
        case Closing():
            end = _ladder(entry.ladder) + (INDEX_MAX - index).to_bytes(INDEX_BYTES, "big")
            return tuple([player + end for player in _people(entry)])
        case _:
            return ()


def step(index: int, entry: LedgerEntry, rows: Sequence[Values]) -> Sequence[Values]:
    assert isinstance(entry, Closing)
    found = by_seat(entry)
    first, second = entry.players
    # Written out: of a million results this makes every other row there is.
    game, rules, rival, reason, counts, at_ms = _FIELDS(entry)
    if found is None:
        one = other = NO_RESULTS[reason]
    else:
        one, other = RESULTS[found[0]], RESULTS[found[1]]
    of_first = (game, rules, second, rival, one, reason, counts, at_ms)
    if len(rows) == 2:
        return of_first, (game, rules, first, rival, other, reason, counts, at_ms)
    return (of_first if first else (game, rules, first, rival, other, reason, counts, at_ms),)


_FIELDS = attrgetter("game", "rules", "rival", "reason", "counts", "at_ms")


def _people(entry: Closing) -> tuple[bytes, ...]:
    first, second = entry.players
    if not second or first == second:
        return (first,) if first else ()
    return (first, second) if first else (second,)


HISTORY = Projection("history", 1, keys, Row(), step, Row._make, once=True)
