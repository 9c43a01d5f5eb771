"""Rows of several projections as they stand at one position, while one read of the store lasts."""

import sqlite3
from collections.abc import Mapping
from typing import Any, TypeVar

from projections.projection import Projection
from server import generations
from server.generations import Generation

ROWS_READ_MAX = 10_000

Row = TypeVar("Row", bound=tuple[Any, ...])


class View:
    """What a job gets; nothing of it may be kept."""

    def __init__(self, connection: sqlite3.Connection, live: Mapping[Projection[Any], Generation]) -> None:
        self._connection = connection
        self._live = live
        lowest = min(live.values(), key=lambda generation: generation.checkpoint.as_of)
        self.as_of = lowest.checkpoint.as_of
        self.leaf_hash = lowest.checkpoint.leaf_hash

    @property
    def agrees(self) -> bool:
        return len({generation.checkpoint[:2] for generation in self._live.values()}) == 1

    def page(
        self, projection: Projection[Row], prefix: bytes, after: bytes = b"", limit: int = ROWS_READ_MAX
    ) -> list[tuple[bytes, Row]]:
        """Rows whose key begins with `prefix`, above the key `after`, rising, at most `limit`."""
        found = generations.page(self._connection, self._live[projection].id, prefix, after, limit)
        return [(key, projection.row(row)) for key, row in found]
