"""The few HTTP addresses: sessions, saved games, reviews, the page. docs/protocol.md lists them."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from events.log import Unknown
from projections import saved
from projections.review import review
from rules.fairness import GAME_BYTES
from server.games import Damaged
from server.identity import COOKIE, COOKIE_SECONDS, WrongToken, same_origin, session
from server.parts import Parts
from server.people import token_of, token_text
from server.projector import NotReady

BODY_BYTES_MAX = 4096
BODY_SECONDS_MAX = 10

ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}


class Join(msgspec.Struct, forbid_unknown_fields=True):
    keep: str


class Recover(msgspec.Struct, forbid_unknown_fields=True):
    token: str


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


class Problem(Exception):
    """An answer that isn't the one hoped for: status, a stable code, and a sentence."""

    def __init__(self, status: int, code: str, what: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(what)
        self.headers = headers or {}
        self.status = status
        self.code = code
        self.what = what


def problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    headers = {**error.headers, **(ANY_ORIGIN if request.method in ("GET", "HEAD") else {})}
    return JSONResponse({"error": error.code, "what": error.what}, error.status, headers)


def wrong_token(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "wrong_token", "what": "This token belongs to nobody."}, 401)


def damaged(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "damaged", "what": f"The stored game doesn't hash: {error}."}, 500)


def not_ready(request: Request, error: Exception) -> Response:
    what = f"The rows of {error} are being built anew; ask again in a minute."
    return JSONResponse({"error": "not_ready", "what": what}, 503, {**ANY_ORIGIN, "retry-after": "60"})


def unanswered(request: Request, error: Exception) -> Response:
    """The store or the archive doesn't answer."""
    return JSONResponse({"error": "try_again", "what": f"{error}."}, 503, {"Retry-After": "1"})


def misdirected(request: Request, error: Exception) -> Response:
    """Another address or method than there is."""
    assert isinstance(error, HTTPException)
    if not request.url.path.startswith("/api/"):
        return PlainTextResponse(error.detail, error.status_code, headers=error.headers)
    code = {404: "unknown_address", 405: "wrong_method"}.get(error.status_code, "http_error")
    return JSONResponse({"error": code, "what": f"{error.detail}."}, error.status_code, headers=error.headers)


def parts_of(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


async def read_body(request: Request, type_: type[Any]) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Problem(415, "not_json", "Send JSON with Content-Type: application/json.")
    # A browser always names the page that posts; a program without a cookie names none.
    if (request.headers.get("origin") is not None or COOKIE in request.cookies) and not same_origin(request):
        raise Problem(403, "wrong_origin", "Only a page of this server may ask for this.")
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS_MAX):
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_BYTES_MAX:
                    raise Problem(413, "too_large", f"At most {BODY_BYTES_MAX} bytes.")
    except TimeoutError as error:
        raise Problem(408, "too_slow", f"A body comes within {BODY_SECONDS_MAX} seconds.") from error
    except ClientDisconnect as error:
        raise Problem(400, "bad_body", "It ended too early.") from error  # Nobody hears it.
    try:
        return msgspec.json.decode(body or b"{}", type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, "bad_body", str(error)) from error


def with_cookie(response: Response, request: Request, token: bytes) -> Response:
    response.set_cookie(
        COOKIE,
        token_text(token),
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https",
    )
    return response


async def join(request: Request) -> Response:
    parts = parts_of(request)
    wanted: Join = await read_body(request, Join)
    match wanted.keep:
        case "cookie":
            known = (await session(request, parts.people)).player
            if known is not None:
                return JSONResponse({"player": known.hex()})
            await _may_join(request)
            player, token = await parts.people.join(parts.clock())
            return with_cookie(JSONResponse({"player": player.hex()}, 201), request, token)
        case "bearer":
            await _may_join(request)
            player, token = await parts.people.join(parts.clock())
            return JSONResponse({"player": player.hex(), "token": token_text(token)}, 201)
        case _:
            raise Problem(400, "bad_body", 'keep is "cookie" or "bearer"')


async def _may_join(request: Request) -> None:
    """Raises Problem, Unknown."""
    address = request.client.host if request.client is not None else ""
    wait_seconds = await parts_of(request).joins.wait_seconds(address)
    if wait_seconds:
        headers = {"Retry-After": str(math.ceil(wait_seconds))}
        raise Problem(429, "too_many_players", "Too many new players came from this address.", headers)


async def who(request: Request) -> Response:
    player = (await session(request, parts_of(request).people, reading=True)).player
    return JSONResponse({"player": player.hex() if player else None})


async def code(request: Request) -> Response:
    await read_body(request, Nothing)
    if (await session(request, parts_of(request).people)).player is None:
        raise Problem(403, "no_session", "There is no player here yet.")
    # As in `session`: where both came, the bearer token is who is asking.
    return JSONResponse({"token": bearer(request) if "authorization" in request.headers else request.cookies[COOKIE]})


def bearer(request: Request) -> str:
    return request.headers["authorization"].partition(" ")[2].strip()


async def recover(request: Request) -> Response:
    wanted: Recover = await read_body(request, Recover)
    token = token_of(wanted.token)
    player = await parts_of(request).people.who(token) if token else None
    if token is None or player is None:
        raise Problem(403, "wrong_token", "This recovery code belongs to nobody.")
    return with_cookie(JSONResponse({"player": player.hex()}), request, token)


def game_of(request: Request) -> bytes:
    return game_named(request.path_params["game"])


def game_named(text: str) -> bytes:
    """Raises Problem."""
    if len(text) != 2 * GAME_BYTES or not all(digit in "0123456789abcdef" for digit in text):
        raise Problem(404, "unknown_game", "There is no such game.")
    return bytes.fromhex(text)


async def export(request: Request) -> Response:
    game = game_of(request)
    events = await parts_of(request).log.read(game)
    if not events:
        raise Problem(404, "unknown_game", "There is no such game.")
    headers = {**ANY_ORIGIN, "Content-Disposition": f'attachment; filename="{game.hex()}.jsonl"'}
    return PlainTextResponse(saved.save(game, events), headers=headers, media_type="application/x-ndjson")


async def reviewed(request: Request) -> Response:
    parts, game = parts_of(request), game_of(request)
    live = await parts.games.refreshed(game)
    if live is None:
        raise Problem(404, "unknown_game", "There is no such game.")
    if live.table.finished is None:
        raise Problem(409, "not_over", "The review comes when the game is over.")
    positions = review(game, await parts.log.read(game))
    costs = {at.battle: choice.cost for at in positions for choice in at.choices if choice.card == at.chosen}
    body = {
        "game": game.hex(),
        "rules": live.rules.name,
        "positions": [
            {
                "battle": at.battle,
                "round": at.round,
                "value": str(at.value),
                "chosen": at.chosen,
                "choices": [
                    {"card": choice.card, "worth": str(choice.worth), "cost": str(choice.cost)} for choice in at.choices
                ],
            }
            for at in positions
        ],
        "cost": str(sum(costs.values(), Fraction(0))),
    }
    return JSONResponse(body, headers=ANY_ORIGIN)


Endpoint = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    return [
        Route("/api/session", join, methods=["POST"]),
        Route("/api/session", who),
        Route("/api/session/code", code, methods=["POST"]),
        Route("/api/session/recover", recover, methods=["POST"]),
        Route("/api/games/{game}/export", export),
        Route("/api/games/{game}/review", reviewed),
    ]


PROBLEMS: Mapping[Any, Any] = {
    Problem: problem,
    WrongToken: wrong_token,
    Damaged: damaged,
    Unknown: unanswered,
    NotReady: not_ready,
    HTTPException: misdirected,
}
