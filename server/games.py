"""The games this process has in mind, and the one way a command becomes events: decide, append, fold.

A `Live` value is a log's fold up to some head. It may be behind the log at any time; the append's compared head finds
that out, and only a fold at the head may refuse.
"""

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from events import chain, codec, entries
from events.chain import Head, Stored
from events.log import Batch, Conflict, Deadline, Log, NotYet, Unknown
from events.shapes import Undecodable
from rules import fairness, game
from rules.catalogue import RULES
from rules.game import OPEN_MS_MAX, CallTime, Command, Dealer, Finished, Open, Reason, Refused, Rules, Seated, Table
from server.wire import Trouble

LIVE_MAX = 20_000
"""How many folds are kept; the rest is folded again from the log when somebody asks."""
TRIES_MAX = 20
CAUSES_KEPT = 4

log_line = structlog.get_logger()


class Damaged(Exception):
    """A stored game that doesn't hash or decode: it is not continued."""

    def __init__(self, game: bytes, version: int, why: str) -> None:
        super().__init__(f"game {game.hex()}, event {version}: {why}")
        self.version = version
        self.why = why


@dataclass(frozen=True, slots=True)
class Live:
    """One game's fold up to `head`."""

    game: bytes
    rules: Rules
    head: Head
    table: Table
    dealer: Dealer
    at_ms: int
    causes: tuple[tuple[bytes, Head], ...]
    """The last few causes and the heads they made."""

    def seat_of(self, player: bytes | None) -> int | None:
        for seated in self.table.seats:
            if seated is not None and seated.player and seated.player == player:
                return seated.seat
        return None

    def made(self, cause: bytes) -> Head | None:
        return next((head for known, head in self.causes if known == cause), None)


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
    ) -> None:
        """`entered`, `is_barred`: None where there is no ledger."""
        self._log = log
        self._entered = entered
        self._is_barred = is_barred
        self._keys = keys
        self._key = max(keys)
        self._clock = clock
        self._live: OrderedDict[bytes, Live] = OrderedDict()
        self._published: list[Published] = []
        log.listen(self._appended)

    def listen(self, published: Published) -> None:
        """Be told of every append, after the fold of a game that is in mind here."""
        self._published.append(published)

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
        dealer = Dealer(game_id, fairness.secret(self._keys[opened.key], game_id))
        empty = Live(game_id, rules, chain.origin(game_id), Table(game_id), dealer, 0, ())
        return self._advance(empty, events)

    def _advance(self, live: Live, events: Sequence[Stored]) -> Live:
        """`live` after `events`. Raises Damaged where they don't follow."""
        if (broken := chain.check(live.head, events)) is not None:
            self._live.pop(live.game, None)
            raise Damaged(live.game, broken.version, broken.why)
        table, dealer, at_ms = live.table, live.dealer, live.at_ms
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
            causes.pop(event.cause, None)
            causes[event.cause] = stored.head
        kept = tuple(causes.items())[-CAUSES_KEPT:]
        return replace(live, head=events[-1].head, table=table, dealer=dealer, at_ms=at_ms, causes=kept)

    def _appended(self, game_id: bytes, before: Head, events: tuple[Stored, ...]) -> None:
        live = self._live.get(game_id)
        if live is not None and live.head == before:
            try:
                live = self._keep(self._advance(live, events))
            except Damaged as error:
                log_line.error("damaged game", game=game_id.hex(), version=error.version, why=error.why)
                return
        for published in self._published:
            published(game_id, live, before, events)

    # ------------------------------------------------------------ commands

    async def do(self, game_id: bytes, player: bytes, command: Command, command_id: str) -> Head | Reason | Trouble:
        """A player's command in a game: the head it made, the same however often it comes, or why not."""
        try:
            live = await self.at(game_id)
            if live is None:
                return Trouble.UNKNOWN_GAME
            seat = live.seat_of(player)
            if seat is None:
                return Reason.NOT_SEATED
            return await self._ask(live, seat, command, codec.cause(game_id, seat, player, command_id, command))
        except Damaged as error:
            log_line.error("damaged game", game=game_id.hex(), version=error.version, why=error.why)
            return Trouble.DAMAGED
        except Unknown:
            return Trouble.TRY_AGAIN  # It was let go, and the archive doesn't answer.

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
        """Append `TimeUp` to a game whose deadline is past, if it still is. Raises Damaged."""
        live = await self.at(deadline.game)
        if live is None:
            raise Damaged(deadline.game, 1, "it has a deadline, but no events")
        cause = codec.cause(deadline.game, codec.SERVER_SEAT, codec.NOBODY, f"time {deadline.at_ms}", CallTime())
        await self._ask(live, 0, CallTime(), cause, deadline.at_ms)

    async def _ask(
        self,
        live: Live,
        seat: int,
        command: Command,
        cause: bytes,
        expired_ms: int | None = None,
        after: tuple[bytes, ...] = (),
    ) -> Head | Reason | Trouble:
        for _ in range(TRIES_MAX):
            if (made := live.made(cause)) is not None:
                return made
            now_ms = max(live.at_ms, self._clock())
            moved = game.move(live.rules, live.table, live.dealer, seat, command, now_ms)
            if isinstance(moved, Refused):
                # Only a table at the head may refuse, and only what isn't in the log already.
                if (await self._log.head(live.game)) == live.head:
                    return await self._found(live.game, cause) or moved.reason
            else:
                bodies = [codec.encode(codec.Event(now_ms, cause, fact)) for fact in moved.facts]
                events = chain.extend(live.head, bodies)
                batch = Batch(
                    events,
                    outbox=_told_outside(live.rules, moved, events, now_ms, after),
                    wait_ms=_wait_ms(moved.table, now_ms),
                    expired_ms=expired_ms,
                )
                try:
                    return await self._log.append(live.game, live.head, batch)
                except NotYet:
                    return Reason.NOT_DUE
                except (Conflict, Unknown):
                    pass  # Someone was faster, or nobody knows: read again, decide again.
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
        made = None
        for stored in await self._log.read(game_id):
            try:
                if codec.decode(stored.body).cause == cause:
                    made = stored.head
            except Undecodable as error:
                raise Damaged(game_id, stored.version, str(error)) from error
        return made

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
            if rules.open_deal(whole) is None and await self.is_barred(player):
                return Trouble.BARRED
            secret = fairness.secret(self._keys[self._key], held.game)
            empty = Live(held.game, rules, chain.origin(held.game), Table(held.game), Dealer(held.game, secret), 0, ())
            opened = await self._ask(empty, 0, command, cause, after=await self._after(held.game))
            if isinstance(opened, Head):
                await self.at(held.game)
                return held.game, opened
            if opened is not Reason.ALREADY_OPEN:
                return opened
        return Trouble.TRY_AGAIN

    async def is_barred(self, player: bytes) -> bool:
        """Whether the player may neither open nor join a game that counts. One that runs is played to its end."""
        return self._is_barred is not None and await self._is_barred(player)

    async def _after(self, game_id: bytes) -> tuple[bytes, ...]:
        """The finished game whose place this one took: its result enters the ledger first, whatever is lost between.

        A damaged one, and one that is gone from here since, closed long ago or never will."""
        before = await self._log.before(game_id)
        try:
            live = await self._whole(before) if before is not None else None
        except Damaged:
            return ()
        return (live.game,) if live is not None and _is_told(live.table) else ()

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


def _wait_ms(table: Table, now_ms: int) -> int | None:
    """Milliseconds to the game's next deadline."""
    if table.opened is None or table.finished is not None:
        return None
    return max(0, table.opened.at_ms + OPEN_MS_MAX - now_ms)


def _told_outside(
    rules: Rules, moved: game.Moved, events: tuple[Stored, ...], at_ms: int, after: tuple[bytes, ...]
) -> tuple[bytes, ...]:
    """What the append tells the world outside the game: that both seats are taken, that it is over."""
    table = moved.table
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
    for fact in moved.facts:
        match fact:
            case Seated(seat=game.HOUSE_SEAT):
                told.append(head)
            case Finished(winner, reason):
                told.append(entries.closing(head, winner, reason, table.late))
    return tuple(map(entries.encode, told))
