"""A running server process: uvicorn with our settings, and one line that says where it is."""

import sys
import webbrowser
from typing import Any

import uvicorn
from rich.console import Console

from server.app import application
from server.settings import Settings
from server.wire import FRAME_BYTES_MAX

PING_SECONDS = 20
DRAIN_SECONDS = 10


class _Server(uvicorn.Server):
    """Says where it is once it listens."""

    def __init__(self, config: uvicorn.Config, open_page: bool) -> None:
        super().__init__(config)
        self._open_page = open_page

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.should_exit or not self.servers:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        Console(highlight=False, soft_wrap=True).print(f"Statecraft is at {address}")
        sys.stdout.flush()
        if self._open_page:
            webbrowser.open(address)


def run(settings: Settings, host: str, port: int, open_page: bool) -> bool:
    """Serve until a signal ends it; False if it couldn't start. Raises Busy, BadKeys, OSError."""
    config = uvicorn.Config(
        application(settings),
        host=host,
        port=port,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=FRAME_BYTES_MAX,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        log_level="warning",
        server_header=False,
    )
    server = _Server(config, open_page)
    server.run()
    return server.started
