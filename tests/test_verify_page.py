"""The page that checks a saved game, in a real browser: with the network off, by keyboard, on a small screen."""

import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.npm import checkout

TOP = Path(__file__).resolve().parent.parent
GAME = TOP / "tests" / "golden" / "fifty-states-relaxed.jsonl"

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(TOP / "server" / "web"))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/verify/index.html"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest.fixture
async def page(browser: Browser, address: str) -> AsyncIterator[Page]:
    """On a small screen, loaded, with the network off from there on. A complaint on the console fails the test."""
    context = await browser.new_context(viewport={"width": 320, "height": 700})
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(address)
    await page.evaluate("document.fonts.ready.then(() => null)")
    await context.set_offline(True)
    yield page
    assert complaints == []
    await context.close()


def broken(tmp_path: Path) -> Path:
    """The game with its seventeenth event said to be the eighteenth."""
    path = tmp_path / "broken.jsonl"
    path.write_text(GAME.read_text().replace('"version":17,', '"version":18,'))
    return path


async def test_a_fair_game_is_said_to_be_one(page: Page) -> None:
    await page.get_by_label("Choose a saved game").set_input_files(GAME)
    heading = page.get_by_role("heading", name="Every check passed")
    await expect(heading).to_be_focused()
    await expect(page.get_by_role("status")).to_have_text("fifty-states-relaxed.jsonl: Every check passed.")
    battles = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Battle"))
    opened = battles.filter(has_text="opens the seal")
    assert await opened.count() == await battles.count() >= 7
    for title in ("The hands as they were dealt", "What this does not prove"):
        await expect(page.get_by_role("heading", name=title)).to_be_visible()


async def test_the_event_that_fails_is_named(page: Page, tmp_path: Path) -> None:
    await page.get_by_label("Choose a saved game").set_input_files(broken(tmp_path))
    await expect(page.get_by_role("heading", name="This game does not check out: event 17")).to_be_focused()
    await expect(page.get_by_text("Every check passed")).to_have_count(0)


async def test_a_file_that_is_no_game_is_said_to_be_none(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "photo.jsonl"
    file.write_bytes(b"\xff\xd8\xff\xe0" + bytes(range(256)))
    await page.get_by_label("Choose a saved game").set_input_files(file)
    await expect(page.get_by_role("heading", name="This is not a saved game")).to_be_focused()


async def test_a_file_can_be_dropped(page: Page) -> None:
    drop = """text => {
        const dropped = new DataTransfer();
        dropped.items.add(new File([text], "dropped.jsonl"));
        document.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, cancelable: true }));
    }"""
    await page.evaluate(drop, GAME.read_text())
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_focused()


@pytest.mark.parametrize(
    ("held", "headline", "said"),
    [
        ("last", "Every check passed", "It is the one that this browser saw"),
        ("earlier", "Every check passed", "This browser last saw event 9 of the game"),
        ("other", "This is not the game that your browser saw", "This browser saw another hash"),
    ],
)
async def test_the_hash_this_browser_holds_is_compared(page: Page, held: str, headline: str, said: str) -> None:
    hashes = [line.split('"')[5] for line in GAME.read_text().splitlines()[1:]]
    head = {"last": hashes[-1], "earlier": hashes[8], "other": "0" * 64}[held]
    show = """async ([text, heldHead]) => {
        const { show } = await import(new URL("view.js", location.href));
        show(document.getElementById("result"), text, { heldHead });
    }"""
    await page.evaluate(show, [GAME.read_text(), head])
    await expect(page.get_by_role("heading", name=headline)).to_be_visible()
    await expect(page.get_by_text(said)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fair", [True, False])
async def test_nothing_is_out_of_reach(
    page: Page, tmp_path: Path, fair: bool, scheme: Literal["light", "dark"]
) -> None:
    """No rule of WCAG that axe knows is broken, and nothing needs scrolling sideways, with every detail open."""
    await page.emulate_media(color_scheme=scheme)
    await page.get_by_label("Choose a saved game").set_input_files(GAME if fair else broken(tmp_path))
    await expect(page.get_by_role("heading", level=2)).to_be_focused()
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    axe = (checkout() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    await page.evaluate(axe)
    assert await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, help }) => [id, help]))") == []
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
