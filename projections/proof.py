"""A proof: one file that shows a finished game, its two leaves, and that both are under a signed checkpoint.

docs/audit.md gives the form to the byte. As in a saved game, every byte counts.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from events import entries, merkle, notes
from events.entries import Closing, Entry, Opening
from events.notes import BadCheckpoint, BadKey, BadNote, Checkpoint, VerifierKey
from events.shapes import Undecodable
from projections import saved
from projections.audit import Findings, audit
from projections.saved import NotSaved, Saved
from projections.told import told

FORMAT = "statecraft-proof/1"
HEAD_LINES = 3
HEAD_BYTES_MAX = 1_000_000


class BadProof(Exception):
    """The file isn't a proof, or doesn't prove it; says what was expected and what came."""


@dataclass(frozen=True, slots=True)
class Place:
    """A leaf, and the way from it to the root."""

    index: int
    entry: bytes
    proof: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    key: VerifierKey
    checkpoint: str
    """The signed note."""
    opening: Place
    closing: Place
    game: Saved


@dataclass(slots=True)
class Proven:
    """What came of checking a proof."""

    key: str = ""
    size: int = 0
    findings: Findings = field(default_factory=Findings)
    failure: str | None = None
    """Of everything but the game itself, whose failure is in `findings`."""

    @property
    def passed(self) -> bool:
        return self.failure is None and self.findings.passed


def is_proof(data: bytes) -> bool:
    return data.startswith(b'{"format":"statecraft-proof/')


def save(proof: Proof) -> str:
    head = {"format": FORMAT, "key": str(proof.key), "checkpoint": proof.checkpoint}
    return (
        "".join(map(_line, (head, _place(proof.opening), _place(proof.closing))))
        + saved.first_line(proof.game.game)
        + "".join(map(saved.line, proof.game.events))
    )


def load(data: bytes) -> Proof:
    """Raises BadProof, NotSaved."""
    *lines, game = data.split(b"\n", HEAD_LINES)
    if len(lines) != HEAD_LINES or any(len(line) > HEAD_BYTES_MAX for line in lines):
        raise BadProof("a proof begins with three lines: key and checkpoint, the opening's leaf, the closing's")
    match _object(lines[0]):
        case {"format": str(format_), "key": str(key), "checkpoint": str(checkpoint)} if format_ == FORMAT:
            pass
        case _:
            raise BadProof(f"the first line has format {FORMAT}, key and checkpoint")
    try:
        verifier = VerifierKey.parse(key)
    except BadKey as error:
        raise BadProof(f"the key: {error}") from error
    proof = Proof(verifier, checkpoint, _read_place(lines[1]), _read_place(lines[2]), saved.load(game))
    if save(proof).encode(errors="surrogatepass") != data:
        raise BadProof("a line isn't written in the one form that counts")
    return proof


def check(data: bytes, key: VerifierKey | None) -> Proven:
    """Of a proof's bytes, under `key` or, where none is given, the one it brings. Never raises."""
    proven = Proven()
    try:
        _check(data, key, proven)
    except NotSaved as error:
        proven.failure = f"the game in it can't be read: {error}"
    except BadProof as error:
        proven.failure = str(error)
    return proven


def _check(data: bytes, key: VerifierKey | None, proven: Proven) -> None:
    proof = load(data)
    proven.key = str(proof.key)
    if key is not None and key != proof.key:
        raise BadProof(f"it is signed by another key than {key}: it brings {proof.key}")
    try:
        note = notes.read(proof.checkpoint.encode(errors="surrogatepass"), [proof.key])
        checkpoint = Checkpoint.parse(note.text, proof.key.name)
    except (BadNote, BadCheckpoint) as error:
        raise BadProof(f"the checkpoint: {error}") from error
    proven.size = checkpoint.size
    _check_place("the opening's leaf", proof.opening, checkpoint)
    _check_place("the closing's leaf", proof.closing, checkpoint)
    if not proof.opening.index < proof.closing.index:
        raise BadProof("the closing stands before the opening")
    opening, closing = _entry(proof.opening.entry), _entry(proof.closing.entry)
    proven.findings = audit(proof.game)
    if proven.findings.passed:
        for entry, kind in ((opening, Opening), (closing, Closing)):
            if (why := unlike(entry, kind, proof.game)) is not None:
                raise BadProof(why)
        proven.findings.checked["leaves under the signed checkpoint that say what the game's events say"] = 2


def _check_place(what: str, place: Place, checkpoint: Checkpoint) -> None:
    try:
        hash_ = merkle.leaf_hash(place.entry)
        merkle.check_inclusion(place.index, checkpoint.size, hash_, place.proof, checkpoint.root)
    except merkle.Unproven as error:
        raise BadProof(f"{what}: {error}") from error


def _entry(body: bytes) -> Entry:
    try:
        return entries.decode_of_game(body)
    except Undecodable as error:
        raise BadProof(f"a leaf: {error}") from error


def unlike(entry: Entry, kind: type[Opening] | type[Closing], game: Saved) -> str | None:
    """In what an entry isn't the one its game's events tell, for a game that audit passes; None if it is."""
    opening, closing = told(game)
    expected: Entry | None = opening if kind is Opening else closing
    named = replace(entry, after=()) if isinstance(entry, Opening) else entry
    if named == expected:
        return None
    return f"the leaf is {named}, but the game's events tell {expected}"


# ---------------------------------------------------------------- lines


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False) + "\n"


def _place(place: Place) -> dict[str, Any]:
    return {"index": place.index, "entry": _text(place.entry), "proof": list(map(_text, place.proof))}


def _read_place(line: bytes) -> Place:
    match _object(line):
        case {"index": int(index), "entry": str(entry), "proof": list(proof)} if type(index) is int:
            return Place(index, _bytes(entry), tuple(map(_bytes, _texts(proof))))
        case _:
            raise BadProof("a leaf's line has index, entry and proof")


def _texts(values: Sequence[object]) -> list[str]:
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(values):
        raise BadProof("a proof is a list of hashes in base64")
    return texts


def _object(line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise BadProof(f"not JSON: {error}") from error
    if not isinstance(values, dict):
        raise BadProof("a line is a JSON object")
    return values


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise BadProof(f"{text[:24]!r} is no base64") from error
