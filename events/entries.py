"""What games tell the world outside them, and what is brought in from elsewhere: entries to bytes and back."""

from dataclasses import dataclass

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


Entry = Opening | Closing | Imported
_SHAPES = {each.__name__: shape(each) for each in (Opening, Closing, Imported)}


def encode(entry: Entry) -> bytes:
    name = type(entry).__name__
    body: bytes = pack((FORMAT, name, *_SHAPES[name].values(entry)))
    return body


def decode(body: bytes) -> Entry:
    """Raises Undecodable."""
    values = unpack(body)
    if len(values) < 2 or values[0] != FORMAT or values[1] not in _SHAPES:
        raise Undecodable(f"an entry of format {FORMAT}, not {values[:2]!r}")
    entry: Entry = _SHAPES[values[1]].make(values[2:])
    return entry
