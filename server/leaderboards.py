"""The boards as anybody reads them, from any origin. docs/protocol.md has the shapes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from projections import leaderboard, windows
from projections.leaderboard import LADDERS, WIN_RATE_GAMES_MIN, WINDOWED, BadBoard, Board, measures
from projections.trophies import COLOURS
from projections.windows import ALL, NAMES, BadWindow
from server import answers
from server.http import ANY_ORIGIN, Problem, parts_of
from server.parts import Parts
from server.query import asked, number, player_of
from server.ranks import Places, Ranks
from server.view import NotReady

COUNT = 10
COUNT_MAX = 100
POSITION_MAX = 10**9
EXPORT_PLACES = 1000
"""Read at once, so that nobody else waits for a long export."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A board, and how it was asked for."""

    board: Board
    window: str
    """As asked: `week` and `day` are others later on."""

    @property
    def until_ms(self) -> int | None:
        """When what was asked for turns into another board."""
        span = windows.span(self.board.window)
        return span.until_ms if span is not None and self.window != self.board.window else None

    def told(self, at: Places) -> dict[str, Any]:
        return {
            "ladder": self.board.ladder,
            "measure": self.board.measure,
            "window": self.board.window,
            "asked": self.window,
            "until_ms": self.until_ms,
            "as_of": at.as_of,
            "leaf_hash": at.leaf_hash.hex(),
            "size": at.size,
        }


def asked_board(ladder: str, measure: str, window: str, now_ms: int) -> Asked:
    """Raises Problem."""
    try:
        return Asked(leaderboard.board(ladder, measure, window, now_ms), window)
    except (BadBoard, BadWindow) as error:
        raise Problem(404, "unknown_board", f"There is no such board: {error}.") from error


def _asked(request: Request) -> Asked:
    given = request.path_params
    return asked_board(given["ladder"], given["measure"], given["window"], parts_of(request).clock())


async def boards(request: Request) -> Response:
    asked(request, ())
    _, week, day = windows.windows(parts_of(request).clock())
    ladders = [
        {
            "ladder": ladder,
            "colour": COLOURS.get(ladder),
            "measures": [
                {"measure": measure, "windows": NAMES if measure in WINDOWED else (ALL,)}
                for measure in measures(ladder)
            ],
        }
        for ladder in LADDERS
    ]
    body = {"ladders": ladders, "week": week, "day": day, "win_rate_games_min": WIN_RATE_GAMES_MIN}
    return answers.public(request, body)


async def board(request: Request) -> Response:
    parts, wanted = parts_of(request), _asked(request)
    query = asked(request, ("start", "count", "around", "players"))
    if sum(name in query for name in ("start", "around", "players")) > 1:
        raise Problem(400, "bad_query", "Ask for start, around or players, not for two of them.")
    found = await _places(parts.boards, wanted.board, query)
    return answers.public(request, {**wanted.told(found), "places": await told(parts, found)})


async def _places(ranks: Ranks, board: Board, query: dict[str, str]) -> Places:
    count = number(query, "count", COUNT, 0, COUNT_MAX)
    if "players" in query:
        if "count" in query:
            raise Problem(400, "bad_query", "players has no count: each of them comes who is on the board.")
        ids = query["players"].split(",") if query["players"] else []
        if len(ids) > COUNT_MAX:
            raise Problem(400, "bad_query", f"At most {COUNT_MAX} players at once.")
        return await ranks.of(board, [player_of(each) for each in ids])
    if "around" in query:
        return await ranks.around(board, player_of(query["around"]), count)
    return await ranks.page(board, number(query, "start", 0, 0, POSITION_MAX), count)


async def told(parts: Parts, found: Places) -> list[dict[str, Any]]:
    known = await parts.people.called([place.player for place in found.places])
    return [
        {
            "rank": place.rank,
            "position": place.position,
            "player": place.player.hex(),
            "name": known.get(place.player),
            "value": place.value,
            "index": place.entry,
        }
        for place in found.places
    ]


# ---------------------------------------------------------------- a whole board


@dataclass(frozen=True, slots=True)
class After:
    """The last place that somebody holds, and when they began."""

    as_of: int
    score: int
    player: bytes

    @classmethod
    def parse(cls, text: str) -> "After":
        """`AS_OF.VALUE.INDEX.PLAYER`. Raises Problem."""
        fields = text.split(".")
        if len(fields) != 4:
            raise Problem(400, "bad_query", "after is AS_OF.VALUE.INDEX.PLAYER: the header's as_of, the last place's.")
        bounds = {"as_of": leaderboard.INDEX_MAX, "value": leaderboard.VALUE_MAX, "index": leaderboard.INDEX_MAX}
        given = dict(zip(bounds, fields, strict=False))
        as_of, value, index = (number(given, name, 0, 0, most) for name, most in bounds.items())
        return cls(as_of, leaderboard.score(value, index), player_of(fields[3]))


async def export(request: Request) -> Response:
    """NDJSON: a header, then the places from the first to the last, then how it ended."""
    parts, wanted = parts_of(request), _asked(request)
    query = asked(request, ("after",))
    after = After.parse(query["after"]) if "after" in query else None
    first = await parts.boards.page(wanted.board, 0, 0)
    return StreamingResponse(
        _lines(parts, wanted, first, after), media_type="application/x-ndjson", headers=dict(ANY_ORIGIN)
    )


async def _lines(parts: Parts, wanted: Asked, first: Places, after: After | None) -> AsyncIterator[bytes]:
    """Ends without its last line where it had to stop: whoever reads it then goes on from the last place."""
    ranks, board = parts.boards, wanted.board
    begun = after.as_of if after is not None else first.as_of
    moved = first.moved_as_of > begun
    yield _line({**wanted.told(first), "as_of": begun, "moved": moved})
    while True:
        try:
            if after is None:
                found = await ranks.page(board, 0, EXPORT_PLACES)
            else:
                found = await ranks.following(board, after.score, after.player, EXPORT_PLACES)
        except NotReady:
            return
        # A rebuild may have taken over, or was taken back, with other places at the same position.
        moved = moved or found.moved_as_of > begun or found.generation != first.generation
        lines = [_line(place) for place in await told(parts, found)]
        if not lines:
            break
        yield b"".join(lines)
        last = found.places[-1]
        after = After(begun, leaderboard.score(last.value, last.entry), last.player)
    yield _line({"end": True, **_end(found), "moved": moved})


def _end(at: Places) -> dict[str, Any]:
    return {"as_of": at.as_of, "leaf_hash": at.leaf_hash.hex(), "size": at.size}


def _line(body: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(body) + b"\n"


def routes() -> list[Route]:
    return [
        Route("/api/boards", boards),
        Route("/api/boards/{ladder}/{measure}/{window}", board),
        Route("/api/boards/{ladder}/{measure}/{window}/export", export),
    ]
