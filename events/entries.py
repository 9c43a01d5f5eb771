"""What games tell the world outside, what is imported, and what the operator did: entries to bytes and back."""

from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Barred:
    """The operator keeps a player out of games that count, and off the boards."""

    player: bytes
    number: int
    """From 1, gapless for each player: the player's first bar, second …"""
    at_ms: int
    reason: str
    """In words, for everybody to read."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A player's bar of this number is over."""

    player: bytes
    number: int
    at_ms: int


Entry = Opening | Closing
"""Of a game."""
Act = Barred | Lifted
"""The operator's hand, in public."""
LedgerEntry = Entry | Imported | Act
"""What is folded."""


def closing(last: Opening, winner: int | None, reason: str, owing: tuple[int, ...]) -> Closing:
    """The closing entry of a game that stands where `last` says."""
    head = {field.name: getattr(last, field.name) for field in fields(last) if field.name != "after"}
    return Closing(**head, winner=winner, reason=reason, owing=owing)


_SHAPES = {each.__name__: shape(each) for each in (Opening, Closing, Imported, Barred, Lifted)}
_AFTER = "OpeningAfter"
"""The stored name of an opening that names games before it; one that names none is stored as it was before any did."""
PLAYER_BYTES = 16
RECORD_BYTES = 16


def encode(entry: LedgerEntry) -> bytes:
    name = type(entry).__name__
    values = _SHAPES[name].values(entry)
    if isinstance(entry, Opening):
        name, values = (_AFTER, values) if entry.after else (name, values[:-1])
    body: bytes = pack((FORMAT, name, *values))
    return body


def decode(body: bytes) -> LedgerEntry:
    """Raises Undecodable."""
    match unpack(body):
        case (1, "Opening", *values):
            entry: Any = _SHAPES["Opening"].make((*values, ()))
        case (1, "OpeningAfter", *values):
            entry = _SHAPES["Opening"].make(tuple(values))
            if not entry.after or list(entry.after) != sorted(set(entry.after)):
                raise Undecodable("the games before an opening are named once each, rising")
        case (1, "Closing" | "Imported" | "Barred" | "Lifted" as name, *values):
            entry = _SHAPES[name].make(tuple(values))
        case other:
            raise Undecodable(f"an entry of format {FORMAT}, not {other[:2]!r}")
    if isinstance(entry, Imported | Barred | Lifted) and len(entry.player) != PLAYER_BYTES:
        raise Undecodable(f"a player's id has {PLAYER_BYTES} bytes")
    if isinstance(entry, Imported) and len(entry.record) != RECORD_BYTES:
        raise Undecodable(f"an import's record has {RECORD_BYTES} bytes")
    decoded: LedgerEntry = entry
    return decoded


def decode_of_game(body: bytes) -> Entry:
    """An entry that a game told. Raises Undecodable, for others as well."""
    entry = decode(body)
    if not isinstance(entry, Opening | Closing):
        raise Undecodable(f"no game tells {type(entry).__name__}")
    return entry


def record(part: int, player: bytes, ladder: str, games: tuple[tuple[str, bool | None], ...], total: int) -> bytes:
    """What names an import, 16 bytes: SHA-256("statecraft import v1\0" || part, 4 bytes || the other four as msgpack).

    `games` are all of the record, of which this entry is the part of that number, from 0."""
    data = b"statecraft import v1\0" + part.to_bytes(4, "big") + pack((player, ladder, games, total))
    return sha256(data).digest()[:RECORD_BYTES]
