"""The HTTP addresses of a running server: sessions, saved games, reviews, and nonsense of every kind."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from projections.audit import audit_file
from server.app import SECURITY
from tests.running import ROOT, Guest, Server, connected, serving, until, wait_seconds_max

pytestmark = pytest.mark.anyio

NOBODYS = "0" * 32


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("http")) as running:
        yield running


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    with server.http() as client:
        yield client


@pytest.fixture
def guest(server: Server) -> Guest:
    return server.join()


def is_secured(answer: httpx.Response) -> bool:
    return all(answer.headers.get_list(name) == [value] for name, value in SECURITY.items())


# ---------------------------------------------------------------- who you are


def test_a_program_joins_with_a_token_of_its_own(http: httpx.Client) -> None:
    joined = http.post("/api/session", json={"keep": "bearer"})
    assert joined.status_code == 201
    player, token = joined.json()["player"], joined.json()["token"]
    assert len(player) == 32
    assert len(token) == 43
    assert "set-cookie" not in joined.headers
    mine = {"Authorization": f"Bearer {token}"}
    assert http.get("/api/session", headers=mine).json() == {"player": player}
    assert http.get("/api/session").json() == {"player": None}
    assert http.post("/api/session/code", json={}, headers=mine).json() == {"token": token}


def test_every_program_that_joins_is_somebody_else(server: Server) -> None:
    guests = [server.join() for _ in range(20)]
    assert len({guest.player for guest in guests}) == len({guest.token for guest in guests}) == 20


def test_a_page_joins_with_a_cookie_that_no_script_reads(server: Server, http: httpx.Client) -> None:
    own = {"Origin": server.url}
    joined = http.post("/api/session", json={"keep": "cookie"}, headers=own)
    assert joined.status_code == 201
    assert set(joined.json()) == {"player"}
    flags = {flag.strip().lower() for flag in joined.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags
    assert any(flag.startswith("max-age=") for flag in flags)
    assert "secure" not in flags, "this came over http"
    again = http.post("/api/session", json={"keep": "cookie"}, headers=own)
    assert again.status_code == 200
    assert again.json() == joined.json()
    assert "set-cookie" not in again.headers
    assert http.get("/api/session").json() == joined.json()


def test_behind_https_the_cookie_is_secure(server: Server, http: httpx.Client) -> None:
    headers = {"Origin": server.url.replace("http", "https"), "X-Forwarded-Proto": "https"}
    joined = http.post("/api/session", json={"keep": "cookie"}, headers=headers)
    assert joined.status_code == 201
    assert "; Secure" in joined.headers["set-cookie"]


def test_a_cookie_that_belongs_to_nobody_is_replaced(server: Server, http: httpx.Client) -> None:
    for stale in ("x", "A" * 43, "%s", "é"):
        headers = {b"Origin": server.url.encode(), b"Cookie": f"statecraft={stale}".encode()}
        joined = http.post("/api/session", json={"keep": "cookie"}, headers=headers)
        assert joined.status_code == 201
        assert "set-cookie" in joined.headers
        http.cookies.clear()


def test_a_recovery_code_brings_the_same_player_to_another_browser(server: Server, http: httpx.Client) -> None:
    own = {"Origin": server.url}
    player = http.post("/api/session", json={"keep": "cookie"}, headers=own).json()["player"]
    code = http.post("/api/session/code", json={}, headers=own)
    assert code.status_code == 200
    with server.http() as other:
        back = other.post("/api/session/recover", json=code.json(), headers=own)
        assert back.status_code == 200
        assert back.json() == {"player": player}
        assert other.get("/api/session").json() == {"player": player}


@pytest.mark.parametrize("token", ["", "x", "A" * 43, "A" * 44, "é" * 43, "A" * 42 + "=", "A" * 42 + "B", "\x00" * 43])
def test_a_recovery_code_that_belongs_to_nobody_is_refused(http: httpx.Client, token: str) -> None:
    answer = http.post("/api/session/recover", json={"token": token})
    assert answer.status_code == 403
    assert answer.json()["error"] == "wrong_token"
    assert "set-cookie" not in answer.headers


def test_a_code_is_for_who_is_there(server: Server, http: httpx.Client, guest: Guest) -> None:
    assert http.post("/api/session/code", json={}).status_code == 403
    assert http.post("/api/session/code", json={}).json()["error"] == "no_session"
    # Where a token and a cookie come, the token is who is asking, as everywhere else.
    other = server.join()
    both = {"Authorization": f"Bearer {guest.token}", "Cookie": f"statecraft={other.token}", "Origin": server.url}
    assert http.get("/api/session", headers=both).json() == {"player": guest.player}
    assert http.post("/api/session/code", json={}, headers=both).json() == {"token": guest.token}


@pytest.mark.parametrize("authorization", ["Bearer", "bearer x", "Bearer x", "Bearer " + "A" * 43, "Basic eDp5", "x"])
def test_a_wrong_token_is_answered_401(http: httpx.Client, authorization: str) -> None:
    wrong = {"Authorization": authorization}
    for answer in (
        http.get("/api/session", headers=wrong),
        http.get("/api/me/rivals", headers=wrong),
        http.post("/api/session/code", json={}, headers=wrong),
        http.post("/api/session", json={"keep": "cookie"}, headers=wrong),
    ):
        assert answer.status_code == 401
        assert answer.json()["error"] == "wrong_token"
        assert is_secured(answer)


# ---------------------------------------------------------------- what a POST must be


@pytest.mark.parametrize("path", ["/api/session", "/api/session/code", "/api/session/recover"])
def test_a_post_is_json_from_a_page_of_this_server(server: Server, path: str) -> None:
    good = {"Content-Type": "application/json"}
    body = {"/api/session": '{"keep":"bearer"}', "/api/session/recover": '{"token":"x"}'}.get(path, "{}")
    with server.http() as http:
        for type_ in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "",
            "application/jsonx",
        ):
            answer = http.post(path, content=body, headers={"Content-Type": type_})
            assert (answer.status_code, answer.json()["error"]) == (415, "not_json")
        for origin in ("https://example.com", "null", "http://[", server.url + ".example.com", "", "http://"):
            answer = http.post(path, content=body, headers={**good, "Origin": origin})
            assert (answer.status_code, answer.json()["error"]) == (403, "wrong_origin"), origin
            assert "access-control-allow-origin" not in answer.headers
        # A browser names the page that posts; a cookie without that name may have been sent by any page.
        answer = http.post(path, content=body, headers={**good, "Cookie": "statecraft=" + "A" * 43})
        assert (answer.status_code, answer.json()["error"]) == (403, "wrong_origin")
        for bad in ("{", "[]", "7", "null", '{"x":1}', '{"keep":7}', "\xff", "[" * 4000, '{"keep":"bearer","x":1}'):
            answer = http.post(path, content=bad.encode("latin-1"), headers=good)
            assert (answer.status_code, answer.json()["error"]) == (400, "bad_body"), bad
        answer = http.post(path, content=body.ljust(4097), headers=good)
        assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
        pieces = (b" " * 1000 for _ in range(5))
        answer = http.post(path, content=pieces, headers=good)
        assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
        assert is_secured(answer)
        assert http.post(path, content=body.ljust(4096), headers=good).status_code in (201, 403)


@pytest.mark.parametrize("keep", ["", "Bearer", "cookies"])
def test_a_session_is_kept_as_cookie_or_as_token(http: httpx.Client, keep: str) -> None:
    answer = http.post("/api/session", json={"keep": keep})
    assert (answer.status_code, answer.json()["error"]) == (400, "bad_body")


def test_a_body_that_never_comes_whole_leaves_no_trace(server: Server) -> None:
    sockets = server.sockets
    for sent in (b"{", b"", b'{"keep":"bearer"'):
        with socket.create_connection(server.address) as raw:
            head = (
                "POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
            )
            raw.sendall(head.encode() + sent)
    until(lambda: server.sockets <= sockets)
    assert server.errors == ""


# ---------------------------------------------------------------- games


async def played(server: Server, guest: Guest, mode: str = "strategic") -> bytes:
    async with connected(server, guest) as client:
        followed = await client.follow(await client.open(mode))
        await client.play_on(followed, Random(1))
        return followed.game


async def test_any_page_may_read_a_saved_game_while_it_runs_and_when_it_is_over(server: Server, guest: Guest) -> None:
    with server.http() as http:
        async with connected(server, guest) as client:
            followed = await client.follow(await client.open())
            for _ in range(2):
                answer = http.get(f"/api/games/{followed.game.hex()}/export", headers={"Origin": "https://example.com"})
                assert answer.status_code == 200
                assert answer.headers["access-control-allow-origin"] == "*"
                assert answer.headers["content-type"].startswith("application/x-ndjson")
                assert f'filename="{followed.game.hex()}.jsonl"' in answer.headers["content-disposition"]
                assert is_secured(answer)
                findings = audit_file(answer.content)
                assert findings.passed
                assert findings.head == followed.head
                assert findings.over is followed.over
                await client.play_on(followed, Random(2))


async def test_a_review_waits_for_the_end_of_the_game(server: Server, guest: Guest) -> None:
    with server.http() as http:
        async with connected(server, guest) as client:
            followed = await client.follow(await client.open())
            address = f"/api/games/{followed.game.hex()}/review"
            for _ in range(2):
                answer = http.get(address)
                assert (answer.status_code, answer.json()["error"]) == (409, "not_over")
                assert answer.headers["access-control-allow-origin"] == "*"
                if followed.table["position"] is None:
                    await client.mix(followed)
            await client.play_on(followed, Random(3))
        answer = http.get(address)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.json()["game"] == followed.game.hex()


@pytest.mark.parametrize("what", ["export", "review"])
@pytest.mark.parametrize("game", [NOBODYS, "0" * 31, "0" * 33, "F" * 32, "%00" * 16, "0" * 32 + "%0a", "..", "é" * 32])
def test_a_game_there_is_not_is_answered_404_to_any_page(http: httpx.Client, what: str, game: str) -> None:
    answer = http.get(f"/api/games/{game}/{what}")
    assert answer.status_code == 404
    assert is_secured(answer)
    if len(game) == 32:
        assert answer.json()["error"] == "unknown_game"
        assert answer.headers["access-control-allow-origin"] == "*"


def folded(http: httpx.Client, path: str, game: bytes, headers: dict[str, str]) -> Any:
    """The answer that waited for a finished game; None if that took longer than it waits."""
    answer = http.get(path, params={"wait_game": game.hex(), "wait_ms": 2000}, headers=headers)
    assert answer.status_code == 200, answer.text
    player = answer.json()["player"]
    past = http.get(f"/api/players/{player}/games").json()["games"]
    return answer.json() if game.hex() in [each["game"] for each in past] else None


async def test_records_against_rivals_are_of_finished_games(server: Server, guest: Guest) -> None:
    mine = {"Authorization": f"Bearer {guest.token}"}
    with server.http() as http:
        assert http.get("/api/me/rivals").json() == {"player": None, "rivals": []}
        assert http.get("/api/me/rivals", headers=mine).json() == {"player": guest.player, "rivals": []}
        for _ in range(3):
            last = await played(server, guest, "relaxed")
        async with connected(server, guest) as client:
            void = await client.open("relaxed")
            await client.do(void, {"do": "Resign"})
        rows = until(lambda: folded(http, "/api/me/rivals", last, mine))["rivals"]
        assert sum(row["games"] for row in rows) == 3
        assert {row["mode"] for row in rows} == {"relaxed"}
        assert all(0 <= row["wins"] <= row["games"] for row in rows)


async def test_records_of_luck_are_of_wars_that_were_not_left(server: Server, guest: Guest) -> None:
    mine = {"Authorization": f"Bearer {guest.token}"}
    with server.http() as http:
        assert http.get("/api/me/luck").json() == {"player": None, "luck": []}
        assert http.get("/api/me/luck", headers=mine).json() == {"player": guest.player, "luck": []}
        async with connected(server, guest) as client:
            for ending in ("left", "played"):
                short = {"length": "short"}
                opened = await client.ask("open", rules="classic/1", mode="house", settings=short)
                game = bytes.fromhex(opened["game"])
                followed = await client.follow(game)
                await client.mix(followed)
                while ending == "played" and not followed.over:
                    turn = {"do": "Turn", "battle": followed.battle, "times": 1}
                    await client.reach(followed, (await client.do(game, turn))["version"])
                if ending == "left":
                    await client.do(game, {"do": "Resign"})
        winner = followed.table["finished"]["winner"]
        rows = until(lambda: folded(http, "/api/me/luck", game, mine))["luck"]
        assert rows == [{"ladder": "classic-house", "games": 1, "wins": int(winner == 0), "draws": int(winner is None)}]
        assert http.get("/api/me/rivals", headers=mine).json()["rivals"] == []


# ---------------------------------------------------------------- nonsense


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/app.py",
        "/../server/app.py",
        "//etc/passwd",
        "/%00",
        "/index.html%00",
        "/%ff%fe",
        "/" + "a" * 5000,
        "/" + "a/" * 2000,
        "/ws",
        "/api/nothing",
        "/api/session/nothing",
        "/api/games",
        "/api/games//export",
        f"/api/games/{NOBODYS}",
        f"/api/games/{NOBODYS}/delete",
        "/data/keys/operator-1.key",
        "/.git/config",
    ],
)
def test_a_path_that_leads_nowhere_is_answered_404(server: Server, path: str) -> None:
    # By hand, for a client of today would tidy it up.
    with socket.create_connection(server.address) as raw:
        raw.settimeout(wait_seconds_max)
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := raw.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 404 ")
    for name, value in SECURITY.items():
        assert f"{name}: {value}\r\n".encode() in answer


@pytest.mark.parametrize(
    "path", ["/", "/api/session", "/api/me/rivals", "/api/me/luck", "/healthz", f"/api/games/{NOBODYS}/export"]
)
def test_head_is_get_without_a_body_and_other_methods_are_refused(http: httpx.Client, path: str) -> None:
    head, get = http.head(path), http.get(path)
    assert head.status_code == get.status_code
    assert head.content == b""
    assert is_secured(head)
    assert is_secured(get)
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"):
        answer = http.request(method, path)
        assert answer.status_code == 405, method
        assert "GET" in answer.headers["allow"]
        assert is_secured(answer)
        assert "access-control-allow-methods" not in answer.headers


def test_what_is_no_http_is_answered_400_and_closed(tmp_path: Path) -> None:
    server = Server(tmp_path).start()
    try:
        sockets = server.sockets
        for nonsense in (
            b"\x00\x01\x02\r\n\r\n",
            b"GET\r\n\r\n",
            b"FOO / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        ):
            with socket.create_connection(server.address) as raw:
                raw.settimeout(wait_seconds_max)
                raw.sendall(nonsense)
                assert raw.recv(65536).startswith(b"HTTP/1.1 400 ")
        until(lambda: server.sockets <= sockets)
        assert "Traceback" not in server.errors
        with server.http() as http:
            assert http.get("/healthz").json() == {"ok": True}
    finally:
        server.stop()


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"GET / HTTP/1.1\r\n"])
def test_a_head_without_an_end_is_cut_off(server: Server, start: bytes) -> None:
    memory_bytes = server.memory_bytes
    piece = b"x: y\r\n" * 1000 if start.endswith(b"\n") else b"a" * 6000
    with socket.create_connection(server.address) as raw:
        raw.settimeout(wait_seconds_max)
        raw.sendall(start)
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            raw.sendall(piece * 3000)
    assert server.memory_bytes - memory_bytes < 16 << 20


# ---------------------------------------------------------------- starting


def start(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "server", "serve", "--port", "0", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=wait_seconds_max, check=False)


def test_two_servers_on_one_data_directory_are_one_too_many(server: Server) -> None:
    second = start("--data", str(server.data))
    assert second.returncode == 2
    assert "served by another process" in second.stderr
    assert len(second.stderr.splitlines()) == 1
    with server.http() as http:
        assert http.get("/healthz").status_code == 200


def test_a_port_that_is_taken_is_said(server: Server, tmp_path: Path) -> None:
    second = start("--data", str(tmp_path), "--port", str(server.address[1]))
    assert second.returncode != 0
    assert "address already in use" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("broken", "content", "what"),
    [
        ("keys/operator-1.key", b"short", "operator-1.key has 5 bytes"),
        ("keys/operator-one.key", bytes(32), "operator-N.key"),
        ("keys/operator-0.key", bytes(32), "operator-N.key"),
        ("statecraft.db", bytes(range(256)) * 32, "statecraft.db: file is not a database"),
    ],
)
def test_data_that_can_not_be_used_is_said_in_one_line(tmp_path: Path, broken: str, content: bytes, what: str) -> None:
    file = tmp_path / broken
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    done = start("--data", str(tmp_path))
    assert done.returncode == 2
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert file.read_bytes() == content


def test_a_data_directory_that_is_a_file_is_said_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.touch()
    for place in (file, file / "below"):
        done = start("--data", str(place))
        assert done.returncode == 2
        assert str(place) in done.stderr
        assert len(done.stderr.splitlines()) == 1
