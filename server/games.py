"""The games this process has in mind, and the one way a command becomes events: decide, append, fold.

A `Live` value is a log's fold up to some head. It may be behind the log at any time; the append's compared head finds
that out, and only a fold at the head may refuse.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog
from msgspec import Struct
from msgspec.structs import replace

from events import chain, codec, entries
from events.chain import Head, Stored
from events.log import Batch, Conflict, Deadline, Log, NotYet, Unknown
from events.shapes import Undecodable
from rules import fairness, game, timing
from rules.catalogue import RULES
from rules.game import (
    CallTime,
    Command,
    Credit,
    Dealer,
    Finished,
    Lose,
    Open,
    OpenBetween,
    Reason,
    Refused,
    Rules,
    Seated,
    Sit,
    Table,
)
from rules.timing import Clock
from server.causes import Causes, Unreadable
from server.recent import Fork
from server.tally import Tally
from server.wire import Trouble

LIVE_MAX = 20_000
"""How many folds are kept; the rest is folded again from the log when somebody asks."""
TRIES_MAX = 20
LOSE_AGAIN_SECONDS = 1.0
"""Where the store that lost something can't say what is left."""
CAUSES_KEPT = 4
FACTS_MAX = 8
"""Of an append, for whoever listens to such appends to be kept in mind."""

log_line = structlog.get_logger()


class Damaged(Exception):
    """A stored game that doesn't hash or decode: it is not continued."""

    def __init__(self, game: bytes, version: int, why: str) -> None:
        super().__init__(f"game {game.hex()}, event {version}: {why}")
        self.version = version
        self.why = why


class Live(Struct, frozen=True):
    """One game's fold up to `head`."""

    game: bytes
    rules: Rules
    head: Head
    table: Table
    dealer: Dealer
    clock: Clock
    at_ms: int
    causes: tuple[tuple[bytes, Head], ...]
    """The last few causes and the heads they made."""

    def seat_of(self, player: bytes | None) -> int | None:
        for seated in self.table.seats:
            if seated is not None and seated.player and seated.player == player:
                return seated.seat
        return None

    def made(self, cause: bytes) -> Head | None:
        for known, head in self.causes:
            if known == cause:
                return head
        return None


@dataclass(frozen=True, slots=True)
class Held:
    """Where a player's place in a ladder stands."""

    game: bytes
    live: Live | None
    """None: the game isn't opened yet."""


CLOSING_SECONDS_MAX = 2
"""How long a place is held back for the closing leaf of the game before; then the next game opens and names it."""

Entered = Callable[[bytes, float], Awaitable[bool]]
"""(game, seconds at most): whether its closing is in the ledger, waiting so long for it."""
IsBarred = Callable[[bytes], Awaitable[bool]]
"""Whether the operator keeps a player out of games that count."""
Gone = Callable[[bytes, Collection[bytes], bool], Awaitable[None]]
"""(game, its players, whether it was over): nothing is left of its log, and it wasn't against the house. May raise
Unknown, and is told again then."""
Published = Callable[[bytes, Live | None, Head, tuple[Stored, ...]], None]
"""(game, its fold, head before, events). None, or another head than the last event's: read it from the log."""


class Games:
    """Folds by game id, and commands against them."""

    def __init__(
        self,
        log: Log,
        keys: Mapping[int, bytes],
        clock: Callable[[], int],
        entered: Entered | None = None,
        is_barred: IsBarred | None = None,
        tally: Tally | None = None,
    ) -> None:
        """`entered`, `is_barred`: None where there is no ledger. `tally`: what appends are counted in."""
        self._log = log
        self._entered = entered
        self._is_barred = is_barred
        self._keys = keys
        self._key = max(keys)
        self._clock = clock
        self._live: OrderedDict[bytes, Live] = OrderedDict()
        self._causes = Causes(log)
        self._losing: dict[bytes, asyncio.Task[None]] = {}
        """Games that are lost, and that the store didn't let be closed yet."""
        self._ahead: dict[bytes, Live] = {}
        """What appends under way lead to, by the hash of their last event."""
        self._published: list[tuple[Published, frozenset[str] | None]] = []
        self._listening: dict[tuple[str, ...], tuple[Published, ...]] = {}
        """Who listens to appends of just these facts: there are few kinds of appends, and many of each."""
        self._gone: list[Gone] = []
        self._tally = tally or Tally()
        log.listen(self._appended)

    def __len__(self) -> int:
        return len(self._live)

    def listen(self, published: Published, of: Collection[type] | None = None) -> None:
        """Be told of every append, after the fold of a game that is in mind here; `of`: that holds such a fact."""
        self._published.append((published, None if of is None else frozenset(each.__name__ for each in of)))
        self._listening.clear()

    def on_gone(self, gone: Gone) -> None:
        """Be told of each game of which nothing is left."""
        self._gone.append(gone)

    # ------------------------------------------------------------ reading

    async def at(self, game_id: bytes) -> Live | None:
        """The game's fold, perhaps behind its log; None if its log is empty. Raises Damaged."""
        live = self._live.get(game_id)
        if live is not None:
            self._live.move_to_end(game_id)
            return live
        events = await self._log.read(game_id)
        if not events:
            return None
        # Another task may have folded it meanwhile, and heard of appends since: the further one is right.
        known = self._live.get(game_id)
        return known if known is not None else self._keep(self._begin(game_id, events))

    def known(self, game_id: bytes) -> Live | None:
        """The game's fold, if it is in mind here."""
        return self._live.get(game_id)

    async def refreshed(self, game_id: bytes) -> Live | None:
        """The game's fold, not behind what the log held when this was called. Raises Damaged."""
        live = await self.at(game_id)
        if live is None:
            return None
        events = await self._log.read(game_id, live.head.version)
        # Meanwhile another task may have folded it further, or this process may have forgotten it.
        live = max(live, self._live.get(game_id, live), key=lambda each: each.head.version)
        fresh = [event for event in events if event.version > live.head.version]
        return self._keep(self._advance(live, fresh)) if fresh else live

    def _keep(self, live: Live) -> Live:
        self._live[live.game] = live
        self._live.move_to_end(live.game)
        while len(self._live) > LIVE_MAX:
            self._live.popitem(last=False)
        return live

    def _begin(self, game_id: bytes, events: Sequence[Stored]) -> Live:
        try:
            opened = codec.decode(events[0].body).fact
        except Undecodable as error:
            raise Damaged(game_id, 1, str(error)) from error
        if not isinstance(opened, game.Opened) or opened.rules not in RULES or opened.key not in self._keys:
            raise Damaged(game_id, 1, "it doesn't begin with an opening of rules and a key known here")
        rules = RULES[opened.rules]
        return self._advance(_empty(game_id, rules, fairness.secret(self._keys[opened.key], game_id)), events)

    def _advance(self, live: Live, events: Sequence[Stored]) -> Live:
        """`live` after `events`. Raises Damaged where they don't follow."""
        if (broken := chain.check(live.head, events)) is not None:
            self._live.pop(live.game, None)
            raise Damaged(live.game, broken.version, broken.why)
        table, dealer, clock, at_ms = live.table, live.dealer, live.clock, live.at_ms
        causes = dict(live.causes)
        for stored in events:
            try:
                event = codec.decode(stored.body)
            except Undecodable as error:
                self._live.pop(live.game, None)
                raise Damaged(live.game, stored.version, str(error)) from error
            table = game.evolve(live.rules, table, event.fact)
            dealer = game.follow(live.rules, dealer, event.fact)
            at_ms = event.at_ms
            clock = timing.step(live.rules, clock, table, (event.fact,), at_ms)
            causes.pop(event.cause, None)
            causes[event.cause] = stored.head
        kept = tuple(causes.items())[-CAUSES_KEPT:]
        return replace(live, head=events[-1].head, table=table, dealer=dealer, clock=clock, at_ms=at_ms, causes=kept)

    def _appended(self, game_id: bytes, before: Head, events: tuple[Stored, ...]) -> None:
        live = self._live.get(game_id)
        ahead = self._ahead.get(events[-1].hash)
        if ahead is not None and (live is None or live.head == before):
            live = self._keep(ahead)  # Whoever asked for it has folded it already, an opening, too.
        elif live is not None and live.head == before:
            try:
                live = self._keep(self._advance(live, events))
            except Damaged as error:
                log_line.error("damaged game", game=game_id.hex(), version=error.version, why=error.why)
                return
        told = tuple([codec.name(event.body) for event in events])
        listening = self._listening.get(told)
        if listening is None:
            listening = self._listeners(told)
        for published in listening:
            published(game_id, live, before, events)

    def _listeners(self, told: tuple[str, ...]) -> tuple[Published, ...]:
        found = tuple(published for published, of in self._published if of is None or not of.isdisjoint(told))
        if len(told) <= FACTS_MAX:
            self._listening[told] = found
        return found

    # ------------------------------------------------------------ commands

    async def do(self, game_id: bytes, player: bytes, command: Command, command_id: str) -> Head | Reason | Trouble:
        """A player's command in a game: the head it made, the same however often it comes, or why not."""
        try:
            live = self.known(game_id) or await self.at(game_id)
            if live is None:
                return Trouble.UNKNOWN_GAME
            seat = live.seat_of(player)
            if seat is None:
                return Reason.NOT_SEATED
            return await self.ask(live, seat, command, codec.cause(game_id, seat, player, command_id, command))
        except Damaged as error:
            log_line.error("damaged game", game=game_id.hex(), version=error.version, why=error.why)
            return Trouble.DAMAGED
        except Unknown:
            return Trouble.TRY_AGAIN  # It was let go, and the archive doesn't answer.

    async def lose(self, fork: Fork, known: Live | None = None) -> None:
        """The store lost what was shown, and nobody has it any more: whatever is in mind of it here is wrong.

        Where a card had been shown the game is closed, without a result; where nothing is left of it, it isn't opened
        again: under the same id the same secret would deal. `known`: what was folded of it before."""
        known = self._live.pop(fork.game, None) or known
        self._causes.forget(fork.game)
        try:
            live = await self._whole(fork.game)
            facts = [codec.decode(event.body).fact for event in fork.dropped]
            if live is None:
                opening = (known.table.opened, known.table.seats[0]) if known is not None else tuple(facts[:2])
                if opening and isinstance(opening[0], game.Opened) and opening[0].mode != game.VERSUS:
                    await self._leave_place(fork.game, opening, facts)
                else:
                    await self._tell_gone(fork.game, known, facts)
            elif live.table.finished is None and any(game.shows_cards(live.rules, fact) for fact in facts):
                command = Lose(fork.common.version, fork.dropped[-1].hash)
                cause = codec.cause(fork.game, codec.SERVER_SEAT, codec.NOBODY, command.hash.hex(), command)
                if await self.ask(live, 0, command, cause) is Trouble.TRY_AGAIN:
                    self._lose_later(fork, known)
        except Damaged as error:
            log_line.error("damaged game", game=fork.game.hex(), version=error.version, why=error.why)
        except Unknown:
            self._lose_later(fork, known)

    def _lose_later(self, fork: Fork, known: Live | None) -> None:
        log_line.warning("a game that was lost isn't closed yet", game=fork.game.hex())

        async def again() -> None:
            await asyncio.sleep(LOSE_AGAIN_SECONDS)
            await self.lose(fork, known)

        def over(task: asyncio.Task[None]) -> None:
            if self._losing.get(fork.game) is task:
                del self._losing[fork.game]

        self._losing[fork.game] = asyncio.get_running_loop().create_task(again())
        self._losing[fork.game].add_done_callback(over)

    async def _leave_place(self, game_id: bytes, opening: tuple[game.Fact, ...], dropped: Sequence[game.Fact]) -> None:
        """The place that a game against the house had is another's, if a card was shown. Raises Unknown.

        `opening`: its first two facts, as far as they are known here."""
        match opening:
            case (game.Opened(rules=name, mode=mode), Seated(0, player)) if player:
                rules = RULES[name]
                if any(game.shows_cards(rules, fact) for fact in dropped):
                    fresh = secrets.token_bytes(fairness.GAME_BYTES)
                    await self._log.claim(player, f"{rules.ladder}-{mode}", fresh, instead_of=game_id)

    async def _tell_gone(self, game_id: bytes, known: Live | None, dropped: Sequence[game.Fact]) -> None:
        """Raises Unknown."""
        players = {fact.player for fact in dropped if isinstance(fact, Seated | game.Reserved)}
        was_over = any(isinstance(fact, Finished) for fact in dropped)
        if known is not None:
            players |= {seated.player for seated in known.table.seats if seated is not None}
            was_over = was_over or known.table.finished is not None
        for gone in self._gone:
            await gone(game_id, players - {b""}, was_over)

    async def rules_of(self, game_id: bytes) -> Rules | Trouble:
        """The rules a game is played by."""
        try:
            live = await self.at(game_id)
        except Damaged:
            return Trouble.DAMAGED
        except Unknown:
            return Trouble.TRY_AGAIN
        return live.rules if live is not None else Trouble.UNKNOWN_GAME

    async def call_time(self, deadline: Deadline) -> None:
        """Do what the clock does in a game whose deadline is past, if it still is. Raises Damaged.

        Time in which no server was up is given back first, but not of the seven days."""
        live = await self.at(deadline.game)
        if live is None:
            raise Damaged(deadline.game, 1, "it has a deadline, but no events")
        live = await self._whole(deadline.game) or live
        due_ms = live.clock.due_ms
        if due_ms is None:
            return
        command: Command = CallTime()
        cause = codec.clocks_cause(live.game, live.clock)
        if due_ms != live.clock.ends_ms and (lost_ms := await self._lost_ms(live.clock, due_ms, deadline)) > 0:
            command = Credit(lost_ms)
            cause = codec.cause(live.game, codec.SERVER_SEAT, codec.NOBODY, f"time {due_ms}", command)
        await self.ask(live, 0, command, cause, expired_ms=deadline.at_ms, not_before_ms=due_ms)

    async def _lost_ms(self, clock: Clock, due_ms: int, deadline: Deadline) -> int:
        """Milliseconds of the stage in which no server was up and which weren't given back yet."""
        ahead_ms = deadline.at_ms - due_ms  # of the store's clock, before the one that events go by
        now_ms = max(due_ms, self._clock())
        silence_ms = await self._log.silence(clock.since_ms + ahead_ms, now_ms + ahead_ms)
        return min(silence_ms, now_ms - clock.since_ms) - clock.credited_ms

    async def ask(
        self,
        live: Live,
        seat: int,
        command: Command,
        cause: bytes,
        expired_ms: int | None = None,
        not_before_ms: int = 0,
        after: tuple[bytes, ...] = (),
    ) -> Head | Reason | Trouble:
        """The one way a command becomes events: the head it made, the same however often it is asked, or why not.

        `expired_ms`: the deadline that the store must find past, and then it is no earlier than `not_before_ms`.
        `after`: finished games whose closings the ledger holds before this one's opening. Raises Damaged."""
        for _ in range(TRIES_MAX):
            if (made := live.made(cause)) is not None:
                return made
            now_ms = max(live.at_ms, self._clock(), not_before_ms)
            moved = game.move(live.rules, live.table, live.dealer, seat, command, now_ms)
            if isinstance(moved, Refused):
                # Only a table at the head may refuse, and only what isn't in the log already.
                if (await self._log.head(live.game)) == live.head:
                    return await self._found(live.game, cause) or moved.reason
            else:
                clock = timing.step(live.rules, live.clock, moved.table, moved.facts, now_ms)
                bodies = [codec.body(now_ms, cause, fact) for fact in moved.facts]
                events = chain.extend(live.head, bodies)
                due_ms = clock.due_ms
                wait_ms = None if due_ms is None else max(0, due_ms - now_ms)
                batch = Batch(
                    events, _told_outside(live.rules, live.table, moved, events, now_ms, after), wait_ms, expired_ms
                )
                head = events[-1].head
                causes = (*live.causes, (cause, head))[-CAUSES_KEPT:]
                self._ahead[head.hash] = Live(
                    live.game, live.rules, head, moved.table, moved.dealer, clock, now_ms, causes
                )
                began = time.perf_counter()
                try:
                    made_head = await self._log.append(live.game, live.head, batch)
                    self._tally.appends.add(time.perf_counter() - began)
                    return made_head
                except NotYet:
                    self._tally.not_stored["not_yet"] += 1
                    return Reason.NOT_DUE
                except Conflict:
                    self._tally.not_stored["conflict"] += 1  # Someone was faster: read again, decide again.
                except Unknown:
                    self._tally.not_stored["unknown"] += 1  # Nobody knows: the same.
                finally:
                    self._ahead.pop(head.hash, None)
            live = await self._reread(live)
        return Trouble.TRY_AGAIN

    async def _reread(self, live: Live) -> Live:
        """The fold at the log's head; from the beginning where the log isn't what `live` was folded from."""
        head_event = await self._log.read(live.game, max(0, live.head.version - 1), 1)
        if live.head.version and (not head_event or head_event[0].hash != live.head.hash):
            self._live.pop(live.game, None)
        return await self._whole(live.game) or replace(live, head=chain.origin(live.game))

    async def _whole(self, game_id: bytes) -> Live | None:
        """`refreshed`, with its last event at the head that the store compares. Raises Damaged."""
        while True:
            live = await self.refreshed(game_id)
            reached = live.head if live is not None else chain.origin(game_id)
            head = await self._log.head(game_id)
            if head == reached:
                return live
            # Either it has gone on since, or no append will ever fit.
            if head not in [event.head for event in await self._log.read(game_id, reached.version)]:
                raise Damaged(game_id, head.version, "the head of its log is no event's")

    async def _found(self, game_id: bytes, cause: bytes) -> Head | None:
        try:
            return await self._causes.made(game_id, cause)
        except Unreadable as error:
            raise Damaged(game_id, error.version, error.why) from error

    # ------------------------------------------------------------ a player's place in a ladder

    async def meet(self, player: bytes, rules: Rules, mode: str) -> tuple[Held, str]:
        """The game that holds the player's place in the ladder, claimed now if it is free, and its rival's slug."""
        held = await self._held(player, rules, mode)
        if held.live is not None and (seated := held.live.table.seats[game.HOUSE_SEAT]) is not None:
            return held, seated.rival
        return held, game.house_name(rules, fairness.secret(self._keys[self._key], held.game))

    async def open(
        self, player: bytes, rules: Rules, mode: str, settings: game.Settings, command_id: str
    ) -> tuple[bytes, Head] | Reason | Trouble:
        """Open the player's game in a ladder, or come back to the unfinished one: its id and head."""
        whole = rules.settings(mode, dict(settings))
        if isinstance(whole, Refused):
            return whole.reason
        witnessed = self._entered is not None
        command = Open(mode, settings, player, counts=True, witnessed=witnessed, key=self._key)
        for _ in range(TRIES_MAX):
            held = await self._held(player, rules, mode)
            cause = codec.cause(held.game, 0, player, command_id, command)
            if held.live is not None:
                made = held.live.made(cause) or await self._found(held.game, cause)
                return held.game, made or held.live.head
            if held.game in self._losing:
                return Trouble.TRY_AGAIN
            if rules.open_deal(whole) is None and await self.is_barred(player):
                return Trouble.BARRED
            before = await self._log.before(held.game)
            after = await self.told(() if before is None else (before,))
            opened = await self._begins(self._unopened(held.game, rules), command, cause, after)
            if isinstance(opened, Head):
                return held.game, opened
            if opened is not Reason.ALREADY_OPEN:
                return opened
        return Trouble.TRY_AGAIN

    async def is_barred(self, player: bytes) -> bool:
        """Whether the player may neither open nor join a game that counts. One that runs is played to its end."""
        return self._is_barred is not None and await self._is_barred(player)

    async def _begins(
        self, live: Live, command: Command, cause: bytes, after: tuple[bytes, ...]
    ) -> Head | Reason | Trouble:
        opened = await self.ask(live, 0, command, cause, after=after)
        await self.at(live.game)  # Where it was opened by somebody else.
        return opened

    def _unopened(self, game_id: bytes, rules: Rules) -> Live:
        return _empty(game_id, rules, fairness.secret(self._keys[self._key], game_id))

    async def told(self, befores: Iterable[bytes]) -> tuple[bytes, ...]:
        """Those finished games whose places a game took: their results enter the ledger first.

        A damaged one, and one that is gone from here since, closed long ago or never will."""
        told = []
        for before in sorted(befores):
            try:
                live = await self._whole(before)
            except Damaged:
                continue
            if live is not None and _is_told(live.table):
                told.append(live.game)
        return tuple(told)

    # ------------------------------------------------------------ between people

    async def open_between(
        self, game_id: bytes, rules: Rules, settings: game.Settings, players: tuple[bytes, bytes], counts: bool
    ) -> Head | Reason | Trouble:
        """Open an arranged game, whoever asks and however often: the head of its opening. Raises Damaged."""
        command = OpenBetween(settings, players, counts, witnessed=self._entered is not None, key=self._key)
        cause = codec.cause(game_id, codec.SERVER_SEAT, codec.NOBODY, "open", command)
        live = await self.at(game_id)
        return await self._begins(live or self._unopened(game_id, rules), command, cause, ())

    async def sit(
        self, live: Live, player: bytes, entropy_hash: bytes, command_id: str, befores: Iterable[bytes]
    ) -> Head | Reason | Trouble:
        """Take the player's seat, or the free one. Raises Damaged."""
        seat = live.seat_of(player)
        if seat is None:
            seat = game.seat_for(live.table, player) or 0
        command = Sit(player, entropy_hash)
        cause = codec.cause(live.game, seat, player, command_id, command)
        return await self.ask(live, seat, command, cause, after=await self.told(befores))

    async def place(self, player: bytes, ladder: str) -> tuple[bytes, bool | None]:
        """The game that holds the player's place, empty if none does, and whether it may be taken; None: its log is
        empty.

        Where the game is over that is once its closing is in the ledger, or after a while."""
        holder = await self._log.claimed(player, ladder)
        if holder is None:
            return b"", True
        try:
            live = await self._whole(holder)
        except Damaged:
            return holder, True
        if live is None:
            return holder, None
        if live.table.finished is None:
            return holder, False
        if self._entered is not None and _is_told(live.table):
            await self._entered(holder, CLOSING_SECONDS_MAX)
        return holder, True

    async def _held(self, player: bytes, rules: Rules, mode: str) -> Held:
        ladder = f"{rules.ladder}-{mode}"
        holder = await self._log.claimed(player, ladder)
        if holder is None:
            holder = await self._log.claim(player, ladder, secrets.token_bytes(fairness.GAME_BYTES))
        while True:
            try:
                live = await self._whole(holder)
                if live is None or live.table.finished is None:
                    return Held(holder, live)
                if self._entered is not None and _is_told(live.table):
                    await self._entered(holder, CLOSING_SECONDS_MAX)
            except Damaged as error:
                log_line.error("damaged game", game=holder.hex(), version=error.version, why=error.why)
            fresh = secrets.token_bytes(fairness.GAME_BYTES)
            holder = await self._log.claim(player, ladder, fresh, instead_of=holder)


def _is_told(table: Table) -> bool:
    """Whether the outbox has the game's closing: nobody outside hears of one that nobody joined."""
    return table.finished is not None and None not in table.seats


def _empty(game_id: bytes, rules: Rules, secret: bytes) -> Live:
    """A game that isn't opened yet."""
    return Live(game_id, rules, chain.origin(game_id), Table(game_id), Dealer(game_id, secret), Clock(), 0, ())


def _told_outside(
    rules: Rules,
    before: Table,
    moved: game.Moved,
    events: tuple[Stored, ...],
    at_ms: int,
    after: tuple[bytes, ...],
) -> tuple[bytes, ...]:
    """What the append tells the world outside the game: that both seats are taken, that it is over."""
    table = moved.table
    if table.finished is None and table.seats is before.seats:
        return ()  # A move, as nearly always.
    first, second = table.seats
    if table.opened is None or first is None or second is None:
        return ()
    told: list[entries.Entry] = []
    head = entries.Opening(
        game=table.game,
        version=events[-1].version,
        hash=events[-1].hash,
        at_ms=at_ms,
        rules=rules.name,
        ladder=f"{rules.ladder}-{table.opened.mode}",
        counts=table.opened.counts,
        players=(first.player, second.player),
        rival=second.rival,
        after=after,
    )
    if any(isinstance(fact, Seated) for fact in moved.facts):
        told.append(head)
    for fact in moved.facts:
        if isinstance(fact, Finished):
            told.append(entries.closing(head, fact.winner, fact.reason, table.late))
    return tuple(map(entries.encode, told))
