"""Servers of one Redis have the same keys, or don't start, and say what to copy."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from events.notes import VerifierKey
from events.redis_store import RedisStore
from server.archive import KEY, DirectoryArchive
from server.keys import BadKeys, ledger_key, operator_keys, rotate
from server.settings import BadSetting, Settings, settings
from server.shared_keys import KNOWN, keys, public_key
from server.signer import signer
from tests.redis_stores import shared_store

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["redis", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[RedisStore]:
    async with shared_store(request.param) as store:
        yield store


def machine(folder: Path, signs: bool = True) -> Settings:
    return replace(settings({"STATECRAFT_DATA": str(folder)}), signs=signs)


def copied(one: Settings, *names: str, to: Settings) -> Settings:
    to.keys.mkdir(parents=True, exist_ok=True)
    for name in names:
        (to.keys / name).write_bytes((one.keys / name).read_bytes())
    return to


async def test_the_first_server_makes_the_keys_and_the_others_need_the_same(store: RedisStore, tmp_path: Path) -> None:
    one = machine(tmp_path / "one")
    made = await keys(one, store)
    assert (await keys(one, store)).verifier == made.verifier
    two = machine(tmp_path / "two")
    with pytest.raises(BadKeys, match="copy them from another server"):
        await keys(two, store)
    assert not two.keys.exists(), "none is made"
    copied(one, "operator-1.key", to=two)
    with pytest.raises(BadKeys, match=r"ledger\.key.*STATECRAFT_SIGNS=0"):
        await keys(two, store)
    found = await keys(copied(one, "ledger.key", to=two), store)
    assert (found.operator, found.verifier) == (made.operator, made.verifier)
    stored = b"".join([*(await store.read(b"statecraft", "HGETALL", KNOWN)).values()])
    for key in (made.newest, ledger_key(one.keys)):
        assert key not in stored
        assert key.hex().encode() not in stored


@pytest.mark.parametrize("name", ["operator-1.key", "ledger.key"])
async def test_a_server_with_another_key_does_not_start(store: RedisStore, tmp_path: Path, name: str) -> None:
    one = machine(tmp_path / "one")
    await keys(one, store)
    two = copied(one, "operator-1.key", "ledger.key", to=machine(tmp_path / "two"))
    (two.keys / name).write_bytes(bytes(32))
    with pytest.raises(BadKeys, match=f"two/keys/{name} is another key"):
        await keys(two, store)
    await keys(one, store)


@pytest.mark.parametrize("name", ["operator-1.key", "ledger.key"])
async def test_a_server_that_does_not_start_leaves_no_key_for_which_the_others_are_asked(
    store: RedisStore, tmp_path: Path, name: str
) -> None:
    one = machine(tmp_path / "one")
    made = await keys(one, store)
    two = copied(one, "operator-1.key", "ledger.key", to=machine(tmp_path / "two"))
    (two.keys / name).write_bytes(bytes(32))
    rotate(two.keys)
    with pytest.raises(BadKeys, match=f"two/keys/{name} is another key"):
        await keys(two, store)
    assert (await keys(one, store)).operator == made.operator
    assert rotate(one.keys) == 2
    await keys(one, store)
    three = copied(one, "operator-1.key", "ledger.key", to=machine(tmp_path / "three"))
    for _ in range(2):
        rotate(three.keys)
    (three.keys / "operator-2.key").unlink()
    with pytest.raises(BadKeys, match=r"copy it to .*three/keys/operator-2\.key"):
        await keys(three, store)
    await keys(one, store)


async def test_a_key_that_was_rotated_elsewhere_is_asked_for(store: RedisStore, tmp_path: Path) -> None:
    one = machine(tmp_path / "one")
    await keys(one, store)
    two = copied(one, "operator-1.key", "ledger.key", to=machine(tmp_path / "two"))
    await keys(two, store)
    assert rotate(one.keys) == 2
    newest = (await keys(one, store)).newest
    with pytest.raises(BadKeys, match=r"copy it to .*two/keys/operator-2\.key"):
        await keys(two, store)
    assert (await keys(copied(one, "operator-2.key", to=two), store)).newest == newest


async def test_who_is_not_to_sign_needs_no_private_key(store: RedisStore, tmp_path: Path) -> None:
    one, two = machine(tmp_path / "one"), machine(tmp_path / "two", signs=False)
    with pytest.raises(BadKeys, match="start the server that is to sign first"):
        await keys(two, store)
    made = await keys(one, store)
    found = await keys(copied(one, "operator-1.key", to=two), store)
    assert found.ledger == found.verifier == made.verifier
    assert not (two.keys / "ledger.key").exists()


async def test_the_ledgers_public_key_comes_from_the_archive_where_the_private_one_is_not(tmp_path: Path) -> None:
    one, archive = machine(tmp_path / "one"), DirectoryArchive(tmp_path / "archive")
    with pytest.raises(BadKeys, match="neither"):
        await public_key(one, archive)
    other = VerifierKey.parse(str(signer(b"another key, of thirty two bytes").key))
    await archive.put({KEY: f"{other}\n".encode()}, over=False)
    assert await public_key(one, archive) == other
    assert not one.keys.exists()
    own = signer(ledger_key(one.keys)).key
    assert await public_key(one, archive) == own


async def test_a_server_alone_makes_its_keys_and_compares_them_with_nobodys(tmp_path: Path) -> None:
    one = machine(tmp_path / "one")
    found = await keys(one, None)
    assert found.operator == operator_keys(one.keys)
    assert found.verifier == signer(ledger_key(one.keys)).key


def test_the_embedded_file_has_nobody_else_to_sign_it() -> None:
    with pytest.raises(BadSetting, match="STATECRAFT_SIGNS"):
        settings({"STATECRAFT_SIGNS": "0"})
    with pytest.raises(BadSetting, match="STATECRAFT_SIGNS"):
        settings({"STATECRAFT_SIGNS": "yes", "STATECRAFT_STORE": "redis://a"})
    assert settings({"STATECRAFT_SIGNS": "0", "STATECRAFT_STORE": "redis://a"}).signs is False
    assert settings({}).signs is True
