"""Bars: who is kept out of games that count, as the ledger says, and how the operator says it. In public, both."""

from collections.abc import Sequence
from dataclasses import dataclass

from events import entries, ledger
from events.entries import Act, Barred, Lifted
from events.ledger import Ledger
from server.adding import add

REASON_CHARACTERS_MAX = 500


class CannotBar(Exception):
    """Why not."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a player. Indexes are the ledger's."""

    index: int
    barred: Barred
    lifted: Lifted | None = None
    lifted_index: int | None = None


async def bars(ledger_: Ledger, player: bytes) -> Sequence[Bar]:
    """All of a player's, the last one last."""
    found: list[Bar] = []
    while (index := await ledger_.find(ledger.barred(player, len(found) + 1))) is not None:
        barred = await _entry(ledger_, index)
        lifted_index = await ledger_.find(ledger.lifted(player, len(found) + 1))
        lifted = await _entry(ledger_, lifted_index) if lifted_index is not None else None
        assert isinstance(barred, Barred)
        assert lifted is None or isinstance(lifted, Lifted)
        found.append(Bar(index, barred, lifted, lifted_index))
    return found


async def _entry(ledger_: Ledger, index: int) -> entries.LedgerEntry:
    (body,) = await ledger_.leaves(index, 1)
    return entries.decode(body)


async def standing(ledger_: Ledger, player: bytes) -> Barred | None:
    """The bar that stands."""
    found = await bars(ledger_, player)
    return found[-1].barred if found and found[-1].lifted is None else None


async def is_barred(ledger_: Ledger, player: bytes) -> bool:
    return await standing(ledger_, player) is not None


async def bar(ledger_: Ledger, player: bytes, reason: str, now_ms: int) -> int:
    """Bar a player; the leaf's index. Raises CannotBar, Unknown."""
    if not 1 <= len(reason) <= REASON_CHARACTERS_MAX or not reason.isprintable() or not reason.strip():
        raise CannotBar(f"a reason has 1 to {REASON_CHARACTERS_MAX} characters, on one line: everybody may read it")
    found = await bars(ledger_, player)
    if found and found[-1].lifted is None:
        raise CannotBar(f"player {player.hex()} is barred already: {found[-1].barred.reason}")
    return await _put(ledger_, Barred(player, len(found) + 1, now_ms, reason))


async def lift(ledger_: Ledger, player: bytes, now_ms: int) -> int:
    """Lift a player's bar; the leaf's index. Raises CannotBar, Unknown."""
    found = await bars(ledger_, player)
    if not found or found[-1].lifted is not None:
        raise CannotBar(f"player {player.hex()} isn't barred")
    return await _put(ledger_, Lifted(player, len(found), now_ms))


async def _put(ledger_: Ledger, act: Act) -> int:
    leaf = ledger.leaf(entries.encode(act))
    await add(ledger_, [leaf])
    index = await ledger_.find(leaf.once)
    assert index is not None
    if await ledger_.leaves(index, 1) != [leaf.body]:
        raise CannotBar("somebody else did the same at this moment: look again")
    return index
