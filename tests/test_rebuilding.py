"""`statecraft rebuild` as a person sees it."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from server import rebuilding
from server.projector import PROJECTIONS, Projector
from server.rebuilding import NAMES
from tests.entries import ListLedger, synthetic
from tests.folded import opened
from tests.test_projector import agree, contents
from tests.test_rebuild import spoil

pytestmark = pytest.mark.anyio


async def said(
    folder: Path, ledger: ListLedger, *names: str, force: bool = False, back: bool = False, terminal: bool = False
) -> tuple[bool, list[str]]:
    out = io.StringIO()
    console = Console(file=out, width=400, highlight=False, force_terminal=terminal)
    async with opened(folder) as store:
        well = await rebuilding.run(store, ledger, names, force, back, console)
    return well, out.getvalue().splitlines()


async def test_each_projection_says_how_far_it_is_and_what_it_holds(tmp_path: Path) -> None:
    ledger = ListLedger(synthetic(300, 9))
    well, first = await said(tmp_path, ledger, *NAMES)
    assert well
    assert [line.endswith("it is the first") for line in first] == [True] * len(PROJECTIONS)
    well, again = await said(tmp_path, ledger, *NAMES)
    assert well
    async with opened(tmp_path) as database:
        await agree(database, ledger)
        for projection, line in zip(PROJECTIONS, again, strict=True):
            checkpoint, _ = await contents(database, projection.name)
            expected = (
                f"{projection.name}: 300 entries, digest {checkpoint.digest.hex()}, as the one before, which is kept"
            )
            assert line == expected


async def test_a_difference_is_named_and_force_mends_it(tmp_path: Path) -> None:
    ledger = ListLedger(synthetic(300, 9))
    async with opened(tmp_path) as database:
        await Projector(database, ledger).advance()
        key = await spoil(database, "rivals")
    well, lines = await said(tmp_path, ledger, "rivals")
    assert not well
    assert key.hex() in lines[0]
    assert lines[0].endswith("Nothing was taken over; --force takes the rebuilt one")
    assert (await said(tmp_path, ledger, "rivals", force=True))[0]
    async with opened(tmp_path) as database:
        await agree(database, ledger)


async def test_a_ledger_that_went_another_way_is_said(tmp_path: Path) -> None:
    await said(tmp_path, ListLedger(synthetic(300, 9)), "records")
    well, lines = await said(tmp_path, ListLedger(synthetic(200, 9)), "records")
    assert not well
    assert lines == [
        "records: the live records was folded from 300 entries, the ledger has 200. Nothing was taken over; "
        "--force builds what the ledger says now"
    ]


async def test_the_way_back_is_said(tmp_path: Path) -> None:
    ledger = ListLedger(synthetic(300, 9))
    await said(tmp_path, ledger, "records")
    assert await said(tmp_path, ledger, "records", back=True) == (False, ["records: no earlier one is kept"])
    await said(tmp_path, ledger, "records")
    well, lines = await said(tmp_path, ledger, "records", back=True)
    assert well
    assert lines == ["records: back to the one kept at 300 entries, which folds on from there"]


async def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    ledger = ListLedger(synthetic(300, 9))
    assert (await said(tmp_path, ledger, "records", terminal=True))[0]
