"""A player's record against each rival: games and wins by ladder (RULES.md, Rival record)."""

from dataclasses import dataclass, replace

from events.entries import Closing, Entry

Key = tuple[bytes, str, str]
"""Player, ladder, rival's slug."""


@dataclass(frozen=True, slots=True)
class Row:
    games: int = 0
    wins: int = 0


START = Row()


def keys(entry: Entry) -> tuple[Key, ...]:
    """The rows an entry touches: none for openings, voids and games that don't count."""
    match entry:
        case Closing(counts=True, rival=rival, winner=winner) if rival and winner is not None:
            return ((entry.players[0], entry.ladder, rival),)
        case _:
            return ()


def step(row: Row, key: Key, entry: Entry) -> Row:
    assert isinstance(entry, Closing)
    return replace(row, games=row.games + 1, wins=row.wins + (entry.winner == 0))
