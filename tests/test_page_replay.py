"""The replay page in a real browser: scrubbed, stepped, played, shared, and looked back into from a running game."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from events.chain import Stored
from projections.replay import Recording
from projections.saved import load
from rules.fifty_states import Captured
from tests import browser as at
from tests.browser import visiting
from tests.running import Client, Server, connected, serving

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@dataclass(frozen=True, slots=True)
class Games:
    """One of each kind, finished."""

    states: bytes
    war: bytes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("replay page")) as server:
        yield server


@pytest.fixture(scope="module")
async def games(server: Server) -> Games:
    async with connected(server, server.join()) as client:
        states = await client.open("strategic")
        await client.play_on(await client.follow(states), Random(7))
        return Games(states, await a_war(client))


async def a_war(client: Client) -> bytes:
    """Of seed 12, left after twelve battles."""
    opened = await client.ask("open", rules="classic/1", mode="house", settings={"seed": 12})
    game = bytes.fromhex(opened["game"])
    for battle in range(1, 13):
        assert (await client.do(game, {"do": "Turn", "battle": battle, "times": 1}))["type"] == "done"
    assert (await client.do(game, {"do": "Resign"}))["type"] == "done"
    return game


def events_of(server: Server, game: bytes) -> tuple[Stored, ...]:
    return load(server.export(game)).events


def recorded(server: Server, game: bytes) -> Recording:
    return Recording(game, events_of(server, game))


def decided(recording: Recording) -> list[int]:
    last = recording.head.version
    return [version for version in range(1, last + 1) if isinstance(recording.at(version).fact, Captured)]


async def shows(page: Page, version: int, last: int) -> None:
    """The moment is there, with its table: the address is written when it has come."""
    await expect(page.locator(".player-count")).to_have_text(f"{version} of {last}")
    await page.wait_for_function("at => location.hash.includes(`at=${at}`)", arg=version)


async def open_hands(page: Page) -> dict[int, list[int]]:
    """By seat, the cards that are shown."""
    found: dict[int, list[int]] = {}
    for hand in await page.locator(".open-hand").all():
        cards = await hand.locator(".tag").evaluate_all(
            "all => all.map((each) => parseInt(each.textContent.match(/\\d+/)))"
        )
        found[int(await hand.get_attribute("data-seat") or -1)] = cards
    return found


async def discarded(page: Page) -> int:
    """What the table's card index says has left the game."""
    return int(await page.locator(".legend li", has_text="Discarded").locator("b").inner_text())


async def test_a_finished_game_is_stepped_through_by_keys_and_by_the_bar(
    browser: Browser, server: Server, games: Games
) -> None:
    recording = recorded(server, games.states)
    last, ends = recording.head.version, decided(recording)
    async with visiting(browser, server) as context:
        page = await at.arrive(context, f"/#/game/{games.states.hex()}")
        await page.get_by_role("link", name="Replay", exact=True).click()
        await shows(page, 3, last)
        for key, version in (
            ("ArrowRight", 4),
            ("ArrowRight", 5),
            ("ArrowLeft", 4),
            ("Shift+ArrowRight", ends[0]),
            ("Shift+ArrowRight", ends[1]),
            ("Shift+ArrowLeft", ends[0]),
            ("End", last),
            ("ArrowRight", last),
            ("Shift+ArrowLeft", ends[-1]),
            ("Home", 3),
            ("ArrowLeft", 3),
        ):
            await page.keyboard.press(key)
            await shows(page, version, last)
        # A control that has the focus has the keys: the bar moves by itself, and once.
        bar = page.get_by_role("slider", name="Moment of the game")
        await bar.focus()
        await page.keyboard.press("ArrowRight")
        await shows(page, 4, last)
        assert str(await bar.get_attribute("aria-valuetext")).startswith(f"Event 4 of {last}: ")
        for version in (ends[2], ends[4], last, ends[0]):
            await bar.fill(str(version))
            await shows(page, version, last)
            assert await discarded(page) == len(recording.at(version).table.position.discarded)
        # Dragged as fast as a hand can: one question is under way at a time, and the last one is shown.
        await page.evaluate(
            """last => { const bar = document.getElementById("scrub"); for (let at = 3; at <= last; at++) {
                bar.value = at; bar.dispatchEvent(new Event("input", { bubbles: true })); } }""",
            last,
        )
        await shows(page, last, last)
        await expect(at.ending(page)).to_be_visible()
        await page.get_by_role("link", name="To the table").click()
        await page.wait_for_url(f"**/#/game/{games.states.hex()}")


async def test_hands_are_seen_from_each_seat_and_a_moment_is_shared_by_its_link(
    browser: Browser, server: Server, games: Games
) -> None:
    recording = recorded(server, games.states)
    last = recording.head.version
    async with visiting(browser, server) as context, visiting(browser, server) as other:
        page = await at.arrive(context, f"/#/game/{games.states.hex()}/replay?at=20")
        await shows(page, 20, last)
        assert await open_hands(page) == {}
        for view, seats in (("0", [0]), ("1", [1]), ("open", [0, 1])):
            await page.get_by_label("Seen by").select_option(view)
            await page.wait_for_function("as => location.hash.endsWith(`as=${as}`)", arg=view)
            hands = recording.at(20).hands
            assert hands is not None
            assert await open_hands(page) == {seat: list(hands[seat]) for seat in seats}
        await page.get_by_role("button", name="On a battle").click()
        await shows(page, next(version for version in decided(recording) if version > 20), last)
        await page.get_by_role("button", name="Copy link").click()
        guest = await at.arrive(other, page.url.removeprefix(server.url))
        await shows(guest, int(page.url.split("at=")[1].split("&")[0]), last)
        assert await open_hands(guest) == await open_hands(page)
        await page.reload()
        await expect(page.locator(".open-hand")).to_have_count(2)


async def test_a_moment_that_comes_as_somebody_leaves_calls_nobody_back(
    context: BrowserContext, server: Server, games: Games
) -> None:
    page = await at.arrive(context, f"/#/game/{games.states.hex()}/replay?at=20")
    await shows(page, 20, recorded(server, games.states).head.version)
    await page.evaluate(
        """async (address) => {
            const { moved } = await import("/route.js");
            location.hash = "#/lobby";
            moved(address);
        }""",
        f"#/game/{games.states.hex()}/replay?at=21",
    )
    await expect(page.get_by_role("heading", name="The lobby")).to_be_visible()
    await page.go_back()
    await shows(page, 20, recorded(server, games.states).head.version)


async def test_a_replay_plays_by_itself_pauses_and_starts_again_at_its_end(
    browser: Browser, server: Server, games: Games
) -> None:
    recording = recorded(server, games.states)
    last = recording.head.version
    async with visiting(browser, server) as context:
        page = await at.arrive(context, f"/#/game/{games.states.hex()}/replay?at={last - 9}&as=open")
        await shows(page, last - 9, last)
        for _ in range(4):
            await page.keyboard.press("+")
        await expect(page.get_by_label("Speed")).to_have_value("8")
        await page.keyboard.press(" ")
        await shows(page, last, last)
        await expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        assert any("game is over" in line or "wins" in line for line in await at.heard(page))
        # From the end it begins anew; the pause stays where it was pressed.
        await page.keyboard.press(" ")
        await page.wait_for_function("last => Number(document.getElementById('scrub').value) < last", arg=last)
        await page.keyboard.press(" ")
        await expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        await page.wait_for_function("() => location.hash.includes(`at=${document.getElementById('scrub').value}&`)")


async def test_who_looks_back_in_a_running_game_is_not_yanked_and_live_returns(
    browser: Browser, server: Server
) -> None:
    async with connected(server, server.join()) as client, visiting(browser, server) as context:
        game = await client.open("relaxed")
        followed = await client.follow(game)
        await client.mix(followed)
        await client.play(followed)
        page = await at.arrive(context, f"/#/game/{game.hex()}/replay?as=open")
        last = followed.head.version
        await shows(page, last, last)
        assert await page.get_by_label("Seen by").count() == 0  # nobody is shown a hand of a game that runs
        await page.keyboard.press("Shift+ArrowLeft")
        await page.keyboard.press("ArrowLeft")
        await shows(page, last - 2, last)
        shown = await page.locator(".desk").inner_text()
        for _ in range(2):
            await client.play(followed)
        await expect(page.locator(".player-count")).to_have_text(f"{last - 2} of {followed.head.version}")
        assert await page.locator(".desk").inner_text() == shown
        await page.get_by_role("link", name="Live").click()
        await page.wait_for_url(f"**/#/game/{game.hex()}")
        await expect(page.locator(".matches summary b")).to_have_text("3")


async def test_a_war_is_replayed_battle_by_battle(browser: Browser, server: Server, games: Games) -> None:
    last = len(events_of(server, games.war))
    async with visiting(browser, server) as context:
        page = await at.arrive(context, f"/#/game/{games.war.hex()}/replay")
        await expect(page.locator(".player-count")).to_have_text(f"3 of {last}")
        for _ in range(5):
            await page.keyboard.press("Shift+ArrowRight")
        # Nine of hearts against nine of clubs: the war in which five of spades beats two of clubs.
        await expect(page.locator("#battles")).to_have_text("5")
        await expect(page.locator("#wars")).to_have_text("1")
        assert await at.war_piles(page) == (29, 23)
        await page.keyboard.press("End")
        await expect(page.locator("#battles")).to_have_text("12")


@pytest.mark.parametrize("wrong", ["?at=x", "?at=-1", "?as=2", "?at=99999999&as=open", "?at=0"])
async def test_an_address_that_says_too_much_shows_what_there_is(
    browser: Browser, server: Server, games: Games, wrong: str
) -> None:
    last = len(events_of(server, games.states))
    async with visiting(browser, server) as context:
        page = await at.arrive(context, f"/#/game/{games.states.hex()}/replay{wrong}")
        await expect(page.locator(".player-count")).to_have_text(f"{last if '9999' in wrong else 3} of {last}")
        unknown = await at.arrive(context, f"/#/game/{bytes(16).hex()}/replay")
        await expect(unknown.get_by_role("heading", name="No replay here")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_replay_fits_a_screen_of_320_pixels_and_axe_finds_nothing_serious(
    browser: Browser, server: Server, games: Games, scheme: Any
) -> None:
    options: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": scheme, "bypass_csp": True}
    async with visiting(browser, server, **options) as context:
        for game, rest in ((games.states, "?at=20&as=open"), (games.war, "?at=20")):
            page = await at.arrive(context, f"/#/game/{game.hex()}/replay{rest}")
            await expect(page.locator(".player-count")).to_contain_text("20 of")
            assert await page.evaluate("document.documentElement.scrollWidth") <= 320
            assert await at.violations(page) == []
