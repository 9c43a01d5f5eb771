"""The part of moving house that is files: keys, the last note, and an archive that lies in the data directory."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from events.notes import BadCheckpoint, BadNote
from server import keys
from server.archive import CHECKPOINT, Different, DirectoryArchive, read_file, write_file
from server.keys import BadKeys
from server.moving import CannotMove, Progress
from server.settings import Settings
from server.signer import read_note, signer

FILES = 100
"""Put at once."""


def check_files(source: Settings, target: Settings) -> None:
    """Whether the target's directory has none of them, or the same. Raises CannotMove, BadKeys, OSError."""
    for name in _key_names(source):
        if (there := read_file(target.keys / name)) is not None and there != read_file(source.keys / name):
            raise BadKeys(f"{target.keys / name} is another key than {source.keys / name}")
    _check_note(source, source.keys / "ledger.note", target.keys / "ledger.note")
    if source.archive_place is None:
        _check_note(source, Path(source.archive, CHECKPOINT), Path(target.archive, CHECKPOINT))


def _key_names(given: Settings) -> Sequence[str]:
    return sorted(path.name for path in (*given.keys.glob("operator-*.key"), *given.keys.glob("ledger.key")))


async def move_files(source: Settings, target: Settings, told: Progress) -> None:
    """They were checked. Nothing where both have the same data directory. Raises CannotMove, BadKeys, OSError."""
    if source.data.resolve() == target.data.resolve():
        return
    if source.archive_place is None:
        await _move_archive(source, target, told)
    for name in _key_names(source):
        await asyncio.to_thread(keys.put, target.keys, name, (source.keys / name).read_bytes())
    if (note := read_file(source.keys / "ledger.note")) is not None:
        await asyncio.to_thread(write_file, target.keys / "ledger.note", note, over=True)


async def _move_archive(source: Settings, target: Settings, told: Progress) -> None:
    here, there = Path(source.archive), Path(target.archive)
    archive = DirectoryArchive(there)
    paths = await asyncio.to_thread(lambda: sorted(_files(here)))
    for start in range(0, len(paths), FILES):
        some = {str(path.relative_to(here)): path for path in paths[start : start + FILES]}
        data = await asyncio.to_thread(lambda some=some: {name: path.read_bytes() for name, path in some.items()})  # type: ignore[misc]
        try:
            await archive.put(data)
        except Different as error:
            raise CannotMove(f"{there} holds another {error}: it is the archive of something else") from error
        told("archive", start + len(some), len(paths))
    # Last, since it says that all of that is there.
    if (note := read_file(here / CHECKPOINT)) is not None:
        await archive.put({CHECKPOINT: note}, over=True)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        # What a writer was killed over begins with a dot.
        if path.is_file() and not path.name.startswith(".") and path != folder / CHECKPOINT:
            yield path


def _check_note(given: Settings, here: Path, there: Path) -> None:
    """A note that is further than the one that replaces it is of a ledger that went on. Raises CannotMove, BadKeys."""
    notes: Sequence[bytes | None] = (read_file(here), read_file(there))
    if notes[1] is None or notes[0] == notes[1]:
        return
    key = signer(keys.ledger_key(given.keys)).key
    try:
        sizes = [read_note(note, key).size if note is not None else 0 for note in notes]
    except (BadNote, BadCheckpoint) as error:
        raise CannotMove(f"{there} isn't signed by {key}: it is of another ledger") from error
    if sizes[1] > sizes[0]:
        raise CannotMove(f"{there} covers {sizes[1]} leaves, {here} only {sizes[0]}: that ledger went on there")
