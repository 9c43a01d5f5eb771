"""Who signs: one at a time, of a machine and over machines, and nobody who slept while another took over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from events.redis_ledger import TAG, RedisLedger
from events.redis_log import RedisLog
from events.redis_store import RedisStore
from server.archive import CHECKPOINT, Archive, DirectoryArchive
from server.pen import LOCK, PEN, Claimed, FilePen, NoPen, Pen, RedisPen, Refuses, Signing, is_locked
from server.sequencer import Sequencer
from server.signer import Publisher, read_note
from tests import leaves
from tests.ledgers import HAND
from tests.redis_stores import shared_store
from tests.running import eventually

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Desk:
    """Where two want to write."""

    one: Pen
    two: Pen


@pytest.fixture(params=["file", "redis", "cluster"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    if request.param == "file":
        yield Desk(FilePen(tmp_path / "keys"), FilePen(tmp_path / "keys"))
        return
    async with shared_store(request.param) as store:
        desk = Desk(RedisPen(store), RedisPen(store))
        yield desk
        await desk.one.let_go()
        await desk.two.let_go()


async def test_one_holds_the_pen_until_it_lets_go(desk: Desk) -> None:
    assert not await desk.one.take(), "somebody may have had it before"
    assert await desk.one.take()
    await desk.one.claim(Claimed(3, b"root"))
    for _ in range(2):
        with pytest.raises(Signing):
            await desk.two.take()
    await desk.two.let_go()
    await desk.one.take()
    for _ in range(2):
        await desk.one.let_go()
    assert not await desk.two.take()
    await desk.two.claim(Claimed(4, b"other"))
    with pytest.raises(Signing):
        await desk.one.take()
    await desk.two.let_go()


async def expire(store: RedisStore) -> None:
    """As it does by itself when its holder isn't heard of."""
    await store.read(TAG, "DEL", PEN)


async def taken_again(store: RedisStore) -> None:
    """By whoever held it before, by itself."""
    holder = None
    async with asyncio.timeout(60):
        while holder is None:
            await asyncio.sleep(0.1)
            holder = await store.read(TAG, "GET", PEN)
    await asyncio.sleep(0.5)  # And has heard so.


async def test_what_is_to_be_signed_is_claimed_by_who_holds_the_pen_and_never_goes_back() -> None:
    async with shared_store("redis") as store:
        one, two = RedisPen(store), RedisPen(store)
        with pytest.raises(Signing):
            await one.claim(Claimed(1, b"nobody holds it"))
        assert await one.claimed() is None
        await one.take()
        await one.claim(Claimed(5, b"five"))
        assert await two.claimed() == Claimed(5, b"five")
        await expire(store)
        await two.take()
        with pytest.raises(Signing):
            await one.claim(Claimed(9, b"it slept"))
        with pytest.raises(Signing):
            await one.take()
        with pytest.raises(Signing):
            await two.claim(Claimed(4, b"back"))
        await two.take()
        await two.claim(Claimed(5, b"again"))
        await two.claim(Claimed(6, b"six"))
        assert await NoPen(one).claimed() == Claimed(6, b"six")
        await two.forget()
        assert await one.claimed() is None
        await two.let_go()
        await one.take()
        await one.let_go()


async def test_whoever_slept_and_has_it_again_claims_nothing_before_he_has_looked_what_others_claimed() -> None:
    async with shared_store("redis") as store:
        one, two = RedisPen(store), RedisPen(store)
        await one.take()
        one.check()
        await expire(store)
        await two.take()
        await two.let_go()
        await taken_again(store)
        with pytest.raises(Signing):
            one.check()
        with pytest.raises(Signing):
            await one.claim(Claimed(1, b"from before it slept"))
        assert not await one.take()
        await one.claim(Claimed(2, b"two"))
        one.check()
        assert await one.take()
        await one.let_go()


async def test_it_is_held_on_while_the_holder_waits_for_the_archive_and_free_when_it_is_no_more() -> None:
    async with shared_store("redis") as store:
        one, two = RedisPen(store), RedisPen(store)
        await one.take()
        left_ms = [await store.read(TAG, "PTTL", PEN)]
        await eventually_grows(left_ms, lambda: store.read(TAG, "PTTL", PEN))
        assert one._keeping is not None
        one._keeping.cancel()  # As kill -9 would.
        async with asyncio.timeout(60):
            while True:
                try:
                    await two.take()
                    break
                except Signing:
                    await asyncio.sleep(0.1)
        await two.let_go()
        await one.let_go()


async def test_servers_that_look_at_one_lock_at_once_take_nobody_for_an_older_release(
    tmp_path: Path,
) -> None:
    (tmp_path / LOCK).touch()

    def looks() -> set[bool]:
        return {is_locked(tmp_path / LOCK) for _ in range(5000)}

    assert await asyncio.gather(*(asyncio.to_thread(looks) for _ in range(4))) == [{False}] * 4
    older = FilePen(tmp_path)
    await older.take()
    assert looks() == {True}
    await older.let_go()


async def test_while_an_older_release_signs_by_the_lock_beside_the_key_nobody_takes_the_pen(tmp_path: Path) -> None:
    async with shared_store("redis") as store:
        old, new = FilePen(tmp_path), RedisPen(store, tmp_path)
        await new.take()
        await new.let_go()
        await old.take()
        with pytest.raises(Signing, match="older release"):
            await new.take()
        await old.let_go()
        await new.take()
        await old.take()  # It was started once more, and knows of no other pen.
        with pytest.raises(Signing, match="older release"):
            await new.take()
        assert await store.read(TAG, "GET", PEN) is None
        await old.let_go()
        assert not await new.take()
        await new.let_go()


async def eventually_grows(seen: list[int], read: Callable[[], Awaitable[int]]) -> None:
    async with asyncio.timeout(60):
        while seen[-1] <= min(seen):
            await asyncio.sleep(0.1)
            seen.append(await read())


@dataclass
class Servers:
    """Two servers' publishers over one Redis and one archive, with folders of their own."""

    store: RedisStore
    folder: Path
    archive: Archive

    def __post_init__(self) -> None:
        self.log, self.ledger = RedisLog(self.store), RedisLedger(self.store)

    def publisher(self, name: str, pen: Pen | None = None) -> Publisher:
        hand = HAND.key if isinstance(pen, NoPen) else HAND
        pen = pen or RedisPen(self.store)
        return Publisher(self.ledger, self.log, self.archive, hand, self.folder / name / "keys", pen)

    async def fill(self, count: int) -> None:
        size = (await self.ledger.head()).size
        for number in range(size, size + count):
            await leaves.tell(self.log, leaves.opening(leaves.game(number, number % 256)))
        await Sequencer(self.log, self.ledger).copy_all()

    async def noted(self) -> int:
        note = await self.archive.get(CHECKPOINT)
        return read_note(note, HAND.key).size if note is not None else 0


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[Servers]:
    async with shared_store("redis") as store:
        yield Servers(store, tmp_path, DirectoryArchive(tmp_path / "archive"))


async def test_a_signer_that_slept_signs_nothing_when_another_has_taken_over(servers: Servers) -> None:
    one, two = servers.publisher("one"), servers.publisher("two")
    await servers.fill(3)
    await one.sign()
    with pytest.raises(Signing):
        await two.sign()
    await expire(servers.store)
    await servers.fill(2)
    await two.sign()
    assert await servers.noted() == 5
    await servers.fill(1)
    with pytest.raises(Signing):
        await one.sign()  # It takes itself for the one who signs, until it claims.
    assert await servers.noted() == 5
    await two.sign()
    await two.close()
    await one.sign()
    assert one.signed is not None
    assert (one.signed.size, await servers.noted()) == (6, 6)
    await one.close()


async def test_nothing_is_signed_that_does_not_begin_with_what_was_claimed_by_one_who_died(servers: Servers) -> None:
    dead = RedisPen(servers.store)
    await servers.fill(2)
    await dead.take()
    await dead.claim(Claimed(2, bytes(32)))
    await dead.let_go()
    one = servers.publisher("one")
    with pytest.raises(Refuses, match="2 leaves are signed"):
        await one.sign()
    # Who can't begin keeps nobody else from it.
    await dead.take()
    await dead.forget()
    await dead.let_go()
    await one.sign()
    assert await servers.noted() == 2
    await one.close()


async def test_a_signer_that_slept_through_another_one_signs_nothing_that_does_not_begin_with_what_that_one_claimed(
    servers: Servers,
) -> None:
    one = servers.publisher("one")
    await servers.fill(3)
    await one.sign()
    await expire(servers.store)
    other = RedisPen(servers.store)
    await other.take()
    await other.claim(Claimed(5, bytes(32)))  # Of leaves that the store has lost since, with the one who signed them.
    await other.let_go()
    await servers.fill(4)
    await taken_again(servers.store)
    with pytest.raises(Refuses, match="5 leaves are signed"):
        await one.sign()
    assert await servers.noted() == 3
    await one.close()


async def test_a_server_that_is_not_to_sign_follows_with_the_public_key_alone(servers: Servers) -> None:
    one = servers.publisher("one")
    two = servers.publisher("two", NoPen(RedisPen(servers.store)))
    following = asyncio.create_task(two.run())
    await servers.fill(2)
    await one.sign()
    await eventually(lambda: two.signed)
    assert (two.signed, two.refusal) == (one.signed, None)
    await one.close()
    await servers.fill(1)
    await asyncio.sleep(1)
    assert await servers.noted() == 2, "nobody signs"
    assert (servers.folder / "two" / "keys" / "ledger.note").read_bytes() == await servers.archive.get(CHECKPOINT)
    following.cancel()
    await asyncio.wait([following])


async def test_who_names_another_archive_than_the_signer_says_so(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.signer.BEHIND_SECONDS_MAX", 0.5)
    one = servers.publisher("one")
    await servers.fill(2)
    await one.sign()
    servers.archive = DirectoryArchive(servers.folder / "elsewhere")
    two = servers.publisher("two")
    following = asyncio.create_task(two.run())
    await eventually(lambda: two.refusal)
    assert two.refusal is not None
    assert "2 leaves to sign, and this archive has a note of 0" in two.refusal
    following.cancel()
    await asyncio.wait([following])
    await one.close()
