"""The examples, run as somebody would: each watches a real game to its end, across a lost line."""

import asyncio
import contextlib
import functools
import http.server
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest
from playwright.async_api import Browser, expect

from tests.npm import checkout
from tests.running import ROOT, Client, Followed, Server, connected, serving, wait_seconds_max

pytestmark = [pytest.mark.anyio]

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("examples")) as server:
        yield server


class Line:
    """A way to the server that can be cut."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._wires: set[asyncio.StreamWriter] = set()
        self.taken = 0
        """Connections that were made."""

    async def __aenter__(self) -> "Line":
        self._listening = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()
        self.cut()

    @property
    def url(self) -> str:
        host, port = self._listening.sockets[0].getsockname()
        return f"ws://{host}:{port}/ws"

    def cut(self) -> None:
        for wire in self._wires:
            wire.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._server.address)
        self.taken += 1
        ends = {writer, back}
        self._wires |= ends
        try:
            await asyncio.gather(_pour(reader, back), _pour(there, writer))
        finally:
            self._wires -= ends
            for end in ends:
                end.close()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def command(name: str) -> list[str]:
    if name.endswith(".py"):
        return [sys.executable, str(EXAMPLES / name)]
    # Beside the installed packages, wherever they are.
    beside = checkout() / "examples" / name
    if not beside.exists():
        beside.parent.mkdir(exist_ok=True)
        shutil.copy(EXAMPLES / name, beside)
    return ["node", str(beside)]


@contextlib.asynccontextmanager
async def running(*words: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = await asyncio.create_subprocess_exec(
        *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def half_played(client: Client) -> Followed:
    followed = await client.follow(await client.open())
    await client.mix(followed)
    for _ in range(3):
        await client.play(followed)
    return followed


@pytest.mark.parametrize("name", ["watch.py", "watch.mjs"])
async def test_a_program_watches_a_game_to_its_end_across_a_cut_line_each_event_once(server: Server, name: str) -> None:
    async with asyncio.timeout(wait_seconds_max), connected(server, server.join()) as client, Line(server) as line:
        followed = await half_played(client)
        async with running(*command(name), line.url, followed.game.hex()) as process:
            assert process.stdout is not None
            lines = [(await process.stdout.readline()).decode() for _ in followed.events]
            line.cut()
            await client.play_on(followed, Random(1))
            async for text in process.stdout:
                lines.append(text.decode())
            assert await process.wait() == 0
    told = [text.split()[:2] for text in lines[:-1]]
    assert told == [
        [str(event.version), type(fact).__name__] for event, fact in zip(followed.events, followed.facts, strict=True)
    ]
    assert lines[-1].startswith("over: ")
    assert line.taken == 2


@pytest.mark.parametrize("name", ["watch.py", "watch.mjs"])
async def test_a_program_says_that_there_is_no_such_game(server: Server, name: str) -> None:
    async with asyncio.timeout(wait_seconds_max):
        url = f"{server.url.replace('http', 'ws', 1)}/ws"
        async with running(*command(name), url, bytes(16).hex()) as process:
            _, errors = await process.communicate()
            assert process.returncode == 1
            assert b"unknown_game" in errors
        async with running(*command(name)) as process:
            _, errors = await process.communicate()
            assert process.returncode == 1
            assert b"usage" in errors


@contextlib.contextmanager
def another_origin(folder: Path) -> Iterator[str]:
    """Files of a folder at an address that isn't the server's."""
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=str(folder))) as files:
        thread = threading.Thread(target=files.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{files.server_address[1]}"
        finally:
            files.shutdown()
            thread.join()


@pytest.mark.browser
async def test_a_page_of_another_origin_watches_without_a_cookie(browser: Browser, server: Server) -> None:
    with another_origin(EXAMPLES) as origin:
        async with connected(server, server.join()) as client, Line(server) as line:
            followed = await half_played(client)
            context = await browser.new_context()
            page = await context.new_page()
            await page.goto(f"{origin}/watch.html?server={line.url}&game={followed.game.hex()}")
            await expect(page.locator("#events li")).to_have_count(len(followed.events))
            line.cut()
            await client.play_on(followed, Random(2))
            await expect(page.locator("#status")).to_contain_text(f"Over after {len(followed.events)} events")
            told = [text.split()[0] for text in await page.locator("#events li").all_inner_texts()]
            assert told == [type(fact).__name__ for fact in followed.facts]
            assert await context.cookies() == []
            await page.goto(f"{origin}/watch.html?server={line.url}&game={bytes(16).hex()}")
            await expect(page.locator("#status")).to_have_text("Not watched: unknown_game")
            await context.close()
