"""People, in every store: tokens, names, erasing, and taking everybody from one store to another."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from events.database import Database
from server.naming import ERASED, BadName, skeleton
from server.people import ASKED_MAX, CHANGE_MS, Name, People, Person, Taken, TooSoon, token_hash
from server.redis_people import RedisPeople
from server.sessions import Sessions
from server.sqlite_people import SCHEMA, SqlitePeople, move_from
from tests.positions import NOW
from tests.redis_stores import shared_store
from tests.running import eventually
from tests.stores import REDIS, every

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[People]:
    database = await Database.open(folder / "people.db", (SCHEMA,), shared=True)
    try:
        yield SqlitePeople(database)
    finally:
        await database.close()


@asynccontextmanager
async def redis(name: str, folder: Path) -> AsyncIterator[People]:
    async with shared_store(name) as store:
        yield RedisPeople(store)


STORES: dict[str, Callable[[Path], AbstractAsyncContextManager[People]]] = {
    "sqlite": sqlite,
    **{name: partial(redis, name) for name in REDIS},
}


@pytest.fixture(params=every(STORES))
async def people(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[People]:
    async with STORES[request.param](tmp_path) as people:
        yield people


async def joined(people: People) -> bytes:
    return (await people.join(NOW))[0]


async def everybody(people: People, limit: int = ASKED_MAX) -> list[Person]:
    found: list[Person] = []
    while page := await people.page(found[-1].player if found else b"", limit):
        assert len(page) <= limit
        found += page
    assert [each.player for each in found] == sorted({each.player for each in found})
    return found


# ---------------------------------------------------------------- tokens


async def test_a_token_is_its_players_until_it_is_renewed(people: People) -> None:
    ended: list[bytes] = []
    people.listen(ended.append)
    player, token = await people.join(NOW)
    other, others = await people.join(NOW)
    assert (len(player), len(token)) == (16, 32)
    assert [await people.who(each) for each in (token, others, bytes(32))] == [player, other, None]
    assert await people.known([player, bytes(16), other]) == {player, other}
    assert await people.known([]) == set()
    fresh = await people.renew(token)
    assert fresh is not None
    assert [await people.who(each) for each in (token, fresh)] == [None, player]
    assert await people.renew(token) is None
    hashes = [token_hash(each) for each in (token, fresh, others)]
    assert await people.standing(hashes) == set(hashes[1:])
    await eventually(lambda: ended == [token_hash(token)])


async def test_of_two_who_renew_one_token_at_once_one_has_a_new_one(people: People) -> None:
    player, token = await people.join(NOW)
    fresh = [each for each in await asyncio.gather(*(people.renew(token) for _ in range(8))) if each is not None]
    assert len(fresh) == 1
    assert await people.who(fresh[0]) == player


# ---------------------------------------------------------------- names


async def test_a_name_is_its_players_alone_and_a_lookalike_is_taken(people: People) -> None:
    a, b = await joined(people), await joined(people)
    assert await people.called([a, b]) == {}
    assert await people.called([]) == {}
    assert await people.choose(a, " Ada ", NOW) == "Ada"
    with pytest.raises(Taken):
        await people.choose(b, "АDA", NOW)
    with pytest.raises(BadName):
        await people.choose(b, "x", NOW)
    assert await people.choose(b, "Bea", NOW) == "Bea"
    assert await people.called([a, b, a, bytes(16)]) == {a: "Ada", b: "Bea"}
    players = [await joined(people) for _ in range(8)]
    outcomes = await asyncio.gather(*(people.choose(each, "Cleo", NOW) for each in players), return_exceptions=True)
    assert sorted(map(repr, outcomes)) == sorted(["'Cleo'", *[repr(Taken())] * 7])


async def test_a_name_changes_once_an_hour_and_the_old_one_is_free(people: People) -> None:
    a, b = await joined(people), await joined(people)
    await people.choose(a, "Zoë Ада", NOW)
    assert await people.choose(a, "Zoë Ада", NOW + 1) == "Zoë Ада"
    with pytest.raises(TooSoon) as soon:
        await people.choose(a, "Ida", NOW + CHANGE_MS - 1)
    assert soon.value.wait_ms == 1
    assert await people.choose(a, "Ida", NOW + CHANGE_MS) == "Ida"
    assert await people.choose(b, "Zoë Ада", NOW + CHANGE_MS) == "Zoë Ада"
    assert await people.called([a, b]) == {a: "Ida", b: "Zoë Ада"}


async def test_a_hidden_name_stays_taken_and_hidden_however_it_is_written(people: People) -> None:
    a, b = await joined(people), await joined(people)
    assert not await people.hide(a, True)
    await people.choose(a, "Ada", NOW)
    assert await people.hide(a, True)
    assert await people.called([a]) == {}
    with pytest.raises(Taken):
        await people.choose(b, "Ada", NOW)
    await people.choose(a, "ADA", NOW + CHANGE_MS)
    assert await people.called([a]) == {}
    assert await people.hide(a, False)
    assert await people.called([a]) == {a: "ADA"}
    await people.hide(a, True)
    await people.choose(a, "Ida", NOW + 2 * CHANGE_MS)
    assert await people.called([a]) == {a: "Ida"}


# ---------------------------------------------------------------- erasing


async def test_who_was_erased_is_a_stranger_everywhere_and_can_not_be_named_again_by_a_late_request(
    people: People,
) -> None:
    ended: list[bytes] = []
    people.listen(ended.append)
    a, token = await people.join(NOW)
    b = await joined(people)
    await people.choose(a, "Ada", NOW)
    assert await people.erase(a)
    assert not await people.erase(a)
    assert not await people.erase(bytes(16))
    assert await people.choose(a, "Ada", NOW + CHANGE_MS) == "Ada"
    assert await people.called([a]) == {a: ERASED}
    assert await people.who(token) is None
    assert await people.renew(token) is None
    assert await people.known([a]) == set()
    assert await people.choose(b, "Ada", NOW) == "Ada", "the name is free"
    await eventually(lambda: ended == [token_hash(token)])


async def test_sessions_of_tokens_that_were_not_heard_of_are_ended_by_a_look(people: People) -> None:
    sessions, ended = Sessions(), list[bytes]()
    tokens = [await people.join(NOW) for _ in range(ASKED_MAX + 3)]
    for player, token in tokens:
        sessions.enter(token_hash(token), partial(ended.append, player))
    await sessions.look(people)
    assert ended == []
    (first, _), (_, renewed), (last, _) = tokens[0], tokens[1], tokens[-1]
    await people.erase(first)
    await people.erase(last)
    await people.renew(renewed)
    await sessions.look(people)
    assert sorted(ended) == sorted([first, tokens[1][0], last])


# ---------------------------------------------------------------- from one store to another


async def crowd(people: People) -> list[Person]:
    """Some with names, hidden ones, changed ones, and some who were erased."""
    for number in range(30):
        player, token = await people.join(NOW + number)
        if number % 2:
            await people.choose(player, f"Nemo {number}", NOW)
        if number % 6 == 1:
            await people.hide(player, True)
        if number % 10 == 3:
            await people.choose(player, f"Némo Ø {number}", NOW + CHANGE_MS)
        if number % 5 == 0:
            await people.erase(player)
        if number % 7 == 0:
            await people.renew(token)
    return await everybody(people)


async def test_everybody_is_listed_by_pages_and_put_into_any_store_as_he_was(people: People, tmp_path: Path) -> None:
    before = await crowd(people)
    assert len(before) == 30
    assert sum(each.erased for each in before) == 6
    assert await everybody(people, 7) == before
    (tmp_path / "other").mkdir()
    async with sqlite(tmp_path / "other") as other:
        for _ in range(2):  # Again, as after a copy that was cut.
            assert await other.put(before) == []
            assert await everybody(other) == before
        chosen = next(each for each in before if each.name is not None and not each.name.hidden)
        assert chosen.name is not None
        assert await other.called([chosen.player]) == {chosen.player: chosen.name.text}
    # And into the same store, after everybody was changed there.
    for each in before:
        await people.hide(each.player, True)
    assert await people.put(before) == []
    assert await everybody(people) == before


async def test_what_is_put_works_as_what_was_made_here(people: People) -> None:
    token, fresh = b"t" * 32, b"f" * 32
    name = Name("Ada", skeleton("Ada"), NOW, False)
    ada = Person(b"a" * 16, token_hash(token), NOW, name)
    assert await people.put([ada]) == []
    assert await people.who(token) == ada.player
    other = await joined(people)
    with pytest.raises(Taken):
        await people.choose(other, "ada", NOW)
    with pytest.raises(TooSoon):
        await people.choose(ada.player, "Ida", NOW + 1)
    # The same player with another token, and no name any more.
    assert await people.put([Person(ada.player, token_hash(fresh), NOW, None)]) == []
    assert [await people.who(each) for each in (token, fresh)] == [None, ada.player]
    assert await people.choose(other, "ada", NOW) == "ada"
    # Who comes with a name that somebody else has here comes without.
    assert await people.put([ada]) == [ada.player]
    assert await people.called([ada.player, other]) == {other: "ada"}
    # Nobody comes back who was erased.
    await people.erase(ada.player)
    assert await people.put([ada]) == []
    assert await people.who(token) is None
    assert await people.called([ada.player]) == {ada.player: ERASED}
    # Who was erased elsewhere is erased here.
    assert await people.put([Person(other, b"", 0, None)]) == []
    assert await people.called([other]) == {other: ERASED}
    assert await people.known([other]) == set()


async def test_erasing_frees_memory_and_is_done_where_memory_is_full(tmp_path: Path) -> None:
    async with shared_store("redis") as store:
        people = RedisPeople(store)
        player, token = await people.join(NOW)
        await people.choose(player, "Ada", NOW)
        await store.read(b"people", "CONFIG", "SET", "maxmemory", "1")
        try:
            assert await people.erase(player)
        finally:
            await store.read(b"people", "CONFIG", "SET", "maxmemory", "0")
        assert await people.who(token) is None
        left = b"".join(sorted(await store.read(b"people", "KEYS", "*")))
        assert left.replace(b"{people}:fence", b"") == b"{people}:erased{people}:ids{statecraft}:store"


# ---------------------------------------------------------------- the bytes of a SQLite file


def bytes_in(folder: Path, names: str = "*") -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob(names)))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "people.db", (SCHEMA,))
    yield database
    await database.close()


async def test_after_erasing_the_files_have_no_byte_of_it(database: Database, tmp_path: Path) -> None:
    people = SqlitePeople(database)
    found = [await people.join(NOW) for _ in range(400)]
    for number, (player, _) in enumerate(found):
        await people.choose(player, f"Nameless {number:04}", NOW)
    for number, (player, _) in enumerate(found[::3]):
        await people.choose(player, f"Renamed {number:04} longer", NOW + CHANGE_MS)

    gone = [*range(0, 400, 40), 1, 2]
    before = bytes_in(tmp_path)
    for number in gone:
        player, token = found[number]
        assert token_hash(token) in before
        await people.erase(player)
        after = bytes_in(tmp_path)
        for text in (f"Nameless {number:04}", skeleton(f"Nameless {number:04}"), f"Renamed {number // 3:04} longer"):
            if not text.startswith("Renamed") or number % 3 == 0:
                assert text.encode() not in after, text
        assert token_hash(token) not in after
    assert f"Nameless {gone[-1] + 2:04}".encode() in bytes_in(tmp_path)


async def test_scrubbing_takes_what_sqlite_itself_leaves_behind(database: Database, tmp_path: Path) -> None:
    def fill(connection: Any) -> None:
        connection.execute("PRAGMA secure_delete = OFF")
        for number in range(500):
            values = (b"%016d" % (number * 7919 % 500), f"Nameless {number:04}", f"looks {number:04}", NOW)
            connection.execute("INSERT INTO names VALUES (?, ?, ?, ?, 0)", values)

    await database.write(fill)
    await database.write(lambda connection: connection.execute("DELETE FROM names WHERE name <> 'Nameless 0007'"))
    assert bytes_in(tmp_path).count(b"Nameless ") > 100
    await database.scrub()
    assert set(re.findall(rb"Nameless \d+", bytes_in(tmp_path))) == {b"Nameless 0007"}


async def test_a_reader_that_holds_the_file_delays_erasing_and_does_not_spoil_it(
    database: Database, tmp_path: Path
) -> None:
    people = SqlitePeople(database)
    player = await joined(people)
    await people.choose(player, "Nameless One", NOW)
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: Any) -> None:
        connection.execute("SELECT * FROM names").fetchall()
        loop.call_soon_threadsafe(started.set)
        time.sleep(0.5)

    reading = asyncio.create_task(database.read(slow))
    await started.wait()
    assert await people.erase(player)
    await reading
    assert b"Nameless One" not in bytes_in(tmp_path)


async def test_who_comes_as_erased_leaves_no_byte_of_what_was_here(database: Database, tmp_path: Path) -> None:
    people = SqlitePeople(database)
    player = await joined(people)
    await people.choose(player, "Nameless One", NOW)
    gone: Sequence[Person] = [Person(player, b"", 0, None)]
    assert await people.put(gone) == []
    assert b"Nameless One" not in bytes_in(tmp_path)


async def test_guests_of_an_older_release_move_into_the_file_of_their_own(database: Database, tmp_path: Path) -> None:
    old = await Database.open(tmp_path / "old.db", (SCHEMA,))
    guest, token = await SqlitePeople(old).join(NOW)
    for _ in range(2):
        await move_from(old, database)
    assert await SqlitePeople(database).who(token) == guest
    await old.close()
    assert token_hash(token) not in bytes_in(tmp_path, "old.db")
