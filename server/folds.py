"""What goes on around the projections while a server runs: folding, and rebuilding what another release made."""

import asyncio

import structlog

from events.database import Database
from server import rebuild
from server.folding import Diverged, Reader
from server.generations import Differs
from server.projector import PROJECTIONS, Projector
from server.signer import Publisher

BATCH_ENTRIES = 1000
"""Of a rebuild beside players, who shouldn't notice it."""

log_line = structlog.get_logger()


async def run(publisher: Publisher, projector: Projector, database: Database, ledger: Reader) -> None:
    """Fold what is signed, for ever."""
    # Before it is known how much is signed, what was folded would seem to be more than there is.
    await publisher.begun.wait()
    async with asyncio.TaskGroup() as group:
        group.create_task(projector.run())
        group.create_task(_rebuild_outdated(projector, database, ledger))


async def _rebuild_outdated(projector: Projector, database: Database, ledger: Reader) -> None:
    for projection in PROJECTIONS:
        if projection.name in projector.outdated:
            try:
                await rebuild.rebuild(database, ledger, projection, batch_entries=BATCH_ENTRIES)
            except (Diverged, Differs) as error:
                projector.not_rebuilt[projection.name] = f"{error}: run `statecraft rebuild {projection.name} --force`"
                log_line.error("a projection isn't rebuilt", name=projection.name, why=str(error))
            projector.wake()
