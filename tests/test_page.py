"""The page in a real browser against a real server: played by mouse and keyboard, torn, reloaded, looked over."""

import base64
import itertools
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgpack
import pytest
from playwright.async_api import Browser, BrowserContext, Page, Route, expect

from events import codec
from events.chain import extend, origin
from rules.cast import CAST
from rules.fifty_states import Captured, Played, Revealed, RoundEnded
from rules.game import Card, Dealt, Fact, Finished, Mixed, Seated
from rules.states import STATES
from tests import browser as at
from tests.browser import Wire, visiting
from tests.running import ROOT, Server, serving

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("page")) as server:
        yield server


# ---------------------------------------------------------------- what must be said, derived from the log alone


def name(card: int) -> str:
    return STATES[card - 1].name


def sentences(facts: list[Fact]) -> list[str]:
    """One line for the deal and one for each reveal, with what it ends; for a person in seat 0."""
    rival = next(fact.rival for fact in facts if isinstance(fact, Seated) and fact.rival)
    who = next(steward.name for steward in CAST if steward.slug == rival)
    said: list[str] = []
    hands, captures = [0, 0], [0, 0]
    shown: dict[int, int] = {}
    round_, match = 1, 0
    for fact in facts:
        match fact:
            case Dealt(counts):
                hands = list(counts)
                said.append(f"The cards are dealt. You have seven cards. {who} has sealed the first one; choose yours.")
            case Played(seat, _, card) | Revealed(seat, _, card, _):
                shown[seat] = card
                hands[seat] -= 1
            case Captured(seat, _, card, _):
                captures[seat] += 1
                match += 1
                mine, theirs = (f"{name(shown[at])}, {shown[at]}" for at in (0, 1))
                verb, taker = ("beats", "You capture") if seat == 0 else ("loses to", f"{who} captures")
                said.append(f"Round {round_}, match {match}: your {mine}, {verb} {theirs}. {taker} {name(card)}.")
            case RoundEnded(ended):
                hands = [hand + capture for hand, capture in zip(hands, captures, strict=True)]
                captures, match, round_ = [0, 0], 0, ended + 1
                if 0 not in hands:
                    cards = "1 card" if hands[0] == 1 else f"{hands[0]} cards"
                    said[-1] += f" Round {ended} is over: you go on with {cards}, {who} with {hands[1]}."
            case Finished(0, "all_cards"):
                said[-1] += f" The game is over: {who} has no cards left. You win."
            case Finished(1, "all_cards"):
                said[-1] += f" The game is over: you have no cards left. {who} wins."
            case Finished(1, "resigned"):
                said.append(f"The game is over: you resigned. {who} wins.")
    return said


def of_type(facts: list[Fact], type_: type) -> list[Any]:
    return [fact for fact in facts if type(fact) is type_]


# ---------------------------------------------------------------- playing


async def test_a_whole_game_is_played_by_mouse(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context)
    await expect(page.get_by_text("Finish a game to start your rival record.")).to_be_visible()
    await at.sit_down(page)
    game = at.game_of(page)
    await at.play_on(page)
    facts = at.facts_of(server, game)
    (finished,) = of_type(facts, Finished)
    rival = next(steward.name for steward in CAST if steward.slug == facts[2].rival)
    await expect(at.ending(page)).to_have_text("You win" if finished.winner == 0 else f"{rival} wins")
    assert await at.matches(page) == len(of_type(facts, Captured))
    assert await page.title() == f"{await at.ending(page).inner_text()} · The Game of 50 States · Statecraft"
    assert server.audit(game).passed
    await page.get_by_role("button", name="Play again").click()
    await page.wait_for_url(lambda url: "#/game/" in url and game.hex() not in url)
    await expect(at.hand(page)).to_have_count(7)
    await page.get_by_role("link", name="Desks").click()
    row = page.get_by_role("row", name=rival)
    share = "100 %" if finished.winner == 0 else "0 %"
    await expect(row.get_by_role("cell")).to_have_text(["1", str(1 - finished.winner), share])


async def test_a_whole_game_is_played_by_keyboard_and_every_reveal_is_said_once(
    context: BrowserContext, server: Server
) -> None:
    page = await at.arrive(context)
    await expect(at.play_button(page, "strategic")).to_be_visible()
    await tab_to(page, lambda said: said == "Play at the Strategic desk")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_be_focused()
    game = await at.at_game(page)
    walks = itertools.cycle(["End", "Home", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"])
    choices = itertools.cycle(["Enter", "Space"])
    await expect(at.hand(page)).to_have_count(7)
    await tab_to(page, lambda said: bool(re.fullmatch(r"[A-Z].*, \d+, \d{4}", said)))
    while not await at.ending(page).count():
        before = await at.matches(page)
        await page.keyboard.press(next(walks))
        focused = await page.evaluate("document.activeElement.dataset.card")
        await page.keyboard.press(next(choices))
        await expect(page.get_by_role("radio", checked=True)).to_have_attribute("data-card", focused)
        # The hand is one stop: Resign is the next one, Confirm the one after it.
        await page.keyboard.press("Tab")
        assert await focused_name(page) == "Resign"
        await page.keyboard.press("Tab")
        await expect(at.confirm_button(page)).to_be_focused()
        await page.keyboard.press("Enter")
        await at.played(page, before + 1)
        assert await page.evaluate("document.activeElement !== document.body")
        if not await at.ending(page).count():
            await page.keyboard.press("Shift+Tab")
            await page.keyboard.press("Shift+Tab")
            assert (
                await page.evaluate("document.activeElement.role || document.activeElement.getAttribute('role')")
                == "radio"
            )
    await expect(at.ending(page)).to_be_focused()
    assert await at.heard(page) == sentences(at.facts_of(server, game))
    await tab_to(page, lambda said: said == "Play again")


async def tab_to(page: Page, wanted: Any) -> None:
    for _ in range(60):
        await page.keyboard.press("Tab")
        if wanted(await focused_name(page)):
            return
    raise AssertionError("no such stop")


async def focused_name(page: Page) -> str:
    said: str = await page.evaluate(
        "(document.activeElement.ariaLabel || document.activeElement.textContent).replace(/\\s+/g, ' ').trim()"
    )
    return said


async def test_resigning_asks_once_and_says_that_it_is_a_loss(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    game = at.game_of(page)
    await page.get_by_role("button", name="Resign").click()
    question = page.get_by_role("dialog", name="Resign this game?")
    await expect(question).to_contain_text("loss")
    await expect(question.get_by_role("button", name="Play on")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(question).to_have_count(0)
    await expect(page.get_by_role("button", name="Resign")).to_be_focused()
    assert not of_type(at.facts_of(server, game), Finished)
    await page.get_by_role("button", name="Resign").click()
    await question.get_by_role("button", name="Resign").click()
    await expect(at.ending(page)).to_be_focused()
    await expect(page.get_by_text("You resigned.", exact=True)).to_be_visible()
    assert await at.heard(page) == sentences(at.facts_of(server, game))


async def test_an_unfinished_game_waits_and_starting_over_is_a_loss(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    game = at.game_of(page)
    await at.play(page)
    await page.get_by_role("link", name="Desks").click()
    going_on = page.get_by_role("button", name="Continue your game at the Relaxed desk")
    await going_on.click()
    await page.wait_for_url(f"**/#/game/{game.hex()}")
    await expect(at.hand(page)).to_have_count(6)
    await page.get_by_role("link", name="Desks").click()
    await page.get_by_role("button", name="Start over at the Relaxed desk").click()
    await expect(page.get_by_role("dialog")).to_contain_text("loss")
    await page.get_by_role("button", name="Resign and start over").click()
    await page.wait_for_url(lambda url: "#/game/" in url and game.hex() not in url)
    await expect(at.hand(page)).to_have_count(7)
    assert of_type(at.facts_of(server, game), Finished) == [Finished(1, "resigned")]


# ---------------------------------------------------------------- reloading


async def test_a_card_chosen_before_a_reload_is_still_chosen_and_not_played(
    context: BrowserContext, server: Server
) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    await at.play(page)
    card = (await at.cards(page))[3]
    await at.choose(page, card)
    await page.reload()
    await expect(at.hand(page)).to_have_count(6)
    assert await at.chosen(page) == card
    assert len(of_type(at.facts_of(server, at.game_of(page)), Played)) == 1
    await at.confirm_button(page).click()
    await at.played(page, 2)
    assert of_type(at.facts_of(server, at.game_of(page)), Played)[1].card == card


@pytest.mark.parametrize("lost", ["the command", "the answer"])
async def test_a_card_whose_answer_is_under_way_at_a_reload_is_played_once(
    context: BrowserContext, server: Server, lost: str
) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    await at.sit_down(page)
    card = (await at.cards(page))[2]
    await at.choose(page, card)
    wire.holding_out, wire.holding_in = lost == "the command", lost == "the answer"
    await at.confirm_button(page).click()
    await expect(page.get_by_role("button", name="Playing …")).to_be_visible()
    game = at.game_of(page)
    pending = await page.evaluate(f"JSON.parse(sessionStorage['statecraft.pending.{game.hex()}'])")
    wire.holding_out = wire.holding_in = False
    await page.reload()
    await at.played(page, 1)
    await expect(at.hand(page)).to_have_count(6)
    facts = at.facts_of(server, game)
    assert of_type(facts, Played) == [Played(0, 1, Card(card))]
    player = await at.player_of(page)
    asked = pending["id"].encode() + b"\0Play\0" + (1).to_bytes(4, "big")
    cause = sha256(b"statecraft cause v1\0" + game + b"\0" + player + asked).digest()[:16]
    (event,) = (event for event in at.events_of(server, game) if isinstance(event.fact, Played))
    assert event.cause == cause
    assert await page.evaluate(f"sessionStorage['statecraft.pending.{game.hex()}']") is None


# ---------------------------------------------------------------- tabs and lines


async def test_two_tabs_at_one_game_stay_in_step(context: BrowserContext, server: Server) -> None:
    one = await at.arrive(context)
    await at.sit_down(one)
    game = at.game_of(one)
    other = await at.arrive(context, f"/#/game/{game.hex()}")
    await expect(at.hand(other)).to_have_count(7)
    for tab, next_tab in itertools.islice(itertools.cycle([(one, other), (other, one)]), 7):
        before = await at.matches(tab)
        await at.play(tab)
        await at.played(next_tab, before + 1)
        await expect(next_tab.locator(".verdict")).to_have_text(await tab.locator(".verdict").inner_text())
        assert await at.cards(tab) == await at.cards(next_tab)
    assert await at.heard(one) == sentences(at.facts_of(server, game))
    assert await at.heard(other) == sentences(at.facts_of(server, game))[1:]


async def test_a_game_opened_in_two_tabs_at_once_is_one_game_mixed_once(
    context: BrowserContext, server: Server
) -> None:
    tabs = [await at.arrive(context) for _ in range(2)]
    for tab in tabs:
        await expect(at.play_button(tab, "strategic")).to_be_visible()
    for tab in tabs:
        await at.play_button(tab, "strategic").click(no_wait_after=True)
    for tab in tabs:
        await expect(at.hand(tab)).to_have_count(7)
    assert at.game_of(tabs[0]) == at.game_of(tabs[1])
    assert len(of_type(at.facts_of(server, at.game_of(tabs[0])), Mixed)) == 1


async def test_a_match_played_in_another_tab_meanwhile_is_refused_in_words(context: BrowserContext) -> None:
    one = await at.arrive(context)
    await at.sit_down(one)
    wire = await Wire.under(late := await context.new_page())
    await late.goto(one.url)
    await expect(at.hand(late)).to_have_count(7)
    await at.choose(late, (await at.cards(late))[-1])
    wire.holding_in = True
    await at.play(one)
    await at.confirm_button(late).click()
    wire.release()
    await expect(late.locator(".refusal")).to_contain_text("That match is played already")
    await at.played(late, 1)
    await at.play(late)
    await at.played(one, 2)
    assert await at.cards(one) == await at.cards(late)


async def test_a_lost_network_shows_and_heals_by_itself(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, expected=("ERR_INTERNET_DISCONNECTED",)) as context:
        page = await at.arrive(context)
        await at.sit_down(page)
        await at.network(context, False)
        await expect(page.get_by_text("No answer from the server.")).to_be_visible()
        await at.network(context, True)
        await expect(page.get_by_text("No answer from the server.")).to_have_count(0)
        await at.play(page)
        assert await at.heard(page) == sentences(at.facts_of(server, at.game_of(page)))


async def test_a_silent_network_shows_and_what_was_confirmed_meanwhile_happens_once(
    context: BrowserContext, server: Server
) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    await at.sit_down(page)
    await at.choose(page, (await at.cards(page))[0])
    wire.hold()
    await expect(page.get_by_text("No answer from the server.")).to_be_visible()
    await at.confirm_button(page).click()
    wire.release()
    await at.played(page, 1)
    await expect(page.get_by_text("No answer from the server.")).to_have_count(0)
    assert len(of_type(at.facts_of(server, at.game_of(page)), Played)) == 1
    assert await at.heard(page) == sentences(at.facts_of(server, at.game_of(page)))


@pytest.mark.parametrize("fault", ["lost", "twice", "changed", "out of order"])
async def test_a_frame_that_does_not_chain_is_mended(context: BrowserContext, server: Server, fault: str) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    await at.sit_down(page)
    kept: list[bytes] = []

    def change(frame: bytes) -> list[bytes]:
        message = msgpack.unpackb(frame)
        if message["type"] != "events":
            return [frame]
        wire.change = late if fault == "out of order" else lambda frame: [frame]
        if fault == "lost":
            return []
        if fault == "twice":
            return [frame, frame]
        if fault == "changed":
            message["events"][0] = message["events"][0][:-1] + bytes([message["events"][0][-1] ^ 1])
            return [msgpack.packb(message)]
        kept.append(frame)
        return []

    def late(frame: bytes) -> list[bytes]:
        if msgpack.unpackb(frame)["type"] != "events":
            return [frame]
        wire.change = lambda frame: [frame]
        return [frame, *kept]

    wire.change = change
    await at.choose(page, (await at.cards(page))[0])
    await at.confirm_button(page).click()
    if fault in ("lost", "out of order"):
        # Nothing follows by itself yet: the server's look at the head, or the next match, shows the gap.
        other = await at.arrive(context, page.url)
        await at.played(other, 1)
        await at.play(other)
        await at.played(page, 2)
    await at.played(page, 1)
    await at.play_on(page)
    assert await at.heard(page) == sentences(at.facts_of(server, at.game_of(page)))


async def test_another_history_than_the_one_this_browser_saw_is_told(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    game = at.game_of(page).hex()
    await page.evaluate("""() => {
        const heads = JSON.parse(localStorage["statecraft.heads"]);
        const others = heads.map(([id, version, hash]) => [id, version, hash.replace(/^../, "00")]);
        localStorage["statecraft.heads"] = JSON.stringify(others);
    }""")
    await page.reload()
    await expect(page.get_by_text("a different history of this game")).to_be_visible()
    await page.goto(f"/#/game/{game}/fair")
    await expect(page.get_by_role("heading", name="This is not the game that your browser saw")).to_be_visible()


async def test_entropy_that_this_browser_did_not_make_is_told(context: BrowserContext) -> None:
    """An operator that knows the secret could mix for the player, and try until the deal suits him."""
    wire = await Wire.under(context)

    def alter(frame: bytes) -> bytes:
        message = msgpack.unpackb(frame)
        if message["type"] == "do" and message["command"]["do"] == "Mix":
            message["command"]["entropy"] = sha256(message["command"]["entropy"]).digest()
        return bytes(msgpack.packb(message))

    wire.alter = alter
    page = await at.arrive(context)
    await at.sit_down(page)
    await expect(page.get_by_text("isn’t the one this browser made")).to_be_visible()
    await page.goto(f"/#/game/{at.game_of(page).hex()}/fair")
    await expect(page.get_by_role("heading", name="The chance in this game is not yours")).to_be_visible()


async def test_the_entropy_of_an_honest_game_is_said_to_be_ones_own(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    await page.goto(f"/#/game/{at.game_of(page).hex()}/fair")
    await expect(page.get_by_role("heading", name="Every check passed so far")).to_be_visible()
    await expect(page.get_by_text("is the one this browser made, after")).to_be_visible()


async def test_the_players_chance_waits_for_the_ledger_to_witness_the_opening(context: BrowserContext) -> None:
    wire = await Wire.under(context)
    page = await at.arrive(context)
    async with page.expect_response(re.compile(r"/witness\?")) as answered:
        await page.get_by_role("button", name="Play at the Relaxed desk", disabled=False).click()
        assert not mixes(wire)
    told = await (await answered.value).json()
    assert told["witnessed"]
    await expect(at.hand(page)).to_have_count(7)
    assert len(mixes(wire)) == 1
    await expect(page.get_by_text("not witnessed")).to_have_count(0)
    assert await page.evaluate("JSON.parse(localStorage['statecraft.ledger'])") == told["key"]


@pytest.mark.parametrize("fault", ["silent", "proof", "entry", "signature", "key"])
async def test_a_witness_that_does_not_come_or_check_out_is_told_and_keeps_nobody_from_playing(
    browser: Browser, server: Server, fault: str
) -> None:
    async with visiting(browser, server, expected=("ERR_FAILED",)) as context:

        async def answer(route: Route) -> None:
            if fault == "silent":
                await route.abort()
                return
            told = await (await route.fetch()).json()
            match fault:
                case "proof":
                    told["proof"] = [*told["proof"], base64.b64encode(bytes(32)).decode()]
                case "entry":
                    told["entry"] = base64.b64encode(base64.b64decode(told["entry"])[:-1] + b"x").decode()
                case "signature":
                    told["checkpoint"] = told["checkpoint"].replace("\n\n", "\nmore\n\n", 1)
            await route.fulfill(json=told)

        await context.route(re.compile(r"/witness\?"), answer)
        page = await at.arrive(context)
        if fault == "key":
            other = "JSON.stringify('another+01234567+AQ==')"
            await page.evaluate(f"localStorage.setItem('statecraft.ledger', {other})")
        await at.sit_down(page)
        said = "Opening not witnessed" if fault == "silent" else "doesn’t check out"
        await expect(page.get_by_text(said)).to_be_visible()
        await at.play(page)


def mixes(wire: Wire) -> list[Any]:
    return [each for each in wire.sent if each["type"] == "do" and each["command"]["do"] == "Mix"]


async def test_a_game_opened_anew_under_the_players_hands_is_told_and_gets_no_entropy(context: BrowserContext) -> None:
    """An operator that could open a game again and again would choose among as many deals."""
    wire = await Wire.under(context)
    opening: dict[str, Any] = {}

    def change(frame: bytes) -> list[bytes]:
        message = msgpack.unpackb(frame)
        if message["type"] != "events":
            return [frame]
        if message["version"] == 3:
            opening.update(message)
        if message["version"] != 6:
            return [frame]
        return [frame, *another_opening(opening)]

    wire.change = change
    page = await at.arrive(context)
    await page.get_by_role("button", name="Play at the Relaxed desk", disabled=False).click()
    await expect(page.get_by_text("a different history of this game")).to_be_visible()
    mixed = [message for message in wire.sent if message["type"] == "do" and message["command"]["do"] == "Mix"]
    assert len(mixed) == 1
    ((_, version, _),) = await page.evaluate("JSON.parse(localStorage['statecraft.heads'])")
    assert version == 6, "the head that was seen first stays, as evidence"
    wire.change = lambda frame: [frame]
    await page.reload()
    await expect(at.hand(page)).to_have_count(7)
    await expect(page.get_by_text("a different history of this game")).to_have_count(0)


def another_opening(told: dict[str, Any]) -> list[bytes]:
    """The frames of a server that has opened the game once more, under another secret."""
    game = bytes.fromhex(told["topic"].removeprefix("game/"))
    events = [codec.decode(body) for body in told["events"]]
    events[0] = replace(events[0], fact=replace(events[0].fact, secret_hash=bytes(32)))
    stored = extend(origin(game), [codec.encode(event) for event in events])
    table = {**told["table"], "opened": {**told["table"]["opened"], "secret_hash": bytes(32)}}
    again = {"type": "subscribed", "topic": told["topic"], "recovered": False, "version": 0, "hash": origin(game).hash}
    frame = {**told, "hash8": stored[-1].hash[:8], "events": [event.body for event in stored], "table": table}
    return [msgpack.packb(again), msgpack.packb(frame)]


async def test_somebody_else_can_watch_without_seeing_a_hand(
    context: BrowserContext, browser: Browser, server: Server
) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    async with visiting(browser, server) as theirs:
        watcher = await at.arrive(theirs, f"/#/game/{at.game_of(page).hex()}")
        await expect(watcher.get_by_text("You are watching.")).to_be_visible()
        await at.play_on(page)
        await expect(at.ending(watcher)).to_be_visible()
        await expect(watcher.get_by_role("radio")).to_have_count(0)


# ---------------------------------------------------------------- another device


async def test_a_recovery_link_makes_another_browser_the_same_player(
    context: BrowserContext, browser: Browser, server: Server
) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    await at.play(page)
    game, left = at.game_of(page), await at.cards(page)
    await page.get_by_role("link", name="Desks").click()
    await page.get_by_role("button", name="Make a recovery link").click()
    link = await page.get_by_label("Your recovery link").input_value()
    assert re.fullmatch(re.escape(server.url) + r"/#recover=[\w-]{43}\.[\w-]{43}", link)
    async with visiting(browser, server) as theirs:
        other = await at.arrive(theirs, link)
        await expect(other.get_by_text("Welcome back")).to_be_visible()
        assert other.url == f"{server.url}/#/"
        secret = "localStorage['statecraft.secret']"
        assert await other.evaluate(secret) == await page.evaluate(secret)
        assert await at.player_of(other) == await at.player_of(page)
        await other.get_by_role("button", name="Continue your game at the Relaxed desk").click()
        await other.wait_for_url(f"**/#/game/{game.hex()}")
        await expect(at.hand(other)).to_have_count(6)
        assert await at.cards(other) == left
        await at.play(other)
    assert len(of_type(at.facts_of(server, game), Played)) == 2


async def test_a_recovery_link_does_not_replace_a_player_unasked(
    context: BrowserContext, browser: Browser, server: Server
) -> None:
    page = await at.arrive(context)
    await page.get_by_role("button", name="Make a recovery link").click()
    link = await page.get_by_label("Your recovery link").input_value()
    async with visiting(browser, server) as theirs:
        other = await at.arrive(theirs)
        await expect(at.play_button(other, "relaxed")).to_be_visible()
        before = await at.player_of(other)
        await other.goto(link)
        await other.get_by_role("button", name="Stay who I am").click()
        await expect(at.play_button(other, "relaxed")).to_be_visible()
        assert "recover" not in other.url
        assert await at.player_of(other) == before
        await other.goto(link)
        await other.get_by_role("button", name="Use the link").click()
        await expect(other.get_by_text("Welcome back")).to_be_visible()
        assert await at.player_of(other) == await at.player_of(page)


async def test_a_link_that_opens_nothing_says_so(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, expected=("403",)) as context:
        page = await at.arrive(context, f"/#recover={'A' * 43}.{'A' * 43}")
        await expect(page.get_by_text("That recovery link doesn’t open anything.")).to_be_visible()
        await page.goto("/#recover=half")
        await expect(page.get_by_text("That recovery link is not complete.")).to_be_visible()


# ---------------------------------------------------------------- proof and review


async def test_a_fresh_game_passes_every_check_of_how_fair_was_this(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.sit_down(page, "strategic")
    await at.play_on(page)
    await page.get_by_role("link", name="How fair was this?").click()
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()
    await expect(page.get_by_text("It is the one that this browser saw while the game was played")).to_be_visible()


async def test_a_saved_game_passes_with_the_network_off(context: BrowserContext, tmp_path: Path) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    await at.play_on(page)
    async with page.expect_download() as saving:
        await page.get_by_role("link", name="Save game").click()
    download = await saving.value
    await download.save_as(tmp_path / download.suggested_filename)
    await page.get_by_role("link", name="Check a saved game").click()
    choice = page.get_by_label("Choose a saved game")
    await expect(choice).to_be_visible()
    await page.wait_for_load_state("networkidle")
    await at.network(context, False)
    await choice.set_input_files(tmp_path / download.suggested_filename)
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()
    await at.network(context, True)


async def test_the_review_opens_after_the_end_and_marks_every_choice(context: BrowserContext, server: Server) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    game = at.game_of(page)
    await at.play_on(page)
    with server.http() as http:
        told = http.get(f"/api/games/{game.hex()}/review").json()
    await page.get_by_role("link", name="Review").click()
    positions = page.locator(".position")
    await expect(positions).to_have_count(len(told["positions"]))
    for at_, position in enumerate(told["positions"]):
        shown = positions.nth(at_)
        over, _, under = position["value"].partition("/")
        percent = f"{100 * int(over) / int(under or 1):.1f} %"
        await expect(shown.locator(".value")).to_contain_text(percent)
        await expect(shown.locator(".option")).to_have_count(len(position["choices"]))
        await expect(shown.locator(".option.mine")).to_contain_text(
            f"{name(position['chosen'])}, {position['chosen']}."
        )
        if under:
            await expect(shown.locator(".value")).to_contain_text(position["value"])
        for choice in position["choices"]:
            option = shown.locator(".option", has_text=f"{name(choice['card'])}, {choice['card']}.")
            if choice["cost"] != "0":
                await expect(option).to_contain_text(choice["cost"])


async def test_the_review_of_a_running_game_is_closed(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, expected=("409",)) as context:
        page = await at.arrive(context)
        await at.sit_down(page)
        await page.goto(f"/#/game/{at.game_of(page).hex()}/review")
        await expect(page.get_by_text("The review opens when the game is over.")).to_be_visible()


async def test_both_revealed_cards_are_seen(context: BrowserContext) -> None:
    """Another game's style once made them as wide as nothing."""
    page = await at.arrive(context)
    await at.sit_down(page)
    await at.play(page)
    revealed = page.locator("#scene .slot .card")
    await expect(revealed).to_have_count(2)
    for number in range(2):
        box = await revealed.nth(number).bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 80


async def test_a_card_does_not_slip_from_under_the_pointer_at_its_lower_edge(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await at.sit_down(page)
    box = await at.hand(page).nth(3).bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 1)
    under = """() => [...document.querySelectorAll(":hover")].at(-1).closest("[role=radio]")?.dataset.card ?? null"""
    cards = await at.cards(page)
    for _ in range(3):
        await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        assert await page.evaluate(under) == str(cards[3])
        assert await at.hand(page).nth(3).bounding_box() == box


# ---------------------------------------------------------------- for everybody


async def every_page(page: Page) -> AsyncIterator[str]:
    """Stops at each of the page's pages, with a game played on the way."""
    await page.goto("/")
    await expect(at.play_button(page, "relaxed")).to_be_visible()
    yield "home"
    await page.goto("/#/how")
    await expect(page.get_by_role("heading", name="How to play")).to_be_visible()
    yield "how"
    await page.goto("/#/")
    await at.sit_down(page)
    yield "deal"
    await at.play(page)
    await at.choose(page, (await at.cards(page))[-1])
    yield "table"
    await page.get_by_role("button", name="Resign").click()
    yield "question"
    await page.keyboard.press("Escape")
    await at.play_on(page)
    game = at.game_of(page).hex()
    yield "end"
    await page.goto(f"/#/game/{game}/review")
    await expect(page.locator(".positions, .empty").first).to_be_visible()
    yield "review"
    await page.goto(f"/#/game/{game}/fair")
    await expect(page.get_by_role("heading", name="Every check passed")).to_be_visible()
    yield "fair"
    await page.goto("/#/")
    await expect(page.get_by_role("table")).to_be_visible()
    await page.get_by_role("button", name="Make a recovery link").click()
    await expect(page.get_by_label("Your recovery link")).to_be_visible()
    yield "record"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious_on_any_page(browser: Browser, server: Server, scheme: str) -> None:
    async with visiting(browser, server, color_scheme=scheme, bypass_csp=True) as context:
        page = await context.new_page()
        found = {stop: await at.violations(page) async for stop in every_page(page)}
        assert {stop: each for stop, each in found.items() if each} == {}


@pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (1280, 800)])
async def test_nothing_needs_scrolling_sideways(browser: Browser, server: Server, width: int, height: int) -> None:
    async with visiting(browser, server, viewport={"width": width, "height": height}) as context:
        page = await context.new_page()
        wide = {stop: await page.evaluate("document.documentElement.scrollWidth") async for stop in every_page(page)}
        assert set(wide.values()) == {width}, wide


async def test_seven_cards_can_be_hit_at_320_pixels(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, viewport={"width": 320, "height": 568}, has_touch=True) as context:
        page = await at.arrive(context)
        await at.sit_down(page)
        seven = at.hand(page)
        await expect(seven).to_have_count(7)
        for at_ in range(7):
            card = seven.nth(at_)
            size = await card.evaluate("""card => {
                card.scrollIntoView({ block: "center" });
                const { x, y, width, height } = card.getBoundingClientRect();
                const [right, low] = [width - 3, height - 3];
                const points = [[3, 3], [right, 3], [3, low], [right, low], [width / 2, height / 2]];
                const hit = points.every(([dx, dy]) => card.contains(document.elementFromPoint(x + dx, y + dy)));
                return { width, height, hit };
            }""")
            assert size["hit"]
            assert min(size["width"], size["height"]) >= 44
            await card.tap()
            await expect(card).to_be_checked()
        await at.confirm_button(page).tap()
        await at.played(page, 1)


async def test_whatever_can_be_pressed_is_at_least_44_pixels_high(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, viewport={"width": 320, "height": 568}) as context:
        page = await context.new_page()
        small = """[...document.querySelectorAll("button, nav a, .button, .more, summary, input, [role=radio]")]
            .filter((each) => each.checkVisibility() && each.closest(".sc-verify") === null)
            .map((each) => [each.textContent.trim(), each.getBoundingClientRect().height])
            .filter(([, height]) => height < 44)"""
        found = {stop: await page.evaluate(small) async for stop in every_page(page)}
        assert {stop: each for stop, each in found.items() if each} == {}


async def test_every_reason_for_a_refusal_has_its_sentence(context: BrowserContext) -> None:
    protocol = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    table = protocol.partition("## Reasons")[2].partition("## ")[0]
    reasons = [
        reason
        for row in table.splitlines()
        for reason in re.findall(r"`([a-z_]+)`", row.split("|")[1] if "|" in row else "")
    ]
    assert len(reasons) > 25
    page = await at.arrive(context)
    said = await page.evaluate("reasons => import('/reasons.js').then(({ inWords }) => reasons.map(inWords))", reasons)
    assert [each for each in said if each.startswith("The server declined")] == []


async def test_the_skip_link_leads_to_the_content(context: BrowserContext) -> None:
    page = await at.arrive(context)
    await expect(at.play_button(page, "relaxed")).to_be_visible()
    await page.keyboard.press("Tab")
    assert await focused_name(page) == "Skip to the content"
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()
    assert page.url.endswith("/")


async def test_without_scripts_a_sentence_stands_there(browser: Browser, server: Server) -> None:
    async with visiting(browser, server, java_script_enabled=False) as context:
        page = await at.arrive(context)
        await expect(page.get_by_text("needs JavaScript")).to_be_visible()


async def test_without_websockets_a_sentence_stands_there(context: BrowserContext) -> None:
    await context.add_init_script("delete window.WebSocket")
    page = await at.arrive(context)
    await expect(page.get_by_text("This browser has no WebSockets, which a live game needs.")).to_be_visible()


async def test_a_game_that_is_not_there_and_a_page_that_is_not_there_are_said_to_be_missing(
    context: BrowserContext,
) -> None:
    page = await at.arrive(context, f"/#/game/{'f' * 32}")
    await expect(page.get_by_text("There is no such game here.")).to_be_visible()
    await page.goto("/#/elsewhere")
    await expect(page.get_by_role("heading", name="Nothing is filed here")).to_be_visible()
