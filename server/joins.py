"""How many new players an address may make: a token bucket each, so that nobody fills the store with guests."""

import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Protocol

from events.redis_script import Script
from events.redis_scripts import NOW_MS
from events.redis_store import RedisStore

RATE = 1.0
"""A second, once the burst is used up."""
ADDRESSES_MAX = 10_000
"""Remembered by a server alone; those that asked longest ago are forgotten, whose buckets are the fullest."""
NETWORK_BYTES = 8
"""Of an IPv6 address: whoever has one has the other 2^64 as well."""
TAG = b"joins"


class Joins(Protocol):
    async def wait_seconds(self, address: str) -> float:
        """0 if the address may make a player now, which counts; else how long it has to wait. Raises Unknown."""


class JoinsHere:
    """Of a server that has its store to itself."""

    def __init__(self, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds, of any steady one."""
        self._burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tokens, and when they were counted."""

    def __len__(self) -> int:
        return len(self._buckets)

    async def wait_seconds(self, address: str) -> float:
        key, now = network(address), self._clock()
        tokens, counted = self._buckets.get(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - counted) * RATE)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / RATE
        self._buckets[key] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > ADDRESSES_MAX:
            self._buckets.popitem(last=False)
        return wait


_TAKE = Script(
    NOW_MS
    + """
    local bucket, burst, token_ms = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
    local now_ms = clock_ms()
    local full_ms = math.max(tonumber(redis.call('GET', bucket) or 0), now_ms)
    local wait_ms = full_ms + token_ms - (now_ms + burst * token_ms)
    if wait_ms > 0 then return wait_ms end
    full_ms = string.format('%.0f', full_ms + token_ms)
    redis.call('SET', bucket, full_ms, 'PXAT', full_ms)
    return 0
    """
)
"""A bucket is known by when it will be full again, on the store's clock, and is forgotten then."""


class JoinsEverywhere:
    """Of all servers of a store: `{joins}:ADDRESS` there is when the address's bucket will be full, in Unix ms."""

    def __init__(self, burst: int, store: RedisStore) -> None:
        self._burst = burst
        self._store = store

    async def wait_seconds(self, address: str) -> float:
        key = b"{joins}:" + network(address).encode()
        wait_ms: int = await self._store.write(TAG, _TAKE, (key,), (self._burst, int(1000 / RATE)))
        return wait_ms / 1000


def network(address: str) -> str:
    """Of one owner, as far as an address tells."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped) if mapped is not None else found.packed[:NETWORK_BYTES].hex()
    return str(found)
