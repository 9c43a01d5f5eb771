"""A server killed at random points, with its sequencer, signer and projector: all is as if nothing had been killed."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidHandshake

from events import entries, merkle, tiles
from events.database import Database
from events.entries import Closing, Opening
from events.log import PARTITIONS
from events.notes import VerifierKey
from events.sqlite import SqliteLog
from events.sqlite_ledger import SqliteLedger
from projections import saved
from projections.projection import digest
from projections.seen import Seen
from projections.told import told
from projections.whole import check
from server.fetch import fetcher
from server.projector import PROJECTIONS
from server.signer import Signed, read_note
from server.sqlite_projected import SqliteProjected
from tests.running import Closed, Followed, Guest, Server, all_signed, connect, eventually, serving
from tests.test_cli import run
from tests.test_projector import contents, rebuilt
from tests.test_public import play

pytestmark = pytest.mark.anyio

BUDGET = int(os.environ.get("STATECRAFT_BUDGET", "1"))
PEOPLE = 6


class Person:
    """Plays game after game, whatever becomes of the server meanwhile."""

    def __init__(self, server: Server, up: asyncio.Event, guest: Guest, chance: Random) -> None:
        self.server, self.up, self.guest, self.chance = server, up, guest, chance
        self.last = False
        """Whether the present game is the last."""
        self.games: dict[bytes, Followed] = {}

    async def play(self) -> None:
        done = False
        while not done:
            await self.up.wait()
            with contextlib.suppress(Closed, OSError, InvalidHandshake, EOFError):
                client = await connect(self.server, self.guest)
                try:
                    while not done:
                        last = self.last
                        game = await client.open()
                        held = self.games.setdefault(game, Followed(game))
                        followed = await client.follow(game, held.head if held.head.version else None, held)
                        await client.play_on(followed, self.chance)
                        await client.send({"type": "unsubscribe", "topic": followed.topic})
                        done = last
                finally:
                    await client.leave()


class Checkpoints:
    """Every checkpoint that a reader saw: each must begin with the one before, whatever was killed in between."""

    def __init__(self) -> None:
        self.seen: list[Signed] = []

    def look(self, server: Server) -> None:
        with contextlib.suppress(httpx.HTTPError), server.http() as http:
            note = http.get("/checkpoint")
            if note.status_code == 200:
                key = VerifierKey.parse(http.get("/ledger.vkey").text.strip())
                self.seen.append(read_note(note.content, key))


@pytest.mark.parametrize(("seed", "kills"), [(1, 8), pytest.param(2, 192 * BUDGET, marks=pytest.mark.slow)])
@pytest.mark.thorough
async def test_killed_at_any_point_the_ledger_has_every_game_once_and_contradicts_no_signature(
    tmp_path: Path, seed: int, kills: int
) -> None:
    chance = Random(seed)
    server = Server(tmp_path).start()
    up = asyncio.Event()
    up.set()
    people = [Person(server, up, server.join(), Random(f"{seed} {number}")) for number in range(PEOPLE)]
    playing = [asyncio.create_task(person.play()) for person in people]
    checkpoints = Checkpoints()
    for _ in range(kills):
        await asyncio.sleep(chance.random() * 0.8)
        await asyncio.to_thread(checkpoints.look, server)
        up.clear()
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        up.set()
        assert not any(task.done() for task in playing)
    for person in people:
        person.last = True
    await asyncio.gather(*playing)

    with server.http() as http:
        at = await asyncio.to_thread(all_signed, http)
        await eventually(lambda: folded(http.get("/api/ledger").json(), at["leaves"]))
    assert (at["partitions_stopped"], at["not_signed_because"]) == ({}, None)
    await asyncio.to_thread(checkpoints.look, server)
    assert len({signed.size for signed in checkpoints.seen}) > 2, "nothing was signed between the kills"
    assert "Traceback" not in server.errors
    assert server.stop() == -15

    games = {game for person in people for game in person.games}
    bodies = await the_ledger_is_that_of_a_clean_run(server.data, games)
    await the_projections_are_those_of_a_clean_rebuild(server.data, bodies)
    for signed in checkpoints.seen:
        hashes = [merkle.leaf_hash(body) for body in bodies[: signed.size]]
        assert merkle.EMPTY.extend(hashes)[0].root == signed.checkpoint.root
    whole = run("audit", "--all", server.data / "archive", "--state", tmp_path / "seen.json")
    assert whole.returncode == 0, whole.stdout
    assert f"{len(games)} closed games, 0 open" in whole.stdout


async def the_ledger_is_that_of_a_clean_run(data: Path, games: set[bytes]) -> list[bytes]:
    """Gapless, and for each game the two leaves that its log tells; the archive holds the same."""
    database = await Database.reader(data / "statecraft.db")
    log, ledger = SqliteLog(database), SqliteLedger(database)
    head = await ledger.head()
    bodies = list(await ledger.leaves(0, head.size + 1))
    assert len(bodies) == head.size
    assert merkle.EMPTY.extend(map(merkle.leaf_hash, bodies))[0] == head
    expected: list[bytes] = []
    outboxes = [entry.body for which in range(PARTITIONS) for entry in await log.outbox(which, limit=100_000)]
    assert sorted(outboxes) == sorted(bodies)
    found = {(type(entry), entry.game): entry for entry in map(entries.decode_of_game, bodies)}
    assert len(found) == len(bodies) == 2 * len(games)
    for game in games:
        whole = saved.Saved(game, tuple(await log.read(game)))
        opening, closing = told(whole)
        mine = found[Opening, game]
        assert isinstance(mine, Opening)
        assert opening is not None
        assert closing is not None
        expected += [entries.encode(replace(opening, after=mine.after)), entries.encode(closing)]
        file = (data / "archive" / "games" / f"{game.hex()}.jsonl").read_text()
        assert file == saved.save(game, whole.events)
    assert sorted(expected) == sorted(bodies)
    assert_order([entries.decode_of_game(body) for body in bodies])
    kept: list[bytes] = []
    for bundle in tiles.bundles_made(0, head.size):
        kept += tiles.entries((data / "archive" / bundle.path).read_bytes(), bundle.width)
    assert kept == bodies
    await database.close()
    return bodies


def folded(told: Any, size: int) -> bool:
    """Whether every projection is there, without any trouble."""
    assert {each["trouble"] for each in told["projections"].values()} == {None}
    return {each["as_of"] for each in told["projections"].values()} == {size}


async def the_projections_are_those_of_a_clean_rebuild(data: Path, bodies: Sequence[bytes]) -> None:
    """Byte for byte, and so `statecraft rebuild` finds."""
    database = await Database.reader(data / "boards.db")
    store = SqliteProjected(database)
    for projection in PROJECTIONS:
        checkpoint, rows = await contents(store, projection.name)
        assert rows == rebuilt(projection, [entries.decode(body) for body in bodies])
        assert (checkpoint.as_of, checkpoint.leaf_hash) == (len(bodies), merkle.leaf_hash(bodies[-1]))
        assert checkpoint.digest == digest(rows.items())
    await database.close()
    again = await asyncio.to_thread(run, "rebuild", "--data", data)
    assert again.returncode == 0, again.stdout
    assert again.stdout.count("as the one before, which is kept") == len(PROJECTIONS)


def assert_order(found: list[Opening | Closing]) -> None:
    """A player's games one after the other, each naming the one before."""
    last: dict[tuple[bytes, str], bytes] = {}
    for entry in found:
        place = (entry.players[0], entry.ladder)
        if isinstance(entry, Opening):
            assert entry.after == ((last[place],) if place in last else ())
        last[place] = entry.game


@pytest.mark.thorough
async def test_a_server_on_an_old_backup_signs_nothing_until_it_is_refilled(tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    environment = {"STATECRAFT_ARCHIVE": str(tmp_path / "archive")}
    with serving(tmp_path, environment) as server:
        first = await play(server, 2)
        await signed_to(server, 4)
    await asyncio.to_thread(shutil.copytree, server.data, backup)
    with serving(tmp_path, environment) as server:
        second = await play(server, 3)
        await signed_to(server, 10)
    note = (tmp_path / "archive" / "checkpoint").read_bytes()
    newer = [(path.name, path.read_bytes()) for path in server.data.glob("boards.db*")]
    await asyncio.to_thread(shutil.rmtree, server.data)
    await asyncio.to_thread(shutil.copytree, backup, server.data)
    for name, content in newer:  # ahead of the ledger now, until that is refilled
        (server.data / name).write_bytes(content)

    with serving(tmp_path, environment) as server:
        (third,) = await play(server)
        with server.http() as http:
            why = await eventually(lambda: http.get("/api/ledger").json()["not_signed_because"])
        assert "statecraft refill" in why
        with server.http() as http:
            assert folded(http.get("/api/ledger").json(), 10)
        busy = run("refill", "--data", server.data, **environment)
        assert (busy.returncode, "served by another process" in busy.stderr) == (2, True)
    assert (tmp_path / "archive" / "checkpoint").read_bytes() == note

    refilled = run("refill", "--data", server.data, **environment)
    assert refilled.returncode == 0, refilled.stderr
    assert "the 10 leaves that were signed; 3 games got events back" in refilled.stdout
    with serving(tmp_path, environment) as server:
        await signed_to(server, 12)
        for game in (*first, *second, third):
            assert server.audit(game).over
        with server.http() as http:
            await eventually(lambda: folded(http.get("/api/ledger").json(), 12))
    seen = Seen(read_key(tmp_path / "archive"), note)
    for _ in check(fetcher(str(tmp_path / "archive")), seen, 0):
        pass
    assert (seen.faults, seen.frontier.size, len(seen.closed)) == ([], 12, 6)


def read_key(archive: Path) -> VerifierKey:
    return VerifierKey.parse((archive / "ledger.vkey").read_text().strip())


async def signed_to(server: Server, size: int) -> None:
    with server.http() as http:
        await eventually(lambda: http.get("/api/ledger").json()["signed"] == size)
