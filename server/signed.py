"""The ledger as projections read it: its signed prefix, decoded, and nothing behind it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from events import entries
from events.ledger import Ledger
from events.merkle import leaf_hash
from events.notes import BadCheckpoint, BadNote, VerifierKey
from server.archive import read_file
from server.folding import Diverged, Item
from server.signer import Publisher, read_note


class SignedPrefix:
    """A `folding.Reader` of as many leaves as `size` says are signed, each time it is asked."""

    def __init__(self, ledger: Ledger, size: Callable[[], int]) -> None:
        self._ledger = ledger
        self._size = size

    async def read(self, after_index: int, limit: int) -> Sequence[Item]:
        """Raises Diverged where the store has fewer leaves than are signed."""
        first = after_index + 1
        size = self._size()
        count = min(limit, size - first)
        if count <= 0:
            return ()
        bodies = await self._ledger.leaves(first, count)
        if len(bodies) < count:
            raise Diverged(f"{size} leaves are signed, the store's ledger ends at {first + len(bodies)}")
        # A batch of a rebuild takes a fifth of a second: not on the event loop.
        return await asyncio.to_thread(_items, first, bodies)


def _items(first: int, bodies: Sequence[bytes]) -> Sequence[Item]:
    return [(index, leaf_hash(body), entries.decode(body)) for index, body in enumerate(bodies, first)]


def size_of(publisher: Publisher) -> Callable[[], int]:
    """In the process that signs."""
    return lambda: publisher.signed.size if publisher.signed is not None else 0


def noted_size(folder: Path, key: VerifierKey) -> Callable[[], int]:
    """Beside the process that signs: by the note it keeps with its key, which moves on meanwhile.

    What it returns raises Diverged if the note isn't the key's."""

    def size() -> int:
        note = read_file(folder / "ledger.note")
        try:
            return 0 if note is None else read_note(note, key).size
        except (BadNote, BadCheckpoint) as error:
            raise Diverged(f"the note beside the key isn't signed by {key}: {error}") from error

    return size
