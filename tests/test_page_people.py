"""People in real browsers: two windows at one game, others who watch, and whatever may tear."""

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from rules.fifty_states import Captured, Committed, Revealed
from rules.game import Fact, Finished, Seated
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
    await watcher.get_by_role("link", name=f"Watch {STATES}").click()
    await expect(watcher.get_by_text("You are watching.")).to_be_visible()
    await expect(host.get_by_text("1 is watching.")).to_be_visible()
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


async def test_two_who_wait_are_brought_to_one_table_and_war_goes_on_while_one_is_offline(
    one: BrowserContext, browser: Browser, server: Server
) -> None:
    # The browser says aloud that it has no network.
    async with visiting(browser, server, expected=("ERR_INTERNET_DISCONNECTED",)) as context:
        first, second = await at.arrive(one), await at.arrive(context)
        await at.find(first, "Playbook War")
        await expect(first.get_by_text("Looking for somebody")).to_be_visible()
        await at.find(second, "Playbook War")
        for page in (first, second):
            await at.dealt(page)
            await expect(page.get_by_text("This game counts.")).to_be_visible()
        game = at.game_of(first)
        assert at.game_of(second) == game
        await first.locator(".confirm").click()
        await second.locator(".confirm").click()
        for page in (first, second):
            await at.turned(page, 1)
        await at.network(context, on=False)
        # Who is away turns by the clock.
        await at.turned(first, 3)
        await expect(first.get_by_text("is away; the clock turns in their place.")).to_be_visible()
        await at.network(context, on=True)
        await at.turned(second, 3)
        while not await at.ending(first).count():
            before = await at.battles(first)
            for page in (first, second):
                if not await at.ending(page).count():
                    await page.get_by_role("button", name="Play 10 battles").click()
            await at.turned(first, before + 1)
        finished = next(fact for fact in at.facts_of(server, game) if isinstance(fact, Finished))
        seats = {at_: seat for seat, at_ in enumerate(seated(at.facts_of(server, game)))}
        for page in (first, second):
            mine = seats[await at.player_of(page)]
            words = "You win" if finished.winner == mine else "Your opponent wins"
            await expect(at.ending(page)).to_have_text("A draw" if finished.winner is None else words)
            await expect(page.get_by_role("button", name="Rematch")).to_be_visible()
        assert await at.war_piles(first) == (await at.war_piles(second))[::-1]
    assert server.audit(game).passed


def seated(facts: list[Fact]) -> list[bytes]:
    """Who sits in seat 0 and in seat 1."""
    return [fact.player for fact in sorted((f for f in facts if isinstance(f, Seated)), key=lambda fact: fact.seat)]


async def test_who_never_comes_back_is_shown_to_be_away_and_loses_on_time(
    one: BrowserContext, other: BrowserContext, server: Server
) -> None:
    host, guest = await at_one_table(one, other, STATES, "15")
    await at.seal(host)
    await guest.close()
    await expect(host.get_by_text("Your opponent is away and loses in 0:")).to_be_visible()
    await expect(at.ending(host)).to_have_text("You win")
    await expect(host.get_by_text("Your opponent is out of time.", exact=True)).to_be_visible()
    assert (await at.heard(host))[-1] == "The game is over: your opponent is out of time. You win."
    finished = next(fact for fact in at.facts_of(server, at.game_of(host)) if isinstance(fact, Finished))
    assert finished == Finished(0, "time")
    assert server.audit(at.game_of(host)).passed


async def test_a_second_device_shows_the_card_that_was_sealed_on_the_first(
    one: BrowserContext, other: BrowserContext, third: BrowserContext, server: Server
) -> None:
    host, guest = await at_one_table(one, other, STATES, "3600")
    desk = await other.new_page()
    await desk.goto("/")
    await desk.get_by_role("button", name="Make a recovery link").click()
    link = await desk.get_by_label("Your recovery link").input_value()
    card = await at.seal(guest)
    for page in (desk, guest):
        await page.close()
    device = await at.arrive(third, link)
    await device.get_by_role("link", name="Go to the table").click()
    await expect(device.locator(f"[role=radio][data-card='{card}']")).to_be_checked()
    await at.seal(host)
    for page in (host, device):
        await at.played(page, 1)
    facts = at.facts_of(server, at.game_of(host))
    assert [fact.card for fact in facts if isinstance(fact, Revealed) and fact.seat == 1] == [card]
    await expect(device.get_by_text("isn’t the one this browser made")).to_have_count(0)


async def test_a_place_in_the_queue_is_kept_while_a_rival_is_played(
    one: BrowserContext, other: BrowserContext, server: Server
) -> None:
    page = await at.arrive(one)
    await at.find(page, STATES)
    await expect(page.get_by_text("Looking for somebody")).to_be_visible()
    await expect(page.get_by_role("button", name="Meanwhile, a rival")).to_have_count(0)
    # Twenty seconds later, after the page was loaded again.
    await page.evaluate(
        """() => {
            const waiting = JSON.parse(sessionStorage["statecraft.waiting"]);
            for (const place of Object.values(waiting)) place.sinceMs -= 20_000;
            sessionStorage["statecraft.waiting"] = JSON.stringify(waiting);
        }"""
    )
    await page.reload()
    await page.get_by_role("button", name="Meanwhile, a rival").click()
    await expect(at.hand(page)).to_have_count(7)
    rival = at.game_of(page)
    await expect(page.get_by_text("You wait for somebody to play")).to_be_visible()
    partner = await at.arrive(other)
    await at.find(partner, STATES)
    await page.get_by_role("button", name="Go to the table").click()
    for each in (page, partner):
        await expect(at.hand(each)).to_have_count(7)
        await expect(each.get_by_text("This game counts.")).to_be_visible()
    assert at.game_of(page) == at.game_of(partner) != rival
    await partner.get_by_role("button", name="Resign").click()
    question = partner.get_by_role("dialog", name="Resign this game?")
    await question.get_by_role("button", name="Resign").click()
    for each, words in ((page, "You win"), (partner, "Your opponent wins")):
        await expect(at.ending(each)).to_have_text(words)
    # A rematch has the seats swapped and counts for nothing.
    before = seated(at.facts_of(server, at.game_of(page)))
    await page.get_by_role("button", name="Rematch").click()
    await partner.get_by_role("button", name="Accept the rematch").click()
    for each in (page, partner):
        await expect(each.get_by_text("Played for nothing.")).to_be_visible()
        await expect(at.hand(each)).to_have_count(7)
    assert seated(at.facts_of(server, at.game_of(page))) == before[::-1]
