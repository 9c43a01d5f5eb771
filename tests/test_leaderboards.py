"""Boards over HTTP against a straightforward recount: pages, neighbours, friends, exports, tags, and bad questions."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from starlette.applications import Starlette

from events.database import Database
from events.entries import LedgerEntry
from projections import windows
from projections.leaderboard import LADDERS, LEADERBOARD, Board, measures
from projections.projection import fold
from projections.standings import Place
from server import http, leaderboards
from server.boards import Boards
from server.leaderboards import Asked
from server.parts import Parts
from server.people import People
from server.projector import Projector
from server.sqlite_people import SqlitePeople
from server.stores import PEOPLE_SCHEMAS
from tests.entries import MONDAY_MS, ListLedger, house, player, synthetic
from tests.folded import opened
from tests.test_projector import places

pytestmark = pytest.mark.anyio

PEOPLE = 40
WEEK = windows.resolve("week", MONDAY_MS)


class Served:
    """The boards' addresses over real boards, of a ledger and a clock that a test can move."""

    def __init__(self, projector: Projector, boards: Boards, ledger: ListLedger, people: People) -> None:
        self.projector, self.ledger = projector, ledger
        self.now_ms = MONDAY_MS
        parts = SimpleNamespace(boards=boards, projector=projector, clock=lambda: self.now_ms, people=people)
        self.parts = cast(Parts, parts)
        app = Starlette(routes=leaderboards.routes(), exception_handlers=dict(http.PROBLEMS))
        app.state.parts = self.parts
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://boards")

    async def get(self, path: str, **query: Any) -> Any:
        answer = await self.http.get(f"/api/boards/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def export(self, path: str, **query: Any) -> list[Any]:
        answer = await self.http.get(f"/api/boards/{path}/export", params=query)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/x-ndjson"
        return [json.loads(line) for line in answer.text.splitlines()]

    async def grow(self, *entries: LedgerEntry) -> None:
        self.ledger.entries += entries
        await self.projector.advance()


@asynccontextmanager
async def served(folder: Path, entries: list[LedgerEntry]) -> AsyncIterator[Served]:
    async with opened(folder) as database:
        ledger = ListLedger(entries)
        projector = Projector(database, ledger)
        boards = Boards(database, projector)
        await projector.advance()
        people = await Database.open(folder / "people.db", PEOPLE_SCHEMAS)
        try:
            yield Served(projector, boards, ledger, SqlitePeople(people))
        finally:
            await people.close()


def told(place: Place) -> dict[str, Any]:
    return {
        "rank": place.rank,
        "position": place.position,
        "player": place.player.hex(),
        "name": None,
        "value": place.value,
        "index": place.entry,
    }


def recount(board: Board, entries: list[LedgerEntry]) -> list[dict[str, Any]]:
    return [told(place) for place in places(board, fold(LEADERBOARD, enumerate(entries)))]


async def test_every_board_there_is_can_be_read_and_is_that_of_a_recount(tmp_path: Path) -> None:
    async with served(tmp_path, synthetic(3000, PEOPLE)) as at:
        listed = (await at.http.get("/api/boards")).json()
        assert [each["ladder"] for each in listed["ladders"]] == list(LADDERS)
        assert (listed["week"], listed["day"]) == (WEEK, windows.resolve("day", MONDAY_MS))
        rows = fold(LEADERBOARD, enumerate(at.ledger.entries))
        full = 0
        for ladder in listed["ladders"]:
            assert [each["measure"] for each in ladder["measures"]] == list(measures(ladder["ladder"]))
            for measure in ladder["measures"]:
                for window in measure["windows"]:
                    path = f"{ladder['ladder']}/{measure['measure']}/{window}"
                    body = await at.get(path, count=100)
                    resolved = windows.resolve(window, MONDAY_MS)
                    board = Board(ladder["ladder"], measure["measure"], resolved)
                    expected = [told(place) for place in places(board, rows)]
                    assert body["places"] == expected
                    assert body["size"] == len(expected)
                    assert (body["ladder"], body["measure"], body["window"], body["asked"]) == (*board, window)
                    assert body["as_of"] == 3000
                    full += bool(expected)
                    assert [line["player"] for line in (await at.export(path))[1:-1]] == [
                        place["player"] for place in expected
                    ]
        assert full > 25, "most boards of this ledger have somebody on them"


async def test_pages_neighbours_and_friends_are_those_of_a_recount(tmp_path: Path) -> None:
    path, board = "states-versus/rating/all", Board("states-versus", "rating", "all")
    async with served(tmp_path, synthetic(1500, PEOPLE)) as at:
        every = recount(board, at.ledger.entries)
        assert len(every) > 15, "the barred stand on no board, the others do"
        for start in range(len(every) + 2):
            for count in (0, 1, 7, 100):
                body = await at.get(path, start=start, count=count)
                assert body["places"] == every[start : start + count]
        assert (await at.get(path))["places"] == every[:10]
        for place in every:
            for count in (0, 2, 100):
                around = every[max(0, place["position"] - count) : place["position"] + count + 1]
                assert (await at.get(path, around=place["player"], count=count))["places"] == around
        nobody = bytes(16).hex()
        assert (await at.get(path, around=nobody))["places"] == []
        friends = [player(number).hex() for number in (5, 1, 5, 33)]
        found = (await at.get(path, players=",".join([*friends, nobody])))["places"]
        assert found == [place for place in every if place["player"] in friends]
        assert (await at.get(path, players=""))["places"] == []


async def test_a_board_says_when_what_was_asked_for_turns(tmp_path: Path) -> None:
    early, late = house(player(1), True, at_ms=MONDAY_MS - 1), house(player(2), True, at_ms=MONDAY_MS)
    async with served(tmp_path, [early, late]) as at:
        for now_ms, until_ms, who in ((MONDAY_MS - 1, MONDAY_MS, 1), (MONDAY_MS, MONDAY_MS + 7 * windows.DAY_MS, 2)):
            at.now_ms = now_ms
            body = await at.get("states-relaxed/wins/week")
            assert body["until_ms"] == until_ms
            assert [place["player"] for place in body["places"]] == [player(who).hex()]
            named = await at.get(f"states-relaxed/wins/{body['window']}")
            assert named == {**body, "asked": body["window"], "until_ms": None}
            assert (await at.get("states-relaxed/wins/day"))["until_ms"] in (MONDAY_MS, MONDAY_MS + windows.DAY_MS)
        assert (await at.get("states-relaxed/wins/all"))["until_ms"] is None


async def test_what_did_not_change_is_not_sent_again(tmp_path: Path) -> None:
    url = "/api/boards/states-relaxed/wins/all"
    async with served(tmp_path, [house(player(1), True)]) as at:
        first = await at.http.get(url)
        tag = first.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await at.http.get(url, headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert again.headers["access-control-allow-origin"] == "*"
        for unknown in ('"other"', tag[1:-1], ""):
            assert (await at.http.get(url, headers={"If-None-Match": unknown})).status_code == 200
        await at.grow(house(player(1), True))
        changed = await at.http.get(url, headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert changed.json()["places"][0]["value"] == 2


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("states-relaxed/wins/month", 404, "unknown_board"),
        ("states-relaxed/wins/2026-W54", 404, "unknown_board"),
        ("states-relaxed/rating/all", 404, "unknown_board"),
        ("states-relaxed/current_streak/week", 404, "unknown_board"),
        ("classic-house/wins/all", 404, "unknown_board"),
        ("nothing/wins/all", 404, "unknown_board"),
        ("states-relaxed/wins/all?count=101", 400, "bad_query"),
        ("states-relaxed/wins/all?count=-1", 400, "bad_query"),
        ("states-relaxed/wins/all?count=ten", 400, "bad_query"),
        ("states-relaxed/wins/all?count=", 400, "bad_query"),
        ("states-relaxed/wins/all?count=1&count=2", 400, "bad_query"),
        ("states-relaxed/wins/all?start=99999999999999999999", 400, "bad_query"),
        ("states-relaxed/wins/all?offset=1", 400, "bad_query"),
        (f"states-relaxed/wins/all?start=1&around={'0' * 32}", 400, "bad_query"),
        (f"states-relaxed/wins/all?players={'0' * 32}&count=1", 400, "bad_query"),
        ("states-relaxed/wins/all?players=" + ",".join(["0" * 32] * 101), 400, "bad_query"),
        ("states-relaxed/wins/all?around=me", 404, "unknown_player"),
        (f"states-relaxed/wins/all?players={'0' * 32},", 404, "unknown_player"),
        ("states-relaxed/wins/all/export?after=1", 400, "bad_query"),
        (f"states-relaxed/wins/all/export?after=1.2.x.{'0' * 32}", 400, "bad_query"),
        (f"states-relaxed/wins/all/export?after=1.2097152.3.{'0' * 32}", 400, "bad_query"),
        ("states-relaxed/wins/all/export?after=1.2.3.me", 404, "unknown_player"),
        ("states-relaxed/wins/never/export", 404, "unknown_board"),
    ],
)
async def test_a_question_that_has_no_answer_is_told_so(tmp_path: Path, path: str, status: int, code: str) -> None:
    async with served(tmp_path, [house(player(1), True)]) as at:
        answer = await at.http.get(f"/api/boards/{path}")
        assert (answer.status_code, answer.json()["error"]) == (status, code)
        assert answer.headers["access-control-allow-origin"] == "*"


# ---------------------------------------------------------------- exports


def cursor(lines: list[Any]) -> str:
    """Of what was read so far."""
    return f"{lines[0]['as_of']}.{lines[-1]['value']}.{lines[-1]['index']}.{lines[-1]['player']}"


async def test_an_export_that_was_cut_goes_on_from_any_line(tmp_path: Path) -> None:
    path = "states-versus/wins/all"
    async with served(tmp_path, synthetic(1500, PEOPLE)) as at:
        whole = await at.export(path)
        body = await at.get(path, count=100)
        header = {name: value for name, value in body.items() if name != "places"}
        assert whole[0] == {**header, "moved": False}
        assert whole[1:-1] == body["places"]
        end = {"end": True, "as_of": 1500, "leaf_hash": body["leaf_hash"], "size": body["size"], "moved": False}
        assert whole[-1] == end
        for cut in range(2, len(whole)):
            held = whole[:cut]
            assert held + (await at.export(path, after=cursor(held)))[1:] == whole


async def test_an_export_that_goes_on_after_the_board_moved_says_so_and_skips_nobody_who_stayed(tmp_path: Path) -> None:
    path = "states-relaxed/wins/all"
    entries: list[LedgerEntry] = [house(player(number), True) for number in range(6)]
    async with served(tmp_path, entries) as at:
        held = (await at.export(path))[:4]
        # A game elsewhere moves the ledger on, and not this board.
        await at.grow(house(player(1), True, "states-strategic"))
        rest = await at.export(path, after=cursor(held))
        assert (rest[0]["as_of"], rest[0]["moved"], rest[-1]["as_of"], rest[-1]["moved"]) == (6, False, 7, False)
        await at.grow(house(player(5), True))
        rest = await at.export(path, after=cursor(held))
        assert (rest[0]["moved"], rest[-1]["moved"]) == (True, True)
        # Whoever climbed is above now; those below stand where they stood, by value.
        assert [line["player"] for line in rest[1:-1]] == [player(number).hex() for number in (3, 4)]
        await at.grow(house(player(2), True))
        rest = await at.export(path, after=cursor(held))  # the place held last is no longer there
        assert [line["player"] for line in rest[1:-1]] == [player(number).hex() for number in (3, 4)]


async def test_an_export_during_which_the_board_moves_says_so_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboards, "EXPORT_PLACES", 2)
    board = Board("states-relaxed", "wins", "all")
    async with served(tmp_path, [house(player(number), True) for number in range(6)]) as at:
        first = await at.parts.boards.page(board, 0, 0)
        lines = []
        async for piece in leaderboards._lines(at.parts, Asked(board, "all"), first, None):
            lines += [json.loads(line) for line in piece.splitlines()]
            if len(lines) == 3:
                await at.grow(house(player(4), True))
        assert [line["player"] for line in lines[1:-1]] == [player(number).hex() for number in (0, 1, 2, 3, 5)]
        assert (lines[0]["moved"], lines[0]["as_of"]) == (False, 6)
        assert (lines[-1]["end"], lines[-1]["moved"], lines[-1]["as_of"]) == (True, True, 7)


async def test_an_export_during_which_a_rebuild_takes_over_says_that_the_board_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaderboards, "EXPORT_PLACES", 2)
    board = Board("states-relaxed", "wins", "all")
    async with opened(tmp_path) as store, served(tmp_path, [house(player(number), True) for number in range(6)]) as at:
        first = await at.parts.boards.page(board, 0, 0)
        lines = []
        async for piece in leaderboards._lines(at.parts, Asked(board, "all"), first, None):
            lines += [json.loads(line) for line in piece.splitlines()]
            if len(lines) == 3:
                await store.take_over(await store.begin(LEADERBOARD.name, LEADERBOARD.version, "building"), force=True)
                await at.grow()
        assert (lines[0]["moved"], lines[0]["as_of"]) == (False, 6)
        assert (lines[-1]["end"], lines[-1]["moved"], lines[-1]["as_of"]) == (True, True, 6)
