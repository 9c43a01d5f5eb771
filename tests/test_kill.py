"""A server that is killed, stopped, starved of its disk or given damaged games: what was acknowledged stays."""

import asyncio
import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.exceptions import InvalidHandshake

from events import codec
from events.chain import Head
from events.database import Database
from events.sqlite import SqliteLog
from projections import saved
from rules import game
from rules.catalogue import RULES as ALL_RULES
from rules.fifty_states import Played
from rules.game import DAY_MS, Mix, Table
from server.app import SCHEMAS
from server.clock import now_ms
from server.games import Games
from server.keys import operator_keys
from server.people import token_text
from server.sqlite_people import SqlitePeople
from server.stores import PEOPLE_SCHEMAS
from tests.running import (
    BOTH,
    ROOT,
    RULES,
    Client,
    Closed,
    Followed,
    Guest,
    Message,
    Server,
    cause,
    connect,
    connected,
    eventually,
    wait_seconds_max,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path).start()
    try:
        yield running
    finally:
        if running.running:
            running.stop()


# ---------------------------------------------------------------- killed at any moment


@dataclass(slots=True)
class Remembered:
    """A command as its player remembers it."""

    game: bytes
    player: bytes
    id: str
    command: Message
    answer: Message | None = None
    """Once it came."""

    @property
    def cause(self) -> bytes:
        return cause(self.game, self.player, self.id, self.command)


@dataclass(slots=True)
class Person:
    """Plays game after game over a server that comes and goes; sends what wasn't answered again, with the same id."""

    server: Server
    up: asyncio.Event
    guest: Guest
    chance: Random
    games_left: int
    games: dict[bytes, Followed] = field(default_factory=dict)
    commands: list[Remembered] = field(default_factory=list)
    seals: dict[tuple[bytes, int], bytes] = field(default_factory=dict)
    retries: int = 0

    async def play(self) -> None:
        while self.games_left:
            await self.up.wait()
            with contextlib.suppress(Closed, OSError, InvalidHandshake, EOFError):
                async with connected(self.server, self.guest, self.chance.choice(BOTH)) as client:
                    await self._play(client)

    async def _play(self, client: Client) -> None:
        while self.games_left:
            if self.commands and self.commands[-1].answer is None:
                self.retries += 1
                await self._send(client, self.commands[-1])
            unfinished = [followed for followed in self.games.values() if not followed.over]
            if not unfinished:
                game_id = await client.open(self.chance.choice(["relaxed", "strategic"]))
                unfinished = [self.games.setdefault(game_id, Followed(game_id))]
            for held in unfinished:
                followed = await client.follow(held.game, held.head if held.events else None, held)
                # Whatever was shown once is there for ever: nobody is ever told to drop what he holds.
                assert followed.starts[-1]["recovered"] is True
                while not followed.over:
                    await self._act(client, followed)
                self.games_left -= 1

    async def _act(self, client: Client, followed: Followed) -> None:
        position = followed.table["position"]
        command: Message
        if position is None:
            command = {"do": "Mix", "entropy": self.chance.randbytes(32)}
        else:
            await client.until(lambda: followed.my_turn)
            assert followed.hand is not None
            self._see(followed)
            command = {"do": "Play", "battle": followed.battle, "card": self.chance.choice(followed.hand)}
        player = bytes.fromhex(self.guest.player)
        self.commands.append(Remembered(followed.game, player, f"c{len(self.commands)}", command))
        answer = await self._send(client, self.commands[-1])
        await client.reach(followed, answer["version"])

    async def _send(self, client: Client, remembered: Remembered) -> Message:
        answer = await client.do(remembered.game, remembered.command, remembered.id)
        assert answer["type"] == "done", (remembered, answer)
        remembered.answer = answer
        return answer

    def _see(self, followed: Followed) -> None:
        """The house's seal for a battle is the same whenever it is looked at."""
        fact = next(fact for fact in reversed(followed.facts) if type(fact).__name__ == "Committed")
        assert self.seals.setdefault((followed.game, fact.battle), fact.seal) == fact.seal


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.thorough
async def test_whatever_was_acknowledged_before_a_kill_is_there_after_it(server: Server, seed: int) -> None:
    chance = Random(seed)
    up = asyncio.Event()
    up.set()
    people = [Person(server, up, server.join(), Random(f"{seed} {number}"), 10**6) for number in range(3)]
    playing = [asyncio.create_task(person.play()) for person in people]

    def commands() -> int:
        return sum(len(person.commands) for person in people)

    for _ in range(6):
        wanted = commands() + chance.randint(1, 60)
        await eventually(lambda wanted=wanted: commands() >= wanted or any(task.done() for task in playing))  # type: ignore[misc]
        await asyncio.sleep(chance.random() * 0.01)
        up.clear()
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        up.set()
    for person in people:
        person.games_left = 1
    await asyncio.gather(*playing)
    assert "Traceback" not in server.errors

    assert sum(person.retries for person in people) > 0, "no kill fell between a command and its answer"
    for person in people:
        logs = {game_id: saved.load(server.export(game_id)).events for game_id in person.games}
        made: dict[bytes, list[Head]] = defaultdict(list)
        for game_id, events in logs.items():
            assert server.audit(game_id).over
            assert tuple(person.games[game_id].events) == events
            for event in events:
                made[codec.decode(event.body).cause].append(event.head)
        for remembered in person.commands:
            heads = made[remembered.cause]
            versions = [head.version for head in heads]
            assert versions == list(range(versions[0], versions[0] + len(versions))), "applied twice"
            assert remembered.answer is not None
            assert heads[-1] == Head(remembered.answer["version"], remembered.answer["hash"])
        battles = sum(isinstance(fact, Played) for followed in person.games.values() for fact in followed.facts)
        assert battles == sum(remembered.command["do"] == "Play" for remembered in person.commands)


async def test_a_command_from_before_a_restart_gets_its_first_answer_again(server: Server) -> None:
    guest = server.join()
    async with connected(server, guest) as client:
        followed = await client.follow(await client.open())
        sent: list[tuple[Message, str]] = [({"do": "Mix", "entropy": bytes(32)}, "first")]
        answers = [await client.mix(followed, id_="first")]
        while not followed.over and len(answers) < 7:
            assert followed.hand is not None
            sent.append(({"do": "Play", "battle": followed.battle, "card": followed.hand[-1]}, f"c{len(answers)}"))
            answers.append(await client.play(followed, followed.hand[-1], sent[-1][1]))
    server.kill()
    server.start()
    async with connected(server, guest) as client:
        assert [await client.do(followed.game, *each) for each in sent] == answers
        again = await client.follow(followed.game, followed.head, followed)
        assert again.starts[-1]["recovered"] is True
        await client.play_on(again, Random(1))
    assert server.audit(followed.game).over


async def test_an_unfinished_game_is_the_players_game_after_a_restart(server: Server) -> None:
    guest = server.join()
    async with connected(server, guest) as client:
        met = await client.ask("meet", rules=RULES, mode="strategic")
        relaxed = await client.open("relaxed")
    server.kill()
    server.start()
    async with connected(server, guest) as client:
        again = await client.ask("meet", rules=RULES, mode="strategic")
        assert (again["game"], again["rival"], again["live"]) == (met["game"], met["rival"], False)
        assert (await client.open("strategic")).hex() == met["game"]
        assert await client.open("relaxed") == relaxed


async def test_a_server_that_is_told_to_go_says_so_and_loses_nothing(server: Server) -> None:
    up = asyncio.Event()
    up.set()
    people = [Person(server, up, server.join(), Random(number), 10**6) for number in range(4)]
    watchers = [await connect(server, None, BOTH[number % 2]) for number in range(4)]
    playing = [asyncio.create_task(person.play()) for person in people]
    await eventually(lambda: all(len(person.commands) > 5 for person in people))
    up.clear()
    assert await asyncio.to_thread(server.stop) == -signal.SIGTERM
    assert {await client.close_code() for client in watchers} <= {1001, 1012}
    for client in watchers:
        await client.leave()
    await asyncio.to_thread(server.start)
    up.set()
    for person in people:
        person.games_left = 1
    await asyncio.gather(*playing)
    assert "Traceback" not in server.errors
    for person in people:
        for game_id, followed in person.games.items():
            assert server.audit(game_id).head == followed.head
            heads = {event.head for event in followed.events}
            for remembered in person.commands:
                assert remembered.answer is not None
                if remembered.game == game_id:
                    assert Head(remembered.answer["version"], remembered.answer["hash"]) in heads


# ---------------------------------------------------------------- a disk that takes nothing


async def test_while_the_disk_is_full_commands_are_to_be_tried_again_and_nothing_forks(server: Server) -> None:
    guest, neighbour = server.join(), server.join()
    async with connected(server, guest) as client, connected(server, neighbour) as other:
        followed = await client.follow(await client.open())
        await client.mix(followed)
        assert followed.hand is not None
        head = followed.head
        play = {"do": "Play", "battle": 1, "card": followed.hand[0]}
        wal_bytes = (server.data / "statecraft.db-wal").stat().st_size
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        # From here on the file can't grow: every COMMIT fails.
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (wal_bytes, hard))
        answers = await asyncio.gather(
            client.do(followed.game, play, "full"),
            other.ask("open", "full", rules=RULES, mode="relaxed", settings={}),
            other.ask("meet", rules=RULES, mode="strategic"),
        )
        assert [answer.get("reason") for answer in answers] == ["try_again"] * 3
        # Whoever watches still can, and sees nothing that isn't stored.
        watcher = await connect(server)
        assert (await watcher.follow(followed.game)).head == head
        await watcher.leave()
        assert followed.head == head
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
        done = await client.do(followed.game, play, "full")
        assert done["type"] == "done"
        await client.reach(followed, done["version"])
        assert len([fact for fact in followed.facts if isinstance(fact, Played)]) == 1
        await client.play_on(followed, Random(1))
        assert server.audit(followed.game).over
        theirs = await other.follow(await other.open(id_="full"))
        await other.play_on(theirs, Random(2))
        assert server.audit(theirs.game).over
    assert "Traceback" not in server.errors


# ---------------------------------------------------------------- games that were changed behind our back


def audit(server: Server, game_id: bytes) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "server", "audit", game_id.hex(), "--data", str(server.data)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=wait_seconds_max,
        check=False,
    )


def flip_in_the_file(data: Path, game_id: bytes, body: bytes) -> None:
    """One bit of one stored body, in the bytes on the disk."""
    file = data / "statecraft.db"
    content = bytearray(file.read_bytes())
    at = content.find(body)
    assert at >= 0
    assert content.find(body, at + 1) == -1
    content[at + len(body) - 1] ^= 1
    file.write_bytes(content)


@contextlib.contextmanager
def tables(data: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(data / "statecraft.db")
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


async def test_a_stored_game_that_does_not_hash_is_not_continued_and_disturbs_no_other(server: Server) -> None:
    guest, neighbour = server.join(), server.join()
    async with connected(server, guest) as client, connected(server, neighbour) as other:
        broken = await client.follow(await client.open("relaxed"))
        await client.mix(broken)
        await client.play(broken)
        whole = await client.follow(await client.open("strategic"))
        await client.mix(whole)
        theirs = await other.follow(await other.open("relaxed"))
        await other.play_on(theirs, Random(1))
    server.stop()
    version = 5
    flip_in_the_file(server.data, broken.game, broken.events[version - 1].body)
    server.start()

    done = audit(server, broken.game)
    assert done.returncode == 1
    assert f"FAILED at event {version}" in done.stdout
    assert audit(server, theirs.game).returncode == 0
    async with connected(server, guest) as client:
        for command in ({"do": "Play", "battle": broken.battle, "card": 1}, {"do": "Resign"}):
            answer = await client.do(broken.game, command)
            assert (answer["type"], answer["reason"]) == ("refused", "damaged")
        await client.send({"type": "subscribe", "topic": broken.topic})
        await client.until(lambda: client.frames[-1].get("reason") == "damaged")
        with server.http() as http:
            assert http.get(f"/api/games/{broken.game.hex()}/review").status_code == 500
            assert http.get(f"/api/games/{broken.game.hex()}/review").json()["error"] == "damaged"
        fresh = await client.open("relaxed")
        assert fresh != broken.game
        assert await client.open("relaxed") == fresh
        assert await client.open("strategic") == whole.game
        await client.play_on(await client.follow(fresh), Random(2))
        again = await client.follow(whole.game, whole.head, whole)
        await client.play_on(again, Random(3))
    assert server.audit(fresh).over
    assert server.audit(whole.game).over
    assert server.errors == ""
    with tables(server.data) as connection:
        rows = connection.execute("SELECT count(*) FROM events WHERE game = ?", (broken.game,)).fetchone()
    assert rows == (len(broken.events),), "nothing was added to it"


CHANGES = (
    "UPDATE events SET hash = zeroblob(32) WHERE game = ?1 AND version = 4",
    "UPDATE events SET body = x'00' WHERE game = ?1 AND version = 1",
    "UPDATE events SET version = 99 WHERE game = ?1 AND version = 5",
    "DELETE FROM events WHERE game = ?1 AND version = 4",
    "DELETE FROM events WHERE game = ?1 AND version = 1",
    "DELETE FROM events WHERE game = ?1 AND version = (SELECT max(version) FROM events WHERE game = ?1)",
    "DELETE FROM events WHERE game = ?1",
    "UPDATE games SET hash = zeroblob(32) WHERE game = ?1",
    "UPDATE games SET version = version - 1 WHERE game = ?1",
    "UPDATE games SET version = version + 1 WHERE game = ?1",
    "DELETE FROM games WHERE game = ?1",
)


async def test_however_a_stored_game_was_changed_its_player_is_told_and_gets_a_new_one(server: Server) -> None:
    guests = {change: server.join() for change in CHANGES}
    broken = {}
    for change, guest in guests.items():
        async with connected(server, guest) as client:
            followed = await client.follow(await client.open())
            await client.mix(followed)
            await client.play(followed)
            broken[change] = followed.game
    server.stop()
    with tables(server.data) as connection:
        for change, game_id in broken.items():
            assert connection.execute(change, (game_id,)).rowcount > 0
    server.start()
    for change, guest in guests.items():
        async with connected(server, guest) as client:
            answer = await client.do(broken[change], {"do": "Resign"})
            expected = "unknown_game" if change == "DELETE FROM events WHERE game = ?1" else "damaged"
            assert (answer["type"], answer["reason"]) == ("refused", expected), change
            fresh = await client.open()
            assert fresh != broken[change], change
            await client.play_on(await client.follow(fresh), Random(1))
        assert server.audit(fresh).over
    assert server.errors == ""


# ---------------------------------------------------------------- seven days


class Past:
    """A data directory with games that were begun some time ago."""

    def __init__(self, database: Database, people: Database, keys: dict[int, bytes]) -> None:
        self.now_ms = 0
        self.people = SqlitePeople(people)
        self.log = SqliteLog(database, lambda: self.now_ms)
        self.games = Games(self.log, keys, lambda: self.now_ms)

    async def join(self) -> Guest:
        player, token = await self.people.join(self.now_ms)
        return Guest(player.hex(), token_text(token))

    async def begin(self, guest: Guest, days_ago: float, mode: str = "relaxed", mix: bool = True) -> bytes:
        self.now_ms = now_ms() - int(days_ago * DAY_MS)
        player = bytes.fromhex(guest.player)
        opened = await self.games.open(player, ALL_RULES[RULES], mode, (), "open")
        assert isinstance(opened, tuple)
        if mix:
            assert isinstance(await self.games.do(opened[0], player, Mix(bytes(32)), "mix"), Head)
        return opened[0]


def table_of(events: Any) -> Table:
    table = Table(bytes(16))
    for event in events:
        table = game.evolve(ALL_RULES[RULES], table, codec.decode(event.body).fact)
    return table


async def test_a_game_is_over_seven_days_after_its_opening(tmp_path: Path) -> None:
    server = Server(tmp_path, {"STATECRAFT_SWEEP_SECONDS": "1"})
    server.data.mkdir()
    database = await Database.open(server.data / "statecraft.db", SCHEMAS)
    people = await Database.open(server.data / "people.db", PEOPLE_SCHEMAS)
    past = Past(database, people, dict(operator_keys(server.data / "keys")))
    guest = await past.join()
    late = await past.begin(guest, 7.5)
    void = await past.begin(guest, 8, "strategic", mix=False)
    other = await past.join()
    running = await past.begin(other, 6.9)
    hurried = await past.begin(other, 7 - 2 / 86400, "strategic")
    lost = await past.begin(await past.join(), 9)
    damaged = await past.begin(await past.join(), 9)
    await people.close()
    await database.close()
    with tables(server.data) as connection:
        connection.execute("DELETE FROM events WHERE game = ?", (lost,))
        connection.execute("UPDATE events SET body = x'00' WHERE game = ? AND version = 3", (damaged,))
    server.start()
    try:
        async with connected(server, other) as client:
            live = await client.follow(hurried)
            # Its seven days end while its player looks on.
            await client.until(lambda: live.over)
            assert live.table["finished"] == {"winner": 1, "reason": "time"}
            findings = {game_id: await eventually(lambda g=game_id: over(server, g)) for game_id in (late, void)}  # type: ignore[misc]
            assert findings[late].result == "seat 1 won (time)"
            assert findings[void].result == "nobody won (void)"
            assert not server.audit(running).over
            still = await client.follow(running)
            await client.play_on(still, Random(1))
            assert server.audit(running).over
        async with connected(server, guest) as client:
            answer = await client.do(late, {"do": "Resign"})
            assert answer["reason"] == "over"
            assert await client.open("relaxed") != late
            assert await client.open("strategic") != void
        with server.http() as http:
            mine = {"Authorization": f"Bearer {guest.token}"}
            rows = await eventually(lambda: http.get("/api/me/rivals", headers=mine).json()["rivals"])
        assert [(row["mode"], row["games"], row["wins"]) for row in rows] == [("relaxed", 1, 0)]
        assert server.errors == ""
    finally:
        server.stop()


def over(server: Server, game_id: bytes) -> Any:
    findings = server.audit(game_id)
    return findings if findings.over else None
