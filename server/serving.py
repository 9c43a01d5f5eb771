"""A running server process: uvicorn with our settings, and one line that says where it is."""

import asyncio
import resource
import sys
import webbrowser
from types import FrameType
from typing import Any

import uvicorn
from rich.console import Console
from starlette.applications import Starlette

from events.notes import VerifierKey
from server import demo, logs, shared_keys
from server.app import SCHEMAS, application
from server.bounds import socket_class
from server.folded import projected
from server.heads import Http
from server.keys import BadKeys, has_keys
from server.parts import Parts
from server.settings import Settings
from server.stores import people_in, stores
from server.wire import FRAME_BYTES_MAX

THREAD_SWITCH_SECONDS = 0.0005
"""The writer's thread needs the interpreter for each statement; beside a busy loop it would wait 5 ms every time."""
PING_SECONDS = 20
DRAIN_SECONDS = 5
"""Container engines kill after ten."""
FILES_BESIDE = 1000
"""Open files that are no sockets at `/ws`: the store's, and requests'."""


class _Server(uvicorn.Server):
    """Says where it is once it listens, and leaves without a move lost."""

    def __init__(
        self, config: uvicorn.Config, app: Starlette, open_page: bool, key: VerifierKey, demo_games: int
    ) -> None:
        super().__init__(config)
        self._app = app
        self._demo_games = demo_games
        self._demo: asyncio.Task[None] | None = None
        self._open_page = open_page
        self._key = key

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.should_exit or not self.servers:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        say = Console(highlight=False, soft_wrap=True)
        say.print(f"Statecraft is at {address}")
        say.print(f"The ledger's key is {self._key}")
        sys.stdout.flush()
        if self._demo_games:
            near = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
            self._demo = asyncio.create_task(demo.fill(f"http://{near}:{port}", self._demo_games))
        if self._open_page:
            webbrowser.open(address)

    async def shutdown(self, sockets: Any = None) -> None:
        parts: Parts = self._app.state.parts
        if self._demo is not None:
            self._demo.cancel()
        await parts.doors.announce(parts.settings.leave_seconds)
        for listener in self.servers:
            listener.close()
        await parts.doors.empty(DRAIN_SECONDS)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and self.started:
            self._app.state.parts.doors.hurry()
        super().handle_exit(sig, frame)


class NotEmpty(Exception):
    """Somebody's games are there."""


async def _try(settings: Settings, empty: bool) -> VerifierKey:
    """The ledger's key. Whatever stops the application stops here first: uvicorn would tell it as a stack trace."""
    settings.data.mkdir(parents=True, exist_ok=True)
    async with stores(settings, SCHEMAS) as found:
        async with people_in(found, settings), projected(settings, found):
            has_games = bool(await found.log.games(limit=1))
        if empty and (has_games or (await found.ledger.head()).size):
            raise NotEmpty("the store has games or records: the demo fills an empty install only")
        if has_games and not has_keys(settings.keys):
            # New ones would be made, and no game that runs could go on.
            raise BadKeys(f"the store has games, but {settings.keys} no keys: put them back (docs/operations.md)")
        return (await shared_keys.keys(settings, found.redis)).verifier


def _ask_for_files(connections_max: int) -> None:
    """Each connection is an open file, and many systems allow 1,024 of them until somebody asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections_max + FILES_BESIDE
    if resource.RLIM_INFINITY not in (soft, hard):
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run(settings: Settings, host: str, port: int, open_page: bool, demo_games: int = 0) -> bool:
    """Serve until a signal ends it; False if it couldn't start. Raises FAULTS, BadKeys, NotEmpty, DatabaseError."""
    key = asyncio.run(_try(settings, empty=demo_games > 0))
    _ask_for_files(settings.connections_max)
    sys.setswitchinterval(THREAD_SWITCH_SECONDS)
    logs.set_up()
    app = application(settings)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=Http,
        ws=socket_class(settings.close_seconds, settings.fast_path),
        ws_max_size=FRAME_BYTES_MAX,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=settings.proxies,
    )
    server = _Server(config, app, open_page, key, demo_games)
    server.run()
    return server.started
