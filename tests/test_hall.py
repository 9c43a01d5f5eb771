"""Feeds, presence and the registries behind them, without sockets: resumed anywhere, empty when all have gone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import sqlite
from events.database import Database
from events.sqlite import SqliteLog
from projections import elo
from rules.catalogue import RULES as ALL_RULES
from server import feeds, presence, sqlite_meetings
from server.audience import Audience, Watcher
from server.connection import Connection
from server.feeds import Feed
from server.games import Games
from server.hall import Hall, hall
from server.meetings import Meeting
from server.others import Nobody
from server.replaying import Recordings
from server.sqlite_meetings import SqliteMeetings
from server.wire import CODECS, MSGPACK
from tests.pairs import PLAYERS
from tests.positions import KEY, NOW
from tests.running import RULES, Wide, eventually

Frame = dict[str, Any]

# ---------------------------------------------------------------- feeds


class Reader:
    """Somebody who follows a feed and holds what its frames tell, also while he is away."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.after: tuple[int, bytes] | None = None
        self.recovered: list[bool] = []
        self.watcher = Watcher(MSGPACK, None, Wide(self.take))

    def take(self, data: bytes) -> None:
        frame = msgpack.unpackb(data)
        match frame["type"]:
            case "subscribed":
                self.recovered.append(frame["recovered"])
                self.after = (frame["version"], frame["hash"])
            case "snapshot":
                self.rows = {name: {row["game"]: row for row in rows} for name, rows in frame["state"].items()}
            case "delta":
                assert self.after is not None
                assert frame["version"] == self.after[0] + 1
                self.after = (frame["version"], self.after[1])
                for name, keys in frame["gone"].items():
                    for key in keys:
                        del self.rows[name][key]
                for name, rows in frame["put"].items():
                    self.rows[name].update({row["game"]: row for row in rows})


rows = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4).map(
    lambda found: {key: {"game": key, "value": value} for key, value in found.items()}
)


@given(st.lists(st.one_of(st.just("comes"), st.just("goes"), st.tuples(rows, rows)), max_size=40))
def test_whoever_follows_a_feed_holds_what_it_holds_however_often_he_was_away(steps: list[Any]) -> None:
    feed, reader = Feed("lobby", ("seats", "live")), Reader()
    here = False
    for step in steps:
        if step == "comes":
            feed.follow(reader.watcher, reader.after)
            here = True
        elif step == "goes":
            feed.leave(reader.watcher)
            here = False
        else:
            feed.set({"seats": step[0], "live": step[1]})
        if here:
            assert reader.after == (feed.version, feed.epoch)
            assert reader.rows == {name: dict(feed.rows(name)) for name in ("seats", "live")}
    assert reader.recovered[1:] == [True] * len(reader.recovered[1:])


def test_who_was_away_for_too_long_is_told_so_and_gets_the_whole() -> None:
    feed, reader = Feed("lobby", ("seats",)), Reader()
    feed.follow(reader.watcher, None)
    for away in (feeds.DELTAS_KEPT, feeds.DELTAS_KEPT + 1):
        feed.leave(reader.watcher)
        for number in range(away):
            feed.set({"seats": {"a": {"game": "a", "value": feed.version + number}}})
        feed.follow(reader.watcher, reader.after)
        assert reader.recovered[-1] is (away == feeds.DELTAS_KEPT)
        assert reader.rows["seats"] == feed.rows("seats")


@pytest.mark.parametrize("after", [(3, bytes(32)), (2**31, None), (4, None)])
def test_nothing_is_recovered_behind_another_epoch_or_a_version_to_come(after: tuple[int, bytes | None]) -> None:
    feed, reader = Feed("lobby", ("seats",)), Reader()
    for number in range(3):
        feed.set({"seats": {"a": {"game": "a", "value": number}}})
    feed.follow(reader.watcher, (after[0], after[1] or feed.epoch))
    assert reader.recovered == [False]


def test_what_changes_nothing_is_told_to_nobody() -> None:
    feed, reader = Feed("lobby", ("seats",)), Reader()
    feed.follow(reader.watcher, None)
    for _ in range(3):
        feed.set({"seats": {"a": {"game": "a"}}})
    assert feed.version == 1


def test_a_frame_is_encoded_once_for_all_who_speak_its_subprotocol() -> None:
    feed = Feed("lobby", ("seats",))
    frames: list[bytes] = []
    for number in range(10):
        feed.follow(Watcher(list(CODECS.values())[number % 2], None, Wide(frames.append)), None)
    frames.clear()
    feed.set({"seats": {"a": {"game": "a"}}})
    assert len(frames) == 10
    assert len(set(map(id, frames))) == 2


# ---------------------------------------------------------------- the whole of it

pytestmark = pytest.mark.anyio


class House:
    """A hall over a store of its own, without sockets."""

    def __init__(self, database: Database) -> None:
        self.log = SqliteLog(database)
        self.store = SqliteMeetings(database)
        self.games = Games(self.log, {1: KEY}, lambda: NOW)
        self.audience = Audience(self.games, self.log)

        async def rating(player: bytes, ladder: str) -> int:
            return elo.START

        self.hall: Hall = hall(self.games, self.audience, self.store, rating, self.called, lambda: NOW, KEY, Nobody())

    async def called(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        return {player: f"Player {player[-1]}" for player in players if player[-1] % 2}

    @property
    def remembered(self) -> dict[str, int]:
        """Of anybody who was ever here."""
        parts = self.hall
        return {
            "subscriptions": len(self.audience),
            "presence": len(parts.presence),
            "queue": len(parts.queue),
            "own feeds": len(parts.mine),
            "lobby": len(parts.lobby),
            "nameplates": len(parts.nameplates),
            "lobby's watchers": len(parts.lobby.feed.watchers),
        }


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    database = await Database.open(folder / "house.db", (sqlite.SCHEMA, sqlite_meetings.SCHEMA))
    found = House(database)
    loops = [asyncio.ensure_future(loop()) for loop in found.hall.loops]
    try:
        yield found
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await database.close()


async def visit(place: House, number: int, chance: Random, games: list[bytes]) -> None:
    """Come, do this and that, and go in the middle of it."""
    frames: list[Frame] = []
    player = (number % 50).to_bytes(16, "big") if number % 5 else None
    way = Wide(lambda data: frames.append(msgpack.unpackb(data)))
    connection = Connection(place.games, place.audience, Recordings(place.log), MSGPACK, player, way, place.hall)
    messages: list[Frame] = [
        {"type": "subscribe", "topic": "lobby"},
        {"type": "subscribe", "topic": "me"},
        {"type": "subscribe", "topic": f"game/{chance.choice(games).hex()}"},
        {"type": "subscribe", "topic": f"replay/{chance.choice(games).hex()}", "at": 1, "beat_ms": 60_000},
        {"type": "queue", "id": "q", "rules": chance.choice(list(ALL_RULES))},
        {"type": "leave_queue", "id": "l", "rules": chance.choice(list(ALL_RULES))},
        {"type": "unsubscribe", "topic": "me"},
    ]

    async def talk() -> None:
        for at, message in enumerate(chance.sample(messages, chance.randint(1, 5))):
            if (rest := connection.receive(msgpack.packb(message), float(at))) is not None:
                await rest

    talking = asyncio.create_task(talk())
    for _ in range(chance.randint(0, 40)):
        await asyncio.sleep(0)
    if chance.random() < 0.5:
        await talking
    connection.leave()
    talking.cancel()
    await asyncio.gather(talking, return_exceptions=True)


async def visits(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "ABSENT_SECONDS", 0.05)
    monkeypatch.setattr(presence, "TELL_SECONDS", 0.05)
    async with house(folder) as place:
        games = []
        for number in range(5):
            meeting = Meeting(bytes([number]) * 16, RULES, (), PLAYERS, False, False)
            await place.hall.between.open(meeting)
            games.append(meeting.game)
        chance = Random(1)
        for start in range(0, count, 50):
            await asyncio.gather(*(visit(place, start + number, chance, games) for number in range(50)))
        await eventually(lambda: not any(place.remembered.values()))
        for name in ALL_RULES:
            await _until_zero(lambda name=name: place.store.waiting(name))  # type: ignore[misc]


async def _until_zero(count: Callable[[], Any]) -> None:
    async with asyncio.timeout(60):
        while await count():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_every_registry_is_empty_when_everybody_has_come_and_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await visits(tmp_path, 500, monkeypatch)


@pytest.mark.slow
async def test_every_registry_is_empty_after_ten_thousand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await visits(tmp_path, 10_000, monkeypatch)


async def test_an_arranged_game_that_a_server_left_unopened_is_opened_by_the_next_one(tmp_path: Path) -> None:
    meeting = Meeting(b"an arranged game", RULES, (), PLAYERS, True, False)
    database = await Database.open(tmp_path / "house.db", (sqlite.SCHEMA, sqlite_meetings.SCHEMA))
    await SqliteMeetings(database).arrange(meeting)
    await database.close()
    async with house(tmp_path) as place:
        await eventually(lambda: place.games.known(meeting.game))
        live = await place.games.refreshed(meeting.game)
        assert live is not None
        assert live.table.reserved == PLAYERS
        await _until_zero(lambda: _left(place.store))
        assert [each.game for each in await place.store.of(PLAYERS[0])] == [meeting.game]


async def _left(store: SqliteMeetings) -> int:
    return len(await store.unopened())
