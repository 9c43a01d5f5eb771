"""War, three variants, one engine: `playbook/1`, `gameweave/1`, `classic/1` (RULES.md, War).

No choice exists, so a battle lies in the piles before it is turned: `fight` says whole how one goes, and it is the only
place that does. `due` reads the next fact off it, `play_out` runs through a game with it.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from rules import open_deals, variants
from rules.cards import CARDS, DECK, RANKS, rank
from rules.fairness import Purpose, Stream
from rules.frozen import builder
from rules.game import (
    HOUSE_SEAT,
    SEATS,
    Card,
    Command,
    Dealer,
    Fact,
    Finished,
    Reason,
    Refused,
    Rules,
    Settings,
    Table,
)
from rules.variants import MODES, Variant, in_force, settings

Counts = tuple[int, int]
"""Of seat 0 and seat 1."""
Piles = tuple[tuple[Card, ...], tuple[Card, ...]]
"""Of seat 0 and seat 1, the top card first."""

# ---------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True)
class Readied:
    """The seat agrees to turn every battle up to and with `through`: a commit with nothing to choose."""

    seat: int
    through: int


@dataclass(frozen=True, slots=True)
class Turned:
    """Both seats' top cards, face up at once."""

    battle: int
    cards: tuple[Card, Card]


@dataclass(frozen=True, slots=True)
class Laid:
    """A war: how many cards each seat laid face down, not which."""

    battle: int
    counts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """The seat takes `count` cards from the table: all that are in play, or, where nobody won, its own."""

    battle: int
    seat: int
    count: int


# ---------------------------------------------------------------- the command


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn `times` battles, the first of them `battle`."""

    battle: int
    times: int


# ---------------------------------------------------------------- a battle, whole


class Fought(NamedTuple):
    """How a battle goes."""

    rows: tuple[tuple[Card, Card], ...]
    """Face-up cards, a pair for each turn."""
    laid: tuple[Counts, ...]
    """Face-down cards, a pair for each war."""
    taken: tuple[Counts, ...]
    """Seat and count, in order; none where the cards stay on the table."""
    wars: int
    """Ties, also one that can't be fought."""
    piles: Piles
    """After it."""
    end: Finished | None


def fight(terms: Variant, piles: Piles, battle: int, seed: bytes) -> Fought:
    """The battle that lies in these piles, which both hold a card: from the first turn to its end."""
    first, second = piles
    a = b = 0  # cards in play
    rows: list[tuple[Card, Card]] = []
    laid: list[Counts] = []
    winner: int | None
    while True:
        card, other = first[a], second[b]
        rows.append((card, other))
        a, b = a + 1, b + 1
        if tied := card % RANKS == other % RANKS:
            left = (len(first) - a, len(second) - b)
            if min(left) >= terms.needs:
                counts = (min(terms.down, left[0] - terms.keeps), min(terms.down, left[1] - terms.keeps))
                laid.append(counts)
                a, b = a + counts[0], b + counts[1]
                left = (left[0] - counts[0], left[1] - counts[1])
                if min(left) > 0:
                    continue
            winner = None if left[0] == left[1] else 0 if left[0] > left[1] else 1
        else:
            winner = 0 if card % RANKS > other % RANKS else 1
        break
    in_play = (a, b)
    taken: tuple[Counts, ...] = ()
    if not tied or terms.short_takes:
        taken = tuple(enumerate(in_play)) if winner is None else ((winner, a + b),)
    for seat, count in taken:
        piles, in_play = take(terms, piles, in_play, seat, count, battle, seed)
    after = (piles[0][in_play[0] :], piles[1][in_play[1] :])
    end = ended(terms, battle, (len(after[0]), len(after[1])), tied, winner)
    return Fought(tuple(rows), tuple(laid), taken, len(rows) - (not tied), after, end)


def take(
    terms: Variant, piles: Piles, in_play: Counts, seat: int, count: int, battle: int, seed: bytes
) -> tuple[Piles, Counts]:
    """Piles, and how many of their first cards are in play, after a seat takes `count` cards from the table."""
    own, other = piles[seat], piles[1 - seat]
    mine, theirs = in_play[seat], in_play[1 - seat]
    if count == mine:
        # Its own, where nobody won. A seat that wins takes at least one card of the other's beside them.
        own, mine = own[mine:] + own[:mine], 0
    else:
        won = own[:mine] + other[:theirs]
        back = tuple(Stream(seed, Purpose.RETURN, battle).shuffled(won)) if terms.shuffled else won
        own, other, mine, theirs = own[mine:] + back, other[theirs:], 0, 0
    return ((own, other), (mine, theirs)) if seat == 0 else ((other, own), (theirs, mine))


def ended(terms: Variant, battles: int, sizes: Counts, tied: bool, winner: int | None) -> Finished | None:
    """Whether the game is over after so many battles, the last of which ended in a tie or not, taken by `winner`."""
    if tied:
        return Finished(winner, terms.short[winner is None])
    if 0 in sizes:
        return Finished(1 if sizes[0] == 0 else 0, "all_cards")
    if battles != terms.limit:
        return None
    if not terms.limit_counts or sizes[0] == sizes[1]:
        return Finished(None, "battle_limit")
    return Finished(0 if sizes[0] > sizes[1] else 1, "battle_limit")


def facts(battle: int, fought: Fought) -> tuple[Fact, ...]:
    """A battle as its facts, in order."""
    told: list[Fact] = []
    for at, row in enumerate(fought.rows):
        told.append(Turned(battle, row))
        if at < len(fought.laid):
            told.append(Laid(battle, fought.laid[at]))
    told.extend(Taken(battle, seat, count) for seat, count in fought.taken)
    if fought.end is not None:
        told.append(fought.end)
    return tuple(told)


class Outcome(NamedTuple):
    """How a game went."""

    battles: int
    wars: int
    winner: int | None
    reason: str


def play_out(terms: Variant, piles: Piles, seed: bytes) -> Outcome:
    """A whole game from the deal, without its facts: for whoever needs many."""
    battles = wars = 0
    while True:
        battles += 1
        fought = fight(terms, piles, battles, seed)
        wars += fought.wars
        piles = fought.piles
        if fought.end is not None:
            return Outcome(battles, wars, fought.end.winner, fought.end.reason)


# ---------------------------------------------------------------- what the folds hold


@dataclass(frozen=True, slots=True)
class Position:
    """The public position: nothing in it ever lay face down."""

    battle: int
    """The one to be turned next, which commands name; while cards are in play, theirs."""
    battles: int
    """Turned so far."""
    wars: int
    """Ties so far, also one that can't be fought."""
    sizes: Counts
    """Cards in each pile."""
    in_play: Counts
    """Each seat's cards on the table that nobody has taken."""
    rows: tuple[tuple[Card, Card], ...]
    """Face-up cards of the last battle, a pair for each turn; they stay to be seen until the next one."""
    laid: tuple[Counts, ...]
    """Face-down cards of its wars."""
    winner: int | None
    """The seat that took the last battle."""
    through: Counts
    """The last battle that each seat has agreed to turn."""


@dataclass(frozen=True, slots=True)
class Hands:
    """The dealer's knowledge."""

    piles: Piles
    """As before the battle: its cards leave them when they are taken."""
    in_play: Counts
    """How many of each pile's first cards lie on the table."""
    seed: bytes
    """For the order in which won cards go back; empty in an open deal."""


def start(counts: Counts) -> Position:
    return Position(
        battle=1,
        battles=0,
        wars=0,
        sizes=counts,
        in_play=(0, 0),
        rows=(),
        laid=(),
        winner=None,
        through=(0, 0),
    )


def deal(seed: bytes, settings: Settings) -> Hands:
    """Twenty-six cards each from the shuffled fifty-two, the first of them on top."""
    return _halved(tuple(Stream(seed, Purpose.DEAL).shuffled(DECK)), seed)


def open_deal(settings: Settings) -> Hands | None:
    """What a seed in the settings deals; a stored one that is out of range, nothing."""
    seed = dict(settings).get("seed")
    if not isinstance(seed, int) or not 0 <= seed <= open_deals.SEED_MAX:
        return None
    return _halved(open_deals.deck(seed), b"")


def _halved(deck: tuple[Card, ...], seed: bytes) -> Hands:
    return Hands((deck[: CARDS // 2], deck[CARDS // 2 :]), (0, 0), seed)


# ---------------------------------------------------------------- facts from commands, and what is due


def decide(variant: Variant, table: Table, dealer: Dealer, seat: int, command: Command) -> tuple[Fact, ...] | Refused:
    position: Position = table.position
    match command:
        case Turn(battle, times):
            if battle != position.battle:
                return Refused(Reason.WRONG_BATTLE)
            if not 1 <= times <= variant.times:
                return Refused(Reason.BAD_TIMES)
            if position.through[seat] >= battle:
                return Refused(Reason.ALREADY_READIED)
            return (Readied(seat, battle + times - 1),)
        case _:
            return Refused(Reason.UNKNOWN_COMMAND)


def due(variant: Variant, table: Table, dealer: Dealer) -> Fact | None:
    position: Position = table.position
    hands: Hands = dealer.hands
    assert table.opened is not None
    terms = in_force(variant, table.opened.settings)
    if position.in_play == (0, 0):
        tied = bool(position.rows) and rank(position.rows[-1][0]) == rank(position.rows[-1][1])
        end = ended(terms, position.battles, position.sizes, tied, position.winner)
        if end is not None or owing(table):
            return end
    # Of the battle's facts as many stand already as there are rows, wars, and a seat that has taken its own back.
    standing = len(position.rows) + len(position.laid) + (0 in position.in_play) if any(position.in_play) else 0
    return facts(position.battle, fight(terms, hands.piles, position.battle, hands.seed))[standing]


def owing(table: Table) -> tuple[int, ...]:
    """Who hasn't agreed to the battle to be turned. The house always has."""
    position: Position = table.position
    return tuple(
        seat for seat in SEATS if position.through[seat] < position.battle and not (table.house and seat == HOUSE_SEAT)
    )


def waits(position: Position) -> tuple[str, int]:
    return "turn", position.battle


def overdue(table: Table) -> tuple[Fact, ...]:
    """Between people a turn not made in time is made by the clock: there is nothing to choose."""
    return tuple(Readied(seat, table.position.battle) for seat in owing(table))


# ---------------------------------------------------------------- the folds


# Field by field and what comes most often first, by `isinstance`, for half of what a `match` costs: a long game has
# thousands of each.

_position = builder(Position)
_hands = builder(Hands)


def evolve(position: Position, fact: Fact) -> Position:
    if isinstance(fact, Turned):
        first, second = fact.cards
        a, b = position.in_play
        begun = a == b == 0
        return _position(
            position.battle,
            fact.battle,
            position.wars + (rank(first) == rank(second)),
            (position.sizes[0] - 1, position.sizes[1] - 1),
            (a + 1, b + 1),
            (fact.cards,) if begun else (*position.rows, fact.cards),
            () if begun else position.laid,
            None,
            position.through,
        )
    if isinstance(fact, Taken):
        seat, count = fact.seat, fact.count
        own = count == position.in_play[seat]
        left = _with(position.in_play, seat, 0) if own else (0, 0)
        return _position(
            fact.battle + (left == (0, 0)),
            position.battles,
            position.wars,
            _with(position.sizes, seat, position.sizes[seat] + count),
            left,
            position.rows,
            position.laid,
            None if own else seat,
            position.through,
        )
    if isinstance(fact, Readied):
        return _position(
            position.battle,
            position.battles,
            position.wars,
            position.sizes,
            position.in_play,
            position.rows,
            position.laid,
            position.winner,
            _with(position.through, fact.seat, fact.through),
        )
    if isinstance(fact, Laid):
        a, b = fact.counts
        return _position(
            position.battle,
            position.battles,
            position.wars,
            (position.sizes[0] - a, position.sizes[1] - b),
            (position.in_play[0] + a, position.in_play[1] + b),
            position.rows,
            (*position.laid, fact.counts),
            position.winner,
            position.through,
        )
    return position


def follow(variant: Variant, hands: Hands, fact: Fact) -> Hands:
    if isinstance(fact, Turned):
        return _hands(hands.piles, (hands.in_play[0] + 1, hands.in_play[1] + 1), hands.seed)
    if isinstance(fact, Taken):
        piles, in_play = take(variant, hands.piles, hands.in_play, fact.seat, fact.count, fact.battle, hands.seed)
        return _hands(piles, in_play, hands.seed)
    if isinstance(fact, Laid):
        a, b = fact.counts
        return _hands(hands.piles, (hands.in_play[0] + a, hands.in_play[1] + b), hands.seed)
    return hands


def hand(hands: Hands, seat: int) -> tuple[Card, ...]:
    """Nobody holds a card that he knows: piles never travel."""
    return ()


def sizes(hands: Hands) -> Counts:
    return len(hands.piles[0]), len(hands.piles[1])


def _with(pair: Counts, seat: int, value: int) -> Counts:
    return (value, pair[1]) if seat == 0 else (pair[0], value)


# ---------------------------------------------------------------- audit's way back


def asked(table: Table, facts: tuple[Fact, ...]) -> tuple[int, Command] | None:
    match facts:
        case (Readied(seat, through), *_) if table.position is not None:
            battle = table.position.battle
            return seat, Turn(battle, through - battle + 1)
        case _:
            return None


# ---------------------------------------------------------------- the three games


def _rules(variant: Variant) -> Rules:
    return Rules(
        name=variant.name,
        ladder=variant.ladder,
        modes=MODES,
        luck=True,
        settings=partial(settings, variant),
        facts=(Readied, Turned, Laid, Taken),
        commands=(Turn,),
        start=start,
        deal=deal,
        open_deal=open_deal,
        decide=partial(decide, variant),
        due=partial(due, variant),
        evolve=evolve,
        follow=partial(follow, variant),
        hand=hand,
        sizes=sizes,
        owing=owing,
        waits=waits,
        overdue=overdue,
        asked=asked,
        strategies={},
    )


PLAYBOOK = _rules(variants.PLAYBOOK)
GAMEWEAVE = _rules(variants.GAMEWEAVE)
CLASSIC = _rules(variants.CLASSIC)
