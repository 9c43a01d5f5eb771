"""The life of any game, once: opening, seats, entropy, dealing, resigning, time and the end.

A game's own rules are one value, `Rules`; its facts and commands ride on the ones here. Two functions give facts
(`decide`, `due`), two fold them (`evolve`, `follow`), and `move` is the one loop that joins them, for all games.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NewType, assert_never, get_args, get_type_hints

from rules import fairness
from rules.cast import CAST
from rules.fairness import NO_ENTROPY, Purpose, Stream
from rules.frozen import builder

Card = NewType("Card", int)
"""A card face. Whatever may carry one is typed so, and the secrecy tests look for exactly this type."""

SEATS = (0, 1)
HOUSE_SEAT = 1
VERSUS = "versus"
"""The mode of every game between people."""
DAY_MS = 24 * 3600 * 1000
OPEN_MS_MAX = 7 * DAY_MS
"""A game is over seven days after its opening; whoever then owes an action loses (RULES.md, Streak)."""
SECONDS_MAX = 3600
"""That a stage between people may be given."""

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
    ALREADY_READIED = "already_readied"
    SEAL_MISMATCH = "seal_mismatch"
    WRONG_OPPONENT = "wrong_opponent"
    BAD_TIMES = "bad_times"
    OPEN_DEAL = "open_deal"
    UNKNOWN_SETTING = "unknown_setting"
    BAD_SEED = "bad_seed"
    UNKNOWN_MODE = "unknown_mode"
    UNKNOWN_COMMAND = "unknown_command"
    NOT_DUE = "not_due"
    NOT_BOTH_SEATED = "not_both_seated"
    ALREADY_SEATED = "already_seated"
    SEAT_TAKEN = "seat_taken"


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
    """Of S, 32 bytes; empty for an open deal, which has no S."""
    strategy_hash: bytes
    """Of the house's published policy; 32 zero bytes between people and where there is nothing to choose."""


@dataclass(frozen=True, slots=True)
class Seated:
    """Somebody sits: a player (16 bytes), or the house in a rival's name. The other field is empty.

    In a game of luck the house has no name either: both are empty."""

    seat: int
    player: bytes
    rival: str
    entropy_hash: bytes
    """Between people; else empty."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """Between people: the seat is kept for this player, 16 bytes."""

    seat: int
    player: bytes


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
class Credited:
    """Between people: milliseconds given back to the present stage, in which no server was up."""

    ms: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The operator's store has lost events that had shown a card, and then went another way: nobody can go on fairly.

    The game has no result, and it counts against the operator."""

    version: int
    """Of the last event that is left of what was shown."""
    hash: bytes
    """Of the last event that is gone, 32 bytes: who was shown it holds the log that ended so."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result. `winner` is None for a draw, a void, a game `left` or `lost`, and where both lose (`both_late`)."""

    winner: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Unsealed:
    """S is public: from here anybody can recompute every hidden card."""

    secret: bytes


LifeFact = Opened | Reserved | Seated | Mixed | Dealt | Resigned | TimeUp | Credited | Lost | Finished | Unsealed
LIFE_FACTS: tuple[type, ...] = (
    *(Opened, Reserved, Seated, Mixed, Dealt),
    *(Resigned, TimeUp, Credited, Lost, Finished, Unsealed),
)
_LIFE_FACTS = frozenset(LIFE_FACTS)
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
class OpenBetween:
    """Asked by the server, for two people."""

    settings: Settings
    players: tuple[bytes, bytes]
    """For whom each seat is kept; empty: it is the first comer's. At least one is kept."""
    counts: bool
    witnessed: bool
    key: int


@dataclass(frozen=True, slots=True)
class Sit:
    """Asked by the server in a player's name."""

    player: bytes
    entropy_hash: bytes


@dataclass(frozen=True, slots=True)
class Mix:
    entropy: bytes


@dataclass(frozen=True, slots=True)
class Resign:
    pass


@dataclass(frozen=True, slots=True)
class CallTime:
    """Asked by the server alone, when a deadline is past on the store's clock: nobody here can see that."""


@dataclass(frozen=True, slots=True)
class Credit:
    """Asked by the server alone, instead of `CallTime`, where no server was up for so long."""

    ms: int


@dataclass(frozen=True, slots=True)
class Lose:
    """Asked by the server alone, when it finds that the store has lost what it had shown: the fields of `Lost`."""

    version: int
    hash: bytes


LifeCommand = Open | OpenBetween | Sit | Mix | Resign | CallTime | Credit | Lose
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
    reserved: tuple[bytes | None, bytes | None] = (None, None)
    """For whom the seats are kept."""
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
        return self.opened is not None and self.opened.mode != VERSUS

    @property
    def seated(self) -> bool:
        """Whether both sit."""
        return None not in self.seats

    @property
    def dealt(self) -> bool:
        return self.position is not None

    @property
    def open_deal(self) -> bool:
        """Whether the settings fix the deal: then there is neither S nor entropy."""
        return self.opened is not None and not self.opened.secret_hash


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
    luck: bool
    """Nobody chooses anything: the house plays in no rival's name, and leaving it is no loss."""
    settings: Callable[[str, Mapping[str, int | str]], Settings | Refused]
    """From what was asked to the whole settings of a mode, or why not."""
    facts: tuple[type, ...]
    commands: tuple[type, ...]
    start: Callable[[tuple[int, int]], Any]
    """From the dealt counts to the first public position."""
    deal: Callable[[bytes, Settings], Any]
    """From the seed to both hands."""
    open_deal: Callable[[Settings], Any]
    """From settings that fix the deal to both hands; None: the deal is drawn from a seed."""
    decide: Callable[[Table, Dealer, int, Command], "tuple[Fact, ...] | Refused"]
    due: Callable[[Table, Dealer], Fact | None]
    evolve: Callable[[Any, Fact], Any]
    """(position, fact) -> position"""
    follow: Callable[[Any, Fact], Any]
    """(hands, fact) -> hands"""
    hand: Callable[[Any, int], tuple[Card, ...]]
    sizes: Callable[[Any], tuple[int, int]]
    owing: Callable[[Table], tuple[int, ...]]
    waits: Callable[[Any], tuple[str, int]]
    """From a position to the stage that people are in, whose seconds the setting `<stage>_seconds` has, and its
    battle."""
    overdue: Callable[[Table], tuple[Fact, ...]]
    """What the clock does between people in the place of seats that owe: nothing where they are late then."""
    asked: Callable[[Table, tuple[Fact, ...]], "tuple[int, Command] | None"]
    """Which command, from which seat, the next facts stored at this table answer: audit's way back."""
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
    if isinstance(command, OpenBetween):
        return _open_between(rules, table, dealer, command, now_ms)
    if table.opened is None:
        return Refused(Reason.NOT_OPEN)
    if table.finished is not None:
        return Refused(Reason.OVER)
    if table.house and seat == HOUSE_SEAT:
        return Refused(Reason.NOT_SEATED)  # The house is asked nothing: what it does is due.
    if type(command) in rules.commands:
        return rules.decide(table, dealer, seat, command) if table.dealt else Refused(Reason.NOT_DEALT)
    match command:
        case CallTime():
            return _called(rules, table, now_ms)
        case Credit(ms):
            # The seven days are never credited, so nobody's clock but people's is.
            return (Credited(ms),) if ms and not table.house and owes(rules, table) else Refused(Reason.NOT_DUE)
        case Lose(version, hash_):
            return Lost(version, hash_), Finished(None, "lost")
        case Sit(player, entropy_hash):
            return _sit(table, seat, player, entropy_hash)
        case Mix(entropy):
            if table.open_deal:
                return Refused(Reason.OPEN_DEAL)
            if not table.seated:
                return Refused(Reason.NOT_BOTH_SEATED)
            if table.mixed[seat] is not None:
                return Refused(Reason.ALREADY_MIXED)
            if len(entropy) != fairness.HASH_BYTES:
                return Refused(Reason.BAD_ENTROPY)
            if not table.house and fairness.entropy_hash(table.game, seat, entropy) != _promised(table, seat):
                return Refused(Reason.BAD_ENTROPY)
            return (Mixed(seat, entropy),)
        case Resign():
            return (Resigned(seat),)
        case _:
            return Refused(Reason.UNKNOWN_COMMAND)


def _open(rules: Rules, table: Table, dealer: Dealer, command: Open, now_ms: int) -> tuple[Fact, ...] | Refused:
    opened = _opened(rules, table, dealer, command.mode, command, now_ms)
    if isinstance(opened, Refused):
        return opened
    if command.mode == VERSUS:
        return Refused(Reason.UNKNOWN_MODE)
    return (opened, Seated(0, command.player, "", b""))


def _open_between(
    rules: Rules, table: Table, dealer: Dealer, command: OpenBetween, now_ms: int
) -> tuple[Fact, ...] | Refused:
    opened = _opened(rules, table, dealer, VERSUS, command, now_ms)
    if isinstance(opened, Refused):
        return opened
    kept = tuple(Reserved(seat, player) for seat, player in enumerate(command.players) if player)
    if not kept:
        return Refused(Reason.NOT_SEATED)
    if command.players[0] == command.players[1]:
        return Refused(Reason.ALREADY_SEATED)
    # Only the queue makes games that count, and it keeps both seats.
    return (opened if len(kept) == len(SEATS) else replace(opened, counts=False), *kept)


def _opened(
    rules: Rules, table: Table, dealer: Dealer, mode: str, command: Open | OpenBetween, now_ms: int
) -> Opened | Refused:
    if table.opened is not None:
        return Refused(Reason.ALREADY_OPEN)
    settings = rules.settings(mode, dict(command.settings))
    if isinstance(settings, Refused):
        return settings
    fixed = rules.open_deal(settings) is not None
    return Opened(
        rules=rules.name,
        mode=mode,
        settings=settings,
        # Whoever chooses the seed has chosen the result.
        counts=command.counts and not fixed,
        witnessed=command.witnessed,
        at_ms=now_ms,
        key=command.key,
        secret_hash=b"" if fixed else fairness.secret_hash(table.game, dealer.secret),
        strategy_hash=rules.strategy_hash(mode),
    )


def seat_for(table: Table, player: bytes) -> int | None:
    """The seat of a game between people that is the player's to take: the one kept for him, else the free one."""
    if player in table.reserved:
        return table.reserved.index(player)
    free = (seat for seat in SEATS if table.reserved[seat] is None and table.seats[seat] is None)
    return next(free, None)


def _sit(table: Table, seat: int, player: bytes, entropy_hash: bytes) -> tuple[Fact, ...] | Refused:
    if any(seated is not None and seated.player == player for seated in table.seats):
        return Refused(Reason.ALREADY_SEATED)
    if table.house or table.seats[seat] is not None or seat != seat_for(table, player):
        return Refused(Reason.SEAT_TAKEN)
    if len(entropy_hash) != fairness.HASH_BYTES:
        return Refused(Reason.BAD_ENTROPY)
    return (Seated(seat, player, "", entropy_hash),)


def _promised(table: Table, seat: int) -> bytes:
    seated = table.seats[seat]
    assert seated is not None
    return seated.entropy_hash


def _called(rules: Rules, table: Table, now_ms: int) -> tuple[Fact, ...] | Refused:
    owing = owes(rules, table)
    assert table.opened is not None
    over = now_ms >= table.opened.at_ms + OPEN_MS_MAX
    if not owing or (table.house and not over):
        return Refused(Reason.NOT_DUE)
    clocked = () if over or not table.dealt else rules.overdue(table)
    return clocked or (TimeUp(owing),)


def due(rules: Rules, table: Table, dealer: Dealer) -> Fact | None:
    """The one fact that must come next without anyone's asking, or None."""
    if table.opened is None or table.secret is not None:
        return None
    if table.finished is not None:
        return None if table.open_deal else Unsealed(dealer.secret)
    if table.resigned is not None or table.late:
        return _ended(rules, table)
    if table.house and table.seats[HOUSE_SEAT] is None:
        return Seated(HOUSE_SEAT, b"", house_name(rules, dealer.secret), b"")
    if not table.dealt:
        ready = dealer.hands is not None and table.seated
        return Dealt(rules.sizes(dealer.hands)) if ready else None
    return rules.due(table, dealer)


def _ended(rules: Rules, table: Table) -> Finished:
    # Before any entropy stands in the log nobody can have seen a card, so nobody can have lost.
    if table.mixed == (None, None) and not table.dealt:
        return Finished(None, "void")
    if table.resigned is not None and table.house and rules.luck:
        return Finished(None, "left")
    if table.resigned is not None:
        return Finished(1 - table.resigned, "resigned")
    return Finished(1 - table.late[0], "time") if len(table.late) == 1 else Finished(None, "both_late")


def rival(secret: bytes) -> str:
    """The steward the house plays as, drawn from S: known before Play; only a new game draws another."""
    return CAST[Stream(secret, Purpose.RIVAL).below(len(CAST))].slug


def house_name(rules: Rules, secret: bytes) -> str:
    """The slug of the rival the house plays as in a game under S; empty in a game of luck."""
    return "" if rules.luck else rival(secret)


def owes(rules: Rules, table: Table) -> tuple[int, ...]:
    """The seats that must act before the game can go on."""
    if table.opened is None or table.finished is not None:
        return ()
    if not table.house and not table.seated:
        return tuple(seat for seat in SEATS if table.seats[seat] is None)
    if not table.dealt:
        people = (0,) if table.house else SEATS
        return tuple(seat for seat in people if table.mixed[seat] is None)
    return rules.owing(table)


_table = builder(Table)
_dealer = builder(Dealer)


def evolve(rules: Rules, table: Table, fact: Fact) -> Table:
    """The table after a fact. A stored fact has happened: this never refuses."""
    if type(fact) in _LIFE_FACTS:
        return _lived(rules, table, fact)
    if table.position is None:
        return table
    return _at(table, rules.evolve(table.position, fact))


def evolve_all(rules: Rules, table: Table, facts: Iterable[Fact]) -> Table:
    """`evolve` of each fact after the other. Between facts of the game's own only its position is made anew."""
    position, evolve_own = table.position, rules.evolve
    for fact in facts:
        if type(fact) in _LIFE_FACTS:
            table = _lived(rules, _at(table, position), fact)
            position = table.position
        elif position is not None:
            position = evolve_own(position, fact)
    return _at(table, position)


def fold(rules: Rules, table: Table, dealer: Dealer, facts: Iterable[Fact]) -> tuple[Table, Dealer]:
    """`evolve` and `follow` of each fact after the other, as `evolve_all`."""
    position, evolve_own = table.position, rules.evolve
    hands, follow_own = dealer.hands, rules.follow
    for fact in facts:
        if type(fact) in _LIFE_FACTS:
            table, dealer = _lived(rules, _at(table, position), fact), _heard(rules, _holding(dealer, hands), fact)
            position, hands = table.position, dealer.hands
            continue
        if position is not None:
            position = evolve_own(position, fact)
        if hands is not None:
            hands = follow_own(hands, fact)
    return _at(table, position), _holding(dealer, hands)


def _at(table: Table, position: Any) -> Table:
    if position is table.position:
        return table
    # Field by field, as everything that happens often: `replace` looks at the class anew each time, for half of a move.
    return _table(
        table.game,
        table.opened,
        table.seats,
        table.reserved,
        table.mixed,
        position,
        table.resigned,
        table.late,
        table.finished,
        table.secret,
    )


def _lived(rules: Rules, table: Table, fact: LifeFact) -> Table:
    match fact:
        case Opened():
            return replace(table, opened=fact)
        case Reserved(0, player):
            return replace(table, reserved=(player, table.reserved[1]))
        case Reserved(_, player):
            return replace(table, reserved=(table.reserved[0], player))
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
        case Credited() | Lost():
            return table  # The one moves the clock alone: rules/timing.py. The other is followed by the end.
        case Finished():
            return replace(table, finished=fact)
        case Unsealed(secret):
            return replace(table, secret=secret)
        case _:
            assert_never(fact)


def follow(rules: Rules, dealer: Dealer, fact: Fact) -> Dealer:
    """What the dealer knows after a fact. Never refuses."""
    if type(fact) in _LIFE_FACTS:
        return _heard(rules, dealer, fact)
    if dealer.hands is None:
        return dealer
    return _holding(dealer, rules.follow(dealer.hands, fact))


def _holding(dealer: Dealer, hands: Any) -> Dealer:
    if hands is dealer.hands:
        return dealer
    return _dealer(dealer.game, dealer.secret, dealer.settings, dealer.entropies, dealer.seed, hands)


def _heard(rules: Rules, dealer: Dealer, fact: LifeFact) -> Dealer:
    match fact:
        case Opened(mode=mode, settings=settings):
            house = mode != VERSUS
            entropies = (b"", NO_ENTROPY if house else b"")
            return replace(dealer, settings=settings, entropies=entropies, hands=rules.open_deal(settings))
        case Mixed(seat, entropy):
            entropies = (entropy, dealer.entropies[1]) if seat == 0 else (dealer.entropies[0], entropy)
            if not all(len(each) == fairness.HASH_BYTES for each in entropies):
                return replace(dealer, entropies=entropies)
            seed = fairness.seed(dealer.secret, dealer.game, entropies)
            return replace(dealer, entropies=entropies, seed=seed, hands=rules.deal(seed, dealer.settings))
        case _:
            return dealer


def shows_cards(rules: Rules, fact: Fact) -> bool:
    """Whether somebody has seen a card by it, who would choose otherwise now: on the table, or in a hand of his own.

    By S too, which shows every card there is, and before the deal what entropy would deal."""
    if isinstance(fact, Unsealed):
        return True
    if isinstance(fact, Dealt):
        return not rules.luck
    return any(hint is Card or Card in get_args(hint) for hint in get_type_hints(type(fact)).values())


ASKED_FACTS = 3
"""So many of the next facts tell what was asked, or all that there are."""


def asked(rules: Rules, table: Table, facts: tuple[Fact, ...]) -> tuple[int, Command] | None:
    """Which command, from which seat, the next facts stored at `table` answer; None if none could have led to them."""
    match facts:
        case (Opened() as opened, Seated(seat=0) as seated, *_):
            command = Open(opened.mode, opened.settings, seated.player, opened.counts, opened.witnessed, opened.key)
            return 0, command
        case (Opened(mode="versus") as opened, *rest):
            kept = {fact.seat: fact.player for fact in rest[:2] if isinstance(fact, Reserved)}
            players = (kept.get(0, b""), kept.get(1, b""))
            return 0, OpenBetween(opened.settings, players, opened.counts, opened.witnessed, opened.key)
        case (Seated(seat, player, _, entropy_hash), *_):
            return seat, Sit(player, entropy_hash)
        case (Mixed(seat, entropy), *_):
            return seat, Mix(entropy)
        case (Resigned(seat), *_):
            return seat, Resign()
        case (TimeUp(), *_):
            return 0, CallTime()
        case (Credited(ms), *_):
            return 0, Credit(ms)
        case (Lost(version, hash_), *_):
            return 0, Lose(version, hash_)
        case _:
            return rules.asked(table, facts)
