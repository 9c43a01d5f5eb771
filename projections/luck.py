"""A player's games of War against the computer: games, wins and draws by ladder, and no more (RULES.md, War)."""

from dataclasses import dataclass

from events.entries import Closing, Entry

Key = tuple[bytes, str]
"""Player, ladder."""

NOT_PLAYED = frozenset({"void", "left"})
"""Endings of a game that has no result."""


@dataclass(frozen=True, slots=True)
class Row:
    games: int = 0
    wins: int = 0
    draws: int = 0


START = Row()


def keys(entry: Entry) -> tuple[Key, ...]:
    """The rows an entry touches: none for openings, games that don't count, and games that were left."""
    match entry:
        # The computer has no name where nobody chooses anything, and between people the second player isn't empty.
        case Closing(counts=True, rival="", players=(player, b""), reason=reason) if reason not in NOT_PLAYED:
            return ((player, entry.ladder),)
        case _:
            return ()


def step(row: Row, key: Key, entry: Entry) -> Row:
    assert isinstance(entry, Closing)
    return Row(row.games + 1, row.wins + (entry.winner == 0), row.draws + (entry.winner is None))
