"""How many players an address may make, at a server alone and over all servers of a Redis."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest

from server.joins import ADDRESSES_MAX, Joins, JoinsEverywhere, JoinsHere
from tests.redis_stores import shared_store

pytestmark = pytest.mark.anyio

BURST = 3


@dataclass(slots=True)
class Door:
    joins: Joins
    pass_ms: Callable[[int], Awaitable[None]]


class Clock:
    seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    async def pass_ms(self, ms: int) -> None:
        self.seconds += ms / 1000


@pytest.fixture(params=["here", "redis", "cluster"])
async def door(request: pytest.FixtureRequest) -> AsyncIterator[Door]:
    if request.param == "here":
        clock = Clock()
        yield Door(JoinsHere(BURST, clock), clock.pass_ms)
        return
    async with shared_store(request.param) as store:
        yield Door(JoinsEverywhere(BURST, store), store.pass_ms)


async def test_an_address_makes_so_many_players_and_then_one_a_second(door: Door) -> None:
    async def waits(address: str, times: int) -> list[float]:
        return [await door.joins.wait_seconds(address) for _ in range(times)]

    assert await waits("192.0.2.1", 5) == [0, 0, 0, 1, 1]
    await door.pass_ms(500)
    assert await waits("192.0.2.1", 1) == [0.5]
    assert await waits("192.0.2.2", 1) == [0]
    await door.pass_ms(500)
    assert await waits("192.0.2.1", 2) == [0, 1]
    await door.pass_ms(1_000_000)
    assert await waits("192.0.2.1", 4) == [0, 0, 0, 1]


async def test_a_network_of_one_owner_is_one_address(door: Door) -> None:
    for same in (("2001:db8::1", "2001:db8::ffff:1"), ("192.0.2.7", "::ffff:192.0.2.7"), ("", ""), ("é", "é")):
        for _ in range(BURST):
            assert await door.joins.wait_seconds(same[0]) == 0
        assert await door.joins.wait_seconds(same[1]) == 1
    assert await door.joins.wait_seconds("2001:db8:0:1::1") == 0


async def test_addresses_are_not_remembered_for_ever() -> None:
    joins = JoinsHere(1)
    for number in range(ADDRESSES_MAX + 100):
        await joins.wait_seconds(f"host {number}")
    assert len(joins) == ADDRESSES_MAX


async def test_two_servers_of_one_store_count_together_and_forget_a_full_bucket() -> None:
    async with shared_store("redis") as store:
        servers = [JoinsEverywhere(BURST, store), JoinsEverywhere(BURST, store)]
        waits = await asyncio.gather(*(servers[number % 2].wait_seconds("192.0.2.1") for number in range(6)))
        assert sorted(waits) == [0, 0, 0, 1, 1, 1]
        (full_ms,) = [await store.read(b"joins", "GET", "{joins}:192.0.2.1")]
        assert int(full_ms) == store.now_ms + BURST * 1000
        assert await store.read(b"joins", "PEXPIRETIME", "{joins}:192.0.2.1") == int(full_ms)
