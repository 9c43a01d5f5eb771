"""The hash chain over stored bytes: what makes a game's log one thing that can't be changed unseen.

hash_0 = SHA-256("statecraft game v1\\0" || game); hash_v = SHA-256("statecraft event v1\\0" || hash_(v-1) || body_v).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

_EVENT = b"statecraft event v1\0"


class Head(NamedTuple):
    """Version (0 for an empty log, then 1, 2 …) and hash (32 bytes) of a log's last event."""

    version: int
    hash: bytes


class Stored(NamedTuple):
    """An event as it is stored."""

    version: int
    hash: bytes
    body: bytes

    @property
    def head(self) -> Head:
        return Head(self.version, self.hash)


@dataclass(frozen=True, slots=True)
class Broken:
    """The first event whose number or hash does not follow from what stands before it."""

    version: int
    why: str


def origin(game: bytes) -> Head:
    """The head of an empty log. `game` is 16 bytes."""
    assert len(game) == 16
    return Head(0, sha256(b"statecraft game v1\0" + game).digest())


def link(hash_before: bytes, body: bytes) -> bytes:
    """The hash of the event with `body` that follows the one with `hash_before`, 32 bytes."""
    return sha256(_EVENT + hash_before + body).digest()


def extend(head: Head, bodies: Iterable[bytes]) -> tuple[Stored, ...]:
    """`bodies` as the events that follow `head`."""
    events = []
    version, hash_ = head.version, head.hash
    for body in bodies:
        version, hash_ = version + 1, link(hash_, body)
        events.append(Stored(version, hash_, body))
    return tuple(events)


def check(head: Head, events: Sequence[Stored]) -> Broken | None:
    """Whether `events` follow `head` without gap, repeat or change."""
    version, before = head.version, head.hash
    for number, hash_, body in events:
        version += 1
        if number != version:
            return Broken(version, f"event {version} is missing: {number} stands in its place")
        if hash_ != sha256(_EVENT + before + body).digest():
            return Broken(version, f"the bytes of event {version} do not give its hash")
        before = hash_
    return None
