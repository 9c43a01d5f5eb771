"""A player's finished games, newest first, a page at a time: a range of rows for each ladder, and no other."""

from dataclasses import dataclass
from heapq import merge
from itertools import islice

from projections import history
from projections.history import HISTORY, Row, ladder_prefix
from server.projector import Projector
from server.view import View


@dataclass(frozen=True, slots=True)
class Past:
    ladder: str
    index: int
    """Of the closing, in the ledger."""
    row: Row


@dataclass(frozen=True, slots=True)
class Page:
    as_of: int
    leaf_hash: bytes
    games: tuple[Past, ...]
    more: bool


async def read(projector: Projector, player: bytes, ladder: str | None, below: int, count: int) -> Page:
    """At most `count` games whose ledger index is below `below`, of one ladder or of all. Raises NotReady."""

    async def job(view: View) -> Page:
        ladders = await _ladders(view, player) if ladder is None else [ladder]
        ranges = [await _range(view, player, each, below, count + 1) for each in ladders]
        found = list(islice(merge(*ranges, key=lambda game: -game.index), count + 1))
        return Page(view.as_of, view.leaf_hash, tuple(found[:count]), len(found) > count)

    return await projector.view((HISTORY,), job)


async def _ladders(view: View, player: bytes) -> list[str]:
    """Those the player has games in: one look for each, whatever lies between."""
    found: list[str] = []
    after = b""
    while rows := await view.page(HISTORY, player, after, 1):
        _, ladder, _ = history.parts(rows[0][0])
        found.append(ladder)
        after = history.key(player, ladder, 0)
    return found


async def _range(view: View, player: bytes, ladder: str, below: int, count: int) -> list[Past]:
    after = history.key(player, ladder, below)
    return [
        Past(ladder, history.parts(key)[2], row)
        for key, row in await view.page(HISTORY, ladder_prefix(player, ladder), after, count)
    ]
