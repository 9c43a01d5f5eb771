"""What is signed is in the archive first, never contradicts what was signed before, and comes back from there."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from events import entries, ledger, merkle, notes, tiles
from events.ledger import Copy
from events.merkle import EMPTY, leaf_hash
from events.tiles import Bundle, Tile
from projections.audit import audit_file
from server.archive import CHECKPOINT, KEY, Archive, DirectoryArchive, archive, game_path
from server.keys import BadKeys, ledger_key
from server.pen import Refuses
from server.refill import Unrefillable, last_signed, refill
from server.signer import is_signed, read_note, signer
from tests import leaves
from tests.ledgers import HAND, Published, closing_of, opening_of, played, publishing, store
from tests.running import eventually
from tests.tlog import Naive, flipped

pytestmark = pytest.mark.anyio


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        yield published


async def fill(published: Published, count: int) -> None:
    """Leaves of games that only open."""
    size = (await published.ledger.head()).size
    for number in range(size, size + count):
        await leaves.tell(published.log, leaves.opening(leaves.game(number, number % 256)))


async def whole_tree(place: Archive, size: int) -> list[bytes]:
    """The entries under a checkpoint, read as a stranger reads them."""
    note = await place.get(CHECKPOINT)
    assert note is not None
    signed = read_note(note, HAND.key)
    assert signed.size == size
    bodies: list[bytes] = []
    for bundle in tiles.bundles_made(0, size):
        data = await place.get(bundle.path)
        assert data is not None
        bodies += tiles.entries(data, bundle.width)
    needed = {tile: await place.get(tile.path) for tile in tiles.made(0, size)}

    def read(tile: Tile) -> bytes:
        data = needed[tile]
        assert data is not None
        return data

    proven = tiles.ProvenTiles(size, signed.checkpoint.root, read)
    assert [proven.hash_of(0, index) for index in range(size)] == [leaf_hash(body) for body in bodies]
    return bodies


@pytest.mark.parametrize("steps", [(1, 1, 1), (255, 1, 1), (256, 256), (300, 300), (513,)])
async def test_after_every_signature_the_archive_gives_the_whole_signed_tree(
    published: Published, steps: tuple[int, ...]
) -> None:
    size = 0
    for count in steps:
        await fill(published, count)
        size += count
        publisher = await published.sign()
        assert publisher.signed is not None
        bodies = await whole_tree(published.archive, size)
        assert publisher.signed.checkpoint.root == Naive(bodies).tree(0, size)
        assert bodies == await published.ledger.leaves(0, size)
    assert await published.archive.get(KEY) == f"{HAND.key}\n".encode()


async def test_partial_tiles_go_once_their_full_ones_are_signed(published: Published) -> None:
    for count in (100, 100, 100):
        await fill(published, count)
        await published.sign()
    paths = [Tile(0, 0, 100).path, Tile(0, 0, 200).path, Bundle(0, 100).path, Bundle(0, 200).path]
    assert [await published.archive.get(path) for path in paths] == [None] * 4
    assert all([await published.archive.get(each.path) for each in (Tile(0, 0), Tile(0, 1, 44), Bundle(1, 44))])


async def test_a_closed_game_is_in_the_archive_before_its_leaf_is_signed(published: Published) -> None:
    class Watched(DirectoryArchive):
        async def put(self, files: Mapping[str, bytes], over: bool = False) -> None:
            if CHECKPOINT in files:
                assert await self.get(game_path(played(1).game)) is not None
                assert await self.get(Bundle(0, 2).path) is not None
                assert await self.get(Tile(0, 0, 2).path) is not None
                self.seen = True
            await super().put(files, over)

    place = Watched(published.folder / "watched")
    await store(published.log, played(1))
    await published.copy()
    await published.publisher(place).sign()
    assert place.seen
    data = await place.get(game_path(played(1).game))
    assert data is not None
    assert audit_file(data).passed


async def test_a_game_whose_log_does_not_end_as_its_leaf_says_is_not_signed(published: Published) -> None:
    game = played(1)
    await store(published.log, game, whole=False)
    await published.copy()
    body = entries.encode(closing_of(game))
    await published.ledger.append(await published.ledger.head(), Copy((ledger.leaf(body),)))
    with pytest.raises(Refuses, match=game.game.hex()):
        await published.publisher().sign()
    assert await published.archive.get(CHECKPOINT) is None


async def another_history(published: Published, count: int) -> None:
    """The same ledger, begun anew with other leaves."""
    await published.ledger.restart()
    found = [ledger.leaf(entries.encode(leaves.opening(leaves.game(10_000 + number)))) for number in range(count)]
    await published.ledger.append(EMPTY, Copy(tuple(found)))


@pytest.mark.parametrize("count", [0, 3, 5, 9])
@pytest.mark.parametrize("lost", ["note", "archive", "neither"])
async def test_nothing_is_signed_that_contradicts_a_note_wherever_it_is_kept(
    published: Published, count: int, lost: str
) -> None:
    await fill(published, 5)
    await published.sign()
    await another_history(published, count)
    if lost == "note":
        (published.keys / "ledger.note").unlink()
    place = archive(published.folder / "elsewhere") if lost == "archive" else published.archive
    publisher = published.publisher(place)
    for _ in range(3):
        with pytest.raises(Refuses, match="statecraft refill"):
            await publisher.sign()
    assert await place.get(CHECKPOINT) == (None if lost == "archive" else await published.archive.get(CHECKPOINT))


async def test_a_ledger_that_changes_under_a_running_signer_is_not_signed(published: Published) -> None:
    await fill(published, 5)
    await published.copy()
    publisher = published.publisher()
    await publisher.sign()
    note = await published.archive.get(CHECKPOINT)
    await another_history(published, 9)
    with pytest.raises(Refuses, match="statecraft refill"):
        await publisher.sign()
    assert await published.archive.get(CHECKPOINT) == note


async def test_a_note_under_another_key_stops_the_signer(published: Published) -> None:
    await fill(published, 5)
    await published.sign()
    other = signer(flipped(b"the ledger's key, of 32 bytes ok"))
    assert other.key.name != HAND.key.name
    with pytest.raises(Refuses, match=r"ledger\.key"):
        await published.publisher(hand=other).sign()


async def test_one_process_signs(published: Published) -> None:
    await fill(published, 1)
    await published.copy()
    first, second = published.publisher(), published.publisher()
    await first.sign()
    with pytest.raises(Refuses, match="another process"):
        await second.sign()
    await first.close()
    await fill(published, 1)
    await published.copy()
    await second.sign()
    assert second.signed is not None
    assert second.signed.size == 2


async def test_who_does_not_sign_shows_what_another_signed_and_takes_over_when_it_ends(published: Published) -> None:
    await fill(published, 1)
    await published.copy()
    first, second = published.publisher(), published.publisher()
    heard: list[int] = []
    second.listen(lambda: heard.append(1))
    await first.sign()
    following = asyncio.create_task(second.run())
    await eventually(lambda: second.signed)
    assert (second.signed, second.refusal, second.begun.is_set(), heard) == (first.signed, None, True, [1])
    await fill(published, 1)
    await published.copy()
    await first.sign()
    await eventually(lambda: second.signed == first.signed)
    await first.close()
    await fill(published, 1)
    await published.copy()
    await eventually(lambda: second.signed is not None and second.signed.size == 3)
    following.cancel()
    await asyncio.wait([following])


class Killed(Exception):
    pass


class Mortal(DirectoryArchive):
    """After so many files it is as if the process had been killed."""

    def __init__(self, folder: Path, files: int) -> None:
        super().__init__(folder)
        self.left = files

    async def put(self, files: Mapping[str, bytes], over: bool = False) -> None:
        for path, data in files.items():
            if self.left == 0:
                raise Killed
            self.left -= 1
            await super().put({path: data}, over)


async def test_killed_after_any_file_the_next_one_signs_on(published: Published) -> None:
    """And what is signed in the end is one history, whatever the ledger's unsigned leaves were in between."""
    folder = published.folder / "archive"
    for number in range(3):
        await store(published.log, played(number))
    await published.sign()
    for number in range(3, 6):
        await store(published.log, played(number))
    await published.copy()
    backup = published.folder / "backup"
    shutil.copytree(folder, backup)
    note = (published.keys / "ledger.note").read_bytes()
    for files in range(30):
        shutil.rmtree(folder)
        shutil.copytree(backup, folder)
        (published.keys / "ledger.note").write_bytes(note)
        publisher = published.publisher(Mortal(folder, files))
        try:
            await publisher.sign()
            whole = True
        except Killed:
            whole = False
        await publisher.close()
        # The unsigned leaves get another order, as after a loss.
        kept = await last_signed(published.archive, HAND.key, published.keys)
        if kept.size == 6:
            bodies = list(await published.ledger.leaves(0, 12))
            await published.ledger.restart()
            mixed = (*bodies[:6], *bodies[8:10], *bodies[6:8], *bodies[10:])
            await published.ledger.append(EMPTY, Copy(tuple(map(ledger.leaf, mixed))))
        await published.sign()
        assert await whole_tree(published.archive, 12) == await published.ledger.leaves(0, 12)
        if whole:
            return
    raise AssertionError("it never came through")


async def test_what_signing_waits_for_is_heard_of(published: Published) -> None:
    publisher = published.publisher()
    assert await publisher.covers(0, 0) is None
    waiting = asyncio.create_task(publisher.covers(1, 60))
    running = asyncio.create_task(publisher.run())
    await fill(published, 2)
    await published.copy()
    signed = await waiting
    assert signed is not None
    assert signed.size >= 2
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def test_what_belongs_to_a_signed_tree() -> None:
    for size in (1, 255, 256, 257, 600, 65_536, 65_537):
        made = set(tiles.made(0, size))
        for tile in made:
            assert is_signed(tile, size)
            if tile.width < 256:
                assert not is_signed(Tile(tile.level, tile.index, tile.width + 1), size)
            elif Tile(tile.level, tile.index + 1) not in made and not any(
                each.index == tile.index + 1 and each.level == tile.level for each in made
            ):
                assert not is_signed(Tile(tile.level, tile.index + 1, 1), size)
    assert is_signed(Bundle(0, 5), 5)
    assert not is_signed(Bundle(0, 6), 5)


# ---------------------------------------------------------------- refill


async def refilled(published: Published) -> tuple[int, int, int]:
    signed = await last_signed(published.archive, published.hand.key, published.keys)
    seen: list[int] = []
    done = await refill(published.log, published.ledger, published.archive, signed, seen.append)
    assert seen[-1] == signed.size
    return done.leaves, done.games, len(done.forked)


async def test_a_store_from_an_old_backup_is_refused_and_refill_mends_it(tmp_path: Path) -> None:
    data, backup = tmp_path / "data", tmp_path / "backup"
    async with publishing(data) as published:
        for number in range(4):
            await store(published.log, played(number))
        await store(published.log, played(9), whole=False)
        await published.sign()
    shutil.copytree(data, backup)
    async with publishing(data) as published:
        for number in range(4, 7):
            await store(published.log, played(number))
        game = played(9)
        await published.log.append(
            game.game, game.events[2].head, leaves.batch(game.events[3:], entries.encode(closing_of(game)))
        )
        final = (await published.sign()).signed
        entries_before = await published.ledger.leaves(0, 100)
    assert final is not None
    # The whole data directory comes from the backup, but for the archive.
    place = archive(data / "archive")
    async with publishing(backup, place) as restored:
        await store(restored.log, played(7))
        with pytest.raises(Refuses, match="statecraft refill"):
            await restored.sign()
        assert await place.get(CHECKPOINT) == final.note
        assert await refilled(restored) == (16, 4, 0)
        assert await restored.ledger.leaves(0, 100) == entries_before
        for number in (4, 5, 6, 9):
            assert await restored.log.read(played(number).game) == played(number).events
        signed = (await restored.sign()).signed
        assert signed is not None
        assert signed.size == 18
        assert (await whole_tree(place, 18))[:16] == entries_before
        nodes = [(level, index) for level in range(5) for index in range(18 >> level)]
        proof = merkle.consistency(16, 18, await ledger.read(restored.ledger, nodes))
        merkle.check_consistency(16, 18, final.checkpoint.root, signed.checkpoint.root, proof)


async def test_an_empty_store_is_refilled_whole(tmp_path: Path) -> None:
    async with publishing(tmp_path / "data") as published:
        for number in range(5):
            await store(published.log, played(number))
        await published.sign()
        keys = published.keys
    place = archive(tmp_path / "data" / "archive")
    async with publishing(tmp_path / "new", place) as new:
        shutil.copytree(keys, new.keys)
        assert await refilled(new) == (10, 5, 0)
        assert await refilled(new) == (10, 0, 0)
        assert not await new.publisher().sign()
        assert await whole_tree(place, 10) == await new.ledger.leaves(0, 10)


@pytest.mark.parametrize("what", ["bundle", "note"])
async def test_an_archive_that_was_changed_refills_nothing(published: Published, what: str) -> None:
    for number in range(3):
        await store(published.log, played(number))
    await published.sign()
    path = {"bundle": Bundle(0, 6).path, "note": CHECKPOINT}[what]
    data = await published.archive.get(path)
    assert data is not None
    at = data.index(played(1).events[-1].hash) if what == "bundle" else 60
    await published.archive.put({path: flipped(data, at)}, over=True)
    before = await published.ledger.head()
    with pytest.raises(Unrefillable):
        await refilled(published)
    assert await published.ledger.head() == before


async def test_a_game_that_went_another_way_is_named_and_left(tmp_path: Path) -> None:
    async with publishing(tmp_path / "data") as published:
        await store(published.log, played(1))
        await published.sign()
        keys = published.keys
    place = archive(tmp_path / "data" / "archive")
    async with publishing(tmp_path / "new", place) as new:
        shutil.copytree(keys, new.keys)
        await leaves.tell(new.log, opening_of(played(1)))
        head = await new.log.head(played(1).game)
        assert await refilled(new) == (2, 0, 1)
        assert await new.log.head(played(1).game) == head


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    key = ledger_key(tmp_path / "keys")
    assert ledger_key(tmp_path / "keys") == key
    path = tmp_path / "keys" / "ledger.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert notes.VerifierKey.parse(str(signer(key).key)) == signer(key).key
    path.write_bytes(key[:-1])
    with pytest.raises(BadKeys):
        ledger_key(tmp_path / "keys")
