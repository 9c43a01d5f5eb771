"""The harsh store is harsh in every way it says, keeps the laws all the same, and lets the stubborn through."""

import asyncio

import pytest

from events.chain import Head, Stored, check, extend, origin
from events.log import Batch, Conflict, Unknown, outbox_link, outbox_origin
from tests.contrary import TROUBLES_MAX, ContraryLog

pytestmark = pytest.mark.anyio

GAMES = [bytes([7]) + number.to_bytes(15, "big") for number in range(10)]


async def append(log: ContraryLog, game: bytes, body: bytes) -> None:
    """As a caller has to: after trouble read again, and look whether it is stored after all."""
    for _ in range(TROUBLES_MAX + 1):
        head = await log.head(game)
        if any(event.body == body for event in await log.read(game)):
            return
        try:
            await log.append(game, head, Batch(extend(head, [body]), outbox=(body,)))
        except (Conflict, Unknown):
            continue
        return
    assert any(event.body == body for event in await log.read(game))


async def play(log: ContraryLog) -> None:
    async def grow(game: bytes) -> None:
        for number in range(30):
            await append(log, game, b"%d" % number)

    await asyncio.gather(*(grow(game) for game in GAMES))


@pytest.mark.parametrize("seed", range(5))
async def test_it_does_every_kind_of_harm_and_keeps_the_laws(seed: int) -> None:
    log = ContraryLog(seed)
    await play(log)
    assert set(log.troubles) == {"conflict", "lost before", "lost after", "told late", "told again"}
    for game in GAMES:
        events = await log.read(game)
        assert [event.body for event in events] == [b"%d" % number for number in range(30)]
        assert check(origin(game), events) is None
    hash_ = outbox_origin(7)
    entries = await log.outbox(7)
    assert len(entries) == 300
    for entry in entries:
        hash_ = outbox_link(hash_, entry.game, entry.body)
        assert entry.hash == hash_


@pytest.mark.parametrize("seed", range(5))
async def test_it_tells_late_and_again_but_without_a_gap(seed: int) -> None:
    log = ContraryLog(seed)
    heard: dict[bytes, list[Stored]] = {game: [] for game in GAMES}
    late = again = 0

    def listener(game: bytes, head: Head, events: tuple[Stored, ...]) -> None:
        nonlocal again
        assert head.version <= len(heard[game])
        again += head.version < len(heard[game])
        heard[game][head.version :] = events

    log.listen(listener)
    for game in GAMES:
        for number in range(30):
            await append(log, game, b"%d" % number)
            late += len(heard[game]) < number + 1
    for _ in range(100):
        await asyncio.sleep(0)
    assert late > 0
    assert again > 0
    for game in GAMES:
        assert heard[game] == list(await log.read(game))[: len(heard[game])]


async def test_the_same_seed_does_the_same_harm() -> None:
    one, two = ContraryLog(3), ContraryLog(3)
    await play(one)
    await play(two)
    assert one.troubles == two.troubles
    assert [await one.read(game) for game in GAMES] == [await two.read(game) for game in GAMES]


async def test_a_claim_is_lost_before_or_after_it_is_made() -> None:
    log = ContraryLog(2)
    held = []
    for number in range(100):
        player = number.to_bytes(16, "big")
        try:
            assert await log.claim(player, "states", GAMES[0]) == GAMES[0]
        except Unknown:
            held.append(await log.claimed(player, "states"))
    assert set(held) == {None, GAMES[0]}


async def test_calm_it_does_no_harm() -> None:
    log = ContraryLog(calm=True)
    await play(log)
    assert dict(log.troubles) == {}
