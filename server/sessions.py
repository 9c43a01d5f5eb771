"""The open connections of each token, so that they can be ended with the session, whichever server ends it."""

import asyncio
from collections.abc import Callable

from events.log import Unknown
from server.people import ASKED_MAX, People

LOOK_SECONDS = 10.0
"""Between two looks whether the tokens still stand: another server, or the operator, may not have been heard."""

End = Callable[[], None]
"""Closes a connection, or does nothing to one that is closed."""


class Sessions:
    def __init__(self) -> None:
        self._open: dict[bytes, set[End]] = {}
        """By the hash of the token that they came with."""

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def enter(self, token_hash: bytes, end: End) -> None:
        self._open.setdefault(token_hash, set()).add(end)

    def leave(self, token_hash: bytes, end: End) -> None:
        ends = self._open.get(token_hash, set())
        ends.discard(end)
        if not ends:
            self._open.pop(token_hash, None)

    def end(self, token_hash: bytes) -> None:
        """All that came with this token, in this process."""
        for end in tuple(self._open.get(token_hash, ())):
            end()

    async def look(self, people: People) -> None:
        """End those whose token is nobody's any more. Raises Unknown."""
        hashes = tuple(self._open)
        for at in range(0, len(hashes), ASKED_MAX):
            some = hashes[at : at + ASKED_MAX]
            for token_hash in set(some) - await people.standing(some):
                self.end(token_hash)

    async def run(self, people: People) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.look(people)
            except Unknown:
                continue  # What can't be read now is looked at again.
