"""Ratings of games between people, in whole hundredths of a point: Elo by a published table, without a float.

The table is 8.1.2 (formerly 8.1b) of the FIDE Rating Regulations, Handbook B.02: how many points in a hundred the
higher rated player is expected to make at a difference of ratings. Read so: the difference in whole points, rounded
down, is at most BOUNDS[i] → 50 + i in a hundred; above the last bound 100. The lower rated one is expected to make
the rest.

A game changes a rating by K · (100 · score − expected) hundredths, which is whole: K is in points, `expected` in
hundredths. The table's 400-point rule isn't used: it would let a strong player farm weak ones.
"""

from bisect import bisect_left

from projections.outcomes import Outcome

START = 1500_00
K_NEW = 40
"""Points at stake for a player's first 30 rated games."""
K = 20
NEW_GAMES = 30
RATING_MAX = (1 << 20) - 1
"""The largest value a board can hold: 10,485.75 points, which nobody can reach by this table."""

# fmt: off
BOUNDS = (
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68,             # .50 to .59
    76, 83, 91, 98, 106, 113, 121, 129, 137, 145,      # .60 to .69
    153, 162, 170, 179, 188, 197, 206, 215, 225, 235,  # .70 to .79
    245, 256, 267, 278, 290, 302, 315, 328, 344, 357,  # .80 to .89
    374, 391, 411, 432, 456, 484, 517, 559, 619, 735,  # .90 to .99
)
# fmt: on

_SCORES = {Outcome.LOST: 0, Outcome.DRAWN: 50, Outcome.WON: 100}


def expected(own: int, other: int) -> int:
    """What a player of rating `own` is expected to make against `other`, in hundredths of a game."""
    higher = 50 + bisect_left(BOUNDS, abs(own - other) // 100)
    return higher if own >= other else 100 - higher


def rated(own: int, other: int, games: int, outcome: Outcome) -> int:
    """The rating after one more game; `games`: how many were rated before."""
    at_stake = K_NEW if games < NEW_GAMES else K
    return min(RATING_MAX, max(0, own + at_stake * (_SCORES[outcome] - expected(own, other))))
