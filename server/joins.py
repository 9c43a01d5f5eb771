"""How many new players an address may make: a token bucket each, so that nobody fills the file with guests."""

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address

RATE = 1.0
"""A second, once the burst is used up."""
ADDRESSES_MAX = 10_000
"""Remembered; those that asked longest ago are forgotten, whose buckets are the fullest."""
NETWORK_BYTES = 8
"""Of an IPv6 address: whoever has one has the other 2^64 as well."""


class Joins:
    def __init__(self, burst: int) -> None:
        self._burst = float(burst)
        self._buckets: OrderedDict[str | bytes, tuple[float, float]] = OrderedDict()
        """Tokens, and when they were counted."""

    def wait_seconds(self, address: str, now: float) -> float:
        """0 if the address may make a player now, which counts; else how long it has to wait. `now` in seconds."""
        key = _network(address)
        tokens, counted = self._buckets.get(key, (self._burst, now))
        tokens = min(self._burst, tokens + (now - counted) * RATE)
        wait = 0.0 if tokens >= 1 else (1 - tokens) / RATE
        self._buckets[key] = (tokens if wait else tokens - 1, now)
        self._buckets.move_to_end(key)
        while len(self._buckets) > ADDRESSES_MAX:
            self._buckets.popitem(last=False)
        return wait


def _network(address: str) -> str | bytes:
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped) if mapped is not None else found.packed[:NETWORK_BYTES]
    return str(found)
