"""Draws the pictures in docs/: a server with a crowd's games, a real browser, matches, a War, a board, a record."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

from tests.crowd import gather

TOP = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"

GAMES = (*(1 + number % 7 for number in range(24)), 60)
"""Of each member of the crowd; the last one is who looks at the board."""
DESKTOP = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}
PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True}


async def play(page: Page, matches: int) -> None:
    """From the first page to the reveal of that match, always the card in the middle of the hand."""
    await page.get_by_role("button", name="Play at the Strategic desk").click()
    for match in range(1, matches + 1):
        cards = page.locator("[role=radiogroup][aria-busy=false] [role=radio]")
        await cards.first.wait_for()
        await cards.nth(await cards.count() // 2).click()
        await page.get_by_role("button", name="Confirm").click()
        await page.wait_for_function(
            "match => document.querySelector('.matches summary b')?.textContent === String(match)", arg=match
        )


async def war(page: Page) -> None:
    """From the first page to the fifth battle of seed 12, with its war."""
    await page.goto("/?seed=12")
    for battle in range(1, 6):
        await page.locator(".confirm").click()
        await page.wait_for_function(
            "battle => document.getElementById('battles')?.textContent === String(battle)", arg=battle
        )


async def board(page: Page) -> None:
    await page.goto("/#/boards")
    await page.locator(".places tbody tr").nth(9).wait_for()


async def player(page: Page) -> None:
    await page.goto("/#/me")
    await page.locator(".history tbody tr").first.wait_for()


async def draw(address: str, token: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM)
        looks: list[tuple[str, dict[str, Any], Callable[[Page], Awaitable[None]]]] = [
            ("screenshot", DESKTOP, partial(play, matches=4)),
            ("screenshot-phone", PHONE, partial(play, matches=3)),
            ("screenshot-war", DESKTOP, war),
            ("screenshot-board", DESKTOP, board),
            ("screenshot-player-phone", PHONE, player),
        ]
        for name, options, come in looks:
            context = await browser.new_context(base_url=address, reduced_motion="reduce", **options)
            if come in (board, player):
                await context.add_cookies([{"name": "statecraft", "value": token, "url": address}])
            page = await context.new_page()
            await page.goto("/")
            await come(page)
            await page.evaluate("document.fonts.ready.then(() => { document.activeElement.blur(); scrollTo(0, 0); })")
            await page.mouse.move(0, 0)
            await page.screenshot(path=TOP / "docs" / f"{name}.png")
            await context.close()
        await browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        token = asyncio.run(gather(Path(data), GAMES))[-1].token
        command = [sys.executable, "-m", "server", "serve", "--port", "0", "--data", data]
        server = subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().removeprefix("Statecraft is at ").strip()
            asyncio.run(draw(address.rstrip("/"), token))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
