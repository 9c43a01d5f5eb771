"""People in real browsers: two windows at one game, others who watch, and whatever may tear."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from rules.fifty_states import Captured, Committed, Revealed
from rules.game import Dealt, Fact, Finished, Seated
from tests import browser as at
from tests.browser import visiting
from tests.running import Server, serving

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

STATES = "The Game of 50 States"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("people")) as server:
        yield server


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


@pytest.fixture
async def fourth(browser: Browser, server: Server) -> AsyncIterator[BrowserContext]:
    async with visiting(browser, server) as context:
        yield context


async def at_one_table(one: BrowserContext, other: BrowserContext, game: str, pace: str | None = None) -> list[Page]:
    """Two pages at a game that one invited the other to, with the cards dealt."""
    host = await at.arrive(one)
    address = await at.invite(host, game, pace)
    guest = await other.new_page()
    await at.take_seat(guest, address)
    return [host, guest]


async def replayed(context: BrowserContext, game: bytes) -> Page:
    """The finished game's last moment, in a window that never saw it before."""
    page = await at.arrive(context, f"/#/game/{game.hex()}/replay")
    await expect(page.get_by_role("slider", name="Moment of the game")).to_be_visible()
    await page.keyboard.press("End")
    await expect(at.ending(page)).to_be_visible()
    return page


@pytest.mark.thorough
async def test_two_windows_play_a_whole_game_a_third_watches_and_a_fourth_replays(
    one: BrowserContext, other: BrowserContext, third: BrowserContext, fourth: BrowserContext, server: Server
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
    replay = await replayed(fourth, game)
    battles = len([fact for fact in facts if isinstance(fact, Captured)])
    for page in (watcher, replay):
        await expect(at.ending(page)).to_have_text(f"{who} wins")
    assert [await at.matches(page) for page in (host, guest, watcher, replay)] == [battles] * 4
    told = [await verdict(page) for page in (watcher, replay)]
    assert told[0] == told[1] != ""
    await looks_from_each_seat(replay, game, server)
    assert server.audit(game).passed
    await guest.get_by_role("link", name="How fair was this?").click()
    await expect(guest.get_by_role("heading", name="Every check passed")).to_be_visible()
    await expect(guest.get_by_text("is the one this browser made")).to_be_visible()
    assert len([fact for fact in facts if isinstance(fact, Committed)]) == 2 * battles


async def verdict(page: Page) -> str:
    return await page.locator(".verdict").inner_text()


async def looks_from_each_seat(page: Page, game: bytes, server: Server) -> None:
    """Whoever is looked at as sits next to us, with the hand that was dealt."""
    facts = at.facts_of(server, game)
    dealt = next(number for number, fact in enumerate(facts, 1) if isinstance(fact, Dealt))
    revealed = [number for number, fact in enumerate(facts, 1) if isinstance(fact, Revealed)]
    await page.get_by_label("Moment of the game").fill(str(revealed[0]))
    await expect(page.locator(".verdict")).to_have_text("Both cards are sealed, and are being shown …")
    for seat, mine, theirs in (
        (1, "The second player", "The first player"),
        (0, "The first player", "The second player"),
    ):
        await page.get_by_label("Seen by").select_option(label=mine)
        await page.get_by_label("Moment of the game").fill(str(dealt))
        await expect(page.get_by_role("heading", level=1)).to_have_text(f"The Game of 50 States: {theirs}")
        await expect(page.get_by_role("heading", name=f"{theirs}’s hand · 7 cards")).to_be_visible()
        held = page.locator(".open-hand")
        await expect(held).to_have_count(1)
        await expect(held.get_by_role("heading")).to_have_text(f"{mine} holds 7")
        cards = {int(text.split()[0]) for text in await held.locator(".tag").all_inner_texts()}
        played = {fact.card for fact in facts if isinstance(fact, Revealed) and fact.seat == seat and fact.battle < 4}
        assert played <= cards
    await page.get_by_label("Moment of the game").fill(str(len(facts)))
    await expect(at.ending(page)).to_be_visible()


@pytest.mark.thorough
async def test_two_who_wait_are_brought_to_one_table_and_war_goes_on_while_one_is_offline(
    one: BrowserContext, third: BrowserContext, fourth: BrowserContext, browser: Browser, server: Server
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
        watcher = await at.arrive(third, f"/#/game/{game.hex()}")
        await expect(watcher.get_by_text("You are watching.").first).to_be_visible()
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
        await at.turn_out(first, second)
        finished = next(fact for fact in at.facts_of(server, game) if isinstance(fact, Finished))
        seats = {at_: seat for seat, at_ in enumerate(seated(at.facts_of(server, game)))}
        for page in (first, second):
            mine = seats[await at.player_of(page)]
            words = "You win" if finished.winner == mine else "Your opponent wins"
            await expect(at.ending(page)).to_have_text("A draw" if finished.winner is None else words)
            await expect(page.get_by_role("button", name="Rematch")).to_be_visible()
        assert await at.war_piles(first) == (await at.war_piles(second))[::-1]
        # Who watched and who looks at it afterwards see what the two saw, from the first seat.
        replay = await replayed(fourth, game)
        host = (first, second)[seats[await at.player_of(second)] == 0]
        for page in (watcher, replay):
            winner = ("The first player wins", "The second player wins")[finished.winner or 0]
            await expect(at.ending(page)).to_contain_text("A draw" if finished.winner is None else winner)
            assert await at.war_piles(page) == await at.war_piles(host)
            assert await at.battles(page) == await at.battles(host)
    assert server.audit(game).passed


def seated(facts: list[Fact]) -> list[bytes]:
    """Who sits in seat 0 and in seat 1."""
    return [fact.player for fact in sorted((f for f in facts if isinstance(f, Seated)), key=lambda fact: fact.seat)]


@pytest.mark.thorough
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
    # Whoever reads another page meanwhile shows the card all the same.
    await at.seal(guest)
    await guest.goto("/#/how")
    await at.seal(host)
    await at.played(host, 1)
    await guest.go_back()
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
        await at.played(page, 2)
    facts = at.facts_of(server, at.game_of(host))
    assert [fact.card for fact in facts if isinstance(fact, Revealed) and fact.seat == 1][1:] == [card]
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


@pytest.mark.thorough
async def test_a_seat_stands_open_in_the_lobby_and_the_television_moves_on(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        async with (
            visiting(browser, server) as one,
            visiting(browser, server) as other,
            visiting(browser, server) as third,
        ):
            watcher = await at.arrive(third, "/#/tv")
            await expect(watcher.get_by_role("heading", name="Nothing is on")).to_be_visible()
            host, guest = await at.arrive(one, "/#/lobby"), await at.arrive(other, "/#/lobby")
            await expect(guest.get_by_text("No seat is open just now.")).to_be_visible()
            await at.seek(host, STATES)
            await host.get_by_role("button", name="Open a seat in the lobby").click()
            await guest.get_by_role("link", name=f"Take the seat {STATES}").click()
            await guest.get_by_role("button", name="Take the seat").click()
            for page in (host, guest):
                await expect(at.hand(page)).to_have_count(7)
            await expect(watcher.get_by_text("Both are choosing a card.")).to_be_visible()
            await at.match_between(host, guest)
            await at.played(watcher, 1)
            await host.get_by_role("button", name="Resign").click()
            await host.get_by_role("dialog").get_by_role("button", name="Resign").click()
            await expect(at.ending(watcher)).to_have_text("The second player wins")
            # What begins now is shown by itself.
            await at.arrive(one)
            await host.goto("/")
            await at.open_war(host, "Gameweave War")
            await at.turn(host)
            await expect(watcher.get_by_role("heading", name="Gameweave War")).to_be_visible()
            await at.turned(watcher, 1)


async def test_a_seat_is_taken_and_a_match_is_played_by_keyboard_alone(
    one: BrowserContext, other: BrowserContext
) -> None:
    host = await at.arrive(one)
    address = await at.invite(host, STATES)
    guest = await at.arrive(other, address)
    await expect(guest.get_by_role("heading", level=1)).to_have_text("A seat is free for you")
    await stop_at(guest, "Take the seat")
    await guest.keyboard.press("Enter")
    await expect(at.hand(guest)).to_have_count(7)
    await stop_at(guest, "choice")
    await guest.keyboard.press("End")
    await guest.keyboard.press("Space")
    await stop_at(guest, "Seal")
    await guest.keyboard.press("Enter")
    await expect(at.seal_button(guest)).to_have_text("Sealed")
    await at.seal(host)
    await at.played(guest, 1)
    assert await guest.evaluate("document.activeElement !== document.body")
    # What happened is said once, and no second of the clock is.
    said = await at.heard(guest)
    assert [line.split(":")[0] for line in said][-1] == "Round 1, match 1"
    assert len(said) == 2


async def stop_at(page: Page, wanted: str) -> None:
    """Tab to a control by its words or its class."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await page.evaluate(
            "wanted => { const here = document.activeElement; return here.classList.contains(wanted)"
            " || here.textContent.trim().startsWith(wanted); }",
            wanted,
        ):
            return
    raise AssertionError("no such stop")


async def every_screen(host: Page, guest: Page) -> AsyncIterator[tuple[str, Page]]:
    """All that people meet with, each as soon as it stands."""
    await host.goto("/")
    await at.seek(host, STATES)
    yield "first page", host
    await host.goto("/#/lobby")
    await expect(host.get_by_role("heading", name="The lobby")).to_be_visible()
    await at.find(host, STATES)
    await expect(host.get_by_text("Looking for somebody")).to_be_visible()
    yield "lobby, waiting", host
    await host.get_by_role("button", name="Stop waiting").click()
    await host.get_by_role("button", name="Open a seat in the lobby").click()
    await expect(host.get_by_label("The link to this game")).to_be_visible()
    yield "room", host
    await guest.goto("/#/lobby")
    await guest.get_by_role("link", name="Take the seat").first.click()
    await expect(guest.get_by_role("button", name="Take the seat")).to_be_visible()
    yield "a free seat", guest
    await guest.get_by_role("button", name="Take the seat").click()
    await at.seal(host)
    await expect(guest.get_by_text("has sealed a card. Choose yours.").first).to_be_visible()
    for page in (host, guest):
        yield "table", page
    await at.seal(guest)
    await at.played(host, 1)
    yield "shown", host
    await guest.get_by_role("button", name="Resign").click()
    await guest.get_by_role("dialog").get_by_role("button", name="Resign").click()
    await expect(at.ending(host)).to_be_visible()
    yield "end", guest
    await host.get_by_role("button", name="Rematch").click()
    await expect(guest.get_by_role("button", name="Accept the rematch")).to_be_visible()
    yield "rematch offered", guest
    await guest.goto("/")
    await guest.get_by_role("button", name="Accept the rematch").click()
    await expect(at.hand(guest)).to_have_count(7)
    await host.goto("/#/")
    await at.invite(host, "Playbook War")
    await guest.goto(host.url)
    await guest.get_by_role("button", name="Take the seat").click()
    await at.dealt(guest)
    yield "war", guest


@pytest.mark.thorough
async def test_every_screen_fits_a_phone_and_axe_finds_nothing_serious(browser: Browser, server: Server) -> None:
    looks: list[dict[str, Any]] = [
        {"viewport": {"width": 320, "height": 568}, "has_touch": True, "color_scheme": "light"},
        {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    ]
    async with (
        visiting(browser, server, bypass_csp=True, **looks[0]) as phone,
        visiting(browser, server, bypass_csp=True, **looks[1]) as desk,
    ):
        for host, guest in ((phone, desk), (desk, phone)):
            async for name, page in every_screen(await host.new_page(), await guest.new_page()):
                width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert (name, width, await at.violations(page)) == (name, 0, [])


async def test_a_seat_that_nobody_took_has_nothing_to_replay_and_the_lobby_leads_nowhere_but_on(
    one: BrowserContext, other: BrowserContext
) -> None:
    host = await at.arrive(one, "/#/lobby")
    section = host.get_by_role("region", name="Play a person")
    await expect(section.get_by_role("link", name="Lobby and live games")).to_have_count(0)
    # Side by side where there is room.
    tops = await section.locator(".games-of .button").evaluate_all("all => all.map((each) => each.offsetTop)")
    assert len(tops) == 4
    assert len(set(tops)) == 1
    await at.seek(host, STATES)
    await host.get_by_role("button", name="Open a seat in the lobby").click()
    await host.get_by_role("button", name="Take the invitation back").click()
    await expect(host.get_by_role("button", name="Take the invitation back")).to_have_count(0)
    stranger = await at.arrive(other, f"/#/game/{at.game_of(host).hex()}/replay")
    await expect(stranger.get_by_role("heading", name="Nothing to replay")).to_be_visible()
