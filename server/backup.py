"""A store in one file: `statecraft backup`, beside a running server. The one place that writes a backup's format.

A tar of `manifest.json`, the two SQLite files as they stood at one moment each (the games first, so that everybody who
plays in them is known), the last signed note, and, where it is asked for, the keys. Not in it: the archive, the
ledger's own backup and newer than any other; and `boards.db`, which is folded anew.
"""

import hashlib
import io
import os
import secrets
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import Progress

from events.database import SCHEMA_VERSION
from events.sqlite_ledger import frontier
from server.clock import now_ms
from server.settings import Settings
from server.terminal import BAR, Data, chosen, err, fail, out

FORMAT = "statecraft backup v1"
MANIFEST = "manifest.json"
LOG = "statecraft.db"
PEOPLE = "people.db"
NOTE = "keys/ledger.note"
PAGES = 1024
"""Of SQLite's, in one step."""
CHUNK_BYTES = 1 << 20

Told = Callable[[int, int], None]
"""Pages done, pages in all."""


class Heads(msgspec.Struct, frozen=True):
    """What a store holds, in a few numbers that no other store has."""

    games: int
    heads: str
    """SHA-256 over game, version (8 bytes) and hash of every log's head, by game, in hex."""
    leaves: int
    root: str
    """Of the ledger, in hex."""


class File(msgspec.Struct, frozen=True):
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    format: str
    made_ms: int
    """Unix time."""
    schema: int
    """Of the SQLite files."""
    store: Heads
    files: dict[str, File]


class NoBackup(Exception):
    """It can't be made, or brought back, and why."""


def backup(given: Settings, place: Path, keys: bool, told: Told) -> tuple[Path, Manifest]:
    """Into the file `place`, or one named by the time in the directory `place`. Raises NoBackup, OSError."""
    if given.redis is not None:
        raise NoBackup("all of it is in Redis: redis-cli --rdb FILE, and the keys (docs/redis.md, Backup)")
    if not given.log.is_file():
        raise NoBackup(f"there is no log at {given.log}")
    made_ms = now_ms()
    if place.is_dir():
        place = place / f"statecraft-{datetime.fromtimestamp(made_ms / 1000, UTC):%Y-%m-%dT%H-%M-%SZ}.tar"
    if place.exists():
        raise NoBackup(f"there is a file {place} already")
    with tempfile.TemporaryDirectory(prefix=".statecraft-backup-", dir=place.parent) as folder:
        files = dict(_copied(given, Path(folder), keys, told))
        manifest = Manifest(FORMAT, made_ms, SCHEMA_VERSION, heads(files[LOG]), {n: _file(p) for n, p in files.items()})
        _pack(place, manifest, files)
    return place, manifest


def _copied(given: Settings, folder: Path, keys: bool, told: Told) -> Iterator[tuple[str, Path]]:
    for name, source in ((LOG, given.log), (PEOPLE, given.people)):
        if source.is_file():
            _copy(source, folder / name, told)
            yield name, folder / name
    wanted = ["ledger.note", *(["operator-*.key", "ledger.key"] if keys else [])]
    for path in sorted(path for each in wanted for path in given.keys.glob(each)):
        yield f"keys/{path.name}", path


def _copy(source: Path, target: Path, told: Told) -> None:
    """As it stands now, whoever writes meanwhile. Raises NoBackup."""
    try:
        reader = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        copy = sqlite3.connect(target)
        try:
            # One state for all steps: without it every commit of the server's would begin the copy anew.
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
            reader.backup(copy, pages=PAGES, progress=lambda status, left, total: told(total - left, total))
            copy.execute("PRAGMA journal_mode = DELETE")  # One file, without a WAL beside it.
        finally:
            copy.close()
            reader.close()
    except sqlite3.Error as error:
        raise NoBackup(f"{source} can't be copied: {error}") from error


def heads(log: Path) -> Heads:
    """Of a SQLite file that nobody writes. Raises NoBackup where a game's last event isn't its head."""
    connection = sqlite3.connect(f"{log.resolve().as_uri()}?mode=ro", uri=True)
    try:
        digest = hashlib.sha256()
        games = 0
        query = (
            "SELECT g.game, g.version, g.hash, e.hash FROM games g LEFT JOIN events e USING (game, version) "
            "UNION ALL SELECT game, version, hash, hash FROM let_go ORDER BY 1"
        )
        for game, version, hash_, last in connection.execute(query):
            if last != hash_:
                raise NoBackup(f"the log of game {game.hex()} doesn't end with its head")
            digest.update(game + version.to_bytes(8, "big") + hash_)
            games += 1
        ledger = frontier(connection)
        return Heads(games, digest.hexdigest(), ledger.size, ledger.root.hex())
    except sqlite3.Error as error:
        raise NoBackup(f"{log}: {error}") from error
    finally:
        connection.close()


def _file(path: Path) -> File:
    with path.open("rb") as file:
        return File(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _pack(place: Path, manifest: Manifest, files: dict[str, Path]) -> None:
    """Whole or not at all, and for nobody else's eyes: it holds names, and what tokens are known by."""
    aside = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
            with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
                text = msgspec.json.format(msgspec.json.encode(manifest))
                tar.addfile(_entry(MANIFEST, len(text), manifest.made_ms), io.BytesIO(text))
                for name, path in files.items():
                    with path.open("rb") as file:
                        tar.addfile(_entry(name, path.stat().st_size, manifest.made_ms), file)
            written.flush()
            os.fsync(written.fileno())
        os.link(aside, place)
    finally:
        aside.unlink(missing_ok=True)
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _entry(name: str, size: int, made_ms: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, made_ms // 1000
    return entry


def said(store: Heads) -> Sequence[str]:
    return (
        f"{store.games} games, heads {store.heads[:16]}",
        f"a ledger of {store.leaves} leaves, root {store.root[:16]}",
    )


def command(
    place: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="In a directory it is named by the time.")],
    keys: Annotated[bool, typer.Option("--keys", help="With the keys: who reads it sees every hand.")] = False,
    data: Data = None,
) -> None:
    """Write games and people into one file, beside a running server. Neither the archive nor, unasked, the keys."""
    given = chosen(data)
    try:
        with Progress(*BAR, console=err, transient=True) as bar:
            task = bar.add_task("pages", total=None)
            made, manifest = backup(given, place, keys, lambda done, size: bar.update(task, completed=done, total=size))
    except (NoBackup, OSError) as error:
        fail(str(error))
    out.print(f"Written: {made}", markup=False)
    for line in said(manifest.store):
        out.print(f"  {line}", markup=False)
    if not keys:
        out.print("The keys are not in it: keep them elsewhere, running games can't go on without them.")
