"""Game lengths as a picture: a histogram in SVG 1.1, text to be written to a file or put in a page."""

from collections import Counter
from html import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 56, 56
BARS_MAX = 60
STEPS = (1, 2, 5)


def svg(lengths: Counter[int], title: str, median: float) -> str:
    """One bar for each so many battles, as high as games took that many. `lengths`: at least one game."""
    width = _round_up(max(1, (max(lengths) + BARS_MAX) // BARS_MAX))
    bars = Counter[int]()
    for battles, games in lengths.items():
        bars[battles // width] += games
    plot = _Plot((max(bars) + 1) * width, max(bars.values()))
    games = lengths.total()
    what = f"{games} games; the median is {median:g} battles, the longest {max(lengths)}."
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#222">',
        f"<title>{escape(title)}</title><desc>{escape(what)}</desc>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="24" font-size="16" font-weight="600">{escape(title)}</text>',
        f'<text x="{LEFT}" y="42" fill="#555">{escape(what)}</text>',
        *(_level(plot, value) for value in _ticks(plot.games_max)),
        *(_bar(plot, at * width, width, count) for at, count in sorted(bars.items())),
        *(_mark(plot, value) for value in _ticks(plot.battles_max)),
        f'<path d="M{plot.x(median):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#b3261e" stroke-dasharray="5 4"/>',
        f'<text x="{plot.x(median) + 5:.1f}" y="{TOP + 10}" fill="#b3261e">median</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 14}" text-anchor="middle">battles in a game</text>',
        f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"games{f', {width} battles a bar' if width > 1 else ''}</text>",
        "</svg>\n",
    ]
    return "\n".join(parts)


class _Plot:
    """Where values lie in the picture."""

    def __init__(self, battles_max: int, games_max: int) -> None:
        self.battles_max = battles_max
        step = _step(games_max)
        self.games_max = -(-games_max // step) * step

    def x(self, battles: float) -> float:
        return LEFT + battles / self.battles_max * (WIDTH - LEFT - RIGHT)

    def y(self, games: float) -> float:
        return HEIGHT - BOTTOM - games / self.games_max * (HEIGHT - TOP - BOTTOM)


def _bar(plot: _Plot, battles: int, width: int, games: int) -> str:
    left, right, top = plot.x(battles), plot.x(battles + width), plot.y(games)
    return (
        f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(0.5, right - left - 1):.1f}" '
        f'height="{HEIGHT - BOTTOM - top:.1f}" fill="#3b6ea5"/>'
    )


def _level(plot: _Plot, games: int) -> str:
    y = plot.y(games)
    return (
        f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{games}</text>'
    )


def _mark(plot: _Plot, battles: int) -> str:
    x = plot.x(battles)
    return (
        f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="#222"/>'
        f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 19}" text-anchor="middle">{battles}</text>'
    )


def _ticks(highest: int) -> range:
    """At most eleven round numbers from 0 to `highest`."""
    return range(0, highest + 1, _step(highest))


def _step(highest: int) -> int:
    return _round_up(max(1, -(-highest // 10)))


def _round_up(number: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50 … that is not below `number`."""
    power = 1
    while True:
        for step in STEPS:
            if step * power >= number:
                return step * power
        power *= 10
