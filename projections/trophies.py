"""Stars, medals, shields and flags from wins, and the milestones of streak and win rate (RULES.md, Records)."""

from typing import NamedTuple

COLOURS = {"states-relaxed": "bronze", "states-strategic": "silver", "states-versus": "gold"}
"""The ladders that earn trophies and badges. Colours never mix; War earns none."""
OLD_WINS_LADDER = "states-relaxed"
"""Every old win is a bronze star, whatever it was won in."""

STREAKS = (3, 5, 10, 25, 50)
WIN_RATES_PERCENT = (60, 70, 80, 90, 100)
WIN_RATE_GAMES_MIN = 25


class Trophies(NamedTuple):
    stars: int
    medals: int
    shields: int
    flags: int


def trophies(wins: int) -> Trophies:
    """Ten of a kind are one of the next; flags have no end."""
    return Trophies(wins % 10, wins // 10 % 10, wins // 100 % 10, wins // 1000)


def win_rates_reached(wins: int, games: int) -> tuple[int, ...]:
    """The win-rate milestones that so many wins in so many recorded games stand at or above, in percent, rising."""
    if games < WIN_RATE_GAMES_MIN:
        return ()
    return tuple([percent for percent in WIN_RATES_PERCENT if 100 * wins >= percent * games])
