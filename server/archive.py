"""What is kept for ever, as files: tiles, entry bundles, closed games, the last signed note. Where nothing changes.

A directory, or any object store by URL. Both are `Archive`; tests/test_archive.py holds both to one contract.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import ObjectStore, from_url

CHECKPOINT = "checkpoint"
KEY = "ledger.vkey"
PUTS_MAX = 32
"""At once."""


class Different(Exception):
    """Other bytes stand there for ever."""


class Archive(Protocol):
    """Files by path. When a call returns, what it wrote is as durable as the place is."""

    async def get(self, path: str) -> bytes | None:
        """The whole file."""

    async def put(self, files: Mapping[str, bytes], over: bool = False) -> None:
        """Create the files. The same bytes again are fine; raises Different for others, unless `over` replaces them."""

    async def remove_folder(self, path: str) -> None:
        """And all that is in it; also if there is none."""


def game_path(game: bytes) -> str:
    return f"games/{game.hex()}.jsonl"


def archive(place: str | Path) -> Archive:
    """The archive in a directory, or at a URL such as s3://bucket/prefix (credentials come from the environment)."""
    if str(place).startswith("file://"):
        return DirectoryArchive(Path(unquote(urlsplit(str(place)).path)))
    if "://" in str(place):
        return ObjectArchive(from_url(str(place)))
    return DirectoryArchive(Path(place))


class DirectoryArchive:
    """Below one directory, which is made when something is put."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, path: str) -> bytes | None:
        return await asyncio.to_thread(read_file, self._folder / path)

    async def put(self, files: Mapping[str, bytes], over: bool = False) -> None:
        await asyncio.to_thread(self._put, files, over)

    def _put(self, files: Mapping[str, bytes], over: bool) -> None:
        folders: set[Path] = set()
        for path, data in files.items():
            target = self._folder / path
            folders.update(_make_folder(target.parent))
            _write(target, data, over)
            folders.add(target.parent)
        sync_folders(folders)

    async def remove_folder(self, path: str) -> None:
        await asyncio.to_thread(partial(shutil.rmtree, self._folder / path, ignore_errors=True))


class ObjectArchive:
    """In an object store."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def get(self, path: str) -> bytes | None:
        try:
            found = await obstore.get_async(self._store, path)
        except FileNotFoundError:
            return None
        return bytes(await found.bytes_async())

    async def put(self, files: Mapping[str, bytes], over: bool = False) -> None:
        items = list(files.items())
        for at in range(0, len(items), PUTS_MAX):
            await asyncio.gather(*(self._put(*item, over) for item in items[at : at + PUTS_MAX]))

    async def _put(self, path: str, data: bytes, over: bool) -> None:
        try:
            await obstore.put_async(self._store, path, data, mode="overwrite" if over else "create")
        except AlreadyExistsError:
            if await self.get(path) != data:
                raise Different(path) from None

    async def remove_folder(self, path: str) -> None:
        async for found in obstore.list(self._store, path):
            await obstore.delete_async(self._store, [each["path"] for each in found])


def read_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def write_file(path: Path, data: bytes, over: bool = False) -> None:
    """Durably, and whole or not at all. Raises Different."""
    folders = _make_folder(path.parent)
    _write(path, data, over)
    sync_folders({*folders, path.parent})


def _write(path: Path, data: bytes, over: bool) -> None:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with aside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if over:
            aside.replace(path)
        else:
            os.link(aside, path)
    except FileExistsError:
        if path.read_bytes() != data:
            raise Different(str(path)) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            aside.unlink()


def _make_folder(folder: Path) -> Sequence[Path]:
    """The folders in which something was made."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return [each.parent for each in missing]


def sync_folders(folders: Iterable[Path]) -> None:
    """What was made in a folder is there after a power failure only once the folder itself is synced."""
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
