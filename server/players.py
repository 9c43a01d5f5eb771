"""Players as anybody reads them: records, trophies, ranks and finished games; and one's own. docs/protocol.md."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from events import ledger
from projections import history, records, rivals
from projections.leaderboard import LADDERS, MILLION, Board, measures
from projections.records import RECORDS, Badge, shown, win_rate
from projections.rivals import RIVALS
from projections.windows import ALL
from server import answers, past
from server.barring import standing
from server.http import Problem, game_named, parts_of
from server.identity import session
from server.parts import Parts
from server.query import asked, number, player_of, wait_ms
from server.view import View

COUNT = 20
COUNT_MAX = 100
WAIT = ("wait_game", "wait_ms")
LADDER = re.compile(r"[a-z]{1,20}(-[a-z]{1,20}){0,3}")
HOUSE = "-house"
"""What ladders of War against the computer end with: luck, without trophies and boards."""

Rows = tuple[int, str, Sequence[tuple[bytes, records.Row]], Sequence[tuple[bytes, rivals.Row]]]


async def record(parts: Parts, player: bytes) -> dict[str, Any]:
    """All that is kept of a player; empty lists for one of whom the ledger knows nothing. Raises NotReady."""

    def job(view: View) -> Rows:
        found = view.page(RECORDS, player), view.page(RIVALS, player)
        return view.as_of, view.leaf_hash.hex(), *found

    as_of, leaf_hash, kept, met = await parts.projector.view((RECORDS, RIVALS), job)
    by_ladder = {records.parts(key)[1]: row for key, row in kept}
    return {
        "player": player.hex(),
        "name": (await parts.people.called([player])).get(player),
        "barred": barred.reason if (barred := await standing(parts.ledger, player)) is not None else None,
        "as_of": as_of,
        "leaf_hash": leaf_hash,
        "ladders": [_ladder(name, row) for name, row in by_ladder.items() if not name.endswith(HOUSE)],
        "rivals": [_rival(key, row) for key, row in met],
        "luck": _luck(by_ladder),
        "ranks": await _ranks(parts, player, [name for name, row in by_ladder.items() if row.games]),
    }


def _ladder(ladder: str, row: records.Row) -> dict[str, Any]:
    seen = shown(ladder, row)
    return {
        "ladder": ladder,
        "colour": seen.colour,
        "stars": seen.stars,
        "trophies": seen.trophies._asdict(),
        "games": row.games,
        "wins": row.wins,
        "draws": row.draws,
        "win_rate": _millionths(*win_rate(row)),
        "streak": row.streak,
        "best_streak": row.best_streak,
        "streak_badge": _badge(seen.streak_badge),
        "win_rate_badge": _badge(seen.win_rate_badge),
        "imported": {
            "games": row.old_games,
            "wins": row.old_wins,
            "draws": row.old_draws,
            "stars": max(row.old_stars, row.old_total),
        },
    }


def _badge(badge: Badge | None) -> dict[str, int] | None:
    return None if badge is None else {"milestone": badge.milestone, "index": badge.entry, "at_ms": badge.at_ms}


def _millionths(wins: int, games: int) -> int | None:
    return wins * MILLION // games if games else None


def _rival(key: bytes, row: rivals.Row) -> dict[str, Any]:
    _, ladder, rival = rivals.parts(key)
    return {
        "ladder": ladder,
        "rival": rival,
        "games": row.games,
        "wins": row.wins,
        "win_rate": _millionths(row.wins, row.games),
        "imported": {"games": row.old_games, "wins": row.old_wins},
    }


def _luck(by_ladder: dict[str, records.Row]) -> list[dict[str, Any]]:
    return [
        {"ladder": ladder, "games": row.games, "wins": row.wins, "draws": row.draws}
        for ladder, row in by_ladder.items()
        if ladder.endswith(HOUSE)
    ]


async def _ranks(parts: Parts, player: bytes, ladders: Sequence[str]) -> list[dict[str, Any]]:
    """Where the player stands on the all-time boards of these ladders."""
    found = []
    for ladder in ladders:
        for measure in measures(ladder) if ladder in LADDERS else ():
            standings = await parts.boards.standings(Board(ladder, measure, ALL))
            place = standings.place(player)
            if place is not None:
                at = {"ladder": ladder, "measure": measure, "rank": place.rank, "position": place.position}
                at |= {"value": place.value, "index": place.entry, "size": len(standings)}
                found.append({**at, "as_of": standings.checkpoint.as_of})
    return found


async def games(parts: Parts, player: bytes, query: dict[str, str]) -> dict[str, Any]:
    """A page of a player's finished games, newest first. Raises Problem, NotReady."""
    ladder, count = _ladder_asked(query), number(query, "count", COUNT, 1, COUNT_MAX)
    below = number(query, "cursor", history.INDEX_MAX, 0, history.INDEX_MAX)
    page = await past.read(parts.projector, player, ladder, below, count)
    known = await parts.people.called([game.row.opponent for game in page.games if game.row.opponent])
    return {
        "player": player.hex(),
        "ladder": ladder,
        "as_of": page.as_of,
        "leaf_hash": page.leaf_hash.hex(),
        "games": [_game(game, known.get(game.row.opponent)) for game in page.games],
        "next": str(page.games[-1].index) if page.more else None,
    }


def _ladder_asked(query: dict[str, str]) -> str | None:
    """Raises Problem. A ladder in which nobody played is no error."""
    ladder = query.get("ladder")
    if ladder is not None and not LADDER.fullmatch(ladder):
        raise Problem(400, "bad_query", "A ladder is named like states-relaxed.")
    return ladder


def _game(game: past.Past, name: str | None) -> dict[str, Any]:
    row = game.row
    return {
        "game": row.game.hex(),
        "rules": row.rules,
        "ladder": game.ladder,
        "opponent": {"player": row.opponent.hex() or None, "name": name, "rival": row.rival or None},
        "result": row.result,
        "reason": row.reason,
        "counts": row.counts,
        "at_ms": row.at_ms,
        "index": game.index,
    }


# ---------------------------------------------------------------- endpoints


async def _waited(request: Request) -> None:
    """Read your writes: the closing of `wait_game` is folded, or `wait_ms` are over."""
    parts, seconds = parts_of(request), wait_ms(request) / 1000
    if "wait_game" not in request.query_params:
        return
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    game = game_named(request.query_params["wait_game"])
    if (await parts.log.head(game)).version == 0:
        seconds = 0  # Nothing will ever come of it.
    index = await parts.sequencer.entered(ledger.closing(game), seconds)
    if index is not None:
        await parts.projector.reached(index, max(0.0, end - loop.time()))


async def of_player(request: Request) -> Response:
    asked(request, WAIT)
    player = player_of(request.path_params["player"])
    await _waited(request)
    return answers.public(request, await record(parts_of(request), player))


async def games_of(request: Request) -> Response:
    query = asked(request, ("ladder", "cursor", "count", *WAIT))
    player = player_of(request.path_params["player"])
    await _waited(request)
    return answers.public(request, await games(parts_of(request), player, query))


async def me(request: Request) -> Response:
    found = await _mine(request)
    return answers.tagged(request, found or {"player": None}, {})


async def my_rivals(request: Request) -> Response:
    found = await _mine(request)
    if found is None:
        return answers.tagged(request, {"player": None, "rivals": []}, {})
    rows = [{**row, "mode": row["ladder"].rpartition("-")[2]} for row in found["rivals"]]
    return answers.tagged(request, {"player": found["player"], "rivals": rows}, {})


async def my_luck(request: Request) -> Response:
    found = await _mine(request)
    told = {"player": None, "luck": []} if found is None else {"player": found["player"], "luck": found["luck"]}
    return answers.tagged(request, told, {})


async def _mine(request: Request) -> dict[str, Any] | None:
    asked(request, WAIT)
    player = (await session(request, parts_of(request).people, reading=True)).player
    if player is None:
        return None
    await _waited(request)
    return await record(parts_of(request), player)


def routes() -> list[Route]:
    return [
        Route("/api/players/{player}", of_player),
        Route("/api/players/{player}/games", games_of),
        Route("/api/me", me),
        Route("/api/me/rivals", my_rivals),
        Route("/api/me/luck", my_luck),
    ]
