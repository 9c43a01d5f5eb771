"""A player's place in a ladder and the ledger: results enter in the order played, and nobody waits for ever."""

import itertools
from pathlib import Path
from random import Random

import pytest

from events import codec, entries
from events.chain import origin
from events.database import Database
from events.entries import Closing, Opening
from events.log import Batch, Log, Unknown
from events.sqlite import SCHEMA, SqliteLog
from projections import saved
from projections.saved import Saved
from rules import fifty_states
from rules.catalogue import RULES
from rules.fifty_states import Play
from rules.game import Finished, Mix, Opened, Resign, Seated
from server.games import CLOSING_SECONDS_MAX, Entered, Games
from server.sequencer import Sequencer
from tests.contrary import ContraryLog
from tests.contrary_ledger import ContraryLedger
from tests.positions import KEY, NOW, PLAYER
from tests.test_cli import GOLDEN

pytestmark = pytest.mark.anyio

FIFTY = RULES["fifty-states/1"]


class Waits:
    """How long somebody was ready to wait for which closing."""

    def __init__(self) -> None:
        self.asked: list[tuple[bytes, float]] = []

    async def __call__(self, game: bytes, seconds_max: float) -> bool:
        self.asked.append((game, seconds_max))
        return False


async def open_one(games: Games, mode: str = "relaxed", id_: str = "o") -> bytes:
    while True:
        try:
            opened = await games.open(PLAYER, FIFTY, mode, (), id_)
        except Unknown:
            continue  # As a client that is told to try again.
        assert isinstance(opened, tuple), opened
        return opened[0]


async def resign(games: Games, game: bytes) -> None:
    await games.do(game, PLAYER, Mix(bytes(32)), "mix")
    await games.do(game, PLAYER, Resign(), "resign")


def built(log: Log, entered: Entered | None) -> Games:
    return Games(log, {1: KEY}, lambda: NOW, entered)


async def told(log: Log) -> list[Opening | Closing]:
    return [entries.decode_of_game(entry.body) for which in range(256) for entry in await log.outbox(which)]


async def test_where_closings_do_not_enter_the_next_game_opens_after_two_seconds_and_names_the_one_before() -> None:
    log, waits = ContraryLog(calm=True), Waits()
    games = built(log, waits)
    first = await open_one(games)
    assert waits.asked == []
    await resign(games, first)
    held, _ = await games.meet(PLAYER, FIFTY, "relaxed")
    assert waits.asked == [(first, CLOSING_SECONDS_MAX)]
    # Another process opens it: who was before is in the log's store.
    second = await open_one(built(log, waits))
    assert (second, waits.asked) == (held.game, [(first, CLOSING_SECONDS_MAX)])
    openings = {entry.game: entry.after for entry in await told(log) if isinstance(entry, Opening)}
    assert openings == {first: (), second: (first,)}


async def test_an_unfinished_game_is_come_back_to_and_waited_for_by_nobody() -> None:
    log, waits = ContraryLog(calm=True), Waits()
    games = built(log, waits)
    first = await open_one(games)
    assert await open_one(games, id_="again") == first
    other = await open_one(games, "strategic")
    assert other != first
    assert waits.asked == []


async def test_a_server_without_a_ledger_says_so_and_waits_for_nothing() -> None:
    for entered, witnessed in ((None, False), (Waits(), True)):
        log = ContraryLog(calm=True)
        games = built(log, entered)
        game = await open_one(games)
        live = await games.at(game)
        assert live is not None
        assert isinstance(live.table.opened, Opened)
        assert live.table.opened.witnessed is witnessed


@pytest.mark.parametrize("seed", range(6))
async def test_results_of_a_player_enter_in_the_order_played_whatever_the_stores_do(seed: int) -> None:
    """Also where the ledger is begun anew from the outboxes: then only what openings name keeps the order."""
    log, ledger = ContraryLog(seed), ContraryLedger(seed)
    sequencer = Sequencer(log, ledger, leaves_max=3)

    async def entered(game: bytes, seconds_max: float) -> bool:
        await sequencer.copy_all()
        return await sequencer.closed(game, 0)

    games = built(log, entered)
    played: list[bytes] = []
    for _ in range(12):
        game = await open_one(games, id_=f"o{len(played)}")
        await resign(games, game)
        played.append(game)
    await sequencer.copy_all()
    for _ in range(2):
        found = [entries.decode_of_game(body) for body in await ledger.leaves(0, 1000)]
        assert [(type(entry), entry.game) for entry in found] == [
            (kind, game) for game in played for kind in (Opening, Closing)
        ]
        await ledger.restart()
        await Sequencer(log, ledger, leaves_max=5).copy_all()


@pytest.mark.parametrize("whole", [saved.load(path.read_bytes()) for path in sorted(GOLDEN.glob("*.jsonl"))])
async def test_the_sequencer_hears_of_every_append_that_tells_something(whole: Saved) -> None:
    """And reads no outbox for the others."""
    game, events = whole.game, whole.events
    decoded = [codec.decode(event.body) for event in events]
    assert [codec.name(event.body) for event in events] == [type(each.fact).__name__ for each in decoded]
    log = ContraryLog(calm=True)
    sequencer = Sequencer(log, ContraryLedger(calm=True))
    await sequencer.copy_all()
    head, heard = origin(game), []
    for _, group in itertools.groupby(zip(events, decoded, strict=True), lambda pair: pair[1].cause):
        append = list(group)
        head = await log.append(game, head, Batch(tuple(event for event, _ in append)))
        heard.append(sequencer.waiting == 1)
        telling = any(isinstance(each.fact, Seated | Finished) for _, each in append)
        assert heard[-1] is telling
        await sequencer.copy_all()
    assert heard.count(True) == 2


async def test_a_whole_game_tells_its_opening_and_its_closing_once(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "log.db", [SCHEMA])
    log = SqliteLog(database)
    games, chance = built(log, Waits()), Random(5)
    game = await open_one(games)
    await games.do(game, PLAYER, Mix(chance.randbytes(32)), "mix")
    while (live := await games.refreshed(game)) is not None and live.table.finished is None:
        card = chance.choice(fifty_states.hand(live.dealer.hands, 0))
        battle = live.table.position.battle
        await games.do(game, PLAYER, Play(battle, card), f"play {battle}")
    opening, closing = await told(log)
    events = await log.read(game)
    assert isinstance(opening, Opening)
    assert (opening.version, opening.hash) == (3, events[2].hash)
    assert isinstance(closing, Closing)
    assert (closing.version, closing.hash) == (len(events), events[-1].hash)
    await database.close()
