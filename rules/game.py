"""The life of any game, once: opening, seats, entropy, dealing, resigning, time and the end.

A game's own rules are one value, `Rules`; its facts and commands ride on the ones here. Two functions give facts
(`decide`, `due`), two fold them (`evolve`, `follow`), and `move` is the one loop that joins them, for all games.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NewType

from rules import fairness
from rules.cast import CAST
from rules.fairness import NO_ENTROPY, Purpose, Stream

Card = NewType("Card", int)
"""A card face. Whatever may carry one is typed so, and the secrecy tests look for exactly this type."""

SEATS = (0, 1)
HOUSE_SEAT = 1
DAY_MS = 24 * 3600 * 1000
OPEN_MS_MAX = 7 * DAY_MS
"""A game is over seven days after its opening; whoever then owes an action loses (RULES.md, Streak)."""

Settings = tuple[tuple[str, int | str], ...]
"""Name and value pairs in rising order of name."""


class Reason(StrEnum):
    """Why a command was refused: a closed list a client can show. docs/protocol.md says what to do about each."""

    NOT_SEATED = "not_seated"
    ALREADY_OPEN = "already_open"
    NOT_OPEN = "not_open"
    OVER = "over"
    ALREADY_MIXED = "already_mixed"
    BAD_ENTROPY = "bad_entropy"
    NOT_DEALT = "not_dealt"
    WRONG_BATTLE = "wrong_battle"
    NO_SEAL = "no_seal"
    NO_SUCH_CARD = "no_such_card"
    NOT_YOUR_CARD = "not_your_card"
    CARD_GONE = "card_gone"
    CAPTURED_THIS_ROUND = "captured_this_round"
    ALREADY_COMMITTED = "already_committed"
    ALREADY_REVEALED = "already_revealed"
    SEAL_MISMATCH = "seal_mismatch"
    WRONG_OPPONENT = "wrong_opponent"
    UNKNOWN_SETTING = "unknown_setting"
    UNKNOWN_MODE = "unknown_mode"
    UNKNOWN_COMMAND = "unknown_command"
    NOT_DUE = "not_due"


@dataclass(frozen=True, slots=True)
class Refused:
    """The player may not; nothing changed."""

    reason: Reason


# ---------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True)
class Opened:
    """A game exists. What was promised before anybody knew a card."""

    rules: str
    mode: str
    settings: Settings
    counts: bool
    """Whether its result will count, frozen here."""
    witnessed: bool
    """Whether this server keeps a ledger, whose signed checkpoint clients may wait for."""
    at_ms: int
    key: int
    """The number of the operator's key that S comes from."""
    secret_hash: bytes
    strategy_hash: bytes
    """Of the house's published policy; 32 zero bytes between people."""


@dataclass(frozen=True, slots=True)
class Seated:
    """Somebody sits: a player (16 bytes), or the house in a rival's name. The other field is empty."""

    seat: int
    player: bytes
    rival: str
    entropy_hash: bytes
    """Between people; else empty."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A person's 32 bytes of entropy. From here on the game ends with a result."""

    seat: int
    entropy: bytes


@dataclass(frozen=True, slots=True)
class Dealt:
    """Both hands are dealt from the seed; how many cards each, not which."""

    counts: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Resigned:
    seat: int


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The only thing that makes anybody late: who owed an action when time was up."""

    owing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The result. `winner` is None for a draw, a void, and where both lose (`both_late`)."""

    winner: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Unsealed:
    """S is public: from here anybody can recompute every hidden card."""

    secret: bytes


LifeFact = Opened | Seated | Mixed | Dealt | Resigned | TimeUp | Finished | Unsealed
LIFE_FACTS: tuple[type, ...] = (Opened, Seated, Mixed, Dealt, Resigned, TimeUp, Finished, Unsealed)
Fact = Any
"""A `LifeFact` or one of the game's own. Closed again by each `Rules.facts`."""

# ---------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Open:
    """Asked by the server in a player's name, when it has claimed the player's place."""

    mode: str
    settings: Settings
    player: bytes
    counts: bool
    witnessed: bool
    key: int


@dataclass(frozen=True, slots=True)
class Mix:
    entropy: bytes


@dataclass(frozen=True, slots=True)
class Resign:
    pass


@dataclass(frozen=True, slots=True)
class CallTime:
    """Asked by the server alone."""


LifeCommand = Open | Mix | Resign | CallTime
PLAYER_COMMANDS: tuple[type, ...] = (Mix, Resign)
"""The commands of every game that a player may send."""
Command = Any

# ---------------------------------------------------------------- the two folds' states


@dataclass(frozen=True, slots=True)
class Table:
    """What everybody may know of a game: the fold of its facts. It cannot name a hidden card."""

    game: bytes
    opened: Opened | None = None
    seats: tuple[Seated | None, Seated | None] = (None, None)
    mixed: tuple[bytes | None, bytes | None] = (None, None)
    position: Any = None
    """The game's own public position, from `Dealt` on."""
    resigned: int | None = None
    """The seat that resigned."""
    late: tuple[int, ...] = ()
    """The seats that owed an action when time was up."""
    finished: Finished | None = None
    secret: bytes | None = None

    @property
    def house(self) -> bool:
        """Whether the computer sits at this game."""
        return self.opened is not None and self.opened.mode != "versus"

    @property
    def dealt(self) -> bool:
        return self.position is not None


@dataclass(frozen=True, slots=True)
class Dealer:
    """What only the server knows while a game lives: S, the seed and both hands."""

    game: bytes
    secret: bytes
    settings: Settings = ()
    entropies: tuple[bytes, bytes] = (NO_ENTROPY, NO_ENTROPY)
    seed: bytes | None = None
    hands: Any = None


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the house plays: the function gets the public position, its own hand and its own stream, and nothing else."""

    text: str
    """The whole policy as published, hashed into `Opened`."""
    choose: Callable[[Any, tuple[Card, ...], Stream], Card]


@dataclass(frozen=True, slots=True)
class Rules:
    """One game. `name` carries the rules' version; ladders don't."""

    name: str
    ladder: str
    modes: tuple[str, ...]
    settings: Callable[[str, Mapping[str, int | str]], Settings | Refused]
    """From what was asked to the whole settings of a mode, or why not."""
    facts: tuple[type, ...]
    commands: tuple[type, ...]
    start: Callable[[tuple[int, int]], Any]
    """From the dealt counts to the first public position."""
    deal: Callable[[bytes, Settings], Any]
    """From the seed to both hands."""
    decide: Callable[[Table, Dealer, int, Command], "tuple[Fact, ...] | Refused"]
    due: Callable[[Table, Dealer], Fact | None]
    evolve: Callable[[Any, Fact], Any]
    """(position, fact) -> position"""
    follow: Callable[[Any, Fact], Any]
    """(hands, fact) -> hands"""
    hand: Callable[[Any, int], tuple[Card, ...]]
    sizes: Callable[[Any], tuple[int, int]]
    owing: Callable[[Table], tuple[int, ...]]
    asked: Callable[[tuple[Fact, ...]], "tuple[int, Command] | None"]
    """Which command, from which seat, the next stored facts answer: audit's way back."""
    strategies: Mapping[str, Strategy]

    def strategy_hash(self, mode: str) -> bytes:
        strategy = self.strategies.get(mode)
        return fairness.strategy_hash(strategy.text) if strategy else NO_ENTROPY


@dataclass(frozen=True, slots=True)
class Moved:
    """What a command led to: the facts to append, and both folds after them."""

    facts: tuple[Fact, ...]
    table: Table
    dealer: Dealer


# ---------------------------------------------------------------- the one loop


def move(rules: Rules, table: Table, dealer: Dealer, seat: int, command: Command, now_ms: int) -> Moved | Refused:
    """One append: what the command itself does, then whatever is due, folding each, until nothing is."""
    decided = decide(rules, table, dealer, seat, command, now_ms)
    if isinstance(decided, Refused):
        return decided
    facts = list(decided)
    for fact in decided:
        table, dealer = evolve(rules, table, fact), follow(rules, dealer, fact)
    while (fact := due(rules, table, dealer)) is not None:
        facts.append(fact)
        table, dealer = evolve(rules, table, fact), follow(rules, dealer, fact)
    return Moved(tuple(facts), table, dealer)


def decide(
    rules: Rules, table: Table, dealer: Dealer, seat: int, command: Command, now_ms: int
) -> tuple[Fact, ...] | Refused:
    """What `command` from `seat` itself does, or why it may not. `now_ms` is Unix time in milliseconds."""
    if isinstance(command, Open):
        return _open(rules, table, dealer, command, now_ms)
    if table.opened is None:
        return Refused(Reason.NOT_OPEN)
    if table.finished is not None:
        return Refused(Reason.OVER)
    if table.house and seat == HOUSE_SEAT:
        return Refused(Reason.NOT_SEATED)  # The house is asked nothing: what it does is due.
    match command:
        case CallTime():
            owing = owes(rules, table)
            if not owing or now_ms < table.opened.at_ms + OPEN_MS_MAX:
                return Refused(Reason.NOT_DUE)
            return (TimeUp(owing),)
        case Mix(entropy):
            if table.mixed[seat] is not None:
                return Refused(Reason.ALREADY_MIXED)
            if len(entropy) != fairness.HASH_BYTES:
                return Refused(Reason.BAD_ENTROPY)
            return (Mixed(seat, entropy),)
        case Resign():
            return (Resigned(seat),)
        case _ if type(command) not in rules.commands:
            return Refused(Reason.UNKNOWN_COMMAND)
        case _ if not table.dealt:
            return Refused(Reason.NOT_DEALT)
        case _:
            return rules.decide(table, dealer, seat, command)


def _open(rules: Rules, table: Table, dealer: Dealer, command: Open, now_ms: int) -> tuple[Fact, ...] | Refused:
    if table.opened is not None:
        return Refused(Reason.ALREADY_OPEN)
    settings = rules.settings(command.mode, dict(command.settings))
    if isinstance(settings, Refused):
        return settings
    opened = Opened(
        rules=rules.name,
        mode=command.mode,
        settings=settings,
        counts=command.counts,
        witnessed=command.witnessed,
        at_ms=now_ms,
        key=command.key,
        secret_hash=fairness.secret_hash(table.game, dealer.secret),
        strategy_hash=rules.strategy_hash(command.mode),
    )
    return (opened, Seated(0, command.player, "", b""))


def due(rules: Rules, table: Table, dealer: Dealer) -> Fact | None:
    """The one fact that must come next without anyone's asking, or None."""
    if table.opened is None or table.secret is not None:
        return None
    if table.finished is not None:
        return Unsealed(dealer.secret)
    if table.resigned is not None or table.late:
        return _ended(table)
    if table.house and table.seats[HOUSE_SEAT] is None:
        return Seated(HOUSE_SEAT, b"", rival(dealer.secret), b"")
    if not table.dealt:
        return Dealt(rules.sizes(dealer.hands)) if dealer.hands is not None else None
    return rules.due(table, dealer)


def _ended(table: Table) -> Finished:
    # Before any entropy stands in the log nobody can have seen a card, so nobody can have lost.
    if table.mixed == (None, None):
        return Finished(None, "void")
    if table.resigned is not None:
        return Finished(1 - table.resigned, "resigned")
    return Finished(1 - table.late[0], "time") if len(table.late) == 1 else Finished(None, "both_late")


def rival(secret: bytes) -> str:
    """The steward the house plays as, drawn from S: known before Play; only a new game draws another."""
    return CAST[Stream(secret, Purpose.RIVAL).below(len(CAST))].slug


def owes(rules: Rules, table: Table) -> tuple[int, ...]:
    """The seats that must act before the game can go on."""
    if table.opened is None or table.finished is not None:
        return ()
    if not table.dealt:
        people = (0,) if table.house else SEATS
        return tuple(seat for seat in people if table.mixed[seat] is None)
    return rules.owing(table)


def evolve(rules: Rules, table: Table, fact: Fact) -> Table:
    """The table after a fact. A stored fact has happened: this never refuses."""
    match fact:
        case Opened():
            return replace(table, opened=fact)
        case Seated(seat=0):
            return replace(table, seats=(fact, table.seats[1]))
        case Seated():
            return replace(table, seats=(table.seats[0], fact))
        case Mixed(0, entropy):
            return replace(table, mixed=(entropy, table.mixed[1]))
        case Mixed(_, entropy):
            return replace(table, mixed=(table.mixed[0], entropy))
        case Dealt(counts):
            return replace(table, position=rules.start(counts))
        case Resigned(seat):
            return replace(table, resigned=seat)
        case TimeUp(owing):
            return replace(table, late=owing)
        case Finished():
            return replace(table, finished=fact)
        case Unsealed(secret):
            return replace(table, secret=secret)
        case _ if table.position is None:
            return table
        case _:
            return replace(table, position=rules.evolve(table.position, fact))


def follow(rules: Rules, dealer: Dealer, fact: Fact) -> Dealer:
    """What the dealer knows after a fact. Never refuses."""
    match fact:
        case Opened(mode=mode, settings=settings):
            house = mode != "versus"
            return replace(dealer, settings=settings, entropies=(b"", NO_ENTROPY if house else b""))
        case Mixed(seat, entropy):
            entropies = (entropy, dealer.entropies[1]) if seat == 0 else (dealer.entropies[0], entropy)
            if not all(len(each) == fairness.HASH_BYTES for each in entropies):
                return replace(dealer, entropies=entropies)
            seed = fairness.seed(dealer.secret, dealer.game, entropies)
            return replace(dealer, entropies=entropies, seed=seed, hands=rules.deal(seed, dealer.settings))
        case Seated() | Dealt() | Resigned() | TimeUp() | Finished() | Unsealed():
            return dealer
        case _ if dealer.hands is None:
            return dealer
        case _:
            return replace(dealer, hands=rules.follow(dealer.hands, fact))


def asked(rules: Rules, facts: tuple[Fact, ...]) -> tuple[int, Command] | None:
    """Which command, from which seat, the next stored facts answer; None if no command could have led to them."""
    match facts:
        case (Opened() as opened, Seated(seat=0) as seated, *_):
            command = Open(opened.mode, opened.settings, seated.player, opened.counts, opened.witnessed, opened.key)
            return 0, command
        case (Mixed(seat, entropy), *_):
            return seat, Mix(entropy)
        case (Resigned(seat), *_):
            return seat, Resign()
        case (TimeUp(), *_):
            return 0, CallTime()
        case _:
            return rules.asked(facts)
