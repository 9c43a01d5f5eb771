"""Who is asking: a bearer token, a cookie of this origin, or nobody."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from server.people import People, token_hash, token_of

COOKIE = "statecraft"
COOKIE_SECONDS = 400 * 24 * 3600
"""The longest a browser keeps one (RFC 6265bis section 5.5)."""


class WrongToken(Exception):
    """A bearer token that belongs to nobody."""


@dataclass(frozen=True, slots=True)
class Session:
    player: bytes | None
    token_hash: bytes = b""
    """Of the player's token; empty: there is no player."""
    why_not: str | None = None
    """Why a cookie that came doesn't count."""


def same_origin(connection: HTTPConnection) -> bool:
    """Whether the browser says that a page of this server is asking."""
    origin = connection.headers.get("origin")
    try:
        return origin is not None and urlsplit(origin).netloc == connection.headers.get("host")
    except ValueError:
        return False  # Such as "http://[": no page has this origin.


async def session(connection: HTTPConnection, people: People, reading: bool = False) -> Session:
    """Raises WrongToken. A cookie speaks only for a page of this origin; a foreign one may look on like anybody.

    `reading`: a GET, whose answer browsers show to no other origin, and which carries no Origin from our own page."""
    scheme, _, text = connection.headers.get("authorization", "").partition(" ")
    if scheme:
        token = token_of(text.strip()) if scheme.lower() == "bearer" else None
        player = await people.who(token) if token else None
        if token is None or player is None:
            raise WrongToken
        return Session(player, token_hash(token))
    cookie = connection.cookies.get(COOKIE)
    if cookie is None:
        return Session(None)
    if not reading and not same_origin(connection):
        return Session(None, why_not="wrong_origin")
    token = token_of(cookie)
    player = await people.who(token) if token else None
    if token is None or player is None:
        return Session(None, why_not="wrong_token")
    return Session(player, token_hash(token))
