"""What projections are kept in: the `Projected` contract. Stores keep bytes and fold nothing.

A projection has one live generation of rows; a rebuild fills another beside it, and the one it replaced is kept for a
way back. tests/test_projected.py holds every store to what is written here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

DIFFERENCES_MAX = 5
ROWS_AN_ENTRY = 6
"""That one entry touches of a projection, at most, but for long imports."""
T = TypeVar("T")


class Moved(Exception):
    """The generation isn't where it was expected: somebody else folded on, or another one took over."""


class Differs(Exception):
    """At an equal position a rebuild came to other rows than the live projection."""


class Checkpoint(NamedTuple):
    as_of: int = 0
    """How many entries of the ledger were folded: the next one's index."""
    leaf_hash: bytes = b""
    """Of the last of them."""
    digest: bytes = bytes(32)
    """Of all rows there are now, but for those that are held."""


@dataclass(frozen=True, slots=True)
class Generation:
    id: int
    name: str
    version: int
    state: str
    """`live`, `building`, `kept` or `dropped`; a projection has at most one of each of the first three."""
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Taken:
    """A rebuild took over."""

    generation: Generation
    before: Generation | None
    """The one it replaced, kept."""


StoredRow = tuple[bytes, bytes]
"""Key and row."""
Page = Callable[[Generation, bytes, bytes, int], Awaitable[list[StoredRow]]]
"""`Projected.page`."""
Standing = Mapping[str, Generation]
"""By projection."""


class Projected(Protocol):
    rows_at_once: int
    """About so many rows are gathered before some are written in one go: nobody else is served meanwhile."""

    async def standing(self, names: Sequence[str], state: str = "live") -> Standing:
        """The generations in this state of those projections that have one."""

    async def begin(self, name: str, version: int, state: str) -> Generation:
        """The projection's generation in this state; a fresh one where there is none, or a rebuild of other rules."""

    async def advance(
        self, known: Generation, after: Checkpoint, rows: Sequence[StoredRow], held: bytes = b""
    ) -> Generation:
        """Write rows and checkpoint at once, only if the generation is still what the caller knows.

        `held`: what a rebuild keeps in memory, in place of what it held before; the store doesn't look into it.
        Raises Moved; Unknown if nobody knows whether it was done."""

    async def held(self, generation: Generation) -> bytes:
        """What `advance` was last given to hold, for a rebuild that was killed; what it is to be taken over with is
        empty."""

    async def rows(self, name: str, generation: int, wanted: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those that there are of the rows with these keys, which rise."""

    async def page(self, generation: Generation, prefix: bytes, after: bytes, limit: int) -> list[StoredRow]:
        """Rows whose key begins with `prefix`, above the key `after`, rising, at most `limit`."""

    async def view(self, names: Sequence[str], job: Callable[[Standing, Page], Awaitable[T]]) -> T:
        """What `job` made of the live generations, none of which moved while it read. It awaits nothing but pages."""

    async def take_over(self, known: Generation, force: bool) -> Taken | None:
        """Make a rebuild the live one where it agrees with that at an equal position; None: they aren't equally far.

        With another version of the rules the content may differ. `force` asks for no agreement and no equal position.
        Raises Moved if the rebuild isn't what the caller knows, Differs, Unknown."""

    async def roll_back(self, name: str) -> Generation | None:
        """Exchange the live generation and the kept one, which folds on from where it is; None: none is kept."""

    async def drop_building(self, name: str) -> None: ...

    async def sweep(self, names: Sequence[str]) -> None:
        """Delete what was dropped of these projections, a little at a time, so that nobody waits for it."""
