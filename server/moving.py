"""Copies one store into another, whatever the two are: games, ledger, places, meetings. The one place that knows how.

The target is empty, or holds a beginning of the same. So a copy that was killed is simply begun again: what is there is
compared and left, the rest comes behind it. Until all of it is compared, the target says that it isn't whole.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from events import ledger, merkle
from events.chain import Head, Stored, check, origin
from events.ledger import Copy, Ledger
from events.log import PARTITIONS, Batch, Log, partition
from events.merkle import Frontier
from events.moving import Claimed, Kept, Movable
from server.arranged import ArrangedGames
from server.backup import Heads

PARTITIONS_AT_ONCE = 8
GAMES_AT_ONCE = 64
EVENTS = 2000
"""Of one game, in one append."""
ENTRIES = 1000
"""Of an outbox, or of the ledger, in one append."""

Progress = Callable[[str, int, int], None]
"""(what, done, of how many)"""


class CannotMove(Exception):
    """Why nothing more is copied. The target stays unfinished, or as it was."""


@dataclass(frozen=True, slots=True)
class House:
    """A store with all that is to be moved."""

    name: str
    log: Log
    """Of the source: events that were let go come from the archive."""
    movable: Movable
    ledger: Ledger
    arranged: ArrangedGames


@dataclass(frozen=True, slots=True)
class Moved:
    heads: Heads
    """What both hold."""
    damaged: Sequence[bytes]
    """Games whose log isn't whole in the source, rising: only their heads came, and they go on in neither."""


class _NotWhole(Exception):
    """A log that doesn't chain, or doesn't end where its head says."""


async def move(source: House, target: House, told: Progress) -> Moved:
    """The target was compared before, and isn't whole before `finish`.

    Raises CannotMove, Unknown, Damaged."""
    beats = await source.movable.beats()
    await target.movable.put_unfinished(True)
    damaged: list[bytes] = []
    await _partitions(lambda number: _move_partition(source, target, number, damaged), "partitions", told)
    await _move_ledger(source.ledger, target.ledger, told)
    await _move_meetings(source.arranged, target.arranged)
    await _move_places(source, target)
    await target.movable.put_beats(beats)
    return Moved(await compare(source, target, whole=True, told=told), sorted(damaged))


async def finish(source: House, target: House) -> None:
    """The target may be served from, unless somebody wrote to either meanwhile. Raises CannotMove, Unknown."""
    await _compare_ledgers(source, target, whole=True)
    if await source.movable.beats() != await target.movable.beats():
        raise CannotMove(f"a server wrote to {source.name}, or {target.name}, meanwhile: stop it, and copy again")
    await target.movable.put_unfinished(False)


async def _partitions(work: Callable[[int], Awaitable[None]], what: str, told: Progress) -> None:
    for start in range(0, PARTITIONS, PARTITIONS_AT_ONCE):
        await asyncio.gather(*map(work, range(start, start + PARTITIONS_AT_ONCE)))
        told(what, start + PARTITIONS_AT_ONCE, PARTITIONS)


# ---------------------------------------------------------------- a partition's games


async def _move_partition(source: House, target: House, number: int, damaged: list[bytes]) -> None:
    games = await source.movable.kept(number)
    there = {each.game: each for each in await target.movable.kept(number)}
    if gone := [each for each in games if each.gone and each.game not in there]:
        await target.movable.put_gone(number, gone)
    left = [each for each in games if not _is_moved(each, there.get(each.game))]
    # Of those, some were let go there, and are in the archive; of others only the head came, in an earlier copy.
    left += [each for each in games if _is_only_gone_there(each, there.get(each.game))]
    for start in range(0, len(left), GAMES_AT_ONCE):
        some = left[start : start + GAMES_AT_ONCE]
        whole = await asyncio.gather(*(_move_game(source, target, each, there.get(each.game)) for each in some))
        damaged += [each.game for each, is_whole in zip(some, whole, strict=True) if not is_whole]
    # An append takes a deadline away, and this one is to be as it was.
    moved = {each.game for each in left}
    if deadlines := {
        each.game: each.deadline_ms
        for each in games
        if each.deadline_ms is not None and (each.game in moved or there[each.game].deadline_ms != each.deadline_ms)
    }:
        await target.movable.put_deadlines(number, deadlines)
    await _move_outbox(source, target, number)


def _is_moved(game: Kept, there: Kept | None) -> bool:
    if there is None:
        return game.gone
    # What was let go there and not here is in the archive, whole.
    return there.head == game.head and there.gone >= game.gone


def _is_only_gone_there(game: Kept, there: Kept | None) -> bool:
    return there is not None and there.gone and not game.gone and there.head == game.head


async def _move_game(source: House, target: House, game: Kept, there: Kept | None) -> bool:
    """Whether it is whole. Of one that isn't only the head comes: from a beginning of it somebody could play on."""
    head = origin(game.game) if there is None else there.head
    gone_there = _is_only_gone_there(game, there)
    try:
        if gone_there or game.head.version - head.version > EVENTS:
            async for _ in _pages(source, game, origin(game.game) if gone_there else head):
                pass
        async for events in _pages(source, game, head):
            head = await target.log.append(game.game, head, Batch(tuple(events)))
    except _NotWhole as error:
        if there is not None and not gone_there:
            # It was whole when that came.
            raise CannotMove(
                f"{source.name}: the log of game {game.game.hex()} isn't whole any more: {error}"
            ) from None
        await target.movable.put_gone(partition(game.game), [replace(game, gone=True)])
        return False
    if game.gone:
        await target.log.let_go(game.game, head)
    return True


async def _pages(source: House, game: Kept, head: Head) -> AsyncIterator[Sequence[Stored]]:
    """The game's events behind a head, to its own. Raises _NotWhole."""
    while head != game.head:
        events = await source.log.read(game.game, head.version, EVENTS)
        if not events:
            raise _NotWhole(f"its events end at {head.version}")
        if (broken := check(head, events)) is not None:
            raise _NotWhole(broken.why)
        head = events[-1].head
        yield events


async def _move_outbox(source: House, target: House, number: int) -> None:
    end, goal = await target.movable.end(number), await source.movable.end(number)
    while end != goal:
        entries = await source.log.outbox(number, end.position, ENTRIES)
        if not entries:
            raise CannotMove(f"{source.name}: outbox {number} ends at {goal.position}, but its entries don't")
        await target.movable.put_outbox(end, entries)
        end = await target.movable.end(number)


# ---------------------------------------------------------------- the ledger


async def _move_ledger(source: Ledger, target: Ledger, told: Progress) -> None:
    head, goal = await target.head(), await source.head()
    while head.size < goal.size:
        bodies = await source.leaves(head.size, ENTRIES)
        head = await target.append(head, Copy(tuple(map(ledger.leaf, bodies))))
        told("leaves", head.size, goal.size)
    before = {mark.partition: mark for mark in await target.marks()}
    after = [mark for mark in await source.marks() if before.get(mark.partition) != mark]
    stood = [before.get(mark.partition, ledger.origin(mark.partition)) for mark in after]
    if after:
        await target.append(head, Copy((), tuple(stood), tuple(after)))


async def _root(ledger_: Ledger, size: int) -> bytes:
    return merkle.root(size, await ledger.read(ledger_, merkle.nodes((0, size))))


# ---------------------------------------------------------------- who meets whom, and where


async def _move_meetings(source: ArrangedGames, target: ArrangedGames) -> None:
    wanted: set[bytes] = set()
    async for some in source.arranged():
        for each in some:
            game = each.meeting.game
            wanted.add(game)
            await target.meetings.arrange(each.meeting)
            for player in each.players:
                await target.meetings.joins(player, game)
            if each.opened:
                await target.meetings.opened(game)
    # Those are over since a copy that wasn't finished.
    async for some in target.arranged():
        for each in some:
            if each.meeting.game not in wanted:
                await target.meetings.forget(each.meeting.game, void=False)
    offered = await source.rematches()
    for rematch in await target.rematches():
        if rematch not in offered:
            await target.meetings.accept(rematch.game)
    for rematch in offered:
        await target.meetings.offer(rematch)
    await target.put_met(await source.met())
    await target.put_instead(await source.instead())


async def _move_places(source: House, target: House) -> None:
    async for some in source.movable.places():
        for start in range(0, len(some), GAMES_AT_ONCE):
            await asyncio.gather(*(_move_place(target.log, each) for each in some[start : start + GAMES_AT_ONCE]))


async def _move_place(log: Log, place: Claimed) -> None:
    """The place is held by its game, which took it from the one before: by claims, as it came about."""
    holder = await log.claimed(place.player, place.ladder)
    for game in (place.before, place.game):
        if game is not None and holder not in (game, place.game):
            holder = await log.claim(place.player, place.ladder, game, instead_of=holder)


# ---------------------------------------------------------------- comparing


async def compare(source: House, target: House, whole: bool, told: Progress = lambda *_: None) -> Heads:
    """Whether the target holds the same, or, unless `whole`, a beginning of it. Raises CannotMove where it doesn't."""
    digest, games = sha256(), 0

    async def compared(number: int) -> None:
        kept = await source.movable.kept(number)
        there = {each.game: each for each in await target.movable.kept(number)}
        await _compare_games(source, target, kept, there, whole)
        mine, its = await source.movable.end(number), await target.movable.end(number)
        if whole and mine != its:
            raise CannotMove(f"outbox {number} ends otherwise in {target.name}: {its.position}, not {mine.position}")
        if not whole and its.position and not await _holds(source, mine.position, number, its.position, its.hash):
            raise CannotMove(_other(target, f"outbox {number} went another way there"))
        found[number] = kept

    found: dict[int, Sequence[Kept]] = {}
    await _partitions(compared, "compared", told)
    for number in range(PARTITIONS):
        for each in found.pop(number):
            digest.update(each.game + each.head.version.to_bytes(8, "big") + each.head.hash)
            games += 1
    head = await _compare_ledgers(source, target, whole)
    return Heads(games, digest.hexdigest(), head.size, head.root.hex())


async def _compare_games(
    source: House, target: House, kept: Iterable[Kept], there: dict[bytes, Kept], whole: bool
) -> None:
    left = dict(there)
    for game in kept:
        its = left.pop(game.game, None)
        if its is not None and its.head == game.head:
            same = its.deadline_ms == game.deadline_ms or its.gone or not whole
        else:
            same = not whole and (its is None or await _begins(source, game, its.head))
        if not same:
            raise CannotMove(_other(target, f"game {game.game.hex()} went another way there"))
    for game_ in left:
        raise CannotMove(_other(target, f"it has game {game_.hex()}, which {source.name} hasn't"))


async def _begins(source: House, game: Kept, head: Head) -> bool:
    """Whether the game's log had that head once."""
    if head.version == 0 or head.version > game.head.version:
        return head == origin(game.game)
    events: Sequence[Stored] = await source.log.read(game.game, head.version - 1, 1)
    return bool(events) and events[0].head == head


async def _holds(source: House, end: int, number: int, position: int, hash_: bytes) -> bool:
    """Whether that entry stands in the source's outbox, or stood there before it was trimmed."""
    first = [*await source.log.outbox(number, 0, 1)]
    if position > end:
        return False
    if first and position < first[0].position:
        return True
    found = await source.log.outbox(number, position - 1, 1)
    return bool(found) and (found[0].position, found[0].hash) == (position, hash_)


async def _compare_ledgers(source: House, target: House, whole: bool) -> Frontier:
    mine, its = await source.ledger.head(), await target.ledger.head()
    if whole and (mine != its or list(await source.ledger.marks()) != list(await target.ledger.marks())):
        raise CannotMove(f"the ledgers aren't equal: {mine.size} leaves in {source.name}, {its.size} in {target.name}")
    if its.size > mine.size or await _root(source.ledger, its.size) != its.root:
        raise CannotMove(_other(target, "its ledger isn't a beginning of the other"))
    return mine


def _other(target: House, why: str) -> str:
    return f"{target.name} is neither empty nor a beginning of the same: {why}. Copy into an empty one"
