"""Boards recomputed from the leaves, against what is published: the true ones pass, each altered row is named."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import entries
from events.entries import LedgerEntry
from events.merkle import leaf_hash
from projections.leaderboard import LEADERBOARD, Board, Row
from projections.projection import fold
from projections.seen import Seen
from projections.standings import Place, Snapshot, boards, standings, unlike
from projections.whole import check
from server.boards import Boards
from server.fetch import fetcher
from server.projector import Projector
from tests.entries import MONDAY_MS, A, B, ListLedger, acts, house, player, synthetic, versus
from tests.folded import opened
from tests.ledgers import HAND, Published, publishing
from tests.positions import NOW
from tests.running import serving, until
from tests.test_cli import run
from tests.test_public import play
from tests.test_whole import republish_with

pytestmark = pytest.mark.anyio

WINS = Board("states-relaxed", "wins", "all")


def folded(ledger: Iterable[tuple[int, LedgerEntry]]) -> dict[bytes, Row]:
    return fold(LEADERBOARD, ledger)


def snapshot(ledger: Sequence[LedgerEntry], board: Board) -> Snapshot:
    places = tuple(standings(folded(enumerate(ledger)), board))
    last = leaf_hash(entries.encode(ledger[-1])) if ledger else b""
    return Snapshot(board, len(ledger), last, len(places), places)


@given(st.integers(0, 2**32), st.integers(1, 150))
@settings(max_examples=20)
async def test_boards_drawn_the_plain_way_are_those_the_server_draws(seed: int, count: int) -> None:
    ledger = synthetic(count, 5, seed)
    rows = folded(enumerate(ledger))
    with tempfile.TemporaryDirectory() as folder:
        async with opened(Path(folder)) as database:
            projector = Projector(database, ListLedger(ledger))
            drawn = Boards(database, projector)
            await projector.advance()
            which = boards(rows, MONDAY_MS)
            for board in which[:: 1 + len(which) // 12]:
                found = (await drawn.standings(board)).top(1000).places
                assert [tuple(place) for place in found] == [tuple(place) for place in standings(rows, board)]


LEDGER = acts([house(player(n % 5), n % 3 != 0, at_ms=MONDAY_MS + n) for n in range(40)])


def test_a_true_board_is_like_the_ledger_at_its_position_and_at_no_other() -> None:
    shot = snapshot(LEDGER, WINS)
    assert len(shot.places) == 5
    assert unlike(folded(enumerate(LEDGER)), shot) is None
    assert unlike(folded(enumerate(LEDGER[:-5])), shot) is not None


def row(at: int, **changes: object) -> Callable[[Snapshot], Snapshot]:
    def change(shot: Snapshot) -> Snapshot:
        places = list(shot.places)
        places[at] = places[at]._replace(**changes)  # type: ignore[arg-type]
        return replace(shot, places=tuple(places))

    return change


def _without(shot: Snapshot, at: int) -> Snapshot:
    places = [place for place in shot.places if place.position != at]
    return replace(shot, places=tuple(each._replace(position=n) for n, each in enumerate(places)))


ALTERED: dict[str, tuple[Callable[[Snapshot], Snapshot], str]] = {
    "a value": (row(1, value=999), "position 1"),
    "a rank": (row(4, rank=1), "position 4"),
    "a position": (row(2, position=3), "position 2"),
    "another player": (row(3, player=player(77)), "position 3"),
    "another leaf": (row(0, entry=0), "position 0"),
    "the first left out": (lambda shot: _without(shot, 0), "position 0"),
    "the last left out": (lambda shot: _without(shot, 4), "doesn't stand there"),
    "one too many": (
        lambda shot: replace(shot, places=(*shot.places, Place(6, 5, player(77), 1, 3))),
        "not by the ledger",
    ),
    "the size": (lambda shot: replace(shot, size=6), "6 places"),
    "two changed about": (
        lambda shot: replace(shot, places=(shot.places[1], shot.places[0], *shot.places[2:])),
        "position 0",
    ),
}


@pytest.mark.parametrize("what", ALTERED)
def test_each_altered_row_is_named(what: str) -> None:
    change, why = ALTERED[what]
    found = unlike(folded(enumerate(LEDGER)), change(snapshot(LEDGER, WINS)))
    assert found is not None
    assert why in found


# ---------------------------------------------------------------- with a published ledger


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    """Leaves that no game stands behind: their files are missing, and the faults say so."""
    async with publishing(tmp_path / "data") as published:
        await published.archive.put({"games/none": b""})
        await republish_with(published, MANY, {})
        yield published


MANY = acts([versus(A, B, n % 2, at_ms=MONDAY_MS + n, game=n.to_bytes(16, "big")) for n in range(200)])


def faults(published: Published, snapshots: Sequence[Snapshot], seen: Seen | None = None) -> list[str]:
    seen = seen or Seen(HAND.key)
    for _ in check(fetcher(str(published.folder / "archive")), seen, NOW, snapshots):
        assert Seen.load(seen.save()) == seen
    return [fault for fault in seen.faults if fault.startswith("board")]


async def test_each_board_is_compared_at_the_position_it_names(published: Published) -> None:
    which = [Board("states-versus", measure, "all") for measure in ("wins", "best_streak", "rating", "win_rate")]
    shots = [snapshot(MANY[:size], board) for size in (0, 1, 99, 150, 200) for board in which]
    assert faults(published, shots) == []
    late = [replace(shot, as_of=shot.as_of - 1) for shot in shots if shot.as_of > 1]
    assert len(faults(published, late)) == len(late)
    for at, shot in enumerate(shots):
        if shot.places:
            (fault,) = faults(published, [*shots[:at], row(0, value=7)(shot), *shots[at + 1 :]])
            assert f"{'/'.join(shot.board)}, as of {shot.as_of} leaves: position 0" in fault


async def test_a_check_that_goes_on_compares_as_well(published: Published) -> None:
    seen = Seen(HAND.key)
    assert faults(published, [], seen) == []
    again = Seen.load(seen.save())
    assert faults(published, [snapshot(MANY, Board("states-versus", "rating", "all"))], again) == []
    assert faults(published, [row(0, value=7)(snapshot(MANY, Board("states-versus", "rating", "all")))], again) != []


async def test_a_board_of_another_history_or_of_the_future_is_named(published: Published) -> None:
    board = Board("states-versus", "wins", "all")
    (other,) = faults(published, [replace(snapshot(MANY[:100], board), leaf_hash=bytes(32))])
    assert "another leaf 99" in other
    (future,) = faults(published, [replace(snapshot(MANY, board), as_of=201)])
    assert "isn't what is signed" in future


async def test_the_command_recomputes_every_board_of_a_running_server(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        await play(server, 2)
        await play(server, 2, "strategic")
        with server.http() as http:
            until(lambda: http.get("/api/ledger").json()["signed"] == 8)
            until(lambda: http.get("/api/boards/states-relaxed/wins/all").json()["as_of"] == 8)
        done = run("audit", "--all", server.url, "--state", tmp_path / "seen.json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "boards are what the ledger gives; 0 couldn't be compared" in done.stdout
