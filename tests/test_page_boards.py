"""Leaderboards and players' pages in a real browser, over a ledger with a crowd's games in it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any, Literal

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from tests import browser as at
from tests.browser import visiting
from tests.crowd import Member, gather
from tests.running import ROOT, Client, Server, connected, eventually, serving, until

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

GAMES = (*([1] * 30), 2, 3, 4, 5, 28)
"""Of each member; the last one is who looks."""
ENTRIES = 2 * sum(GAMES)


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> list[Member]:
    return asyncio.run(gather(tmp_path_factory.getbasetemp() / "crowd" / "data", GAMES))


@pytest.fixture(scope="module")
def server(members: list[Member], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.getbasetemp() / "crowd") as server:
        until(lambda: (told(server, "/api/boards/states-relaxed/wins/all").get("as_of") or 0) >= ENTRIES)
        until(lambda: told(server, f"/api/players/{members[0].player.hex()}").get("as_of", 0) >= ENTRIES)
        until(lambda: told(server, f"/api/players/{members[0].player.hex()}/games").get("as_of", 0) >= ENTRIES)
        yield server


@pytest.fixture
async def context(browser: Browser, server: Server, members: list[Member]) -> AsyncIterator[BrowserContext]:
    """Of the member with the most games."""
    async with visiting(browser, server) as context:
        await enter(context, server, members[-1])
        yield context


async def enter(context: BrowserContext, server: Server, member: Member) -> None:
    await context.add_cookies([{"name": "statecraft", "value": member.token, "url": server.url}])


def told(server: Server, path: str, **query: Any) -> Any:
    with server.http() as http:
        answer = http.get(path, params=query)
    return answer.json() if answer.status_code == httpx.codes.OK else {}


async def rows(page: Page) -> list[list[str]]:
    """Each row's cells as they are read."""
    found: list[list[str]] = await page.locator(".places tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()))"
    )
    return found


def as_shown(places: list[Any], me: str) -> list[list[str]]:
    return [
        [
            str(place["rank"]),
            f"Player {place['player'][:4]}" + (" YOU" if place["player"] == me else ""),
            str(place["value"]),
            str(place["index"]),
        ]
        for place in places
    ]


async def test_a_board_is_read_from_the_top_paged_and_found_around_oneself(
    context: BrowserContext, server: Server, members: list[Member]
) -> None:
    me = members[-1].player.hex()
    page = await at.arrive(context)
    await page.get_by_role("link", name="Leaders").click()
    await expect(page.get_by_role("heading", name="Leaderboards")).to_be_focused()
    await expect(page.get_by_role("heading", name="Wins 50 States, Relaxed bronze")).to_be_visible()
    board = told(server, "/api/boards/states-relaxed/wins/all", count=100)
    await expect(page.locator(".places tbody tr")).to_have_count(min(20, board["size"]))
    assert await rows(page) == as_shown(board["places"][:20], me)
    await expect(page.get_by_text(f"{board['size']} players stand on this board")).to_contain_text(
        f"as of {board['as_of']} signed entries"
    )
    assert board["size"] < 20 or await page.get_by_role("link", name="Lower places").count()
    await page.get_by_role("link", name="Best streak").click()
    await page.get_by_role("link", name="This week").click()
    week = told(server, "/api/boards/states-relaxed/best_streak/week", count=20)
    await expect(page.get_by_text(f"This week is {week['window']}")).to_be_visible()
    assert await rows(page) == as_shown(week["places"], me)
    await page.get_by_role("link", name="Around me").click()
    await expect(page.get_by_role("link", name="Around me")).to_have_attribute("aria-current", "page")
    await page.get_by_role("link", name="All time").click()
    await page.get_by_role("link", name="Around me").click()
    around = told(server, "/api/boards/states-relaxed/best_streak/all", around=me)
    await expect(page.locator(".places .mine")).to_have_count(1)
    assert await rows(page) == as_shown(around["places"], me)
    # War between people has other measures and nobody on them; what isn't there is said.
    await page.get_by_role("link", name="Classic").click()
    await expect(
        page.get_by_text("You don’t stand on this board yet.").or_(
            page.get_by_text("Nobody stands here yet. The first win does.")
        )
    ).to_be_visible()
    await page.goto("/#/boards/states-relaxed/rating/all")
    await expect(page.get_by_text("There is no such board")).to_be_visible()


async def test_friends_are_put_on_a_list_from_their_page_or_by_their_id(
    browser: Browser, server: Server, members: list[Member]
) -> None:
    async with visiting(browser, server) as context:
        await enter(context, server, members[-1])
        page = await at.arrive(context, f"/#/player/{members[-2].player.hex()}")
        toggle = page.get_by_role("button", name="Put on your list of friends")
        await toggle.click()
        await expect(page.get_by_role("button", name="On your list of friends")).to_have_attribute(
            "aria-pressed", "true"
        )
        await page.goto("/#/boards/states-relaxed/wins/all/friends")
        field = page.get_by_label("Somebody’s id")
        await field.fill("nobody")
        await page.get_by_role("button", name="Add").click()
        await expect(page.get_by_text("That is no player’s id.")).to_be_visible()
        await field.fill(f"{server.url}/#/player/{members[-3].player.hex()}")
        await field.press("Enter")
        await expect(field).to_have_value("")
        friends = [members[number].player.hex() for number in (-1, -2, -3)]
        board = told(server, "/api/boards/states-relaxed/wins/all", players=",".join(friends))
        await expect(page.locator(".places tbody tr")).to_have_count(len(board["places"]))
        assert await rows(page) == as_shown(board["places"], friends[0])
        await page.reload()
        await expect(page.locator(".places tbody tr")).to_have_count(len(board["places"]))


async def test_a_win_elsewhere_moves_the_board_while_one_looks(
    context: BrowserContext, server: Server, members: list[Member]
) -> None:
    page = await at.arrive(context, "/#/boards/states-strategic/wins/day")
    await expect(page.get_by_text("on this board").or_(page.get_by_text("Nobody has won here yet"))).to_be_visible()
    guest = server.join()
    async with connected(server, guest) as client:
        await win(client)
    await expect(page.get_by_role("link", name=f"Player {guest.player[:4]}")).to_be_visible()
    board = await eventually(
        lambda: (
            now
            if guest.player in json.dumps(now := told(server, "/api/boards/states-strategic/wins/day", count=20))
            else None
        )
    )
    assert await rows(page) == as_shown(board["places"], members[-1].player.hex())


async def win(client: Client) -> None:
    for number in range(1000):
        followed = await client.follow(await client.open("strategic"))
        await client.play_on(followed, Random(number))
        if followed.table["finished"]["winner"] == 0:
            return


async def test_a_players_page_tells_the_record_and_leads_to_every_game(
    context: BrowserContext, server: Server, members: list[Member]
) -> None:
    me = members[-1].player.hex()
    page = await at.arrive(context, "/#/me")
    record = told(server, f"/api/players/{me}")
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Player {me[:4]}")
    for row in record["ladders"]:
        section = page.locator(f"section[aria-labelledby='of-{row['ladder']}']")
        for term, value in (("Games", row["games"]), ("Wins", row["wins"]), ("Best streak", row["best_streak"])):
            fact = section.locator(".facts div").filter(has=page.get_by_text(term, exact=True))
            await expect(fact.locator("dd")).to_have_text(str(value))
        pictures = sum(row["trophies"].values())
        await expect(section.locator(".cabinet .trophy")).to_have_count(pictures)
        badges = [row["streak_badge"], row["win_rate_badge"]]
        await expect(section.locator(".badge")).to_have_count(sum(badge is not None for badge in badges))
    ranks = page.locator(".ranks li")
    await expect(ranks).to_have_count(len(record["ranks"]))
    rivals = page.locator(".rivals tbody tr")
    await expect(rivals).to_have_count(len(record["rivals"]))
    history = page.locator(".history tbody tr")
    await expect(history).to_have_count(20)
    await page.get_by_role("button", name="Older games").click()
    await expect(history).to_have_count(GAMES[-1])
    await expect(page.get_by_role("button", name="Older games")).to_have_count(0)
    assert await page.evaluate("document.activeElement.textContent.startsWith('Replay')")
    games = told(server, f"/api/players/{me}/games", count=100)["games"]
    indices = await history.evaluate_all("rows => rows.map((row) => Number(/entry ([0-9]+)/.exec(row.innerText)[1]))")
    assert indices == [game["index"] for game in games]
    await history.first.get_by_role("link", name="Replay").click()
    await page.wait_for_url(f"**/#/game/{games[0]['game']}/replay*")
    # Somebody else's: of one's own this browser would miss the chance that it never brought.
    (last, *_) = told(server, f"/api/players/{members[-2].player.hex()}/games")["games"]
    await page.goto(f"/#/player/{members[-2].player.hex()}")
    await history.first.get_by_role("link", name="Verify").click()
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()
    await expect(page.get_by_role("heading", name="Its place in the ledger")).to_be_visible()
    await expect(page.get_by_text(f"its closing is leaf {last['index']} of")).to_be_visible()


async def test_an_entry_of_the_ledger_is_proved_and_told(
    context: BrowserContext, server: Server, members: list[Member]
) -> None:
    page = await at.arrive(context, "/#/boards")
    (first, *_) = told(server, "/api/boards/states-relaxed/wins/all")["places"]
    await page.locator(".places tbody tr").first.get_by_role("link").last.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(f"Entry {first['index']} of the ledger")
    await expect(page.get_by_text("A game ended.")).to_be_visible()
    won = page.locator(".leaf div").filter(has_text="Won by")
    await expect(won.get_by_role("link")).to_have_text(f"Player {first['player'][:4]}")
    await expect(page.get_by_text(f"it is leaf {first['index']} of the")).to_be_visible()
    await page.get_by_role("link", name=f"Entry {first['index'] - 1}").click()
    await expect(page.get_by_text("A game began: both seats were taken.")).to_be_visible()


async def test_an_entry_that_was_changed_on_its_way_is_not_told(
    context: BrowserContext, server: Server, members: list[Member]
) -> None:
    async def changed(route: Route) -> None:
        answer = await route.fetch()
        body = await answer.json()
        entry = bytearray(base64.b64decode(body["entry"]))
        entry[-1] ^= 1
        await route.fulfill(response=answer, json={**body, "entry": base64.b64encode(entry).decode()})

    await context.route("**/api/ledger/leaves/*", changed)
    page = await at.arrive(context, "/#/ledger/1")
    await expect(page.get_by_text("What the server gave doesn’t prove itself.")).to_be_visible()


async def test_a_player_of_whom_nothing_is_known_and_an_address_that_is_none(context: BrowserContext) -> None:
    page = await at.arrive(context, f"/#/player/{'0' * 32}")
    await expect(page.get_by_text("No finished game of this player stands in the ledger.")).to_be_visible()
    await page.goto("/#/player/somebody")
    await expect(page.get_by_text("This address names no page.")).to_be_visible()


FULL = (ROOT / "tests" / "js" / "full_player.js").read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_screen_fits_a_phone_and_is_within_everybodys_reach(
    browser: Browser, server: Server, members: list[Member], scheme: Literal["light", "dark"]
) -> None:
    """No rule of WCAG that axe knows is broken, and nothing needs scrolling sideways at 320 pixels."""
    looks: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "color_scheme": scheme, "bypass_csp": True}
    async with visiting(browser, server, **looks) as context:
        await enter(context, server, members[-1])
        page = await at.arrive(context, "/#/boards")
        await expect(page.locator(".places tbody tr").first).to_be_visible()
        await fits(page, "boards")
        await page.goto("/#/boards/states-strategic/win_rate/week/friends")
        await expect(page.get_by_label("Somebody’s id")).to_be_visible()
        await fits(page, "friends")
        await page.goto("/#/ledger/1")
        await expect(page.locator(".leaf dd").first).to_be_visible()
        await fits(page, "entry")
        await page.goto("/#/me")
        await expect(page.locator(".history tbody tr").first).to_be_visible()
        await fits(page, "me")
        await page.evaluate(FULL)
        await expect(page.locator(".metal-gold .trophy").first).to_be_visible()
        # More flags than ten are one with a number, and each ladder's pictures have its colour alone.
        assert await page.locator(".cabinet.metal-bronze .trophy").count() == 1 + 27
        assert await page.locator(".cabinet.metal-silver .trophy").count() == 36
        await expect(page.locator("section[aria-labelledby='of-classic-versus'] .trophy")).to_have_count(0)
        await expect(page.get_by_text("12 imported")).to_be_visible()
        await fits(page, "full")


async def fits(page: Page, what: str) -> None:
    assert await page.evaluate("document.documentElement.scrollWidth") == 320, what
    assert await at.violations(page) == [], what


async def test_a_ledger_that_went_another_way_is_told_and_one_that_grew_is_not(
    browser: Browser, server: Server, members: list[Member]
) -> None:
    async with visiting(browser, server) as context:
        page = await at.arrive(context)
        kept = await page.wait_for_function("() => localStorage.getItem('statecraft.checkpoint')")
        first = json.loads(await kept.json_value())
        async with connected(server, server.join()) as client:
            await win(client)
        size = await eventually(
            lambda: found if (found := told(server, "/api/ledger")["signed"]) > first["size"] else None
        )
        await page.reload()
        await page.wait_for_function(
            "size => JSON.parse(localStorage.getItem('statecraft.checkpoint')).size >= size", arg=size
        )
        alarm = page.get_by_text("The ledger isn’t the one that this browser saw before.")
        assert not await alarm.count()
        # As if the same key had signed another tree of that size before.
        forged = {**first, "root": "A" * 43 + "="}
        await page.evaluate("kept => localStorage.setItem('statecraft.checkpoint', JSON.stringify(kept))", forged)
        await page.reload()
        await expect(alarm).to_be_visible()
        evidence = json.loads(await page.evaluate("localStorage.getItem('statecraft.ledger-fork')"))
        assert evidence["before"] == forged
        assert evidence["told"]["checkpoint"].startswith("statecraft/")
        await page.reload()
        await expect(alarm).to_be_visible()


async def test_a_player_takes_a_name_and_a_new_key_and_leaves_for_good(
    browser: Browser, server: Server, members: list[Member]
) -> None:
    leaver = members[-2]
    # A browser writes every refusal into its console.
    async with visiting(browser, server, expected=("status of 400",)) as context:
        await enter(context, server, leaver)
        page = await at.arrive(context, "/#/me")
        field = page.get_by_label("The name that others see")
        await field.fill("x")
        await field.press("Enter")
        await expect(page.get_by_text("A name has 2 to 20 characters.")).to_be_visible()
        await expect(field).to_have_attribute("aria-invalid", "true")
        await field.fill("Ada Lovelace")
        await page.get_by_role("button", name="Keep it").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
        await page.get_by_role("button", name="Make a new key").click()
        await page.get_by_role("dialog").get_by_role("button", name="Make a new one").click()
        await expect(page.locator("#name-told")).to_contain_text("This browser has a new key.")
        with server.http(cookies={"statecraft": leaver.token}) as http:
            assert http.get("/api/session").json() == {"player": None}
        assert await at.player_of(page) == leaver.player
        await page.evaluate("localStorage.setItem('statecraft.secret', '\"as if it had played\"')")
        erase = page.get_by_role("button", name="Erase me")
        await erase.click()
        question = page.get_by_role("dialog", name="Erase everything about you?")
        await expect(question).to_contain_text("Your finished games stay in the signed record")
        await page.keyboard.press("Escape")
        await expect(erase).to_be_focused()
        await erase.click()
        await question.get_by_role("button", name="Erase me").click()
        await expect(page.get_by_role("heading", name="kept on record")).to_be_visible()
        kept = "() => (localStorage.getItem('statecraft.secret') ?? '').includes('as if')"
        await page.wait_for_function(f"() => !({kept})()")
        assert await at.player_of(page) != leaver.player
        await page.goto(f"/#/player/{leaver.player.hex()}")
        await expect(page.get_by_role("heading", level=1)).to_have_text("erased player")
        await expect(page.locator(".history tbody tr")).to_have_count(GAMES[-2])
