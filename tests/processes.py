"""What the store's tests run as processes of their own: `python -m tests.processes append|audit FILE`."""

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

from events.chain import check, extend, origin
from events.database import Database
from events.log import PARTITIONS, Batch, outbox_link, outbox_origin
from events.sqlite import SCHEMA, SqliteLog


async def append(path: Path) -> None:
    """Append to eight games for ever. Each line printed is an acknowledged event: game, version, hash."""
    database = await Database.open(path, [SCHEMA])
    log = SqliteLog(database)

    async def play(game: bytes) -> None:
        head = await log.head(game)
        for number in count():
            bodies = [b"%d %d" % (number, each) * 20 for each in range(1 + number % 4)]
            entries = (b"entry",) if number % 3 == 0 else ()
            head = await log.append(game, head, Batch(extend(head, bodies), entries, wait_ms=number))
            os.write(1, b"%b %d %b\n" % (game.hex().encode(), head.version, head.hash.hex().encode()))

    await asyncio.gather(*(play(bytes([number]) * 16) for number in range(8)))


async def audit(path: Path) -> None:
    """Read what another process is writing until there are 400 events; fail at the first that doesn't hold."""
    database = await Database.reader(path)
    while await verify(SqliteLog(database)) < 400:
        pass
    await database.close()


async def verify(log: SqliteLog) -> int:
    """How many events there are. Every chain holds, and every entry of an outbox."""
    events_count = 0
    for game in await log.games(limit=100_000):
        events = await log.read(game)
        assert check(origin(game), events) is None
        events_count += len(events)
    for number in range(PARTITIONS):
        hash_ = outbox_origin(number)
        for position, entry in enumerate(await log.outbox(number, limit=100_000), 1):
            hash_ = outbox_link(hash_, entry.game, entry.body)
            assert (entry.position, entry.hash) == (position, hash_)
    return events_count


if __name__ == "__main__":
    asyncio.run({"append": append, "audit": audit}[sys.argv[1]](Path(sys.argv[2])))
