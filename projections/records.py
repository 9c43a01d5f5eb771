"""A player's record in a ladder: games, wins, draws, streaks, badges, imports (RULES.md, Records that follow)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from events.entries import Closing, Imported, LedgerEntry
from projections.outcomes import DRAWN, WON, Outcome, outcomes
from projections.projection import Projection, Values
from projections.trophies import (
    COLOURS,
    OLD_WINS_LADDER,
    STREAKS,
    WIN_RATE_GAMES_MIN,
    Trophies,
    trophies,
    win_rates_reached,
)

PLAYER_BYTES = 16


class Badge(NamedTuple):
    """A milestone and the entry that earned it. Kept for ever."""

    milestone: int
    """Games won in a row, or percent."""
    entry: int
    """The closing's ledger index."""
    at_ms: int
    """When that game finished."""


class Row(NamedTuple):
    """Of one player in one ladder. `games` and what follows up to `best_streak` are games of this ledger only."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    streak: int = 0
    best_streak: int = 0
    streak_badges: tuple[tuple[int, int, int], ...] = ()
    win_rate_badges: tuple[tuple[int, int, int], ...] = ()
    old_games: int = 0
    """Recorded games of imports into this ladder; they count toward win rates."""
    old_wins: int = 0
    old_draws: int = 0
    old_stars: int = 0
    """In the bronze ladder: recorded wins of all the player's imports, whatever ladder they were won in."""
    old_total: int = 0
    """In the bronze ladder: the highest total an import named. It contains the recorded wins."""


_encoded = lru_cache(256)(str.encode)


def key(player: bytes, ladder: str) -> bytes:
    return player + _encoded(ladder)


def parts(key: bytes) -> tuple[bytes, str]:
    """The player and the ladder of a key."""
    return key[:PLAYER_BYTES], key[PLAYER_BYTES:].decode()


def keys(index: int, entry: LedgerEntry) -> tuple[bytes, ...]:
    match entry:
        case Closing():
            ladder = _encoded(entry.ladder)
            return tuple([player + ladder for player, _ in outcomes(entry)])
        case Imported():
            ladders = dict.fromkeys((entry.ladder, OLD_WINS_LADDER))
            return tuple([key(entry.player, ladder) for ladder in ladders])
        case _:
            return ()


def step(index: int, entry: LedgerEntry, rows: Sequence[Values]) -> Sequence[Values]:
    match entry:
        case Closing():
            found = outcomes(entry)
            return [_completed(row, index, entry, found[seat][1]) for seat, row in enumerate(rows)]
        case Imported():
            return _imported(entry, [Row._make(row) for row in rows])
        case _:
            return rows


def _completed(row: Values, index: int, entry: Closing, outcome: Outcome) -> Values:
    games, wins, draws, streak, best, streak_badges, win_rate_badges, old_games, old_wins, old_draws, stars, total = row
    games += 1
    ladder = entry.ladder
    luck = ladder.endswith("-house")  # War against the computer: games, wins and draws, no more.
    if outcome is WON:
        wins += 1
        if not luck:
            streak += 1
            if streak > best:
                best = streak
    else:
        if outcome is DRAWN:
            draws += 1
        if not luck:
            streak = 0
    if ladder in COLOURS:
        # Checked when a game completes, won or not, and never at any other time.
        if streak in STREAKS and all(streak != badge[0] for badge in streak_badges):
            streak_badges = (*streak_badges, (streak, index, entry.at_ms))
        if games + old_games >= WIN_RATE_GAMES_MIN:
            highest = win_rate_badges[-1][0] if win_rate_badges else 0  # they rise
            reached = win_rates_reached(wins + old_wins, games + old_games)
            fresh = [(percent, index, entry.at_ms) for percent in reached if percent > highest]
            win_rate_badges = (*win_rate_badges, *fresh)
    badges, rates = streak_badges, win_rate_badges
    return (games, wins, draws, streak, best, badges, rates, old_games, old_wins, old_draws, stars, total)


def _imported(entry: Imported, rows: Sequence[Row]) -> Sequence[Row]:
    """The row of the import's ladder first, the bronze one last; they are one where the ladder is bronze."""
    won = sum(result is True for _, result in entry.games)
    played = rows[0]._replace(
        old_games=rows[0].old_games + len(entry.games),
        old_wins=rows[0].old_wins + won,
        old_draws=rows[0].old_draws + sum(result is None for _, result in entry.games),
    )
    bronze = played if len(rows) == 1 else rows[-1]
    bronze = bronze._replace(old_stars=bronze.old_stars + won, old_total=max(bronze.old_total, entry.total))
    return (bronze,) if len(rows) == 1 else (played, bronze)


RECORDS = Projection("records", 1, keys, Row(), step, Row._make)


class Shown(NamedTuple):
    """What a player's page shows of a ladder."""

    colour: str | None
    """None: this ladder earns no trophies."""
    stars: int
    """Wins that are stars of this colour, old ones among them."""
    trophies: Trophies
    streak_badge: Badge | None
    win_rate_badge: Badge | None


def shown(ladder: str, row: Row) -> Shown:
    """Only the highest badge of each kind; all of them stay in the row."""
    colour = COLOURS.get(ladder)
    stars = row.wins + max(row.old_stars, row.old_total) if colour is not None else 0
    return Shown(colour, stars, trophies(stars), _highest(row.streak_badges), _highest(row.win_rate_badges))


def _highest(badges: Sequence[tuple[int, int, int]]) -> Badge | None:
    return Badge._make(max(badges)) if badges else None


def win_rate(row: Row) -> tuple[int, int]:
    """(wins, recorded games), imports among them: the win rate that badges look at and the page shows."""
    return row.wins + row.old_wins, row.games + row.old_games
