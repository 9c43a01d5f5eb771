"""The open connections of each player, so that they can be ended with the session."""

from collections.abc import Callable

End = Callable[[], None]
"""Closes a connection, or does nothing to one that is closed."""


class Sessions:
    def __init__(self) -> None:
        self._open: dict[bytes, set[End]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def enter(self, player: bytes, end: End) -> None:
        self._open.setdefault(player, set()).add(end)

    def leave(self, player: bytes, end: End) -> None:
        ends = self._open.get(player, set())
        ends.discard(end)
        if not ends:
            self._open.pop(player, None)

    def end(self, player: bytes) -> None:
        """All of a player's, in this process."""
        for end in tuple(self._open.get(player, ())):
            end()
