"""A player's record against each rival: games and wins by ladder (RULES.md, Rival record)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from events.entries import Closing, Imported, LedgerEntry
from projections.outcomes import WON, outcomes
from projections.projection import Projection, Values
from projections.trophies import COLOURS

PLAYER_BYTES = 16


class Row(NamedTuple):
    games: int = 0
    """Imported ones among them."""
    wins: int = 0
    old_games: int = 0
    """Of those games, how many are imported."""
    old_wins: int = 0


def key(player: bytes, ladder: str, rival: str) -> bytes:
    return player + _met(ladder, rival)


@lru_cache(1024)
def _met(ladder: str, rival: str) -> bytes:
    return f"{ladder}/{rival}".encode()


def parts(key: bytes) -> tuple[bytes, str, str]:
    """The player, the ladder and the rival's slug of a key."""
    ladder, _, rival = key[PLAYER_BYTES:].decode().partition("/")
    return key[:PLAYER_BYTES], ladder, rival


def keys(index: int, entry: LedgerEntry) -> tuple[bytes, ...]:
    """The rows an entry touches: none for openings, voids and games that don't count. War has no rivals."""
    match entry:
        case Closing():
            if not entry.rival or entry.ladder not in COLOURS:
                return ()
            met = _met(entry.ladder, entry.rival)
            return tuple([player + met for player, _ in outcomes(entry)])
        case Imported():
            rivals = dict.fromkeys(rival for rival, _ in entry.games if rival)
            return tuple([key(entry.player, entry.ladder, rival) for rival in rivals])
        case _:
            return ()


def step(index: int, entry: LedgerEntry, rows: Sequence[Values]) -> Sequence[Values]:
    match entry:
        case Closing():
            closed = zip(rows, outcomes(entry), strict=True)
            return [(row[0] + 1, row[1] + (outcome is WON), row[2], row[3]) for row, (_, outcome) in closed]
        case Imported():
            met = dict.fromkeys(rival for rival, _ in entry.games if rival)
            return [_imported(Row._make(row), rival, entry) for row, rival in zip(rows, met, strict=True)]
        case _:
            return rows


def _imported(row: Row, rival: str, entry: Imported) -> Row:
    results = [result for name, result in entry.games if name == rival]
    games, wins = len(results), results.count(True)
    return Row(row.games + games, row.wins + wins, row.old_games + games, row.old_wins + wins)


RIVALS = Projection("rivals", 1, keys, Row(), step, Row._make)
