"""People in real browsers: two windows at one game, others who watch, and whatever may tear."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from rules.fifty_states import Captured, Committed, Revealed
from rules.game import Finished
from tests import browser as at
from tests.browser import visiting
from tests.running import Server, serving

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

STATES = "The Game of 50 States"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("people")) as server:
        yield server


@pytest.fixture(scope="module")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=at.CHROMIUM, args=list(at.FLAGS))
        yield browser
        await browser.close()


@pytest.fixture
async def one(browser: Browser, server: Server) -> AsyncIterator[BrowserContext]:
    async with visiting(browser, server) as context:
        yield context


@pytest.fixture
async def other(browser: Browser, server: Server) -> AsyncIterator[BrowserContext]:
    async with visiting(browser, server) as context:
        yield context


@pytest.fixture
async def third(browser: Browser, server: Server) -> AsyncIterator[BrowserContext]:
    async with visiting(browser, server) as context:
        yield context


async def at_one_table(one: BrowserContext, other: BrowserContext, game: str, pace: str | None = None) -> list[Page]:
    """Two pages at a game that one invited the other to, with the cards dealt."""
    host = await at.arrive(one)
    address = await at.invite(host, game, pace)
    guest = await other.new_page()
    await at.take_seat(guest, address)
    return [host, guest]


async def test_two_windows_play_a_whole_game_and_a_third_watches(
    one: BrowserContext, other: BrowserContext, third: BrowserContext, server: Server
) -> None:
    host, guest = await at_one_table(one, other, STATES)
    for page in (host, guest):
        await expect(at.hand(page)).to_have_count(7)
    game = at.game_of(host)
    watcher = await at.arrive(third, "/#/lobby")
    await watcher.get_by_role("link", name=f"Watch, {STATES}").click()
    await expect(watcher.get_by_text("You are watching.")).to_be_visible()
    await expect(host.get_by_text("1 watches.")).to_be_visible()
    # One page is loaded again between its seal and the other's: its card stays hidden, and is shown by itself.
    card = await at.seal(host)
    await host.reload()
    await expect(host.locator(f"[role=radio][data-card='{card}']")).to_be_checked()
    assert not [fact for fact in at.facts_of(server, game) if isinstance(fact, Revealed)]
    await at.seal(guest)
    for page in (host, guest, watcher):
        await at.played(page, 1)
    while not await at.ending(host).count():
        await at.match_between(host, guest)
    facts = at.facts_of(server, game)
    (finished,) = [fact for fact in facts if isinstance(fact, Finished)]
    for seat, page in enumerate((host, guest)):
        await expect(at.ending(page)).to_have_text("You win" if finished.winner == seat else "Your opponent wins")
    who = ("The first player", "The second player")[finished.winner or 0]
    await expect(at.ending(watcher)).to_have_text(f"{who} wins")
    battles = len([fact for fact in facts if isinstance(fact, Captured)])
    assert [await at.matches(page) for page in (host, guest, watcher)] == [battles] * 3
    assert server.audit(game).passed
    await guest.get_by_role("link", name="How fair was this?").click()
    await expect(guest.get_by_role("heading", name="Every check passed")).to_be_visible()
    await expect(guest.get_by_text("is the one this browser made")).to_be_visible()
    assert len([fact for fact in facts if isinstance(fact, Committed)]) == 2 * battles
