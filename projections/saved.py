"""A saved game: text to events and back, so strictly that every byte of the file counts (docs/audit.md)."""

import base64
import binascii
import json
from collections.abc import Iterable
from dataclasses import dataclass

from events.chain import Stored

FORMAT = "statecraft-game/1"
LINE_BYTES_MAX = 100_000
LINES_MAX = 1_000_000


class NotSaved(Exception):
    """A line that isn't what this form gives: `version` 0 is the first line, else the event's."""

    def __init__(self, version: int, why: str) -> None:
        super().__init__(why)
        self.version = version
        self.why = why


@dataclass(frozen=True, slots=True)
class Saved:
    game: bytes
    events: tuple[Stored, ...]


def first_line(game: bytes) -> str:
    return json.dumps({"format": FORMAT, "game": game.hex()}, separators=(",", ":")) + "\n"


def line(event: Stored) -> str:
    body = base64.b64encode(event.body).decode()
    return f'{{"version":{event.version},"hash":"{event.hash.hex()}","body":"{body}"}}\n'


def save(game: bytes, events: Iterable[Stored]) -> str:
    return first_line(game) + "".join(map(line, events))


def load(data: bytes) -> Saved:
    """Raises NotSaved."""
    lines = data.split(b"\n")
    game = _first(lines[0], ended=len(lines) > 1)
    if lines[-1] != b"":
        # Everything up to it may be well; the last line was cut, or something was added to the file.
        raise NotSaved(len(lines) - 1, "the last line isn't ended")
    if len(lines) > LINES_MAX:
        raise NotSaved(LINES_MAX, "too many lines")
    return Saved(game, tuple(_event(version, text) for version, text in enumerate(lines[1:-1], 1)))


def _first(text: bytes, ended: bool) -> bytes:
    values = _object(0, text)
    game = values.get("game")
    if not isinstance(game, str) or len(game) != 32:
        raise NotSaved(0, f'the first line is {{"format":"{FORMAT}","game":"…"}}')
    try:
        id_ = bytes.fromhex(game)
    except ValueError as error:
        raise NotSaved(0, "a game's id is 32 hex digits") from error
    if not ended or first_line(id_).encode() != text + b"\n":
        raise NotSaved(0, f'the first line is {{"format":"{FORMAT}","game":"…"}}, to the byte')
    return id_


def _event(version: int, text: bytes) -> Stored:
    match _object(version, text):
        case {"version": int(number), "hash": str(hash_), "body": str(body)} if number is not True:
            pass
        case _:
            raise NotSaved(version, "version, hash in hex and body in base64 belong in a line")
    try:
        stored = Stored(number, bytes.fromhex(hash_), base64.b64decode(body, validate=True))
    except (ValueError, binascii.Error) as error:
        raise NotSaved(version, "version, hash in hex and body in base64 belong in a line") from error
    if stored.version != version:
        raise NotSaved(version, f"event {version} is missing: {stored.version!r} stands in its place")
    if line(stored).encode() != text + b"\n":
        raise NotSaved(version, "the line isn't written in the one form that counts")
    return stored


def _object(version: int, text: bytes) -> dict[str, object]:
    if len(text) > LINE_BYTES_MAX:
        raise NotSaved(version, f"a line has at most {LINE_BYTES_MAX} bytes")
    try:
        values = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise NotSaved(version, f"not JSON: {error}") from error
    if not isinstance(values, dict):
        raise NotSaved(version, "a line is a JSON object")
    return values
