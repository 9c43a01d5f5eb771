"""What a game tells the world outside it: outbox entries, to bytes and back. The ledger's leaves grow from these."""

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


Entry = Opening | Closing


def closing(last: Opening, winner: int | None, reason: str, owing: tuple[int, ...]) -> Closing:
    """The closing entry of a game that stands where `last` says."""
    head = {field.name: getattr(last, field.name) for field in fields(last) if field.name != "after"}
    return Closing(**head, winner=winner, reason=reason, owing=owing)


_SHAPES = {each.__name__: shape(each) for each in (Opening, Closing)}
_AFTER = "OpeningAfter"
"""The stored name of an opening that names games before it; one that names none is stored as it was before any did."""


def encode(entry: Entry) -> bytes:
    name = type(entry).__name__
    values = _SHAPES[name].values(entry)
    if isinstance(entry, Opening):
        name, values = (_AFTER, values) if entry.after else (name, values[:-1])
    body: bytes = pack((FORMAT, name, *values))
    return body


def decode(body: bytes) -> Entry:
    """Raises Undecodable."""
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
