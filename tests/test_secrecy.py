"""What anyone but a hand's owner is sent tells nothing that wasn't shown: through the product's own doors, decoded."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from events import codec
from events.chain import extend, origin
from events.database import Database
from events.sqlite import SCHEMA, SqliteLog
from rules import fairness, fifty_states, game
from rules.fairness import NO_ENTROPY, Purpose, Stream
from rules.fifty_states import FIFTY_STATES, Play, Position
from rules.game import Card, Dealer, Mix, Moved, Open, Table
from server import wire
from server.audience import Audience
from server.connection import Connection
from server.games import Games
from server.replaying import Recordings
from server.wire import CODECS, JSON, MSGPACK, Codec
from tests.positions import GAME, KEY, NOW, OTHER, PLAYER, dealt
from tests.running import Wide

pytestmark = pytest.mark.anyio

# ---------------------------------------------------------------- two games with the same public history

HIDDEN = {"seals", "seal", "salt", "entropy", "mixed", "secret_hash", "hash8", "hash"}
"""Names of the fields that may differ: seals, salts, entropy, the hash of S, chain hashes."""

PLANS = 2
"""Battles that both games share."""


def entropy(number: int) -> bytes:
    return sha256(b"secrecy %d" % number).digest()


def plan(number: int) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """The house's first cards and the person's whole hand, under one S and this entropy."""
    seed = fairness.seed(fairness.secret(KEY, GAME), GAME, (entropy(number), NO_ENTROPY))
    person, house = fifty_states.deal(seed, ()).current
    shown: list[Card] = []
    for battle in range(1, PLANS + 1):
        left = tuple(card for card in house if card not in shown)
        shown.append(left[Stream(seed, Purpose.CHOICE, battle).below(len(left))])
    return tuple(shown), person


def frames(number: int, cards: tuple[Card, ...]) -> list[dict[str, Any]]:
    """Everything a watcher is sent of the game under this entropy, in both subprotocols, decoded to the last field."""
    table, dealer = Table(GAME), Dealer(GAME, fairness.secret(KEY, GAME))
    head = origin(GAME)
    sent: list[dict[str, Any]] = []
    commands: list[Any] = [Open("strategic", (), PLAYER, True, False, 1), Mix(entropy(number))]
    commands += [Play(battle, card) for battle, card in enumerate(cards, 1)]
    for at, command in enumerate(commands):
        moved = game.move(FIFTY_STATES, table, dealer, 0, command, NOW)
        assert isinstance(moved, Moved), moved
        table, dealer = moved.table, moved.dealer
        cause = codec.cause(GAME, 0, PLAYER, str(at), command)
        events = extend(head, [codec.encode(codec.Event(NOW, cause, fact)) for fact in moved.facts])
        head = events[-1].head
        for each in CODECS.values():
            sent.append(decoded(each, wire.events_frame(each, GAME, events, table, None)))
    return sent


def decoded(codec_: Codec, frame: bytes) -> dict[str, Any]:
    message: dict[str, Any] = msgspec.json.decode(frame) if codec_.text else msgspec.msgpack.decode(frame)
    if not codec_.text:
        message["events"] = [told(body) for body in message["events"]]
    for event in message["events"]:
        event.pop("body", None)  # the same fact once more, as bytes
    return message


def told(body: bytes) -> dict[str, Any]:
    event = codec.decode(body)
    fact = {field.name: getattr(event.fact, field.name) for field in fields(event.fact)}
    return {"at_ms": event.at_ms, "cause": event.cause, "fact": {"type": type(event.fact).__name__, **fact}}


def differences(a: Any, b: Any, name: str = "") -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from differences(a[key], b[key], key if key not in ("fact", "table", "position") else name)
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
        for left, right in zip(a, b, strict=True):
            yield from differences(left, right, name)
    elif a != b:
        yield name


def twins() -> tuple[int, int, tuple[Card, ...]]:
    """Two entropies under which the house shows the same cards and the person can play the same ones."""
    by_shown: dict[tuple[Card, ...], list[tuple[int, tuple[Card, ...]]]] = {}
    for number in range(100_000):
        shown, person = plan(number)
        for other, theirs in by_shown.setdefault(shown, []):
            both = tuple(sorted(set(person) & set(theirs)))
            if len(both) == PLANS:  # and no card more in common, so that the hidden rest differs
                return other, number, both
        by_shown[shown].append((number, person))
    raise AssertionError("no twins")


def test_two_games_with_the_same_public_history_send_a_watcher_the_same() -> None:
    first, second, cards = twins()
    assert plan(first)[1] != plan(second)[1]
    one, two = frames(first, cards), frames(second, cards)
    names = set(differences(one, two))
    assert names <= HIDDEN, names - HIDDEN
    assert {"seal", "salt", "entropy"} <= names, "the twins differ where they may"


def test_a_difference_in_any_other_field_would_be_seen() -> None:
    first, second, cards = twins()
    one, two = frames(first, cards), frames(second, cards[::-1])
    assert not set(differences(one, two)) <= HIDDEN


# ---------------------------------------------------------------- every value of type Card in every frame


def cards_in(value: Any, hint: Any) -> Iterator[Card]:
    """Every value that its type says is a Card, in a fact or a table."""
    if hint is Card:
        if value is not None:
            yield value
    elif is_dataclass(value):
        hints = get_type_hints(type(value))
        for field in fields(value):
            yield from cards_in(getattr(value, field.name), hints[field.name])
    elif isinstance(value, tuple):
        args = get_args(hint)
        repeated = len(args) == 2 and args[1] is Ellipsis
        for at, each in enumerate(value):
            yield from cards_in(each, args[0] if repeated else args[at] if at < len(args) else Any)
    elif args := get_args(hint):
        for each in args:
            if each is Card and isinstance(value, int):
                yield Card(value)


def test_cards_are_found_wherever_a_type_says_card() -> None:
    table, _ = dealt("versus", ((2, 9), (1, 8)))
    position: Position = table.position
    assert set(cards_in(position, Position)) == set()
    shown = fifty_states.evolve(position, fifty_states.Played(0, 1, Card(9)))
    assert set(cards_in(shown, Position)) == {9}
    assert set(cards_in(fifty_states.Captured(0, 1, Card(8), Card(9)), fifty_states.Captured)) == {8, 9}


class Seen:
    """A connection's frames, decoded."""

    def __init__(self, codec_: Codec) -> None:
        self.codec = codec_
        self.messages: list[dict[str, Any]] = []

    def send(self, frame: bytes) -> None:
        self.messages.append(msgspec.json.decode(frame) if self.codec.text else msgspec.msgpack.decode(frame))

    def last(self, type_: str) -> dict[str, Any]:
        return next(message for message in reversed(self.messages) if message["type"] == type_)


@pytest.mark.parametrize("mode", ["relaxed", "strategic"])
async def test_no_frame_to_anyone_but_the_owner_names_a_card_before_it_is_shown(tmp_path: Path, mode: str) -> None:
    database = await Database.open(tmp_path / "log.db", (SCHEMA,))
    log = SqliteLog(database)
    games = Games(log, {1: KEY}, lambda: NOW)
    audience = Audience(games, log)
    owner = Seen(JSON)
    playing = Connection(games, audience, Recordings(log), JSON, PLAYER, Wide(owner.send))
    watchers = [Seen(JSON), Seen(MSGPACK), Seen(JSON), Seen(MSGPACK)]
    watching = [
        Connection(games, audience, Recordings(log), seen.codec, player, Wide(seen.send))
        for seen, player in zip(watchers, (None, None, OTHER, OTHER), strict=True)
    ]
    try:
        await ask(playing, {"type": "open", "id": "o", "rules": "fifty-states/1", "mode": mode})
        topic = f"game/{owner.messages[-1]['game']}"
        id_ = owner.messages[-1]["game"]
        for connection in (playing, *watching):
            await ask(connection, {"type": "subscribe", "topic": topic})
        await ask(playing, do(id_, "mix", {"do": "Mix", "entropy": "A" * 43 + "="}))
        number = 0
        while not (table := owner.last("events")["table"])["finished"]:
            number += 1
            cards = owner.last("hand")["cards"]
            play = {"do": "Play", "battle": table["position"]["battle"], "card": cards[number % len(cards)]}
            await ask(playing, do(id_, f"p{number}", play))
            assert owner.messages[-1]["type"] == "done"
            for connection in watching:  # who looks back in a running game is shown no more than who watches it
                await ask(connection, {"type": "subscribe", "topic": f"replay/{id_}", "at": 2 * number, "as": "public"})
        assert number >= 7
    finally:
        for connection in (playing, *watching):
            connection.leave()
        await database.close()
    for seen in watchers:
        check_shown(seen)


def check_shown(seen: Seen) -> None:
    assert {message["type"] for message in seen.messages} == {"subscribed", "events", "replayed"}
    shown: set[Card] = set()
    for message in seen.messages:
        if message["type"] != "events":
            continue
        told_: set[Card] = set()
        for event in message["events"]:
            body = msgspec.convert(event["body"], bytes) if seen.codec.text else event
            fact = codec.decode(body).fact
            told_ |= set(cards_in(fact, type(fact)))
            if isinstance(fact, fifty_states.Revealed | fifty_states.Played):
                shown.add(fact.card)
        position = message["table"]["position"]
        if position is not None:
            told_ |= set(cards_in(msgspec.convert(position, Position), Position))
        assert told_ <= shown
    assert len(shown) == 14


def do(game_id: str, id_: str, command: dict[str, Any]) -> dict[str, Any]:
    return {"type": "do", "id": id_, "game": game_id, "command": command}


async def ask(connection: Connection, message: dict[str, Any]) -> None:
    codec_ = connection.codec
    frame = msgspec.json.encode(message) if codec_.text else msgspec.msgpack.encode(message)
    if (rest := connection.receive(frame, 0.0)) is not None:
        await rest


# ---------------------------------------------------------------- the house can't peek


@pytest.mark.parametrize("mode", ["relaxed", "strategic"])
def test_swapping_unseen_cards_never_changes_the_choice_of_the_house(mode: str) -> None:
    house = (1, 8, 16, 24, 32, 40, 49)
    for number in range(60):
        seed = entropy(number)
        seals = set()
        for person in ((2, 9, 17, 25, 33, 41, 50), (3, 4, 5, 6, 7, 10, 11), (43, 44, 45, 46, 47, 48, 50)):
            table, _ = dealt(mode, (person, house), seed)
            seals.add(table.position.seals[1])
        assert len(seals) == 1


def test_a_strategy_is_given_the_public_position_its_own_hand_and_its_stream_and_nothing_else() -> None:
    for strategy in FIFTY_STATES.strategies.values():
        hints = get_type_hints(strategy.choose)
        assert list(hints.values()) == [Position, tuple[Card, ...], Stream, Card]


def test_one_answer_for_a_hidden_card_of_the_house_and_one_that_sits_out() -> None:
    table, dealer = dealt("relaxed", ((2, 9, 17, 25, 33, 41, 50), (1, 8, 16, 24, 32, 40, 49)))
    answers = {
        game.move(FIFTY_STATES, table, dealer, 0, Play(1, Card(card)), NOW)
        for card in range(1, 51)
        if card not in dealer.hands.current[0]
    }
    assert len(answers) == 1
