"""The three Wars on the page, in a real browser against a real server."""

import re
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any

import msgpack
import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from rules.game import Fact, Finished, Mixed, Opened, Unsealed
from rules.war import Readied, Turned
from tests import browser as at
from tests.browser import Wire, visiting
from tests.running import Server, serving

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

NAMES = {"playbook/1": "Playbook War", "gameweave/1": "Gameweave War", "classic/1": "Classic War"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("war")) as server:
        yield server


def of_type(facts: list[Fact], type_: type) -> list[Any]:
    return [fact for fact in facts if type(fact) is type_]


def settings(facts: list[Fact]) -> dict[str, int | str]:
    return dict(of_type(facts, Opened)[0].settings)


async def other_game(page: Page, before: bytes) -> bytes:
    """Wait for the table of another game than that one."""
    await page.wait_for_url(lambda url: "#/game/" in url and before.hex() not in url)
    await at.dealt(page)
    return at.game_of(page)


# ---------------------------------------------------------------- the first page


async def test_four_games_stand_on_the_first_page_each_with_a_word_on_what_it_is(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await expect(page.get_by_role("heading", name="The Game of 50 States", level=2)).to_be_visible()
    await expect(at.play_button(page, "relaxed")).to_be_visible()
    await expect(at.play_button(page, "strategic")).to_be_visible()
    for name in NAMES.values():
        drawer = page.get_by_role("article", name=name)
        await expect(drawer.locator(".style")).to_have_text(re.compile(r"\w{3,}.*\."))
        await expect(drawer.get_by_role("button", name=f"Play of {name}", disabled=False)).to_be_visible()


@pytest.mark.parametrize("rules", NAMES)
async def test_a_war_is_opened_dealt_and_turned_and_waits_on_the_first_page(
    context: BrowserContext, server: Server, rules: str
) -> None:
    page = await at.arrive(context)
    await at.open_war(page, NAMES[rules])
    game = at.game_of(page)
    assert await at.war_piles(page) == (26, 26)
    await at.turn(page)
    await page.get_by_role("link", name="Desks").click()
    await page.get_by_role("button", name=f"Continue your game of {NAMES[rules]}").click()
    await page.wait_for_url(f"**/#/game/{game.hex()}")
    await at.turned(page, 1)
    facts = at.facts_of(server, game)
    assert of_type(facts, Opened)[0].rules == rules
    assert len(of_type(facts, Mixed)) == 1
    assert of_type(facts, Readied) == [Readied(0, 1)]
    auto = page.get_by_role("button", name="Auto-play", exact=True)
    await expect(auto).to_have_count(1 if rules == "classic/1" else 0)
    why = page.get_by_text("Won cards go back under the pile in random order, for")
    await expect(why).to_have_count(1 if rules == "gameweave/1" else 0)


# ---------------------------------------------------------------- open deals


async def test_the_fifth_battle_of_seed_12_is_a_war_of_nines(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context, "/?seed=12")
    await at.dealt(page)
    for _ in range(5):
        await at.turn(page)
    mine, theirs = page.locator(".side.mine"), page.locator(".side.other")
    await expect(mine.locator(".slot > .unseen, .laid-count .unseen")).to_have_text(
        ["9 of hearts", " face down", "5 of spades"]
    )
    await expect(theirs.locator(".slot > .unseen, .laid-count .unseen")).to_have_text(
        ["9 of clubs", " face down", "2 of clubs"]
    )
    await expect(page.locator(".laid-count b")).to_have_text(["3", "3"])
    assert await at.war_piles(page) == (29, 23)
    await expect(mine.locator(".row.won")).to_contain_text("10 cards")
    await expect(page.locator("#wars")).to_have_text("1")
    await expect(page.locator(".verdict")).to_have_text(
        "9 of hearts against 9 of clubs: war, 3 down each, then your 5 of spades beats the 2 of clubs; "
        "you take 10 cards."
    )
    facts = at.facts_of(server, at.game_of(page))
    assert settings(facts) == {"down": 3, "length": "full", "seed": 12}
    assert not of_type(facts, Mixed)
    assert not of_type(facts, Opened)[0].counts


async def test_an_open_deal_is_kept_by_a_reload_and_new_game_drops_the_seed(
    context: BrowserContext, server: Server
) -> None:
    page = await at.arrive(context, "/?seed=12")
    await at.dealt(page)
    game = at.game_of(page)
    await at.turn(page)
    assert page.url == f"{server.url}/?seed=12#/game/{game.hex()}"
    await page.reload()
    await at.turned(page, 1)
    assert at.game_of(page) == game
    await expect(page.get_by_text("Open deal, seed 12.")).to_be_visible()
    # The same cards by another rule: the address still names them.
    await page.get_by_role("group", name="Cards down").get_by_role("button", name="1").click()
    second = await other_game(page, game)
    assert settings(at.facts_of(server, second)) == {"down": 1, "length": "full", "seed": 12}
    await page.get_by_role("button", name="New game").click()
    third = await other_game(page, second)
    await expect(page).to_have_url(f"{server.url}/#/game/{third.hex()}")
    assert settings(at.facts_of(server, third)) == {"down": 1, "length": "full"}
    assert of_type(at.facts_of(server, game), Finished) == [Finished(None, "left")]
    await page.get_by_role("link", name="Desks").click()
    assert "seed" not in page.url


@pytest.mark.parametrize("seed", ["abc", "", "-1", "012", "1.5", "1e3", "4294967296", "%2012", "99999999999999999999"])
async def test_a_seed_that_is_none_is_refused_in_words_and_ends_no_game(
    context: BrowserContext, server: Server, seed: str
) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Classic War")
    game = at.game_of(page)
    other = await at.arrive(context, f"/?seed={seed}")
    await expect(other.get_by_text("A seed is a whole number from 0 to 4294967295")).to_be_visible()
    await expect(other.get_by_role("button", name="Continue your game of Classic War")).to_be_visible()
    assert not of_type(at.facts_of(server, game), Finished)


@pytest.mark.parametrize("seed", [0, 4294967295])
async def test_the_first_and_the_last_seed_are_dealt(context: BrowserContext, server: Server, seed: int) -> None:
    page = await at.arrive(context, f"/?seed={seed}")
    await at.dealt(page)
    assert settings(at.facts_of(server, at.game_of(page)))["seed"] == seed


# ---------------------------------------------------------------- turning


async def test_ten_battles_are_one_command_and_one_frame(context: BrowserContext, server: Server) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    await at.open_war(page, "Playbook War")
    told: list[dict[str, Any]] = []

    def note(frame: bytes) -> list[bytes]:
        told.append(msgpack.unpackb(frame))
        return [frame]

    wire.change = note
    await page.get_by_role("button", name="Play 10 battles").click()
    await at.turned(page, 10)
    await expect(page.get_by_role("button", name="Play 10 battles", disabled=False)).to_be_visible()
    kinds = [message["type"] for message in told if message["type"] in ("done", "events", "refused")]
    assert sorted(kinds) == ["done", "events"]
    facts = at.facts_of(server, at.game_of(page))
    assert of_type(facts, Readied) == [Readied(0, 10)]
    assert {fact.battle for fact in of_type(facts, Turned)} == set(range(1, 11))
    (line,) = [line for line in await at.heard(page) if line.startswith("Battles 1 to 10: you take ")]
    await expect(page.locator(".verdict")).to_have_text(line)


async def test_the_deck_itself_can_be_tapped_and_a_turn_is_one_sentence(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Gameweave War")
    await at.deck(page).click()
    await at.turned(page, 1)
    await page.get_by_role("button", name="Flip", exact=True).click()
    await at.turned(page, 2)
    lines = [line for line in await at.heard(page) if not line.startswith("The cards are dealt")]
    assert [line.partition(":")[0] for line in lines] == ["Battle 1", "Battle 2"]
    assert all(re.fullmatch(r"[^.]+: \d+ to \d+\.", line) for line in lines)


@pytest.mark.thorough
async def test_a_whole_short_game_plays_by_itself_with_a_stop_in_between_and_little_is_said(
    context: BrowserContext, server: Server
) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Classic War")
    long = at.game_of(page)
    await page.get_by_role("button", name="Short").click()
    game = await other_game(page, long)
    await expect(page.get_by_role("button", name="Short", pressed=True)).to_be_visible()
    assert of_type(at.facts_of(server, long), Finished) == [Finished(None, "left")]
    assert settings(at.facts_of(server, game)) == {"down": 3, "length": "short"}
    before = len(await at.heard(page))
    await page.get_by_role("button", name="Fast").click()
    await page.get_by_role("button", name="Auto-play", exact=True).click()
    await at.turned(page, 20)
    await page.get_by_role("button", name="Stop auto-play").click()
    await expect(page.get_by_role("button", name="Auto-play", exact=True)).to_be_visible()
    await page.wait_for_timeout(300)  # the turn that was under way
    stopped = await at.battles(page)
    await page.wait_for_timeout(1000)
    assert await at.battles(page) == stopped
    assert not await page.locator("#result").count()
    await page.get_by_role("button", name="Auto-play", exact=True).click()
    result = page.get_by_role("dialog")
    await expect(result).to_be_visible()
    facts = at.facts_of(server, game)
    (finished,) = of_type(facts, Finished)
    words = {0: "You win", 1: "The computer wins", None: "A draw"}[finished.winner]
    await expect(at.ending(page)).to_have_text(words)
    battles = {fact.battle for fact in of_type(facts, Turned)}
    assert await at.battles(page) == len(battles)
    said = (await at.heard(page))[before:]
    assert said[0] == said[2] == "Auto-play, fast."
    assert said[1].startswith("Auto-play stopped after battle ")
    assert "The game is over: " in said[-1]
    assert words in said[-1]
    assert len(said) <= 8
    assert server.audit(game).passed
    # Shown again after a reload, until it is closed; then the table stays with what can be done.
    await page.reload()
    await expect(at.ending(page)).to_have_text(words)
    assert await at.battles(page) == len(battles)
    await page.get_by_role("button", name="Close").click()
    await expect(result).to_have_count(0)
    await page.get_by_role("link", name="How fair was this?").click()
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()
    await page.get_by_role("link", name="Back to the table").click()
    await result.get_by_role("button", name="Play again").click()
    again = await other_game(page, game)
    assert settings(at.facts_of(server, again)) == {"down": 3, "length": "short"}
    await page.get_by_role("link", name="Desks").click()
    row = page.get_by_role("row", name="Classic War")
    won, drawn = int(finished.winner == 0), int(finished.winner is None)
    await expect(row.get_by_role("cell")).to_have_text(["1", str(won), str(drawn)])


async def test_a_reload_restores_the_game_to_the_card_and_starts_no_auto_play(context: BrowserContext) -> None:
    page = await at.arrive(context, "/?seed=12")
    await at.dealt(page)
    await page.get_by_role("button", name="Fast").click()
    await page.get_by_role("button", name="Auto-play", exact=True).click()
    await at.turned(page, 12)
    await page.get_by_role("button", name="Stop auto-play").click()
    await page.wait_for_timeout(300)
    look = """() => [".verdict", ".plaque", "#battles", "#wars", ".side.mine", ".side.other"]
        .map((each) => document.querySelector(each).textContent.replace(/\\s+/g, " ").trim())"""
    before, count = await page.evaluate(look), await at.battles(page)
    await page.get_by_role("button", name="Auto-play", exact=True).focus()
    await page.reload()
    await at.turned(page, count)
    await at.dealt(page)
    assert await page.evaluate(look) == before
    await page.wait_for_timeout(700)
    assert await at.battles(page) == count
    await expect(page.get_by_role("button", name="Auto-play", exact=True)).to_be_visible()


async def test_auto_play_waits_for_a_lost_line_and_goes_on(context: BrowserContext, server: Server) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    await at.open_war(page, "Classic War")
    await page.get_by_role("button", name="Fast").click()
    await page.get_by_role("button", name="Auto-play", exact=True).click()
    await at.turned(page, 3)
    wire.hold()
    await expect(page.get_by_text("No answer from the server.")).to_be_visible()
    stood = await at.battles(page)
    wire.release()
    await at.turned(page, stood + 5)
    facts = at.facts_of(server, at.game_of(page))
    battles = [fact.through for fact in of_type(facts, Readied)]
    assert battles == list(range(1, len(battles) + 1))


async def test_a_battle_turned_in_another_tab_meanwhile_is_refused_in_words(context: BrowserContext) -> None:
    one = await at.arrive(context)
    await at.open_war(one, "Gameweave War")
    wire = await Wire.under(late := await context.new_page())
    await late.goto(one.url)
    await at.dealt(late)
    wire.holding_in = True
    await at.turn(one)
    await late.get_by_role("button", name="Flip", exact=True).click()
    wire.release()
    await expect(late.locator(".refusal")).to_contain_text("That battle is turned already")
    await at.turned(late, 1)
    await at.turn(late)
    await at.turned(one, 2)
    assert await at.war_piles(one) == await at.war_piles(late)


async def test_somebody_else_can_watch_and_press_nothing(
    context: BrowserContext, browser: Browser, server: Server
) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Classic War")
    async with visiting(browser, server) as theirs:
        watcher = await at.arrive(theirs, f"/#/game/{at.game_of(page).hex()}")
        await expect(watcher.get_by_text("Turning is up to the player.")).to_be_visible()
        await at.turn(page)
        await at.turned(watcher, 1)
        await watcher.keyboard.press("Space")
        await watcher.keyboard.press("n")
        await expect(at.deck(watcher)).to_have_count(0)
        assert await at.war_piles(watcher) == await at.war_piles(page)
        assert await at.battles(page) == 1


# ---------------------------------------------------------------- keys


async def test_keys_work_where_no_control_has_the_focus(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Classic War")
    game = at.game_of(page)
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    await page.keyboard.press("Space")
    await at.turned(page, 1)
    await page.keyboard.press("Enter")
    await at.turned(page, 2)
    await page.keyboard.press("a")
    await expect(page.get_by_role("button", name="Stop auto-play")).to_be_visible()
    await at.turned(page, 4)
    await page.keyboard.press("a")
    await expect(page.get_by_role("button", name="Auto-play", exact=True)).to_be_visible()
    await page.keyboard.press("f")
    await page.wait_for_function("() => document.fullscreenElement !== null")
    await page.keyboard.press("f")
    await page.wait_for_function("() => document.fullscreenElement === null")
    # A control that has the focus has the keys.
    await page.get_by_role("button", name="Normal").focus()
    before = await at.battles(page)
    for key in ("n", "a", "f", "Space", "Enter"):
        await page.keyboard.press(key)
    await page.wait_for_timeout(300)
    assert at.game_of(page) == game
    assert await at.battles(page) == before
    await page.get_by_role("heading", level=1).focus()
    await page.keyboard.press("n")
    await other_game(page, game)
    assert of_type(at.facts_of(server, game), Finished) == [Finished(None, "left")]


async def test_a_game_left_says_so_where_somebody_comes_back_to_it(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.open_war(page, "Gameweave War")
    left = page.url
    await at.turn(page)
    await page.get_by_role("button", name="New game").click()
    await page.wait_for_url(lambda url: url != left)
    await page.goto(left)
    result = page.get_by_role("dialog")
    await expect(result).to_contain_text("this one counts nowhere")
    await expect(at.ending(page)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(result).to_have_count(0)
    await page.keyboard.press("n")
    await page.wait_for_url(lambda url: url != left)
    await at.dealt(page)


# ---------------------------------------------------------------- long games


@pytest.mark.slow
async def test_the_918th_battle_keeps_no_more_in_page_and_memory_than_the_first_ones(
    context: BrowserContext, server: Server
) -> None:
    page = await at.arrive(context, "/?seed=31")
    await at.dealt(page)
    # Turned as fast as the page takes them, by the key.
    told = await page.evaluate("""async () => {
        const count = document.getElementById("battles");
        const seen = [];
        const kept = () => [localStorage, sessionStorage].reduce((all, each) => all + JSON.stringify(each).length, 0);
        const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
        while (!document.getElementById("result")) {
            const before = count.textContent;
            // Pressed again where the last turn was still under way: then it means nothing.
            for (press(); count.textContent === before; press()) await new Promise((go) => setTimeout(go, 1));
            seen.push([document.querySelectorAll("*").length, kept()]);
        }
        return seen;
    }""")
    assert len(told) == 918
    elements, bytes_ = zip(*told, strict=True)
    assert max(elements[-200:]) < max(elements[:200]) + 100
    assert abs(bytes_[-2] - bytes_[100]) < 100
    await expect(page.locator("#battles")).to_have_text("918")
    facts = at.facts_of(server, at.game_of(page))
    assert not of_type(facts, Unsealed)
    # Thousands of events are read again in one go.
    await page.reload()
    await expect(at.ending(page)).to_be_visible()
    await expect(page.locator("#battles")).to_have_text("918")
    await page.get_by_role("link", name="How fair was this?").click()
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()


# ---------------------------------------------------------------- proof


@pytest.mark.parametrize("rules", NAMES)
async def test_a_finished_war_passes_every_check_of_how_fair_was_this(context: BrowserContext, rules: str) -> None:
    page = await at.arrive(context)
    await at.open_war(page, NAMES[rules])
    await at.turn(page)
    left = page.url
    await page.locator(".anew").click()
    await page.wait_for_url(lambda url: url != left)
    await page.goto(left)
    await page.get_by_role("dialog").get_by_role("link", name="How fair was this?").click()
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()


# ---------------------------------------------------------------- for everybody


async def every_page(page: Page) -> AsyncIterator[str]:
    """Stops at each of War's pages and states."""
    await page.goto("/#/how/war")
    await expect(page.get_by_text("Three sets of rules")).to_be_visible()
    yield "how"
    await page.goto("/?seed=12")
    await at.dealt(page)
    yield "dealt"
    for _ in range(5):
        await at.turn(page)
    yield "war"
    await page.goto("/#/")
    await expect(page.get_by_role("button", name="Continue your game of Classic War")).to_be_visible()
    yield "home"
    await at.open_war(page, "Gameweave War")
    yield "gameweave"
    await page.goto("/#/")
    await at.open_war(page, "Playbook War")
    while not await page.locator("#result").count():
        before = await at.battles(page)
        await page.get_by_role("button", name="Play 10 battles").click()
        await page.wait_for_function(
            """before => document.getElementById("result")
                || Number(document.getElementById("battles").textContent) > before""",
            arg=before,
        )
    yield "end"
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    yield "closed"
    await page.goto("/#/")
    await expect(page.get_by_role("table")).to_be_visible()
    yield "record"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_war(browser: Browser, server: Server, scheme: str) -> None:
    async with visiting(browser, server, color_scheme=scheme, bypass_csp=True) as context:
        page = await context.new_page()
        found = {stop: await at.violations(page) async for stop in every_page(page)}
        assert {stop: each for stop, each in found.items() if each} == {}


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (1280, 800)])
async def test_war_needs_no_scrolling_sideways_and_can_be_hit(
    browser: Browser, server: Server, width: int, height: int
) -> None:
    small = """() => [...document.querySelectorAll("button, nav a, .button, .more, summary, input")]
        .filter((each) => each.checkVisibility())
        .map((each) => [each.textContent.trim(), each.getBoundingClientRect()])
        .map(([text, { width, height }]) => [text, width, height])
        .filter(([, wide, high]) => Math.min(wide, high) < 44)"""
    async with visiting(browser, server, viewport={"width": width, "height": height}) as context:
        page = await context.new_page()
        found: dict[str, Any] = {}
        async for stop in every_page(page):
            wide = await page.evaluate("() => document.documentElement.scrollWidth")
            found[stop] = (wide, await page.evaluate(small))
        assert set(map(str, found.values())) == {str((width, []))}, found


async def test_a_war_of_wars_fits_a_narrow_screen(browser: Browser, server: Server) -> None:
    """Seven ties in a row, as no deal shows on demand: the table is told of them."""
    async with visiting(browser, server, viewport={"width": 320, "height": 568}) as context:
        wire = await Wire.under(context)
        page = await at.arrive(context, "/?seed=12")
        await at.dealt(page)

        def at_war(frame: bytes) -> list[bytes]:
            message = msgpack.unpackb(frame)
            if message["type"] == "events" and message["table"]:
                rows = [[card, card + 13] for card in range(7)]
                message["table"]["position"] |= {"rows": [*rows, [7, 21]], "laid": [[3, 3]] * 7, "winner": 1}
            return [msgpack.packb(message)]

        wire.change = at_war
        await at.turn(page)
        corners = await page.evaluate("""() => [...document.querySelectorAll(".side.mine .slot")].map((each) => {
            const { x, y } = each.getBoundingClientRect();
            return [x, y];
        })""")
        assert len(corners) == 15
        assert all(right[0] > left[0] + 4 for left, right in pairwise(corners))
        assert await page.evaluate("() => document.documentElement.scrollWidth") == 320


async def test_suits_are_told_by_shape_and_filling_as_well_as_by_colour(context: BrowserContext) -> None:
    page = await at.arrive(context, "/?seed=12")
    await at.dealt(page)
    told = await page.evaluate("""async () => {
        const { face } = await import("/views/playing_cards.js");
        const { render } = await import("/vendor/lit/lit-html.js");
        return [0, 13, 26, 39].map((card) => {
            const place = document.createElement("div");
            render(face(card), place);
            document.body.append(place);
            const paths = [...place.querySelector(".middle .suit").querySelectorAll("path")];
            const told = [paths[1].getAttribute("d"), paths[1].getAttribute("fill"), getComputedStyle(paths[1]).stroke];
            place.remove();
            return told;
        });
    }""")
    for way in zip(*told, strict=True):
        assert len(set(way)) == 4
    filled = {fill.removeprefix("url(#").removesuffix(")") for _, fill, _ in told}
    assert filled == set(
        await page.evaluate("() => [...document.querySelectorAll('pattern[id^=suit]')].map(({ id }) => id)")
    )


def test_this_module_plays_all_three_wars() -> None:
    from rules.catalogue import RULES

    assert {name for name, rules in RULES.items() if rules.luck} == set(NAMES)
