"""What an acknowledgement is worth on Redis, and what must be set for it. The only place that knows these settings.

memory              one server has it in memory
fsync               one server has it on its disk
replicated N        N replicas have it as well, in memory
replicated N fsync  it is on the disks of the primary and N replicas (WAITAOF: Redis 7.2, Valkey)
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from events.redis_connection import Confirmation, Connection

REDIS_VERSION_MIN = (7, 0)


class BadDurability(Exception):
    """A durability that isn't one, and which there are."""


@dataclass(frozen=True, slots=True)
class Durability:
    """`replicas` have what is acknowledged, beside the primary; with `fsync` it is on disk wherever it counts."""

    replicas: int
    fsync: bool

    def confirmation(self, seconds_max: float) -> Confirmation | None:
        """None: the reply itself says enough. A server that fsyncs always doesn't answer before it has."""
        return Confirmation(self.replicas, self.fsync, int(1000 * seconds_max)) if self.replicas else None

    def __str__(self) -> str:
        words = ([f"replicated {self.replicas}"] if self.replicas else []) + (["fsync"] if self.fsync else [])
        return " ".join(words) or "memory"


FSYNC = Durability(0, True)


def durability(text: str) -> Durability:
    """Raises BadDurability."""
    match text.lower().split():
        case ["memory"]:
            return Durability(0, False)
        case ["fsync"]:
            return Durability(0, True)
        case ["replicated", count, *fsync] if (
            count.isascii() and count.isdigit() and 1 <= int(count) <= 99 and fsync in ([], ["fsync"])
        ):
            return Durability(int(count), bool(fsync))
        case _:
            raise BadDurability(
                f"{text!r} is no durability: memory, fsync, replicated N, replicated N fsync (N from 1)"
            )


@dataclass(frozen=True, slots=True)
class Facts:
    """What a primary says of itself."""

    version: tuple[int, ...]
    role: str
    config: Mapping[str, str]
    """Of CONFIG GET: the settings in SETTINGS that this server has."""
    replicas: int
    """Connected now, and not still being filled."""
    waitaof: bool


SETTINGS = (
    "maxmemory",
    "maxmemory-policy",
    "appendonly",
    "appendfsync",
    "no-appendfsync-on-rewrite",
    "min-replicas-to-write",
    "min-replicas-max-lag",
)


@dataclass(frozen=True, slots=True)
class Finding:
    what: str
    found: str
    remedy: str = ""
    """What to change; empty where it is well."""
    must: bool = True
    """Whether it keeps a server from starting; else it is advice."""

    @property
    def refused(self) -> bool:
        return bool(self.remedy) and self.must


def findings(durability: Durability, facts: Facts) -> list[Finding]:
    """Everything that was looked at, whether it holds or not."""
    return [*_always(facts), *_on_disk(durability, facts), *_replicated(durability, facts)]


def _always(facts: Facts) -> Iterator[Finding]:
    version = ".".join(map(str, facts.version))
    old = facts.version < REDIS_VERSION_MIN
    yield Finding("version", version, "use Redis 7.0 or newer, or Valkey" if old else "")
    wrong = facts.role != "master"
    yield Finding("role", facts.role, "give the primary's address, or the Sentinels'" if wrong else "")
    policy = facts.config.get("maxmemory-policy", "unknown")
    # Any other policy would throw games away where memory is short.
    yield Finding("maxmemory-policy", policy, "" if policy == "noeviction" else "set maxmemory-policy noeviction")
    bound = facts.config.get("maxmemory", "0")
    remedy = "set maxmemory, so that a full server refuses moves and isn't killed" if bound == "0" else ""
    yield Finding("maxmemory", bound, remedy, must=False)


def _on_disk(durability: Durability, facts: Facts) -> Iterator[Finding]:
    kept = facts.config.get("appendonly", "unknown")
    if not durability.fsync:
        remedy = "" if kept == "yes" else "set appendonly yes, or a restart of the server forgets every running game"
        yield Finding("appendonly", kept, remedy, must=False)
        return
    yield Finding("appendonly", kept, "" if kept == "yes" else "set appendonly yes")
    if durability.replicas:
        known = "known" if facts.waitaof else "unknown"
        yield Finding("WAITAOF", known, "" if facts.waitaof else "use Redis 7.2 or newer, or Valkey, or no `fsync`")
        return
    when = facts.config.get("appendfsync", "unknown")
    yield Finding("appendfsync", when, "" if when == "always" else "set appendfsync always, or state `memory`")
    skipped = facts.config.get("no-appendfsync-on-rewrite", "unknown")
    yield Finding("no-appendfsync-on-rewrite", skipped, "" if skipped == "no" else "set no-appendfsync-on-rewrite no")


def _replicated(durability: Durability, facts: Facts) -> Iterator[Finding]:
    wanted = durability.replicas
    if not wanted:
        return
    few = facts.replicas < wanted
    yield Finding("replicas connected", str(facts.replicas), f"connect {wanted} replicas" if few else "")
    # A primary that was cut off from its replicas must stop taking moves, or two servers go on with the same games.
    least = facts.config.get("min-replicas-to-write", "0")
    few = not least.isdigit() or int(least) < wanted
    yield Finding("min-replicas-to-write", least, f"set min-replicas-to-write {wanted}" if few else "")
    lag = facts.config.get("min-replicas-max-lag", "0")
    yield Finding("min-replicas-max-lag", lag, "set min-replicas-max-lag 10" if lag == "0" else "")


def refusal(found: list[Finding]) -> str | None:
    """Why a server with these findings may not be used, naming every setting that is to be changed."""
    refused = [f"{each.what} is {each.found}: {each.remedy}" for each in found if each.refused]
    return "; ".join(refused) or None


async def facts(connection: Connection, said: dict[bytes, Any]) -> Facts:
    """What `findings` judges. `said`: the server's greeting. What it won't tell is left out, and so refused."""
    config, info, known = await asyncio.gather(
        connection.send("CONFIG", "GET", *SETTINGS),
        connection.send("INFO", "replication"),
        connection.send("COMMAND", "INFO", "WAITAOF"),
    )
    return Facts(
        version=tuple(int(part) for part in _text(said[b"version"]).split(".")[:3]),
        role=_text(said[b"role"]),
        config={_text(name): _text(value) for name, value in config.items()} if isinstance(config, dict) else {},
        replicas=_text(info).count("state=online,"),
        waitaof=isinstance(known, list) and known[0] is not None,
    )


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
