"""Leaves that no game told, into the ledger: imports and the operator's acts. Also beside a running server."""

import asyncio
from collections.abc import Sequence

from events.ledger import Copy, Leaf, Ledger
from events.log import Conflict, Unknown

RETRY_SECONDS = 0.05
UNKNOWN_MAX = 100
"""In a row, before it is the operator's turn to look."""


async def missing(ledger: Ledger, leaves: Sequence[Leaf]) -> int:
    """How many of these the ledger doesn't have."""
    return sum([await ledger.find(leaf.once) is None for leaf in leaves])


async def add(ledger: Ledger, leaves: Sequence[Leaf]) -> None:
    """All of them, or none, in one append; those that are there already stay where they are.

    Returns when the ledger has them: what isn't known to be stored is put again, and never comes twice. Raises Unknown
    if the store doesn't answer for long."""
    unknown = 0
    while True:
        try:
            await ledger.append(await ledger.head(), Copy(tuple(leaves)))
            return
        except Conflict:
            continue  # A sequencer was faster.
        except Unknown:
            unknown += 1
            if unknown == UNKNOWN_MAX:
                raise
            await asyncio.sleep(RETRY_SECONDS)
