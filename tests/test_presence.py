"""Who is there when there are other servers: known before he goes, seen wherever he is, gone once and for all."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.database import Database
from events.log import Log
from events.sqlite import SCHEMA, SqliteLog
from server import presence
from server.audience import Audience
from server.games import Games
from server.presence import Presence
from tests.contrary import ContraryLog
from tests.positions import NOW
from tests.running import eventually

pytestmark = pytest.mark.anyio

ADA, BEA = b"a" * 16, b"b" * 16


class Watch:
    """A presence, and what it told of players."""

    def __init__(self, log: Log, alone: bool = False) -> None:
        games = Games(log, {1: bytes(32)}, lambda: NOW)
        self.presence = Presence(games, Audience(games, log), alone)
        self.gone: list[bytes] = []
        self.changed: list[bytes] = []
        self.waiting: set[bytes] = set()
        self.presence.listen(self.gone.append, self.changed.append)
        self.presence.care(lambda: self.waiting)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "ABSENT_SECONDS", 0.05)


async def test_who_waits_and_goes_is_gone_at_once_or_when_he_has_gone_elsewhere_too(
    tmp_path: Path, short: None
) -> None:
    database = await Database.open(tmp_path / "log.db", [SCHEMA])
    watch = Watch(SqliteLog(database))
    there = watch.presence
    for player in (ADA, BEA):
        there.came(player)
    assert there.wondered_players == set()
    watch.waiting.update((ADA, BEA))
    assert there.wondered_players == {ADA, BEA}, "it is known before they go"
    there.hear([ADA, BEA], {ADA})
    for player in (ADA, BEA):
        there.went(player)
    assert watch.gone == [BEA]
    assert there.connected(ADA)
    assert not there.connected(BEA)
    watch.waiting.clear()
    assert there.wondered_players == {ADA}, "as long as he is elsewhere"
    await eventually(lambda: not there.seen(BEA))
    assert there.seen(ADA)
    there.hear([ADA], {ADA})
    assert watch.gone == [BEA]
    there.hear([ADA], ())
    assert watch.gone == [BEA, ADA]
    assert not there.connected(ADA)
    assert there.seen(ADA), "for a little longer"
    await eventually(lambda: not there.seen(ADA))
    assert watch.changed == [ADA, BEA, BEA, ADA]
    assert len(there) == 0
    await database.close()


async def test_who_comes_here_from_elsewhere_was_there_all_the_time(tmp_path: Path, short: None) -> None:
    database = await Database.open(tmp_path / "log.db", [SCHEMA])
    watch = Watch(SqliteLog(database))
    there = watch.presence
    watch.waiting.add(ADA)
    there.hear([ADA], {ADA})
    assert watch.changed == [ADA]
    there.came(ADA)
    there.hear([ADA], ())
    there.went(ADA)
    there.came(ADA)
    await asyncio.sleep(0.2)
    assert watch.changed == [ADA]
    assert watch.gone == [ADA], "for a moment he had no connection anywhere"
    there.went(ADA)
    watch.waiting.clear()
    await eventually(lambda: len(there) == 0)
    await database.close()


STEPS = st.lists(st.sampled_from(["came", "went", "elsewhere", "nowhere", "waits", "waits no longer"]), max_size=40)


@given(STEPS)
def test_whatever_happens_he_is_gone_when_nobody_has_him_and_then_once(steps: list[str]) -> None:
    async def run() -> None:
        watch = Watch(ContraryLog(calm=True))
        here, was_here, told = 0, False, 0
        for step in steps:
            match step:
                case "came":
                    watch.presence.came(ADA)
                    here, was_here = here + 1, True
                case "went" if here:
                    watch.presence.went(ADA)
                    here -= 1
                case "elsewhere" | "nowhere" if ADA in watch.presence.wondered_players:
                    watch.presence.hear([ADA], {ADA} if step == "elsewhere" else ())
                case "waits":
                    watch.waiting.add(ADA)
                case "waits no longer":
                    watch.waiting.clear()
            if here:
                assert watch.presence.connected(ADA)
            if was_here and not watch.presence.connected(ADA):
                was_here, told = False, told + 1
            assert len(watch.gone) == told
            assert watch.presence.seen(ADA) or not watch.presence.connected(ADA)
        # In the end he goes, from everywhere.
        watch.waiting.clear()
        for _ in range(here):
            watch.presence.went(ADA)
        watch.presence.hear(watch.presence.wondered_players, ())
        assert len(watch.gone) == told + was_here
        assert not watch.presence.connected(ADA)

    asyncio.run(run())
