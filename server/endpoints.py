"""Every HTTP address: what it takes, what it answers, how it fails. A further address is one line in ENDPOINTS.

The OpenAPI description is made from here (server/openapi.py); tests/test_described.py holds real answers against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from server import leaderboards, players
from server.http import Join, Nothing, Recover
from server.personal import Name
from server.query import WAIT_MS_MAX
from server.responses import (
    Bars,
    Board,
    Boards,
    Code,
    Erased,
    Growth,
    Health,
    History,
    Joined,
    Leaf,
    Ledger,
    Lucks,
    Named,
    Nobody,
    Player,
    Record,
    Review,
    Rivals,
    Who,
    Witness,
)

# ---------------------------------------------------------------- problems

PROBLEMS: Mapping[str, str] = {
    "unknown_address": "There is nothing at this address: compare it with the description.",
    "wrong_method": "Use a method that the description has for this address.",
    "http_error": "The request is broken; the sentence says how.",
    "not_json": "Send JSON with `Content-Type: application/json`.",
    "bad_body": "Send a body as described; the sentence says what is wrong with it.",
    "too_large": "A body has at most 4,096 bytes.",
    "too_slow": "Send the whole body within 10 seconds.",
    "wrong_origin": "Where a cookie or an `Origin` comes along, only this server's own page may ask.",
    "wrong_token": "The token belongs to nobody: join again, or use another.",
    "no_session": "Join first: `POST /api/session`.",
    "too_many_players": "Join again after the seconds of `Retry-After`.",
    "bad_name": "Choose another name; the sentence says what is wrong with this one.",
    "name_taken": "Somebody has this name, or one that looks like it: choose another.",
    "too_soon": "A name can be changed once an hour: wait the seconds of `Retry-After`.",
    "unknown_game": "No game has this id; or, for a closed game's file, no signed leaf closes it yet: ask again later.",
    "not_over": "Ask again when the game is over.",
    "damaged": "The stored game doesn't hash. It stays as it is, for the operator to look at.",
    "not_signed": "Nothing is signed yet: ask again in a second.",
    "unknown_tile": "No signed tree has this tile: read the checkpoint and ask for one that its size has.",
    "unknown_leaf": "The signed ledger has fewer leaves: `GET /api/ledger` says how many.",
    "bad_size": "`size` is a whole number of at most 19 digits: the leaves of an older checkpoint, or 0.",
    "unknown_board": "`GET /api/boards` lists the ladders, measures and windows there are.",
    "unknown_player": "A player's id is 32 digits of lower-case hex.",
    "bad_query": "The sentence says what may stand behind the question mark here.",
    "not_ready": "Rows are being built anew: ask again after the seconds of `Retry-After`.",
    "bad_wait": "`wait_ms` is a whole number from 0 to 2000.",
    "try_again": "The store didn't answer: ask again after the seconds of `Retry-After`.",
}
"""By code: what to do. docs/protocol.md has the same."""


# ---------------------------------------------------------------- addresses


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str
    what: str
    answers: Mapping[int, Any]
    """By status: the type of a JSON answer, several where it may be one of them, or the media type of another."""
    problems: tuple[str, ...] = ()
    """"404 unknown_game": status and code."""
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    """Types of what may stand behind the question mark."""
    needed: tuple[str, ...] = ()
    """What of it must stand there."""
    session: bool = False
    """Whether it matters who asks: cookie or bearer token."""
    tagged: bool = False
    """Whether it has an ETag, and answers 304 to one that still holds."""

    @property
    def open_path(self) -> str:
        """With `{path}` for what Starlette writes `{path:path}`."""
        return self.path.replace(":path}", "}")


_STORE = ("503 try_again",)
_GAME = ("404 unknown_game", *_STORE)
_TOKEN = ("401 wrong_token",)
_PLAYER = ("404 unknown_player",)
_BODY = ("400 bad_body", "403 wrong_origin", "408 too_slow", "413 too_large", "415 not_json")
_MINE = (*_BODY, *_TOKEN, "403 no_session", *_STORE)
_LINES = "application/x-ndjson"
_BOARD = "/api/boards/{ladder}/{measure}/{window}"
_WAIT_MS: Mapping[str, Any] = {"wait_ms": Annotated[int, Meta(ge=0, le=WAIT_MS_MAX)]}
_WAIT: Mapping[str, Any] = {"wait_game": str, **_WAIT_MS}
"""Read your writes: at most so long for the closing of that game to be folded."""
_WAITED = ("400 bad_query", "400 bad_wait", "503 not_ready", *_GAME)
_PLACES = ("400 bad_query", "404 unknown_board", "503 not_ready", *_PLAYER, *_STORE)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        *("POST", "/api/session", "Join as a guest, by token for programs or by cookie for the page."),
        {200: Player, 201: Joined},
        (*_BODY, *_TOKEN, "429 too_many_players", *_STORE),
        Join,
        session=True,
    ),
    Endpoint("GET", "/api/session", "Who the request comes from.", {200: Who}, (*_TOKEN, *_STORE), session=True),
    Endpoint(
        *("POST", "/api/session/code", "The token that a recovery code is made of."),
        {200: Code},
        _MINE,
        Nothing,
        session=True,
    ),
    Endpoint(
        *(
            "POST",
            "/api/session/renew",
            "A new token, as the old one came: by cookie or in the answer.",
        ),
        {200: Joined},
        _MINE,
        Nothing,
        session=True,
    ),
    Endpoint(
        *("POST", "/api/session/recover", "Become the player of a token, by cookie."),
        {200: Player},
        (*_BODY, "403 wrong_token", *_STORE),
        Recover,
    ),
    Endpoint(
        *("PUT", "/api/me/name", "Choose what you are called."),
        {200: Named},
        (*_MINE, "400 bad_name", "409 name_taken", "429 too_soon"),
        Name,
        session=True,
    ),
    Endpoint(
        *("DELETE", "/api/me", "Erase what may change of you: name and token. Ends every session."),
        {200: Erased},
        _MINE,
        Nothing,
        session=True,
    ),
    *(
        Endpoint("GET", path, what, {200: answer}, (*_TOKEN, *_WAITED), query=_WAIT, session=True, tagged=True)
        for path, what, answer in (
            ("/api/me", "Your whole record.", (Record, Nobody)),
            ("/api/me/rivals", "Your record against each rival.", Rivals),
            ("/api/me/luck", "Your games of War against the computer.", Lucks),
        )
    ),
    Endpoint(
        *("GET", "/api/players/{player}", "A player's records, trophies and ranks."),
        {200: Record},
        (*_WAITED, *_PLAYER),
        query=_WAIT,
        tagged=True,
    ),
    Endpoint(
        *("GET", "/api/players/{player}/games", "A player's finished games, newest first, page by page."),
        {200: History},
        (*_WAITED, *_PLAYER),
        query={
            "ladder": Annotated[str, Meta(pattern=rf"^{players.LADDER.pattern}\Z")],
            "cursor": Annotated[int, Meta(ge=0)],
            "count": Annotated[int, Meta(ge=1, le=players.COUNT_MAX)],
            **_WAIT,
        },
        tagged=True,
    ),
    Endpoint(
        *("GET", "/api/players/{player}/bars", "Whether the operator bars a player, and every bar there was."),
        {200: Bars},
        (*_PLAYER, *_STORE),
    ),
    Endpoint("GET", "/api/boards", "Which boards there are.", {200: Boards}, ("400 bad_query",), tagged=True),
    Endpoint(
        *("GET", _BOARD, "Places of a board: a page, those around a player, or some players' own."),
        {200: Board},
        _PLACES,
        query={
            "start": Annotated[int, Meta(ge=0, le=leaderboards.POSITION_MAX)],
            "count": Annotated[int, Meta(ge=0, le=leaderboards.COUNT_MAX)],
            "around": str,
            "players": str,
        },
        tagged=True,
    ),
    Endpoint(
        *("GET", f"{_BOARD}/export", "A whole board, line by line; `after` goes on from a place."),
        {200: _LINES},
        _PLACES,
        query={"after": str},
    ),
    Endpoint("GET", "/api/games/{game}/export", "The saved game, at any time.", {200: _LINES}, _GAME),
    Endpoint(
        *("GET", "/api/games/{game}/review", "What each choice of a finished game cost."),
        {200: Review},
        (*_GAME, "409 not_over", "500 damaged"),
    ),
    Endpoint(
        *("GET", "/api/games/{game}/witness", "The opening's leaf under a signed checkpoint."),
        {200: Witness},
        (*_GAME, "400 bad_wait"),
        query=_WAIT_MS,
    ),
    Endpoint(
        *("GET", "/api/games/{game}/proof", "A closed game with its place in the ledger; until then the saved game."),
        {200: _LINES},
        _GAME,
    ),
    Endpoint("GET", "/games/{game}.jsonl", "A closed game, as it stays for ever.", {200: _LINES}, _GAME),
    Endpoint("GET", "/checkpoint", "The last signed note.", {200: "text/plain"}, ("404 not_signed",)),
    Endpoint("GET", "/ledger.vkey", "The ledger's public key.", {200: "text/plain"}),
    Endpoint(
        *("GET", "/tile/{path:path}", "A tile or an entry bundle (C2SP tlog-tiles)."),
        {200: "application/octet-stream"},
        ("404 unknown_tile",),
    ),
    Endpoint("GET", "/api/ledger", "How far the ledger is.", {200: Ledger}, _STORE),
    Endpoint(
        *("GET", "/api/ledger/consistency", "The proof that the signed ledger begins with one of `size` leaves."),
        {200: Growth},
        ("400 bad_size", *_STORE),
        query={"size": Annotated[int, Meta(ge=0)]},
        needed=("size",),
    ),
    Endpoint(
        *("GET", "/api/ledger/leaves/{index}", "A leaf of the signed ledger and its way to the root."),
        {200: Leaf},
        ("404 unknown_leaf", *_STORE),
    ),
    Endpoint("GET", "/api/openapi.json", "This description.", {200: dict[str, Any]}),
    Endpoint("GET", "/api/asyncapi.json", "The description of the socket.", {200: dict[str, Any]}),
    Endpoint("GET", "/embed/board.html", "A board, for a frame on another site.", {200: "text/html"}),
    Endpoint("GET", "/healthz", "Whether the server runs.", {200: Health}),
)
