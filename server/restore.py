"""A store from one file: `statecraft restore`, into a directory that has none: all of it if it is right, or nothing."""

import hashlib
import os
import sqlite3
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Annotated

import msgspec
import typer

from events.database import SCHEMA_VERSION
from server.backup import CHUNK_BYTES, FORMAT, LOG, MANIFEST, NOTE, PEOPLE, File, Manifest, NoBackup, heads, said
from server.keys import has_keys
from server.settings import Settings
from server.terminal import Data, chosen, fail, out

MANIFEST_BYTES_MAX = 1 << 20


def restore(given: Settings, file: Path) -> Manifest:
    """Raises NoBackup, OSError. The log comes last: a directory without it has nothing to serve."""
    for path in (given.log, given.people):
        if path.exists():
            raise NoBackup(f"there is a store already: {path}. Restore into another directory, or move it away")
    given.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restoring-", dir=given.data) as folder:
        manifest = _unpack(file, Path(folder))
        for name in (LOG, PEOPLE):
            if name in manifest.files:
                _check_database(Path(folder) / name)
        found = heads(Path(folder) / LOG)
        if found != manifest.store:
            raise NoBackup(f"it doesn't hold what it says: {'; '.join(said(found))}")
        _check_keys(given, Path(folder), manifest)
        _put(given, Path(folder), manifest)
    return manifest


def _unpack(file: Path, folder: Path) -> Manifest:
    (folder / "keys").mkdir(mode=0o700)
    try:
        with tarfile.open(file, "r:") as tar:
            first = tar.next()
            if first is None or first.name != MANIFEST or not first.isreg() or first.size > MANIFEST_BYTES_MAX:
                raise NoBackup(f"{file} is no backup of ours")
            manifest = _manifest(_opened(tar, first).read())
            left = dict(manifest.files)
            while (entry := tar.next()) is not None:
                told = left.pop(entry.name, None)
                if told is None or not entry.isreg() or entry.size != told.bytes:
                    raise NoBackup(f"{file} holds a {entry.name} that its manifest doesn't")
                _write(_opened(tar, entry), folder / entry.name, told)
            if left:
                raise NoBackup(f"{file} lacks {', '.join(left)}: it was cut")
    except (tarfile.TarError, EOFError) as error:
        raise NoBackup(f"{file} can't be read: {error}") from error
    return manifest


def _manifest(data: bytes) -> Manifest:
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NoBackup(f"its manifest can't be read: {error}") from error
    if manifest.format != FORMAT or manifest.schema > SCHEMA_VERSION:
        raise NoBackup(f"it is a {manifest.format} of schema {manifest.schema}: use a newer release")
    for name in manifest.files:
        if name not in (LOG, PEOPLE, NOTE) and not _is_key(name):
            raise NoBackup(f"its manifest names {name}")
    if LOG not in manifest.files:
        raise NoBackup("its manifest names no log")
    return manifest


def _is_key(name: str) -> bool:
    number = name.removeprefix("keys/operator-").removesuffix(".key")
    return name == "keys/ledger.key" or (
        name == f"keys/operator-{number}.key" and number.isascii() and number.isdigit()
    )


def _opened(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    found = tar.extractfile(entry)
    assert found is not None, "it is a regular file"
    return found


def _write(source: IO[bytes], target: Path, told: File) -> None:
    digest = hashlib.sha256()
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            written.write(chunk)
        written.flush()
        os.fsync(written.fileno())
    if digest.hexdigest() != told.sha256:
        raise NoBackup(f"its {target.name} was changed")


def _check_database(path: Path) -> None:
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        try:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        found = error
    if found != "ok":
        raise NoBackup(f"its {path.name} is damaged: {found}")


def _check_keys(given: Settings, folder: Path, manifest: Manifest) -> None:
    """Keys that are there already stay, and must be the same."""
    for name in filter(_is_key, manifest.files):
        there = given.data / name
        if there.exists() and there.read_bytes() != (folder / name).read_bytes():
            raise NoBackup(f"{there} is another key than the backup's")


def _put(given: Settings, folder: Path, manifest: Manifest) -> None:
    given.keys.mkdir(exist_ok=True, mode=0o700)
    for name in sorted(manifest.files, key=lambda name: (name == LOG, name)):
        target = given.data / name
        # A note that is there already may be further than the backup's.
        if not (name.startswith("keys/") and target.exists()):
            os.link(folder / name, target)
    for each in (given.keys, given.data):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.")], data: Data = None
) -> None:
    """Bring a backup back into a directory that has no store, and compare the heads of all games with what it says."""
    given = chosen(data)
    try:
        manifest = restore(given, file)
    except (NoBackup, OSError) as error:
        fail(str(error))
    out.print(f"Restored into {given.data}; every head is the one that was backed up:", markup=False)
    for line in said(manifest.store):
        out.print(f"  {line}", markup=False)
    if not has_keys(given.keys):
        out.print(f"Now put the keys into {given.keys}: without them nothing is served.", markup=False)
    out.print("Then `statecraft refill` brings back what was signed since.")
