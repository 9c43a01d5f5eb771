"""Who plays whom: the pure choice of pairs among those who wait in one queue."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

COUNTED_A_DAY_MAX = 3
"""Games that count between the same two in a UTC day."""
WINDOW_START = 10_000
"""How far apart two ratings may be at first, in hundredths."""
WINDOW_A_SECOND = 5_000
"""How much further for each second that the longer waiting one has waited."""
WINDOW_SECONDS = 30
"""After so many anybody is near enough."""


@dataclass(frozen=True, slots=True)
class Waiting:
    player: bytes
    rating: int
    """Hundredths."""
    since_ms: int


@dataclass(frozen=True, slots=True)
class Pair:
    players: tuple[bytes, bytes]
    """The longer waiting one first."""
    counts: bool


Met = Callable[[bytes, bytes], int]
"""How many counted games two players were paired for today."""


def pairs(waiting: Sequence[Waiting], now_ms: int, met: Met) -> list[Pair]:
    """Pairs of those who may play each other now, everybody once at most.

    Who waits longest chooses first, the nearest rating that is near enough. Two who have had their counted games of the
    day are paired only where nobody else waits whom either could meet; such a game counts for nothing."""
    chosen: list[Pair] = []
    line = _Line(waiting)
    for one in sorted(waiting, key=lambda each: (each.since_ms, each.player)):
        if one.player in line:
            far_max = _window(now_ms - one.since_ms)
            for other in line.nearest(one):
                if far_max is not None and abs(other.rating - one.rating) > far_max:
                    break
                if met(one.player, other.player) < COUNTED_A_DAY_MAX:
                    chosen.append(Pair((one.player, other.player), True))
                    line.remove(one)
                    line.remove(other)
                    break
    left = sorted((each for each in waiting if each.player in line), key=lambda each: (each.since_ms, each.player))
    return chosen + _uncounted(left, met)


def _window(waited_ms: int) -> int | None:
    """None: there is no limit."""
    return None if waited_ms >= WINDOW_SECONDS * 1000 else WINDOW_START + WINDOW_A_SECOND * max(0, waited_ms) // 1000


def _uncounted(left: Sequence[Waiting], met: Met) -> list[Pair]:
    had_all = [
        one.player
        for one in left
        if all(met(one.player, other.player) >= COUNTED_A_DAY_MAX for other in left if other is not one)
    ]
    return [Pair((one, other), False) for one, other in zip(had_all[::2], had_all[1::2], strict=False)]


class _Line:
    """Who still waits, by rating, in a doubly linked list: leaving it costs the same however long it is."""

    def __init__(self, waiting: Sequence[Waiting]) -> None:
        self._line = sorted(waiting, key=lambda each: (each.rating, each.since_ms, each.player))
        self._at = {each.player: at for at, each in enumerate(self._line)}
        self._before = [at - 1 for at in range(len(self._line))]
        self._after = [at + 1 for at in range(len(self._line))]

    def __contains__(self, player: bytes) -> bool:
        return player in self._at

    def remove(self, one: Waiting) -> None:
        at = self._at.pop(one.player)
        before, after = self._before[at], self._after[at]
        if before >= 0:
            self._after[before] = after
        if after < len(self._line):
            self._before[after] = before

    def nearest(self, one: Waiting) -> Iterator[Waiting]:
        """The others, from the nearest rating on. Nobody may leave while it runs, but for its end."""
        line, at = self._line, self._at[one.player]
        before, after = self._before[at], self._after[at]
        while before >= 0 or after < len(line):
            down = one.rating - line[before].rating if before >= 0 else None
            up = line[after].rating - one.rating if after < len(line) else None
            if up is None or (down is not None and down <= up):
                yield line[before]
                before = self._before[before]
            else:
                yield line[after]
                after = self._after[after]
