"""Projections on the store: after every entry equal to a rebuild, byte for byte, with all ranks and all neighbours."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.entries import Barred, Closing, LedgerEntry
from projections import leaderboard, records
from projections.leaderboard import BARS, LADDERS, LEADERBOARD, WINDOWED, Board, measures, score, standing
from projections.projection import Projection, digest, fold, stored
from projections.records import RECORDS
from projections.standings import Place
from projections.windows import windows
from server import generations
from server.boards import Boards
from server.folding import Diverged
from server.projected import Checkpoint, Moved, Page, Projected, Standing
from server.projector import PROJECTIONS, Projector
from server.ranks import Ranks
from server.view import NotReady
from tests.entries import MONDAY_MS, A, B, ListLedger, acts, house, player, synthetic, versus
from tests.folded import FOLDED, on_every, on_few, opened
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio
PEOPLE = 7


def rebuilt(projection: Projection[Any], entries: Sequence[LedgerEntry]) -> dict[bytes, bytes]:
    """Every row from scratch, as it must stand in the store."""
    return {key: stored(row) for key, row in fold(projection, enumerate(entries)).items()}


async def contents(store: Projected, name: str, state: str = "live") -> tuple[Checkpoint, dict[bytes, bytes]]:
    if state != "live":
        found = (await store.standing([name], state))[name]
        return found.checkpoint, dict(await store.page(found, b"", b"", 1 << 30))

    async def whole(live: Standing, page: Page) -> tuple[Checkpoint, dict[bytes, bytes]]:
        return live[name].checkpoint, dict(await page(live[name], b"", b"", 1 << 30))

    return await store.view([name], whole)


async def agree(database: Projected, ledger: ListLedger) -> None:
    """The store holds what a rebuild gives, at the ledger's end."""
    for projection in PROJECTIONS:
        checkpoint, rows = await contents(database, projection.name)
        expected = rebuilt(projection, ledger.entries)
        assert rows == expected
        assert checkpoint.as_of == len(ledger.entries)
        assert checkpoint.digest == digest(expected.items())
        if ledger.entries:
            ((_, leaf_hash, _),) = await ledger.read(len(ledger.entries) - 2, 1)
            assert checkpoint.leaf_hash == leaf_hash


def all_boards(entries: Sequence[LedgerEntry]) -> list[Board]:
    spans = {window for entry in entries if isinstance(entry, Closing) for window in windows(entry.at_ms)}
    return [
        Board(ladder, measure, window)
        for ladder in LADDERS
        for measure in measures(ladder)
        for window in sorted(spans)
        if window == "all" or measure in WINDOWED
    ]


def places(board: Board, rows: dict[bytes, Any]) -> list[Place]:
    """A whole board the plain way: sort by value, index, player; count who has more."""
    barred = {key[len(BARS) :] for key, row in rows.items() if key.startswith(BARS) and row.games > row.wins}
    found = [
        (-value[0], value[1], key[len(board.prefix) :])
        for key, row in rows.items()
        if key.startswith(board.prefix)
        if key[len(board.prefix) :] not in barred and (value := standing(board.measure, row)) is not None
    ]
    ordered = sorted(found)
    return [
        Place(1 + sum(each[0] < value for each in ordered), position, who, -value, index)
        for position, (value, index, who) in enumerate(ordered)
    ]


async def boards_agree(ranks: Ranks, entries: Sequence[LedgerEntry], which: Sequence[Board]) -> None:
    rows = fold(LEADERBOARD, enumerate(entries))
    for board in which:
        expected = places(board, rows)
        whole = await ranks.page(board, 0, 1000)
        assert whole.places == tuple(expected)
        assert (whole.as_of, whole.size) == (len(entries), len(expected))
        assert (await ranks.page(board, 0, 0)).places == ()
        for place in expected:
            at = place.position
            assert (await ranks.of(board, [place.player, place.player])).places == (place,)
            for count in (0, 1, 2):
                around = await ranks.around(board, place.player, count)
                assert around.places == tuple(expected[max(0, at - count) : at + count + 1])
            held = score(place.value, place.entry)
            for player_ in (place.player, bytes(16), b"\xff" * 16):
                behind = (await ranks.following(board, held, player_, 2)).places
                # The other player of the entry may have the same score.
                same = [each for each in expected if score(each.value, each.entry) == held]
                first = sum(each not in same for each in expected[:at]) + sum(each.player <= player_ for each in same)
                assert behind == tuple(expected[first : first + 2])
            assert (await ranks.page(board, at, 2)).places == tuple(expected[at : at + 2])
        friends = [player(number) for number in (3, 1, 5, 1)]
        found = await ranks.of(board, friends)
        assert found.places == tuple(place for place in expected if place.player in friends)


ladders_of_two = st.sampled_from(("states-versus", "classic-versus"))
times = st.sampled_from([MONDAY_MS + offset for offset in (-86_400_001, -1, 0, 1, 86_400_000)])
people = st.integers(0, 4).map(player)
closings = st.one_of(
    st.builds(lambda who, won, at_ms: house(who, won, at_ms=at_ms), people, st.booleans(), times),
    st.builds(
        lambda first, second, winner, ladder, at_ms: versus(first, second, winner, ladder, at_ms=at_ms),
        people,
        people,
        st.sampled_from((0, 1, None)),
        ladders_of_two,
        times,
    ),
)


bars = st.builds(lambda who: Barred(who, 1, MONDAY_MS, "two accounts"), people)


@on_few
@given(st.lists(closings, min_size=1, max_size=9), st.lists(st.one_of(closings, bars), max_size=9), st.data())
@settings(max_examples=25, deadline=None)
def test_after_every_entry_the_rows_and_all_ranks_are_those_of_a_rebuild(
    kind: str, first: list[LedgerEntry], then: list[LedgerEntry], data: Any
) -> None:
    entries = acts([*first, *then])
    which = data.draw(st.lists(st.sampled_from(all_boards(entries)), min_size=1, max_size=6, unique=True))

    async def check(folder: Path) -> None:
        async with FOLDED[kind](folder) as folded:
            database = folded.store
            ledger = ListLedger()
            projector = Projector(database, ledger)
            boards = folded.ranks(projector)
            for number, entry in enumerate(entries, 1):
                ledger.entries.append(entry)
                await projector.advance()
                await agree(database, ledger)
                await boards_agree(boards, entries[:number], which)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@on_few
async def test_after_every_entry_every_board_is_that_of_a_rebuild(tmp_path: Path, kind: str) -> None:
    entries = synthetic(80, PEOPLE, seed=4)
    which = all_boards(entries)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger()
        projector = Projector(database, ledger)
        boards = folded.ranks(projector)
        for number, entry in enumerate(entries, 1):
            ledger.entries.append(entry)
            await projector.advance()
            await agree(database, ledger)
            await boards_agree(boards, entries[:number], which[number % 9 :: 9])
        await boards_agree(boards, entries, which)


@on_every
async def test_a_barred_player_stands_nowhere_until_the_bar_is_lifted(tmp_path: Path, kind: str) -> None:
    board = Board("states-relaxed", "wins", "all")
    bar = Barred(A, 1, MONDAY_MS, "two accounts")
    ledger = ListLedger(acts([house(A, True), house(A, True), house(B, True), bar, house(A, True), bar]))
    places_of: list[list[tuple[bytes, int, int]]] = []
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        shown, ledger.entries = ledger.entries, []
        projector = Projector(database, ledger)
        boards, late = folded.ranks(projector), folded.ranks(projector)
        for entry in shown:
            ledger.entries.append(entry)
            await projector.advance()
            if isinstance(late, Boards):
                late._reset(LEADERBOARD.name)
            for each in (await boards.page(board, 0, 9), await late.page(board, 0, 9)):
                places_of.append([(place.player, place.value, place.entry) for place in each.places])
    assert places_of[0::2] == places_of[1::2]
    assert places_of[4::2] == [
        [(A, 2, 1), (B, 1, 2)],
        [(B, 1, 2)],
        [(B, 1, 2)],
        [(A, 3, 4), (B, 1, 2)],
    ]


@on_few
async def test_every_measure_of_many_games_is_on_its_board(tmp_path: Path, kind: str) -> None:
    # Few people, so that everybody passes the hundred games of the win rate.
    entries = synthetic(3000, 3, seed=1)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        projector = Projector(database, ListLedger(entries))
        await projector.advance()
        boards = folded.ranks(projector)
        which = all_boards(entries)
        await boards_agree(boards, entries, which[::7])
        for measure in ("wins", "best_streak", "win_rate", "rating"):
            assert (await boards.page(Board("states-versus", measure, "all"), 0, 9)).places


@on_few
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_any_split_into_batches_gives_the_same(kind: str, sizes: list[int], seed: int) -> None:
    entries = synthetic(200, PEOPLE, seed)

    async def check(folder: Path) -> None:
        async with FOLDED[kind](folder) as folded:
            database = folded.store
            ledger = ListLedger()
            for size in sizes:
                # A new projector each time: what is in memory is worth nothing after a crash.
                ledger.entries = entries[: len(ledger.entries) + size]
                await Projector(database, ledger, batch_entries=size // 2 + 1).advance()
            ledger.entries = entries
            await Projector(database, ledger, batch_entries=7).advance()
            await agree(database, ledger)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))


@on_every
async def test_many_projectors_over_one_store_count_every_entry_once(tmp_path: Path, kind: str) -> None:
    entries = synthetic(400, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        first = second = folded.store
        ledger = ListLedger(entries)
        projectors = [
            Projector(each, ledger, batch_entries=size) for each, size in ((first, 7), (first, 5), (second, 3))
        ]
        await asyncio.gather(*(projector.advance() for projector in projectors))
        await agree(first, ledger)


@on_every
async def test_a_batch_that_is_delivered_again_is_refused_by_its_checkpoint(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        ledger = ListLedger([house(A, True)])
        projector = Projector(database, ledger)
        before = await database.begin("records", 1, "live")
        await projector.advance()
        after, rows = await contents(database, "records")
        with pytest.raises(Moved):
            await database.advance(before, after, list(rows.items()))
        await agree(database, ledger)


async def test_a_crash_between_rows_and_checkpoint_leaves_neither(tmp_path: Path) -> None:
    class Crash(Exception):
        pass

    async with opened(tmp_path) as database:
        ledger = ListLedger(synthetic(50, PEOPLE))
        await Projector(database, ledger).advance()
        before = await contents(database, "records")

        live = (await database.standing(["records"]))["records"]

        def job(connection: Any) -> None:
            generations.advance(connection, live, Checkpoint(51, bytes(32), bytes(32)), [(b"key", b"row")], b"")
            raise Crash

        with pytest.raises(Crash):
            await database.database.write(job)
        assert await contents(database, "records") == before


@on_every
async def test_projections_at_different_positions_meet(tmp_path: Path, kind: str) -> None:
    entries = synthetic(100, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        await Projector(database, ListLedger(entries[:37]), [RECORDS]).advance()
        ledger = ListLedger(entries)
        await Projector(database, ledger, batch_entries=20).advance()
        await agree(database, ledger)


@on_every
async def test_a_ledger_that_is_shorter_or_another_stops_everything(tmp_path: Path, kind: str) -> None:
    entries = synthetic(60, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        projector = Projector(database, ListLedger(entries))
        await projector.advance()
        for wrong in (entries[:30], [*entries[:59], house(B, True)]):
            longer = [*wrong, *synthetic(40, PEOPLE, 9)] if len(wrong) == 60 else wrong
            with pytest.raises(Diverged):
                await Projector(database, ListLedger(longer)).advance()
        await agree(database, ListLedger(entries))


async def test_a_ledger_with_a_gap_stops_everything(tmp_path: Path) -> None:
    class Gap(ListLedger):
        async def read(self, after_index: int, limit: int) -> Sequence[tuple[int, bytes, LedgerEntry]]:
            return [item for item in await super().read(after_index, limit) if item[0] != 20]

    async with opened(tmp_path) as database:
        with pytest.raises(Diverged, match="21 came where 20 belongs"):
            await Projector(database, Gap(synthetic(60, PEOPLE)), batch_entries=9).advance()


async def test_who_wakes_behind_others_that_folded_on_hears_of_it_and_is_in_no_trouble(tmp_path: Path) -> None:
    entries = synthetic(60, PEOPLE)
    async with opened(tmp_path) as database:
        await Projector(database, ListLedger(entries)).advance()
        ledger = ListLedger(entries[:30])
        late = Projector(database, ledger)
        task = asyncio.create_task(late.run())
        for _ in range(20):  # Whatever else it is woken by.
            late.wake()
            await asyncio.sleep(0.01)
            assert late.trouble is None
        ledger.entries = [*entries, house(A, True)]
        late.wake()
        assert await late.reached(60, wait_seconds_max)
        assert late.trouble is None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_the_loop_says_why_it_stands_still_and_goes_on_when_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.projector.RETRY_SECONDS", 0.2)
    entries = synthetic(60, PEOPLE)
    async with opened(tmp_path) as database:
        ledger = ListLedger(entries)
        projector = Projector(database, ledger)
        task = asyncio.create_task(projector.run())

        async def until(trouble: bool, as_of: int) -> None:
            while True:
                generation = projector.generation("records")
                if (projector.trouble is not None) == trouble and generation and generation.checkpoint.as_of == as_of:
                    return
                projector.wake()
                await asyncio.sleep(0.001)

        await until(False, 60)
        ledger.entries = entries[:10]
        await until(True, 60)
        ledger.entries = [*entries, house(A, True)]
        await until(False, 61)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await agree(database, ledger)


async def test_a_wake_at_the_moment_of_its_end_does_not_keep_the_loop_going(tmp_path: Path) -> None:
    async with opened(tmp_path) as database:
        projector = Projector(database, ListLedger())
        for _ in range(10):
            task = asyncio.create_task(projector.run())
            await asyncio.sleep(0.02)  # It waits for news by now, most times.
            projector.wake()
            task.cancel()
            ended, _ = await asyncio.wait([task], timeout=wait_seconds_max)
            assert ended


@on_every
async def test_rows_are_read_with_their_position(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        projector = Projector(
            database, ListLedger([house(A, True), house(A, False, "states-strategic"), house(B, True)])
        )
        with pytest.raises(NotReady):
            await projector.read("records", A)
        await projector.advance()
        read = await projector.read("records", A)
        assert read.as_of == 3
        assert [(records.parts(key), row.games, row.wins) for key, row in read.rows] == [
            ((A, "states-relaxed"), 1, 1),
            ((A, "states-strategic"), 1, 0),
        ]
        (last,) = (await projector.read("records", A, read.rows[0][0])).rows
        assert last == read.rows[1]
        assert len((await projector.read("records", A, limit=1)).rows) == 1
        assert (await projector.read("records", b"\xff" * 16)).rows == []


@on_every
async def test_rows_of_other_rules_are_not_read_and_not_folded_on(tmp_path: Path, kind: str) -> None:
    later = replace(RECORDS, version=2)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        await Projector(database, ListLedger([house(A, True)]), [RECORDS]).advance()
        before = await contents(database, "records")
        projector = Projector(database, ListLedger([house(A, True)] * 2), [later])
        await projector.advance()
        assert projector.outdated == {"records"}
        assert await contents(database, "records") == before
        with pytest.raises(NotReady):
            await projector.read("records", A)


async def test_a_board_loaded_under_traffic_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.boards.PAGE_ROWS", 3)
    entries = synthetic(600, 40, seed=2)
    which = [board for board in all_boards(entries) if board.window == "all"]
    async with opened(tmp_path) as database:
        ledger = ListLedger(entries[:200])
        projector = Projector(database, ledger, batch_entries=5)
        await projector.advance()
        boards = Boards(database, projector)
        ledger.entries = entries
        folding = asyncio.create_task(projector.advance())
        await asyncio.gather(*(boards.standings(board) for board in (*which, *which)))
        await folding
        await boards_agree(boards, entries, which)


async def test_a_board_that_missed_a_batch_is_loaded_again(tmp_path: Path) -> None:
    entries = synthetic(90, PEOPLE)
    which = all_boards(entries)[:6]
    async with opened(tmp_path) as database:
        ledger = ListLedger(entries[:50])
        projector = Projector(database, ledger)
        boards = Boards(database, projector)
        await projector.advance()
        await boards_agree(boards, ledger.entries, which)
        ledger.entries = entries[:70]
        await Projector(database, ledger).advance()  # another process, which tells this one nothing
        await projector.advance()
        await boards_agree(boards, ledger.entries, which)
        ledger.entries = entries
        await projector.advance()
        await boards_agree(boards, ledger.entries, which)


async def test_boards_in_memory_are_bounded(tmp_path: Path) -> None:
    entries = synthetic(200, 20)
    async with opened(tmp_path) as database:
        projector = Projector(database, ListLedger(entries))
        await projector.advance()
        boards = Boards(database, projector, rows_max=25)
        for board in all_boards(entries):
            size = len(await boards.standings(board))
            assert boards.rows <= max(25, size)
        few = Boards(database, projector, boards_max=2)
        for board in all_boards(entries)[:5]:
            await few.standings(board)
        assert len(few._standings) == 2


@on_every
async def test_a_board_nobody_is_on_is_empty(tmp_path: Path, kind: str) -> None:
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        projector = Projector(database, ListLedger([house(A, True)]))
        await projector.advance()
        ranks, empty = folded.ranks(projector), Board("states-relaxed", "wins", "2031-W01")
        for found in (await ranks.page(empty, 0, 10), await ranks.around(empty, A, 3), await ranks.of(empty, [A])):
            assert (found.places, found.size, found.as_of) == ((), 0, 1)


@on_every
async def test_a_row_cites_the_entry_that_gave_its_value(tmp_path: Path, kind: str) -> None:
    entries = synthetic(300, PEOPLE)
    async with FOLDED[kind](tmp_path) as folded:
        database = folded.store
        projector = Projector(database, ListLedger(entries))
        await projector.advance()
        boards = folded.ranks(projector)
        for board in all_boards(entries):
            for place in (await boards.page(board, 0, 100)).places:
                cited = entries[place.entry]
                assert isinstance(cited, Closing)
                assert place.player in cited.players
                assert cited.ladder == board.ladder
                assert board.window in windows(cited.at_ms)
                assert leaderboard.value_of(leaderboard.score(place.value, place.entry)) == place.value
