"""`python -m bench.table`: the table of ratios in docs/performance.md, made from the committed result files."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.__main__ import BENCHES

RESULTS = Path(__file__).parent / "results"


def results(folder: Path = RESULTS) -> list[Mapping[str, Any]]:
    """In the order in which `python -m bench` lists them."""
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return [found[name] for name in BENCHES if name in found]


def markdown(found: Iterable[Mapping[str, Any]]) -> str:
    lines = ["| command | what | product | against | ratio | goal |", "|---|---|---|---|---|---|"]
    for result in found:
        for row in result["rows"]:
            against, ratio = row["against"], row["ratio"]
            cells = (
                f"`{result['command']}`",
                row["what"],
                f"{_spread(row['product'])} {row['unit']}",
                "" if against is None else f"{_spread(against)}, {against['name']}",
                "" if ratio is None else f"{ratio:.2f}",
                row["goal"],
            )
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def machines(found: Iterable[Mapping[str, Any]]) -> str:
    """Each machine the results are from, once, and how busy it and the load generator were."""
    lines = []
    for result in found:
        machine = result["machine"]
        lines.append(
            f"- `{result['bench']}`: {result['at']}, {machine['cores']} × {machine['cpu']}, {machine['system']}, "
            f"load {machine['load']:g}, load generator {result['busy']:.0%} of a core\n"
        )
    return "".join(lines)


def _spread(series: Mapping[str, Any]) -> str:
    return f"{_number(series['median'])} ({_number(series['least'])}–{_number(series['most'])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    every = results()
    print(markdown(every))
    print(machines(every))
