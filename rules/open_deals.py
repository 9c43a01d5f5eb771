"""Open deals: what one published integer deals. The only place that knows their generator (RULES.md, Seeded deals).

The generator is mulberry32 with the seed as its 32-bit state. Its value is the word / 2^32; the index of a step,
floor(value · (i + 1)), is the same as (word · (i + 1)) >> 32 in integers, so no rounding of floats comes in.
"""

from collections.abc import Iterator

from rules.cards import CARDS, RANKS
from rules.game import Card

SEED_MAX = (1 << 32) - 1

_WORD = (1 << 32) - 1

# Before the shuffle: spades, hearts, clubs, diamonds, each A, 2 … 10, J, Q, K.
_DECK = tuple(Card(RANKS * suit + (at - 1) % RANKS) for suit in range(CARDS // RANKS) for at in range(RANKS))


def words(seed: int) -> Iterator[int]:
    """mulberry32: integers from 0 to 2^32 - 1, without end."""
    assert 0 <= seed <= SEED_MAX
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & _WORD
        t = ((state ^ (state >> 15)) * (state | 1)) & _WORD
        t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & _WORD)) & _WORD
        yield t ^ (t >> 14)


def deck(seed: int) -> tuple[Card, ...]:
    """The fifty-two as the seed shuffles them: Fisher-Yates from the end, one word a step."""
    cards = list(_DECK)
    for i, word in zip(range(CARDS - 1, 0, -1), words(seed), strict=False):
        j = (word * (i + 1)) >> 32
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards)
