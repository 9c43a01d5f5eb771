"""Rows of several projections as they stand at one position, while one read of the store lasts."""

from collections.abc import Sequence
from typing import Any, TypeVar

from projections.projection import Projection
from server.projected import Page, Standing

ROWS_READ_MAX = 10_000

Row = TypeVar("Row", bound=tuple[Any, ...])


class NotReady(Exception):
    """The projection is being built by this release's rules; ask again later."""


class View:
    """What a job gets; nothing of it may be kept. Raises NotReady."""

    def __init__(self, projections: Sequence[Projection[Any]], live: Standing, page: Page) -> None:
        for projection in projections:
            if projection.name not in live or live[projection.name].version != projection.version:
                raise NotReady(projection.name)
        self._live = live
        self._page = page
        lowest = min(live.values(), key=lambda generation: generation.checkpoint.as_of)
        self.as_of = lowest.checkpoint.as_of
        self.leaf_hash = lowest.checkpoint.leaf_hash

    @property
    def agrees(self) -> bool:
        return len({generation.checkpoint[:2] for generation in self._live.values()}) == 1

    async def page(
        self, projection: Projection[Row], prefix: bytes, after: bytes = b"", limit: int = ROWS_READ_MAX
    ) -> list[tuple[bytes, Row]]:
        """Rows whose key begins with `prefix`, above the key `after`, rising, at most `limit`."""
        found = await self._page(self._live[projection.name], prefix, after, limit)
        return [(key, projection.row(row)) for key, row in found]
