"""Which command made which head: the whole log's causes, of games in which somebody was about to be refused.

A refusal has to look for its cause in the whole log. The first in a game reads it; what is found stays here, so that
the next reads what was appended since, and costs as much in a game of thousands of battles as in a fresh one."""

from collections import OrderedDict
from collections.abc import Sequence

from events import chain, codec
from events.chain import Head, Stored
from events.log import Log
from events.shapes import Undecodable

CAUSES_MAX = 20_000
"""Kept in all, about 250 bytes each. Games asked about longest ago go first; the last one asked about stays."""


class Unreadable(Exception):
    """A stored event doesn't hash or decode."""

    def __init__(self, version: int, why: str) -> None:
        super().__init__(why)
        self.version = version
        self.why = why


class _Known:
    """A log's causes up to `head`, each with the head it made."""

    def __init__(self, head: Head) -> None:
        self.head = head
        self.made: dict[bytes, Head] = {}

    def add(self, events: Sequence[Stored]) -> None:
        """Events that follow. Raises Unreadable, and has then added none or some."""
        for stored in events:
            try:
                self.made[codec.decode(stored.body).cause] = stored.head
            except Undecodable as error:
                raise Unreadable(stored.version, str(error)) from error
            self.head = stored.head


class Causes:
    """Of the games in a log."""

    def __init__(self, log: Log, causes_max: int = CAUSES_MAX) -> None:
        self._log = log
        self._causes_max = causes_max
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._count = 0
        """Of causes in it."""

    def __len__(self) -> int:
        return self._count

    def forget(self, game: bytes) -> None:
        """Its log isn't what it was."""
        if (known := self._known.pop(game, None)) is not None:
            self._count -= len(known.made)

    async def made(self, game: bytes, cause: bytes) -> Head | None:
        """The head that a cause made, in the log as it stood when this was called. Raises Unreadable."""
        known = self._known.get(game)
        # From the last one known on: a log that ends before it, or goes on beside it, lost what is known.
        events = await self._log.read(game, max(0, known.head.version - 1) if known is not None else 0)
        # Another task may have read further meanwhile, or not so far.
        known = self._known.get(game) or _Known(chain.origin(game))
        fresh = [event for event in events if event.version > known.head.version]
        holds = known.head.version == 0 or known.head in [event.head for event in events]
        if not holds or chain.check(known.head, fresh) is not None:
            # The log went another way than what is known of it, or was forgotten here: from the beginning.
            known, fresh = _Known(chain.origin(game)), list(await self._log.read(game))
            if (broken := chain.check(known.head, fresh)) is not None:
                raise Unreadable(broken.version, broken.why)
        self.forget(game)
        known.add(fresh)
        self._known[game] = known
        self._count += len(known.made)
        while len(self._known) > 1 and self._count > self._causes_max:
            self.forget(next(iter(self._known)))
        return known.made.get(cause)
