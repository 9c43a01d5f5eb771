"""Ten thousand games from public files alone: all of it passes, and of what is changed each thing is named."""

import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
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


def audited(folder: Path, snapshots: Sequence[Snapshot] = (), saved: bytes | None = None) -> Seen:
    seen = Seen.load(saved) if saved is not None else Seen(HAND.key)
    for _ in check(fetcher(str(folder)), seen, NOW, snapshots):
        pass
    return seen


def audited_in_pieces(folder: Path, stops: int) -> bytes:
    """What was saved at the last stop."""
    seen = Seen(HAND.key)
    for stop in range(1, stops + 1):
        for done, size in check(fetcher(str(folder)), seen, NOW):
            if done >= size * stop // (stops + 1):
                break
        seen = Seen.load(seen.save())
    return seen.save()


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


async def test_ten_thousand_games_pass_in_pieces_and_what_is_changed_is_named(published: Published) -> None:
    shots = await snapshots(published)
    saved = audited_in_pieces(archive(published), STOPS)
    seen = audited(archive(published), shots, saved)
    assert seen.faults == []
    assert (seen.frontier.size, len(seen.closed), seen.open) == (2 * GAMES, GAMES, {})
    assert seen.frontier == await published.ledger.head()

    wins = next(at for at, shot in enumerate(shots) if shot.board == Board("states-strategic", "wins", "all"))
    (first, *rest) = shots[wins].places
    forged = replace(shots[wins], places=(first._replace(value=1), *rest))
    (fault,) = audited(archive(published), [*shots[:wins], forged, *shots[wins + 1 :]], saved).faults
    assert fault.startswith("board states-strategic/wins/all")

    copy = published.folder / "copy"
    shutil.copytree(archive(published), copy)
    game = (await told(published))[-1].game  # type: ignore[union-attr]
    file = copy / game_path(game)
    file.write_bytes(flipped(file.read_bytes(), 500))
    (fault,) = audited(copy, shots, saved).faults
    assert game.hex() in fault

    bundle = Bundle(2 * GAMES // WIDTH - 1)
    bodies = tiles.entries((copy / bundle.path).read_bytes(), WIDTH)
    (copy / bundle.path).write_bytes(tiles.bundle(bodies[:100] + bodies[101:]))
    with pytest.raises(Untrue, match="has 255 entries"):
        audited(copy, shots, saved)
