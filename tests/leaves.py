"""Openings and closings to fill outboxes and ledgers with."""

from collections.abc import Sequence
from typing import Any

from events import entries
from events.chain import Stored, extend, origin
from events.entries import Closing, Opening
from events.log import Batch, Log
from tests.positions import NOW, PLAYER


def opening(game: bytes, after: tuple[bytes, ...] = (), **changes: Any) -> Opening:
    values: dict[str, Any] = {
        "game": game,
        "version": 3,
        "hash": bytes(32),
        "at_ms": NOW,
        "rules": "fifty-states/1",
        "ladder": "states-relaxed",
        "counts": True,
        "players": (PLAYER, b""),
        "rival": "opal-winterbourne",
        "after": after,
    }
    return Opening(**{**values, **changes})


def closing(game: bytes, winner: int | None = 0, **changes: Any) -> Closing:
    values: dict[str, Any] = {
        "game": game,
        "version": 9,
        "hash": bytes(32),
        "at_ms": NOW + 1000,
        "rules": "fifty-states/1",
        "ladder": "states-relaxed",
        "counts": True,
        "players": (PLAYER, b""),
        "rival": "opal-winterbourne",
        "winner": winner,
        "reason": "all_cards",
        "owing": (),
    }
    return Closing(**{**values, **changes})


async def tell(log: Log, entry: Opening | Closing) -> None:
    """Append something to the entry's game that tells it outside. For logs that do no harm."""
    head = await log.head(entry.game)
    assert head.version or head == origin(entry.game)
    await log.append(entry.game, head, Batch(extend(head, [b"x"]), (entries.encode(entry),)))


def batch(events: Sequence[Stored], *outbox: bytes) -> Batch:
    return Batch(tuple(events), outbox)


def game(number: int, partition: int = 0) -> bytes:
    return bytes([partition]) + number.to_bytes(15, "big")
