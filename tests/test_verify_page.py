"""The page that checks a saved game, in a real browser: with the network off, by keyboard, on a small screen."""

import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect

from events import entries
from projections import saved
from projections.told import told
from rules.war import CLASSIC
from tests.ledgers import HAND
from tests.npm import checkout
from tests.positions import war_game
from tests.test_proof_js import placed

TOP = Path(__file__).resolve().parent.parent
GOLDEN = TOP / "tests" / "golden"
GAME = GOLDEN / "fifty-states-relaxed.jsonl"
WAR = GOLDEN / "war-classic-seed-12.jsonl"

nodes_max = 5_000
"""In the page, however long the game."""

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


def broken(tmp_path: Path, game: Path = GAME) -> Path:
    """The game with its seventeenth event said to be the eighteenth."""
    path = tmp_path / "broken.jsonl"
    path.write_text(game.read_text().replace('"version":17,', '"version":18,'))
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


async def test_a_fair_war_is_told_battle_by_battle_a_page_at_a_time(page: Page) -> None:
    await page.get_by_label("Choose a saved game").set_input_files(WAR)
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_focused()
    await expect(page.get_by_text("Classic War, 3 face down in a war, full length, open deal 12")).to_be_visible()
    battles = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Battle"))
    await expect(battles).to_have_count(50)
    fifth = battles.nth(4)
    for words in ("Battle 5", "9♥", "3\u00a0down", "5♠", "9♣", "2♣", "The player, 10\u00a0cards", "29\u00a0:\u00a023"):
        await expect(fifth).to_contain_text(words)
    pages = page.get_by_role("navigation", name="Pages of battles")
    later = pages.get_by_role("button", name="Later battles")
    await later.focus()
    await later.press("Enter")
    await expect(battles.first).to_contain_text("Battle 51")
    await expect(pages.get_by_role("status")).to_have_text("Battles 51 to 100 of 146")
    await later.press("Enter")
    await expect(battles).to_have_count(46)
    await expect(later).to_be_focused()
    await expect(later).to_have_attribute("aria-disabled", "true")
    await later.press("Enter")
    await expect(battles.first).to_contain_text("Battle 101")
    await pages.get_by_label("Go to").select_option("1 to 50")
    await expect(battles.first).to_contain_text("Battle 1")
    await page.get_by_text("The piles as they were dealt").click()
    await expect(page.locator(".sc-hand").first.get_by_role("listitem")).to_have_count(26)
    await expect(page.get_by_text("Entropy of seat")).to_have_count(0)


async def test_a_war_of_thousands_of_battles_is_a_small_page(page: Page) -> None:
    war = war_game(CLASSIC, seed=13537, down=1, length="full").turn_out()
    show = """async (text) => {
        const { show } = await import(new URL("view.js", location.href));
        show(document.getElementById("result"), text);
        return document.querySelectorAll("*").length;
    }"""
    nodes = await page.evaluate(show, saved.save(war.game, war.events))
    await expect(page.get_by_text("2893 battles, with 232 wars")).to_be_visible()
    assert nodes < nodes_max


async def test_a_fault_in_a_long_war_is_on_the_page_that_opens(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    path.write_text(WAR.read_text().replace('"version":300,', '"version":301,'))
    await page.get_by_label("Choose a saved game").set_input_files(path)
    await expect(page.get_by_role("heading", name="This game does not check out: event 300")).to_be_focused()
    await expect(page.get_by_role("status").filter(has_text="Battles")).to_contain_text("Battles 51 to")


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
@pytest.mark.parametrize("game", [GAME, WAR], ids=lambda game: game.stem)
async def test_nothing_is_out_of_reach(
    page: Page, tmp_path: Path, game: Path, fair: bool, scheme: Literal["light", "dark"]
) -> None:
    """No rule of WCAG that axe knows is broken, and nothing needs scrolling sideways, with every detail open."""
    await page.emulate_media(color_scheme=scheme)
    await page.get_by_label("Choose a saved game").set_input_files(game if fair else broken(tmp_path, game))
    await expect(page.get_by_role("heading", level=2)).to_be_focused()
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    axe = (checkout() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    await page.evaluate(axe)
    assert await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, help }) => [id, help]))") == []
    assert await page.evaluate("document.documentElement.scrollWidth") == 320


# ---------------------------------------------------------------- proofs


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The saved game as it stands in a ledger of three leaves."""
    game = saved.load(GAME.read_bytes())
    opening, closing = told(game)
    assert opening is not None
    assert closing is not None
    path = tmp_path_factory.mktemp("proof") / "game.proof.jsonl"
    path.write_bytes(placed(game, entries.encode(opening), entries.encode(closing)))
    return path


async def test_a_proof_is_said_to_hold_and_whose_ledger_it_is(page: Page, proof: Path) -> None:
    await page.get_by_label("Choose a saved game").set_input_files(proof)
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_focused()
    await expect(
        page.get_by_text("The game’s opening is leaf 0 and its closing is leaf 2 of a tree of 3 leaves")
    ).to_be_visible()
    await expect(page.get_by_text(str(HAND.key))).to_be_visible()
    await expect(page.get_by_text("This browser knows no key of the ledger.")).to_be_visible()
    await expect(page.get_by_text("until there is a ledger")).to_have_count(0)
    for key, words in (
        (str(HAND.key), "It is the key that this browser knows"),
        (f"{HAND.key}x", "It is not the ledger"),
    ):
        await page.evaluate("key => localStorage.setItem('statecraft.ledger', JSON.stringify(key))", key)
        await page.get_by_label("Choose a saved game").set_input_files(proof)
        await expect(page.get_by_text(words)).to_be_visible()
    await expect(page.get_by_role("heading", name="This proof does not hold")).to_be_focused()


def larger(proof: Path, folder: Path) -> Path:
    """The proof with a leaf more in its checkpoint, under the signature of the one without."""
    path = folder / "forged.jsonl"
    path.write_text(proof.read_text().replace("\\n3\\n", "\\n4\\n"))
    assert path.read_text() != proof.read_text()
    return path


async def test_a_proof_whose_tree_was_never_signed_does_not_hold_though_its_game_does(
    page: Page, proof: Path, tmp_path: Path
) -> None:
    await page.get_by_label("Choose a saved game").set_input_files(larger(proof, tmp_path))
    await expect(page.get_by_role("heading", name="This proof does not hold")).to_be_focused()
    await expect(page.get_by_text("The checkpoint’s signature doesn’t fit its text.")).to_be_visible()
    await expect(page.get_by_text("neither can be changed")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_proof_is_within_everybodys_reach(page: Page, proof: Path, scheme: Literal["light", "dark"]) -> None:
    await page.emulate_media(color_scheme=scheme)
    await page.get_by_label("Choose a saved game").set_input_files(proof)
    await expect(page.get_by_role("heading", level=2)).to_be_focused()
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    axe = (checkout() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    await page.evaluate(axe)
    assert await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, help }) => [id, help]))") == []
    assert await page.evaluate("document.documentElement.scrollWidth") == 320
