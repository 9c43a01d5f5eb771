"""Signed notes and the checkpoints written in them (C2SP signed-note, tlog-checkpoint), with Ed25519 (RFC 8032).

A note is its text, an empty line, and signature lines "— NAME BASE64(key id || signature)"; a verifier key is
"NAME+HEX(key id)+BASE64(0x01 || public key)"; a key id is the first 4 bytes of
SHA-256(NAME || 0x0A || 0x01 || public key). Each value is taken in the one form in which it is written here: lower-case
hex, base64 (RFC 4648 section 4) without stray bits.
"""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from events.merkle import HASH_BYTES

ED25519 = b"\1"
KEY_BYTES = 32
ID_BYTES = 4
NOTE_BYTES_MAX = 1_000_000
SIGNATURES_MAX = 100
SIZE_MAX = (1 << 63) - 1

_LINE_START = "— "
_UNWRITABLE = re.compile("[\x00-\x09\x0b-\x1f\ud800-\udfff]")
"""What no note may have: ASCII control characters but newline, and halves of characters, which UTF-8 can't write."""
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class BadKey(Exception):
    """Nothing can be signed or verified with this key, and why."""


class BadNote(Exception):
    """These bytes are no signed note, or not by the keys that are known; says what is wrong."""


class BadCheckpoint(Exception):
    """This text is no checkpoint of that log, and why."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """Who signs, and the 32 bytes of the public key. Raises BadKey."""

    name: str
    public: bytes

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise BadKey(f"{self.name!r} is no name: it is empty, or has spaces or a plus")
        if len(self.public) != KEY_BYTES:
            raise BadKey(f"a public key has {KEY_BYTES} bytes, {len(self.public)} came")

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """The key that is written so. Raises BadKey."""
        name, *parts = text.split("+", 2)
        if len(parts) != 2:
            raise BadKey(f"{text!r} is not like NAME+ID+KEY")
        raw = _bytes(parts[1])
        if raw is None or raw[:1] != ED25519:
            raise BadKey(f"{text!r} has no Ed25519 key in base64")
        key = cls(name, raw[1:])
        if str(key) != text:
            raise BadKey(f"{text!r} doesn't have this key's id, which is {key.id.hex()}")
        return key

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{_text(ED25519 + self.public)}"

    @property
    def id(self) -> bytes:
        """4 bytes. With the name it says which key signed; it doesn't prove anything."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:ID_BYTES]

    def verifies(self, text: str, signature: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text.encode())
        except InvalidSignature:
            return False
        return True


class Signer:
    """A private key under its name. Its 32 bytes are in no repr, text or error."""

    def __init__(self, name: str, private: bytes) -> None:
        """`private` is 32 bytes (RFC 8032's secret key). Raises BadKey."""
        if len(private) != KEY_BYTES:
            raise BadKey(f"a private key has {KEY_BYTES} bytes, {len(private)} came")
        self._private = Ed25519PrivateKey.from_private_bytes(private)
        self.key = VerifierKey(name, self._private.public_key().public_bytes_raw())

    def signature(self, text: str) -> "Signature":
        return Signature(self.key.name, self.key.id, self._private.sign(text.encode()))


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature line. `id` is 4 bytes, `signature` as long as its kind is."""

    name: str
    id: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{_LINE_START}{self.name} {_text(self.id + self.signature)}\n"


@dataclass(frozen=True, slots=True)
class Note:
    """A text, who signed it, and the signatures of keys we don't know, which show nothing."""

    text: str
    verified: tuple[Signature, ...]
    unknown: tuple[Signature, ...] = ()


def sign(text: str, *signers: Signer) -> bytes:
    """The note with this text. Raises BadNote where the text can't stand in one."""
    if not _is_text(text) or not text.endswith("\n"):
        raise BadNote("a note's text ends with a newline and has no other control characters")
    assert signers, "a note is signed"
    return (text + "\n" + "".join([str(signer.signature(text)) for signer in signers])).encode()


def read(note: bytes, keys: Iterable[VerifierKey]) -> Note:
    """The note in these bytes, signed by at least one of `keys`. Raises BadNote.

    Signatures of other keys are put aside, as C2SP signed-note demands. Stricter than it: one false signature of a
    known key, or a second one of the same key, refuses the whole note.
    """
    text, signatures = _parts(note)
    known = _by_name_and_id(keys)
    verified: dict[tuple[str, bytes], Signature] = {}
    unknown = []
    for each in signatures:
        who = each.name, each.id
        if who not in known:
            unknown.append(each)
        elif who in verified:
            raise BadNote(f"{each.name} has signed twice")
        elif not known[who].verifies(text, each.signature):
            raise BadNote(f"the signature of {each.name} doesn't fit the text")
        else:
            verified[who] = each
    if not verified:
        raise BadNote(f"no known key has signed, only {[each.name for each in unknown]}")
    return Note(text, tuple(verified.values()), tuple(unknown))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Size and root hash (32 bytes) of a log, as it signs them. `origin` is the log's name; `extensions` lines more."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert all(line and "\n" not in line for line in (self.origin, *self.extensions)), "lines of a checkpoint"
        assert 0 <= self.size <= SIZE_MAX, "size of a checkpoint"
        assert len(self.root) == HASH_BYTES, "root of a checkpoint"

    @classmethod
    def parse(cls, text: str, origin: str) -> "Checkpoint":
        """The checkpoint in a note's text, of the log called `origin`. Raises BadCheckpoint."""
        lines = text.split("\n")
        if len(lines) < 4 or lines.pop() != "" or "" in lines:
            raise BadCheckpoint("a checkpoint has three lines or more, none of them empty")
        named, size, root, *extensions = lines
        if named != origin:
            raise BadCheckpoint(f"a checkpoint of {named!r}, not of {origin!r}")
        if not _SIZE.fullmatch(size) or int(size) > SIZE_MAX:
            raise BadCheckpoint(f"{size[:24]!r} is no size")
        hash_ = _bytes(root)
        if hash_ is None or len(hash_) != HASH_BYTES:
            raise BadCheckpoint(f"{root[:64]!r} is no hash of {HASH_BYTES} bytes in base64")
        return cls(origin, int(size), hash_, tuple(extensions))

    def __str__(self) -> str:
        """The text to be signed."""
        return "\n".join((self.origin, str(self.size), _text(self.root), *self.extensions, ""))


def _parts(note: bytes) -> tuple[str, list[Signature]]:
    if len(note) > NOTE_BYTES_MAX:
        raise BadNote(f"a note has {NOTE_BYTES_MAX} bytes at most, {len(note)} came")
    try:
        whole = note.decode()
    except UnicodeDecodeError as error:
        raise BadNote("not UTF-8") from error
    text, empty, lines = whole.rpartition("\n\n")
    if not empty or not lines.endswith("\n") or not _is_text(whole):
        raise BadNote("a note is a text, an empty line, and signature lines, without control characters")
    if lines.count("\n") > SIGNATURES_MAX:
        raise BadNote(f"a note has {SIGNATURES_MAX} signatures at most")
    return text + "\n", [_signature(line) for line in lines[:-1].split("\n")]


def _signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_LINE_START).partition(" ")
    raw = _bytes(encoded)
    if not line.startswith(_LINE_START) or not _is_name(name) or raw is None or len(raw) <= ID_BYTES:
        raise BadNote(f"{line[:64]!r} is no signature line")
    return Signature(name, raw[:ID_BYTES], raw[ID_BYTES:])


def _by_name_and_id(keys: Iterable[VerifierKey]) -> dict[tuple[str, bytes], VerifierKey]:
    known: dict[tuple[str, bytes], VerifierKey] = {}
    for key in keys:
        if known.setdefault((key.name, key.id), key) != key:
            raise BadKey(f"two keys are called {key.name}+{key.id.hex()}")
    return known


def _is_name(name: str) -> bool:
    return name != "" and _is_text(name) and "+" not in name and not any(each.isspace() for each in name)


def _is_text(text: str) -> bool:
    return _UNWRITABLE.search(text) is None


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes | None:
    """The bytes that are written so in base64, None for any other spelling."""
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return raw if _text(raw) == text else None
