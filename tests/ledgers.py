"""Whole games in a log, copied into a ledger and published: what the ledger's readers are tested on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from events import chain, codec, entries, notes
from events.database import Database
from events.entries import Closing, Opening
from events.log import Batch, Log
from events.sqlite import SCHEMA, SqliteLog
from events.sqlite_ledger import SCHEMA as LEDGER_SCHEMA
from events.sqlite_ledger import SqliteLedger
from server.archive import Archive, archive
from server.pen import FilePen
from server.sequencer import Sequencer
from server.signer import Publisher, signer
from tests.positions import PLAYER, Played, at_random

PRIVATE = b"the ledger's key, of 32 bytes ok"
HAND = signer(PRIVATE)


@cache
def played(number: int) -> Played:
    return Played(("relaxed", "strategic")[number % 2], number).begin().finish(at_random(number))


def opening_of(game: Played, after: tuple[bytes, ...] = ()) -> Opening:
    third = game.events[2]
    head = (game.game, third.version, third.hash, codec.decode(third.body).at_ms)
    return Opening(*head, "fifty-states/1", f"states-{game.mode}", True, (PLAYER, b""), _rival(game), after)


def closing_of(game: Played) -> Closing:
    last, finished = game.events[-1], game.table.finished
    assert finished is not None
    head = (game.game, last.version, last.hash, codec.decode(last.body).at_ms)
    ladder = f"states-{game.mode}"
    result = (finished.winner, finished.reason, game.table.late)
    return Closing(*head, "fifty-states/1", ladder, True, (PLAYER, b""), _rival(game), *result)


def _rival(game: Played) -> str:
    seated = game.table.seats[1]
    assert seated is not None
    return seated.rival


async def store(log: Log, game: Played, after: tuple[bytes, ...] = (), whole: bool = True) -> None:
    """As the server would: the opening told with its three events, the closing with the last ones."""
    start = chain.origin(game.game)
    opened = tuple(game.events[:3])
    await log.append(game.game, start, Batch(opened, (entries.encode(opening_of(game, after)),), wait_ms=10**9))
    if whole:
        rest = Batch(tuple(game.events[3:]), (entries.encode(closing_of(game)),))
        await log.append(game.game, opened[-1].head, rest)


@dataclass
class Published:
    """A store, what it published, and where."""

    folder: Path
    database: Database
    log: SqliteLog
    ledger: SqliteLedger
    archive: Archive
    hand: notes.Signer = HAND

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    def publisher(self, archive: Archive | None = None, hand: notes.Signer | None = None) -> Publisher:
        return Publisher(
            self.ledger, self.log, archive or self.archive, hand or self.hand, self.keys, FilePen(self.keys)
        )

    async def copy(self) -> None:
        await Sequencer(self.log, self.ledger).copy_all()

    async def sign(self) -> Publisher:
        """All that is stored, by a publisher that starts and ends here."""
        await self.copy()
        publisher = self.publisher()
        try:
            while await publisher.sign():
                pass
        finally:
            await publisher.close()
        return publisher


@asynccontextmanager
async def publishing(folder: Path, place: Archive | None = None) -> AsyncIterator[Published]:
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    database = await Database.open(folder / "statecraft.db", [SCHEMA, LEDGER_SCHEMA])
    try:
        kept = place or archive(folder / "archive")
        yield Published(folder, database, SqliteLog(database), SqliteLedger(database), kept)
    finally:
        await database.close()
