"""What goes on around the projections while a server runs: folding, and rebuilding what another release made."""

import asyncio

import structlog

from events.log import Unknown
from server import rebuild
from server.folding import Diverged, Reader
from server.projected import Differs, Projected
from server.projector import PROJECTIONS, RETRY_SECONDS, Projector
from server.signer import Publisher

BATCH_ENTRIES = 1000
ROWS_MAX = 20_000
"""Read and written at once by a rebuild beside players, who shouldn't notice it."""

log_line = structlog.get_logger()


async def run(publisher: Publisher, projector: Projector, store: Projected, ledger: Reader) -> None:
    """Fold what is signed, for ever."""
    # Before it is known how much is signed, what was folded would seem to be more than there is.
    await publisher.begun.wait()
    async with asyncio.TaskGroup() as group:
        group.create_task(projector.run())
        group.create_task(_rebuild_outdated(projector, store, ledger))


async def _rebuild_outdated(projector: Projector, store: Projected, ledger: Reader) -> None:
    outdated = [projection for projection in PROJECTIONS if projection.name in projector.outdated]
    rows_max = min(ROWS_MAX, store.rows_at_once)
    while True:
        try:
            done = await rebuild.rebuild(store, ledger, outdated, batch_entries=BATCH_ENTRIES, rows_max=rows_max)
            break
        except Unknown as error:
            log_line.error("projections aren't rebuilt yet", why=str(error))
            await asyncio.sleep(RETRY_SECONDS)
    for name, outcome in done.items():
        if isinstance(outcome, Diverged | Differs):
            projector.not_rebuilt[name] = f"{outcome}: run `statecraft rebuild {name} --force`"
            log_line.error("a projection isn't rebuilt", name=name, why=str(outcome))
    projector.wake()
