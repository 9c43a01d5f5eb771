"""What projections read: signed leaves alone, with their hashes, wherever the size is told from."""

from pathlib import Path

import pytest

from events import entries, merkle
from events.entries import Closing, Opening
from server.folding import Diverged
from server.signed import SignedPrefix, noted_size, size_of
from tests.ledgers import HAND, played, publishing, store
from tests.tlog import flipped

pytestmark = pytest.mark.anyio


async def test_only_what_is_signed_is_read(tmp_path: Path) -> None:
    async with publishing(tmp_path) as at:
        publisher = at.publisher()
        readers = [
            SignedPrefix(at.ledger, size_of(publisher)),
            SignedPrefix(at.ledger, noted_size(at.keys, HAND.key)),
        ]
        for number in (0, 1):
            await store(at.log, played(number))
            await at.copy()
            for reader in readers:
                assert len(await reader.read(-1, 100)) == 2 * number, "copied, not signed"
            await publisher.sign()
        bodies = await at.ledger.leaves(0, 100)
        for reader in readers:
            items = await reader.read(-1, 100)
            assert [index for index, _, _ in items] == [0, 1, 2, 3]
            assert [hash_ for _, hash_, _ in items] == list(map(merkle.leaf_hash, bodies))
            assert [entry for _, _, entry in items] == [entries.decode(body) for body in bodies]
            assert [type(entry) for _, _, entry in items] == [Opening, Closing] * 2
            assert await reader.read(0, 2) == items[1:3]
            assert await reader.read(3, 100) == await reader.read(10, 1) == await reader.read(0, 0) == ()
        await publisher.close()


async def test_a_store_with_less_than_is_signed_is_no_ledger_to_fold(tmp_path: Path) -> None:
    async with publishing(tmp_path) as at:
        await store(at.log, played(0))
        await at.sign()
        reader = SignedPrefix(at.ledger, noted_size(at.keys, HAND.key))
        assert len(await reader.read(-1, 100)) == 2
        await at.ledger.restart()
        with pytest.raises(Diverged, match="2 leaves are signed, the store's ledger ends at 0"):
            await reader.read(-1, 100)


async def test_a_note_that_was_changed_says_nothing(tmp_path: Path) -> None:
    async with publishing(tmp_path) as at:
        await store(at.log, played(0))
        await at.sign()
        note = at.keys / "ledger.note"
        note.write_bytes(flipped(note.read_bytes(), 40))
        with pytest.raises(Diverged, match="isn't signed by"):
            await SignedPrefix(at.ledger, noted_size(at.keys, HAND.key)).read(-1, 100)
