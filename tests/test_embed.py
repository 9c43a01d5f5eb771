"""The leaderboard on somebody else's page, in a real Chromium on another origin: it shows, and it can do nothing."""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Request, expect

from tests.crowd import Member, gather
from tests.running import ROOT, Server, serving, until

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

GAMES = (3, 5, 8, 2, 6, 4)
EXAMPLE = (ROOT / "examples" / "leaderboard.html").read_text()
(LINE,) = re.findall(r"<script src=.*</script>", EXAMPLE)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def elsewhere(folder: Path) -> Iterator[int]:
    """Somebody else's site: its port. At 127.0.0.1 it is the same site on another origin, at localhost another one."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> list[Member]:
    return asyncio.run(gather(tmp_path_factory.getbasetemp() / "embed" / "data", GAMES))


@pytest.fixture(scope="module")
def server(members: list[Member], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.getbasetemp() / "embed") as server, server.http() as http:
        until(lambda: http.get("/api/ledger").json()["signed"] == 2 * sum(GAMES))
        until(lambda: http.get("/api/boards/states-relaxed/wins/all").json().get("as_of") == 2 * sum(GAMES))
        yield server


@pytest.fixture
def site(tmp_path: Path, server: Server) -> Iterator[int]:
    address = "http://127.0.0.1:8000"
    assert address in LINE
    (tmp_path / "index.html").write_text(EXAMPLE.replace(address, server.url))
    framed = f"{server.url}/embed/board.html#board=states-relaxed/wins/all"
    (tmp_path / "bare.html").write_text(f"<!doctype html><title>By hand</title><iframe src='{framed}'></iframe>")
    with elsewhere(tmp_path) as port:
        yield port


async def arrived(browser: Browser, server: Server, member: Member, address: str) -> tuple[Page, list[Request]]:
    """A visitor who plays at the server and now looks at a page elsewhere, and what that asked the server for."""
    context = await browser.new_context(viewport={"width": 700, "height": 900})
    await context.add_cookies([{"name": "statecraft", "value": member.token, "url": server.url}])
    page = await context.new_page()
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if request.url.startswith(server.url) else None)
    await page.goto(address)
    return page, asked


async def test_one_line_shows_the_board_on_another_site_and_no_cookie_goes_or_comes(
    browser: Browser, server: Server, members: list[Member], site: int
) -> None:
    page, asked = await arrived(browser, server, members[0], f"http://localhost:{site}/index.html")
    before = await page.context.cookies()
    frame = page.frame_locator("iframe")
    with server.http() as http:
        board = http.get("/api/boards/states-relaxed/wins/all").json()
    rows = frame.locator("tbody tr")
    await expect(rows).to_have_count(len(board["places"]))
    for place, shown in zip(board["places"], await rows.all(), strict=True):
        await expect(shown).to_contain_text(f"Player {place['player'][:4]}")
        await expect(shown.get_by_role("cell").last).to_have_text(str(place["value"]))
    # As high as what it holds, and it follows when another board is asked for.
    height = "document.querySelector('iframe').getBoundingClientRect().height"
    held = await frame.locator("main").evaluate("main => Math.ceil(main.getBoundingClientRect().height)")
    await page.wait_for_function(f"held => {height} === held", arg=held)
    await page.evaluate("document.querySelector('script').dataset.board = 'states-versus/wins/week'")
    await expect(frame.get_by_text("Nobody stands here yet.")).to_be_visible()
    await page.wait_for_function(f"held => {height} < held", arg=held)
    await page.evaluate("document.querySelector('script').dataset.board = 'no/such/board'")
    await expect(frame.get_by_role("status")).to_contain_text("There is no such board")
    paths = {request.url.removeprefix(server.url).partition("?")[0].partition("#")[0] for request in asked}
    assert {"/embed.js", "/embed/board.html", "/api/boards/states-relaxed/wins/all"} <= paths
    for request in asked:
        assert "cookie" not in await request.all_headers(), request.url
        response = await request.response()
        assert response is not None
        assert "set-cookie" not in await response.all_headers(), request.url
    assert await page.context.cookies() == before
    await page.context.close()


@pytest.mark.parametrize(
    ("scheme", "asked", "dark"), [("dark", "auto", True), ("light", "dark", True), ("dark", "light", False)]
)
async def test_the_frame_follows_the_reader_and_the_page(
    browser: Browser, server: Server, members: list[Member], site: int, scheme: Any, asked: str, dark: bool
) -> None:
    context = await browser.new_context(color_scheme=scheme)
    page = await context.new_page()
    await page.goto(f"http://localhost:{site}/index.html")
    await page.evaluate("theme => { document.querySelector('script').dataset.theme = theme; }", asked)
    frame = page.frame_locator("iframe")
    await expect(frame.locator("body")).to_have_css(
        "background-color", "rgb(26, 36, 50)" if dark else "rgb(250, 245, 232)"
    )
    await context.close()


ACTS = """async (server) => {
    const post = (path, body) => fetch(server + path, { method: "POST", credentials: "include",
        headers: { "Content-Type": "text/plain" }, body }).then((answer) => answer.status, () => "no answer");
    const read = (path) => fetch(server + path, { credentials: "include" })
        .then((answer) => answer.text(), () => "no answer");
    const greeted = await new Promise((told) => {
        const socket = new WebSocket(server.replace("http", "ws") + "/ws", "statecraft.v1.json");
        socket.onmessage = (event) => { told(JSON.parse(event.data)); socket.close(); };
        socket.onclose = () => told(null);
    });
    return [await post("/api/session/code", "{}"), await read("/api/session"), greeted];
}"""


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_the_page_around_it_cannot_act_for_the_visitor(
    browser: Browser, server: Server, members: list[Member], site: int, host: str
) -> None:
    """At 127.0.0.1 the browser even sends the cookie along: an origin is more than a site."""
    page, _ = await arrived(browser, server, members[0], f"http://{host}:{site}/index.html")
    await expect(page.frame_locator("iframe").locator("tbody tr").first).to_be_visible()
    posted, session, greeted = await page.evaluate(ACTS, server.url)
    assert posted in (403, 415, "no answer")
    assert members[0].player.hex() not in session
    assert greeted["type"] == "hello"
    assert greeted["player"] is None
    # Nor can it reach into the frame, nor the frame anything of ours.
    inside = page.frames[1]
    assert await inside.evaluate("origin") == "null"
    posted, session, greeted = await inside.evaluate(ACTS, server.url)
    assert (posted, session) == ("no answer", "no answer")
    assert greeted is None or greeted["player"] is None
    await page.context.close()


async def test_a_frame_by_hand_is_nobody_either_and_no_other_page_can_be_framed(
    browser: Browser, server: Server, members: list[Member], site: int
) -> None:
    page, _ = await arrived(browser, server, members[0], f"http://localhost:{site}/bare.html")
    await expect(page.frame_locator("iframe").locator("tbody tr").first).to_be_visible()
    assert await page.frames[1].evaluate("origin") == "null"
    await page.evaluate("address => { document.querySelector('iframe').src = address; }", f"{server.url}/#/me")
    await expect(page.frame_locator("iframe").locator("body")).not_to_contain_text("Statecraft")
    await page.context.close()
