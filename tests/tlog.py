"""The published values of trees, tiles and notes, and a tree computed once more from the text of RFC 6962 alone."""

import json
from functools import cache
from hashlib import sha256
from typing import Any

from tests.conftest import VECTORS

KNOWN: dict[str, Any] = json.loads((VECTORS / "tlog.json").read_text())


class Naive:
    """RFC 6962 section 2.1 word for word: no stored hashes, no shifts, recursion on lists of leaves."""

    def __init__(self, entries: list[bytes]) -> None:
        self.entries = entries
        self.tree = cache(self._tree)

    def _tree(self, first: int, end: int) -> bytes:
        """MTH(D[first:end])."""
        if end - first == 0:
            return sha256(b"").digest()
        if end - first == 1:
            return sha256(b"\x00" + self.entries[first]).digest()
        k = half(end - first)
        return sha256(b"\x01" + self.tree(first, first + k) + self.tree(first + k, end)).digest()

    def path(self, m: int, first: int, end: int) -> list[bytes]:
        """PATH(m, D[first:end]), section 2.1.1."""
        if end - first == 1:
            return []
        k = half(end - first)
        if m < k:
            return [*self.path(m, first, first + k), self.tree(first + k, end)]
        return [*self.path(m - k, first + k, end), self.tree(first, first + k)]

    def proof(self, m: int, end: int) -> list[bytes]:
        """PROOF(m, D[0:end]), section 2.1.2."""
        return self.subproof(m, 0, end, True)

    def subproof(self, m: int, first: int, end: int, complete: bool) -> list[bytes]:
        if m == end - first:
            return [] if complete else [self.tree(first, end)]
        k = half(end - first)
        if m <= k:
            return [*self.subproof(m, first, first + k, complete), self.tree(first + k, end)]
        return [*self.subproof(m - k, first + k, end, False), self.tree(first, first + k)]

    def hash_of(self, level: int, index: int) -> bytes:
        return self.tree(index << level, (index + 1) << level)


def half(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def flipped(value: bytes, at: int = 0, bit: int = 0) -> bytes:
    return value[:at] + bytes([value[at] ^ (1 << bit)]) + value[at + 1 :]
