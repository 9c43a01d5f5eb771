"""What happened in this process, as plain numbers: the one thing that a busy path writes for those who operate it.

All of it happens on the event loop, so a count is one addition without a lock; server/metrics.py tells the numbers.
"""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

APPEND_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the classes that durations are counted in; the last class has none."""


@dataclass(slots=True)
class Durations:
    """How many took how long."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(APPEND_SECONDS) + 1))
    sum_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(APPEND_SECONDS, seconds)] += 1
        self.sum_seconds += seconds


@dataclass(slots=True)
class Tally:
    """Since this process began."""

    commands: Counter[str] = field(default_factory=Counter)
    """By outcome: `done`, or the reason that the client was given."""
    appends: Durations = field(default_factory=Durations)
    """From the call to the acknowledgement, of those that were stored."""
    not_stored: Counter[str] = field(default_factory=Counter)
    """Appends by why they weren't: `conflict`, `not_yet`, `unknown`."""
    frames: int = 0
    """Put on their way to a peer."""
    frame_bytes: int = 0
    closes: Counter[int] = field(default_factory=Counter)
    """Connections that the server closed, by code."""
    turned_away: Counter[str] = field(default_factory=Counter)
    """Handshakes that weren't accepted, by why."""
    deadlines: int = 0
    """That the sweep called."""
    looks: int = 0
    """Of the sweep at deadlines."""
    damaged: int = 0
    """Games that the sweep found damaged."""
    put_back: int = 0
    """Appends that a store had lost."""
    forks: int = 0
    """Games whose log went another way than was shown."""
    faults: int = 0
    """Of ours, that ended a loop or a connection."""
