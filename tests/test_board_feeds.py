"""The feed of a board against the board itself: snapshot and deltas, resumed from anywhere, past midnight and names."""

from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from events.entries import LedgerEntry
from projections import windows
from projections.leaderboard import Board
from projections.windows import DAY_MS
from server.audience import Watcher
from server.board_feeds import TOP, BoardFeeds
from server.boards import Boards
from server.feeds import DELTAS_KEPT
from server.projector import Projector
from server.wire import JSON, Trouble
from tests.entries import MONDAY_MS, ListLedger, house, player, synthetic
from tests.folded import opened
from tests.running import Client, connected, serving

pytestmark = pytest.mark.anyio

TOPIC = "board/states-relaxed/wins/all"
DAY = "board/states-relaxed/wins/day"


class Follower:
    """A peer that follows one topic as docs/protocol.md says, and believes nothing else."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.frames: list[Any] = []
        self.at: tuple[int, str] | None = None
        self.board: Any = None
        self.places: dict[str, Any] = {}
        self.watcher = Watcher(JSON, None, self)

    def has_room(self) -> bool:
        return True

    async def room(self) -> bool:
        return True

    def send(self, frame: bytes) -> None:
        message = msgspec.json.decode(frame)
        assert message["topic"] == self.topic
        self.frames.append(message)
        match message["type"]:
            case "subscribed":
                position = (message["version"], message["hash"])
                assert not message["recovered"] or self.at == position
                self.at = position
            case "snapshot":
                assert self.at is not None
                assert message["version"] == self.at[0]
                (self.board,) = message["state"]["board"]
                self.places = {place["player"]: place for place in message["state"]["places"]}
            case "delta":
                assert self.at is not None
                assert message["version"] >= self.at[0]
                self.at = (message["version"], message["hash"])
                (self.board,) = message["put"].get("board", [self.board])
                for gone in message["gone"].get("places", []):
                    del self.places[gone]
                self.places |= {place["player"]: place for place in message["put"].get("places", [])}

    @property
    def shown(self) -> list[Any]:
        return sorted(self.places.values(), key=lambda place: place["position"])

    @property
    def recovered(self) -> list[bool]:
        return [frame["recovered"] for frame in self.frames if frame["type"] == "subscribed"]

    async def follow(self, feeds: BoardFeeds) -> None:
        after = None if self.at is None else (self.at[0], b64decode(self.at[1]))
        await feeds.follow(self.watcher, self.topic, after)


class Told:
    """Feeds over a ledger, a clock and names that a test can move."""

    def __init__(self, projector: Projector, boards: Boards, ledger: ListLedger) -> None:
        self.projector, self.boards, self.ledger = projector, boards, ledger
        self.now_ms = MONDAY_MS
        self.known: dict[bytes, str] = {}
        self.feeds = BoardFeeds(boards, projector, self.names, lambda: self.now_ms)

    async def names(self, players: Iterable[bytes]) -> Mapping[bytes, str]:
        return {each: self.known[each] for each in players if each in self.known}

    async def grow(self, *entries: LedgerEntry) -> None:
        self.ledger.entries += entries
        await self.projector.advance()
        await self.feeds.tell()

    async def expected(self, window: str) -> list[Any]:
        standings = await self.boards.standings(Board("states-relaxed", "wins", windows.resolve(window, self.now_ms)))
        return [
            {
                "rank": place.rank,
                "position": place.position,
                "player": place.player.hex(),
                "name": self.known.get(place.player),
                "value": place.value,
                "index": place.entry,
            }
            for place in standings.top(TOP).places
        ]


@asynccontextmanager
async def telling(folder: Path, entries: list[LedgerEntry]) -> AsyncIterator[Told]:
    async with opened(folder) as database:
        ledger = ListLedger(entries)
        projector = Projector(database, ledger)
        boards = Boards(database, projector)
        await projector.advance()
        yield Told(projector, boards, ledger)


async def test_whoever_follows_sees_the_board_after_every_entry(tmp_path: Path) -> None:
    entries = synthetic(900, 60)
    async with telling(tmp_path, entries[:300]) as at:
        follower = Follower(TOPIC)
        await follower.follow(at.feeds)
        for entry in entries[300:]:
            await at.grow(entry)
            assert follower.shown == await at.expected("all")
        assert follower.board == {
            "ladder": "states-relaxed",
            "measure": "wins",
            "window": "all",
            "until_ms": None,
            "size": len(await at.boards.standings(Board("states-relaxed", "wins", "all"))),
        }
        assert len(follower.shown) == TOP
        assert 20 < len(follower.frames) < 400  # most entries leave this board as it is


async def test_it_is_resumed_from_every_position_that_was_told_and_from_no_other(tmp_path: Path) -> None:
    entries = synthetic(400, 30)
    async with telling(tmp_path, entries[:100]) as at:
        first, held = Follower(TOPIC), []
        await first.follow(at.feeds)
        for entry in entries[100:]:
            await at.grow(entry)
            held.append((first.at, first.board, dict(first.places)))
        for position, board, places in held:
            back = Follower(TOPIC)
            back.at, back.board, back.places = position, board, dict(places)
            await back.follow(at.feeds)
            assert back.recovered == [True]
            assert (back.shown, back.board, back.at) == (first.shown, first.board, first.at)
        assert first.at is not None
        version, hash_ = first.at
        for wrong in ((version + 1, hash_), (version, "A" * 43 + "="), (0, hash_)):
            lost = Follower(TOPIC)
            lost.at = wrong
            await lost.follow(at.feeds)
            assert lost.recovered == [False]
            assert lost.shown == first.shown


async def test_what_is_kept_is_bounded_and_a_reader_who_was_away_too_long_gets_the_whole(tmp_path: Path) -> None:
    async with telling(tmp_path, [house(player(0), True)]) as at:
        first, away = Follower(TOPIC), Follower(TOPIC)
        await first.follow(at.feeds)
        await away.follow(at.feeds)
        at.feeds.leave(away.watcher, TOPIC)
        for number in range(DELTAS_KEPT + 1):
            await at.grow(house(player(number % 3), True))
        await away.follow(at.feeds)
        assert away.recovered == [False, False]
        assert away.shown == first.shown == await at.expected("all")


async def test_at_midnight_a_day_goes_over_to_the_next_one(tmp_path: Path) -> None:
    async with telling(tmp_path, [house(player(0), True), house(player(1), True, at_ms=MONDAY_MS + DAY_MS)]) as at:
        follower = Follower(DAY)
        await follower.follow(at.feeds)
        assert (follower.board["window"], follower.board["until_ms"]) == ("2026-11-30", MONDAY_MS + DAY_MS)
        assert [place["player"] for place in follower.shown] == [player(0).hex()]
        at.now_ms = MONDAY_MS + DAY_MS - 1
        await at.feeds.tell()
        assert follower.board["window"] == "2026-11-30"
        position = follower.at
        at.now_ms += 1
        await at.feeds.tell()
        assert (follower.board["window"], follower.board["until_ms"]) == ("2026-12-01", MONDAY_MS + 2 * DAY_MS)
        assert [place["player"] for place in follower.shown] == [player(1).hex()]
        # The ledger stood still: the position doesn't say on which side of midnight somebody stands.
        assert follower.at == position
        back = Follower(DAY)
        back.at = position
        await back.follow(at.feeds)
        assert back.recovered == [False]
        await at.grow(house(player(2), True, at_ms=MONDAY_MS + DAY_MS))
        for each in (follower, back):
            assert each.shown == await at.expected("day")
        await back.follow(at.feeds)
        assert back.recovered == [False, True]


async def test_a_name_that_changes_is_told_though_the_ledger_stands_still(tmp_path: Path) -> None:
    async with telling(tmp_path, [house(player(0), True)]) as at:
        follower = Follower(TOPIC)
        await follower.follow(at.feeds)
        position = follower.at
        for name in ("Ada", "Grace"):
            at.known[player(0)] = name
            await at.feeds.tell()
            assert [place["name"] for place in follower.shown] == [name]
        late, back = Follower(TOPIC), Follower(TOPIC)
        back.at = position
        for each in (late, back):
            await each.follow(at.feeds)
            assert each.recovered == [False]
            assert each.shown == follower.shown


@pytest.mark.parametrize(
    "topic",
    [
        "board/",
        "board/states-relaxed/wins",
        "board/states-relaxed/wins/2026-W49",
        "board/states-relaxed/wins/year",
        "board/states-relaxed/rating/all",
        "board/states-relaxed/current_streak/week",
        "board/classic-house/wins/all",
        "board/states-relaxed/wins/all/more",
    ],
)
async def test_there_is_no_feed_of_a_board_that_there_is_not(tmp_path: Path, topic: str) -> None:
    async with telling(tmp_path, []) as at:
        follower = Follower(topic)
        await follower.follow(at.feeds)
        assert follower.frames == [{"type": "not_subscribed", "topic": topic, "reason": Trouble.UNKNOWN_TOPIC}]
        assert len(at.feeds) == 0


async def test_nothing_is_kept_of_whoever_has_gone(tmp_path: Path) -> None:
    async with telling(tmp_path, [house(player(0), True)]) as at:
        followers = [Follower(topic) for topic in (TOPIC, DAY) for _ in range(50)]
        for each in followers:
            await each.follow(at.feeds)
        assert len(at.feeds) == 2
        for each in followers[1:]:
            at.feeds.gone(each.watcher)
        assert len(at.feeds) == 1
        before = [len(each.frames) for each in followers]
        await at.grow(house(player(1), True))
        assert [len(each.frames) for each in followers] == [before[0] + 1, *before[1:]]
        at.feeds.leave(followers[0].watcher, TOPIC)
        assert len(at.feeds) == 0


# ---------------------------------------------------------------- over a socket


def told(client: Client, type_: str) -> list[Any]:
    return [frame for frame in client.frames if frame["type"] == type_ and frame.get("topic", "").startswith("board/")]


async def test_a_win_reaches_whoever_watches_without_a_session(tmp_path: Path) -> None:
    topic = "board/states-relaxed/wins/week"
    with serving(tmp_path) as server:
        async with connected(server) as watcher, connected(server, guest := server.join()) as client:
            await watcher.send({"type": "subscribe", "topic": topic})
            await watcher.until(lambda: told(watcher, "snapshot"))
            wins = 0
            while not wins:
                followed = await client.follow(await client.open())
                await client.play_on(followed, Random(wins))
                wins += followed.table["finished"]["winner"] == 0
            (delta,) = await watcher.until(lambda: told(watcher, "delta"))
            (place,) = delta["put"]["places"]
            assert (place["player"], place["rank"], place["value"]) == (guest.player, 1, 1)
            with server.http() as http:
                (same,) = http.get(f"/api/boards/states-relaxed/wins/week?players={guest.player}").json()["places"]
            assert place == same
            await watcher.send({"type": "unsubscribe", "topic": topic})
            await watcher.send({"type": "subscribe", "topic": topic, "after": [delta["version"], delta["hash"]]})
            recovered = (await watcher.until(lambda: told(watcher, "subscribed")[1:]))[0]
            assert (recovered["recovered"], recovered["version"]) == (True, delta["version"])
