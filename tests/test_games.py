"""The command loop and the audience over a log that does its worst: every game ends, once, and everybody sees it."""

import asyncio
import base64
import itertools
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgpack
import pytest

from events import codec
from events.chain import Head
from events.database import Database
from events.log import Batch, Listener, Log, Unknown
from events.sqlite import SCHEMA, SqliteLog
from projections.audit import audit
from projections.saved import Saved
from rules.catalogue import RULES as ALL_RULES
from rules.fifty_states import Played
from rules.game import Finished, Lost, Mix, Resign, Unsealed
from server import games as games_module
from server.audience import Audience
from server.connection import Connection
from server.games import Games
from server.recent import Fork
from server.replaying import Recordings
from server.wire import CODECS, Codec
from tests.contrary import ContraryLog
from tests.running import RULES, Followed, Message, Wide, cause, eventually, plain

pytestmark = pytest.mark.anyio

KEYS = {1: b"an operator's key of 32 bytes ok"}
NOW = 1_790_000_000_000
MODES = ("relaxed", "strategic")


class Peer:
    """A client without a socket, whose frames go straight into a Connection."""

    def __init__(self, games: Games, audience: Audience, player: bytes | None, codec_: Codec) -> None:
        self._codec = codec_
        self._now = itertools.count()
        self.connection = Connection(games, audience, Recordings(games._log), codec_, player, Wide(self._take))
        self.frames: list[Message] = []
        self.answers: dict[str, Message] = {}
        self.games: dict[bytes, Followed] = {}

    def _take(self, frame: bytes) -> None:
        told = plain(json.loads(frame) if self._codec.text else msgpack.unpackb(frame))
        self.frames.append(told)
        if "id" in told:
            self.answers[told["id"]] = told
        if (game := bytes.fromhex(told.get("topic", "").removeprefix("game/"))) in self.games:
            self.games[game].take(told)

    async def send(self, message: Message) -> None:
        packed: Any = json.dumps(message, default=_base64) if self._codec.text else msgpack.packb(message)
        if (rest := self.connection.receive(packed, next(self._now))) is not None:
            await rest

    async def ask(self, message: Message) -> Message:
        """As a client that does what the documents say: `try_again` is tried again with the same id."""
        while True:
            await self.send(message)
            answer = self.answers.pop(message["id"])
            if answer.get("reason") != "try_again":
                return answer

    async def do(self, game: bytes, id_: str, command: Message) -> Message:
        return await self.ask({"type": "do", "id": id_, "game": game.hex(), "command": command})

    async def open(self, mode: str, id_: str) -> bytes:
        done = await self.ask({"type": "open", "id": id_, "rules": RULES, "mode": mode, "settings": {}})
        assert done["type"] == "done", done
        return bytes.fromhex(done["game"])

    async def follow(self, game: bytes, after: Head | None = None) -> Followed:
        followed = self.games.setdefault(game, Followed(game))
        message: dict[str, Any] = {"type": "subscribe", "topic": followed.topic}
        await self.send(message if after is None else {**message, "after": [after.version, after.hash]})
        return followed


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


async def until(condition: Callable[[], Any]) -> None:
    """Let the others go first until it holds. Nothing here waits for a clock, so that is soon or never."""
    for _ in range(100_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came")


class Table:
    """Two players with two connections each and some watchers, all over one log."""

    def __init__(self, log: Log, seed: int) -> None:
        self.log = log
        self.chance = Random(seed)
        self.games = Games(log, KEYS, lambda: NOW)
        self.audience = Audience(self.games, log)
        self.opened: list[bytes] = []
        self.sent: defaultdict[bytes, list[bytes]] = defaultdict(list)
        """The causes of what was asked, by game."""

    def peer(self, player: bytes | None) -> Peer:
        return Peer(self.games, self.audience, player, self.chance.choice(list(CODECS.values())))

    async def play(self, player: bytes, mode: str) -> Followed:
        twins = [self.peer(player), self.peer(player)]
        opened = await asyncio.gather(*(twin.open(mode, f"open-{mode}") for twin in twins))
        assert opened[0] == opened[1]
        game = opened[0]
        self.opened.append(game)
        followed, other = [await twin.follow(game) for twin in twins]

        async def both(id_: str, command: Message) -> None:
            self.sent[game].append(cause(game, player, id_, command))
            answers = await asyncio.gather(*(twin.do(game, id_, command) for twin in twins))
            assert answers[0]["type"] == "done", answers
            assert answers[0] == answers[1]
            await until(lambda: followed.head.version >= answers[0]["version"])

        await both("mix", {"do": "Mix", "entropy": self.chance.randbytes(32)})
        while not followed.over:
            await until(lambda: followed.my_turn)
            assert followed.hand is not None
            command = {"do": "Play", "battle": followed.battle, "card": self.chance.choice(followed.hand)}
            await both(f"battle-{followed.battle}", command)
        await until(lambda: other.head == followed.head)
        assert other.events == followed.events
        for twin in twins:
            twin.connection.leave()
        return followed

    async def watch(self, number: int, over: Callable[[], bool]) -> None:
        """Subscribe again and again from anywhere, to games that go on."""
        peer = self.peer(None)
        while not over():
            for game in self.opened:
                followed = peer.games.get(game)
                heads = [event.head for event in followed.events[-4:]] if followed else []
                await peer.follow(game, self.chance.choice([None, *heads]))
                assert peer.games[game].starts[-1]["recovered"] is True
            for _ in range(self.chance.randint(1, 200)):
                await asyncio.sleep(0)
        for game in self.opened:
            await peer.follow(game, peer.games[game].head if game in peer.games else None)
            assert peer.games[game].events == list(await self.log.read(game))
            assert not any(frame["type"] == "hand" for frame in peer.frames)
        peer.connection.leave()


async def check(table: Table, followed: Followed) -> None:
    """One chain, sound to the last byte; each command in it once, and in one piece."""
    events = tuple(await table.log.read(followed.game))
    assert tuple(followed.events) == events
    findings = audit(Saved(followed.game, events))
    assert findings.passed, findings.failure
    assert findings.over
    causes = [codec.decode(event.body).cause for event in events]
    in_order = [cause for cause, _ in itertools.groupby(causes)]
    assert in_order[1:] == table.sent[followed.game]
    assert len(set(in_order)) == len(in_order)


class Away(ContraryLog):
    """Its store can't be reached for a while."""

    heads_away = appends_away = 0
    """How many of them say so from here on."""

    async def head(self, game: bytes) -> Head:
        self.heads_away -= 1
        if self.heads_away >= 0:
            raise Unknown("away")
        return await super().head(game)

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        self.appends_away -= 1
        if self.appends_away >= 0:
            raise Unknown("away")
        return await super().append(game, head, batch)


@pytest.mark.parametrize(("heads", "appends"), [(0, 0), (3, 0), (0, 3), (0, 50), (3, 50)])
async def test_a_game_that_was_lost_is_closed_once_however_long_the_store_is_away(
    heads: int, appends: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games_module, "LOSE_AGAIN_SECONDS", 0)
    log = Away(calm=True)
    table = Table(log, 1)
    peer = table.peer(bytes(15) + b"\1")
    game = await peer.open("relaxed", "open")
    await peer.follow(game)
    await peer.do(game, "mix", {"do": "Mix", "entropy": bytes(32)})
    events = await log.read(game)
    # All after the opening is said to have been shown, and to be gone, whatever the log holds now.
    fork = Fork(game, events[2].head, tuple(events[3:]))
    log.heads_away, log.appends_away = heads, appends
    await table.games.lose(fork)
    await until(lambda: not table.games._losing)
    facts = [codec.decode(event.body).fact for event in await log.read(game)]
    assert [type(fact) for fact in facts[-3:]] == [Lost, Finished, Unsealed]
    assert [type(fact) for fact in facts].count(Lost) == 1
    peer.connection.leave()


@pytest.mark.parametrize("memory", [20_000, 1], ids=["all folds kept", "one fold kept"])
@pytest.mark.parametrize("seed", range(12))
async def test_every_game_ends_once_over_a_log_that_does_its_worst(
    seed: int, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games_module, "LIVE_MAX", memory)
    log = ContraryLog(seed, lambda: NOW)
    table = Table(log, seed)
    players = [bytes([number]) * 16 for number in (1, 2)]
    playing = [asyncio.create_task(table.play(player, mode)) for player in players for mode in MODES]
    watching = [
        asyncio.create_task(table.watch(number, lambda: all(task.done() for task in playing))) for number in range(3)
    ]
    for followed in await asyncio.gather(*playing):
        await check(table, followed)
    await asyncio.gather(*watching)
    assert len(table.audience) == 0
    assert log.troubles["conflict"]
    assert log.troubles["lost before"]
    assert log.troubles["lost after"]
    assert log.troubles["told late"]
    assert log.troubles["told again"]


async def test_an_audience_forgets_whoever_leaves_at_whatever_moment() -> None:
    for steps in range(40):
        table = Table(ContraryLog(steps, lambda: NOW), steps)
        game = await table.peer(b"a" * 16).open("relaxed", "open")
        peer = table.peer(None)
        peer.games[game] = Followed(game)
        asking = asyncio.create_task(peer.send({"type": "subscribe", "topic": f"game/{game.hex()}"}))
        for _ in range(steps):
            await asyncio.sleep(0)
        peer.connection.leave()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert len(table.audience) == 0


class Deaf(ContraryLog):
    """Tells nobody of anything: every delivery is lost."""

    def listen(self, listener: Listener) -> None:
        pass


async def test_what_no_delivery_told_is_read_from_the_log_after_a_while() -> None:
    table = Table(Deaf(calm=True, clock=lambda: NOW), 1)
    player, watcher = table.peer(b"p" * 16), table.peer(None)
    game = await player.open("relaxed", "open")
    seen = await watcher.follow(game)
    healing = asyncio.create_task(table.audience.heal())
    before = seen.head.version
    assert (await player.do(game, "mix", {"do": "Mix", "entropy": bytes(32)}))["type"] == "done"
    assert seen.head.version == before
    await eventually(lambda: seen.head.version > before)
    assert seen.events == list(await table.log.read(game))
    healing.cancel()
    await asyncio.gather(healing, return_exceptions=True)


# ---------------------------------------------------------------- a store whose COMMIT fails


class Counting(SqliteLog):
    """Counts the appends of which nobody knows whether they are stored."""

    unknown = 0

    async def append(self, game: bytes, head: Head, batch: Batch) -> Head:
        try:
            return await super().append(game, head, batch)
        except Unknown:
            self.unknown += 1
            raise


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[tuple[Database, Counting]]:
    database = await Database.open(folder / "log.db", (SCHEMA,))
    try:
        yield database, Counting(database)
    finally:
        await database.close()


async def fill(database: Database) -> None:
    """No page more than there is: the next transaction that needs one fails, as on a full disk."""
    pages = await database.read(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    await database.write(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())


async def test_a_commit_that_fails_is_decided_again_and_nothing_forks(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as (database, log):
        table = Table(log, 1)
        player = b"p" * 16
        peer = table.peer(player)
        while log.unknown < 3:
            game = await peer.open("relaxed", f"open-{len(table.opened)}")
            table.opened.append(game)
            followed = await peer.follow(game)
            command: Message = {"do": "Mix", "entropy": bytes(32)}
            while not followed.over:
                await fill(database)
                id_ = f"at-{followed.head.version}"
                done = await peer.do(game, id_, command)
                assert done["type"] == "done"
                table.sent[game].append(cause(game, player, id_, command))
                assert followed.head == Head(done["version"], done["hash"])
                if not followed.over:
                    assert followed.hand is not None
                    command = {"do": "Play", "battle": followed.battle, "card": followed.hand[0]}
            await check(table, followed)
        peer.connection.leave()


async def test_two_commands_at_once_are_both_decided_on_what_is_stored(tmp_path: Path) -> None:
    async with sqlite(tmp_path) as (_, log):
        table = Table(log, 1)
        player = b"p" * 16
        opened = await table.games.open(player, ALL_RULES[RULES], "relaxed", (), "open")
        assert isinstance(opened, tuple)
        game, _ = opened
        results = await asyncio.gather(
            table.games.do(game, player, Mix(bytes(32)), "one"),
            table.games.do(game, player, Mix(bytes([1]) * 32), "two"),
            table.games.do(game, player, Mix(bytes(32)), "one"),
        )
        assert results[0] == results[2]
        assert sorted(isinstance(result, Head) for result in results[:2]) == [False, True]
        assert isinstance(await table.games.do(game, player, Resign(), "three"), Head)
        facts = [codec.decode(event.body).fact for event in await table.log.read(game)]
        assert [type(fact).__name__ for fact in facts].count("Mixed") == 1
        assert not any(isinstance(fact, Played) for fact in facts)


@pytest.mark.parametrize("codec_", CODECS.values(), ids=CODECS)
async def test_a_log_that_was_damaged_under_a_known_fold_ends_a_subscription(tmp_path: Path, codec_: Codec) -> None:
    async with sqlite(tmp_path) as (database, log):
        table = Table(log, 1)
        opened = await table.games.open(b"p" * 16, ALL_RULES[RULES], "relaxed", (), "open")
        assert isinstance(opened, tuple)
        game, _ = opened
        change = "UPDATE events SET body = x'00' WHERE game = ? AND version = 2"
        await database.write(lambda connection: connection.execute(change, (game,)))
        peer = Peer(table.games, table.audience, None, codec_)
        async with asyncio.timeout(60):
            await peer.send({"type": "subscribe", "topic": f"game/{game.hex()}"})
        assert [frame["type"] for frame in peer.frames] == ["subscribed", "not_subscribed"]
        assert peer.frames[-1]["reason"] == "damaged"
        assert len(table.audience) == 0
