"""Ten thousand games from public files alone: all of it passes, and of what is changed each thing is named."""

import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from events import chain, entries, tiles
from events.entries import LedgerEntry
from events.log import Batch
from events.merkle import leaf_hash
from events.tiles import WIDTH, Bundle
from projections.leaderboard import LEADERBOARD, Board
from projections.projection import fold
from projections.seen import Seen
from projections.standings import Snapshot, boards, standings
from projections.whole import Untrue, check
from server.archive import game_path
from server.fetch import fetcher
from tests.ledgers import HAND, Published, closing_of, opening_of, publishing
from tests.positions import NOW, Played, at_random
from tests.tlog import flipped

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

GAMES = 10_000
STOPS = 20
"""How often the check is broken off and goes on from what was saved."""


@pytest.fixture(scope="module")
async def published(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Published]:
    async with publishing(tmp_path_factory.mktemp("many") / "data") as published:
        for number in range(GAMES):
            game = Played(("relaxed", "strategic")[number % 2], number).begin().finish(at_random(number))
            told = (entries.encode(opening_of(game)), entries.encode(closing_of(game)))
            await published.log.append(game.game, chain.origin(game.game), Batch(tuple(game.events), told))
        await published.sign()
        yield published


def archive(published: Published) -> Path:
    return published.folder / "archive"


def audited(folder: Path, snapshots: Sequence[Snapshot] = (), stops: int = 0) -> Seen:
    seen, left = Seen(HAND.key), stops
    fetch = fetcher(str(folder))
    while True:
        for done, size in check(fetch, seen, NOW, snapshots if not left else ()):
            if left and done >= size * (stops - left + 1) // (stops + 1):
                break
        else:
            return seen
        left -= 1
        seen = Seen.load(seen.save())


async def told(published: Published) -> list[LedgerEntry]:
    bodies = await published.ledger.leaves(0, 2 * GAMES)
    return [entries.decode(body) for body in bodies]


async def snapshots(published: Published) -> list[Snapshot]:
    ledger = await told(published)
    rows = fold(LEADERBOARD, enumerate(ledger))
    last = leaf_hash(entries.encode(ledger[-1]))
    found = []
    for board in boards(rows, NOW):
        places = tuple(standings(rows, board))
        found.append(Snapshot(board, len(ledger), last, len(places), places))
    return found


async def test_ten_thousand_games_pass_in_pieces_with_every_board(published: Published) -> None:
    seen = audited(archive(published), await snapshots(published), STOPS)
    assert seen.faults == []
    assert (seen.frontier.size, len(seen.closed), seen.open) == (2 * GAMES, GAMES, {})
    assert seen.frontier == await published.ledger.head()


async def test_one_altered_row_one_flipped_byte_and_one_leaf_left_out_are_each_named(published: Published) -> None:
    copy = published.folder / "copy"
    shutil.copytree(archive(published), copy)
    shots = await snapshots(published)
    wins = next(at for at, shot in enumerate(shots) if shot.board == Board("states-strategic", "wins", "all"))
    (first, *rest) = shots[wins].places
    forged = Snapshot(
        shots[wins].board, shots[wins].as_of, shots[wins].leaf_hash, shots[wins].size, (first._replace(value=1), *rest)
    )
    game = (await told(published))[GAMES].game  # type: ignore[union-attr]
    file = copy / game_path(game)
    file.write_bytes(flipped(file.read_bytes(), 500))
    faults = audited(copy, [*shots[:wins], forged, *shots[wins + 1 :]]).faults
    assert len(faults) == 2
    assert any(game.hex() in fault for fault in faults)
    assert any(fault.startswith("board states-strategic/wins/all") for fault in faults)

    bundle = Bundle(GAMES // WIDTH)
    bodies = tiles.entries((copy / bundle.path).read_bytes(), WIDTH)
    (copy / bundle.path).write_bytes(tiles.bundle(bodies[:100] + bodies[101:]))
    with pytest.raises(Untrue, match="has 255 entries"):
        audited(copy)
