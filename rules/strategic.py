"""Exact play of 50 States after round one. The only place that reads the table of mixes and knows what a card is worth.

After round one all fourteen cards have been shown and seven are still live, so nothing is hidden and what remains is a
zero-sum game of simultaneous choices (rules, fifty-states/1, point 6). Who wins a battle depends on the order of the
live cards alone, so a position is a *key*: one letter per live card, lowest first.

    a  my current hand    A  captured by me, playable from the next round on
    b  the other's hand   B  captured by the other

A key has both an 'a' and a 'b': a round's end is folded at once, captured cards joining the hands, and with it a game's
end. The 128 equally likely ends of round one are the words of seven letters 'a' or 'b'. Two of them are over; from the
other 126 the rules reach 850 keys, those 126 counted and each side's view a key of its own.
"""

from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Final

from rules.strategic_table import TEXT

__all__ = ["TEXT", "WEIGHTS", "flip", "play", "position", "value", "worth"]

_OTHER_SIDE: Final = str.maketrans("abAB", "baBA")


def position(
    own: Collection[int], other: Collection[int], own_captured: Collection[int], other_captured: Collection[int]
) -> str:
    """The key of a position in which both current hands hold a card. No card may be in two places."""
    assert own, "a seat with an empty hand has nothing to choose: the round is over"
    assert other, "a seat with an empty hand has nothing to choose: the round is over"
    owners = [
        (card, letter)
        for cards, letter in ((own, "a"), (other, "b"), (own_captured, "A"), (other_captured, "B"))
        for card in cards
    ]
    assert len({card for card, _ in owners}) == len(owners), "a card is in one place only"
    return "".join(letter for _, letter in sorted(owners))


def flip(key: str) -> str:
    """The same position as the other side sees it."""
    return key.translate(_OTHER_SIDE)


def play(key: str, own: int, other: int) -> str | bool:
    """What follows when my own-th lowest card meets the other's other-th lowest, both counted from 0.

    The key after it, still from my side; True when it wins me the game, False when it loses it.
    """
    assert own >= 0, "cards are counted from 0"
    assert other >= 0, "cards are counted from 0"
    mine, theirs = _places(key, "a")[own], _places(key, "b")[other]
    captured = "A" if mine > theirs else "B"
    low, high = min(mine, theirs), max(mine, theirs)
    after = key[:low] + captured + key[low + 1 : high] + key[high + 1 :]
    if "a" in after and "b" in after:
        return after
    after = after.lower()
    if "a" in after and "b" in after:
        return after
    return "a" in after


def _places(key: str, letter: str) -> list[int]:
    return [place for place, found in enumerate(key) if found == letter]


def _parsed(text: str) -> Mapping[str, tuple[int, ...]]:
    rows = (line.split(" ") for line in text.splitlines())
    return MappingProxyType({key: tuple(map(int, weights)) for key, *weights in rows})


WEIGHTS: Final[Mapping[str, tuple[int, ...]]] = _parsed(TEXT)
"""Key to one weight per card of 'a', lowest card first: coprime integers, none negative.

Each row is a minimax mix; of several, the one with most weight on the lowest card, then on the next lowest, and so on.
"""


@cache
def value(key: str) -> Fraction:
    """The probability that 'a' wins when both sides follow the table. A key without a row is a KeyError."""
    weights = WEIGHTS[key]
    return sum((weight * chance for weight, chance in zip(weights, worth(key), strict=True)), start=Fraction(0)) / sum(
        weights
    )


@cache
def worth(key: str) -> tuple[Fraction, ...]:
    """For each card of 'a', lowest first, the probability of winning if it is played now, the rest by the table.

    None is above value(key), and value(key) - worth(key)[i] is what the choice of card i gave away.
    """
    against = WEIGHTS[flip(key)]
    return tuple(
        sum((weight * _chance(play(key, own, other)) for other, weight in enumerate(against)), start=Fraction(0))
        / sum(against)
        for own in range(key.count("a"))
    )


def _chance(after: str | bool) -> Fraction:
    return Fraction(after) if isinstance(after, bool) else value(after)
