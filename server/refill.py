"""Brings a store back to what was signed, from the archive: after a loss, a failover, or an older backup.

Leaves and marks are put anew; whatever the outboxes hold besides is copied again by the next sequencer. Games that the
archive has whole and the store has not get their last events back. Killed half-way it is simply run again: until the
ledger has reached the signed size nothing is signed. Imports and bars that weren't signed yet are then to be given
again.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from events import chain, entries, ledger, tiles
from events.entries import Barred, Closing, Imported, Lifted
from events.ledger import Copy, Leaf, Ledger, Mark
from events.log import PARTITIONS, Batch, Conflict, Log
from events.merkle import EMPTY, leaf_hash
from events.notes import BadCheckpoint, BadNote, VerifierKey
from events.shapes import Undecodable
from events.tiles import WIDTH, BadTile, Bundle
from projections import saved
from projections.saved import NotSaved
from server.adding import add
from server.archive import CHECKPOINT, Archive, game_path, read_file
from server.signer import Signed, read_note


class Unrefillable(Exception):
    """The archive doesn't give what was signed, and why. The store is as it was."""


@dataclass(slots=True)
class Refilled:
    leaves: int
    games: int = 0
    """That got events back."""
    forked: tuple[bytes, ...] = ()
    """Games whose log in the store is no beginning of what was signed: left as they are."""


async def last_signed(archive: Archive, key: VerifierKey, folder: Path) -> Signed:
    """The furthest of the two notes. Raises Unrefillable."""
    found = []
    for note in (read_file(folder / "ledger.note"), await archive.get(CHECKPOINT)):
        if note is not None:
            try:
                found.append(read_note(note, key))
            except (BadNote, BadCheckpoint) as error:
                raise Unrefillable(f"a note there isn't signed by {key}: {error}") from error
    if not found:
        raise Unrefillable("nothing was ever signed here")
    return max(found, key=lambda signed: signed.size)


async def refill(
    log: Log, ledger_: Ledger, archive: Archive, signed: Signed, progress: Callable[[int], None]
) -> Refilled:
    """`progress` gets the number of leaves that were dealt with, twice from 0 to the signed size. Raises Unrefillable,
    Unknown."""
    frontier = EMPTY
    async for bodies in _bundles(archive, signed.size):
        frontier, _ = frontier.extend(map(leaf_hash, bodies))
        progress(frontier.size)
    if frontier.root != signed.checkpoint.root:
        raise Unrefillable("the archive's entries don't give the root that was signed")
    # No outbox has what games didn't tell: imports and the operator's acts that nobody has signed yet.
    untold = await _untold(ledger_)
    await ledger_.restart()
    done = Refilled(0)
    head = EMPTY
    async for bodies in _bundles(archive, signed.size):
        head = await ledger_.append(head, Copy(tuple(map(ledger.leaf, bodies))))
        for body in bodies:
            entry = entries.decode(body)
            if isinstance(entry, Closing):
                await _refill_game(log, archive, entry, done)
        progress(head.size)
    assert head.root == signed.checkpoint.root
    done.leaves = head.size
    await ledger_.append(head, Copy((), *await _trimmed(log)))
    await add(ledger_, untold)
    return done


async def _trimmed(log: Log) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
    """The marks of partitions whose first entries were trimmed, before and after: what was trimmed is signed, and so is
    the first entry that was kept."""
    before, after = [], []
    for partition in range(PARTITIONS):
        for first in await log.outbox(partition, 0, 1):
            if first.position > 1:
                before.append(ledger.origin(partition))
                after.append(Mark(partition, first.position, first.hash))
    return tuple(before), tuple(after)


async def _untold(ledger_: Ledger) -> list[Leaf]:
    found: list[Leaf] = []
    size = (await ledger_.head()).size
    for first in range(0, size, WIDTH):
        for body in await ledger_.leaves(first, WIDTH):
            if isinstance(entries.decode(body), Imported | Barred | Lifted):
                found.append(ledger.leaf(body))
    return found


async def _bundles(archive: Archive, size: int) -> AsyncIterator[tuple[bytes, ...]]:
    for index in range(-(-size // WIDTH)):
        width = min(WIDTH, size - index * WIDTH)
        bundle, full = Bundle(index, width), Bundle(index)
        data = await archive.get(bundle.path)
        wide = width
        if data is None:
            data, wide = await archive.get(full.path), WIDTH
        if data is None:
            raise Unrefillable(f"the archive lacks {bundle.path}")
        try:
            bodies = tiles.entries(data, wide)[:width]
            for body in bodies:
                ledger.leaf(body)
        except (BadTile, Undecodable) as error:
            raise Unrefillable(f"{bundle.path}: {error}") from error
        yield bodies


async def _refill_game(log: Log, archive: Archive, closing: Closing, done: Refilled) -> None:
    game = closing.game
    head = await log.head(game)
    if (head.version, head.hash) == (closing.version, closing.hash):
        return
    data = await archive.get(game_path(game))
    try:
        events = saved.load(data).events if data is not None else ()
    except NotSaved:
        events = ()
    heads = [chain.origin(game), *(event.head for event in events)]
    if chain.check(heads[0], events) is not None or head not in heads or head == heads[-1]:
        done.forked += (game,)
        return
    try:
        await log.append(game, head, Batch(events[heads.index(head) :]))
        done.games += 1
    except Conflict:
        done.forked += (game,)
