"""The operator's keys: numbered files of 32 random bytes. Whoever has one can see every hand dealt under it."""

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

KEY_BYTES = 32


class BadKeys(Exception):
    """The keys can't be used, and why."""


class OperatorKeys(Mapping[int, bytes]):
    """By number. One that another server has brought meanwhile is read when a game asks for it."""

    def __init__(self, folder: Path, keys: dict[int, bytes]) -> None:
        self._folder = folder
        self._keys = keys

    def __getitem__(self, number: int) -> bytes:
        if number not in self._keys:
            try:
                self._keys[number] = _read(self._folder / f"operator-{number}.key")
            except (FileNotFoundError, BadKeys):
                raise KeyError(number) from None
        return self._keys[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def has_keys(folder: Path) -> bool:
    return any(folder.glob("operator-*.key"))


def has_ledger_key(folder: Path) -> bool:
    return (folder / "ledger.key").exists()


def rotate(folder: Path) -> int:
    """Make the next key: its number. Raises BadKeys."""
    number = max(operator_keys(folder)) + 1
    _make(folder / f"operator-{number}.key")
    return number


def operator_keys(folder: Path) -> OperatorKeys:
    """All keys by number, the highest of which seals new games. Makes key 1 at first start. Raises BadKeys."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    paths = sorted(folder.glob("operator-*.key"))
    if not paths:
        paths = [_make(folder / "operator-1.key")]
    keys = {}
    for path in paths:
        number = path.stem.removeprefix("operator-")
        if not number.isascii() or not number.isdigit() or int(number) < 1:
            raise BadKeys(f"{path}: keys are called operator-N.key")
        keys[int(number)] = _read(path)
    return OperatorKeys(folder, keys)


def ledger_key(folder: Path) -> bytes:
    """The 32 bytes that sign the ledger's checkpoints (Ed25519). Made at first start. Raises BadKeys."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "ledger.key"
    if not path.exists():
        _make(path)
    return _read(path)


def _read(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise BadKeys(f"{path} has {len(key)} bytes, a key has {KEY_BYTES}")
    return key


def put(folder: Path, name: str, key: bytes) -> None:
    """A key that was made elsewhere, unless it is there. Raises BadKeys where another one is."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if _read(_put(folder / name, key)) != key:
        raise BadKeys(f"{folder / name} is another key")


def _make(path: Path) -> Path:
    return _put(path, secrets.token_bytes(KEY_BYTES))


def _put(path: Path, key: bytes) -> Path:
    # Written aside and linked into place: a crash leaves no half a key, and two first starts agree on one.
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, key)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return path
