"""`statecraft simulate`: many games in a row, with a bar that shows how far they are, and their sums in words."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track

from projections.histogram import svg
from projections.simulation import PERCENTILES, NoSimulation, Result, Summary, dealt, named, opened, settings_of, summed
from rules.open_deals import SEED_MAX

GAMES_MAX = 10_000_000
LINES = 10
"""How often a pipe is told how far it is."""


def numbers(deals: int | None, first: int, seeds: str | None) -> range:
    """Which deals are meant. Raises NoSimulation."""
    if (deals is None) == (seeds is None):
        raise NoSimulation("say either --deals N or --seeds A-B")
    if deals is not None:
        asked = range(first, first + deals)
    else:
        assert seeds is not None
        lowest, _, highest = seeds.partition("-")
        if not (lowest.isascii() and lowest.isdigit() and highest.isascii() and highest.isdigit()):
            raise NoSimulation(f"--seeds takes two integers, as in 1-300, not {seeds}")
        if int(highest) > SEED_MAX:
            raise NoSimulation(f"a seed is an integer from 0 to {SEED_MAX}")
        asked = range(int(lowest), int(highest) + 1)
    if not 1 <= len(asked) <= GAMES_MAX:
        raise NoSimulation(f"simulates 1 to {GAMES_MAX} games, not {len(asked)}")
    return asked


def simulate(
    name: str, deals: int | None, first: int, seeds: str | None, given: dict[str, int | str], err: Console
) -> tuple[str, Summary]:
    """What was simulated, in words, and its sums. Raises NoSimulation."""
    rules = named(name)
    settings = settings_of(rules, given, seeds is not None)
    asked = numbers(deals, first, seeds)
    words = [rules.name, *(f"{name} {value}" for name, value in settings)]
    words.append(f"{'seeds' if seeds else 'deals'} {asked[0]}-{asked[-1]}")
    play = partial(dealt if seeds is None else opened, rules, settings)
    return ", ".join(words), summed(_shown(play, asked, err))


def _shown(play: Callable[[int], Result], asked: range, err: Console) -> Iterator[Result]:
    if err.is_terminal:
        yield from map(play, track(asked, "Simulating", console=err, transient=True))
        return
    told = 0
    for done, number in enumerate(asked, 1):
        yield play(number)
        if done * LINES // len(asked) > told:
            told = done * LINES // len(asked)
            err.print(f"{done} of {len(asked)}", markup=False)


def lines(what: str, summary: Summary) -> Iterator[str]:
    """The sums as text."""
    longest = summary.longest
    assert longest is not None
    yield what
    yield f"games      {summary.games}"
    yield f"battles    {summary.battles}"
    yield f"mean       {float(summary.mean):.2f} battles"
    yield f"median     {float(summary.median):g}"
    for percent in PERCENTILES:
        yield f"{percent:2} %       {summary.percentile(percent)}"
    yield f"longest    {longest.battles} ({'seed' if ', seeds ' in what else 'deal'} {longest.number})"
    if summary.wars is not None:
        yield f"wars       {summary.wars}"
    for winner, whose in ((0, "seat 0"), (1, "seat 1"), (None, "draws")):
        yield f"{whose:10} {summary.winners[winner]} ({100 * summary.winners[winner] / summary.games:.2f} %)"
    for reason, games in sorted(summary.reasons.items()):
        yield f"  {reason:18} {games}"


def plot(path: Path, what: str, summary: Summary) -> None:
    """Raises OSError."""
    path.write_text(svg(summary.lengths, what, float(summary.median)))
