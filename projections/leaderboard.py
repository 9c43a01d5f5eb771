"""The boards: who stands where in a ladder by a measure in a window, and which entry of the ledger says so."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from events.entries import Barred, Closing, LedgerEntry, Lifted
from projections import elo, windows
from projections.outcomes import WON, Outcome, outcomes
from projections.projection import Projection, Shelves, Values
from projections.windows import ALL

PLAYER_BYTES = 16
RATED = "states-versus"
STATES = ("states-relaxed", "states-strategic", RATED)
WAR = ("playbook-versus", "gameweave-versus", "classic-versus")
LADDERS = (*STATES, *WAR)
"""The ladders that have boards. War against the computer has none: it is luck."""

WIN_RATE_GAMES_MIN = 100
"""Games in the window before a win rate stands on its board; the badge's 25 is another rule."""
MILLION = 1_000_000

VALUE_MAX = (1 << 20) - 1
INDEX_BITS = 33
INDEX_MAX = (1 << INDEX_BITS) - 1


class BadBoard(ValueError):
    """There is no such board."""


class Board(NamedTuple):
    ladder: str
    measure: str
    window: str

    @property
    def prefix(self) -> bytes:
        """What the keys of the board's rows begin with; a player's 16 bytes follow."""
        return prefix(self.ladder, self.window)


def board(ladder: str, measure: str, window: str, now_ms: int) -> Board:
    """The board asked for, with `week` and `day` as they stand now. Raises BadBoard, windows.BadWindow."""
    if ladder not in LADDERS or measure not in measures(ladder):
        raise BadBoard(f"{ladder}/{measure}")
    found = Board(ladder, measure, windows.resolve(window, now_ms))
    if found.window != ALL and measure not in WINDOWED:
        raise BadBoard(f"{measure} has no windows")
    return found


WINDOWED = ("wins", "best_streak", "win_rate")


def measures(ladder: str) -> tuple[str, ...]:
    """What is measured in a ladder; the first is what its page shows first."""
    if ladder in WAR:
        return ("wins", "best_streak", "current_streak")
    if ladder == RATED:
        return ("wins", "best_streak", "current_streak", "win_rate", "rating")
    return ("wins", "best_streak", "current_streak", "win_rate")


class Row(NamedTuple):
    """Of one player in one ladder and window: a fold of the games that finished in the window, and of no other.

    Each `_index` is the ledger index of the entry that gave the value before it its present size."""

    games: int = 0
    wins: int = 0
    wins_index: int = 0
    best: int = 0
    best_index: int = 0
    streak: int = 0
    """Within the window, so that `best` is a fold of its games; a board of it there is for `all` alone."""
    streak_index: int = 0
    rate: int = 0
    """Wins in a million games, rounded down."""
    rate_index: int = 0
    rating: int = elo.START
    """Hundredths; only for `all` and only where there is a rating."""
    rating_index: int = 0


BARS = b"bars/"
"""What the keys of bars begin with; a player's 16 bytes follow. Such a row has the number of the player's last bar as
its games, that of the last lifted as its wins. It stands among the boards' rows so that both are of one position."""


def is_barred(row: Row) -> bool:
    """Whether a row under BARS says that its player stands on no board."""
    return row.games > row.wins


GAMES, RATING = (Row._fields.index(name) for name in ("games", "rating"))


@lru_cache(4096)
def prefix(ladder: str, window: str) -> bytes:
    return f"{ladder}/{window}/".encode()


@lru_cache(4096)
def _prefixes(ladder: str, day: int) -> tuple[bytes, ...]:
    """Of the windows that a finish on this day since 1970 falls into: all, its week, its day."""
    return tuple([prefix(ladder, window) for window in windows.windows(day * windows.DAY_MS)])


def keys(index: int, entry: LedgerEntry) -> tuple[bytes, ...]:
    """By seat, each for all, week and day."""
    match entry:
        case Closing(ladder=ladder) if ladder in LADDERS:
            players = outcomes(entry)
            if not players:
                return ()
            starts = _prefixes(ladder, entry.at_ms // windows.DAY_MS)
            return tuple([start + player for player, _ in players for start in starts])
        case Barred(player=player) | Lifted(player=player):
            return (BARS + player,)
        case _:
            return ()


def step(index: int, entry: LedgerEntry, rows: Sequence[Values]) -> Sequence[Values]:
    if not isinstance(entry, Closing):
        assert isinstance(entry, Barred | Lifted)
        ((bars, lifted, *rest),) = rows
        return [(entry.number, lifted, *rest) if isinstance(entry, Barred) else (bars, entry.number, *rest)]
    players = outcomes(entry)
    rated = entry.ladder == RATED and len(players) == 2
    after = []
    for seat, (_, outcome) in enumerate(players):
        every, week, day = rows[3 * seat : 3 * seat + 3]
        rating = every[RATING]
        if rated:
            rating = elo.rated(rating, rows[3 - 3 * seat][RATING], every[GAMES], outcome)
        first = _first(index, outcome, elo.START)
        after += [
            _completed(every, index, outcome, rating) if every[GAMES] else _first(index, outcome, rating),
            _completed(week, index, outcome, elo.START) if week[GAMES] else first,
            _completed(day, index, outcome, elo.START) if day[GAMES] else first,
        ]
    return after


def _first(index: int, outcome: Outcome, rating: int) -> Values:
    """After a player's first game: most rows of a day see no second one."""
    if outcome is WON:
        return (1, 1, index, 1, index, 1, index, MILLION, index, rating, index)
    return (1, 0, 0, 0, 0, 0, 0, 0, 0, rating, index)


def _completed(row: Values, index: int, outcome: Outcome, rating: int) -> Values:
    games, wins, wins_index, best, best_index, streak, streak_index, rate, rate_index, before, rating_index = row
    games += 1
    if outcome is WON:
        wins += 1
        wins_index = index
        streak += 1
        streak_index = index
        if streak > best:
            best = streak
            best_index = index
    elif streak:
        streak = 0
        streak_index = index
    fresh = wins * MILLION // games
    # The game that brings a player onto the board gave the value there, whatever it was before.
    if fresh != rate or games == WIN_RATE_GAMES_MIN:
        rate = fresh
        rate_index = index
    if rating != before:
        rating_index = index
    return (games, wins, wins_index, best, best_index, streak, streak_index, rate, rate_index, rating, rating_index)


LATE_MS = 3_600_000
"""By so much a finish may be told late and find its rows still at hand."""


def _over(prefixes: Iterable[bytes], entry: LedgerEntry) -> list[bytes]:
    """Those of windows that had ended a while before this entry."""
    days = {max(0, at_ms) // windows.DAY_MS for at_ms in (entry.at_ms, entry.at_ms - LATE_MS)}
    going_on = {BARS}.union(*(_prefixes(ladder, day) for ladder in LADDERS for day in days))
    return [each for each in prefixes if each not in going_on]


SHELVES = Shelves(itemgetter(slice(-PLAYER_BYTES)), _over)
LEADERBOARD = Projection("leaderboard", 1, keys, Row(), step, Row._make, shelves=SHELVES)


def standing(measure: str, row: Row) -> tuple[int, int] | None:
    """The value a row has on a board and the ledger index that gave it; None: the player isn't on it.

    Nobody stands on a board with no win; a win rate of 0 in a hundred games is one."""
    match measure:
        case "wins":
            return (row.wins, row.wins_index) if row.wins else None
        case "best_streak":
            return (row.best, row.best_index) if row.best else None
        case "current_streak":
            return (row.streak, row.streak_index) if row.streak else None
        case "win_rate":
            return (row.rate, row.rate_index) if row.games >= WIN_RATE_GAMES_MIN else None
        case "rating":
            return (row.rating, row.rating_index) if row.games else None
        case _:
            raise BadBoard(measure)


def score(value: int, index: int) -> int:
    """The order as one number that is exact in a double, ascending: higher values first, then whoever got there first.

    Values above 2^20 − 1 count as that many."""
    return (VALUE_MAX - min(value, VALUE_MAX) << INDEX_BITS) + index


def value_of(score: int) -> int:
    return VALUE_MAX - (score >> INDEX_BITS)


def index_of(score: int) -> int:
    return score & (1 << INDEX_BITS) - 1


def score_of(measure: str, row: Row) -> int | None:
    """A row's place in the order of a board, None where it has none."""
    found = standing(measure, row)
    return None if found is None else score(*found)
