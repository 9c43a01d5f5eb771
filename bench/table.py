"""`python -m bench.table`: the tables of docs/performance.md, made from the committed result files.

`--write` puts them into the document, each between its marks, and draws the curves beside it."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import carries
from bench.__main__ import runs
from bench.plot import svg

TOP = Path(__file__).parent.parent
RESULTS = TOP / "bench" / "results"
DOCUMENT = TOP / "docs" / "performance.md"
BEGIN, END = "<!-- python -m bench.table --write: {} -->\n", "<!-- until here -->\n"


def results(folder: Path = RESULTS) -> list[Mapping[str, Any]]:
    """In the order in which `python -m bench --runs` lists them."""
    found = {path.stem.replace("-", " --store "): json.loads(path.read_text()) for path in folder.glob("*.json")}
    return [found[run] for run in runs() if run in found]


def markdown(found: Iterable[Mapping[str, Any]]) -> str:
    """The ratios, and then for each bench when, on what and how busy."""
    rows, notes = [], []
    for result in found:
        name = result["command"].removeprefix("python -m bench ")
        rows += [_row(name, row) for row in result["rows"]]
        machine, commit = result["machine"], result.get("commit")
        notes.append(
            f"- `{result['command']}`: {result['at']}, {f'commit {commit}, ' if commit else ''}"
            f"{machine['cores']} × {machine['cpu']}, {machine['system']}, "
            f"load {machine['load']:g} at its end, load generator {result['busy']:.0%} of a core\n"
        )
        notes += [f"  - {note}\n" for note in result["notes"] if note.startswith("NOT MEASURED")]
    head = "| bench | what | product | against | ratio | goal |\n|---|---|---|---|---|---|\n"
    return "".join((head, *rows, "\n", *notes))


def _row(name: str, row: Mapping[str, Any]) -> str:
    against, ratio = row["against"], row["ratio"]
    cells = (
        f"`{name}`",
        row["what"],
        f"{_spread(row['product'])} {row['unit']}",
        "" if against is None else f"{_spread(against)}, {against['name']}",
        "" if ratio is None else f"{ratio:.2f}",
        row["goal"],
    )
    return f"| {' | '.join(cells)} |\n"


def _spread(series: Mapping[str, Any]) -> str:
    return f"{_number(series['median'])} ({_number(series['least'])}–{_number(series['most'])})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def pictures(found: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """File name in docs/, and its text."""
    for result in found:
        if result.get("curves"):
            yield f"{result['bench']}.svg", svg(result["curves"])


def sections(found: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What stands between each pair of marks."""
    shown = "".join(f"![The cost of a command at rising sizes]({name})\n" for name, _ in pictures(found))
    return {"ratios": markdown(found), "curves": shown, "carries": carries.markdown(found)}


def written(document: str, made: Mapping[str, str]) -> str:
    """The document with these sections between their marks. Raises ValueError if it lacks one."""
    for name, text in made.items():
        begin = BEGIN.format(name)
        before, mark, rest = document.partition(begin)
        _, end, after = rest.partition(END)
        if not mark or not end:
            raise ValueError(f"the document has no {begin.strip()} … {END.strip()}")
        document = before + begin + text + END + after
    return document


if __name__ == "__main__":
    made = sections(results())
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.write_text(written(DOCUMENT.read_text(), made))
        for name, picture in pictures(results()):
            (DOCUMENT.parent / name).write_text(picture)
    else:
        print(*made.values(), sep="\n", end="")
