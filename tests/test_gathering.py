"""What a rebuild keeps in memory: whenever it writes and however much it forgets, the rows are those of a fold."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from projections.projection import Projection, digest
from server.gathering import Gathering
from server.projector import PROJECTIONS
from server.sqlite_projected import SqliteProjected
from tests.entries import ListLedger, synthetic
from tests.folded import opened
from tests.test_projector import contents, rebuilt

PEOPLE = 7
steps = st.lists(
    st.tuples(st.integers(1, 25), st.sampled_from((None, False, True)), st.sampled_from((False, False, False, True))),
    min_size=3,
    max_size=12,
)


@given(st.sampled_from(PROJECTIONS), steps, st.integers(0, 1000))
@settings(max_examples=60)
def test_rows_written_at_any_time_whole_or_in_part_are_those_of_a_fold(
    chosen: Projection[Any], steps: list[tuple[int, bool | None, bool]], seed: int
) -> None:
    """Each step: how many entries come, whether all is written or what hardly changes, and whether the process begins
    again."""
    ledger = ListLedger(synthetic(sum(count for count, _, _ in steps), PEOPLE, seed))

    async def gather(store: SqliteProjected) -> None:
        gathering = Gathering(chosen, await store.begin(chosen.name, chosen.version, "building"))
        for count, written, again in steps:
            batch = await ledger.read(gathering.as_of - 1, count)
            if batch:
                work = gathering.work(batch)
                missing = gathering.missing(work)
                gathering.fold(batch, work, await store.rows(chosen.name, gathering.generation.id, missing))
            if written is not None:
                after, rows, held = gathering.gathered(whole=written)
                gathering.written(await store.advance(gathering.generation, after, rows, held))
            if again:
                found = (await store.standing([chosen.name], "building"))[chosen.name]
                gathering = Gathering(chosen, found, await store.held(found))
        after, rows, held = gathering.gathered()
        await store.advance(gathering.generation, after, rows, held)

    async def check(folder: Path) -> None:
        async with opened(folder) as store:
            await gather(store)
            at, rows = await contents(store, chosen.name, "building")
            assert rows == rebuilt(chosen, ledger.entries[: at.as_of])
            assert at.digest == digest(rows.items())

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))
