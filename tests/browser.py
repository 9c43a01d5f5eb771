"""A real Chromium with the page in it, and what a player does there: the only tests' module that knows the controls."""

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgpack
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    WebSocketRoute,
    async_playwright,
    expect,
)

from events import codec
from rules.game import Fact
from tests.npm import checkout
from tests.running import Server

CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows")
"""A tab that isn't in front draws its frames all the same."""
wait_ms_max = 60_000
"""For anything that must come: only a page that is broken takes so long."""

expect.set_options(timeout=wait_ms_max)

# What the live region was told, in order: written down as it is put in, whatever is taken out again.
_LISTEN = """
    window.heard = [];
    new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
            if (target.id === "spoken") for (const node of addedNodes) heard.push(node.textContent);
        }
    }).observe(document, { childList: true, subtree: true });
    document.addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective}`));
"""

DIFFICULTIES = {"relaxed": "Relaxed", "strategic": "Strategic"}


@dataclass
class Watch:
    """What must not happen on any page."""

    origin: str
    expected: tuple[str, ...] = ()
    """Parts of what the console may say in this test."""
    complaints: list[str] = field(default_factory=list)

    def console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complain(message.text)

    def request(self, url: str) -> None:
        if not url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.complaints.append(f"asked for {url}")

    def complain(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.complaints.append(text)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        await browser.close()


@asynccontextmanager
async def visiting(
    browser: Browser, server: Server, expected: tuple[str, ...] = (), **options: Any
) -> AsyncIterator[BrowserContext]:
    """A browser of somebody's own. Whatever a page of it complains of fails the test in the end."""
    context = await browser.new_context(base_url=server.url, **{"reduced_motion": "reduce", **options})
    context.set_default_timeout(wait_ms_max)
    watch = Watch(server.url, expected)
    context.on("console", watch.console)
    context.on("weberror", lambda error: watch.complain(str(error.error)))
    context.on("request", lambda request: watch.request(request.url))
    await context.add_init_script(_LISTEN)
    try:
        yield context
    finally:
        await context.close()
    assert watch.complaints == []


# ---------------------------------------------------------------- the wire between page and server


class Wire:
    """Every frame between the pages of a context and the server, held back or changed at will."""

    def __init__(self) -> None:
        self.holding_in = self.holding_out = False
        self.change: Callable[[bytes], list[bytes]] = lambda frame: [frame]
        """From a frame of the server's to those that arrive."""
        self.alter: Callable[[bytes], bytes] = lambda frame: frame
        """From a frame of the page's to the one that arrives."""
        self.sent: list[Any] = []
        """The page's messages, as the page sent them."""
        self._kept: list[tuple[Callable[[Any], None], Any]] = []

    @classmethod
    async def under(cls, page: Page | BrowserContext) -> "Wire":
        wire = cls()
        await page.route_web_socket("**/ws", wire._route)
        return wire

    def _route(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def out(frame: Any) -> None:
            self.sent.append(msgpack.unpackb(frame))
            frame = self.alter(frame)
            if self.holding_out:
                self._kept.append((server.send, frame))
            else:
                server.send(frame)

        def in_(frame: Any) -> None:
            if self.holding_in:
                self._kept.append((socket.send, frame))
            else:
                for each in self.change(frame):
                    socket.send(each)

        socket.on_message(out)
        server.on_message(in_)

    def hold(self) -> None:
        self.holding_in = self.holding_out = True

    def release(self) -> None:
        self.holding_in = self.holding_out = False
        kept, self._kept = self._kept, []
        for send, frame in kept:
            send(frame)


# ---------------------------------------------------------------- what a player does


async def arrive(context: BrowserContext, address: str = "/") -> Page:
    page = await context.new_page()
    await page.goto(address)
    return page


async def sit_down(page: Page, mode: str = "relaxed") -> None:
    """From the first page to a table with cards on it."""
    await play_button(page, mode).click()
    await expect(hand(page).first).to_be_visible()


def play_button(page: Page, mode: str) -> Locator:
    return page.get_by_role("button", name=f"Play at the {DIFFICULTIES[mode]} desk", disabled=False)


def hand(page: Page) -> Locator:
    return page.locator("[role=radiogroup][aria-busy=false] [role=radio]")


def confirm_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Confirm")


def ending(page: Page) -> Locator:
    return page.locator("#ending")


async def cards(page: Page) -> list[int]:
    return [int(number) for number in await hand(page).evaluate_all("all => all.map((each) => each.dataset.card)")]


async def chosen(page: Page) -> int | None:
    checked = page.get_by_role("radio", checked=True)
    return int(await checked.get_attribute("data-card") or 0) if await checked.count() else None


async def choose(page: Page, card: int) -> None:
    await page.bring_to_front()  # a tab in the background draws no frames, and a click waits for two
    await page.locator(f"[role=radio][data-card='{card}']").click()
    await expect(page.locator(f"[role=radio][data-card='{card}']")).to_be_checked()


async def matches(page: Page) -> int:
    """How many the page says were played."""
    count = page.locator(".matches summary b")
    return int(await count.inner_text()) if await count.count() else 0


async def played(page: Page, count: int) -> None:
    """Wait until the page shows that many matches, and the hand after them or the end."""
    await page.wait_for_function(
        """count => Number(document.querySelector(".matches summary b")?.textContent ?? 0) >= count
            && !document.querySelector("[aria-busy=true]")""",
        arg=count,
        polling=20,  # a tab in the background has no animation frames to wait by
    )


async def play(page: Page, card: int | None = None) -> None:
    """One match, by mouse, with the given card or the lowest."""
    before = await matches(page)
    await choose(page, (await cards(page))[0] if card is None else card)
    await confirm_button(page).click()
    await played(page, before + 1)


async def play_on(page: Page) -> None:
    """To the end."""
    while not await ending(page).count():
        await play(page)
    await expect(ending(page)).to_be_visible()


# ---------------------------------------------------------------- at a table of War


async def open_war(page: Page, name: str) -> None:
    """From the first page to a table of War with the cards dealt."""
    await page.get_by_role("button", name=f"Play of {name}", disabled=False).click()
    await dealt(page)


async def dealt(page: Page) -> None:
    await expect(deck(page)).to_have_attribute("aria-disabled", "false")


def deck(page: Page) -> Locator:
    return page.get_by_role("button", name="turn the top card")


async def turn(page: Page) -> None:
    """One battle, by the big button."""
    before = await battles(page)
    await page.locator(".confirm").click()
    await turned(page, before + 1)


async def battles(page: Page) -> int:
    return int(await page.locator("#battles").inner_text())


async def turned(page: Page, count: int) -> None:
    """Wait until the page shows that many battles."""
    await page.wait_for_function(
        "count => Number(document.getElementById('battles')?.textContent ?? -1) >= count", arg=count, polling=20
    )


async def war_piles(page: Page) -> tuple[int, int]:
    return int(await page.locator("#mine").inner_text()), int(await page.locator("#theirs").inner_text())


# ---------------------------------------------------------------- between people


async def seek(page: Page, game: str, pace: str | None = None) -> None:
    """On the first page or in the lobby: the game, and how much time there is for its first clock."""
    section = page.get_by_role("region", name="Play a person")
    await section.get_by_role("button", name=game, exact=True).click()
    await expect(section.get_by_role("button", name=game, exact=True)).to_have_attribute("aria-pressed", "true")
    if pace is not None:
        await section.get_by_role("combobox").select_option(pace)


async def invite(page: Page, game: str, pace: str | None = None) -> str:
    """From the first page to the room of a game that somebody may join: the address to send them."""
    await seek(page, game, pace)
    await page.get_by_role("button", name="Invite by link").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Waiting for your opponent")
    return await page.get_by_label("The link to this game").input_value()


async def take_seat(page: Page, address: str) -> None:
    await page.goto(address)
    await page.get_by_role("button", name="Take the seat").click()


async def find(page: Page, game: str) -> None:
    """Into the queue."""
    await seek(page, game)
    await page.get_by_role("button", name="Find somebody").click()


def seal_button(page: Page) -> Locator:
    return page.locator(".confirm")


async def seal(page: Page, card: int | None = None) -> int:
    """Commit to a card, the lowest if none is given, by mouse."""
    await expect(seal_button(page)).to_have_text("Seal")
    card = (await cards(page))[0] if card is None else card
    await choose(page, card)
    await seal_button(page).click()
    # The button goes with the last match.
    await page.wait_for_function(
        "() => !/Seal \\w|Sealing/.test(document.querySelector('.confirm')?.textContent ?? '')", polling=20
    )
    return card


async def match_between(one: Page, other: Page) -> None:
    """A match of 50 States: both seal, and both cards are shown by themselves."""
    before = await matches(one)
    await seal(one)
    await seal(other)
    for page in (one, other):
        await played(page, before + 1)


async def turn_out(*pages: Page) -> None:
    """A Playbook War between people to its end. Its clock turns, too, so the end may come at any moment."""
    while not await ending(pages[0]).count():
        before = await battles(pages[0])
        for page in pages:
            await page.evaluate("document.querySelector('.more-turns .button')?.click()")
        await pages[0].wait_for_function(
            """count => document.getElementById('ending')
                || Number(document.getElementById('battles')?.textContent ?? -1) > count""",
            arg=before,
            polling=20,
        )


async def heard(page: Page) -> list[str]:
    lines: list[str] = await page.evaluate("heard")
    return lines


def game_of(page: Page) -> bytes:
    return bytes.fromhex(page.url.partition("#/game/")[2][:32])


async def at_game(page: Page) -> bytes:
    await page.wait_for_url("**/#/game/*")
    return game_of(page)


def events_of(server: Server, game: bytes) -> list[codec.Event]:
    """What the game's log holds, by the server's own saved file."""
    lines = server.export(game).decode().splitlines()[1:]
    return [codec.decode(base64.b64decode(json.loads(line)["body"])) for line in lines]


def facts_of(server: Server, game: bytes) -> list[Fact]:
    return [event.fact for event in events_of(server, game)]


async def player_of(page: Page) -> bytes:
    told = await page.evaluate("fetch('/api/session').then((answer) => answer.json())")
    return bytes.fromhex(told["player"])


async def network(context: BrowserContext, on: bool) -> None:
    await context.set_offline(not on)


@cache
def _axe() -> str:
    return (checkout() / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


async def violations(page: Page) -> list[tuple[str, str, Any]]:
    """What axe finds serious or critical. The context must have been made with `bypass_csp`."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_axe())
    found: list[dict[str, Any]] = await page.evaluate("axe.run().then(({ violations }) => violations)")
    return [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
