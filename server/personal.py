"""What a player decides about himself over HTTP: the name, a new token in place of the old, and to be erased."""

import math

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from server.http import Nothing, Problem, bearer, parts_of, read_body, with_cookie
from server.identity import COOKIE, session
from server.naming import BadName
from server.people import Taken, TooSoon, token_of, token_text


class Name(msgspec.Struct, forbid_unknown_fields=True):
    name: str


async def _player(request: Request) -> bytes:
    """Raises Problem, WrongToken."""
    player = (await session(request, parts_of(request).people)).player
    if player is None:
        raise Problem(403, "no_session", "There is no player here yet.")
    return player


async def rename(request: Request) -> Response:
    wanted: Name = await read_body(request, Name)
    parts, player = parts_of(request), await _player(request)
    try:
        name = await parts.people.choose(player, wanted.name, parts.clock())
    except BadName as bad:
        raise Problem(400, "bad_name", str(bad)) from bad
    except Taken as taken:
        raise Problem(409, "name_taken", "Somebody has this name, or one that looks like it.") from taken
    except TooSoon as soon:
        headers = {"Retry-After": str(math.ceil(soon.wait_ms / 1000))}
        raise Problem(429, "too_soon", "A name can be changed once an hour.", headers) from soon
    return JSONResponse({"player": player.hex(), "name": name})


async def erase_me(request: Request) -> Response:
    await read_body(request, Nothing)
    parts, player = parts_of(request), await _player(request)
    await parts.people.erase(player)
    answer = JSONResponse({"erased": player.hex()})
    answer.delete_cookie(COOKIE)
    return answer


async def renew(request: Request) -> Response:
    await read_body(request, Nothing)
    parts, player = parts_of(request), await _player(request)
    with_bearer = "authorization" in request.headers
    old = token_of(bearer(request) if with_bearer else request.cookies[COOKIE])
    fresh = await parts.people.renew(old) if old is not None else None
    if fresh is None:
        raise Problem(403, "no_session", "It was renewed at the same moment.")
    if with_bearer:
        return JSONResponse({"player": player.hex(), "token": token_text(fresh)})
    return with_cookie(JSONResponse({"player": player.hex()}), request, fresh)


def routes() -> list[Route]:
    return [
        Route("/api/me/name", rename, methods=["PUT"]),
        Route("/api/me", erase_me, methods=["DELETE"]),
        Route("/api/session/renew", renew, methods=["POST"]),
    ]
