"""A Log in front of another, which does what the layer doesn't do itself."""

from collections.abc import Sequence

from events.chain import Head
from events.log import Deadline, Listener, Log, OutboxEntry


class Layer:
    """All of `events.log.Log` but `append`, `head` and `read`, passed on."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def games(self, after: bytes = b"", limit: int = 1000) -> Sequence[bytes]:
        return await self._log.games(after, limit)

    async def let_go(self, game: bytes, head: Head) -> None:
        await self._log.let_go(game, head)

    async def trim(self, partition: int, position: int) -> None:
        await self._log.trim(partition, position)

    async def deadlines(self, limit: int = 100) -> Sequence[Deadline]:
        return await self._log.deadlines(limit)

    async def next_deadline(self) -> int | None:
        return await self._log.next_deadline()

    async def beat(self) -> None:
        await self._log.beat()

    async def silence(self, from_ms: int, to_ms: int) -> int:
        return await self._log.silence(from_ms, to_ms)

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        return await self._log.claim(player, ladder, game, instead_of)

    async def claimed(self, player: bytes, ladder: str) -> bytes | None:
        return await self._log.claimed(player, ladder)

    async def before(self, game: bytes) -> bytes | None:
        return await self._log.before(game)

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        return await self._log.outbox(partition, after, limit)

    def listen(self, listener: Listener) -> None:
        self._log.listen(listener)
