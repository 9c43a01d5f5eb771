"""The `Projected` contract: every store of what is folded passes it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from projections.leaderboard import BARS, LEADERBOARD, Board, Row
from projections.projection import stored
from server.projected import Checkpoint, Differs, Generation, Moved, Page, Projected, Standing
from server.projector import Projector
from tests.entries import A, B, C, ListLedger, house
from tests.folded import FOLDED, Folded, on_every

pytestmark = [pytest.mark.anyio, on_every]


@pytest.fixture
async def folded(kind: str, tmp_path: Path) -> AsyncIterator[Folded]:
    async with FOLDED[kind](tmp_path) as opened:
        yield opened


def at(as_of: int, digest: int = 0, leaf: int = 0) -> Checkpoint:
    return Checkpoint(as_of, bytes([leaf or as_of]) * 32, bytes([digest]) * 32)


async def begun(store: Projected, *keys: bytes, name: str = "records", state: str = "live") -> Generation:
    generation = await store.begin(name, 1, state)
    return await store.advance(generation, at(1), [(key, b"row of " + key) for key in keys])


async def test_a_generation_that_is_begun_is_there_until_another_takes_over(folded: Folded) -> None:
    store = folded.store
    assert await store.standing(["records", "rivals"]) == {}
    first = await store.begin("records", 1, "live")
    assert first.checkpoint == Checkpoint()
    assert await store.begin("records", 1, "live") == first
    assert await store.begin("records", 2, "live") == first, "other rules replace nothing that is live"
    assert await store.standing(["records", "rivals"]) == {"records": first}
    building = await store.begin("records", 1, "building")
    assert building.id != first.id
    assert await store.begin("records", 1, "building") == building
    other = await store.begin("records", 2, "building")
    assert other.id not in (first.id, building.id)
    assert await store.standing(["records"], "building") == {"records": other}


async def test_rows_and_checkpoint_are_written_only_where_the_expected_one_stands(folded: Folded) -> None:
    store = folded.store
    before = await begun(store, b"a")
    after = await store.advance(before, at(2), [(b"a", b"2"), (b"b", b"2")])
    assert await store.standing(["records"]) == {"records": after}
    forked = Generation(after.id, after.name, after.version, after.state, at(2, digest=9))
    dropped = Generation(after.id + 1, after.name, after.version, after.state, after.checkpoint)
    built = Generation(after.id, after.name, after.version, "building", after.checkpoint)
    for stale in (before, forked, dropped, built):
        with pytest.raises(Moved):
            await store.advance(stale, at(3), [(b"a", b"3"), (b"c", b"3")])
    assert await store.page(after, b"", b"", 10) == [(b"a", b"2"), (b"b", b"2")]
    assert await store.standing(["records"]) == {"records": after}


async def test_pages_rise_and_keep_to_their_prefix(folded: Folded) -> None:
    store = folded.store
    keys = [b"", b"a", b"a\0", b"a/1", b"a/2", b"a\xff", b"b", b"\xfe\xff", b"\xff", b"\xff\xff", b"\xff\xff\0"]
    generation = await begun(store, *keys)
    await begun(store, b"a/3", name="rivals")

    async def page(prefix: bytes, after: bytes = b"", limit: int = 100) -> list[bytes]:
        found = await store.page(generation, prefix, after, limit)
        assert all(row == b"row of " + key for key, row in found)
        return [key for key, _ in found]

    for prefix in (b"", b"a", b"a/", b"\xff", b"\xfe\xff", b"c", b"\xff\xff"):
        expected = [key for key in sorted(keys) if key.startswith(prefix) and key > b""]
        assert await page(prefix) == expected
        for place, key in enumerate(expected):
            assert await page(prefix, key) == expected[place + 1 :]
            assert await page(prefix, key, 2) == expected[place + 1 : place + 3]
    assert await page(b"a/", b"a/1x") == [b"a/2"]
    assert await page(b"", limit=0) == []
    assert await store.rows("records", generation.id, [b"a", b"a/3", b"b"]) == {b"a": b"row of a", b"b": b"row of b"}


async def test_more_rows_than_are_read_at_once_are_all_there(folded: Folded) -> None:
    keys = [b"%05d" % number for number in range(2_500)]
    generation = await begun(folded.store, *keys)
    found = await folded.store.page(generation, b"", b"", 10_000)
    assert [key for key, _ in found] == keys
    assert (await folded.store.rows("records", generation.id, keys)).keys() == set(keys)
    assert [key for key, _ in await folded.store.page(generation, b"0", b"00499", 1_500)] == keys[500:2_000]


async def test_a_rebuild_takes_over_only_at_an_equal_position_with_equal_rows(folded: Folded) -> None:
    store = folded.store
    live = await begun(store, b"a")
    built = await begun(store, b"b", state="building")
    assert await store.take_over(await _on(store, built, at(2)), force=False) is None
    live = await _on(store, live, at(2, digest=1))
    built = (await store.standing(["records"], "building"))["records"]
    with pytest.raises(Differs, match=rf"other rows: {b'a'.hex()}, {b'b'.hex()}"):
        await store.take_over(built, force=False)
    built = await _on(store, built, at(2, digest=1))
    with pytest.raises(Moved):
        await store.take_over(Generation(built.id, "records", 1, "building", at(2)), force=True)
    taken = await store.take_over(built, force=False)
    assert taken is not None
    assert taken.before is not None
    assert (taken.generation.id, taken.before.id) == (built.id, live.id)
    assert (await store.standing(["records"]))["records"] == taken.generation
    assert (await store.standing(["records"], "kept"))["records"] == taken.before
    assert await store.standing(["records"], "building") == {}


async def _on(store: Projected, generation: Generation, after: Checkpoint) -> Generation:
    return await store.advance(generation, after, [])


async def test_another_ledger_at_an_equal_position_differs(folded: Folded) -> None:
    store = folded.store
    await _on(store, await begun(store, b"a"), at(2))
    built = await _on(store, await begun(store, b"a", state="building"), at(2, leaf=9))
    with pytest.raises(Differs, match="another ledger"):
        await store.take_over(built, force=False)
    assert await store.take_over(built, force=True) is not None


async def test_the_way_back_exchanges_the_two(folded: Folded) -> None:
    store = folded.store
    first = await begun(store, b"a")
    assert await store.roll_back("records") is None
    await store.take_over(await begun(store, b"a", state="building"), force=False)
    second = (await store.standing(["records"]))["records"]
    back = await store.roll_back("records")
    assert back == first
    assert (await store.standing(["records"], "kept"))["records"].id == second.id
    assert await store.page(back, b"", b"", 9) == [(b"a", b"row of a")]


async def test_what_was_dropped_is_swept_and_nothing_else(folded: Folded) -> None:
    store = folded.store
    live = await begun(store, b"a")
    built = await begun(store, b"b", state="building")
    await store.drop_building("records")
    await store.drop_building("records")
    with pytest.raises(Moved):
        await store.advance(built, at(2), [])
    await store.sweep(["records", "rivals"])
    assert await store.page(built, b"", b"", 9) == []
    assert await store.page(live, b"", b"", 9) == [(b"a", b"row of a")]
    again = await begun(store, b"c", state="building")
    assert await store.page(again, b"", b"", 9) == [(b"c", b"row of c")]


async def test_what_a_rebuild_holds_comes_back_with_its_position_and_goes_with_its_generation(folded: Folded) -> None:
    store = folded.store
    first = await store.begin("records", 1, "building")
    assert await store.held(first) == b""
    built = await store.advance(first, at(1), [(b"a", b"1")], b"some rows")
    with pytest.raises(Moved):
        await store.advance(first, at(2), [], b"others")
    assert await store.held(built) == b"some rows"
    with pytest.raises(AssertionError):
        await store.take_over(built, force=True)
    live = await begun(store, b"a")
    await store.advance(live, at(2), [(b"a", b"2")])
    assert await store.held(built) == b"some rows"
    built = await store.advance(built, at(2), [], b"other rows")
    assert await store.held(built) == b"other rows"
    await store.drop_building("records")
    await store.sweep(["records"])
    assert await store.held(built) == b""
    built = await store.advance(await store.begin("records", 1, "building"), at(1), [], b"some rows")
    built = await store.advance(built, at(2), [(b"a", b"2")])
    assert await store.held(built) == b""
    assert await store.take_over(built, force=True) is not None


async def test_a_view_is_of_one_position_however_much_moves_meanwhile(folded: Folded, kind: str) -> None:
    store = folded.store
    live = await begun(store, b"a")
    calls = 0

    async def job(standing: Standing, page: Page) -> tuple[int, list[tuple[bytes, bytes]]]:
        nonlocal calls, live
        calls += 1
        found = await page(standing["records"], b"", b"", 9)
        if kind != "sqlite" and calls < 3:  # the file's reader holds what it saw; Redis is asked again
            live = await store.advance(live, at(calls + 1), [(b"a", b"%d" % calls)])
        return standing["records"].checkpoint.as_of, found + await page(standing["records"], b"", b"", 9)

    as_of, rows = await store.view(["records"], job)
    assert rows[0] == rows[1]
    assert as_of == live.checkpoint.as_of
    assert calls == (1 if kind == "sqlite" else 3)


async def test_a_bar_takes_a_player_off_every_board_of_a_generation_and_its_lifting_brings_all_back(
    folded: Folded,
) -> None:
    store, ledger = folded.store, ListLedger([house(A, True), house(A, True), house(B, True), house(C, True)])
    projector = Projector(store, ledger)
    await projector.advance()
    ranks, board = folded.ranks(projector), Board("states-relaxed", "wins", "all")
    day = board._replace(window="2026-11-30")

    async def bar(times: int, lifted: int, *others: tuple[bytes, Row]) -> None:
        live = (await store.standing([LEADERBOARD.name]))[LEADERBOARD.name]
        row = LEADERBOARD.start._replace(games=times, wins=lifted)
        rows = [(BARS + A, stored(row)), *((key, stored(row)) for key, row in others)]
        after = Checkpoint(live.checkpoint.as_of + 1, bytes(32), bytes(32))
        await store.advance(live, after, sorted(rows))

    async def stand(which: Board) -> list[tuple[bytes, int]]:
        if hasattr(ranks, "_reset"):
            ranks._reset(LEADERBOARD.name)  # it is told of batches by a projector alone
        return [(place.player, place.value) for place in (await ranks.page(which, 0, 9)).places]

    assert await stand(board) == await stand(day) == [(A, 2), (B, 1), (C, 1)]
    await bar(1, 0)
    assert await stand(board) == await stand(day) == [(B, 1), (C, 1)]
    # Rows of who is barred are kept, and stand nowhere; a window that has only them has a board that is empty.
    later = board._replace(window="2026-12-01")
    row = LEADERBOARD.start._replace(games=5, wins=5, wins_index=9)
    await bar(1, 0, (board.prefix + A, row), (later.prefix + A, row))
    assert await stand(board) == [(B, 1), (C, 1)]
    assert await stand(later) == []
    await bar(1, 1)
    assert await stand(board) == [(A, 5), (B, 1), (C, 1)]
    assert await stand(day) == [(A, 2), (B, 1), (C, 1)]
    assert await stand(later) == [(A, 5)]
