"""Ledger entries for tests: closings, imports, whole synthetic ledgers, and a reader of a list in memory."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from events.entries import Barred, Closing, Imported, LedgerEntry, Lifted, Opening, encode
from projections.leaderboard import LADDERS

MONDAY_MS = 1_795_996_800_000
"""2026-11-30, Monday, 00:00 UTC: the start of a day and of a week."""


def player(number: int) -> bytes:
    return sha256(b"player %d" % number).digest()[:16]


A, B, C = player(0), player(1), player(2)


def house(who: bytes, won: bool | None, ladder: str = "states-relaxed", **changes: object) -> Closing:
    """A game against the house; None is a draw."""
    values: dict[str, object] = {
        "game": bytes(16),
        "version": 30,
        "hash": bytes(32),
        "at_ms": MONDAY_MS,
        "rules": "fifty-states/1",
        "ladder": ladder,
        "counts": True,
        "players": (who, b""),
        "rival": "opal-winterbourne" if ladder.startswith("states") else "",
        "winner": None if won is None else 1 - won,
        "reason": "all_cards",
        "owing": (),
    }
    return Closing(**{**values, **changes})  # type: ignore[arg-type]


def versus(
    first: bytes, second: bytes, winner: int | None, ladder: str = "states-versus", **changes: object
) -> Closing:
    """A game between two people; without a winner a draw, or both_late where `reason` says so."""
    return house(first, None, ladder, **{"players": (first, second), "rival": "", "winner": winner, **changes})


def old(
    who: bytes, won: int, lost: int = 0, ladder: str = "states-relaxed", total: int = 0, rival: str = ""
) -> Imported:
    return Imported(bytes(16), MONDAY_MS, who, ladder, ((rival, True),) * won + ((rival, False),) * lost, total)


def opening(of: Closing) -> Opening:
    return Opening(of.game, 2, of.hash, of.at_ms, of.rules, of.ladder, of.counts, of.players, of.rival)


def acts(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """The entries with their bars numbered as an operator would; of one who is barred each next bar is the lifting."""
    bars: dict[bytes, int] = {}
    found: list[LedgerEntry] = []
    for entry in entries:
        if isinstance(entry, Barred):
            bars[entry.player] = times = bars.get(entry.player, 0) + 1
            number = (times + 1) // 2
            lifted = Lifted(entry.player, number, entry.at_ms)
            entry = replace(entry, number=number) if times % 2 else lifted
        found.append(entry)
    return found


def synthetic(count: int, people: int, seed: int = 0) -> list[LedgerEntry]:
    """Entries of every kind, some of them for nothing, around the turn of a week; some finishes recorded late."""
    chance = random.Random(seed)
    entries: list[LedgerEntry] = []
    for number in range(count):
        at_ms = MONDAY_MS + (number - count // 2) * 600_000 - chance.choice((0, 0, 0, 86_400_000))
        first, second = (player(each) for each in chance.sample(range(people), 2))
        counts = chance.random() < 0.95
        match chance.randrange(10):
            case 0:
                entries.append(old(first, chance.randrange(3), chance.randrange(3), total=chance.randrange(5)))
            case 1 | 2:
                barred = number % 7 == 0
                entries.append(
                    Barred(first, 1, at_ms, "two accounts") if barred else opening(house(first, True, at_ms=at_ms))
                )
            case 3 | 4 | 5:
                ladder = chance.choice((*LADDERS[:2], "classic-house"))
                reason = chance.choice(("all_cards", "all_cards", "all_cards", "void", "left"))
                winner = chance.choice((0, 0, 1)) if reason == "all_cards" else None
                entries.append(house(first, None, ladder, winner=winner, reason=reason, at_ms=at_ms, counts=counts))
            case _:
                winner = chance.choice((0, 0, 1, None))
                reason = chance.choice(("both_late", "battle_limit")) if winner is None else "all_cards"
                ladder = chance.choice(LADDERS[2:])
                entries.append(versus(first, second, winner, ladder, reason=reason, at_ms=at_ms, counts=counts))
    return acts(entries)


class ListLedger:
    """The part of the ledger that projections read, as a list that can grow, forget and be forged."""

    def __init__(self, entries: Iterable[LedgerEntry] = ()) -> None:
        self.entries = list(entries)
        self.reads = 0

    async def read(self, after_index: int, limit: int) -> Sequence[tuple[int, bytes, LedgerEntry]]:
        self.reads += 1
        found = self.entries[after_index + 1 : after_index + 1 + limit]
        return [
            (after_index + 1 + offset, sha256(b"\0" + encode(entry)).digest(), entry)
            for offset, entry in enumerate(found)
        ]
