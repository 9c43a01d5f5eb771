"""The fifty-two cards of War. The only place that knows their numbers, ranks and suits."""

from rules.game import Card

CARDS = 52
RANKS = 13
RANK_NAMES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUIT_NAMES = ("♠", "♥", "♣", "♦")

# Numbers are stored in logs: 13 · suit + rank, from 0 to 51. This order never changes.
DECK: tuple[Card, ...] = tuple(Card(number) for number in range(CARDS))
"""Rising: spades, hearts, clubs, diamonds, each from the two to the ace."""


def rank(card: Card) -> int:
    """Its strength, from 0 (two) to 12 (ace); suits are ignored."""
    return card % RANKS


def suit(card: Card) -> int:
    """0 spades, 1 hearts, 2 clubs, 3 diamonds."""
    return card // RANKS


def name(card: Card) -> str:
    """As people write it: 9♥, 10♠, A♦."""
    return RANK_NAMES[rank(card)] + SUIT_NAMES[suit(card)]
