"""The two descriptions, OpenAPI and AsyncAPI: complete, valid, and true of what the server really takes and sends."""

import asyncio
import contextlib
import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from playwright.async_api import Browser, expect
from starlette.routing import Route
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from rules.catalogue import RULES
from server import asyncapi, openapi, wire
from server.app import application
from server.endpoints import ENDPOINTS, PROBLEMS, Endpoint
from server.settings import settings as environment
from server.wire import JSON, BadFrame, Do
from tests import browser as at
from tests.browser import visiting
from tests.running import JSON as JSON_NAME
from tests.running import ROOT, Guest, Message, Server, connected, eventually, serving, until
from tests.test_docs import examples
from tests.test_page_replay import a_war

pytestmark = [pytest.mark.anyio]

HTTP = json.loads(json.dumps(openapi.document()))
SOCKET = json.loads(json.dumps(asyncapi.document()))
BY_TYPE = {message["name"]: message["payload"] for message in SOCKET["components"]["messages"].values()}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("described")) as server:
        yield server


def faults(schema: Mapping[str, Any], document: Mapping[str, Any], value: Any) -> list[str]:
    """What a value does wrong by a schema of a description."""
    whole = {**schema, "components": {"schemas": document["components"]["schemas"]}}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


def frame_faults(frame: Mapping[str, Any]) -> list[str]:
    return faults(BY_TYPE[frame["type"]], SOCKET, frame)


# ---------------------------------------------------------------- complete


def test_every_address_is_described_and_nothing_else_is() -> None:
    routes = [route for route in application(environment({})).routes if isinstance(route, Route)]
    real = {(method, route.path) for route in routes for method in (route.methods or set()) - {"HEAD"}}
    assert real == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}


def test_every_message_is_described() -> None:
    types = {*wire.FromClient.__args__, *wire.ToClient.__args__}
    assert BY_TYPE.keys() == {type_.__struct_config__.tag for type_ in types}
    told = {
        message["$ref"].rpartition("/")[2]
        for operation in SOCKET["operations"].values()
        for message in operation["messages"]
    }
    assert told == {type_.__name__ for type_ in types} == SOCKET["channels"]["socket"]["messages"].keys()


def test_every_code_of_an_error_over_http_is_described_in_code_and_words() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "server").glob("*.py") if path.name != "endpoints.py")
    used = set(re.findall(r'Problem\(\d+, "(\w+)"', sources)) | set(re.findall(r'"error": "(\w+)"', sources))
    assert used | {"unknown_address", "wrong_method", "http_error"} == PROBLEMS.keys()
    protocol = (ROOT / "docs" / "protocol.md").read_text()
    section = protocol[protocol.index("## Errors over HTTP") : protocol.index("## Reasons")]
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M)) == PROBLEMS
    for endpoint in ENDPOINTS:
        assert {problem.partition(" ")[2] for problem in endpoint.problems} <= PROBLEMS.keys()


@pytest.mark.parametrize("document", [HTTP, SOCKET], ids=["openapi", "asyncapi"])
def test_nothing_is_left_open_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                found: Any = document
                for step in value["$ref"].removeprefix("#/").split("/"):
                    found = found[step]
            if value.get("type") == "array":
                assert "items" in value, path
            for name, each in (value.get("properties") or {}).items():
                assert each, f"{path}/{name} may be anything"
            for key, each in value.items():
                walk(each, f"{path}/{key}")
        elif isinstance(value, list):
            for each in value:
                walk(each, path)

    walk(document, "")


def test_the_description_of_http_is_openapi_and_its_schemas_are_schemas() -> None:
    validate(HTTP)
    for document in (HTTP, SOCKET):
        for schema in document["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
    assert r"\Z" not in json.dumps([HTTP, SOCKET])  # a pattern is read as JavaScript's


# ---------------------------------------------------------------- true of the socket


async def test_every_frame_of_real_games_is_as_described(server: Server) -> None:
    guest = server.join()
    async with connected(server, guest) as client, overheard(server, guest) as (raw, send):
        game = await client.open("strategic")
        await send({"type": "subscribe", "topic": f"game/{game.hex()}"})
        await client.play_on(await client.follow(game), Random(5))
        war = await a_war(client)
        for message in (
            {"type": "meet", "id": "a", "rules": "fifty-states/1", "mode": "relaxed"},
            {"type": "meet", "id": "b", "rules": "fifty-states/1", "mode": "no such mode"},
            {"type": "open", "id": "c", "rules": "gameweave/1", "mode": "house", "settings": {}},
            {"type": "do", "id": "d", "game": game.hex(), "command": {"do": "Resign"}},
            {"type": "subscribe", "topic": "replay/nothing", "as": "open"},
            {"type": "subscribe", "topic": f"replay/{war.hex()}", "as": "open"},
            {"type": "subscribe", "topic": f"replay/{game.hex()}", "as": "open"},
            {"type": "subscribe", "topic": f"replay/{game.hex()}", "at": 5, "limit": 3, "beat_ms": 50, "as": "0"},
            {"type": "ping", "n": 1},
        ):
            await send(message)
        await eventually(lambda: [frame for frame in raw if frame["type"] == "replayed"][2:])
    assert {"met", "done", "refused", "subscribed", "events", "hand", "replayed", "not_subscribed", "pong"} <= {
        frame["type"] for frame in raw
    }
    for frame in raw:
        assert frame_faults(frame) == [], frame
    # The broken twins: a field too few, a field too many, a field of another kind.
    twins = 0
    for frame in {frame["type"]: frame for frame in raw}.values():
        for name in frame.keys() - {"type"}:
            assert frame_faults({key: value for key, value in frame.items() if key != name})
            assert frame_faults({**frame, name: [{}]})
            twins += 1
        assert frame_faults({**frame, "more": 1})
    assert twins > 20
    events = [frame for frame in raw if frame["type"] == "events" and frame["events"]]
    for event in events[0]["events"]:
        for field in event["fact"]:
            fact = {name: value for name, value in event["fact"].items() if name != field}
            assert frame_faults({**events[0], "events": [{**event, "fact": fact}]}), field
    for field in events[-1]["table"]:
        table = {name: value for name, value in events[-1]["table"].items() if name != field}
        assert frame_faults({**events[-1], "table": table}), field


@contextlib.asynccontextmanager
async def overheard(
    server: Server, guest: Guest
) -> AsyncIterator[tuple[list[dict[str, Any]], Callable[[Message], Awaitable[None]]]]:
    """A connection of JSON: all that came so far, as it came, and a way to send."""
    address = f"{server.url.replace('http', 'ws', 1)}/ws"
    headers = {"Authorization": f"Bearer {guest.token}"}
    raw: list[dict[str, Any]] = []
    async with connect(
        address, subprotocols=[Subprotocol(JSON_NAME)], additional_headers=headers, proxy=None
    ) as socket:

        async def read() -> None:
            async for frame in socket:
                raw.append(json.loads(frame))

        async def send(message: Message) -> None:
            await socket.send(json.dumps(message))

        reading = asyncio.create_task(read())
        try:
            yield raw, send
        finally:
            await socket.close()
            await reading


@pytest.mark.parametrize("example", [*examples("client"), *examples("server")])
def test_every_example_of_the_protocol_is_as_described(example: str) -> None:
    value = json.loads(example)
    if value["type"] == "events":
        value["events"] = []  # (its bytes are an example of bytes)
    assert frame_faults(value) == []


@pytest.mark.parametrize(
    ("kind", "schema"),
    [("boards", "Boards"), ("board", "Board"), ("player", "Record"), ("games", "History"), ("witness", "Witness")],
)
def test_every_example_of_an_answer_is_as_described(kind: str, schema: str) -> None:
    for block in re.findall(rf"```json {kind}\n(.*?)```", (ROOT / "docs" / "protocol.md").read_text(), re.S):
        for value in [json.loads(block)] if kind != "witness" else map(json.loads, block.splitlines()):
            assert faults({"$ref": f"#/components/schemas/{schema}"}, HTTP, value) == []
            assert faults({"$ref": f"#/components/schemas/{schema}"}, HTTP, {**value, "more": 1})


@st.composite
def bent(draw: st.DrawFn) -> dict[str, Any]:
    """A message of a client's, with something about it changed, or not."""
    value = json.loads(draw(st.sampled_from(examples("client"))))
    inside = value["command"] if "command" in value and draw(st.booleans()) else value
    names = st.sampled_from(sorted(inside))
    other = st.one_of(
        st.none(), st.booleans(), st.integers(-2, 2**33), st.text(max_size=70), st.just([]), st.just({}),
        st.sampled_from(["relaxed", "0", "open", "0" * 32, "A" * 43 + "=", 1, 0.5, 8, 50]),
    )  # fmt: skip
    match draw(st.integers(0, 4)):
        case 0:
            inside.pop(draw(names.filter(lambda name: name != "type")), None)
        case 1:
            inside[draw(st.sampled_from(["more", "at", "limit", "as", "speed", "beat_ms", "after"]))] = draw(other)
        case 2 | 3:
            inside[draw(names.filter(lambda name: name != "type"))] = draw(other)
        case _:
            pass
    return value  # type: ignore[no-any-return]


@settings(max_examples=150)
@given(bent())
def test_what_the_description_allows_a_client_is_what_the_server_takes(value: dict[str, Any]) -> None:
    try:
        message = wire.message(JSON, json.dumps(value))
        if isinstance(message, Do):
            # A command is one of some game's; which one's is known at the table.
            assert any(taken(rules, bytes(message.command)) for rules in RULES)
        takes = True
    except (BadFrame, AssertionError):
        takes = False
    assert takes == (not frame_faults(value)), frame_faults(value)


def taken(rules: str, command: bytes) -> bool:
    try:
        wire.command(RULES[rules], JSON, command)
    except BadFrame:
        return False
    return True


# ---------------------------------------------------------------- true of HTTP


@pytest.fixture(scope="module")
async def games(server: Server) -> list[str]:
    """A finished game and a running one."""
    async with connected(server, server.join()) as client:
        over = await client.open("strategic")
        await client.play_on(await client.follow(over), Random(8))
        return [over.hex(), (await client.open("relaxed")).hex()]


def spends(endpoint: Endpoint) -> bool:
    """Whether the token that asked is nobody's after it."""
    return (endpoint.method, endpoint.path) in {("POST", "/api/session/renew"), ("DELETE", "/api/me")}


def check_answer(endpoint: Endpoint, answer: httpx.Response) -> None:
    """Status, media type and body are among those described for this address."""
    operation = HTTP["paths"][endpoint.open_path][endpoint.method.lower()]
    assert str(answer.status_code) in operation["responses"], (endpoint.path, answer.status_code, answer.text)
    content = operation["responses"][str(answer.status_code)]["content"]
    media = answer.headers["content-type"].partition(";")[0]
    assert media in content, (endpoint.path, media)
    if media == "application/json":
        assert faults(content[media]["schema"], HTTP, answer.json()) == [], (endpoint.path, answer.text)


async def test_every_address_answers_as_described_whatever_it_is_asked(server: Server, games: list[str]) -> None:
    guest = server.join()
    token = guest.token
    words = {
        "game": st.sampled_from([*games, bytes(16).hex(), "x", "%00", "ü"]),
        "player": st.sampled_from([guest.player, bytes(16).hex(), "x", "%00"]),
        "ladder": st.sampled_from(["states-relaxed", "states-versus", "classic-house", "x"]),
        "measure": st.sampled_from(["wins", "win-rate", "rating", "x"]),
        "window": st.sampled_from(["all", "week", "2026-11-29", "2026-W48", "x"]),
        "index": st.sampled_from(["0", "1", "00", "-1", "9" * 19, "9" * 20, "x", "%00", "٣"]),
        "path": st.sampled_from(["0/000", "0/000.p/1", "entries/000.p/1", "entries/000.p/300", "x", "%00", "ü"]),
    }
    bodies = st.sampled_from(
        ["", "{}", "[]", "null", '{"keep":"bearer"}', '{"keep":"cookie"}', '{"keep":1}', '{"keep":"no"}', "{",
         '{"name":"Ada Byron"}', '{"name":"x"}', '{"name":1}',
         json.dumps({"token": token}), '{"token":"no"}', '{"token":null}', "\x00", "x" * 5000]
    )  # fmt: skip
    headers = st.fixed_dictionaries(
        {},
        optional={
            "Content-Type": st.sampled_from(["application/json", "text/plain", "application/json; charset=utf-8"]),
            "Authorization": st.sampled_from([f"Bearer {token}", "Bearer no", "Basic x", ""]),
            "Origin": st.sampled_from([server.url, "http://elsewhere.example"]),
            "Cookie": st.sampled_from(["statecraft=no", "x=y"]),
        },
    )
    seen: set[tuple[str, int]] = set()
    with server.http() as http:

        @settings(max_examples=150, database=None)
        @given(st.data())
        def ask(data: st.DataObject) -> None:
            endpoint = data.draw(st.sampled_from(ENDPOINTS))
            path = re.sub(r"{(\w+)}", lambda named: data.draw(words[named[1]]), endpoint.open_path)
            names = data.draw(st.sets(st.sampled_from([*endpoint.query, "more"]), max_size=3))
            query = {
                name: data.draw(st.sampled_from(["0", "1", "-1", "x", "99999", "9" * 20, "", guest.player, games[0]]))
                for name in names
            }
            body = None if endpoint.body is None else data.draw(bodies)
            http.cookies.clear()
            sent = data.draw(headers)
            if spends(endpoint) and sent.get("Authorization") == f"Bearer {token}":
                sent["Authorization"] = f"Bearer {server.join().token}"
            answer = http.request(endpoint.method, path, params=query or None, headers=sent, content=body)
            check_answer(endpoint, answer)
            seen.add((endpoint.path, answer.status_code))

        ask()
    assert {200, 400, 404} <= {status for _, status in seen}


async def test_each_address_has_answered_well_and_with_each_of_its_games(server: Server, games: list[str]) -> None:
    guest = server.join()
    over, running = games
    well: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    with server.http() as http:
        until(lambda: http.get(f"/games/{over}.jsonl").status_code == 200)
        tile = f"0/000.p/{http.get('/api/ledger').json()['signed']}"
        for endpoint in ENDPOINTS:
            for game in (over, running):
                named = {"game": game, "path": tile, "player": guest.player, "index": "0"}
                named |= {"ladder": "states-strategic", "measure": "wins", "window": "week"}
                path = endpoint.open_path.format(**named)
                bodies: list[Any] = [None]
                if endpoint.body is not None:
                    name = {"name": f"Ada {guest.player[:8]}"}
                    bodies = [{"keep": "bearer"}, {"keep": "cookie"}, {}, {"token": guest.token}, name]
                query = dict.fromkeys(endpoint.needed, "1")
                statuses = set()
                for body in bodies:
                    http.cookies.clear()
                    asking = {"Authorization": f"Bearer {(server.join() if spends(endpoint) else guest).token}"}
                    answer = http.request(endpoint.method, path, params=query, headers=asking, json=body)
                    check_answer(endpoint, answer)
                    statuses.add(answer.status_code)
                well[endpoint.method, endpoint.path] |= statuses & endpoint.answers.keys()
        assert [endpoint.path for endpoint in ENDPOINTS if not well[endpoint.method, endpoint.path]] == []
        assert http.get(f"/api/games/{over}/review").status_code == 200
        assert http.get(f"/api/games/{running}/review").status_code == 409
        witness = http.get(f"/api/games/{over}/witness", params={"wait_ms": 2000}).json()
        schema = {"$ref": "#/components/schemas/Witness"}
        assert faults(schema, HTTP, witness) == []
        # The broken twins.
        assert faults(schema, HTTP, {**witness, "more": 1})
        assert faults(schema, HTTP, {**witness, "game": "x"})
        assert faults(schema, HTTP, {name: value for name, value in witness.items() if name != "key"})


async def test_both_descriptions_are_served_for_any_origin(server: Server) -> None:
    with server.http() as http:
        for path, document in (("/api/openapi.json", HTTP), ("/api/asyncapi.json", SOCKET)):
            answer = http.get(path, headers={"Origin": "http://elsewhere.example"})
            assert answer.json() == document
            assert answer.headers["access-control-allow-origin"] == "*"


# ---------------------------------------------------------------- and read by a person


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 320])
async def test_the_page_shows_every_address_every_message_and_what_they_hold(
    browser: Browser, server: Server, width: int, tmp_path: Path
) -> None:
    async with visiting(browser, server, viewport={"width": width, "height": 800}, bypass_csp=True) as context:
        page = await context.new_page()
        await page.goto("/api/")
        await expect(page.get_by_role("heading", name="The addresses")).to_be_visible()
        titles = await page.locator("summary .name").all_inner_texts()
        paths = [(method.upper(), path) for path, methods in HTTP["paths"].items() for method in methods]
        assert {f"{method} {path}" for method, path in paths} <= set(titles)
        assert BY_TYPE.keys() <= set(titles)
        await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        await expect(page.locator("body")).to_contain_text("captured_this_round")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
        assert await at.violations(page) == []
    async with visiting(browser, server) as context:  # under the page's own policy, which complains of what it forbids
        page = await context.new_page()
        await page.goto("/api/#Subscribe")
        await expect(page.get_by_role("heading", name="The messages")).to_be_visible()
