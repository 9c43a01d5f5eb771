"""How long each stage of a game lasts, and when its deadline is: a fold beside the table, of facts and their times.

Against the house only the seven days of RULES.md bind. Between people every stage has its time from its beginning, the
time of the append that began it; what one of the two does meanwhile doesn't start it again. Whether a deadline is past
only the store says (DESIGN.md, The log); here is what it must be past.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from rules.game import DAY_MS, OPEN_MS_MAX, Credited, Fact, Rules, Table

SEATS_MS = 60_000
"""For both to sit, where each seat is kept for somebody."""
SEATS_MS_OPEN = DAY_MS
"""For somebody to come, where one is free."""
MIX_MS = 30_000
EARLY_MS_MAX = 2000
"""How much earlier than its deadline time may be called: deadlines are on the store's clock, events on a server's."""


class Stage(NamedTuple):
    """What people are to do now; another battle is another stage."""

    name: str
    battle: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a game's time stands. All times are Unix milliseconds as events carry them."""

    stage: Stage | None = None
    """None: not opened, against the house, or over."""
    since_ms: int = 0
    """When the stage began."""
    limit_ms: int = 0
    credited_ms: int = 0
    """Given back in this stage."""
    ends_ms: int | None = None
    """Seven days after the opening, which nothing moves; None: not opened, or over."""

    @property
    def due_ms(self) -> int | None:
        """The present deadline, if there is one."""
        if self.stage is None or self.ends_ms is None:
            return self.ends_ms
        return min(self.since_ms + self.limit_ms + self.credited_ms, self.ends_ms)


def step(rules: Rules, clock: Clock, table: Table, facts: tuple[Fact, ...], at_ms: int) -> Clock:
    """The clock after `facts` of one time, which led to `table`."""
    if table.opened is None or table.finished is not None:
        return Clock()
    ends_ms = table.opened.at_ms + OPEN_MS_MAX
    if table.house:
        return clock if clock.ends_ms is not None else Clock(ends_ms=ends_ms)
    if table.dealt and clock.stage == rules.waits(table.position) and Credited not in map(type, facts):
        return clock  # As nearly always within a battle: what a stage may last is settled once cards are dealt.
    name, battle, limit_ms = _stage(rules, table)
    if clock.stage != (name, battle):
        return Clock(Stage(name, battle), at_ms, limit_ms, 0, ends_ms)
    # Whether the seats have a minute or a day is known only when both reservations have been folded.
    credited_ms = clock.credited_ms + sum(fact.ms for fact in facts if isinstance(fact, Credited))
    if (limit_ms, credited_ms) == (clock.limit_ms, clock.credited_ms):
        return clock
    return replace(clock, limit_ms=limit_ms, credited_ms=credited_ms)


def _stage(rules: Rules, table: Table) -> tuple[str, int, int]:
    """Name, battle and milliseconds."""
    if not table.seated:
        return "seats", 0, SEATS_MS_OPEN if None in table.reserved else SEATS_MS
    if not table.dealt:
        return "mix", 0, MIX_MS
    assert table.opened is not None
    name, battle = rules.waits(table.position)
    seconds = dict(table.opened.settings)[f"{name}_seconds"]
    assert isinstance(seconds, int)
    return name, battle, seconds * 1000


def is_early(clock: Clock, at_ms: int) -> bool:
    """Whether time can't have been up then."""
    return clock.due_ms is None or at_ms < clock.due_ms - EARLY_MS_MAX


def is_too_much(clock: Clock, ms: int, at_ms: int) -> bool:
    """Whether more is given back than has passed since the stage began."""
    return clock.since_ms + clock.credited_ms + ms > at_ms + EARLY_MS_MAX
