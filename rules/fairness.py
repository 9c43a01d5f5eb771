"""Secrets, seeds, streams of chance, shuffles and seals: the only place that says what is hashed, in which order.

Every hash begins with its own domain string ending in a zero byte; after it stand fields of fixed width, big-endian:
game 16 bytes, seat 1, purpose 1, battle 2, card 1, block 4, hashes, salts, secrets and entropy 32.
docs/audit.md gives the same formats with vectors. HMAC is RFC 2104 with SHA-256 (FIPS 180-4).
"""

import hmac
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

GAME_BYTES = 16
PLAYER_BYTES = 16
HASH_BYTES = 32
NO_ENTROPY = bytes(HASH_BYTES)
"""What the house brings to the mix."""

_WORD = 1 << 32
_EIGHT_WORDS = Struct(">8I")


class Purpose(IntEnum):
    """What a stream of chance is for. One stream serves one purpose in one battle, so no random value is used twice."""

    DEAL = 1
    CHOICE = 2
    SALT = 3
    RETURN = 4
    RIVAL = 5


def secret(operator_key: bytes, game: bytes) -> bytes:
    """S, 32 bytes: what the server alone knows of a game until `Unsealed` publishes it."""
    return hmac.digest(operator_key, b"statecraft secret v1\0" + _wide(game, GAME_BYTES), "sha256")


def secret_hash(game: bytes, secret: bytes) -> bytes:
    """The promise of S that stands in `Opened`, 32 bytes."""
    return sha256(b"statecraft secret-hash v1\0" + _wide(game, GAME_BYTES) + _wide(secret, HASH_BYTES)).digest()


def entropy_hash(game: bytes, seat: int, entropy: bytes) -> bytes:
    """The promise of a person's entropy that stands in `Seated` when two people play, 32 bytes."""
    fields = _wide(game, GAME_BYTES) + seat.to_bytes(1, "big") + _wide(entropy, HASH_BYTES)
    return sha256(b"statecraft entropy v1\0" + fields).digest()


def seed(secret: bytes, game: bytes, entropies: tuple[bytes, bytes]) -> bytes:
    """The one seed all chance of a game comes from, 32 bytes: nobody alone could choose it."""
    fields = _wide(game, GAME_BYTES) + _wide(entropies[0], HASH_BYTES) + _wide(entropies[1], HASH_BYTES)
    return hmac.digest(_wide(secret, HASH_BYTES), b"statecraft seed v1\0" + fields, "sha256")


def seal(game: bytes, seat: int, battle: int, card: int, salt: bytes) -> bytes:
    """The commitment to one card, 32 bytes; only its salt and card open it."""
    place = _wide(game, GAME_BYTES) + seat.to_bytes(1, "big") + battle.to_bytes(2, "big")
    return sha256(b"statecraft seal v1\0" + place + card.to_bytes(1, "big") + _wide(salt, HASH_BYTES)).digest()


def strategy_hash(text: str) -> bytes:
    """The promise of the house's whole policy that stands in `Opened`, 32 bytes over its published text (ASCII)."""
    return sha256(b"statecraft strategy v1\0" + text.encode("ascii")).digest()


class Stream:
    """One stream of chance: HMAC-SHA256 in counter mode, read as big-endian 32-bit words.

    Any draw can be recomputed alone from `key` (the seed; for the rival's draw, S), the purpose and the battle.
    """

    __slots__ = ("_block", "_key", "_place", "_words")

    def __init__(self, key: bytes, purpose: Purpose, battle: int = 0) -> None:
        self._key = _wide(key, HASH_BYTES)
        self._place = b"statecraft stream v1\0" + purpose.to_bytes(1, "big") + battle.to_bytes(2, "big")
        self._block = 0
        self._words: Iterator[int] = iter(())

    def bytes32(self) -> bytes:
        """The next whole block of 32 bytes."""
        block = _block(self._key, self._place + self._block.to_bytes(4, "big"))
        self._block += 1
        return block

    def word(self) -> int:
        """The next integer from 0 to 2^32 - 1."""
        for word in self._words:
            return word
        self._words = iter(_EIGHT_WORDS.unpack(self.bytes32()))
        return next(self._words)

    def below(self, bound: int) -> int:
        """An unbiased integer from 0 to `bound` - 1, by rejection over as many words as `bound` needs."""
        assert bound > 0
        if bound <= _WORD:
            limit = _WORD - _WORD % bound
            while (value := self.word()) >= limit:
                pass
            return value % bound
        words = -(-(bound - 1).bit_length() // 32)
        space = _WORD**words
        limit = space - space % bound
        while True:
            value = 0
            for _ in range(words):
                value = value * _WORD + self.word()
            if value < limit:
                return value % bound

    def shuffled(self, deck: Sequence[T]) -> list[T]:
        """A shuffled copy: Fisher-Yates from the end (Knuth, TAOCP 2, 3.4.2, algorithm P)."""
        cards = list(deck)
        for i in range(len(cards) - 1, 0, -1):
            j = self.below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return cards

    def weighted(self, weights: Sequence[int]) -> int:
        """An index drawn with the given integer weights (at least one above zero)."""
        at = self.below(sum(weights))
        for index, weight in enumerate(weights):
            if at < weight:
                return index
            at -= weight
        raise AssertionError("weights are not negative")


@lru_cache(maxsize=4096)
def _block(key: bytes, place: bytes) -> bytes:
    # The house's card is drawn twice: when it is sealed, and when it is shown.
    return hmac.digest(key, place, "sha256")


def _wide(field: bytes, width: int) -> bytes:
    assert len(field) == width, f"a field of {width} bytes, not {len(field)}"
    return field
