"""A rebuild beside the live projection: takeover, way back, traffic, and whatever may go wrong meanwhile."""

import asyncio
import contextlib
import os
import random
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from projections.leaderboard import LEADERBOARD, Board
from projections.projection import Projection, digest
from projections.records import RECORDS
from projections.rivals import RIVALS
from server.folding import Diverged, Reader
from server.projected import Differs, Projected, Taken
from server.projector import PROJECTIONS, Projector
from server.rebuild import BATCH_ENTRIES, Progress, Told, rebuild, roll_back
from server.sqlite_projected import SqliteProjected
from tests.entries import A, ListLedger, house, synthetic
from tests.folded import FOLDED, on_every, on_kept, opened, reopened
from tests.test_projector import agree, all_boards, boards_agree, contents

pytestmark = pytest.mark.anyio

PEOPLE = 9


async def one(
    store: Projected,
    ledger: Reader,
    projection: Projection[Any],
    told: Told = lambda progress: None,
    force: bool = False,
    batch_entries: int = BATCH_ENTRIES,
    rows_max: int | None = None,
) -> Taken | None:
    """Rebuild a projection alone. Raises Differs, Diverged."""
    done = await rebuild(store, ledger, [projection], told, force, batch_entries, rows_max)
    outcome = done[projection.name]
    if isinstance(outcome, Differs | Diverged):
        raise outcome
    return outcome


async def generation_count(store: SqliteProjected) -> int:
    return await store.database.read(
        lambda connection: connection.execute("SELECT count(*) FROM generations").fetchone()[0]
    )


async def spoil(store: Projected, name: str) -> bytes:
    """Change one live row behind its digest's back, as no fold would; its key."""
    live = (await store.standing([name]))[name]
    ((key, row),) = await store.page(live, b"", b"", 1)
    changed = bytes(row[:-1]) + bytes((row[-1] ^ 1,))
    await store.advance(live, live.checkpoint._replace(digest=bytes(31) + b"\x01"), [(key, changed)])
    return key


@on_every
async def test_a_rebuild_takes_over_at_an_equal_position_and_keeps_the_old_one(tmp_path: Path, kind: str) -> None:
    entries = synthetic(500, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(entries)
        await Projector(database, ledger).advance()
        for projection in PROJECTIONS:
            before = await contents(database, projection.name)
            told: list[Progress] = []
            taken = await one(database, ledger, projection, told.append, batch_entries=77)
            assert taken is not None
            assert taken.before is not None
            assert taken.generation.checkpoint == taken.before.checkpoint
            assert await contents(database, projection.name) == before
            assert await contents(database, projection.name, "kept") == before
            assert [progress.folded for progress in told] == [*range(0, 500, 77), 500]
            assert {progress.entries for progress in told} == {500}
        await agree(database, ledger)


async def test_everything_deleted_and_rebuilt_is_the_same_bytes(tmp_path: Path) -> None:
    ledger = ListLedger(synthetic(400, PEOPLE))
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with opened(tmp_path / "a") as kept, opened(tmp_path / "b") as empty:
        await Projector(kept, ledger, batch_entries=3).advance()
        for projection in PROJECTIONS:
            taken = await one(empty, ledger, projection)
            assert taken is not None
            assert taken.before is None
            assert await contents(empty, projection.name) == await contents(kept, projection.name)


@pytest.mark.parametrize("rows_max", [0, 3, 40, 150, 600])
async def test_however_few_rows_may_stay_in_memory_the_rebuilt_ones_are_the_same(tmp_path: Path, rows_max: int) -> None:
    ledger = ListLedger(synthetic(1500, PEOPLE))
    async with opened(tmp_path) as store:
        await Projector(store, ledger).advance()
        outcomes = await rebuild(store, ledger, PROJECTIONS, batch_entries=50, rows_max=rows_max)
        assert all(isinstance(outcome, Taken) for outcome in outcomes.values())
        for projection in PROJECTIONS:
            assert await contents(store, projection.name) == await contents(store, projection.name, "kept")
            at, rows = await contents(store, projection.name)
            assert at.digest == digest(rows.items())


async def test_only_one_old_generation_is_kept_and_nothing_is_left_lying(tmp_path: Path) -> None:
    async with opened(tmp_path) as database:
        ledger = ListLedger(synthetic(200, PEOPLE))
        await Projector(database, ledger, [RECORDS]).advance()
        _, rows = await contents(database, "records")
        for _ in range(3):
            await one(database, ledger, RECORDS)
        assert await generation_count(database) == 2
        (stored,) = await database.database.read(lambda c: c.execute("SELECT count(*) FROM projected").fetchone())
        assert stored == 2 * len(rows)


@on_every
async def test_a_row_that_was_altered_is_found_and_named_and_nothing_taken_over(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(synthetic(200, PEOPLE))
        projector = Projector(database, ledger, [RECORDS])
        await projector.advance()
        good = await contents(database, "records")
        key = await spoil(database, "records")
        before = await contents(database, "records")
        with pytest.raises(Differs, match=key.hex()):
            await one(database, ledger, RECORDS)
        assert await contents(database, "records") == before
        assert not await database.standing([RECORDS.name], "building")
        # Whoever has looked into it takes the rebuilt one.
        assert await one(database, ledger, RECORDS, force=True) is not None
        assert await contents(database, "records") == good


@on_every
async def test_other_rules_take_over_without_agreeing(tmp_path: Path, kind: str) -> None:
    later = replace(RIVALS, version=2, keys=lambda index, entry: RIVALS.keys(index, entry)[:1])
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(synthetic(300, PEOPLE))
        await Projector(database, ledger, [RIVALS]).advance()
        projector = Projector(database, ledger, [later])
        await projector.advance()
        assert projector.outdated == {"rivals"}
        taken = await one(database, ledger, later)
        assert taken is not None
        assert taken.before is not None
        assert (taken.before.version, taken.generation.version) == (1, 2)
        ledger.entries.append(house(A, True))
        await projector.advance()
        assert projector.outdated == frozenset()
        assert (await projector.read("rivals", A)).as_of == 301


@on_every
async def test_a_rebuild_under_other_rules_does_not_go_on_from_the_former_ones_rows(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(synthetic(300, PEOPLE))
        await Projector(database, ledger, [RECORDS]).advance()
        await halfway(database, ledger)
        later = replace(RECORDS, version=2)
        begun = await database.begin("records", 2, "building")
        assert begun.checkpoint.as_of == 0
        taken = await one(database, ledger, later)
        assert taken is not None
        assert await contents(database, "records") == await contents(database, "records", "kept")


async def halfway(database: Projected, ledger: ListLedger) -> None:
    """A rebuild that stops in the middle, as if its process had gone."""

    class Gone(Exception):
        pass

    def told(progress: Progress) -> None:
        if progress.folded >= 100:
            raise Gone

    with pytest.raises(Gone):
        await one(database, ledger, RECORDS, told, batch_entries=20, rows_max=0)


@on_every
async def test_a_rebuild_goes_on_where_one_that_was_killed_left_off(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(synthetic(300, PEOPLE))
        await Projector(database, ledger, [RECORDS]).advance()
        await halfway(database, ledger)
        told: list[Progress] = []
        assert await one(database, ledger, RECORDS, told.append) is not None
        assert told[0].folded == 100


@on_every
async def test_two_rebuilds_at_once_help_each_other(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = other = folded.store
        ledger = ListLedger(synthetic(400, PEOPLE))
        await Projector(database, ledger).advance()
        taken = await asyncio.gather(
            one(database, ledger, RECORDS, batch_entries=7), one(other, ledger, RECORDS, batch_entries=5)
        )
        assert sum(each is not None for each in taken) >= 1
        await agree(database, ledger)


@on_every
async def test_a_rebuild_under_traffic_takes_over_and_both_stay_equal(tmp_path: Path, kind: str) -> None:
    entries = synthetic(1500, PEOPLE, seed=8)
    which = all_boards(entries)[::9]
    async with FOLDED[kind](tmp_path) as folded:
        database = other = folded.store
        ledger = ListLedger(entries[:500])
        projector = Projector(database, ledger)
        boards = folded.ranks(projector)
        await projector.advance()

        async def traffic() -> None:
            while len(ledger.entries) < len(entries):
                ledger.entries = entries[: len(ledger.entries) + 5]
                await projector.advance()
                for board in which[:3]:
                    assert (await boards.page(board, 0, 3)).as_of == len(ledger.entries)

        task = asyncio.create_task(traffic())
        taken = [await one(other, ledger, projection, batch_entries=50) for projection in PROJECTIONS]
        assert None not in taken
        await task
        await agree(database, ledger)
        await boards_agree(boards, entries, which)


@on_every
async def test_boards_in_memory_follow_a_takeover(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(synthetic(200, PEOPLE))
        projector = Projector(database, ledger)
        boards = folded.ranks(projector)
        await projector.advance()
        board = Board("states-versus", "wins", "all")
        assert (await boards.page(board, 0, 0)).size > 1
        ledger.entries = [house(A, True)] * 3
        for projection in PROJECTIONS:
            await one(database, ledger, projection, force=True)
        await projector.advance()
        assert (await boards.page(board, 0, 0)).size == 0
        await boards_agree(boards, ledger.entries, [Board("states-relaxed", "wins", "all")])


@on_every
async def test_a_live_projection_of_another_ledger_is_replaced_by_force_alone(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        await Projector(database, ListLedger(synthetic(200, PEOPLE, 1)), [LEADERBOARD]).advance()
        shorter, same = ListLedger(synthetic(150, PEOPLE, 2)), ListLedger(synthetic(200, PEOPLE, 2))
        with pytest.raises(Diverged, match="the ledger has 150"):
            await one(database, shorter, LEADERBOARD, rows_max=0)
        for ledger, error in ((same, Diverged), (same, Differs)):
            with pytest.raises(error):
                await one(database, ledger, LEADERBOARD)
            await database.drop_building("leaderboard")
        assert await one(database, shorter, LEADERBOARD, force=True) is not None
        await Projector(database, shorter, [LEADERBOARD]).advance()


@on_every
async def test_the_way_back_is_the_kept_one_which_folds_on(tmp_path: Path, kind: str) -> None:
    entries = synthetic(300, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(entries[:200])
        projector = Projector(database, ledger)
        await projector.advance()
        assert await roll_back(database, RECORDS) is None
        taken = await one(database, ledger, RECORDS)
        assert taken is not None
        assert taken.before is not None
        ledger.entries = entries
        await projector.advance()
        back = await roll_back(database, RECORDS)
        assert back is not None
        assert (back.id, back.checkpoint.as_of) == (taken.before.id, 200)
        await projector.advance()
        await agree(database, ledger)
        forth = await roll_back(database, RECORDS)
        assert forth is not None
        assert forth.id == taken.generation.id


@on_every
async def test_a_rebuild_that_is_ahead_of_a_live_one_rolled_back_begins_anew(tmp_path: Path, kind: str) -> None:
    entries = synthetic(300, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger(entries[:50])
        await Projector(database, ledger, [RECORDS]).advance()
        await one(database, ledger, RECORDS)
        ledger.entries = entries
        await Projector(database, ledger, [RECORDS]).advance()
        await halfway(database, ledger)
        await roll_back(database, RECORDS)
        told: list[Progress] = []
        assert await one(database, ledger, RECORDS, told.append) is not None
        assert told[0] == Progress("records", 0, 50)


@on_kept
@pytest.mark.thorough
async def test_killed_at_any_point_a_rebuild_and_the_loop_come_to_the_same(tmp_path: Path, kind: str) -> None:
    chance = random.Random(11)
    entries = synthetic(KILLED_ENTRIES, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        store = folded.store
        await Projector(store, ListLedger(entries[:1500])).advance()
        kills = 0
        while await _killed(folded.place, chance.randrange(1, 12)):
            kills += 1
            assert kills < 100
        assert kills >= 3
        await Projector(store, ListLedger(entries)).advance()
        await agree(store, ListLedger(entries))
        for projection in PROJECTIONS:
            assert (await contents(store, projection.name, "kept"))[0].as_of >= 1500
            assert await one(store, ListLedger(entries), projection) is not None
        await agree(store, ListLedger(entries))
        await boards_agree(folded.ranks(Projector(store, ListLedger(entries))), entries, all_boards(entries)[::9])


async def _killed(place: str, steps: int) -> bool:
    """Let a process fold and rebuild for so many steps and kill it where it is then; False: it had nothing to do."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.test_rebuild", place, stdin=pipe, stdout=pipe
    )
    assert process.stdin is not None
    assert process.stdout is not None
    # A little more than it is given time for, so that it is never found waiting at the same place.
    process.stdin.write(bytes(steps + 3))
    for _ in range(steps):
        if not await process.stdout.readline():
            break
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    rest = await process.stdout.read()
    code = await process.wait()
    assert code in (0, -signal.SIGKILL)
    return code != 0 or bool(rest)


KILLED_ENTRIES = 3000


async def _until_killed(place: str) -> None:
    """Fold, and rebuild what hasn't been replaced yet; a line for each step, which waits for leave."""
    ledger = ListLedger(synthetic(KILLED_ENTRIES, PEOPLE))

    def told(progress: Progress) -> None:
        os.write(1, b"%d\n" % progress.folded)
        os.read(0, 1)

    async with reopened(place) as store:
        folding = asyncio.create_task(Projector(store, ledger, batch_entries=40).advance())
        for projection in PROJECTIONS:
            if not await store.standing([projection.name], "kept"):
                await one(store, ledger, projection, told, batch_entries=150, rows_max=5)
        await folding


if __name__ == "__main__":
    asyncio.run(_until_killed(sys.argv[1]))
