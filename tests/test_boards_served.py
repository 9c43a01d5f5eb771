"""Boards, players and games of a running server, held against a fold of what it publishes, as a stranger would."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from events import entries, merkle
from events.entries import Closing, LedgerEntry
from projections import history, records, rivals, windows
from projections.history import HISTORY
from projections.leaderboard import LADDERS, LEADERBOARD, Board, measures
from projections.projection import fold
from projections.records import RECORDS
from projections.rivals import RIVALS
from projections.trophies import COLOURS
from server.projector import PROJECTIONS
from tests.running import Guest, Server, connected, eventually, serving
from tests.test_projector import places
from tests.test_public import checkpoint, leaves

pytestmark = pytest.mark.anyio

PEOPLE = 6


class World:
    """A server, people who played on it, and what a stranger made of its public files."""

    def __init__(self, server: Server, guests: list[Guest], games: dict[str, list[bytes]]) -> None:
        self.server, self.guests, self.games = server, guests, games
        with server.http() as http:
            signed = checkpoint(http)
            self.bodies = leaves(http, signed.size)
        self.size = signed.size
        self.entries: list[LedgerEntry] = [entries.decode(body) for body in self.bodies]

    @property
    def leaf_hash(self) -> str:
        return merkle.leaf_hash(self.bodies[-1]).hex()

    @property
    def who(self) -> list[bytes]:
        return [bytes.fromhex(guest.player) for guest in self.guests]


async def play_all(server: Server, guest: Guest, number: int) -> list[bytes]:
    """A few games of 50 States, a War, one that is left, and one that becomes void."""
    games, chance = [], Random(number)
    async with connected(server, guest) as client:
        for mode in ("relaxed",) * (1 + number % 3) + ("strategic",):
            followed = await client.follow(await client.open(mode))
            await client.play_on(followed, chance)
            games.append(followed.game)
        void = await client.open("relaxed")
        assert (await client.do(void, {"do": "Resign"}))["type"] == "done"
        games.append(void)
    async with connected(server, guest) as client:
        for ending in ("left", "played"):
            opened = await client.ask("open", rules="playbook/1", mode="house", settings={})
            followed = await client.follow(bytes.fromhex(opened["game"]))
            await client.mix(followed, chance.randbytes(32))
            while ending == "played" and not followed.over:
                turn = {"do": "Turn", "battle": followed.battle, "times": 10}
                await client.reach(followed, (await client.do(followed.game, turn))["version"])
            if ending == "left":
                await client.do(followed.game, {"do": "Resign"})
            games.append(followed.game)
    return games


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        guests = [server.join() for _ in range(PEOPLE)]
        played = await asyncio.gather(*(play_all(server, guest, number) for number, guest in enumerate(guests)))
        games = {guest.player: mine for guest, mine in zip(guests, played, strict=True)}
        await all_folded(server, 2 * sum(map(len, played)))
        yield World(server, guests, games)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


async def all_folded(server: Server, size: int) -> None:
    with server.http() as http:

        def told() -> bool:
            at = http.get("/api/ledger").json()["projections"]
            assert set(at) == {projection.name for projection in PROJECTIONS}
            assert all(each["trouble"] is None for each in at.values())
            return {each["as_of"] for each in at.values()} == {size}

        await eventually(told)


def get(http: httpx.Client, path: str, **query: Any) -> Any:
    answer = http.get(path, params=query, headers={"Origin": "https://elsewhere.example"})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_board_is_a_fold_of_the_published_tiles(world: World) -> None:
    rows = fold(LEADERBOARD, enumerate(world.entries))
    found = 0
    with world.server.http() as http:
        for ladder in LADDERS:
            for measure in measures(ladder):
                body = get(http, f"/api/boards/{ladder}/{measure}/all", count=100)
                expected = places(Board(ladder, measure, "all"), rows)
                assert (body["as_of"], body["leaf_hash"]) == (world.size, world.leaf_hash)
                assert [(each["rank"], each["player"], each["value"], each["index"]) for each in body["places"]] == [
                    (place.rank, place.player.hex(), place.value, place.entry) for place in expected
                ]
                for each in body["places"]:
                    cited = world.entries[each["index"]]
                    assert isinstance(cited, Closing)
                    assert bytes.fromhex(each["player"]) in cited.players
                found += len(expected)
        days = {windows.windows(entry.at_ms)[2] for entry in world.entries if isinstance(entry, Closing)}
        on_days = sum(get(http, f"/api/boards/states-relaxed/wins/{day}")["size"] for day in days)
        assert on_days >= get(http, "/api/boards/states-relaxed/wins/all")["size"]
    assert found > PEOPLE


async def test_a_players_page_is_a_fold_of_the_published_tiles(world: World) -> None:
    kept, met = fold(RECORDS, enumerate(world.entries)), fold(RIVALS, enumerate(world.entries))
    with world.server.http() as http:
        for guest, who in zip(world.guests, world.who, strict=True):
            body = get(http, f"/api/players/{guest.player}")
            assert (body["player"], body["name"], body["as_of"]) == (guest.player, None, world.size)
            assert body["leaf_hash"] == world.leaf_hash
            rows = {records.parts(key)[1]: row for key, row in kept.items() if records.parts(key)[0] == who}
            assert {each["ladder"] for each in body["ladders"]} == {"states-relaxed", "states-strategic"}
            for each in body["ladders"]:
                row = rows[each["ladder"]]
                assert each["colour"] == COLOURS[each["ladder"]]
                assert (each["games"], each["wins"], each["draws"]) == (row.games, row.wins, row.draws)
                assert (each["streak"], each["best_streak"], each["stars"]) == (row.streak, row.best_streak, row.wins)
                assert each["win_rate"] == row.wins * 1_000_000 // row.games
                assert each["trophies"] == {"stars": row.wins % 10, "medals": 0, "shields": 0, "flags": 0}
                badge = each["streak_badge"]
                assert (badge is not None) == (row.best_streak >= 3)
                assert set(each["imported"].values()) == {0}
            war = rows["playbook-house"]
            luck = {"ladder": "playbook-house", "games": 1, "wins": war.wins, "draws": war.draws}
            assert body["luck"] == [luck]
            mine = {rivals.parts(key)[1:]: row for key, row in met.items() if rivals.parts(key)[0] == who}
            assert {(each["ladder"], each["rival"]): (each["games"], each["wins"]) for each in body["rivals"]} == {
                about: (row.games, row.wins) for about, row in mine.items()
            }
            for rank in body["ranks"]:
                board = get(http, f"/api/boards/{rank['ladder']}/{rank['measure']}/all", around=guest.player, count=0)
                (place,) = board["places"]
                assert {name: rank[name] for name in ("rank", "position", "value", "index")} == {
                    name: place[name] for name in ("rank", "position", "value", "index")
                }
                assert rank["size"] == board["size"]
            assert bool(body["ranks"]) == any(each["wins"] for each in body["ladders"])


async def test_a_players_games_are_all_there_newest_first_voids_and_left_ones_too(world: World) -> None:
    every = fold(HISTORY, enumerate(world.entries))
    with world.server.http() as http:
        for guest, who in zip(world.guests, world.who, strict=True):
            expected = sorted(
                (
                    (index, ladder, row)
                    for key, row in every.items()
                    for owner, ladder, index in [history.parts(key)]
                    if owner == who
                ),
                reverse=True,
            )
            found: list[Any] = []
            query: dict[str, Any] = {"count": 2}
            while True:
                page = get(http, f"/api/players/{guest.player}/games", **query)
                found += page["games"]
                if page["next"] is None:
                    break
                assert len(page["games"]) == 2
                query["cursor"] = page["next"]
            assert [(each["index"], each["ladder"], each["game"]) for each in found] == [
                (index, ladder, row.game.hex()) for index, ladder, row in expected
            ]
            assert {each["game"] for each in found} == {game.hex() for game in world.games[guest.player]}
            results = [each["result"] for each in found]
            assert results.count("void") == results.count("left") == 1
            assert set(results) <= {"won", "lost", "drawn", "void", "left"}
            relaxed = get(http, f"/api/players/{guest.player}/games", ladder="states-relaxed", count=100)
            assert relaxed["games"] == [each for each in found if each["ladder"] == "states-relaxed"]
            for each in relaxed["games"]:
                assert each["opponent"]["rival"]
                assert each["opponent"]["player"] is None


async def test_whoever_never_played_has_an_empty_record(world: World) -> None:
    with world.server.http() as http:
        nobody = "0" * 32
        body = get(http, f"/api/players/{nobody}")
        assert {name: body[name] for name in ("ladders", "rivals", "luck", "ranks")} == {
            "ladders": [],
            "rivals": [],
            "luck": [],
            "ranks": [],
        }
        page = get(http, f"/api/players/{nobody}/games")
        assert (page["games"], page["next"]) == ([], None)
        assert get(http, "/api/me") == {"player": None}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/players/me", 404, "unknown_player"),
        (f"/api/players/{'0' * 31}", 404, "unknown_player"),
        (f"/api/players/{'A' * 32}", 404, "unknown_player"),
        (f"/api/players/{'0' * 33}/games", 404, "unknown_player"),
        (f"/api/players/{'0' * 32}?count=1", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?count=0", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?count=101", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?cursor=x", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?cursor=-1", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?ladder=a/b", 400, "bad_query"),
        (f"/api/players/{'0' * 32}/games?ladder=", 400, "bad_query"),
        (f"/api/players/{'0' * 32}?wait_game=x&wait_ms=1", 404, "unknown_game"),
        (f"/api/players/{'0' * 32}?wait_game={'0' * 32}&wait_ms=2001", 400, "bad_wait"),
    ],
)
async def test_a_question_about_a_player_that_has_no_answer_is_told_so(
    world: World, path: str, status: int, code: str
) -> None:
    with world.server.http() as http:
        answer = http.get(path)
        assert (answer.status_code, answer.json()["error"]) == (status, code)


async def test_one_sees_ones_own_record_as_anybody_does_and_it_is_not_sent_twice(world: World) -> None:
    with world.server.http() as http:
        for guest in world.guests[:2]:
            mine = {"Authorization": f"Bearer {guest.token}"}
            answer = http.get("/api/me", headers=mine)
            public = http.get(f"/api/players/{guest.player}")
            assert answer.json() == public.json()
            assert "access-control-allow-origin" not in answer.headers
            assert public.headers["access-control-allow-origin"] == "*"
            for url, tag in (("/api/me", answer), (f"/api/players/{guest.player}", public)):
                again = http.get(url, headers={**mine, "If-None-Match": tag.headers["etag"]})
                assert (again.status_code, again.content) == (304, b"")
            shown = [{**row, "mode": row["ladder"].partition("-")[2]} for row in answer.json()["rivals"]]
            assert http.get("/api/me/rivals", headers=mine).json() == {"player": guest.player, "rivals": shown}
            luck = {"player": guest.player, "luck": answer.json()["luck"]}
            assert http.get("/api/me/luck", headers=mine).json() == luck


async def test_an_export_of_a_running_server_is_its_board(world: World) -> None:
    with world.server.http() as http:
        board = get(http, "/api/boards/states-relaxed/wins/all", count=100)
        lines = [json.loads(line) for line in http.get("/api/boards/states-relaxed/wins/all/export").text.splitlines()]
        assert lines[1:-1] == board["places"]
        assert (lines[0]["as_of"], lines[-1]["as_of"]) == (world.size, world.size)


async def test_whoever_waits_for_a_game_reads_it_with_the_first_answer(tmp_path: Path) -> None:
    with serving(tmp_path) as server, server.http() as http:
        guest = server.join()
        mine = {"Authorization": f"Bearer {guest.token}"}
        async with connected(server, guest) as client:
            for number in range(3):
                followed = await client.follow(await client.open())
                # A game that runs is waited for in vain, and not for longer than was said.
                running: dict[str, str | int] = {"wait_game": followed.game.hex(), "wait_ms": 50}
                before = (await asyncio.to_thread(http.get, "/api/me", params=running, headers=mine)).json()
                assert sum(each["games"] for each in before["ladders"]) == number
                await client.play_on(followed, Random(number))
                # One answer is enough, but on a machine so slow that nothing is signed in two seconds.
                await eventually(partial(_told, http, followed.game, mine, number + 1))


def _told(http: httpx.Client, game: bytes, headers: dict[str, str], games: int) -> bool:
    rows = http.get("/api/me", params={"wait_game": game.hex(), "wait_ms": 2000}, headers=headers).json()["ladders"]
    count: int = sum(each["games"] for each in rows)
    return count == games
