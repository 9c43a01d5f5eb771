"""Closed games leave the store for the archive, and nobody who reads notices; killed at any point nothing is lost."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from events import ledger
from events.chain import origin
from events.database import Database
from events.log import PARTITIONS, LetGo, Log, Unknown
from events.notes import VerifierKey
from events.sqlite import SqliteLog
from events.sqlite_ledger import SqliteLedger
from projections import saved
from projections.replay import Recording
from projections.seen import Seen
from projections.whole import check
from server.archive import game_path
from server.archived import GAMES_MAX, ArchivedLog
from server.fetch import fetcher
from server.games import Damaged
from server.letting_go import LettingGo
from server.refill import last_signed, refill
from server.replaying import Recordings
from server.sequencer import Sequencer
from server.signer import Publisher
from server.wire import Trouble
from tests.ledgers import Published, closing_of, played, publishing, store
from tests.positions import NOW
from tests.running import Followed, Message, Server, all_signed, connected, eventually, serving, until
from tests.test_cli import run
from tests.test_kill_ledger import Person
from tests.test_public import play
from tests.tlog import flipped

pytestmark = pytest.mark.anyio

GAMES = 5
LATE = NOW + 10**9
KEEP = {"STATECRAFT_KEEP_SECONDS": "0"}


@pytest.fixture
async def published(tmp_path: Path) -> AsyncIterator[Published]:
    async with publishing(tmp_path / "data") as published:
        yield published


def letting_go(published: Published, publisher: Publisher, now_ms: int = LATE, keep_seconds: float = 1) -> LettingGo:
    return LettingGo(published.log, published.ledger, publisher, published.archive, lambda: now_ms, keep_seconds)


async def let_all_go(published: Published, **given: float) -> None:
    """All that may go, by a signer that signs all that is stored."""
    rounds = letting_go(published, await published.sign(), **given)  # type: ignore[arg-type]
    for _ in range(PARTITIONS // 16 + 1):
        await rounds.round()


async def are_hot(log: Log) -> set[bytes]:
    return set(await log.games())


async def test_what_is_read_of_a_game_is_the_same_before_and_after_it_went(published: Published) -> None:
    log = ArchivedLog(published.log, published.archive)
    for number in range(GAMES):
        await store(published.log, played(number))
    await let_all_go(published)
    assert await are_hot(published.log) == set()
    for number in range(GAMES):
        game, events = played(number).game, played(number).events
        with pytest.raises(LetGo):
            await published.log.read(game)
        assert list(await log.read(game)) == events
        assert await log.head(game) == events[-1].head
        for after in range(len(events) + 1):
            assert list(await log.read(game, after)) == events[after:]
            assert list(await log.read(game, after, 2)) == events[after : after + 2]


async def test_only_what_is_closed_signed_archived_and_old_goes(published: Published) -> None:
    running, *closed = (played(number) for number in range(5))
    lost, other, gone, young = sorted(closed, key=lambda each: closing_of(each).at_ms)
    for game in (young, lost, other, gone):
        await store(published.log, game)
    await store(published.log, running, whole=False)
    unsigned = await published.sign()
    await store(published.log, played(5))
    await published.copy()
    folder = published.folder / "archive"
    # As by a signer that was killed before it signed.
    await published.archive.put({game_path(played(5).game): saved.save(played(5).game, played(5).events).encode()})
    (folder / game_path(lost.game)).unlink()
    file = folder / game_path(other.game)
    file.write_bytes(flipped(file.read_bytes(), 400))
    await letting_go(published, published.publisher()).round()
    assert len(await are_hot(published.log)) == 6, "who knows of no signature lets nothing go"
    await letting_go(published, unsigned, closing_of(young).at_ms + 999).round()
    kept = {each.game for each in (running, lost, other, played(5))}
    assert await are_hot(published.log) == {*kept, young.game}
    for now_ms in (closing_of(young).at_ms + 1000, LATE):
        await letting_go(published, unsigned, now_ms).round()
        assert await are_hot(published.log) == kept


async def test_outboxes_keep_the_last_entry_that_was_copied_and_the_sequencer_goes_on(published: Published) -> None:
    for number in range(GAMES):
        await store(published.log, played(number))
    await let_all_go(published)
    for which in range(PARTITIONS):
        kept = await published.log.outbox(which)
        marks = {mark.partition: mark.position for mark in await published.ledger.marks()}
        assert [entry.position for entry in kept] == ([marks[which]] if which in marks else [])
    sequencer = Sequencer(published.log, published.ledger)
    await store(published.log, played(GAMES))
    await sequencer.copy_all()
    assert sequencer.alarms == {}
    assert (await published.ledger.head()).size == 2 * GAMES + 2


async def test_a_store_that_let_games_go_can_be_refilled_and_goes_on(published: Published) -> None:
    for number in range(GAMES):
        await store(published.log, played(number))
    await let_all_go(published)
    await store(published.log, played(GAMES))
    signed = await last_signed(published.archive, published.hand.key, published.keys)
    done = await refill(published.log, published.ledger, published.archive, signed, lambda done: None)
    assert (done.leaves, done.games, done.forked) == (2 * GAMES, 0, ())
    sequencer = Sequencer(published.log, published.ledger)
    await sequencer.copy_all()
    assert sequencer.alarms == {}
    assert (await published.ledger.head()).size == 2 * GAMES + 2
    await let_all_go(published)
    assert await are_hot(published.log) == set()
    seen = Seen(published.hand.key)
    for _ in check(fetcher(str(published.folder / "archive")), seen, NOW):
        pass
    assert (seen.faults, len(seen.closed)) == ([], GAMES + 1)


async def test_a_lost_store_is_refilled_from_the_archive_and_lets_go_again(
    published: Published, tmp_path: Path
) -> None:
    for number in range(GAMES):
        await store(published.log, played(number))
    await let_all_go(published)
    await asyncio.to_thread(shutil.copytree, published.keys, tmp_path / "other" / "keys")
    async with publishing(tmp_path / "other", published.archive) as other:
        signed = await last_signed(other.archive, other.hand.key, other.keys)
        done = await refill(other.log, other.ledger, other.archive, signed, lambda done: None)
        assert (done.leaves, done.games) == (2 * GAMES, GAMES)
        await let_all_go(other)
        assert await are_hot(other.log) == set()


async def test_an_archive_that_lost_or_changed_a_game_is_not_believed(published: Published) -> None:
    for number in range(3):
        await store(published.log, played(number))
    await let_all_go(published)
    log, folder = ArchivedLog(published.log, published.archive), published.folder / "archive"
    (folder / game_path(played(0).game)).unlink()
    (folder / game_path(played(1).game)).write_bytes((folder / game_path(played(2).game)).read_bytes())
    cut = (folder / game_path(played(2).game)).read_bytes().splitlines(keepends=True)[:-1]
    (folder / game_path(played(2).game)).write_bytes(b"".join(cut))
    for number in range(3):
        with pytest.raises(Damaged):
            await log.read(played(number).game)


async def test_an_archive_that_does_not_answer_is_asked_again(published: Published) -> None:
    await store(published.log, played(0))
    await let_all_go(published)
    log, folder = ArchivedLog(published.log, published.archive), published.folder / "archive"
    file = folder / game_path(played(0).game)
    file.rename(file.with_suffix(".aside"))
    file.symlink_to(file)
    with pytest.raises(Unknown):
        await log.read(played(0).game)
    assert await Recordings(log).of(played(0).game) is Trouble.TRY_AGAIN
    file.unlink()
    file.with_suffix(".aside").rename(file)
    assert list(await log.read(played(0).game)) == played(0).events
    recording = await Recordings(log).of(played(0).game)
    assert isinstance(recording, Recording)
    assert list(recording.events) == played(0).events


async def test_only_some_games_are_kept_in_mind(published: Published) -> None:
    for number in range(GAMES_MAX + 3):
        await store(published.log, played(number))
    await let_all_go(published)
    log = ArchivedLog(published.log, published.archive)
    for _ in range(2):
        for number in range(GAMES_MAX + 3):
            assert list(await log.read(played(number).game)) == played(number).events
            assert len(log._kept) <= GAMES_MAX


async def test_the_file_does_not_grow_for_ever(published: Published) -> None:
    sizes = []
    for batch in range(5):
        for number in range(10 * batch, 10 * batch + 10):
            await store(published.log, played(number))
        await let_all_go(published)
        pages = await published.database.read(_used_pages)
        sizes.append(pages)
    assert sizes[-1] - sizes[0] < sizes[0] // 4, sizes


def _used_pages(connection: sqlite3.Connection) -> int:
    """But those of the ledger, which grows for ever, and of the heads of games that went."""
    (all_,) = connection.execute("PRAGMA page_count").fetchone()
    (leaves,) = connection.execute("SELECT sum(length(body)) + 200 * count(*) FROM ledger_leaves").fetchone()
    pages: int = all_ - leaves // 4096
    return pages


# ---------------------------------------------------------------- a server


async def hot(data: Path) -> set[bytes]:
    database = await Database.reader(data / "statecraft.db")
    try:
        return await are_hot(SqliteLog(database))
    finally:
        await database.close()


async def gone(data: Path, games: list[bytes]) -> None:
    await eventually(lambda: not asyncio.run(hot(data)) & set(games))


async def test_a_game_that_went_is_read_replayed_proved_and_answered_as_before(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        guest = server.join()
        async with connected(server, guest) as client:
            game = await client.open()
            followed = await client.follow(game)
            await client.play_on(followed, Random(1))
            events, (mixed,) = followed.events, client.answers["mix"]
        with server.http() as http:
            until(lambda: http.get("/api/ledger").json()["signed"] == 2)
            review = http.get(f"/api/games/{game.hex()}/review").text
        replay = await replayed(server, game)
        exported = server.export(game)
        assert game in await hot(server.data)
    with serving(tmp_path, KEEP) as server:
        await gone(server.data, [game])
        assert server.export(game) == exported
        with server.http() as http:
            assert http.get(f"/api/games/{game.hex()}/review").text == review
            assert http.get(f"/api/games/{game.hex()}/witness").json()["witnessed"] is True
        assert await replayed(server, game) == replay
        assert [frame["type"] for frame in replay][:: len(replay) - 1] == ["subscribed", "replayed"]
        async with connected(server, guest) as client:
            again = await client.follow(game)
            assert (again.events, again.over) == (events, True)
        async with connected(server, guest) as client:
            resumed = await client.follow(game, events[7].head, Followed(game, events[:8]))
            assert resumed.starts[-1]["recovered"] is True
            refused = await client.do(game, {"do": "Resign"}, "too-late")
            assert (refused["type"], refused["reason"]) == ("refused", "over")
            assert await client.do(game, {"do": "Mix", "entropy": bytes(32)}, "mix") == mixed
            other = await client.open()
            assert other != game
            await client.play_on(await client.follow(other), Random(2))
        for command in (("audit", game.hex()), ("replay", game.hex(), "--pace", "0"), ("proof", game.hex())):
            done = await asyncio.to_thread(run, *command, "--data", server.data)
            assert done.returncode == 0, (command, done.stderr)


async def test_a_replay_of_what_the_archive_lost_or_changed_is_refused_and_closes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        games = await play(server, 3)
    with serving(tmp_path, KEEP) as server:
        await gone(server.data, games)
        files = [server.data / "archive" / "games" / f"{game.hex()}.jsonl" for game in games]
        files[0].write_bytes(flipped(files[0].read_bytes(), 500))
        files[1].unlink()
        for game in games[:2]:
            (refused,) = await replayed(server, game)
            assert (refused["type"], refused["reason"]) == ("not_subscribed", "damaged")
        assert (await replayed(server, games[2]))[-1]["type"] == "replayed"
        assert "Traceback" not in server.errors


async def replayed(server: Server, game: bytes) -> list[Message]:
    """All that is told of a replay with open cards, of one event after the other."""
    async with connected(server) as client:
        topic = f"replay/{game.hex()}"
        await client.send({"type": "subscribe", "topic": topic, "as": "open"})
        await client.until(lambda: any(frame["type"] in ("replayed", "not_subscribed") for frame in client.frames))
        return [frame for frame in client.frames if frame.get("topic") == topic]


@pytest.mark.parametrize("kills", [2, pytest.param(60, marks=pytest.mark.slow)])
async def test_killed_at_any_point_while_games_go_every_game_is_there_once(tmp_path: Path, kills: int) -> None:
    server = Server(tmp_path, KEEP).start()
    try:
        games = await play_while_it_is_killed(server, kills)
    finally:
        if server.running:
            assert server.stop() == -15
    assert "Traceback" not in server.errors
    seen = Seen(VerifierKey.parse((server.data / "archive" / "ledger.vkey").read_text().strip()))
    for _ in check(fetcher(str(server.data / "archive")), seen, 0):
        pass
    assert (seen.faults, len(seen.closed)) == ([], len(games))
    await nothing_is_left_of(server.data, games)


async def play_while_it_is_killed(server: Server, kills: int) -> list[bytes]:
    chance = Random(kills)
    up = asyncio.Event()
    up.set()
    people = [Person(server, up, server.join(), Random(number)) for number in range(3)]
    playing = [asyncio.create_task(person.play()) for person in people]
    for _ in range(kills):
        await asyncio.sleep(0.5 + chance.random())
        up.clear()
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        up.set()
    for person in people:
        person.last = True
    await asyncio.gather(*playing)
    games = [game for person in people for game in person.games]
    with server.http() as http:
        at = await asyncio.to_thread(all_signed, http)
    assert at["signed"] == 2 * len(games)
    assert (at["partitions_stopped"], at["not_signed_because"]) == ({}, None)
    await gone(server.data, games)
    for person in people:
        for game, followed in person.games.items():
            assert (await asyncio.to_thread(server.audit, game)).over
            # Who was cut off may not have seen the end.
            events = saved.load(server.export(game)).events
            assert list(events[: followed.head.version]) == followed.events
    return games


async def nothing_is_left_of(data: Path, games: list[bytes]) -> None:
    database = await Database.reader(data / "statecraft.db")
    log = SqliteLog(database)
    for game in games:
        assert await SqliteLedger(database).find(ledger.closing(game)) is not None
        assert await log.head(game) != origin(game)
        with contextlib.suppress(LetGo):
            raise AssertionError(await log.read(game))
    await database.close()
