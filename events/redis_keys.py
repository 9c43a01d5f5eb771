"""Which keys the log in Redis has, and what stands in them. The only place that knows.

Everything of a game and of its partition has the hash tag `{pNNN}`, so an append touches one slot, in one script:

    {pNNN}:game:ID      stream of events: entry VERSION-0, fields h (hash) and b (body)
    {pNNN}:games        sorted set of the games with a log, all of one score
    {pNNN}:deadlines    sorted set of games by Unix milliseconds on the store's clock
    {pNNN}:gone         hash from each game that was let go to its last head: VERSION-0 and hash
    {pNNN}:outbox       stream of entries: POSITION-0, fields h, g (game) and b
    {pNNN}:outbox:head  position and hash of the last one, kept when entries are let go
    {pNNN}:claimant:ID  whose place in which ladder the game may have taken: PLAYER then LADDER
    {pNNN}:news         the channel that tells of every append
    {servers}:beats     sorted set of the times that servers were up without a gap: first beat, by the last one
    {PLAYER}:place:LADDER, {PLAYER}:befores:LADDER   who holds the place; whose place each game took
"""

from typing import Any

from events.chain import Head, Stored
from events.log import PARTITIONS, outbox_origin, partition

TAGS = [b"p%03d" % number for number in range(PARTITIONS)]


def key(number: int, name: bytes) -> bytes:
    return b"{%b}:%b" % (TAGS[number], name)


SERVERS_TAG = b"servers"
BEATS = b"{servers}:beats"
CHANNELS = tuple(key(number, b"news") for number in range(PARTITIONS))


def game_key(game: bytes) -> bytes:
    return key(partition(game), b"game:" + game)


def game_keys(game: bytes) -> tuple[bytes, ...]:
    """Of its events, and of what a partition keeps of each game."""
    number = partition(game)
    return (game_key(game), *(key(number, name) for name in (b"games", b"deadlines", b"gone")))


def gone_head(stored: bytes) -> Head:
    version, _, hash_ = stored.partition(b" ")
    return Head(number_of(version), hash_)


def claimant_key(game: bytes) -> bytes:
    return key(partition(game), b"claimant:" + game)


def player_tag(player: bytes) -> bytes:
    # In hex: a hash tag ends at the first brace.
    return player.hex().encode()


def place_keys(player: bytes, ladder: str) -> tuple[bytes, bytes]:
    tag, name = player_tag(player), ladder.encode()
    return b"{%b}:place:%b" % (tag, name), b"{%b}:befores:%b" % (tag, name)


PLACES = b"{*}:place:*"
"""What all places' keys match, and no other key does."""


def place_of(key: bytes) -> tuple[bytes, str]:
    """Player and ladder of a place's key."""
    tag, _, ladder = key[1:].partition(b"}:place:")
    return bytes.fromhex(tag.decode()), ladder.decode()


def gone_value(head: Head) -> bytes:
    return b"%d-0 %b" % (head.version, head.hash)


def number_of(id_: bytes) -> int:
    """Of a stream's entry: what stands before `-0`."""
    return int(id_[:-2])


def event(entry: Any) -> Stored:
    id_, (_, hash_, _, body) = entry
    return Stored(number_of(id_), hash_, body)


def outbox_head(position: int, hash_: bytes) -> bytes:
    return b"%d %b" % (position, hash_) if position else b""


def outbox_end(number: int, head: bytes) -> tuple[int, bytes]:
    if not head:
        return 0, outbox_origin(number)
    position, _, hash_ = head.partition(b" ")
    return int(position), hash_
