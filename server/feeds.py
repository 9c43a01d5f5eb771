"""Feeds: states of named sections with keyed rows, that anybody may follow and resume. They stand for soft state only.

A feed keeps its last deltas. Whoever comes back with a position among theirs gets what he missed, anybody else the
whole; `subscribed` says which. A position is a version and 32 bytes: the feed's epoch, or, where the state follows from
the ledger, the hash of its last leaf. Each frame is encoded once for all who speak its subprotocol.
"""

import secrets
from collections import deque
from collections.abc import Mapping
from typing import Any

from server.audience import Watcher
from server.wire import Codec, Delta, Snapshot, Subscribed

DELTAS_KEPT = 256
EPOCH_BYTES = 32

Rows = Mapping[str, Any]
"""By key."""
Position = tuple[int, bytes]


class Feed:
    """One topic's state, its last deltas and who follows them."""

    def __init__(self, topic: str, sections: tuple[str, ...]) -> None:
        self.topic = topic
        self.version = 0
        self.epoch = secrets.token_bytes(EPOCH_BYTES)
        """Another process, or this one after it forgot, has another one."""
        self.watchers: set[Watcher] = set()
        self._rows: dict[str, dict[str, Any]] = {section: {} for section in sections}
        self._deltas: deque[tuple[Position, Delta]] = deque(maxlen=DELTAS_KEPT)
        """Each with the position before it."""
        self._sure = True
        """Whether everybody at this position holds these rows."""
        self._encoded: dict[str, tuple[int, bytes]] = {}
        """The snapshot of a version, by subprotocol: many may come at once."""

    def rows(self, section: str) -> Rows:
        return self._rows[section]

    def set(self, sections: Mapping[str, Rows], at: Position | None = None) -> None:
        """These sections have these rows now. Whoever follows is told what that changes, if it does.

        `at`: where they stand, of a state that has positions of its own; else they are the next version."""
        put: dict[str, list[Any]] = {}
        gone: dict[str, list[str]] = {}
        for section, rows in sections.items():
            before = self._rows[section]
            changed = [row for key, row in rows.items() if before.get(key) != row]
            went = [key for key in before if key not in rows]
            if changed:
                put[section] = changed
            if went:
                gone[section] = went
            self._rows[section] = dict(rows)
        if not put and not gone:
            return
        stood = (self.version, self.epoch)
        self.version, self.epoch = at or (self.version + 1, self.epoch)
        delta = Delta(self.topic, self.version, put, gone, at and at[1])
        if self._sure and at != stood:
            self._deltas.append((stood, delta))
        else:
            # A name or a window changed, and the position doesn't tell: whoever comes back from it gets the whole.
            self._deltas.clear()
        self._sure = at != stood
        self._encoded.clear()
        frames: dict[str, bytes] = {}
        for watcher in tuple(self.watchers):
            frame = frames.get(watcher.codec.name)
            if frame is None:
                frame = frames[watcher.codec.name] = watcher.codec.encode(delta)
            watcher.way.send(frame)

    def follow(self, watcher: Watcher, after: tuple[int, bytes] | None) -> None:
        """Answer `subscribed` and what is missing, then stay. Following again begins again."""
        self.watchers.add(watcher)
        missed = self._missed(after)
        send, codec = watcher.way.send, watcher.codec
        if missed is None:
            send(codec.encode(Subscribed(self.topic, False, self.version, self.epoch)))
            send(self._snapshot(codec))
            return
        assert after is not None
        send(codec.encode(Subscribed(self.topic, True, *after)))
        for delta in missed:
            send(codec.encode(delta))

    def leave(self, watcher: Watcher) -> None:
        self.watchers.discard(watcher)

    def _missed(self, after: Position | None) -> list[Delta] | None:
        """The deltas behind `after`; None where they aren't kept, or it is nothing of this feed."""
        if after == (self.version, self.epoch):
            return [] if self._sure else None
        for number, (before, _) in enumerate(self._deltas):
            if before == after:
                return [delta for _, delta in list(self._deltas)[number:]]
        return None

    def _snapshot(self, codec: Codec) -> bytes:
        version, frame = self._encoded.get(codec.name, (-1, b""))
        if version != self.version:
            state = {section: list(rows.values()) for section, rows in self._rows.items()}
            frame = codec.encode(Snapshot(self.topic, self.version, state))
            self._encoded[codec.name] = (self.version, frame)
        return frame
