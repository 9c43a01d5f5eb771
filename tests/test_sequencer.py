"""From outboxes to the ledger: in whatever order, however often, whoever is killed meanwhile, each leaf once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import entries
from events.chain import extend, origin
from events.database import Database
from events.entries import Closing, Entry, Opening
from events.ledger import Ledger, closing
from events.log import Batch, Log, OutboxEntry
from events.sqlite import SCHEMA, SqliteLog
from events.sqlite_ledger import SCHEMA as LEDGER_SCHEMA
from events.sqlite_ledger import SqliteLedger
from server.sequencer import Sequencer
from tests import leaves
from tests.contrary import ContraryLog
from tests.contrary_ledger import ContraryLedger
from tests.leaves import tell

pytestmark = pytest.mark.anyio


def plan(chance: Random, games: int, partitions: int) -> list[Entry]:
    """Games of a few players in a few partitions; each player's next opening names the game before it."""
    told: list[Entry] = []
    running: dict[int, bytes] = {}
    last: dict[int, bytes] = {}
    for number in range(games):
        player = chance.randrange(3)
        if player in running:
            last[player] = running.pop(player)
            told.append(leaves.closing(last[player]))
        game = leaves.game(number, chance.randrange(partitions))
        running[player] = game
        told.append(leaves.opening(game, (last[player],) if player in last else ()))
    return told


async def entered(ledger: Ledger) -> list[Entry]:
    return [entries.decode_of_game(body) for body in await ledger.leaves(0, 100_000)]


def assert_in_order(found: Sequence[Entry], told: Sequence[Entry]) -> None:
    """Every leaf once, and behind whatever must come before it."""
    assert sorted(map(entries.encode, found)) == sorted(map(entries.encode, told))
    seen: set[tuple[type, bytes]] = set()
    for entry in found:
        if isinstance(entry, Closing):
            assert (Opening, entry.game) in seen
        else:
            assert all((Closing, game) in seen for game in entry.after)
        seen.add((type(entry), entry.game))


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_any_interleaving_any_crash_and_any_number_of_sequencers_give_one_gapless_ledger(
    seed: int, partitions: int, leaves_max: int, sequencers: int
) -> None:
    async def run() -> None:
        chance = Random(seed)
        log, ledger = ContraryLog(seed, calm=True), ContraryLedger(seed)
        told = plan(chance, 24, partitions)

        async def play() -> None:
            for entry in told:
                await tell(log, entry)
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)

        async def copy() -> None:
            """Begun anew again and again, as after kill -9 at any step."""
            while not playing.done() or chance.random() < 0.9:
                copying = asyncio.create_task(Sequencer(log, ledger, leaves_max).copy_all())
                for _ in range(chance.randrange(600)):
                    await asyncio.sleep(0)
                copying.cancel()
                await asyncio.gather(copying, return_exceptions=True)

        playing = asyncio.create_task(play())
        await asyncio.gather(playing, *(copy() for _ in range(sequencers)))
        last = Sequencer(log, ledger, leaves_max)
        await last.copy_all()
        assert last.alarms == {}
        assert_in_order(await entered(ledger), told)
        head = await ledger.head()
        await Sequencer(log, ledger).copy_all()
        assert await ledger.head() == head

    asyncio.run(run())


def test_the_laws_fail_for_a_ledger_that_breaks_them() -> None:
    told = plan(Random(1), 24, 3)
    assert_in_order(told, told)
    for broken in (told[:-1], [*told, told[0]], told[::-1]):
        with pytest.raises(AssertionError):
            assert_in_order(broken, told)
    first = next(at for at, entry in enumerate(told) if isinstance(entry, Opening) and entry.after)
    early = [told[first], *told[:first], *told[first + 1 :]]
    with pytest.raises(AssertionError):
        assert_in_order(early, told)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[SqliteLog, SqliteLedger]]:
    database = await Database.open(tmp_path / "log.db", [SCHEMA, LEDGER_SCHEMA])
    try:
        yield SqliteLog(database), SqliteLedger(database)
    finally:
        await database.close()


async def test_on_sqlite_two_sequencers_copy_each_entry_once(stores: tuple[SqliteLog, SqliteLedger]) -> None:
    log, ledger = stores
    told = plan(Random(7), 200, 256)
    one, two = Sequencer(log, ledger, 7), Sequencer(log, ledger, 5)
    for entry in told[:100]:
        await tell(log, entry)
    await asyncio.gather(one.copy_all(), two.copy_all())
    for entry in told[100:]:
        await tell(log, entry)
    assert one.waiting > 0
    await asyncio.gather(one.copy_all(), two.copy_all())
    assert (one.waiting, two.waiting) == (0, 0)
    assert_in_order(await entered(ledger), told)


async def test_a_later_game_waits_for_the_closing_that_it_names(stores: tuple[SqliteLog, SqliteLedger]) -> None:
    log, ledger = stores
    # The older game lies in the higher partition, which is read later.
    first, second, third = leaves.game(1, 250), leaves.game(2, 120), leaves.game(3, 3)
    told: list[Entry] = [
        leaves.opening(first),
        leaves.closing(first),
        leaves.opening(second, (first,)),
        leaves.closing(second),
        leaves.opening(third, (second,)),
    ]
    for entry in told:
        await tell(log, entry)
    await Sequencer(log, ledger).copy_all()
    assert await entered(ledger) == told


class Damaged:
    """A log whose outbox of one partition is changed on its way."""

    def __init__(self, log: Log, partition: int) -> None:
        self._log = log
        self._partition = partition
        self.lost = 0
        """How many entries its end has lost."""
        self.changed: int | None = None
        """The position of an entry whose bytes were changed."""

    async def outbox(self, partition: int, after: int = 0, limit: int = 1000) -> Sequence[OutboxEntry]:
        found = list(await self._log.outbox(partition, 0, 100_000))
        if partition == self._partition:
            found = [
                replace(entry, body=entry.body[:-1] + b"\x91") if entry.position == self.changed else entry
                for entry in found[: len(found) - self.lost]
            ]
        return [entry for entry in found if entry.position > after][:limit]

    def listen(self, listener: object) -> None:
        pass


async def test_a_partition_that_lost_its_last_entries_stands_still_by_name_and_the_others_go_on() -> None:
    log, ledger = ContraryLog(calm=True), ContraryLedger(calm=True)
    for number in range(4):
        await tell(log, leaves.opening(leaves.game(number, 9)))
    await Sequencer(log, ledger).copy_all()
    await tell(log, leaves.opening(leaves.game(7, 9)))
    await tell(log, leaves.opening(leaves.game(8, 4)))
    damaged = Damaged(log, 9)
    damaged.lost = 2
    sequencer = Sequencer(cast(Log, damaged), ledger)
    await sequencer.copy_all()
    assert sequencer.alarms.keys() == {9}
    assert "entry 4" in sequencer.alarms[9]
    assert "refill" in sequencer.alarms[9]
    assert [entry.game for entry in (await entered(ledger))[4:]] == [leaves.game(8, 4)]
    damaged.lost = 0
    again = Sequencer(cast(Log, damaged), ledger)
    await again.copy_all()
    assert again.alarms == {}
    assert (await ledger.head()).size == 6


@pytest.mark.parametrize("position", [1, 2, 3])
async def test_other_bytes_in_an_outbox_are_not_copied(position: int) -> None:
    log, ledger = ContraryLog(calm=True), ContraryLedger(calm=True)
    for number in range(3):
        await tell(log, leaves.opening(leaves.game(number, 9)))
    damaged = Damaged(log, 9)
    damaged.changed = position
    sequencer = Sequencer(cast(Log, damaged), ledger)
    await sequencer.copy_all()
    assert f"entry {position}" in sequencer.alarms[9]
    assert (await ledger.head()).size == 0


async def test_an_opening_whose_named_closing_is_nowhere_holds_its_own_partition_only() -> None:
    log, ledger = ContraryLog(calm=True), ContraryLedger(calm=True)
    missing = leaves.game(1, 200)
    await tell(log, leaves.opening(leaves.game(2, 9)))
    await tell(log, leaves.opening(leaves.game(3, 9), (missing,)))
    await tell(log, leaves.opening(leaves.game(4, 250)))
    sequencer = Sequencer(log, ledger)
    await sequencer.copy_all()
    assert sequencer.alarms.keys() == {9}
    assert missing.hex() in sequencer.alarms[9]
    assert {entry.game for entry in await entered(ledger)} == {leaves.game(2, 9), leaves.game(4, 250)}
    await tell(log, leaves.opening(missing))
    await tell(log, leaves.closing(missing))
    await tell(log, leaves.closing(leaves.game(3, 9)))
    await sequencer.copy_all()
    assert sequencer.alarms == {}
    assert (await ledger.head()).size == 6


async def test_entries_of_a_newer_release_hold_their_partition() -> None:
    log, ledger = ContraryLog(calm=True), ContraryLedger(calm=True)
    game = leaves.game(1, 5)
    await log.append(game, origin(game), Batch(extend(origin(game), [b"x"]), (b"\x92\x01\xa3New",)))
    sequencer = Sequencer(log, ledger)
    await sequencer.copy_all()
    assert "can't be read" in sequencer.alarms[5]


async def test_whoever_waits_for_a_closing_hears_when_it_is_entered(stores: tuple[SqliteLog, SqliteLedger]) -> None:
    log, ledger = stores
    sequencer = Sequencer(log, ledger)
    game = leaves.game(1, 77)
    assert await sequencer.closed(game, 0) is False
    running = asyncio.create_task(sequencer.run())
    waiting = asyncio.create_task(sequencer.closed(game, 60))
    await tell(log, leaves.opening(game))
    await tell(log, leaves.closing(game))
    assert await waiting is True
    assert await ledger.find(closing(game)) == 1
    assert await sequencer.closed(game, 0) is True
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_nothing_is_said_to_wait_no_longer_before_it_is_entered(stores: tuple[SqliteLog, SqliteLedger]) -> None:
    log, ledger = stores
    sequencer = Sequencer(log, ledger)
    await tell(log, leaves.opening(leaves.game(1, 77)))
    copying = asyncio.create_task(sequencer.copy_all())
    while not copying.done():
        assert sequencer.waiting > 0
        await asyncio.sleep(0)
    assert sequencer.waiting == 0
    assert (await ledger.head()).size == 1
