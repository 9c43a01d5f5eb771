"""What a battle costs the page itself, late in a long War and early: the browser's main thread, drawing and all."""

import asyncio
import time
from pathlib import Path

from playwright.async_api import CDPSession, Page, async_playwright

from bench.filled import put, war
from bench.measure import Report, Row, Series, Size
from bench.processes import Product, product
from events import codec

TURNS = 60
"""A round."""
SETTLE_SECONDS_MAX = 10
CHROMIUM = "/usr/bin/chromium"
# Pressed again where the last turn was still under way: then it means nothing.
TURN = """async (turns) => {
    const count = document.getElementById("battles");
    const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
    for (let turn = 0; turn < turns; turn++) {
        const before = count.textContent;
        for (press(); count.textContent === before; press()) await new Promise((go) => setTimeout(go, 1));
    }
    await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
}"""


async def run(size: Size, folder: Path) -> Report:
    late = size.of(3_800, 500)
    with product(folder / "data") as server:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=CHROMIUM)
            context = await browser.new_context(base_url=f"http://{server.address[0]}:{server.address[1]}")
            first = await context.new_page()
            await first.goto("/#/me")
            player = bytes.fromhex(await first.locator("code").first.inner_text())
            await first.close()
            stood = {f"battle {late:,}": war(player, late), "battle 10": war(player, 10)}
            for id_, events in stood.values():
                await put(server.data, id_, events)
            costs: dict[str, list[float]] = {name: [] for name in stood}
            for number in range(size.rounds + 1):
                for name, (id_, _) in stood.items():
                    page = await context.new_page()
                    cost = await turned(page, id_)
                    await check(server, id_, page)
                    await page.close()
                    if number:
                        costs[name].append(cost)
            version = browser.version
            await browser.close()
    of_late, of_early = (Series(name, tuple(values)) for name, values in costs.items())
    return Report(
        [Row(f"a Turn on the page at battle {late:,} and at 10", "µs CPU", of_late, of_early, "≤ 1.15 ×")],
        [
            f"Chromium {version}'s main thread: scripts, style, layout and painting",
            "after each round the game was audited, and the page's battles compared with it",
        ],
    )


async def turned(page: Page, game: bytes) -> float:
    """CPU of a battle, in µs."""
    await page.goto(f"/#/game/{game.hex()}")
    await page.locator("#battles").wait_for()
    await page.wait_for_function("Number(document.getElementById('battles').textContent.replace(/\\D/g, '')) >= 9")
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = await _busy(session)
    await page.evaluate(TURN, TURNS)
    return (await _busy(session) - before) / TURNS * 1e6


async def _busy(session: CDPSession) -> float:
    """Seconds that the page's main thread was at work."""
    told = await session.send("Performance.getMetrics")
    return next(float(metric["value"]) for metric in told["metrics"] if metric["name"] == "TaskDuration")


async def check(server: Product, game: bytes, page: Page) -> None:
    """What the page counts is what the log holds, once a turn that the last press may have begun is over. Raises
    AssertionError."""
    until = time.monotonic() + SETTLE_SECONDS_MAX
    while True:
        taken = sum(codec.name(body) == "Taken" for body in server.audited(game))
        battles = await page.locator("#battles").inner_text()
        if int(battles.replace(",", "")) == taken:
            return
        assert time.monotonic() < until, f"the page counts {battles} battles, the log holds {taken}"
        await asyncio.sleep(0.1)
