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
    return Closing(
        **{field.name: getattr(last, field.name) for field in fields(last)}, winner=winner, reason=reason, owing=owing
    )


_SHAPES = {each.__name__: shape(each) for each in (Opening, Closing)}


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
