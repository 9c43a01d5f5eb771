"""Where a Redis is: the URL a deployment gives, read once. The only place that knows its forms.

    redis://[USER:PASSWORD@]HOST[:PORT][/DB]                  one server
    redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/NAME       the primary that these Sentinels name
    redis+cluster://[USER:PASSWORD@]HOST[:PORT],…             a cluster, found through any of these nodes

`rediss` instead of `redis` speaks TLS. `?sentinel_password=…` is for Sentinels that want one of their own.
"""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

PORT = 6379
SENTINEL_PORT = 26379

Kind = Literal["server", "sentinel", "cluster"]
_KINDS: dict[str, Kind] = {"": "server", "sentinel": "sentinel", "cluster": "cluster"}


class BadAddress(Exception):
    """A URL that names no Redis, and what would."""


@dataclass(frozen=True, slots=True)
class Place:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one server is greeted with. Never shown."""

    user: str | None = None
    password: str | None = None
    db: int = 0
    tls: bool = False

    def __repr__(self) -> str:
        return "Credentials(…)"


@dataclass(frozen=True, slots=True)
class Address:
    kind: Kind
    places: tuple[Place, ...]
    credentials: Credentials
    name: str = ""
    """Of the primary, as Sentinels know it."""
    sentinel: Credentials = Credentials()

    def __str__(self) -> str:
        """Without the password."""
        scheme = ("rediss" if self.credentials.tls else "redis") + ("" if self.kind == "server" else f"+{self.kind}")
        path = f"/{self.name}" if self.name else f"/{self.credentials.db}" if self.credentials.db else ""
        return f"{scheme}://{','.join(map(str, self.places))}{path}"


_PARTS = re.compile(r"(?:([^:/?#]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.DOTALL)


def is_redis(url: str) -> bool:
    return url.partition("://")[0].partition("+")[0] in ("redis", "rediss")


def address(url: str) -> Address:
    """Raises BadAddress."""
    scheme, authority, path, query = _parts(url)
    protocol, _, kind_name = scheme.partition("+")
    kind = _KINDS.get(kind_name)
    if protocol not in ("redis", "rediss") or kind is None or scheme.endswith("+"):
        raise BadAddress(f"redis://, redis+sentinel:// or redis+cluster:// begins a Redis address, not {scheme}:")
    user_info, _, hosts = authority.rpartition("@")
    user, _, password = user_info.partition(":")
    places = tuple(_place(host, SENTINEL_PORT if kind == "sentinel" else PORT) for host in hosts.split(","))
    if kind == "server" and len(places) > 1:
        raise BadAddress("redis:// names one server: several are redis+sentinel:// or redis+cluster://")
    tls = protocol == "rediss"
    path = path.strip("/")
    return Address(
        kind,
        places,
        Credentials(unquote(user) or None, unquote(password) or None, _db(path, kind), tls),
        _name(path) if kind == "sentinel" else "",
        Credentials(password=_sentinel_password(query), tls=tls),
    )


def _parts(url: str) -> tuple[str, str, str, str]:
    """Scheme, authority, path and query (RFC 3986 appendix B). The library's own reader takes no list of hosts."""
    scheme, authority, path, query = _PARTS.fullmatch(url).groups("")  # type: ignore[union-attr]
    return scheme.lower(), authority, path, query


def _place(text: str, port: int) -> Place:
    try:
        split = urlsplit(f"//{text}")
        host, given = split.hostname, split.port
    except ValueError as error:
        raise BadAddress(f"{text!r} is no HOST:PORT: {error}") from error
    if not host:
        raise BadAddress(f"{text!r} names no host")
    return Place(host, given or port)


def _db(path: str, kind: Kind) -> int:
    if kind == "sentinel" or not path:
        return 0
    if kind == "cluster":
        raise BadAddress("a cluster has no numbered databases")
    if not (path.isascii() and path.isdigit()):
        raise BadAddress(f"/{path} is no number of a database")
    return int(path)


def _name(path: str) -> str:
    if not path or "/" in path:
        raise BadAddress("redis+sentinel://HOST:PORT,…/NAME needs the primary's NAME")
    return unquote(path)


def _sentinel_password(query: str) -> str | None:
    given = parse_qs(query)
    if unknown := given.keys() - {"sentinel_password"}:
        raise BadAddress(f"{', '.join(sorted(unknown))} is no option of a Redis address")
    return given["sentinel_password"][0] if given else None
