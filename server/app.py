"""Where parts are built and joined: the one place that knows them all."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.database import Database
from events.log import Log
from events.sqlite import SCHEMA, SqliteLog
from server import http, people, records, socket
from server.audience import Audience
from server.clock import keep_sweeping, now_ms
from server.games import Games
from server.keys import operator_keys
from server.people import People
from server.records import Records
from server.settings import ROOT, Settings

WEB = ROOT / "server" / "web"
SECURITY = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types lit-html portraits",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}


@dataclass(slots=True)
class Parts:
    """What the endpoints work with."""

    settings: Settings
    clock: Callable[[], int]
    log: Log
    games: Games
    audience: Audience
    people: People
    records: Records
    connections: int = 0


class Headers:
    """Adds the security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._added = [(name.encode(), value.encode()) for name, value in SECURITY.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._added]
            await send(message)

        await self._app(scope, receive, sending)


def application(settings: Settings) -> Starlette:
    """The whole server as one ASGI application. Nothing is opened before its lifespan starts."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        settings.data.mkdir(parents=True, exist_ok=True)
        keys = operator_keys(settings.keys)
        database = await Database.open(settings.log, (SCHEMA, people.SCHEMA, records.SCHEMA))
        log = SqliteLog(database)
        games = Games(log, keys, now_ms)
        audience = Audience(games, log)
        app.state.parts = Parts(settings, now_ms, log, games, audience, People(database), Records(database, log))
        loops = (
            asyncio.create_task(keep_sweeping(games, log, settings.sweep_seconds)),
            asyncio.create_task(audience.heal()),
        )
        # What was built until here stays: the collector needn't look at it again and again.
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)
            await database.close()

    return Starlette(
        routes=[
            WebSocketRoute("/ws", socket.endpoint),
            *http.routes(),
            Mount("/", StaticFiles(directory=WEB, html=True)),
        ],
        middleware=[Middleware(Headers)],
        exception_handlers=dict(http.PROBLEMS),
        lifespan=lifespan,
    )
