"""Draws docs/screenshot.png and docs/screenshot-phone.png: a server of its own, a real browser, a few matches."""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.async_api import Page, async_playwright

TOP = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"

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


async def draw(address: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM)
        looks: list[tuple[str, dict[str, Any], int]] = [("screenshot", DESKTOP, 4), ("screenshot-phone", PHONE, 3)]
        for name, options, matches in looks:
            context = await browser.new_context(reduced_motion="reduce", **options)
            page = await context.new_page()
            await page.goto(address)
            await play(page, matches)
            await page.evaluate("document.fonts.ready.then(() => { document.activeElement.blur(); scrollTo(0, 0); })")
            await page.mouse.move(0, 0)
            await page.screenshot(path=TOP / "docs" / f"{name}.png")
            await context.close()
        await browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "server", "serve", "--port", "0", "--data", data]
        server = subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            asyncio.run(draw(server.stdout.readline().removeprefix("Statecraft is at ").strip()))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
