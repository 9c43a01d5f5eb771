"""Which keys the projections in Redis have, and what stands in them. The only place that knows.

Everything of a projection has its hash tag, so rows, boards and position are written in one script:

    {folded:NAME}:generations  hash: `live`, `building`, `kept` to a generation (`encode`); `last`: the last id given
    {folded:NAME}:dropped      set of the generations' ids of which something may be left
    {folded:NAME}:ID:rows      hash from key to row
    {folded:NAME}:ID:keys      sorted set of the keys, all of one score
    {folded:NAME}:ID:boards    hash from each board, LADDER/MEASURE/WINDOW, to the position at which it last moved
    {folded:NAME}:ID:barred    set of the players who stand on no board
    {folded:NAME}:ID:held      what a rebuild held in memory when it last wrote
    {folded:NAME}:ID:board:LADDER/MEASURE/WINDOW   sorted set of players by score (projections/leaderboard.py)
"""

from events.shapes import pack, unpack
from server.projected import Checkpoint, Generation


def tag(name: str) -> bytes:
    return b"folded:" + name.encode()


def generations(name: str) -> bytes:
    return b"{%b}:generations" % tag(name)


def dropped(name: str) -> bytes:
    return b"{%b}:dropped" % tag(name)


def part(name: str, generation: int, what: bytes) -> bytes:
    """`rows`, `keys`, `boards`, `barred` or `held` of a generation."""
    return b"{%b}:%d:%b" % (tag(name), generation, what)


def parts(name: str, generation: int) -> tuple[bytes, ...]:
    return tuple(part(name, generation, what) for what in (b"rows", b"keys", b"boards", b"barred", b"held"))


def board(name: str, generation: int, which: bytes) -> bytes:
    return part(name, generation, b"board:" + which)


def encode(generation: Generation) -> bytes:
    stored: bytes = pack((generation.id, generation.version, *generation.checkpoint))
    return stored


def decode(name: str, state: str, stored: bytes) -> Generation:
    id_, version, *checkpoint = unpack(stored)
    return Generation(id_, name, version, state, Checkpoint(*checkpoint))
