"""Curves as SVG: a panel each, the sizes on a logarithmic axis, medians joined, least and most as a bar."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT = 300, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 34, 40


def svg(curves: Sequence[Mapping[str, Any]]) -> str:
    """Of the curves of a result file; at least one."""
    width = WIDTH * len(curves)
    panels = (
        f'<g transform="translate({WIDTH * at} 0)">{"".join(_panel(curve))}</g>' for at, curve in enumerate(curves)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="11" fill="#333">\n'
        f'<rect width="{width}" height="{HEIGHT}" fill="#fff"/>\n' + "\n".join(panels) + "\n</svg>\n"
    )


def _panel(curve: Mapping[str, Any]) -> Iterator[str]:
    points = curve["points"]
    sizes, most = [point["size"] for point in points], max(point["most"] for point in points)
    top = _round_up(most)

    def x(size: float) -> float:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        return LEFT + (math.log(size) - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP)

    yield f'<text x="{LEFT}" y="18" font-size="12" font-weight="bold">{escape(curve["what"])}</text>'
    for part in (0, 0.5, 1):
        at = f"{y(top * part):.1f}"
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 6}" y="{at}" dy="4" text-anchor="end">{top * part:,.4g}</text>'
    for size in sizes:
        yield f'<text x="{x(size):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{short(size)}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(curve["sizes"])}; {curve["unit"]}</text>'
    yield _line((x(point["size"]), y(point["median"])) for point in points)
    for point in points:
        at = f"{x(point['size']):.1f}"
        yield f'<line x1="{at}" x2="{at}" y1="{y(point["least"]):.1f}" y2="{y(point["most"]):.1f}" stroke="#2a6f97"/>'
        yield f'<circle cx="{at}" cy="{y(point["median"]):.1f}" r="3" fill="#2a6f97"/>'


def _line(places: Iterable[tuple[float, float]]) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{joined}" fill="none" stroke="#2a6f97" stroke-width="1.5"/>'


def _round_up(value: float) -> float:
    """To one, two or five and noughts."""
    power: float = 10 ** math.floor(math.log10(value))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= value)


def short(size: int) -> str:
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{size / unit:g}{name}"
    return f"{size:g}"
