"""Settings, all of them, from the environment; README has the table. Nothing else reads it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from events.redis_address import Address, BadAddress, address
from events.redis_durability import FSYNC, BadDurability, Durability, durability

SECRET_LENGTH_MIN = 16
ROOT = Path(__file__).resolve().parent.parent


class BadSetting(Exception):
    """A setting that can't be used, and what would be."""


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    """Directory of the log, what is folded from it, and the keys."""
    host: str
    port: int
    connections_max: int
    close_seconds: float
    """How long a peer that doesn't read is waited for, with a backlog or a close."""
    sweep_seconds: float
    """Between two looks at deadlines."""
    joins_max: int
    """New players that one address may make at once; then one a second."""
    keep_seconds: float
    """How long a closed game stays in the store, at least, before only the archive has it."""
    joined_writes: bool
    """Whether what waits for a connection is written at once; else frame by frame, as uvicorn does it."""
    archive_place: str | None = None
    """A directory, or an object store's URL; None: `archive` in the data directory."""
    metrics_token: str | None = None
    """Who has it may read the metrics from anywhere; None: this machine alone, without."""
    leave_seconds: float = 0
    """How long it tells balancers that it goes, before it closes its sockets."""
    proxies: str = "127.0.0.1"
    """Whose X-Forwarded-For is believed: addresses and networks, with commas, or `*`."""
    redis: Address | None = None
    """Where log, ledger, people and who waits for whom are; None: in the embedded files."""
    signs: bool = True
    """Whether this server signs the ledger, when no other does. The embedded file has but one."""
    durability: Durability = FSYNC
    """What an acknowledgement is worth on Redis. The embedded file always fsyncs."""

    @property
    def log(self) -> Path:
        return self.data / "statecraft.db"

    @property
    def boards(self) -> Path:
        """Rows folded from the ledger: it may be deleted, and is built anew at the next start."""
        return self.data / "boards.db"

    @property
    def people(self) -> Path:
        """Everything that names or knows a person, apart from the games, so that it can be erased."""
        return self.data / "people.db"

    @property
    def archive(self) -> str:
        return self.archive_place or str(self.data / "archive")

    @property
    def keys(self) -> Path:
        return self.data / "keys"


def settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Raises BadSetting."""
    given = os.environ if environment is None else environment
    return Settings(
        data=Path(given.get("STATECRAFT_DATA", str(ROOT / "data"))),
        host=given.get("STATECRAFT_HOST", "127.0.0.1"),
        port=_number(given, "STATECRAFT_PORT", 8000, 0, 65535),
        connections_max=_number(given, "STATECRAFT_CONNECTIONS_MAX", 20_000, 1, 10**6),
        close_seconds=_number(given, "STATECRAFT_CLOSE_SECONDS", 10, 0, 600),
        sweep_seconds=_number(given, "STATECRAFT_SWEEP_SECONDS", 5, 1, 3600),
        joins_max=_number(given, "STATECRAFT_JOINS_MAX", 200, 1, 10**6),
        keep_seconds=_number(given, "STATECRAFT_KEEP_SECONDS", 3600, 0, 10**9),
        joined_writes=_number(given, "STATECRAFT_JOINED_WRITES", 1, 0, 1) == 1,
        archive_place=given.get("STATECRAFT_ARCHIVE") or None,
        metrics_token=_secret(given, "STATECRAFT_METRICS_TOKEN"),
        leave_seconds=_number(given, "STATECRAFT_LEAVE_SECONDS", 0, 0, 600),
        proxies=given.get("STATECRAFT_PROXIES", "127.0.0.1"),
        redis=_redis(given.get("STATECRAFT_STORE", "")),
        signs=_signs(given),
        durability=_durability(given.get("STATECRAFT_DURABILITY", "")),
    )


def _secret(given: Mapping[str, str], name: str) -> str | None:
    text = given.get(name) or None
    if text is not None and (len(text) < SECRET_LENGTH_MIN or not text.isascii() or not text.isprintable()):
        # It isn't repeated: it may be nearly right.
        raise BadSetting(f"{name} has at least {SECRET_LENGTH_MIN} printable ASCII characters, or isn't set")
    return text


def _signs(given: Mapping[str, str]) -> bool:
    signs = _number(given, "STATECRAFT_SIGNS", 1, 0, 1) == 1
    if not signs and not given.get("STATECRAFT_STORE"):
        raise BadSetting("STATECRAFT_SIGNS is 0, and STATECRAFT_STORE isn't set: nobody else signs the embedded file")
    return signs


def _redis(url: str) -> Address | None:
    try:
        return address(url) if url else None
    except BadAddress as error:
        # The URL itself isn't repeated: a password may be in it.
        raise BadSetting(f"STATECRAFT_STORE is no Redis address: {error}") from error


def _durability(text: str) -> Durability:
    try:
        return durability(text or "fsync")
    except BadDurability as error:
        raise BadSetting(f"STATECRAFT_DURABILITY: {error}") from error


def _number(given: Mapping[str, str], name: str, otherwise: int, least: int, most: int) -> int:
    text = given.get(name)
    if text is None:
        return otherwise
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise BadSetting(f"{name} is {text!r}: a whole number from {least} to {most} belongs there")
    return int(text)
