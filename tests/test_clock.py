"""The sweep calls time on games that are over seven days old, whatever else lies in the store."""

from pathlib import Path

import pytest

from events.chain import extend, origin
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog
from rules.catalogue import RULES
from rules.game import OPEN_MS_MAX, Finished, Mix
from server.clock import DEADLINES, Sweep
from server.games import Games
from tests.positions import KEY, NOW, PLAYER

pytestmark = pytest.mark.anyio


class Clock:
    now_ms = NOW

    def __call__(self) -> int:
        return self.now_ms


async def test_damaged_games_past_their_deadline_do_not_keep_time_from_others(tmp_path: Path) -> None:
    clock = Clock()
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database, clock)
    games = Games(log, {1: KEY}, clock)
    for number in range(DEADLINES + 1):
        game = number.to_bytes(16, "big")
        await log.append(game, origin(game), Batch(extend(origin(game), [b"nonsense"]), wait_ms=1))
    clock.now_ms += 1000
    opened = await games.open(PLAYER, RULES["fifty-states/1"], "relaxed", (), "open")
    assert isinstance(opened, tuple)
    await games.do(opened[0], PLAYER, Mix(bytes(32)), "mix")
    clock.now_ms += OPEN_MS_MAX
    sweep = Sweep(games, log)
    await sweep.once()
    await sweep.once()
    live = await games.refreshed(opened[0])
    assert live is not None
    assert live.table.finished == Finished(1, "time")
    await database.close()


async def test_time_is_not_called_a_millisecond_too_early(tmp_path: Path) -> None:
    clock = Clock()
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database, clock)
    games = Games(log, {1: KEY}, clock)
    opened = await games.open(PLAYER, RULES["fifty-states/1"], "relaxed", (), "open")
    assert isinstance(opened, tuple)
    sweep = Sweep(games, log)
    for late, reason in ((-1, None), (0, "void")):
        clock.now_ms = NOW + OPEN_MS_MAX + late
        await sweep.once()
        live = await games.refreshed(opened[0])
        assert live is not None
        assert (live.table.finished.reason if live.table.finished else None) == reason
    await database.close()
