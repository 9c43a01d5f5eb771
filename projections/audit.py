"""Checking a saved game from its bytes alone: chain, promises, deal, every rule and every choice of the house."""

from dataclasses import dataclass, field

from events import chain, codec
from events.shapes import Undecodable
from projections import saved
from projections.saved import NotSaved, Saved
from rules import fairness, game, timing
from rules.catalogue import RULES
from rules.game import (
    CallTime,
    Credit,
    Dealer,
    Finished,
    Lose,
    Moved,
    Opened,
    Refused,
    Reserved,
    Rules,
    Seated,
    Table,
    Unsealed,
)
from rules.timing import Clock

NOT_PROVED = (
    "that the operator told nobody a hand while the game ran",
    "that a player's entropy was chosen by the player: his own browser alone can tell, and does, unless the operator "
    "changed the page",
    "that a card, or a resignation, came from the player: nobody signs his moves, his browser shows what the log says "
    "he did",
    "that time was up when the operator's clock said so, and no server ran in time that was given back",
    "that what `Lost` says was lost was lost: the operator alone says so, and every such game counts against him",
    "that a message which isn't here was never sent",
    "that two players are two people",
    "until there is a ledger: that this is the history which everybody else was shown. Compare the last hash with the "
    "one your own browser held while you played: the page shows it, and a saved file carries it",
)
"""In the words of docs/audit.md."""
NOT_PROVED_BY_LEDGER = (
    *NOT_PROVED[:-1],
    "that everybody else is shown the same ledger: keep the checkpoint, the next one must be consistent with it",
)
"""Where the game's leaves are under a signed checkpoint."""


@dataclass(frozen=True, slots=True)
class Failure:
    version: int
    """The event that doesn't check out; 0 for the file's first line."""
    why: str


@dataclass(slots=True)
class Findings:
    """What was checked, in words with counts, and the first thing that failed."""

    game: bytes = b""
    events: int = 0
    over: bool = False
    """Whether the log ends with `Unsealed`, or an open deal's with `Finished`; a running game can't be proved."""
    checked: dict[str, int] = field(default_factory=dict)
    failure: Failure | None = None
    result: str = ""
    head: chain.Head | None = None

    @property
    def passed(self) -> bool:
        return self.failure is None

    def count(self, what: str) -> None:
        self.checked[what] = self.checked.get(what, 0) + 1


class _Failed(Exception):
    def __init__(self, version: int, why: str) -> None:
        self.failure = Failure(version, why)


def audit_file(data: bytes) -> Findings:
    """Of a saved game's bytes. Never raises: what can't be read is a failure, too."""
    try:
        return audit(saved.load(data))
    except NotSaved as error:
        return Findings(failure=Failure(error.version, error.why))


def audit(game_: Saved) -> Findings:
    """Of a saved game. The findings name the first event that fails, and why."""
    findings = Findings(game=game_.game, events=len(game_.events))
    try:
        _check(game_, findings)
    except _Failed as failed:
        findings.failure = failed.failure
    return findings


def _check(game_: Saved, findings: Findings) -> None:
    events = _decoded(game_, findings)
    if not events or not isinstance(events[0].fact, Opened):
        raise _Failed(1, "a game's first event is Opened")
    opened = events[0].fact
    rules = RULES.get(opened.rules)
    if rules is None:
        raise _Failed(1, f"rules {opened.rules!r} aren't known to this version")
    if opened.mode not in rules.modes:
        raise _Failed(1, f"{opened.rules} has no mode {opened.mode!r}")
    if rules.settings(opened.mode, dict(opened.settings)) != opened.settings:
        raise _Failed(1, f"{opened.rules}, {opened.mode}, can't be played with the settings {opened.settings}")
    if opened.strategy_hash != rules.strategy_hash(opened.mode):
        raise _Failed(1, "the hash of the house's policy isn't that of the published one")
    if opened.mode in rules.strategies:
        findings.count("the house's policy is the published one")
    findings.head = game_.events[-1].head
    last = events[-1].fact
    if rules.open_deal(opened.settings) is not None:
        # There is no S to wait for, so a running game is checked as far as it goes.
        findings.over = isinstance(last, Finished)
        secret = b""
    elif (unsealed := next((event.fact for event in events if isinstance(event.fact, Unsealed)), None)) is not None:
        # Wherever it stands: where it isn't the last one, that is what is found.
        findings.over = isinstance(last, Unsealed)
        secret = unsealed.secret
        if len(secret) != fairness.HASH_BYTES or fairness.secret_hash(game_.game, secret) != opened.secret_hash:
            raise _Failed(len(events), "S doesn't give the hash that stands in Opened")
        findings.count("S is the one promised in the opening")
    else:
        findings.result = "still running: S isn't published yet, so the deal and the seals can't be opened"
        return
    _replay(rules, Table(game_.game), Dealer(game_.game, secret), events, findings)


def _decoded(game_: Saved, findings: Findings) -> list[codec.Event]:
    if (broken := chain.check(chain.origin(game_.game), game_.events)) is not None:
        raise _Failed(broken.version, broken.why)
    events = []
    at_ms = 0
    for stored in game_.events:
        try:
            event = codec.decode(stored.body)
        except Undecodable as error:
            raise _Failed(stored.version, str(error)) from error
        if event.at_ms < at_ms:
            raise _Failed(stored.version, f"time falls from {at_ms} to {event.at_ms}")
        at_ms = event.at_ms
        events.append(event)
        findings.count("events in their one form, chained by hash to the one before")
    return events


def _replay(rules: Rules, table: Table, dealer: Dealer, events: list[codec.Event], findings: Findings) -> None:
    """Where a fact was due, the stored one equals it; elsewhere some command of that seat gives it."""
    facts = tuple(event.fact for event in events)
    clock = Clock()
    causes: set[bytes] = set()
    at = 0
    while at < len(facts):
        first = events[at]
        if first.cause in causes:
            raise _Failed(at + 1, "its cause stands at an earlier append, so one command was taken twice")
        causes.add(first.cause)
        asked = _asked(rules, table, clock, facts[at : at + game.ASKED_FACTS], first, at + 1)
        moved = _moved(rules, table, dealer, asked, first, at + 1)
        for expected in moved.facts:
            if at == len(facts):
                raise _Failed(at, f"after this event {expected} is missing")
            if facts[at] != expected:
                raise _Failed(at + 1, f"expected {expected}, but {facts[at]} stands here")
            if _is_nobodys(moved.table, expected):
                raise _Failed(at + 1, f"a player's id has {fairness.PLAYER_BYTES} bytes")
            if (events[at].cause, events[at].at_ms) != (first.cause, first.at_ms):
                raise _Failed(at + 1, "what was due carries the time and the cause of the command before it")
            findings.count(_said(expected))
            at += 1
        # What stands here is what moved: so both folds of it are known already.
        table, dealer = moved.table, moved.dealer
        clock = timing.step(rules, clock, table, moved.facts, first.at_ms)
    findings.result = _result(table)


def _is_nobodys(table: Table, fact: game.Fact) -> bool:
    """Whether a seat that isn't the house's is taken by, or kept for, what is no player's id."""
    if not isinstance(fact, Seated | Reserved) or (table.house and fact.seat == game.HOUSE_SEAT):
        return False
    return len(fact.player) != fairness.PLAYER_BYTES


def _moved(
    rules: Rules, table: Table, dealer: Dealer, asked: tuple[int, game.Command], event: codec.Event, version: int
) -> Moved:
    """One append, as it must be: what the command does, with all that was due after it."""
    seat, command = asked
    moved = game.move(rules, table, dealer, seat, command, event.at_ms)
    if isinstance(moved, Refused):
        raise _Failed(version, f"{command} from seat {seat} is against the rules here: {moved.reason}")
    return moved


def _asked(
    rules: Rules, table: Table, clock: Clock, facts: tuple[game.Fact, ...], event: codec.Event, version: int
) -> tuple[int, game.Command]:
    """The seat and the command that the stored facts answer, which may not be the clock's before its time."""
    if codec.is_clocks(table.game, clock, event.cause):
        asked: tuple[int, game.Command] | None = (0, CallTime())
    else:
        asked = game.asked(rules, table, facts)
    if asked is None:
        raise _Failed(version, f"no command leads to {facts[0]} here")
    seat, command = asked
    if seat not in game.SEATS:
        raise _Failed(version, f"there is no seat {seat}")
    if isinstance(command, CallTime | Credit) and not table.house and timing.is_early(clock, event.at_ms):
        raise _Failed(version, f"time is called at {event.at_ms}, its deadline is {clock.due_ms}")
    if isinstance(command, Credit) and timing.is_too_much(clock, command.ms, event.at_ms):
        raise _Failed(version, f"{command.ms} ms are given back, so many haven't passed since {clock.since_ms}")
    if isinstance(command, Lose) and not (command.version < version and len(command.hash) == fairness.HASH_BYTES):
        raise _Failed(version, "what was lost came after an event before this one, and ended with a hash")
    return asked


_SAID = {
    "Opened": "the opening, with its promises",
    "Seated": "seats taken; a rival is the one S draws",
    "Reserved": "seats kept for players",
    "Credited": "time given back, no more than had passed",
    "Mixed": "entropy mixed into the seed",
    "Dealt": "the deal, made again from its seed",
    "Committed": "seals, each standing before the other side's choice",
    "Revealed": "reveals that open their seal, with the card the policy and its stream give",
    "Played": "the person's cards, each in the hand it came from",
    "Captured": "captures by the higher number",
    "RoundEnded": "round ends",
    "Readied": "turns agreed to",
    "Turned": "cards turned, each the top of its pile",
    "Laid": "wars, with as many cards face down as the rules say",
    "Taken": "cards taken by the higher rank",
    "TimeUp": "time called, not before its deadline",
    "Lost": "events that the operator had shown and lost, which counts against him",
    "Finished": "the result",
    "Unsealed": "S, published",
}


def _said(fact: game.Fact) -> str:
    name = type(fact).__name__
    return _SAID.get(name, name)


def _result(table: Table) -> str:
    if table.finished is None:
        return "not finished"
    if table.finished.winner is None:
        return f"nobody won ({table.finished.reason})"
    return f"seat {table.finished.winner} won ({table.finished.reason})"
