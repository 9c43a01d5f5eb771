"""Every store against a model of a few lines: whatever is asked of both, both say the same."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.chain import Head, Stored, extend, origin
from events.log import Batch, Conflict, NotYet
from tests.stores import STORES, Store, every

pytestmark = pytest.mark.anyio

PARTITIONS = (50, 51)
EXAMPLES = count()
"""Each example plays games and players of its own, so that all can share one store."""


@pytest.fixture(params=every(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with STORES[request.param](tmp_path) as store:
        yield store


@dataclass(frozen=True)
class Append:
    game: int
    bodies: list[bytes]
    outbox: list[bytes]
    wait_ms: int | None
    behind: str
    """`head`, `older` or `fork`: what the append is put behind."""
    expired: str
    """`no`, `past` (the deadline if it is past) or `wrong`."""


@dataclass(frozen=True)
class Pass:
    ms: int


@dataclass(frozen=True)
class Claim:
    player: int
    game: int
    instead_of: int | None


APPENDS = st.builds(
    Append,
    game=st.integers(0, 3),
    bodies=st.lists(st.binary(max_size=40), min_size=1, max_size=4),
    outbox=st.lists(st.binary(max_size=20), max_size=2),
    wait_ms=st.sampled_from([None, 10_000, 30_000]),
    behind=st.sampled_from(["head"] * 4 + ["older", "fork"]),
    expired=st.sampled_from(["no"] * 4 + ["past", "past", "wrong"]),
)
CLAIMS = st.builds(Claim, st.integers(0, 1), st.integers(0, 3), st.none() | st.integers(0, 3))
STEPS = st.lists(st.one_of(APPENDS, APPENDS, st.just(Pass(20_000)), CLAIMS), max_size=16)


@dataclass
class Model:
    """What a Log is: four games, two in each of two partitions, and two players of one ladder."""

    games: list[bytes]
    players: list[bytes]
    now_ms: int = 0
    events: list[list[Stored]] = field(default_factory=lambda: [[], [], [], []])
    due_ms: dict[bytes, int] = field(default_factory=dict)
    outboxes: list[list[tuple[bytes, bytes]]] = field(default_factory=lambda: [[], []])
    claims: dict[bytes, bytes] = field(default_factory=dict)

    def head(self, game: int) -> Head:
        return self.events[game][-1].head if self.events[game] else origin(self.games[game])

    def older(self, game: int) -> Head:
        return self.events[game][-2].head if len(self.events[game]) > 1 else origin(bytes(16))

    def past(self) -> set[bytes]:
        return {game for game, due_ms in self.due_ms.items() if due_ms <= self.now_ms}

    def append(self, step: Append, head: Head, batch: Batch) -> Head | type[Exception]:
        game = self.games[step.game]
        if head != self.head(step.game):
            return Conflict
        if step.expired == "wrong" or (step.expired == "past" and game not in self.past()):
            return NotYet
        self.events[step.game].extend(batch.events)
        self.due_ms.pop(game, None)
        if step.wait_ms is not None:
            self.due_ms[game] = self.now_ms + step.wait_ms
        self.outboxes[step.game // 2].extend((game, body) for body in step.outbox)
        return self.head(step.game)

    def claim(self, player: bytes, game: bytes, instead_of: bytes | None) -> bytes:
        if self.claims.get(player) in (None, instead_of):
            self.claims[player] = game
        return self.claims[player]


async def append(store: Store, model: Model, step: Append) -> None:
    game = model.games[step.game]
    heads = {
        "head": model.head(step.game),
        "older": model.older(step.game),
        "fork": model.head(step.game)._replace(hash=bytes(32)),
    }
    head = heads[step.behind]
    past_ms = (await past(store, model)).get(game, 1)
    expired_ms = {"no": None, "past": past_ms, "wrong": past_ms + 1}[step.expired]
    batch = Batch(extend(head, step.bodies), tuple(step.outbox), step.wait_ms, expired_ms)
    answer: Head | type[Exception]
    try:
        answer = await store.log.append(game, head, batch)
    except (Conflict, NotYet) as error:
        answer = type(error)
    assert answer == model.append(step, head, batch)


async def past(store: Store, model: Model) -> dict[bytes, int]:
    deadlines = await store.log.deadlines(limit=10_000)
    return {deadline.game: deadline.at_ms for deadline in deadlines if deadline.game in model.games}


@given(steps=STEPS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_store_does_what_the_model_does(store: Store, steps: list[Append | Pass | Claim]) -> None:
    log, example = store.log, next(EXAMPLES)
    model = Model(
        games=[bytes([PARTITIONS[n // 2]]) + (4 * example + n).to_bytes(15, "big") for n in range(4)],
        players=[(2 * example + n).to_bytes(16, "big") for n in range(2)],
    )
    starts = [len(await log.outbox(number, limit=100_000)) for number in PARTITIONS]
    for step in steps:
        match step:
            case Append():
                await append(store, model, step)
            case Pass(ms):
                model.now_ms += ms
                await store.pass_ms(ms)
            case Claim(player_number, number, instead_number):
                player, game = model.players[player_number], model.games[number]
                instead_of = None if instead_number is None else model.games[instead_number]
                assert await log.claim(player, "ladder", game, instead_of) == model.claim(player, game, instead_of)

    for number, game in enumerate(model.games):
        assert await log.head(game) == model.head(number)
        assert list(await log.read(game)) == model.events[number]
    listed = [game for game in await log.games(limit=100_000) if game in model.games]
    assert listed == [game for number, game in enumerate(model.games) if model.events[number]]
    assert set(await past(store, model)) == model.past()
    for outbox, start, entries in zip(PARTITIONS, starts, model.outboxes, strict=True):
        assert [(entry.game, entry.body) for entry in await log.outbox(outbox, after=start, limit=100_000)] == entries
    for player in model.players:
        assert await log.claimed(player, "ladder") == model.claims.get(player)
