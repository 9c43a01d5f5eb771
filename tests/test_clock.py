"""The sweep calls time on games that are over seven days old, whatever else lies in the store."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from events import codec
from events.chain import Head, Stored, extend, origin
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog
from projections.audit import audit
from projections.saved import Saved
from rules import fairness
from rules.catalogue import RULES
from rules.game import DAY_MS, OPEN_MS_MAX, SEATS, Credited, Finished, Mix, TimeUp
from rules.war import CLASSIC, Readied
from server.clock import DEADLINES, Sweep, now_ms
from server.games import Games, Live
from tests.pairs import PLAYERS, Duel
from tests.positions import KEY, NOW, PLAYER

pytestmark = pytest.mark.anyio

OTHERS = b"another game 16."


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


# ---------------------------------------------------------------- between people


async def dealt(log: SqliteLog, clock: Clock, duel: Duel) -> Duel:
    """A game that stands as the duel does, with its deadline on the store's clock."""
    clock.now_ms = duel.now_ms - 1000
    assert duel.clock.due_ms is not None
    batch = Batch(tuple(duel.events), wait_ms=duel.clock.due_ms - clock.now_ms)
    await log.append(duel.game, origin(duel.game), batch)
    return duel


async def beats(log: SqliteLog, clock: Clock, until_ms: int) -> None:
    """A server is up until then."""
    while clock.now_ms < until_ms:
        await log.beat()
        clock.now_ms = min(until_ms, clock.now_ms + 1000)
    await log.beat()


async def facts(log: SqliteLog, duel: Duel) -> list[Any]:
    stored = tuple(await log.read(duel.game))
    assert audit(Saved(duel.game, stored)).failure is None
    return [codec.decode(event.body).fact for event in stored[len(duel.events) :]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[tuple[Clock, SqliteLog, Games]]:
    clock = Clock()
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database, clock)
    yield clock, log, Games(log, {1: KEY}, clock)
    await database.close()


Store = tuple[Clock, SqliteLog, Games]


async def test_between_people_time_is_up_at_the_deadline_and_not_before(store: Store) -> None:
    clock, log, games = store
    duel = await dealt(log, clock, Duel().begin())
    sweep = Sweep(games, log, clock)
    await beats(log, clock, (duel.clock.due_ms or 0) - 1)
    await sweep.once()
    assert await facts(log, duel) == []
    clock.now_ms += 1
    await sweep.once()
    assert (await facts(log, duel))[:2] == [TimeUp((0, 1)), Finished(None, "both_late")]


async def test_time_in_which_no_server_was_up_is_given_back_once(store: Store) -> None:
    clock, log, games = store
    duel = await dealt(log, clock, Duel().begin())
    due_ms, sweep = duel.clock.due_ms or 0, Sweep(games, log, clock)
    await beats(log, clock, due_ms - 10_000)
    clock.now_ms += 100_000  # Nobody is up, far beyond the deadline.
    await log.beat()
    await sweep.once()
    assert await facts(log, duel) == [Credited(100_000)]
    assert await log.next_deadline() == 10_000, "what was left of the time is left now"
    await sweep.once()
    assert len(await facts(log, duel)) == 1
    await beats(log, clock, due_ms + 100_000)
    await sweep.once()
    assert (await facts(log, duel))[:3] == [Credited(100_000), TimeUp((0, 1)), Finished(None, "both_late")]


async def test_a_second_silence_in_the_same_stage_is_given_back_too(store: Store) -> None:
    clock, log, games = store
    duel = await dealt(log, clock, Duel().begin())
    sweep = Sweep(games, log, clock)
    await beats(log, clock, (duel.clock.due_ms or 0) - 20_000)
    for silence in (50_000, 30_000):
        clock.now_ms += silence
        await log.beat()
        await sweep.once()
        await beats(log, clock, clock.now_ms + 5000)
    assert await facts(log, duel) == [Credited(50_000), Credited(30_000)]


@pytest.mark.parametrize("silence", [0, 60_000])
async def test_in_war_the_clock_turns_after_what_is_given_back(store: Store, silence: int) -> None:
    clock, log, games = store
    duel = await dealt(log, clock, Duel(CLASSIC).begin())
    sweep = Sweep(games, log, clock)
    await beats(log, clock, (duel.clock.due_ms or 0) - 2000)
    if silence:
        clock.now_ms += silence
        await log.beat()
        await sweep.once()
    await beats(log, clock, clock.now_ms + 2000)
    await sweep.once()
    found = await facts(log, duel)
    assert found[: bool(silence)] == ([Credited(silence)] if silence else [])
    assert found[bool(silence) :][:2] == [Readied(0, 1), Readied(1, 1)]


async def test_the_seven_days_are_given_back_to_nobody(store: Store) -> None:
    clock, log, games = store
    duel = await dealt(log, clock, Duel(CLASSIC, settings=(("turn_seconds", 3600),)).begin())
    sweep = Sweep(games, log, clock)
    await log.beat()
    for _ in range(3):
        clock.now_ms += 3 * DAY_MS
        await log.beat()
        await sweep.once()
    assert Finished(None, "both_late") in await facts(log, duel)


async def test_a_deadline_is_noticed_when_it_comes_and_not_at_the_next_look(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database)
    games = Games(log, {1: KEY}, now_ms)
    turned = asyncio.Event()

    def published(game: bytes, live: Live | None, before: Head, events: tuple[Stored, ...]) -> None:
        if live is not None and live.table.dealt and live.table.position.battles >= 2:
            turned.set()

    games.listen(published)
    sweeping = asyncio.create_task(Sweep(games, log).for_ever(3600))
    await log.beat()
    await asyncio.sleep(0.2)
    assert await games.open_between(OTHERS, CLASSIC, (("turn_seconds", 1),), PLAYERS, False)
    live = await games.at(OTHERS)
    assert live is not None
    for seat in SEATS:
        hash_ = fairness.entropy_hash(OTHERS, seat, bytes([seat]) * 32)
        assert isinstance(await games.sit(live, PLAYERS[seat], hash_, "sit", ()), Head)
    for seat in SEATS:
        assert isinstance(await games.do(OTHERS, PLAYERS[seat], Mix(bytes([seat]) * 32), "mix"), Head)

    async with asyncio.timeout(60):
        await turned.wait()
    sweeping.cancel()
    await asyncio.gather(sweeping, return_exceptions=True)
    await database.close()
