"""What events/log.py promises, sentence by sentence, for every store."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from events.chain import Head, Stored, check, extend, origin
from events.log import (
    BEAT_GAP_MS_MAX,
    Batch,
    Conflict,
    Deadline,
    LetGo,
    NotYet,
    OutboxEntry,
    outbox_link,
    outbox_origin,
    partition,
)
from tests.stores import STORES, Store, every

pytestmark = pytest.mark.anyio

T = TypeVar("T")

GAME = bytes(range(16))
OTHER = bytes(range(1, 17))
NEIGHBOUR = bytes([0, *range(100, 115)])
"""Another game in GAME's partition."""


@pytest.fixture(params=every(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with STORES[request.param](tmp_path) as store:
        yield store


def numbered(number: int) -> bytes:
    """Games of rising ids in rising partitions."""
    return number.to_bytes(2, "big") * 8


def behind(
    head: Head,
    *bodies: bytes,
    outbox: tuple[bytes, ...] = (),
    wait_ms: int | None = None,
    expired_ms: int | None = None,
) -> Batch:
    return Batch(extend(head, bodies or (b"body",)), outbox, wait_ms, expired_ms)


async def grow(store: Store, game: bytes, *bodies: bytes) -> Head:
    """Append each body by itself."""
    head = await store.log.head(game)
    for body in bodies:
        head = await store.log.append(game, head, behind(head, body))
    return head


async def together(calls: list[Coroutine[Any, Any, T]]) -> list[T | BaseException]:
    return await asyncio.gather(*calls, return_exceptions=True)


def assert_chained(number: int, entries: list[OutboxEntry]) -> None:
    hash_ = outbox_origin(number)
    for position, entry in enumerate(entries, 1):
        hash_ = outbox_link(hash_, entry.game, entry.body)
        assert entry == OutboxEntry(number, position, hash_, entry.game, entry.body)


# ---------------------------------------------------------------- heads and events


async def test_the_head_of_an_unknown_game_is_its_origin(store: Store) -> None:
    await grow(store, OTHER, b"a")
    assert await store.log.head(GAME) == origin(GAME)


async def test_an_unknown_game_has_no_events(store: Store) -> None:
    await grow(store, OTHER, b"a")
    assert list(await store.log.read(GAME)) == []


async def test_an_append_returns_the_head_it_made(store: Store) -> None:
    batch = behind(origin(GAME), b"a", b"b")
    head = await store.log.append(GAME, origin(GAME), batch)
    assert head == batch.events[-1].head == await store.log.head(GAME)


async def test_versions_are_gapless_from_one(store: Store) -> None:
    head = origin(GAME)
    for count in (1, 3, 2, 1):
        head = await store.log.append(GAME, head, behind(head, *[b"x"] * count))
    events = await store.log.read(GAME)
    assert [event.version for event in events] == [1, 2, 3, 4, 5, 6, 7]
    assert check(origin(GAME), events) is None


@pytest.mark.parametrize(
    "body", [b"", b"\0", b"\xff\xfe", "ß".encode(), bytes(60_000), bytes(range(256)) * 235], ids=lambda body: len(body)
)
async def test_bytes_come_back_as_given(store: Store, body: bytes) -> None:
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), body, b"next"))
    assert [event.body for event in await store.log.read(GAME)] == [body, b"next"]


async def test_many_events_are_one_append(store: Store) -> None:
    bodies = [number.to_bytes(4, "big") * 20 for number in range(1000)]
    head = await store.log.append(GAME, origin(GAME), behind(origin(GAME), *bodies))
    assert head.version == 1000
    assert list(await store.log.read(GAME)) == list(extend(origin(GAME), bodies))


async def test_hashes_come_back_as_stored_and_are_not_recomputed(store: Store) -> None:
    event = Stored(1, b"\x07" * 32, b"body")
    head = await store.log.append(GAME, origin(GAME), Batch((event,)))
    assert head == Head(1, b"\x07" * 32) == await store.log.head(GAME)
    assert list(await store.log.read(GAME)) == [event]


async def test_events_are_read_above_a_version_rising_and_limited(store: Store) -> None:
    await grow(store, GAME, b"a", b"b", b"c", b"d")

    async def versions(after: int, limit: int | None) -> list[int]:
        return [event.version for event in await store.log.read(GAME, after, limit)]

    assert await versions(0, None) == [1, 2, 3, 4]
    assert await versions(2, None) == [3, 4]
    assert await versions(1, 2) == [2, 3]
    assert await versions(3, 5) == [4]
    assert await versions(4, None) == []
    assert await versions(9, 1) == []


async def test_games_do_not_disturb_each_other(store: Store) -> None:
    ends = await asyncio.gather(*(grow(store, numbered(number), *[bytes([number])] * 5) for number in range(20)))
    for number, end in enumerate(ends):
        assert end == await store.log.head(numbered(number))
        assert [event.body for event in await store.log.read(numbered(number))] == [bytes([number])] * 5


# ---------------------------------------------------------------- conflicts


async def test_an_append_behind_another_hash_of_the_same_version_is_a_conflict(store: Store) -> None:
    head = await grow(store, GAME, b"a", b"b")
    fork = head._replace(hash=bytes([head.hash[0] ^ 1]) + head.hash[1:])
    with pytest.raises(Conflict):
        await store.log.append(GAME, fork, behind(fork))
    assert await store.log.head(GAME) == head


@pytest.mark.parametrize("version", [0, 1, 3, 4])
async def test_an_append_behind_another_version_is_a_conflict_even_with_the_right_hash(
    store: Store, version: int
) -> None:
    head = await grow(store, GAME, b"a", b"b")
    with pytest.raises(Conflict):
        await store.log.append(GAME, head._replace(version=version), behind(head._replace(version=version)))
    assert await store.log.head(GAME) == head


async def test_an_append_behind_an_older_head_is_a_conflict(store: Store) -> None:
    older = await grow(store, GAME, b"a")
    head = await grow(store, GAME, b"b")
    with pytest.raises(Conflict):
        await store.log.append(GAME, older, behind(older, b"c"))
    assert await store.log.head(GAME) == head


async def test_the_same_append_again_is_a_conflict(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    batch = behind(head, b"b")
    await store.log.append(GAME, head, batch)
    with pytest.raises(Conflict):
        await store.log.append(GAME, head, batch)
    assert [event.body for event in await store.log.read(GAME)] == [b"a", b"b"]


@pytest.mark.parametrize("head", [origin(OTHER), Head(0, bytes(32)), Head(1, origin(GAME).hash)])
async def test_an_empty_log_is_continued_from_its_own_origin_only(store: Store, head: Head) -> None:
    with pytest.raises(Conflict):
        await store.log.append(GAME, head, behind(head))
    assert await store.log.head(GAME) == origin(GAME)


async def test_an_opened_game_is_not_opened_again(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    with pytest.raises(Conflict):
        await store.log.append(GAME, origin(GAME), behind(origin(GAME), b"b"))
    assert await store.log.head(GAME) == head


@pytest.mark.parametrize("length", [0, 1, 5])
async def test_of_a_hundred_concurrent_appends_at_one_head_exactly_one_wins(store: Store, length: int) -> None:
    head = await grow(store, GAME, *[b"x"] * length)
    batches = [behind(head, b"racer %d" % number, outbox=(b"%d" % number,)) for number in range(100)]
    answers = await together([store.log.append(GAME, head, batch) for batch in batches])
    winners = [batch for batch, answer in zip(batches, answers, strict=True) if isinstance(answer, Head)]
    assert len(winners) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 99
    assert tuple(await store.log.read(GAME, after=length)) == winners[0].events
    assert [entry.body for entry in await store.log.outbox(partition(GAME))] == list(winners[0].outbox)


async def test_who_reads_and_decides_again_gets_through(store: Store) -> None:
    async def writer(number: int) -> None:
        while True:
            head = await store.log.head(GAME)
            try:
                await store.log.append(GAME, head, behind(head, b"%d" % number))
            except Conflict:
                continue
            return

    await asyncio.gather(*(writer(number) for number in range(20)))
    events = await store.log.read(GAME)
    assert sorted(int(event.body) for event in events) == list(range(20))
    assert check(origin(GAME), events) is None


async def test_nothing_stands_behind_a_head_that_is_not_stored(store: Store) -> None:
    """Appends sent without waiting for the answer of the one before: stored from the front, or not."""
    head = origin(GAME)
    calls = []
    for number in range(30):
        batch = behind(head, b"%d" % number)
        calls.append(store.log.append(GAME, head, batch))
        head = batch.events[-1].head
    answers = await together(calls)
    stored = [answer for answer in answers if isinstance(answer, Head)]
    assert all(isinstance(answer, Head | Conflict) for answer in answers)
    events = await store.log.read(GAME)
    assert [event.head for event in events] == stored
    assert check(origin(GAME), events) is None


# ---------------------------------------------------------------- all or nothing


async def test_a_refused_append_leaves_no_event_no_entry_and_no_deadline(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    stale = behind(origin(GAME), b"b", b"c", outbox=(b"entry",), wait_ms=10)
    with pytest.raises(Conflict):
        await store.log.append(GAME, origin(GAME), stale)
    with pytest.raises(NotYet):
        await store.log.append(GAME, head, replace(behind(head, outbox=(b"entry",), wait_ms=10), expired_ms=5))
    with pytest.raises(NotYet):
        await store.log.append(OTHER, origin(OTHER), behind(origin(OTHER), expired_ms=5))
    await store.pass_ms(1000)
    assert await store.log.head(GAME) == head
    assert list(await store.log.read(GAME, after=1)) == []
    assert list(await store.log.outbox(partition(GAME))) == []
    assert list(await store.log.deadlines()) == []
    assert list(await store.log.games()) == [GAME]


async def test_a_refused_append_keeps_the_deadline_that_stood(store: Store) -> None:
    head = await store.log.append(GAME, origin(GAME), behind(origin(GAME), wait_ms=1000))
    with pytest.raises(Conflict):
        await store.log.append(GAME, origin(GAME), behind(origin(GAME)))
    with pytest.raises(NotYet):
        await store.log.append(GAME, head, behind(head, expired_ms=5))
    await store.pass_ms(1000)
    assert [deadline.game for deadline in await store.log.deadlines()] == [GAME]


async def test_events_entries_and_deadline_are_stored_together(store: Store) -> None:
    batch = behind(origin(GAME), b"a", b"b", outbox=(b"opened", b"more"), wait_ms=1000)
    await store.log.append(GAME, origin(GAME), batch)
    await store.pass_ms(1000)
    assert tuple(await store.log.read(GAME)) == batch.events
    assert [entry.body for entry in await store.log.outbox(partition(GAME))] == [b"opened", b"more"]
    assert [deadline.game for deadline in await store.log.deadlines()] == [GAME]


async def test_a_cancelled_append_is_stored_whole_or_not_at_all(store: Store) -> None:
    for number in range(40):
        game = numbered(number)
        batch = behind(origin(game), b"a", b"b", outbox=(b"entry",))
        call = asyncio.ensure_future(store.log.append(game, origin(game), batch))
        for _ in range(number % 5):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        # Whatever was under way is behind us once an append of the same game is answered.
        await together([store.log.append(game, origin(game), behind(origin(game), b"c"))])
        events = await store.log.read(game)
        entries = await store.log.outbox(partition(game))
        bodies = [entry.body for entry in entries if entry.game == game]
        assert ([event.body for event in events], bodies) in (([b"a", b"b"], [b"entry"]), ([b"c"], []))


# ---------------------------------------------------------------- games


async def test_games_with_a_log_are_listed_once_rising_and_in_pages(store: Store) -> None:
    ids = [numbered(number) for number in (5, 3, 900, 1, 70_0)]
    for game in ids:
        await grow(store, game, b"a", b"b")
    assert list(await store.log.games()) == sorted(ids)
    assert list(await store.log.games(limit=2)) == sorted(ids)[:2]
    assert list(await store.log.games(after=sorted(ids)[1], limit=2)) == sorted(ids)[2:4]
    assert list(await store.log.games(after=numbered(4))) == sorted(ids)[2:]
    assert list(await store.log.games(after=sorted(ids)[-1])) == []


# ---------------------------------------------------------------- deadlines


async def test_a_deadline_is_listed_once_it_is_past(store: Store) -> None:
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), wait_ms=30_000))
    await store.pass_ms(20_000)
    assert list(await store.log.deadlines()) == []
    await store.pass_ms(10_000)
    assert [deadline.game for deadline in await store.log.deadlines()] == [GAME]


async def test_past_deadlines_come_oldest_first_and_limited(store: Store) -> None:
    for number, wait_ms in ((1, 30_000), (2, 10_000), (3, 90_000), (4, 20_000)):
        game = numbered(number)
        await store.log.append(game, origin(game), behind(origin(game), wait_ms=wait_ms))
    await store.pass_ms(40_000)
    past = await store.log.deadlines()
    assert [deadline.game for deadline in past] == [numbered(2), numbered(4), numbered(1)]
    assert [deadline.at_ms for deadline in past] == sorted(deadline.at_ms for deadline in past)
    assert list(await store.log.deadlines(limit=2)) == list(past)[:2]


async def test_each_append_moves_the_deadline_or_ends_it(store: Store) -> None:
    head = await store.log.append(GAME, origin(GAME), behind(origin(GAME), wait_ms=10_000))
    head = await store.log.append(GAME, head, behind(head, wait_ms=60_000))
    await store.pass_ms(30_000)
    assert list(await store.log.deadlines()) == []
    await store.pass_ms(40_000)
    assert [deadline.game for deadline in await store.log.deadlines()] == [GAME]
    await store.log.append(GAME, head, behind(head))
    assert list(await store.log.deadlines()) == []


async def past_deadline(store: Store) -> tuple[Head, Deadline]:
    head = await store.log.append(GAME, origin(GAME), behind(origin(GAME), wait_ms=10_000))
    await store.pass_ms(20_000)
    (deadline,) = await store.log.deadlines()
    return head, deadline


async def test_time_is_up_once_the_deadline_is_past(store: Store) -> None:
    head, deadline = await past_deadline(store)
    after = await store.log.append(GAME, head, behind(head, b"time up", expired_ms=deadline.at_ms))
    assert after.version == 2
    assert list(await store.log.deadlines()) == []


async def test_time_is_not_up_at_another_deadline_than_the_one_that_stands(store: Store) -> None:
    head, deadline = await past_deadline(store)
    for at_ms in (deadline.at_ms - 1, deadline.at_ms + 1, 0):
        with pytest.raises(NotYet):
            await store.log.append(GAME, head, behind(head, expired_ms=at_ms))
    assert await store.log.head(GAME) == head


async def test_time_is_not_up_without_a_deadline(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    with pytest.raises(NotYet):
        await store.log.append(GAME, head, behind(head, expired_ms=1))
    with pytest.raises(NotYet):
        await store.log.append(OTHER, origin(OTHER), behind(origin(OTHER), expired_ms=1))


async def test_time_is_not_up_at_a_deadline_that_an_append_has_moved(store: Store) -> None:
    head, deadline = await past_deadline(store)
    head = await store.log.append(GAME, head, behind(head, b"in time", wait_ms=10_000))
    with pytest.raises(NotYet):
        await store.log.append(GAME, head, behind(head, expired_ms=deadline.at_ms))


async def test_time_up_behind_another_head_is_a_conflict_whatever_the_deadline(store: Store) -> None:
    head, deadline = await past_deadline(store)
    await store.log.append(GAME, head, behind(head, b"in time"))
    with pytest.raises(Conflict):
        await store.log.append(GAME, head, behind(head, expired_ms=deadline.at_ms))


async def test_a_move_and_time_up_at_the_same_moment_are_decided_by_the_log(store: Store) -> None:
    head, deadline = await past_deadline(store)
    batches = [behind(head, b"move"), behind(head, b"time up", expired_ms=deadline.at_ms)] * 10
    answers = await together([store.log.append(GAME, head, batch) for batch in batches])
    assert sum(isinstance(answer, Head) for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 19


async def test_the_nearest_deadline_is_told_until_it_is_past(store: Store) -> None:
    assert await store.log.next_deadline() is None
    for number, wait_ms in enumerate((5000, 300, 90_000)):
        game = numbered(number)
        await store.log.append(game, origin(game), behind(origin(game), wait_ms=wait_ms))
    nearest = await store.log.next_deadline()
    assert nearest is not None
    assert 0 < nearest <= 300
    await store.pass_ms(300)
    nearest = await store.log.next_deadline()
    assert nearest is not None
    assert 300 < nearest <= 4700
    head = await store.log.head(numbered(1))
    await store.log.append(numbered(1), head, behind(head))
    nearest = await store.log.next_deadline()
    assert nearest is not None
    assert nearest > 300


# ---------------------------------------------------------------- beats


async def store_ms(store: Store, number: int) -> int:
    """The store's now, as the deadline of a game that is used for nothing else tells it."""
    game = numbered(number)
    await store.log.append(game, origin(game), behind(origin(game), wait_ms=0))
    (deadline,) = [each for each in await store.log.deadlines() if each.game == game]
    return deadline.at_ms


SLACK_MS = 200
"""A store whose clock runs by itself passes a little more than it was asked to."""


async def test_silence_is_what_lies_between_beats_that_are_too_far_apart(store: Store) -> None:
    begin = await store_ms(store, 1)
    assert await store.log.silence(begin - 10_000, begin) == 0, "before the first beat nobody can say"
    await store.log.beat()
    await store.pass_ms(1000)
    await store.log.beat()
    assert await store.log.silence(begin, await store_ms(store, 2)) == 0
    down = await store_ms(store, 3)
    await store.pass_ms(BEAT_GAP_MS_MAX + 500)
    during = await store_ms(store, 4)
    open_ended = await store.log.silence(begin, during)
    assert abs(open_ended - (during - down)) <= SLACK_MS, "no beat has come since"
    await store.log.beat()
    up = await store_ms(store, 5)
    assert abs(await store.log.silence(begin, up) - (up - down)) <= SLACK_MS
    assert abs(await store.log.silence(down + 1000, up - 1000) - (up - down - 2000)) <= SLACK_MS
    assert await store.log.silence(up, up + 1000) == 0
    assert await store.log.silence(begin - 5000, begin) == 0


async def test_without_any_beat_nothing_is_silence(store: Store) -> None:
    assert await store.log.silence(0, 10**12) == 0


async def test_beats_at_once_are_as_good_as_one(store: Store) -> None:
    begin = await store_ms(store, 1)
    for _ in range(3):
        await together([store.log.beat() for _ in range(5)])
        await store.pass_ms(1000)
    assert await store.log.silence(begin, await store_ms(store, 2)) == 0


# ---------------------------------------------------------------- claims


async def test_a_free_place_is_taken_and_a_held_one_stays(store: Store) -> None:
    assert await store.log.claimed(b"p" * 16, "states") is None
    assert await store.log.claim(b"p" * 16, "states", GAME) == GAME
    assert await store.log.claim(b"p" * 16, "states", OTHER) == GAME
    assert await store.log.claimed(b"p" * 16, "states") == GAME


async def test_who_holds_the_place_may_claim_it_again(store: Store) -> None:
    await store.log.claim(b"p" * 16, "states", GAME)
    assert await store.log.claim(b"p" * 16, "states", GAME) == GAME


async def test_a_place_changes_hands_only_instead_of_its_holder(store: Store) -> None:
    await store.log.claim(b"p" * 16, "states", GAME)
    assert await store.log.claim(b"p" * 16, "states", OTHER, instead_of=NEIGHBOUR) == GAME
    assert await store.log.claim(b"p" * 16, "states", OTHER, instead_of=GAME) == OTHER
    assert await store.log.claim(b"p" * 16, "states", NEIGHBOUR, instead_of=GAME) == OTHER
    assert await store.log.claimed(b"p" * 16, "states") == OTHER


async def test_a_game_knows_whose_place_it_took(store: Store) -> None:
    assert await store.log.before(GAME) is None
    await store.log.claim(b"p" * 16, "states", GAME, instead_of=NEIGHBOUR)
    assert await store.log.before(GAME) is None, "the place was free"
    await store.log.claim(b"p" * 16, "states", OTHER, instead_of=NEIGHBOUR)
    assert await store.log.before(OTHER) is None, "it wasn't taken"
    for _ in range(2):
        await store.log.claim(b"p" * 16, "states", OTHER, instead_of=GAME)
        assert await store.log.before(OTHER) == GAME
    await store.log.claim(b"p" * 16, "states", OTHER, instead_of=OTHER)
    assert await store.log.before(OTHER) == GAME
    assert await store.log.before(GAME) is None


async def test_a_free_place_is_taken_whatever_it_should_be_instead_of(store: Store) -> None:
    assert await store.log.claim(b"p" * 16, "states", OTHER, instead_of=GAME) == OTHER


async def test_places_of_other_players_and_ladders_are_their_own(store: Store) -> None:
    await store.log.claim(b"p" * 16, "states", GAME)
    assert await store.log.claim(b"p" * 16, "classic", OTHER) == OTHER
    assert await store.log.claim(b"q" * 16, "states", NEIGHBOUR) == NEIGHBOUR
    assert await store.log.claimed(b"p" * 16, "states") == GAME


@pytest.mark.parametrize("held", [False, True])
async def test_of_a_hundred_concurrent_claims_exactly_one_holds_the_place(store: Store, held: bool) -> None:
    instead_of = GAME if held else None
    if held:
        await store.log.claim(b"p" * 16, "states", GAME)
    games = [numbered(number) for number in range(100)]
    answers = await asyncio.gather(*(store.log.claim(b"p" * 16, "states", game, instead_of) for game in games))
    assert len(set(answers)) == 1
    assert answers[0] in games
    assert await store.log.claimed(b"p" * 16, "states") == answers[0]


# ---------------------------------------------------------------- outbox


async def test_an_empty_outbox_has_no_entries(store: Store) -> None:
    await grow(store, GAME, b"a")
    assert list(await store.log.outbox(partition(GAME))) == []


async def test_outbox_entries_are_gapless_and_chained_from_the_partitions_origin(store: Store) -> None:
    head = origin(GAME)
    for bodies in ((b"a",), (), (b"b", b"c"), (b"",)):
        head = await store.log.append(GAME, head, behind(head, outbox=bodies))
    await store.log.append(NEIGHBOUR, origin(NEIGHBOUR), behind(origin(NEIGHBOUR), outbox=(b"d",)))
    entries = list(await store.log.outbox(partition(GAME)))
    assert [(entry.game, entry.body) for entry in entries] == [
        *((GAME, body) for body in (b"a", b"b", b"c", b"")),
        (NEIGHBOUR, b"d"),
    ]
    assert_chained(partition(GAME), entries)


async def test_the_outbox_is_gapless_and_chained_when_games_of_a_partition_append_at_once(store: Store) -> None:
    async def play(number: int) -> None:
        game = bytes([9]) + number.to_bytes(15, "big")
        head = origin(game)
        for step in range(4):
            bodies = tuple(b"%d %d %d" % (number, step, each) for each in range(step))
            head = await store.log.append(game, head, behind(head, outbox=bodies))

    await asyncio.gather(*(play(number) for number in range(25)))
    entries = list(await store.log.outbox(9))
    assert_chained(9, entries)
    assert sorted(entry.body for entry in entries) == sorted(
        b"%d %d %d" % (number, step, each) for number in range(25) for step in range(4) for each in range(step)
    )
    # Entries of one append stand together, in their order.
    for entry, following in pairwise(entries):
        number, step, each = entry.body.split()
        if int(each) + 1 < int(step):
            assert following.body == b"%b %b %d" % (number, step, int(each) + 1)


async def test_partitions_have_their_own_outboxes(store: Store) -> None:
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), outbox=(b"a",)))
    await store.log.append(OTHER, origin(OTHER), behind(origin(OTHER), outbox=(b"b",)))
    assert [entry.body for entry in await store.log.outbox(partition(GAME))] == [b"a"]
    assert [entry.body for entry in await store.log.outbox(partition(OTHER))] == [b"b"]
    assert_chained(partition(OTHER), list(await store.log.outbox(partition(OTHER))))


async def test_outbox_entries_are_read_above_a_position_rising_and_limited(store: Store) -> None:
    bodies = tuple(b"%d" % number for number in range(5))
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), outbox=bodies))
    entries = list(await store.log.outbox(partition(GAME)))
    assert [entry.position for entry in entries] == [1, 2, 3, 4, 5]
    assert list(await store.log.outbox(partition(GAME), after=2)) == entries[2:]
    assert list(await store.log.outbox(partition(GAME), after=1, limit=2)) == entries[1:3]
    assert list(await store.log.outbox(partition(GAME), after=5)) == []


async def test_the_largest_entry_comes_back_as_given(store: Store) -> None:
    body = bytes(range(255)) * 257
    assert len(body) == 65_535
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), outbox=(body,)))
    assert [entry.body for entry in await store.log.outbox(partition(GAME))] == [body]


async def test_a_programmer_who_leaves_a_gap_is_stopped(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    with pytest.raises(AssertionError):
        await store.log.append(GAME, head, behind(Head(2, head.hash)))
    with pytest.raises(AssertionError):
        await store.log.append(GAME, head, Batch(()))
    assert await store.log.head(GAME) == head


# ---------------------------------------------------------------- letting go


async def test_of_a_game_that_was_let_go_only_the_head_is_known(store: Store) -> None:
    head, other = await grow(store, GAME, b"a", b"b"), await grow(store, NEIGHBOUR, b"c")
    await store.log.let_go(GAME, head)
    assert await store.log.head(GAME) == head
    for after, limit in ((0, None), (1, 1), (2, None), (0, 0)):
        with pytest.raises(LetGo) as gone:
            await store.log.read(GAME, after, limit)
        assert gone.value.head == head
    assert list(await store.log.games()) == [NEIGHBOUR]
    assert await store.log.head(NEIGHBOUR) == other
    assert [event.body for event in await store.log.read(NEIGHBOUR)] == [b"c"]


async def test_a_game_that_was_let_go_takes_no_append_and_is_never_opened_again(store: Store) -> None:
    head = await grow(store, GAME, b"a", b"b")
    await store.log.let_go(GAME, head)
    for at in (head, origin(GAME), Head(1, head.hash), Head(3, head.hash)):
        with pytest.raises(Conflict):
            await store.log.append(GAME, at, behind(at, b"more", outbox=(b"told",), wait_ms=1))
    with pytest.raises(Conflict):
        await store.log.append(GAME, head, behind(head, b"late", expired_ms=1))
    openings = [store.log.append(game, origin(game), behind(origin(game))) for game in (OTHER, GAME, NEIGHBOUR)]
    opened = await together(openings)
    assert [isinstance(each, Conflict) for each in opened] == [False, True, False]
    assert await store.log.head(GAME) == head
    assert list(await store.log.outbox(partition(GAME))) == []
    with pytest.raises(LetGo):
        await store.log.read(GAME)


async def test_letting_go_twice_is_harmless(store: Store) -> None:
    head = await grow(store, GAME, b"a")
    await together([store.log.let_go(GAME, head) for _ in range(3)])
    await store.log.let_go(GAME, head)
    assert await store.log.head(GAME) == head


async def test_a_game_at_another_head_is_not_let_go(store: Store) -> None:
    head = await grow(store, GAME, b"a", b"b")
    for wrong in (Head(1, (await store.log.read(GAME))[0].hash), Head(2, bytes(32)), Head(3, head.hash)):
        with pytest.raises(Conflict):
            await store.log.let_go(GAME, wrong)
    with pytest.raises(Conflict):
        await store.log.let_go(OTHER, head)
    assert [event.body for event in await store.log.read(GAME)] == [b"a", b"b"]
    assert await store.log.head(OTHER) == origin(OTHER)


async def test_a_game_goes_on_or_is_let_go_and_never_both(store: Store) -> None:
    outcomes = set()
    for number in range(20):
        game = numbered(number)
        head = await grow(store, game, b"a")
        calls = [store.log.append(game, head, behind(head, b"b")), store.log.let_go(game, head)]
        first, second = await together(calls if number % 2 else calls[::-1])
        appended, gone = (first, second) if number % 2 else (second, first)
        assert isinstance(appended, Conflict) != isinstance(gone, Conflict)
        outcomes.add(isinstance(gone, Conflict))
        assert (await store.log.head(game)).version == (2 if isinstance(gone, Conflict) else 1)
    assert outcomes


async def test_letting_go_takes_deadline_and_game_before_along_and_leaves_claims_and_outbox(store: Store) -> None:
    await store.log.claim(b"p" * 16, "ladder", OTHER)
    await store.log.claim(b"p" * 16, "ladder", GAME, instead_of=OTHER)
    batch = behind(origin(GAME), b"a", outbox=(b"told",), wait_ms=10)
    head = await store.log.append(GAME, origin(GAME), batch)
    await store.pass_ms(20)
    assert [each.game for each in await store.log.deadlines()] == [GAME]
    assert await store.log.before(GAME) == OTHER
    await store.log.let_go(GAME, head)
    assert list(await store.log.deadlines()) == []
    assert await store.log.before(GAME) is None
    assert await store.log.claimed(b"p" * 16, "ladder") == GAME
    assert await store.log.claim(b"p" * 16, "ladder", NEIGHBOUR, instead_of=GAME) == NEIGHBOUR
    assert [entry.body for entry in await store.log.outbox(partition(GAME))] == [b"told"]


async def test_an_outbox_that_was_trimmed_goes_on_where_it_was(store: Store) -> None:
    head = await store.log.append(GAME, origin(GAME), behind(origin(GAME), outbox=(b"1", b"2", b"3", b"4")))
    await store.log.append(OTHER, origin(OTHER), behind(origin(OTHER), outbox=(b"other",)))
    whole = list(await store.log.outbox(partition(GAME)))
    await store.log.trim(partition(GAME), 3)
    await store.log.trim(partition(GAME), 3)
    await store.log.trim(partition(GAME), 2)
    assert list(await store.log.outbox(partition(GAME))) == whole[2:]
    assert list(await store.log.outbox(partition(GAME), after=1, limit=1)) == whole[2:3]
    await store.log.append(GAME, head, behind(head, outbox=(b"5",)))
    await store.log.trim(partition(GAME), 5)
    (last,) = await store.log.outbox(partition(GAME))
    assert last == OutboxEntry(partition(GAME), 5, outbox_link(whole[3].hash, GAME, b"5"), GAME, b"5")
    assert [entry.body for entry in await store.log.outbox(partition(OTHER))] == [b"other"]


async def test_an_outbox_is_never_trimmed_away(store: Store) -> None:
    await store.log.append(GAME, origin(GAME), behind(origin(GAME), outbox=(b"1", b"2")))
    for position in (0, 1, 3, 100):
        await store.log.trim(partition(GAME), position)
        assert [entry.body for entry in await store.log.outbox(partition(GAME))] == [b"1", b"2"]
    await store.log.trim(77, 1)


# ---------------------------------------------------------------- listeners


@dataclass
class Heard:
    """A listener that minds what it was told: a game's events without a gap, repeats aside."""

    events: defaultdict[bytes, list[Stored]] = field(default_factory=lambda: defaultdict(list))
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, game: bytes, head: Head, events: tuple[Stored, ...]) -> None:
        heard = self.events[game]
        if head.version < len(heard):
            assert tuple(heard[head.version : head.version + len(events)]) == events, "a repeat is the same again"
            return
        assert head == (heard[-1].head if heard else origin(game))
        heard.extend(events)
        self.news.set()

    async def all(self, count: int) -> None:
        """Wait until `count` events are heard; more would be wrong."""
        with anyio.fail_after(20):
            while sum(map(len, self.events.values())) < count:
                await self.news.wait()
                self.news.clear()
        assert sum(map(len, self.events.values())) == count


async def test_listeners_are_told_of_every_append_in_the_games_order(store: Store) -> None:
    first, second = Heard(), Heard()
    store.log.listen(first)
    store.log.listen(second)

    async def play(game: bytes) -> None:
        while (head := await store.log.head(game)).version < 30:
            await together([store.log.append(game, head, behind(head, *[b"x"] * 3)) for _ in range(3)])

    games = [numbered(number) for number in range(8)]
    await asyncio.gather(*(play(game) for game in games))
    await asyncio.gather(first.all(8 * 30), second.all(8 * 30))
    for game in games:
        assert first.events[game] == second.events[game] == list(await store.log.read(game))


async def test_what_a_listener_is_told_is_already_stored(store: Store) -> None:
    reads: list[tuple[tuple[Stored, ...], asyncio.Task[Sequence[Stored]]]] = []
    heard = Heard()

    def listener(game: bytes, head: Head, events: tuple[Stored, ...]) -> None:
        reads.append((events, asyncio.get_running_loop().create_task(store.log.read(game, head.version))))
        heard(game, head, events)

    store.log.listen(listener)
    for number in range(10):
        await grow(store, numbered(number), b"a", b"b")
    await heard.all(20)
    for events, task in reads:
        assert tuple(await task)[: len(events)] == events


async def test_listeners_hear_nothing_of_what_was_refused(store: Store) -> None:
    heard = Heard()
    store.log.listen(heard)
    head = await grow(store, GAME, b"a")
    with pytest.raises(Conflict):
        await store.log.append(GAME, origin(GAME), behind(origin(GAME), b"refused"))
    with pytest.raises(NotYet):
        await store.log.append(GAME, head, behind(head, b"refused", expired_ms=1))
    await grow(store, GAME, b"b")
    await heard.all(2)
    assert [event.body for event in heard.events[GAME]] == [b"a", b"b"]


async def test_listeners_hear_of_an_append_whose_caller_has_gone(store: Store) -> None:
    heard = Heard()
    store.log.listen(heard)
    for number in range(20):
        game = numbered(number)
        call = asyncio.ensure_future(store.log.append(game, origin(game), behind(origin(game), b"a")))
        for _ in range(number % 4):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait([call])
        await together([store.log.append(game, origin(game), behind(origin(game), b"b"))])
    await heard.all(20)
    for game, events in heard.events.items():
        assert list(await store.log.read(game)) == events
