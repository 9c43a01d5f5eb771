"""Restarts in the middle of games between people: nothing acknowledged is lost, and nobody loses on time by them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from projections import saved
from rules.game import TimeUp
from tests.pairs import Person
from tests.running import MSGPACK, RULES, Followed, Server, serving

pytestmark = pytest.mark.anyio


async def met(server: Server, number: int) -> tuple[bytes, list[Person]]:
    pair = [Person(server, server.join(), Random(number * 2 + seat), MSGPACK) for seat in (0, 1)]
    rules, settings = (RULES, {}) if number % 4 else ("playbook/1", {"turn_seconds": 30})
    made = await pair[0].ask("invite", "i", rules=rules, settings=settings, listed=False)
    assert made["type"] == "done", made
    return bytes.fromhex(made["game"]), pair


async def slowly(person: Person, game: bytes) -> Followed:
    """Like a person, and not all at once; a War is left after a while."""
    held = await person.follow(game)
    await person.sit(game)
    await asyncio.sleep(person.chance.random())
    await person.mix(game)
    seat = person.seat(held)
    while await person.owes(held, seat):
        await asyncio.sleep(person.chance.random() / 5)
        if held.table["position"]["battle"] > 15 and "through" in held.table["position"]:
            await person.do(game, "resign", {"do": "Resign"})
            await person.until(lambda: held.over)
            break
        answer = await person.act(held, seat)
        await person.until(lambda answer=answer: held.head.version >= answer.get("version", 0))  # type: ignore[misc]
    return held


async def rolled(folder: Path, pairs: int, restarts: int) -> None:
    with serving(folder) as server:
        games = [await met(server, number) for number in range(pairs)]
        playing = [asyncio.create_task(slowly(person, game)) for game, pair in games for person in pair]
        for _ in range(restarts):
            await asyncio.sleep(1.5)
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)
        held = await asyncio.gather(*playing)
        assert all(each.over for each in held)
        for game, pair in games:
            await assert_kept(server, game, pair)


async def assert_kept(server: Server, game: bytes, pair: Sequence[Person]) -> None:
    """What was acknowledged is in the log, both have seen all of it, and nobody lost on time."""
    assert server.audit(game).over
    stored = saved.load(server.export(game))
    heads = {event.head for event in stored.events}
    for person in pair:
        assert person.acknowledged
        assert all(head in heads for id_, head in person.acknowledged if id_ == game)
        assert tuple(person.games[game].events) == stored.events
        assert not any(isinstance(fact, TimeUp) for fact in person.games[game].facts)
        await person.leave()


@pytest.mark.thorough
async def test_restarts_in_the_middle_of_games_lose_nothing_and_nobody_on_time(tmp_path: Path) -> None:
    await rolled(tmp_path, pairs=4, restarts=2)


@pytest.mark.slow
async def test_restarts_in_the_middle_of_two_hundred_games_lose_nothing(tmp_path: Path) -> None:
    await rolled(tmp_path, pairs=200, restarts=3)
