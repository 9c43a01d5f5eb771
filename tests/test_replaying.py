"""Replays: any moment of any game is the fold of what came before it, and over the socket it is told as asked."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import chain, codec
from events.database import Database
from events.log import Batch
from events.sqlite import SCHEMA, SqliteLog
from projections.replay import KEPT_EVERY, Moment, Recording, battle_after, battle_before
from rules import game
from rules.fifty_states import FIFTY_STATES, Captured
from rules.game import Dealer, Table, Unsealed
from rules.war import CLASSIC, GAMEWEAVE, PLAYBOOK, Taken
from server.keys import operator_keys
from server.replaying import AT_ONCE_MAX, REPLAYS_MAX
from tests.positions import Played, at_random, war_game
from tests.running import BOTH, JSON, MSGPACK, Client, Message, Server, connected, serving

pytestmark = pytest.mark.anyio


# ---------------------------------------------------------------- laws, without a server


@st.composite
def played_games(draw: st.DrawFn, over: bool | None = None) -> Played:
    """A game of either kind at any stage, or over, or not."""
    rules, number = draw(st.sampled_from([FIFTY_STATES, PLAYBOOK, GAMEWEAVE, CLASSIC])), draw(st.integers(0, 10**6))
    if rules is not FIFTY_STATES:
        played = war_game(rules, number)
        for _ in range(draw(st.integers(0, 40))):
            if played.table.finished is None:
                played.turn()
        if over and played.table.finished is None:
            played.do(game.Resign())
    else:
        played = Played(draw(st.sampled_from(["relaxed", "strategic"])), number).begin()
        if over or (over is None and draw(st.booleans())):
            played.finish(at_random(number))
    if over is False and played.table.finished is not None:
        played = Played("relaxed", number).begin()
    return played


def folds(played: Played) -> list[tuple[Table, Any]]:
    """Plainly folded, with what the log itself opens: table and both hands after 0, 1, 2 … events."""
    rules, table = played.rules, Table(played.game)
    last = played.facts[-1]
    dealer = Dealer(played.game, last.secret) if isinstance(last, Unsealed) else None
    found: list[tuple[Table, Any]] = [(table, None)]
    for fact in played.facts:
        table = game.evolve(rules, table, fact)
        dealer = game.follow(rules, dealer, fact) if dealer else None
        hands = dealer.hands if dealer else None
        found.append((table, None if hands is None else (rules.hand(hands, 0), rules.hand(hands, 1))))
    return found


def seen(moment: Moment) -> tuple[Table, Any]:
    return moment.table, moment.hands


@settings(max_examples=25)
@given(played_games(), st.randoms(use_true_random=False))
def test_a_seek_is_the_fold_of_the_events_before_it_in_whatever_order_one_seeks(played: Played, chance: Any) -> None:
    recording = Recording(played.game, played.events)
    versions = list(range(len(played.events) + 1))
    expected = folds(played)
    chance.shuffle(versions)
    for version in versions:
        moment = recording.at(version)
        assert (moment.version, seen(moment)) == (version, expected[version])


@settings(max_examples=25)
@given(played_games(), st.data())
def test_a_recording_that_grows_is_the_recording_of_the_whole(played: Played, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(played.events)))
    recording = Recording(played.game, played.events[:first])
    recording.at(first)
    while (known := recording.head.version) < len(played.events):
        recording.extend(played.events[known : known + data.draw(st.integers(1, 100))])
        recording.at(data.draw(st.integers(0, recording.head.version)))
    whole = Recording(played.game, played.events)
    for version in range(len(played.events) + 1):
        assert seen(recording.at(version)) == seen(whole.at(version))


def test_a_log_that_is_cut_before_its_secret_has_no_hands_yet() -> None:
    played = Played("relaxed", 2).begin().finish(at_random(2))
    recording = Recording(played.game, played.events[:-1])
    over = [recording.over]
    assert all(recording.at(version).hands is None for version in range(len(played.events)))
    recording.extend(played.events[-1:])
    assert [*over, recording.over] == [False, True]
    assert seen(recording.at(9)) == folds(played)[9]


def test_an_open_deal_has_no_secret_and_is_over_with_its_result() -> None:
    played = war_game(CLASSIC, seed=12)
    recording = Recording(played.game, played.events)
    over = [recording.over]
    played.do(game.Resign())
    recording.extend(played.events[recording.head.version :])
    assert [*over, recording.over] == [False, True]
    assert recording.at(recording.head.version).hands == ((), ())


@settings(max_examples=25)
@given(played_games(over=False))
def test_of_a_game_that_runs_no_moment_has_a_hand(played: Played) -> None:
    recording = Recording(played.game, played.events)
    assert not recording.over
    assert all(recording.at(version).hands is None for version in range(len(played.events) + 1))


@settings(max_examples=25)
@given(played_games(over=True))
def test_of_a_game_that_is_over_every_dealt_moment_has_both_hands(played: Played) -> None:
    recording = Recording(played.game, played.events)
    assert recording.over
    for version in range(len(played.events) + 1):
        moment = recording.at(version)
        assert (moment.hands is not None) or not moment.table.dealt


class Counting(Recording):
    """Counts its folds."""

    folds = 0

    def after(self, moment: Moment) -> Moment:
        self.folds += 1
        return super().after(moment)


def test_a_seek_in_a_long_game_folds_no_more_than_in_a_short_one() -> None:
    played = war_game(CLASSIC, seed=20, down=1).turn_out()
    recording = Counting(played.game, played.events)
    assert len(played.events) > 4000
    while not recording.reach(len(played.events), 256):
        assert recording.folds <= 4 * 256 * (1 + len(played.events) // 256)
    assert recording.folds <= len(played.events)
    for version in (5, 700, len(played.events), 1, 64, 63, 3000):
        recording.folds = 0
        recording.at(version)
        assert recording.folds < KEPT_EVERY


@settings(max_examples=25)
@given(played_games(over=True))
def test_steps_by_battle_stop_at_every_decided_battle_forwards_and_backwards(played: Played) -> None:
    recording = Recording(played.game, played.events)
    last = len(played.events)
    # A Taken that gives only its own cards back decides nothing yet.
    decided = [
        version
        for version, fact in enumerate(played.facts, 1)
        if isinstance(fact, Captured | Taken) and recording.at(version).table.position.battle == fact.battle + 1
    ]
    moment, stops = recording.at(0), []
    while moment.version < last:
        moment = battle_after(recording, moment)
        stops.append(moment.version)
    assert stops == [version for version in decided if version < last] + [last]
    moment, back = recording.at(last), []
    while moment.version > 0:
        moment = battle_before(recording, moment)
        back.append(moment.version)
    assert back == [*reversed([version for version in decided if version < last]), 0]


# ---------------------------------------------------------------- over the socket


GAMES = {
    "states": Played("strategic", 3).begin().finish(at_random(3)),
    "playbook": war_game(PLAYBOOK, 5).turn_out(10),
    "long": war_game(CLASSIC, seed=20, down=1).turn_out(),
    "running": Played("relaxed", 4).begin(),
}


@pytest.fixture(scope="module")
async def server(anyio_backend: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """One that holds the games above."""
    folder: Path = tmp_path_factory.mktemp("replays")
    (folder / "data").mkdir()
    operator_keys(folder / "data" / "keys")
    database = await Database.open(folder / "data" / "statecraft.db", (SCHEMA,))
    for played in GAMES.values():
        await SqliteLog(database).append(played.game, chain.origin(played.game), Batch(tuple(played.events)))
    await database.close()
    with serving(folder) as server:
        yield server


async def replayed(client: Client, played: Played, **wanted: Any) -> list[Message]:
    """Ask for a replay; everything told of it up to its end or its refusal."""
    topic = f"replay/{played.game.hex()}"
    before = len(client.frames)

    def told() -> list[Message]:
        return [frame for frame in client.frames[before:] if frame.get("topic") == topic]

    await client.send({"type": "subscribe", "topic": topic, **wanted})
    await client.until(lambda: any(frame["type"] in ("replayed", "not_subscribed") for frame in told()))
    return told()


def check_chained(played: Played, frames: list[Message]) -> list[Message]:
    """The frames follow from their start to their end, all bytes as stored; those with a table."""
    start, end = frames[0], frames[-1]
    assert (start["type"], end["type"]) == ("subscribed", "replayed")
    version = start["version"]
    assert start["hash"] == hash_at(played, version)
    shown = []
    for frame in frames:
        if frame["type"] != "events":
            continue
        fresh = played.events[version : version + len(frame["events"])]
        assert frame["events"] == [event.body for event in fresh]
        version += len(fresh)
        assert (frame["version"], frame["hash8"]) == (version, hash_at(played, version)[:8])
        if frame["table"] is not None:
            shown.append(frame)
    assert (end["version"], end["hash"], end["head"]) == (version, hash_at(played, version), len(played.events))
    return shown


def hash_at(played: Played, version: int) -> bytes:
    return played.events[version - 1].hash if version else chain.origin(played.game).hash


def encoded(value: Any, subprotocol: str) -> Any:
    """As the wire has it."""
    if subprotocol == JSON:
        return json.loads(msgspec.json.encode(value))
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


@pytest.mark.parametrize("subprotocol", BOTH)
@pytest.mark.parametrize("name", ["states", "playbook"])
async def test_every_version_sought_shows_the_fold_of_the_log_up_to_it(
    server: Server, name: str, subprotocol: str
) -> None:
    played, expected = GAMES[name], folds(GAMES[name])
    step = max(1, len(played.events) // 25)
    async with connected(server, subprotocol=subprotocol) as client:
        for version in (*range(0, len(played.events), step), len(played.events)):
            frames = await replayed(client, played, at=version, limit=0)
            (shown,) = check_chained(played, frames)
            assert shown["version"] == version
            assert shown["table"] == encoded(expected[version][0], subprotocol)


@pytest.mark.parametrize(("view", "seats"), [("0", [0]), ("1", [1]), ("open", [0, 1]), ("public", []), (None, [])])
async def test_a_finished_game_is_seen_as_each_seat_in_public_and_with_open_cards(
    server: Server, view: str | None, seats: list[int]
) -> None:
    played = GAMES["states"]
    wanted = {} if view is None else {"as": view}
    async with connected(server, subprotocol=MSGPACK) as client:
        for version in (1, 6, 12, 30, len(played.events)):
            frames = await replayed(client, played, at=version, limit=0, **wanted)
            check_chained(played, frames)
            hands = [(frame["seat"], tuple(frame["cards"])) for frame in frames if frame["type"] == "hand"]
            table, both = folds(played)[version]
            assert hands == [(seat, both[seat]) for seat in seats if table.dealt]
            assert all(frame["version"] == version for frame in frames if frame["type"] == "hand")


@pytest.mark.parametrize("view", ["0", "1", "open"])
async def test_of_a_running_game_nobody_is_shown_a_hand_and_everybody_may_look_back(server: Server, view: str) -> None:
    played = GAMES["running"]
    async with connected(server) as client:
        (refused,) = await replayed(client, played, at=3, **{"as": view})
        assert (refused["type"], refused["reason"]) == ("not_subscribed", "not_over")
        frames = await replayed(client, played, at=3, limit=0, **{"as": "public"})
        (shown,) = check_chained(played, frames)
        assert shown["table"] == encoded(folds(played)[3][0], JSON)
        assert {frame["type"] for frame in frames} == {"subscribed", "events", "replayed"}


async def test_a_beat_tells_event_by_event_with_the_table_after_each(server: Server) -> None:
    played = GAMES["states"]
    async with connected(server, subprotocol=MSGPACK) as client:
        frames = await replayed(client, played, at=20, limit=9, beat_ms=50, **{"as": "open"})
    shown = check_chained(played, frames)
    assert [frame["version"] for frame in shown] == list(range(20, 30))
    assert [frame["table"] for frame in shown] == [
        encoded(folds(played)[version][0], MSGPACK) for version in range(20, 30)
    ]
    assert [frame["seat"] for frame in frames if frame["type"] == "hand"] == [0, 1] * 10


async def test_the_recorded_pace_tells_together_what_was_stored_together(server: Server) -> None:
    played = GAMES["states"]
    async with connected(server) as client:
        shown = check_chained(played, await replayed(client, played, speed=8, limit=24))
    times = [codec.decode(event.body).at_ms for event in played.events[:24]]
    last_of_each = [version for version in range(1, 25) if version == 24 or times[version] != times[version - 1]]
    assert [frame["version"] for frame in shown] == last_of_each


async def test_a_long_game_comes_in_pieces_that_follow_each_other(server: Server) -> None:
    played = GAMES["long"]
    async with connected(server) as client:
        bodies: list[bytes] = []
        after: dict[str, Any] = {}
        while len(bodies) < len(played.events):
            frames = await replayed(client, played, **after)
            shown = check_chained(played, frames)
            bodies += [body for frame in frames if frame["type"] == "events" for body in frame["events"]]
            assert len(shown) == 1
            assert frames[0]["recovered"]
            end = frames[-1]
            after = {"after": [end["version"], end["hash"]]}
            assert end["version"] % AT_ONCE_MAX == 0 or end["version"] == end["head"]
        assert bodies == [event.body for event in played.events]
        assert shown[-1]["table"] == encoded(played.table, JSON)
        for version in (4000, 17, 2500):
            at = min(version, len(played.events))
            (shown_,) = check_chained(played, await replayed(client, played, at=version, limit=0))
            assert shown_["table"] == encoded(folds(played)[at][0], JSON)


async def test_another_history_than_the_log_is_told_from_the_beginning(server: Server) -> None:
    played = GAMES["states"]
    async with connected(server) as client:
        for after in ([6, bytes(32)], [len(played.events) + 1, bytes(32)]):
            frames = await replayed(client, played, after=after, limit=3)
            check_chained(played, frames)
            assert (frames[0]["recovered"], frames[0]["version"]) == (False, 0)


async def test_unsubscribing_and_subscribing_anew_stop_what_ran(server: Server) -> None:
    played = GAMES["states"]
    topic = f"replay/{played.game.hex()}"
    async with connected(server) as client:
        await client.send({"type": "subscribe", "topic": topic, "at": 1, "beat_ms": 50})
        await client.until(lambda: [frame for frame in client.frames if frame["type"] == "events"][2:])
        await client.send({"type": "unsubscribe", "topic": topic})
        await client.ping()
        stopped = len(client.frames)
        # A second replay, of the same pace, is a clock that shows that the first one has stopped.
        frames = await replayed(client, GAMES["playbook"], at=1, limit=3, beat_ms=50)
        assert client.frames[stopped:] == frames
        await client.send({"type": "subscribe", "topic": topic, "at": 1, "beat_ms": 60_000})
        await client.ping()
        check_chained(played, await replayed(client, played, at=9, limit=0))
        await replayed(client, GAMES["playbook"], at=1, limit=3, beat_ms=50)
        assert [frame["version"] for frame in client.frames if frame.get("topic") == topic][-1] == 9


async def test_a_connection_has_a_few_replays_at_once(server: Server) -> None:
    async with connected(server) as client:
        for played in GAMES.values():
            await client.send({"type": "subscribe", "topic": f"replay/{played.game.hex()}", "at": 1, "beat_ms": 60_000})
        assert len(GAMES) == REPLAYS_MAX
        unknown = f"replay/{bytes(16).hex()}"
        await client.send({"type": "subscribe", "topic": unknown})
        refused = await client.until(lambda: [f for f in client.frames if f["type"] == "not_subscribed"])
        assert refused[0] == {"type": "not_subscribed", "topic": unknown, "reason": "too_many_subscriptions"}
        await client.send({"type": "unsubscribe", "topic": f"replay/{GAMES['long'].game.hex()}"})
        await client.send({"type": "subscribe", "topic": unknown})
        refused = await client.until(lambda: [f for f in client.frames if f["type"] == "not_subscribed"][1:])
        assert refused[0]["reason"] == "unknown_game"


async def test_the_replay_of_a_game_leaves_its_live_subscription_alone(server: Server) -> None:
    played = GAMES["running"]
    async with connected(server) as client:
        await replayed(client, played, at=2, limit=0)
        await client.send({"type": "unsubscribe", "topic": f"game/{played.game.hex()}"})
        await client.send({"type": "subscribe", "topic": f"replay/{played.game.hex()}", "at": 1, "beat_ms": 50})
        await client.until(lambda: [frame for frame in client.frames if frame["type"] == "replayed"][1:])


@pytest.mark.parametrize(
    "wanted",
    [
        {"topic": f"game/{bytes(16).hex()}", "at": 3},
        {"topic": f"game/{bytes(16).hex()}", "as": "open"},
        {"topic": "lobby", "beat_ms": 100},
        {"speed": 1, "beat_ms": 100},
        {"speed": 0.49},
        {"speed": 8.01},
        {"speed": True},
        {"beat_ms": 49},
        {"beat_ms": 60_001},
        {"beat_ms": 100.5},
        {"at": -1},
        {"at": 2**31 + 1},
        {"at": "3"},
        {"limit": -1},
        {"as": "2"},
        {"as": 0},
        {"pace": 1},
    ],
    ids=str,
)
async def test_a_replay_that_is_asked_for_wrongly_closes_the_connection(server: Server, wanted: dict[str, Any]) -> None:
    async with connected(server) as client:
        await client.send({"type": "subscribe", "topic": f"replay/{GAMES['states'].game.hex()}", **wanted})
        assert await client.close_code() == 4000


@pytest.mark.parametrize(
    "topic", ["replay", "replay/", "replay/xyz", f"replay/{bytes(16).hex().upper()}0", "replays/1"]
)
async def test_a_replay_of_no_game_is_refused(server: Server, topic: str) -> None:
    async with connected(server) as client:
        await client.send({"type": "subscribe", "topic": topic})
        await client.until(
            lambda: {"type": "not_subscribed", "topic": topic, "reason": "unknown_topic"} in client.frames
        )


async def test_not_a_number_is_no_speed(server: Server) -> None:
    async with connected(server, subprotocol=MSGPACK) as client:
        topic = f"replay/{GAMES['states'].game.hex()}"
        await client.send({"type": "subscribe", "topic": topic, "speed": float("nan")})
        assert await client.close_code() == 4000
