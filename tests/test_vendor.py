"""What is vendored for the page is what the lock names, byte for byte, and the lock names no place to fetch it from."""

import json
from pathlib import Path

import pytest

from tests.npm import TOP, node

VENDOR = TOP / "server" / "web" / "vendor"
LICENCES = (
    "SIL Open Font License",
    "Permission to use, copy, modify",  # ISC
    "Permission is hereby granted, free of charge",  # MIT
    "Redistribution and use in source and binary forms",  # BSD
)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("vendor")
    node("scripts/vendor.mjs", out)
    return files(out)


def test_vendored_files_are_those_of_the_locked_packages(copied: dict[str, bytes]) -> None:
    committed = files(VENDOR)
    assert sorted(committed) == sorted(copied)
    assert [path for path in committed if committed[path] != copied[path]] == []


def test_each_vendored_folder_has_its_licence() -> None:
    for folder in VENDOR.iterdir():
        licence = (folder / "LICENSE").read_text(encoding="utf-8")
        assert any(words in licence for words in LICENCES)


def test_credits_name_every_vendored_folder() -> None:
    credits_text = (TOP / "server" / "web" / "CREDITS.md").read_text(encoding="utf-8")
    for folder in VENDOR.iterdir():
        assert f"vendor/{folder.name}/" in credits_text


def test_the_vendored_msgpack_is_a_module_that_reads_what_it_writes() -> None:
    program = """
        import { encode, decode } from "./server/web/vendor/msgpack/msgpack.js";
        const bytes = encode({ card: 50, seal: new Uint8Array([1, 2, 255]), name: "Hawaiʻi" });
        console.log(JSON.stringify([Array.from(bytes), decode(bytes).name, Array.from(decode(bytes).seal)]));
    """
    written, name, seal = json.loads(node("--input-type=module", "--eval", program))
    assert bytes(written).startswith(b"\x83\xa4card\x32\xa4seal\xc4\x03\x01\x02\xff")
    assert name == "Hawaiʻi"
    assert seal == [1, 2, 255]


def test_the_lock_holds_hashes_and_no_addresses() -> None:
    text = (TOP / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert all(of["integrity"].startswith("sha512-") for path, of in packages.items() if path)


def test_packages_are_pinned_to_one_version() -> None:
    package = json.loads((TOP / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package  # nothing from npm is needed to run
    assert all(version.replace(".", "").isdigit() for version in package["devDependencies"].values())
