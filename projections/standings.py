"""Boards drawn from folded rows the plain way, and a published board held against them. What an auditor recomputes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from projections.leaderboard import (
    BARS,
    LADDERS,
    LEADERBOARD,
    WINDOWED,
    Board,
    Row,
    index_of,
    is_barred,
    measures,
    score_of,
    value_of,
)
from projections.projection import Values
from projections.windows import ALL
from projections.windows import windows as windows_at

Rows = Mapping[bytes, Values] | Mapping[bytes, Row]
"""The leaderboard's, by key."""


class Place(NamedTuple):
    rank: int
    """From 1; equal values share it."""
    position: int
    """From 0; nobody shares it."""
    player: bytes
    value: int
    entry: int
    """The ledger index of the entry that gave the value."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A whole board as somebody publishes it."""

    board: Board
    as_of: int
    """How many entries were folded."""
    leaf_hash: bytes
    """Of the last one; empty before the first."""
    size: int
    places: tuple[Place, ...]


def boards(rows: Iterable[bytes], now_ms: int) -> list[Board]:
    """Every board that rows with these keys have anything to say of, and all of all time, this week and today."""
    windows = {(ladder, window) for ladder in LADDERS for window in windows_at(now_ms)}
    for key in rows:
        if not key.startswith(BARS):
            ladder, window, _ = key.split(b"/", 2)
            windows.add((ladder.decode(), window.decode()))
    return [
        Board(ladder, measure, window)
        for ladder, window in sorted(windows)
        for measure in measures(ladder)
        if window == ALL or measure in WINDOWED
    ]


def standings(rows: Rows, board: Board) -> list[Place]:
    """The whole board: value, then the entry that gave it, then the player; who is barred stands nowhere."""
    prefix = board.prefix
    scores = []
    for key, values in rows.items():
        if key.startswith(prefix):
            score = score_of(board.measure, LEADERBOARD.make(values))
            player = key[len(prefix) :]
            if score is not None and not _is_barred(rows, player):
                scores.append((score, player))
    places: list[Place] = []
    for position, (score, player) in enumerate(sorted(scores)):
        value = value_of(score)
        shared = bool(places) and places[-1].value == value
        places.append(Place(places[-1].rank if shared else position + 1, position, player, value, index_of(score)))
    return places


def _is_barred(rows: Rows, player: bytes) -> bool:
    values = rows.get(BARS + player)
    return values is not None and is_barred(LEADERBOARD.make(values))


def unlike(rows: Rows, snapshot: Snapshot) -> str | None:
    """The first place that isn't what these rows give, which are as of the snapshot; None if all are."""
    expected: Sequence[Place] = standings(rows, snapshot.board)
    for found, place in zip(snapshot.places, expected, strict=False):
        if found != place:
            return f"position {place.position} is {_told(found)}, but the ledger gives {_told(place)}"
    if len(snapshot.places) > len(expected):
        return f"{_told(snapshot.places[len(expected)])} stands there, but not by the ledger"
    if len(snapshot.places) < len(expected):
        return f"{_told(expected[len(snapshot.places)])} doesn't stand there, but by the ledger"
    if snapshot.size != len(expected):
        return f"it is said to have {snapshot.size} places, but has {len(expected)}"
    return None


def _told(place: Place) -> str:
    who = f"player {place.player.hex()}"
    return f"{who} at {place.position}, rank {place.rank}, with {place.value} by leaf {place.entry}"
