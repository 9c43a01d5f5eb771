"""Operator's keys and settings: made once, kept private, refused when they can't be right."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from server.keys import BadKeys, operator_keys, rotate
from server.settings import BadSetting, settings


def test_the_first_start_makes_key_one_and_the_next_finds_it(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    keys = operator_keys(folder)
    assert list(keys) == [1]
    assert len(keys[1]) == 32
    assert operator_keys(folder) == keys
    assert stat.S_IMODE((folder / "operator-1.key").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["operator-1.key"]


def test_two_first_starts_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(operator_keys, [tmp_path / "keys"] * 8))
    assert all(keys == found[0] for keys in found)


def test_the_highest_number_of_several_keys_is_known(tmp_path: Path) -> None:
    operator_keys(tmp_path)
    (tmp_path / "operator-10.key").write_bytes(bytes(32))
    assert max(operator_keys(tmp_path)) == 10


@pytest.mark.parametrize(
    ("name", "data"), [("operator-2.key", b"short"), ("operator-x.key", bytes(32)), ("operator-0.key", bytes(32))]
)
def test_a_key_that_can_not_be_one_is_named(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadKeys, match=name.split(".")[0]):
        operator_keys(tmp_path)


@pytest.mark.parametrize("text", ["", "-1", "80 00", "x", "65536", "８０"])
def test_a_setting_that_can_not_be_used_is_named_with_what_could(text: str) -> None:
    with pytest.raises(BadSetting, match=r"STATECRAFT_PORT.*0 to 65535"):
        settings({"STATECRAFT_PORT": text})


def test_settings_come_from_the_environment() -> None:
    given = settings({"STATECRAFT_DATA": "/somewhere", "STATECRAFT_PORT": "9"})
    assert given.log == Path("/somewhere/statecraft.db")
    assert given.port == 9


def test_a_key_that_another_server_brings_is_known_when_a_game_asks_for_it(tmp_path: Path) -> None:
    keys = operator_keys(tmp_path)
    assert 2 not in keys
    assert rotate(tmp_path) == 2
    assert keys[2] == operator_keys(tmp_path)[2] != keys[1]
    (tmp_path / "operator-3.key").write_bytes(b"short")
    assert 3 not in keys
