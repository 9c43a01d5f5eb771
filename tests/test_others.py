"""What servers of one Redis tell each other: of players, watchers and lobbies, of many and few, of the dead and those
whose keys were lost."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.redis_store import RedisStore
from server.exchange import _some
from server.others import ASKED_MAX, Here, Nobody, There
from server.redis_others import CHANGES_MAX, KEEP_MS, RedisOthers
from tests.redis_stores import Clocked, redis_store, shared_store
from tests.running import eventually

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["redis", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Clocked]:
    async with shared_store(request.param) as store:
        yield store


def id_(number: int) -> bytes:
    return number.to_bytes(16, "big")


def ids(numbers: Iterable[int]) -> list[bytes]:
    return list(map(id_, numbers))


NOTHING = Here((), {}, b"")


async def test_each_server_hears_of_the_others_and_not_of_itself(store: RedisStore) -> None:
    one, two, three = (RedisOthers(store) for _ in range(3))
    assert not one.alone
    here = Here(ids([1, 2]), {id_(7): 2}, b"one's")
    assert await one.exchange(here, ids([1, 2, 3]), ids([7, 8])) == There(set(), {}, [])
    there = await two.exchange(Here(ids([2, 3]), {id_(7): 3, id_(8): 1}, b"two's"), ids(range(5)), ids([7, 8, 9]))
    assert (set(there.players), there.watchers, there.lobbies) == (set(ids([1, 2])), {id_(7): 2}, [b"one's"])
    there = await three.exchange(NOTHING, ids(range(5)), ids([7, 8, 9]))
    assert (set(there.players), there.watchers) == (set(ids([1, 2, 3])), {id_(7): 5, id_(8): 1})
    assert sorted(there.lobbies) == [b"one's", b"two's"]
    # What changed is told, and only what is asked about is answered.
    await one.exchange(Here(ids([4]), {}, b"one's other"), (), ())
    there = await three.exchange(NOTHING, ids([1, 3, 4]), ids([7]))
    assert (set(there.players), there.watchers) == (set(ids([3, 4])), {id_(7): 3})
    assert sorted(there.lobbies) == [b"one's other", b"two's"]
    # Who says that he goes is gone at once.
    await two.end()
    there = await three.exchange(NOTHING, ids([3, 4]), ids([7]))
    assert (set(there.players), there.watchers, there.lobbies) == ({id_(4)}, {}, [b"one's other"])


async def test_a_server_that_is_not_heard_of_for_some_seconds_is_no_more_until_it_is_heard_of_again(
    store: Clocked,
) -> None:
    one, two = RedisOthers(store), RedisOthers(store)
    here = Here(ids([1]), {id_(7): 1}, b"rows")
    await one.exchange(here, (), ())
    await store.pass_ms(KEEP_MS - 1)
    assert (await two.exchange(NOTHING, ids([1]), ())).players == {id_(1)}
    await store.pass_ms(2)
    assert await two.exchange(NOTHING, ids([1]), ids([7])) == There(set(), {}, [])
    await one.exchange(here, (), ())
    assert await two.exchange(NOTHING, ids([1]), ids([7])) == There({id_(1)}, {id_(7): 1}, [b"rows"])


async def test_a_server_whose_keys_were_lost_tells_everything_again(store: RedisStore) -> None:
    one, two = RedisOthers(store), RedisOthers(store)
    here = Here(ids([1, 2]), {id_(7): 1}, b"rows")
    await one.exchange(here, (), ())
    for key in await store.read(b"others", "KEYS", "{others}:*"):
        if b":players:" in key or b":state:" in key:
            await store.read(b"others", "RENAME", key, key + b"lost")
    await one.exchange(here, (), ())
    there = await two.exchange(NOTHING, ids([1, 2]), ids([7]))
    assert there == There(set(ids([1, 2])), {id_(7): 1}, [b"rows"])


async def test_of_thousands_all_are_told_and_forgotten(store: RedisStore) -> None:
    one, two = RedisOthers(store), RedisOthers(store)
    many = ids(range(2 * CHANGES_MAX + 500))
    assert len(many) > ASKED_MAX
    await one.exchange(Here(many, dict.fromkeys(many[: CHANGES_MAX + 1], 3), b""), (), ())
    for at in range(0, len(many), ASKED_MAX):
        some = many[at : at + ASKED_MAX]
        there = await two.exchange(NOTHING, some, some)
        assert set(there.players) == set(some)
        assert there.watchers == {game: 3 for game in some if game in many[: CHANGES_MAX + 1]}
    await one.exchange(Here(many[-1:], {}, b""), (), ())
    assert await two.exchange(NOTHING, many[-ASKED_MAX:], many[:ASKED_MAX]) == There({many[-1]}, {}, [b""])
    await one.exchange(NOTHING, (), ())
    assert await two.exchange(NOTHING, many[-1:], ()) == There(set(), {}, [b""])


async def test_what_changed_with_a_player_is_heard_by_the_others_at_once(store: RedisStore) -> None:
    async with redis_store(str(store.address), str(store.durability)) as twin:
        one, two = RedisOthers(store), RedisOthers(twin)
        own: list[bytes] = []
        heard: list[bytes] = []
        one.listen(own.append)
        two.listen(heard.append)

        async def told() -> bool:
            one.tell(id_(1))
            one.tell(id_(2))
            one.tell(id_(1))
            await asyncio.sleep(0.05)
            return bool(heard)

        while not await told():
            pass  # Until the other one has subscribed.
        await eventually(lambda: len(heard) % 2 == 0)
        assert heard[:2] == ids([1, 2])
        assert own == []


async def test_who_has_the_store_for_itself_hears_of_nobody() -> None:
    nobody = Nobody()
    assert nobody.alone
    nobody.tell(id_(1))
    assert await nobody.exchange(Here(ids([1]), {id_(2): 1}, b"x"), ids([1]), ids([2])) == There()


@given(st.sets(st.integers(0, 10**6), max_size=3 * ASKED_MAX))
def test_whatever_is_wondered_about_has_its_turn(numbers: set[int]) -> None:
    wanted = set(ids(numbers))
    asked: set[bytes] = set()
    after = b""
    for _ in range(-(-len(wanted) // ASKED_MAX)):
        some = _some(wanted, after)
        assert len(some) == len(set(some)) <= ASKED_MAX
        asked.update(some)
        after = some[-1]
    assert asked == wanted
