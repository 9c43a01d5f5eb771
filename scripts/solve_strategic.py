"""Solves 50 States after round one, exactly. The one place where the published table of mixes is made.

    python -m scripts.solve_strategic            write the table and the copy that browsers check games with
    python -m scripts.solve_strategic --check    write nothing; exit 1 if a file differs from what would be written

Only the laws of a position are taken from rules.strategic, never its rows; still the table module has to import, so to
start from nothing put `TEXT = ""` there.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm
from pathlib import Path
from typing import Final, NamedTuple

from rules.strategic import flip, play

ROOT: Final = Path(__file__).resolve().parent.parent
MODULE: Final = Path("rules/strategic_table.py")
COPY: Final = Path("server/web/verify/strategic.txt")

HEAD: Final = '''"""The published mixes of 50 States after round one. The only place where they are stored.

Written by `python -m scripts.solve_strategic`: don't edit. A line is a key, then one weight per card of 'a', lowest
first; rules.strategic says what they mean. TEXT is published and hashed byte for byte.
"""

from typing import Final

TEXT: Final = """\\
'''


class Optimum(NamedTuple):
    """A matrix game solved for the rows: its value, and every corner of the set of optimal mixes, largest first."""

    value: Fraction
    corners: list[tuple[Fraction, ...]]


def after_round_one() -> list[str]:
    """The 126 keys of the 128 ends of round one that are not a game's end."""
    words = ("".join(letters) for letters in product("ab", repeat=7))
    return [word for word in words if len(set(word)) == 2]


def reachable() -> list[str]:
    """Every key the rules lead to from the end of round one, in the table's order: a key comes after its successors."""
    found: set[str] = set()
    waiting = after_round_one()
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += [after for row in successors(key) for after in row if isinstance(after, str)]
    return sorted(found, key=lambda key: (len(key), key))


def successors(key: str) -> list[list[str | bool]]:
    return [[play(key, own, other) for other in range(key.count("b"))] for own in range(key.count("a"))]


def solve() -> dict[str, Optimum]:
    """Backward induction: every battle takes one card out of the game, so shorter keys are solved first."""
    solved: dict[str, Optimum] = {}
    for key in reachable():
        solved[key] = optimum(
            [
                [Fraction(after) if isinstance(after, bool) else solved[after].value for after in row]
                for row in successors(key)
            ]
        )
    for key, found in solved.items():
        assert found.value + solved[flip(key)].value == 1, f"{key}: the two sides disagree"
    return solved


def optimum(matrix: list[list[Fraction]]) -> Optimum:
    """The most that a mix of rows guarantees against every column, and the mixes that do.

    A corner of {(v, x): x is a mix, v <= x·column for every column} leaves as many columns tight as it uses rows, so
    trying every such pair of rows and columns misses none, and a linear aim, here v, is reached at corners.
    """
    corners = set(_corners(matrix))
    best = max(value for value, _ in corners)
    return Optimum(best, sorted((mix for value, mix in corners if value == best), reverse=True))


def _corners(matrix: list[list[Fraction]]) -> Iterator[tuple[Fraction, tuple[Fraction, ...]]]:
    rows, columns = range(len(matrix)), range(len(matrix[0]))
    for size in range(1, min(len(rows), len(columns)) + 1):
        for used, tight in product(combinations(rows, size), combinations(columns, size)):
            # The mix sums to 1, and in each tight column it is worth v, the last unknown.
            system = [[*[Fraction(1)] * size, Fraction(0), Fraction(1)]]
            system += [[*(matrix[row][column] for row in used), Fraction(-1), Fraction(0)] for column in tight]
            solution = solution_of(system)
            if solution is None or min(solution[:-1]) < 0:
                continue
            weight = dict(zip(used, solution, strict=False))
            mix = tuple(weight.get(row, Fraction(0)) for row in rows)
            value = solution[-1]
            if all(sum(mix[row] * matrix[row][column] for row in used) >= value for column in columns):
                yield value, mix


def solution_of(system: list[list[Fraction]]) -> list[Fraction] | None:
    """The solution of n equations in n unknowns, right-hand side last in each; None if there isn't exactly one."""
    system = [list(equation) for equation in system]
    for place in range(len(system)):
        pivot = next((row for row in range(place, len(system)) if system[row][place]), None)
        if pivot is None:
            return None
        system[place], system[pivot] = system[pivot], system[place]
        lead = system[place][place]
        system[place] = [number / lead for number in system[place]]
        for row in range(len(system)):
            if row != place and (times := system[row][place]):
                system[row] = [number - times * by for number, by in zip(system[row], system[place], strict=True)]
    return [equation[-1] for equation in system]


def weights(mix: Sequence[Fraction]) -> tuple[int, ...]:
    """The coprime integers in a mix's proportions."""
    scale = lcm(*(share.denominator for share in mix))
    whole = [int(share * scale) for share in mix]
    return tuple(number // gcd(*whole) for number in whole)


def text(solved: Mapping[str, Optimum]) -> str:
    """The table as it is published: of several optimal mixes the first corner, the one that favours low cards most."""
    return "".join(f"{key} {' '.join(map(str, weights(found.corners[0])))}\n" for key, found in solved.items())


def files(table: str) -> dict[Path, bytes]:
    """What is stored of a table, and where below the root."""
    return {MODULE: f'{HEAD}{table}"""\n'.encode("ascii"), COPY: table.encode("ascii")}


def write(root: Path, table: str) -> None:
    for path, content in files(table).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def stale(root: Path, table: str) -> list[Path]:
    """The files that are missing or differ from what write() would leave there."""
    return [
        path
        for path, content in files(table).items()
        if not (root / path).is_file() or (root / path).read_bytes() != content
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.solve_strategic", description="Solves 50 States after round one, exactly."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is not up to date")
    check: bool = parser.parse_args(arguments).check
    table = text(solve())
    if not check:
        write(ROOT, table)
    different = stale(ROOT, table)
    for path in different:
        print(f"{path} is not what the solver makes", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
