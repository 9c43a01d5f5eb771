"""Pairing: who plays whom as a law, the store's one write, and a server with a thousand who wait."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events import sqlite
from events.database import Database
from events.log import Log, Unknown
from events.redis_log import RedisLog
from events.sqlite import SqliteLog
from server import pairing, sqlite_meetings
from server.meetings import SERVER_MS_MAX, Entry, Meeting, Meetings, Rematch
from server.pairing import COUNTED_A_DAY_MAX, WINDOW_A_SECOND, WINDOW_SECONDS, WINDOW_START, Pair, Waiting, pairs
from server.redis_meetings import RedisMeetings
from server.sqlite_meetings import SqliteMeetings
from tests.positions import NOW
from tests.redis_stores import Clocked, shared_store
from tests.stores import REDIS, every

RULES, LADDER = "fifty-states/1", "states-versus"
SERVER = b"a server's 16 id"
DAY_MS = 24 * 3600 * 1000


def player(number: int) -> bytes:
    return number.to_bytes(16, "big")


def nobody_met(one: bytes, other: bytes) -> int:
    return 0


# ---------------------------------------------------------------- the choice, pure

lines = st.lists(
    st.tuples(st.integers(0, 300_000), st.integers(0, 40_000)),
    max_size=30,
).map(lambda rows: [Waiting(player(number), rating, NOW - waited) for number, (rating, waited) in enumerate(rows, 1)])
days = st.dictionaries(st.tuples(st.integers(1, 30), st.integers(1, 30)), st.integers(0, 5), max_size=60)


def met_of(day: Mapping[tuple[int, int], int]) -> pairing.Met:
    return lambda one, other: max(
        day.get((int.from_bytes(a, "big"), int.from_bytes(b, "big")), 0) for a, b in ((one, other), (other, one))
    )


@given(lines, days)
def test_nobody_is_paired_twice_and_nobody_who_may_play_is_left_over(
    waiting: list[Waiting], day: Mapping[tuple[int, int], int]
) -> None:
    met = met_of(day)
    found = pairs(waiting, NOW, met)
    seats = Counter(who for pair in found for who in pair.players)
    assert set(seats.values()) <= {1}
    by_player = {each.player: each for each in waiting}
    assert seats.keys() <= by_player.keys()

    def near(one: Waiting, other: Waiting) -> bool:
        waited = max(NOW - one.since_ms, NOW - other.since_ms)
        far_max = WINDOW_START + WINDOW_A_SECOND * waited // 1000
        return waited >= WINDOW_SECONDS * 1000 or abs(one.rating - other.rating) <= far_max

    for pair in found:
        one, other = (by_player[who] for who in pair.players)
        if pair.counts:
            assert near(one, other)
            assert met(*pair.players) < COUNTED_A_DAY_MAX
        else:
            assert met(*pair.players) >= COUNTED_A_DAY_MAX
    left = [each for each in waiting if each.player not in seats]
    for at, one in enumerate(left):
        for other in left[at + 1 :]:
            assert not near(one, other) or met(one.player, other.player) >= COUNTED_A_DAY_MAX


def test_the_nearest_rating_is_taken_first_by_who_waits_longest() -> None:
    line = [
        Waiting(player(1), 100_000, NOW - 5000),
        Waiting(player(2), 109_000, NOW - 4000),
        Waiting(player(3), 101_000, NOW),
        Waiting(player(4), 112_000, NOW),
    ]
    assert pairs(line, NOW, nobody_met) == [
        Pair((player(1), player(3)), True),
        Pair((player(2), player(4)), True),
    ]


def test_a_window_widens_until_everybody_is_near_enough() -> None:
    line = [Waiting(player(1), 100_000, NOW), Waiting(player(2), 160_000, NOW)]
    assert pairs(line, NOW, nobody_met) == []
    assert pairs(line, NOW + 9_999, nobody_met) == []
    assert len(pairs(line, NOW + 10_000, nobody_met)) == 1
    far = [Waiting(player(1), 0, NOW), Waiting(player(2), 10**9, NOW)]
    assert pairs(far, NOW + WINDOW_SECONDS * 1000 - 1, nobody_met) == []
    assert len(pairs(far, NOW + WINDOW_SECONDS * 1000, nobody_met)) == 1


def test_a_fourth_game_of_a_day_is_for_nothing_and_only_where_nobody_else_waits() -> None:
    line = [Waiting(player(number), 100_000, NOW) for number in (1, 2)]
    often = met_of({(1, 2): COUNTED_A_DAY_MAX})
    assert pairs(line, NOW, often) == [Pair((player(1), player(2)), False)]
    third = Waiting(player(3), 900_000, NOW)
    assert pairs([*line, third], NOW, often) == []
    (pair,) = pairs([*line, third], NOW + WINDOW_SECONDS * 1000, often)
    assert pair == Pair((player(1), player(3)), True)


def test_ten_thousand_who_wait_are_all_paired() -> None:
    chance = Random(1)
    line = [Waiting(player(number), chance.randint(0, 300_000), NOW - number) for number in range(1, 10_001)]
    found = pairs(line, NOW + WINDOW_SECONDS * 1000, nobody_met)
    assert len({who for pair in found for who in pair.players}) == 10_000


# ---------------------------------------------------------------- the store

pytestmark = pytest.mark.anyio


Store = tuple[Meetings, Log]


@pytest.fixture(params=every(["sqlite", *REDIS]))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param in REDIS:
        async with shared_store(request.param) as redis:
            log = RedisLog(redis)
            yield RedisMeetings(redis, log), log
        return
    database = await Database.open(tmp_path / "store.db", (sqlite.SCHEMA, sqlite_meetings.SCHEMA))
    yield SqliteMeetings(database), SqliteLog(database)
    await database.close()


def entry(number: int, since_ms: int = NOW, before: bytes = b"", server: bytes = SERVER) -> Entry:
    return Entry(RULES, player(number), LADDER, 100_000, since_ms, before, server)


async def test_a_pairing_claims_both_places_and_arranges_the_game_in_one_write(store: Store) -> None:
    meeting_store, log = store
    old = b"an older game id"
    await log.claim(player(2), LADDER, old)
    await meeting_store.enter(entry(1))
    assert await meeting_store.pair(RULES, SERVER, NOW) == []
    await meeting_store.enter(entry(2, before=old))
    (paired,) = await meeting_store.pair(RULES, SERVER, NOW)
    assert paired == Meeting(paired.game, RULES, (), (player(1), player(2)), True, False, (old,))
    for number in (1, 2):
        assert await log.claimed(player(number), LADDER) == paired.game
        assert await meeting_store.of(player(number)) == [paired]
    assert await meeting_store.unopened() == [paired]
    assert await meeting_store.waiting(RULES) == 0
    await meeting_store.opened(paired.game)
    assert await meeting_store.unopened() == []
    await meeting_store.forget(paired.game, void=False)
    assert await meeting_store.of(player(1)) == []


async def test_who_plays_elsewhere_by_now_is_dropped_and_the_other_waits_on(store: Store) -> None:
    meeting_store, log = store
    await meeting_store.enter(entry(1, NOW - 1))
    await meeting_store.enter(entry(2))
    await log.claim(player(1), LADDER, b"another game 16.")
    assert await meeting_store.pair(RULES, SERVER, NOW) == []
    assert await meeting_store.waiting(RULES) == 1
    assert await log.claimed(player(2), LADDER) is None
    await meeting_store.enter(entry(3))
    (paired,) = await meeting_store.pair(RULES, SERVER, NOW)
    assert set(paired.players) == {player(2), player(3)}


async def test_whoever_enters_twice_has_one_place_from_the_first_time_on(store: Store) -> None:
    meeting_store, _ = store
    await meeting_store.enter(entry(1, NOW - 5000))
    await meeting_store.enter(entry(1, NOW))
    assert await meeting_store.waiting(RULES) == 1
    assert await meeting_store.pair(RULES, SERVER, NOW) == []
    assert await meeting_store.leave(RULES, player(1))
    assert not await meeting_store.leave(RULES, player(1))
    assert await meeting_store.waiting(RULES) == 0


async def pass_ms(meetings: Meetings, ms: int) -> None:
    """Servers give signs on the clock of the store that they share."""
    if isinstance(meetings, RedisMeetings):
        assert isinstance(meetings._store, Clocked)
        await meetings._store.pass_ms(ms)


async def test_entries_of_a_server_that_gave_no_sign_are_dropped(store: Store) -> None:
    meeting_store, _ = store
    other = b"another server's"
    await meeting_store.enter(entry(1, NOW))
    await pass_ms(meeting_store, SERVER_MS_MAX + 1)
    await meeting_store.enter(entry(2, NOW + SERVER_MS_MAX + 1, server=other))
    assert await meeting_store.pair(RULES, other, NOW + SERVER_MS_MAX + 1) == []
    assert await meeting_store.waiting(RULES) == 1


async def test_a_server_whose_clock_is_far_behind_the_others_keeps_its_entries() -> None:
    async with shared_store("redis") as redis:
        kept = RedisMeetings(redis, RedisLog(redis))
        await kept.enter(entry(1, NOW - 2 * SERVER_MS_MAX))
        assert await kept.pair(RULES, SERVER, NOW - 2 * SERVER_MS_MAX) == []
        await kept.enter(entry(2, NOW, server=b"another server's"))
        (paired,) = await kept.pair(RULES, b"another server's", NOW)
        assert paired.players == (player(1), player(2))


async def test_nobody_waits_no_longer_because_redis_was_away() -> None:
    async with shared_store("redis") as redis:
        assert isinstance(redis, Clocked)
        there = b"another server's"
        one, other = (RedisMeetings(redis, RedisLog(redis)) for _ in range(2))
        # So far apart that they aren't paired.
        await one.enter(entry(1))
        await other.enter(replace(entry(2, server=there), rating=400_000))
        for server, kept in ((SERVER, one), (there, other)):
            assert await kept.pair(RULES, server, NOW) == []
        await redis.pass_ms(SERVER_MS_MAX + 5000)
        # Whoever of them comes first, and with whatever.
        await one.enter(entry(3))
        assert len(await one.pair(RULES, SERVER, NOW)) == 1
        assert await one.waits(RULES, [player(2)]) == {player(2)}
        await redis.pass_ms(SERVER_MS_MAX + 5000)
        assert await other.pair(RULES, there, NOW) == []
        assert await one.move(RULES, player(2), SERVER, NOW)
        # Of a server that doesn't come back they are dropped as ever.
        await other.enter(replace(entry(4, server=there), rating=800_000))
        for _ in range(6):
            await redis.pass_ms(2000)
            await one.pair(RULES, SERVER, NOW)
        assert await one.waits(RULES, [player(2), player(4)]) == {player(2)}


async def test_a_fourth_game_of_a_day_claims_nothing_and_the_next_day_counts_again(store: Store) -> None:
    meeting_store, log = store
    before = b""
    for number in range(COUNTED_A_DAY_MAX + 2):
        now_ms = NOW + (DAY_MS if number > COUNTED_A_DAY_MAX else 0)
        await meeting_store.enter(entry(1, now_ms, before))
        await meeting_store.enter(entry(2, now_ms, before))
        (paired,) = await meeting_store.pair(RULES, SERVER, now_ms)
        assert paired.counts == (number != COUNTED_A_DAY_MAX)
        holder = await log.claimed(player(1), LADDER)
        assert (holder == paired.game) == paired.counts
        assert paired.befores == ((before,) if paired.counts and before else ())
        before = holder or b""


@pytest.mark.parametrize("anew", [False, True], ids=["", "dealt anew"])
@pytest.mark.parametrize("void", [True, False], ids=["void", "played"])
async def test_a_void_is_none_of_the_games_that_count_in_a_day(store: Store, void: bool, anew: bool) -> None:
    meeting_store, _ = store
    counted, before = [], b""
    for number in range(COUNTED_A_DAY_MAX + 1):
        await meeting_store.enter(entry(1, NOW, before))
        await meeting_store.enter(entry(2, NOW, before))
        (paired,) = await meeting_store.pair(RULES, SERVER, NOW)
        counted.append(paired.counts)
        before = bytes([number]) * 16 if anew else paired.game
        assert not anew or await meeting_store.replace(paired.game, before)
        for _ in range(2):
            await meeting_store.forget(before, void=void and number == 0)
    assert counted == [True] * COUNTED_A_DAY_MAX + [void]


async def test_a_thousand_at_once_and_many_pairings_at_once_seat_nobody_twice(store: Store) -> None:
    meeting_store, _ = store

    async def come(number: int) -> list[Meeting]:
        await meeting_store.enter(entry(number, NOW + number))
        return list(await meeting_store.pair(RULES, SERVER, NOW + 2000)) if number % 29 == 0 else []

    found = await asyncio.gather(*map(come, range(1, 1001)))
    paired = [meeting for some in found for meeting in some]
    paired += await meeting_store.pair(RULES, SERVER, NOW + 2000)
    seats = Counter(who for meeting in paired for who in meeting.players)
    assert len(seats) == 1000
    assert set(seats.values()) == {1}
    assert len({meeting.game for meeting in paired}) == 500


# ---------------------------------------------------------------- arranged games and rematches


def meeting(number: int, *players: bytes) -> Meeting:
    first, second = players
    return Meeting(bytes([number]) * 16, RULES, (("length", "short"),), (first, second), False, True)


async def test_an_arranged_game_is_its_players_until_it_is_forgotten(store: Store) -> None:
    kept, _ = store
    one, other = meeting(1, player(1), b""), meeting(255, player(2), player(1))
    for _ in range(2):
        await kept.arrange(one)
        await kept.arrange(other)
    assert await kept.meeting(one.game) == one
    assert await kept.meeting(bytes(16)) is None
    assert await kept.of(player(1)) == [one, other]
    assert await kept.of(player(2)) == [other]
    assert sorted(await kept.unopened(), key=lambda each: each.game) == [one, other]
    await kept.opened(one.game)
    await kept.arrange(one)
    assert await kept.unopened() == [other], "what was opened isn't unopened by being arranged again"
    await kept.joins(player(3), one.game)
    await kept.joins(player(3), one.game)
    await kept.joins(player(3), b"no game arranged")
    assert await kept.of(player(3)) == [one]
    await kept.missed(player(3), one.game)
    await kept.missed(player(3), one.game)
    assert await kept.of(player(3)) == []
    await kept.joins(player(3), one.game)
    for _ in range(2):
        await kept.forget(one.game, void=True)
    assert await kept.meeting(one.game) is None
    assert await kept.of(player(3)) == []
    assert await kept.of(player(1)) == [other]
    await kept.arrange(one)
    assert await kept.of(player(3)) == [], "who sat there before it was forgotten"


async def test_a_game_of_which_nothing_is_left_is_arranged_under_another_id_with_its_places_and_counted_once(
    store: Store,
) -> None:
    kept, log = store
    for number in (1, 2):
        await kept.enter(entry(number))
    (paired,) = await kept.pair(RULES, SERVER, NOW)
    await kept.opened(paired.game)
    await kept.joins(player(3), paired.game)
    first, second, third = (bytes([number]) * 16 for number in (7, 8, 9))
    assert await kept.instead(paired.game) == paired.game
    assert await kept.replace(paired.game, first)
    assert not await kept.replace(paired.game, second), "somebody else was faster"
    fresh = replace(paired, game=first)
    assert await kept.unopened() == [fresh]
    assert (await kept.meeting(paired.game), await kept.meeting(first)) == (None, fresh)
    assert await kept.instead(paired.game) == first
    for number in (1, 2):
        assert await kept.of(player(number)) == [fresh]
        assert await log.claimed(player(number), LADDER) == first
    assert await kept.of(player(3)) == []
    assert await kept.replace(first, third)
    assert await kept.instead(paired.game) == await kept.instead(first) == third
    # One that nobody arranged isn't, and yet keeps its id no longer.
    assert not await kept.replace(b"no game arranged", second)
    assert await kept.instead(b"no game arranged") == second
    assert await kept.meeting(second) is None
    # Whoever arranged it, slept, and is about to open it comes too late.
    assert not await kept.arrange(paired)
    assert await kept.meeting(paired.game) is None
    for number in (1, 2):
        assert await kept.of(player(number)) == [replace(paired, game=third)]
    assert await kept.arrange(replace(paired, game=third)), "as it was before"
    assert await kept.unopened() == [replace(paired, game=third)]


async def test_of_two_who_ask_each_other_for_a_rematch_the_first_has_asked(store: Store) -> None:
    kept, _ = store
    games = [bytes([number]) * 16 for number in range(4)]
    asked = Rematch(games[0], RULES, player(1), player(2))
    assert await kept.offer(asked) == player(1)
    assert await kept.offer(Rematch(games[0], RULES, player(2), player(1))) == player(1)
    assert await kept.offers(player(2)) == [asked]
    assert await kept.offers(player(1)) == []
    assert await kept.asks(player(1))
    assert not await kept.asks(player(2))
    for game in games[1:3]:
        await kept.offer(Rematch(game, RULES, player(1), player(3)))
    await kept.offer(Rematch(games[3], RULES, player(3), player(1)))
    assert [each.game for each in await kept.offers(player(3))] == games[1:3]
    for _ in range(2):
        await kept.accept(games[1])
    assert [each.game for each in await kept.offers(player(3))] == games[2:3]
    assert sorted(await kept.withdraw(player(1))) == [player(2), player(3)]
    assert await kept.withdraw(player(1)) == []
    assert await kept.offers(player(2)) == await kept.offers(player(3)) == []
    assert [each.game for each in await kept.offers(player(1))] == games[3:]
    assert await kept.offer(Rematch(games[0], RULES, player(2), player(1))) == player(2)


async def test_who_comes_back_through_another_server_keeps_the_time_and_loses_it_with_that_one(store: Store) -> None:
    kept, _ = store
    there = b"another server's"
    await kept.enter(entry(1, NOW))
    await kept.enter(entry(1, NOW + 1000, server=there))
    assert await kept.waits(RULES, [player(1), player(2)]) == {player(1)}
    assert await kept.waits(RULES, []) == await kept.waits("classic/1", [player(1)]) == set()
    assert not await kept.leave(RULES, player(1), SERVER), "there he waits no longer"
    assert await kept.waiting(RULES) == 1
    # The server ends, and he comes back; who waited there with him doesn't.
    await pass_ms(kept, 5000)
    for number in (2, 6):
        await kept.enter(entry(number, NOW + 5000, server=there))
    assert await kept.move(RULES, player(1), SERVER, NOW + 5000)
    assert not await kept.move(RULES, player(3), SERVER, NOW + 5000)
    await pass_ms(kept, SERVER_MS_MAX + 1)
    # Who comes much later doesn't wait any more, though nobody has looked since.
    assert not await kept.move(RULES, player(6), SERVER, NOW + 5000 + SERVER_MS_MAX + 1)
    assert player(6) not in await kept.waits(RULES, [player(6)])
    assert not await kept.leave(RULES, player(1), there)
    assert await kept.pair(RULES, SERVER, NOW + 5000 + SERVER_MS_MAX + 1) == []
    assert await kept.waits(RULES, [player(1), player(2)]) == {player(1)}
    await kept.enter(entry(4, NOW + 60_000))
    (paired,) = await kept.pair(RULES, SERVER, NOW + 60_000)
    assert paired.players == (player(1), player(4)), "who waited longer is the first"
    await kept.enter(entry(5, NOW + 60_000))
    assert await kept.leave(RULES, player(5), SERVER)
    assert await kept.waiting(RULES) == 0


class Torn(RedisLog):
    """A log whose claims can't be known."""

    async def claim(self, player: bytes, ladder: str, game: bytes, instead_of: bytes | None = None) -> bytes:
        raise Unknown("the connection is gone")


async def test_places_that_a_pairing_could_not_claim_are_claimed_by_whoever_opens_the_game() -> None:
    async with shared_store("redis") as redis:
        log = RedisLog(redis)
        old = b"an older game id"
        await log.claim(player(2), LADDER, old)
        torn, kept = RedisMeetings(redis, Torn(redis)), RedisMeetings(redis, log)
        await torn.enter(entry(1))
        await torn.enter(entry(2, before=old))
        with pytest.raises(Unknown):
            await torn.pair(RULES, SERVER, NOW)
        assert await kept.waiting(RULES) == 0
        assert await log.claimed(player(1), LADDER) is None
        (paired,) = await kept.unopened()
        assert paired.players == (player(1), player(2))
        for number in (1, 2):
            assert await log.claimed(player(number), LADDER) == paired.game
        # Much later, when the player has gone on to another game, whoever looks late disturbs nothing.
        await log.claim(player(1), LADDER, b"a later game, 16", paired.game)
        assert await kept.unopened() == [paired]
        assert await log.claimed(player(1), LADDER) == b"a later game, 16"
