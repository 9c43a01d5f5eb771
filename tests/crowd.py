"""A crowd's finished games in a store, before its server starts: what boards and players' pages are looked at with."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from events import chain, entries
from events.database import Database
from events.log import Batch
from events.sqlite import SqliteLog
from projections.told import told
from rules.game import Resign
from server.app import SCHEMAS
from server.keys import operator_keys
from server.people import token_text
from server.sqlite_people import SqlitePeople
from server.stores import PEOPLE_SCHEMAS
from tests.positions import Played, at_random


@dataclass(frozen=True, slots=True)
class Member:
    player: bytes
    token: str
    """As a cookie has it."""


async def gather(folder: Path, games: Sequence[int], now_ms: int | None = None) -> list[Member]:
    """One member for each number of games, which are played at random in both modes. `folder`: the data directory.

    The last game of each is played now, the others a month ago."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    operator_keys(folder / "keys")
    database = await Database.open(folder / "statecraft.db", SCHEMAS)
    kept = await Database.open(folder / "people.db", PEOPLE_SCHEMAS, shared=True)
    try:
        people, log = SqlitePeople(kept), SqliteLog(database)
        members, number = [], 0
        for many in games:
            player, token = await people.join(now_ms)
            members.append(Member(player, token_text(token)))
            for left in range(many, 0, -1):
                number += 1
                at_ms = now_ms - 60_000 if left == 1 else now_ms - 30 * 86_400_000 + number * 1000
                mode = ("relaxed", "strategic")[number % 3 == 0]
                await _store(log, _game(number, mode, player, at_ms))
        return members
    finally:
        await kept.close()
        await database.close()


def _game(number: int, mode: str, player: bytes, at_ms: int) -> Played:
    game = Played(mode, number, at_ms, player=player).begin()
    if Random(number).random() < 0.05:
        assert game.do(Resign()) is None
    else:
        game.finish(at_random(number))
    return game


async def _store(log: SqliteLog, game: Played) -> None:
    opening, closing = told(game.saved)
    assert opening is not None
    assert closing is not None
    start, opened = chain.origin(game.game), tuple(game.events[: opening.version])
    await log.append(game.game, start, Batch(opened, (entries.encode(opening),), wait_ms=10**9))
    rest = tuple(game.events[opening.version :])
    await log.append(game.game, opened[-1].head, Batch(rest, (entries.encode(closing),)))
