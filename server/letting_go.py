"""Closed games leave the hot store once a signature covers them and the archive holds them; outbox entries likewise.

It keeps no place of its own: each round looks at some of the games and partitions that are still there, so its cost
follows what the store holds, and it can be killed between any two steps.
"""

import asyncio
from collections.abc import Callable

import structlog
from obstore.exceptions import BaseError

from events import entries, ledger
from events.chain import Head
from events.entries import Closing
from events.ledger import Ledger
from events.log import PARTITIONS, Conflict, LetGo, Log, Unknown
from projections import saved
from projections.saved import NotSaved
from server.archive import Archive, game_path
from server.signer import Publisher

ROUND_SECONDS = 1.0
REST_SECONDS = 30.0
"""After all games were looked at."""
GAMES_MAX = 100
"""Looked at in a round."""
PARTITIONS_MAX = 16
ENTRIES_MAX = 200
"""Of a partition, in a round."""
YOUNG_MAX = 100_000
"""Games and partitions of which it is kept in mind that they are too young, about 150 bytes each."""

log_line = structlog.get_logger()


class LettingGo:
    """Runs in every server: two at once are harmless, and let go no more than one."""

    def __init__(
        self,
        log: Log,
        ledger_: Ledger,
        publisher: Publisher,
        archive: Archive,
        clock: Callable[[], int],
        keep_seconds: float,
    ) -> None:
        """`keep_seconds`: how long closed games stay, at least, after their end."""
        self._log = log
        self._ledger = ledger_
        self._publisher = publisher
        self._archive = archive
        self._clock = clock
        self._keep_ms = int(keep_seconds * 1000)
        self._after = b""
        """The last game looked at."""
        self._partition = 0
        self._young: dict[bytes | int, int] = {}
        """Until when, in Unix milliseconds, nothing of a game or a partition is old enough: it isn't read again."""
        self._missing: set[bytes] = set()
        """Games that the archive lacks; said once."""

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                rest = await self.round()
            except (Unknown, OSError, BaseError) as error:
                log_line.warning("no games are let go just now", why=str(error))
                rest = True
            await asyncio.sleep(min(REST_SECONDS, max(1.0, self._keep_ms / 4000)) if rest else ROUND_SECONDS)

    async def round(self) -> bool:
        """Look at some games and partitions; whether there were no more games. Raises Unknown, OSError, BaseError."""
        games = await self._log.games(self._after, GAMES_MAX)
        for game in games:
            if self._may_be_old(game):
                await self._look(game)
        for _ in range(PARTITIONS_MAX):
            if self._may_be_old(self._partition):
                await self._trim(self._partition)
            self._partition = (self._partition + 1) % PARTITIONS
        rest = len(games) < GAMES_MAX
        self._after = b"" if rest else games[-1]
        return rest

    async def _look(self, game: bytes) -> None:
        index = await self._ledger.find(ledger.closing(game))
        if index is None:
            # It is played; or it ended a moment ago, and then it stays half as long again at most.
            self._is_young(game, self._clock() + self._keep_ms // 2)
            return
        if not self._is_old(entry := await self._entry(index), index, game):
            return
        assert isinstance(entry, Closing)
        head = Head(entry.version, entry.hash)
        if not await self._is_archived(game, head):
            if game not in self._missing:
                self._missing.add(game)
                log_line.error("a signed game isn't in the archive, and stays in the store", game=game.hex())
            return
        try:
            await self._log.let_go(game, head)
        except Conflict:
            if game not in self._missing:
                self._missing.add(game)
                log_line.error("a closed game went on, and stays in the store", game=game.hex())

    async def _trim(self, partition: int) -> None:
        """Up to the last entry that is old enough; that one stays, so that the sequencer finds where it was."""
        position = 0
        for item in await self._log.outbox(partition, 0, ENTRIES_MAX):
            index = await self._ledger.find(ledger.leaf(item.body).once)
            if index is None or not self._is_old(entries.decode_of_game(item.body), index, partition):
                break
            position = item.position
        if position > 1:
            await self._log.trim(partition, position)

    def _may_be_old(self, whose: bytes | int) -> bool:
        return self._young.get(whose, 0) <= self._clock()

    def _is_young(self, whose: bytes | int, until_ms: int) -> None:
        if len(self._young) >= YOUNG_MAX:
            self._young.clear()
        self._young[whose] = until_ms

    def _is_old(self, entry: entries.LedgerEntry, index: int, whose: bytes | int) -> bool:
        until_ms = entry.at_ms + self._keep_ms
        if until_ms > self._clock():
            self._is_young(whose, until_ms)
            return False
        signed = self._publisher.signed
        return signed is not None and index < signed.size

    async def _entry(self, index: int) -> entries.LedgerEntry:
        (body,) = await self._ledger.leaves(index, 1)
        return entries.decode(body)

    async def _is_archived(self, game: bytes, head: Head) -> bool:
        data = await self._archive.get(game_path(game))
        try:
            events = saved.load(data).events if data is not None else ()
        except NotSaved:
            return False
        if not events or events[-1].head != head:
            return False
        try:
            return list(await self._log.read(game)) == list(events)
        except LetGo:
            return True  # Another process was faster.
