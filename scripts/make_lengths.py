"""Writes the plots of game lengths that the page shows, from the rules themselves: server/web/art/lengths-*.svg."""

from pathlib import Path

from rich.console import Console

from projections.histogram import svg
from server.simulating import simulate

ART = Path(__file__).resolve().parent.parent / "server" / "web" / "art"
GAMES = ("classic", "playbook", "gameweave")
DEALS = 5000


def path(name: str) -> Path:
    return ART / f"lengths-{name}.svg"


def lengths(name: str) -> str:
    """The picture of the first DEALS deals of the product's own dealing."""
    what, summary = simulate(name, DEALS, 0, None, {}, Console(stderr=True, quiet=True))
    return svg(summary.lengths, what, float(summary.median))


def main() -> None:
    for name in GAMES:
        path(name).write_text(lengths(name))


if __name__ == "__main__":
    main()
