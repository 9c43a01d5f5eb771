"""Every HTTP address: what it takes, what it answers, how it fails. A further address is one line in ENDPOINTS.

The OpenAPI description is made from here (server/openapi.py); tests/test_described.py holds real answers against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from server.http import Join, Nothing, Recover
from server.public import WAIT_MS_MAX

Hex16 = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Hex32 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Base64 = Annotated[str, Meta(pattern=r"^[A-Za-z0-9+/]*={0,2}\Z")]
Count = Annotated[int, Meta(ge=0)]
Token = Annotated[str, Meta(min_length=43, max_length=43)]
Fraction = Annotated[str, Meta(pattern=r"^-?[0-9]+(/[0-9]+)?\Z")]

# ---------------------------------------------------------------- answers


class Answer(Struct, forbid_unknown_fields=True):
    pass


class Problem(Answer):
    """What every error of `/api` looks like."""

    error: str
    """A stable code."""
    what: str


class Player(Answer):
    player: Hex16


class Joined(Answer):
    player: Hex16
    token: Token | UnsetType = UNSET


class Who(Answer):
    player: Hex16 | None


class Code(Answer):
    token: Token


class Rival(Answer):
    ladder: str
    mode: str
    rival: str
    games: Count
    wins: Count


class Rivals(Answer):
    player: Hex16 | None
    rivals: list[Rival]


class Luck(Answer):
    ladder: str
    games: Count
    wins: Count
    draws: Count


class Lucks(Answer):
    player: Hex16 | None
    luck: list[Luck]


class Choice(Answer):
    card: int
    worth: Fraction
    cost: Fraction


class Position(Answer):
    battle: int
    round: int
    value: Fraction
    chosen: int | None
    choices: list[Choice]


class Review(Answer):
    game: Hex16
    rules: str
    positions: list[Position]
    cost: Fraction


class Ledger(Answer):
    key: str
    leaves: Count
    signed: Count
    partitions_waiting: Count
    partitions_stopped: dict[str, str]
    not_signed_because: str | None


class Witness(Answer):
    game: Hex16
    witnessed: bool
    key: str
    index: Count | UnsetType = UNSET
    entry: Base64 | UnsetType = UNSET
    proof: list[Base64] | UnsetType = UNSET
    checkpoint: str | UnsetType = UNSET


class Health(Answer):
    ok: bool


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
    "unknown_game": "No game has this id; or, for a closed game's file, no signed leaf closes it yet: ask again later.",
    "not_over": "Ask again when the game is over.",
    "damaged": "The stored game doesn't hash. It stays as it is, for the operator to look at.",
    "not_signed": "Nothing is signed yet: ask again in a second.",
    "unknown_tile": "No signed tree has this tile: read the checkpoint and ask for one that its size has.",
    "bad_wait": "`wait_ms` is a whole number from 0 to 2000.",
}
"""By code: what to do. docs/protocol.md has the same."""


# ---------------------------------------------------------------- addresses


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str
    what: str
    answers: Mapping[int, Any]
    """By status: the type of a JSON answer, or the media type of another."""
    problems: tuple[str, ...] = ()
    """"404 unknown_game": status and code."""
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    """Types of what may stand behind the question mark."""
    session: bool = False
    """Whether it matters who asks: cookie or bearer token."""

    @property
    def open_path(self) -> str:
        """With `{path}` for what Starlette writes `{path:path}`."""
        return self.path.replace(":path}", "}")


_GAME = ("404 unknown_game",)
_TOKEN = ("401 wrong_token",)
_BODY = ("400 bad_body", "403 wrong_origin", "408 too_slow", "413 too_large", "415 not_json")
_LINES = "application/x-ndjson"

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        *("POST", "/api/session", "Join as a guest, by token for programs or by cookie for the page."),
        {200: Player, 201: Joined},
        (*_BODY, *_TOKEN),
        Join,
        session=True,
    ),
    Endpoint("GET", "/api/session", "Who the request comes from.", {200: Who}, _TOKEN, session=True),
    Endpoint(
        *("POST", "/api/session/code", "The token that a recovery code is made of."),
        {200: Code},
        (*_BODY, *_TOKEN, "403 no_session"),
        Nothing,
        session=True,
    ),
    Endpoint(
        *("POST", "/api/session/recover", "Become the player of a token, by cookie."),
        {200: Player},
        (*_BODY, "403 wrong_token"),
        Recover,
    ),
    Endpoint("GET", "/api/me/rivals", "Your record against each rival.", {200: Rivals}, _TOKEN, session=True),
    Endpoint("GET", "/api/me/luck", "Your games of War against the computer.", {200: Lucks}, _TOKEN, session=True),
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
        query={"wait_ms": Annotated[int, Meta(ge=0, le=WAIT_MS_MAX)]},
    ),
    Endpoint("GET", "/games/{game}.jsonl", "A closed game, as it stays for ever.", {200: _LINES}, _GAME),
    Endpoint("GET", "/checkpoint", "The last signed note.", {200: "text/plain"}, ("404 not_signed",)),
    Endpoint("GET", "/ledger.vkey", "The ledger's public key.", {200: "text/plain"}),
    Endpoint(
        *("GET", "/tile/{path:path}", "A tile or an entry bundle (C2SP tlog-tiles)."),
        {200: "application/octet-stream"},
        ("404 unknown_tile",),
    ),
    Endpoint("GET", "/api/ledger", "How far the ledger is.", {200: Ledger}),
    Endpoint("GET", "/api/openapi.json", "This description.", {200: dict[str, Any]}),
    Endpoint("GET", "/api/asyncapi.json", "The description of the socket.", {200: dict[str, Any]}),
    Endpoint("GET", "/healthz", "Whether the server runs.", {200: Health}),
)
