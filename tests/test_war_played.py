"""A War through the product's own doors: the same open, do, subscribe as any game, and piles never travel."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from events import codec
from events.database import Database
from events.sqlite import SCHEMA, SqliteLog
from projections.audit import audit
from projections.saved import Saved
from rules.game import Reason
from rules.war import Position, Turned
from server.audience import Audience
from server.connection import Connection
from server.games import Games
from server.replaying import Recordings
from server.wire import JSON
from tests.positions import KEY, NOW, PLAYER
from tests.running import Wide
from tests.test_war_laws import cards_in

pytestmark = pytest.mark.anyio


class Player:
    """A connection, and the messages it was sent."""

    def __init__(self, games: Games, audience: Audience, log: SqliteLog, player: bytes | None) -> None:
        self.messages: list[dict[str, Any]] = []
        self.connection = Connection(
            games,
            audience,
            Recordings(log),
            JSON,
            player,
            Wide(lambda frame: self.messages.append(msgspec.json.decode(frame))),
        )
        self.log = log
        self.seconds = 0.0

    async def send(self, **message: Any) -> None:
        self.seconds += 1
        if (rest := self.connection.receive(msgspec.json.encode(message), self.seconds)) is not None:
            await rest

    async def ask(self, **message: Any) -> dict[str, Any]:
        """Sends a message with an id of its own, and returns the answer to it."""
        id_ = f"id-{len(self.messages)}"
        await self.send(id=id_, **message)
        return next(message for message in reversed(self.messages) if message.get("id") == id_)

    async def open(self, rules: str, **settings: int | str) -> str:
        game: str = (await self.ask(type="open", rules=rules, mode="house", settings=settings))["game"]
        await self.send(type="subscribe", topic=f"game/{game}")
        return game

    async def do(self, game: str, do: str, **fields: Any) -> dict[str, Any]:
        return await self.ask(type="do", game=game, command={"do": do, **fields})

    def table(self) -> dict[str, Any]:
        backwards = reversed(self.messages)
        return next(message["table"] for message in backwards if message["type"] == "events" and message["table"])

    async def saved(self, game: str) -> Saved:
        return Saved(bytes.fromhex(game), tuple(await self.log.read(bytes.fromhex(game))))


@asynccontextmanager
async def served(tmp_path: Path) -> AsyncIterator[Player]:
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database)
    games = Games(log, {1: KEY}, lambda: NOW)
    player = Player(games, Audience(games, log), log, PLAYER)
    try:
        yield player
    finally:
        player.connection.leave()
        await database.close()


ENTROPY = "A" * 43 + "="


@pytest.mark.parametrize(
    ("rules", "times"),
    [("playbook/1", 10), ("gameweave/1", 1), ("classic/1", 1)],
    ids=["playbook", "gameweave", "classic"],
)
async def test_a_war_is_opened_turned_and_audited_like_any_game(tmp_path: Path, rules: str, times: int) -> None:
    async with served(tmp_path) as player:
        met = await player.ask(type="meet", rules=rules, mode="house")
        assert met["rival"] == ""
        game = await player.open(rules)
        assert game == met["game"]
        assert (await player.do(game, "Mix", entropy=ENTROPY))["type"] == "done"
        while not player.table()["finished"]:
            battle = player.table()["position"]["battle"]
            assert (await player.do(game, "Turn", battle=battle, times=times))["type"] == "done"
        assert (await player.do(game, "Turn", battle=1, times=1))["reason"] == Reason.OVER
        findings = audit(await player.saved(game))
        assert findings.passed
        assert findings.over
        check_shown(player.messages)
        assert await player.open(rules) != game


def check_shown(messages: list[dict[str, Any]]) -> None:
    """No card in any frame but face-up ones, from then on; no hand holds any."""
    face_up: set[int] = set()
    for message in messages:
        assert message["type"] in ("met", "done", "refused", "subscribed", "events", "hand")
        if message["type"] == "hand":
            assert message["cards"] == []
        if message["type"] != "events":
            continue
        told: set[int] = set()
        for event in message["events"]:
            fact = codec.decode(msgspec.convert(event["body"], bytes)).fact
            face_up |= set(fact.cards) if isinstance(fact, Turned) else set()
            told |= set(cards_in(fact, type(fact)))
        if message["table"] and message["table"]["position"]:
            told |= set(cards_in(msgspec.convert(message["table"]["position"], Position), Position))
        assert told <= face_up


async def test_an_open_deal_is_played_at_once_and_the_next_one_has_other_settings(tmp_path: Path) -> None:
    async with served(tmp_path) as player:
        game = await player.open("classic/1", seed=12)
        for battle in range(1, 6):
            assert (await player.do(game, "Turn", battle=battle, times=1))["type"] == "done"
        assert player.table()["position"]["sizes"] == [29, 23]
        assert player.table()["position"]["rows"] == [[20, 33], [3, 26]]
        assert (await player.do(game, "Mix", entropy=ENTROPY))["reason"] == Reason.OPEN_DEAL
        assert (await player.do(game, "Resign"))["type"] == "done"
        assert player.table()["finished"] == {"winner": None, "reason": "left"}
        assert audit(await player.saved(game)).over
        another = await player.open("classic/1", down=1, length="short")
        assert another != game
        assert player.table()["opened"]["settings"] == [["down", 1], ["length", "short"]]


async def test_a_turn_sent_twice_happens_once(tmp_path: Path) -> None:
    async with served(tmp_path) as player:
        game = await player.open("playbook/1")
        await player.do(game, "Mix", entropy=ENTROPY)
        turn = {"do": "Turn", "battle": 1, "times": 10}
        for _ in range(2):
            await player.send(type="do", id="twice", game=game, command=turn)
        first, second = [each for each in player.messages if each.get("id") == "twice"]
        assert first == second
        assert player.table()["position"]["battles"] == 10


@pytest.mark.parametrize(
    ("rules", "settings", "reason"),
    [
        ("classic/1", {"seed": "12"}, Reason.BAD_SEED),
        ("classic/1", {"seed": 2**32}, Reason.BAD_SEED),
        ("classic/1", {"down": 2}, Reason.UNKNOWN_SETTING),
        ("playbook/1", {"seed": 12}, Reason.UNKNOWN_SETTING),
    ],
    ids=str,
)
async def test_a_setting_that_can_not_be_is_refused(
    tmp_path: Path, rules: str, settings: dict[str, int | str], reason: Reason
) -> None:
    async with served(tmp_path) as player:
        answer = await player.ask(type="open", rules=rules, mode="house", settings=settings)
        assert answer["reason"] == reason


@pytest.mark.parametrize("mode", ["versus", "relaxed"])
async def test_a_mode_that_is_not_against_the_computer_is_refused(tmp_path: Path, mode: str) -> None:
    async with served(tmp_path) as player:
        assert (await player.ask(type="open", rules="classic/1", mode=mode))["reason"] == Reason.UNKNOWN_MODE
