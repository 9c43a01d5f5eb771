"""Names: what may be chosen, who looks like whom; and what players do about themselves over HTTP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.cast import CAST
from server.naming import ERASED, LETTERS_MAX, RESERVED, BadName, normal, skeleton
from server.people import token_hash, token_of
from server.sessions import Sessions
from tests.running import Closed, Guest, Server, all_signed, connected, serving
from tests.test_cli import run
from tests.test_public import play

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ada", "Ada"),
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("Zoë", "Zoë"),
        ("Zoe\u0308", "Zoë"),
        ("Ａｄａ", "Ada"),
        ("李小龙", "李小龙"),
        ("שרה", "שרה"),
        ("O'Hara-Smith", "O'Hara-Smith"),
        ("Dr. No", "Dr. No"),
        ("x" * LETTERS_MAX, "x" * LETTERS_MAX),
        ("player 7", "player 7"),
    ],
)
def test_a_name_is_kept_in_one_form(text: str, kept: str) -> None:
    assert normal(text) == kept
    assert normal(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "x", "x" * (LETTERS_MAX + 1), "--", "a--b", "-ab", "ab-", ".a", "a ' b"),
        *(
            "a\u200bb",
            "a\u202eb",
            "a\u2066b",
            "a\u00adb",
            "a\nb",
            "a\0b",
            "a\ufeffb",
            "a\u200db",
            "a\ue000b",
            "a\u0378b",
        ),
        *(
            "x\u0301\u0302\u0303b",
            "a\ufe0fb",
            "\uffa0ab",
            "\u0301ab",
            "a <b>",
            "a/b",
            "😀😀",
            "a@b",
            "\u2028ab",
            "ab\u3164",
        ),
        *RESERVED,
        *(steward.name for steward in CAST),
        *("Erased Player", "ERASED  player", "Еrased рlayer", "Adm1n", "0pal Winterbourne"),
    ],
)
def test_what_can_not_be_a_name_is_refused(text: str) -> None:
    with pytest.raises(BadName):
        normal(text)


@pytest.mark.parametrize(
    "alike",
    [
        ("Ada", "ada", "ADA", "Аda", "Αda", "a d a", "A-da", "а.da"),
        ("Ian", "lan", "1an", "ian", "IAN", "Ιan"),
        ("Otto", "0tto", "Οtto", "OTTO", "ott0"),
        ("modern", "rnodern"),
        ("Zoë", "zoë", "Zoe\u0308"),
        ("pasha", "раshа", "РASHA"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(alike: tuple[str, ...]) -> None:
    assert len({skeleton(normal(name)) for name in alike}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "Eda"), ("Zoë", "Zoe"), ("Ian", "Iam"), ("李", "季"), ("Ada 1", "Ada 2")]
)
def test_names_that_differ_have_two(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@given(st.text(max_size=30))
def test_a_name_that_is_taken_is_normal_and_everything_else_is_refused(text: str) -> None:
    try:
        name = normal(text)
    except BadName:
        return
    assert normal(name) == name
    assert skeleton(name)
    assert skeleton(name.upper()) == skeleton(name.lower()) or not name.isascii()


# ---------------------------------------------------------------- sessions


def test_sessions_end_all_connections_of_a_player_and_leak_none() -> None:
    sessions, ended = Sessions(), list[str]()
    a, b = (lambda: ended.append("a")), (lambda: ended.append("b"))
    sessions.enter(b"1", a)
    sessions.enter(b"1", b)
    sessions.enter(b"2", a)
    sessions.end(b"1")
    sessions.end(b"nobody")
    assert sorted(ended) == ["a", "b"]
    for player, end in ((b"1", a), (b"1", b), (b"1", b), (b"2", a)):
        sessions.leave(player, end)
    assert len(sessions) == 0


# ---------------------------------------------------------------- over HTTP


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("names"), {"STATECRAFT_JOINS_MAX": "30"}) as server:
        yield server


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with server.http() as http:
        yield http


def bearer(guest: Guest) -> dict[str, str]:
    return {"Authorization": f"Bearer {guest.token}"}


def ask(http: httpx.Client, method: str, path: str, **given: Any) -> httpx.Response:
    return http.request(method, path, **given)


def rename(http: httpx.Client, guest: Guest, name: object) -> httpx.Response:
    return http.put("/api/me/name", json={"name": name}, headers=bearer(guest))


def test_a_name_is_chosen_over_http_and_shown_with_the_player(server: Server, http: httpx.Client) -> None:
    guest, other = server.join(), server.join()
    chosen = rename(http, guest, "  Ｇrace ")
    assert (chosen.status_code, chosen.json()) == (200, {"player": guest.player, "name": "Grace"})
    assert http.get(f"/api/players/{guest.player}").json()["name"] == "Grace"
    for name, status, code in (
        ("grace", 409, "name_taken"),
        ("x", 400, "bad_name"),
        (7, 400, "bad_body"),
        ("\ud800x", 400, "bad_body"),
        ("y" * 5000, 413, "too_large"),
    ):
        body = b'{"name":"\\ud800x"}' if name == "\ud800x" else None
        answer = (
            http.put("/api/me/name", content=body, headers={**bearer(other), "content-type": "application/json"})
            if body
            else rename(http, other, name)
        )
        assert (answer.status_code, answer.json()["error"]) == (status, code), name
    soon = rename(http, guest, "Hopper")
    assert (soon.status_code, soon.json()["error"]) == (429, "too_soon")
    assert 3500 < int(soon.headers["retry-after"]) <= 3600
    assert http.put("/api/me/name", json={"name": "Nobody"}).status_code == 403
    hidden = run("hide-name", guest.player, "--data", server.data)
    assert hidden.returncode == 0, hidden.stderr
    assert http.get(f"/api/players/{guest.player}").json()["name"] is None


async def test_erasing_ends_the_session_and_changes_no_leaf_and_no_rank(server: Server, http: httpx.Client) -> None:
    (game,) = await play(server)
    all_signed(http)
    guest = server.join()
    async with connected(server, guest) as client:
        mine = await client.open()
        await client.follow(mine)
        assert rename(http, guest, "Lovelace").status_code == 200
        checkpoint, exported = ask(http, "GET", "/checkpoint").text, server.export(game)
        erased = ask(http, "DELETE", "/api/me", json={}, headers=bearer(guest))
        assert (erased.status_code, erased.json()) == (200, {"erased": guest.player})
        with pytest.raises(Closed):
            await client.until(lambda: None)
        assert client.closed is not None
        assert client.closed[0] == 4001
    assert ask(http, "GET", "/api/session", headers=bearer(guest)).status_code == 401
    assert ask(http, "DELETE", "/api/me", json={}, headers=bearer(guest)).status_code == 401
    assert ask(http, "GET", f"/api/players/{guest.player}").json()["name"] == ERASED
    assert server.export(game) == exported
    assert checkpoint.split("\n")[0] == ask(http, "GET", "/checkpoint").text.split("\n")[0]
    token = token_of(guest.token)
    assert token is not None
    for path in server.data.glob("*.db*"):
        data = path.read_bytes()
        assert b"Lovelace" not in data, path
        assert token_hash(token) not in data, path


def test_the_operator_erases_as_well(server: Server, http: httpx.Client) -> None:
    guest = server.join()
    assert rename(http, guest, "Babbage").status_code == 200
    done = run("erase", guest.player, "--data", server.data)
    assert done.returncode == 0, done.stderr
    assert http.get("/api/session", headers=bearer(guest)).status_code == 401
    assert all(b"Babbage" not in path.read_bytes() for path in server.data.glob("*.db*"))
    again = run("erase", guest.player, "--data", server.data)
    assert (again.returncode, "Traceback" in again.stderr) == (1, False)


async def test_a_renewed_token_revokes_the_old_one_and_every_copy_of_it(server: Server, http: httpx.Client) -> None:
    guest = server.join()
    async with connected(server, guest) as client:
        renewed = ask(http, "POST", "/api/session/renew", json={}, headers=bearer(guest))
        assert renewed.json()["player"] == guest.player
        with pytest.raises(Closed):
            await client.until(lambda: None)
        assert client.closed is not None
        assert client.closed[0] == 4001
    assert ask(http, "GET", "/api/session", headers=bearer(guest)).status_code == 401
    assert ask(http, "POST", "/api/session/recover", json={"token": guest.token}).status_code == 403
    fresh = Guest(guest.player, renewed.json()["token"])
    assert ask(http, "GET", "/api/session", headers=bearer(fresh)).json() == {"player": guest.player}
    assert ask(http, "POST", "/api/session/renew", json={}, headers=bearer(guest)).status_code == 401
    assert ask(http, "POST", "/api/session/renew", json={}).status_code == 403


def test_a_cookie_is_renewed_and_erased_from_this_origin_alone(server: Server) -> None:
    origin = {"Origin": server.url}
    with server.http() as http:
        player = http.post("/api/session", json={"keep": "cookie"}, headers=origin).json()["player"]
        old = http.cookies["statecraft"]
        for headers in ({}, {"Origin": "https://elsewhere.example"}):
            for method, path in (("POST", "/api/session/renew"), ("DELETE", "/api/me"), ("PUT", "/api/me/name")):
                body = {"name": "Evil"} if method == "PUT" else {}
                assert http.request(method, path, json=body, headers=headers).status_code == 403
        assert http.post("/api/session/renew", json={}, headers=origin).json() == {"player": player}
        assert http.cookies["statecraft"] != old
        assert http.get("/api/session").json() == {"player": player}
        assert http.request("DELETE", "/api/me", json={}, headers=origin).json() == {"erased": player}
        assert "statecraft" not in http.cookies
        assert http.get("/api/session").json() == {"player": None}


def test_too_many_new_players_of_an_address_are_told_when_to_come_back(server: Server) -> None:
    with server.http(headers={"X-Forwarded-For": "192.0.2.99"}) as http:
        answers = [http.post("/api/session", json={"keep": "bearer"}) for _ in range(35)]
        assert [answer.status_code for answer in answers[:30]] == [201] * 30
        late = next(answer for answer in answers if answer.status_code != 201)
        assert (late.status_code, late.json()["error"], late.headers["retry-after"]) == (429, "too_many_players", "1")
    server.join()
