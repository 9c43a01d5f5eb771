"""What games tell the world outside them, and what is brought in from elsewhere: entries to bytes and back."""

from dataclasses import dataclass, fields

from events.shapes import Undecodable, pack, shape, unpack

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Opening:
    """Both seats are taken. `hash`: of the event after which they were."""

    game: bytes
    version: int
    hash: bytes
    at_ms: int
    rules: str
    ladder: str
    counts: bool
    players: tuple[bytes, bytes]
    """16 bytes each; empty for the house."""
    rival: str
    after: tuple[bytes, ...] = ()
    """Games of these players whose closings stand before this leaf: those they had their places from, rising."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The game is over. `version` and `hash`: its last event's."""

    game: bytes
    version: int
    hash: bytes
    at_ms: int
    rules: str
    ladder: str
    counts: bool
    players: tuple[bytes, bytes]
    rival: str
    winner: int | None
    reason: str
    owing: tuple[int, ...]
    """Who owed an action, where time or a void ended it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A player's old games of one ladder, played on an older site (RULES.md, Imports).

    `games` holds each recorded game's rival (empty if the site kept none) and whether it was won, None for a draw.
    `total` is the number of all games ever won there, in whatever ladder, 0 if the site kept no total; it contains
    the recorded wins, and of several totals the highest stands. A record too long for one entry is several entries."""

    record: bytes
    """16 bytes, the first of the SHA-256 of what was imported: the same is never imported twice."""
    at_ms: int
    """Of the import; when the games were played nobody here can know."""
    player: bytes
    """16 bytes."""
    ladder: str
    games: tuple[tuple[str, bool | None], ...]
    total: int


Entry = Opening | Closing
"""Of a game."""
LedgerEntry = Entry | Imported
"""What is folded."""


def closing(last: Opening, winner: int | None, reason: str, owing: tuple[int, ...]) -> Closing:
    """The closing entry of a game that stands where `last` says."""
    head = {field.name: getattr(last, field.name) for field in fields(last) if field.name != "after"}
    return Closing(**head, winner=winner, reason=reason, owing=owing)


_SHAPES = {each.__name__: shape(each) for each in (Opening, Closing, Imported)}
_AFTER = "OpeningAfter"
"""The stored name of an opening that names games before it; one that names none is stored as it was before any did."""


def encode(entry: LedgerEntry) -> bytes:
    name = type(entry).__name__
    values = _SHAPES[name].values(entry)
    if isinstance(entry, Opening):
        name, values = (_AFTER, values) if entry.after else (name, values[:-1])
    body: bytes = pack((FORMAT, name, *values))
    return body


def decode_import(body: bytes) -> Imported:
    """Raises Undecodable."""
    match unpack(body):
        case (1, "Imported", *values):
            imported: Imported = _SHAPES["Imported"].make(tuple(values))
            return imported
        case other:
            raise Undecodable(f"an import of format {FORMAT}, not {other[:2]!r}")


def decode(body: bytes) -> Entry:
    """Of a game. Raises Undecodable."""
    match unpack(body):
        case (1, "Opening", *values):
            entry: Entry = _SHAPES["Opening"].make((*values, ()))
        case (1, "OpeningAfter", *values):
            entry = _SHAPES["Opening"].make(tuple(values))
            if not entry.after or list(entry.after) != sorted(set(entry.after)):  # type: ignore[union-attr]
                raise Undecodable("the games before an opening are named once each, rising")
        case (1, "Closing", *values):
            entry = _SHAPES["Closing"].make(tuple(values))
        case other:
            raise Undecodable(f"an entry of format {FORMAT}, not {other[:2]!r}")
    return entry
