"""Where parts are built and joined: the one place that knows them all."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from traceback import format_exception

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events import sqlite_ledger
from events.database import Database
from events.sqlite import SCHEMA
from server import (
    described,
    embedding,
    folds,
    generations,
    http,
    leaderboards,
    meetings,
    names,
    people,
    personal,
    players,
    probes,
    public,
    ratings,
    socket,
)
from server.archive import archive
from server.archived import ArchivedLog
from server.audience import Audience
from server.barring import is_barred
from server.board_feeds import BoardFeeds
from server.boards import Boards
from server.clock import Beats, Sweep, now_ms
from server.doors import Doors
from server.embedding import AnyOrigin
from server.games import Games
from server.hall import hall
from server.joins import Joins
from server.keys import ledger_key, operator_keys
from server.letting_go import LettingGo
from server.meetings import Meetings, SqliteMeetings
from server.names import Names
from server.parts import Parts
from server.people import People
from server.projector import Projector
from server.redis_meetings import RedisMeetings
from server.replaying import Recordings
from server.sequencer import Sequencer
from server.settings import ROOT, Settings
from server.signed import SignedPrefix, size_of
from server.signer import Publisher, signer
from server.stores import Stores, stores
from server.tally import Tally

log_line = structlog.get_logger()

SCHEMAS = (SCHEMA, sqlite_ledger.SCHEMA, meetings.SCHEMA)
PEOPLE_SCHEMAS = (people.SCHEMA, names.SCHEMA)
BOARDS_SCHEMAS = (generations.SCHEMA,)
COLLECT_AFTER = (20_000, 20, 50)
"""Objects, and rounds of the younger generations. Nearly everything here goes without the collector's help."""
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


class Headers:
    """Adds the security headers to every answer that doesn't bring its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._added = [(name.encode(), value.encode()) for name, value in SECURITY.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                added = [(name, value) for name, value in self._added if name not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, sending)


async def _for_ever(work: Callable[[], Awaitable[None]], tally: Tally) -> None:
    """A fault in one round must not silently end all later ones."""
    while True:
        try:
            await work()
        except Exception as fault:
            tally.faults += 1
            # As plain text: a log with the values of variables in it would tell keys and hands.
            log_line.error("a fault of ours ended a loop, which begins again", why=format_exception(fault))
        await asyncio.sleep(1)


def _meetings(found: Stores) -> Meetings:
    if found.redis is not None:
        return RedisMeetings(found.redis, found.log)
    assert found.embedded is not None
    return SqliteMeetings(found.embedded)


@contextlib.asynccontextmanager
async def _parts(settings: Settings) -> AsyncIterator[Parts]:
    """All parts, built and joined; what was opened is closed in reverse order."""
    settings.data.mkdir(parents=True, exist_ok=True)
    keys, tally = operator_keys(settings.keys), Tally()
    async with contextlib.AsyncExitStack() as opened:
        found = await opened.enter_async_context(stores(settings, SCHEMAS))
        people_database = await Database.open(settings.people, PEOPLE_SCHEMAS, shared=True)
        opened.push_async_callback(people_database.close)
        boards_database = await Database.open(settings.boards, BOARDS_SCHEMAS, shared=True)
        opened.push_async_callback(boards_database.close)
        if found.embedded is not None:
            await people.move_from(found.embedded, people_database)
        called = Names(people_database)

        ledger, kept = found.ledger, archive(settings.archive)
        log = ArchivedLog(found.log, kept)
        sequencer = Sequencer(found.log, ledger)
        publisher = Publisher(ledger, found.log, kept, signer(ledger_key(settings.keys)), settings.keys)
        signed = SignedPrefix(ledger, size_of(publisher))
        projector = Projector(boards_database, signed)
        publisher.listen(projector.wake)
        await projector.begin()
        boards = Boards(boards_database, projector)

        games = Games(log, keys, now_ms, sequencer.closed, partial(is_barred, ledger), tally)
        audience = Audience(games, log)
        rating = partial(ratings.rating, projector)
        meeting = hall(games, audience, _meetings(found), rating, called.of, now_ms, keys[max(keys)])
        opened.push_async_callback(meeting.queue.end)
        yield Parts(
            settings=settings,
            clock=now_ms,
            log=log,
            games=games,
            audience=audience,
            recordings=Recordings(log),
            people=People(people_database),
            ledger=ledger,
            sequencer=sequencer,
            publisher=publisher,
            letting_go=LettingGo(found.log, ledger, publisher, kept, now_ms, settings.keep_seconds),
            archive=kept,
            signed=signed,
            projector=projector,
            boards=boards,
            boards_database=boards_database,
            hall=meeting,
            board_feeds=BoardFeeds(boards, projector, called.of, now_ms),
            people_database=people_database,
            names=called,
            joins=Joins(settings.joins_max),
            beats=Beats(log),
            sweep=Sweep(games, log, now_ms, tally),
            tally=tally,
            doors=Doors(),
        )


def _works(parts: Parts) -> tuple[Callable[[], Awaitable[None]], ...]:
    """What runs for ever, each in a loop of its own."""
    return (
        parts.beats.for_ever,
        partial(parts.sweep.for_ever, parts.settings.sweep_seconds),
        *parts.hall.loops,
        parts.audience.heal,
        parts.board_feeds.run,
        parts.sequencer.run,
        parts.publisher.run,
        parts.letting_go.run,
        partial(folds.run, parts.publisher, parts.projector, parts.boards_database, parts.signed),
    )


@contextlib.asynccontextmanager
async def _lifespan(settings: Settings, app: Starlette) -> AsyncIterator[None]:
    async with _parts(settings) as parts:
        app.state.parts = parts
        # Before the first look at deadlines, so that the time until now is given back.
        await parts.beats.once()
        loops = [asyncio.create_task(_for_ever(work, parts.tally)) for work in _works(parts)]
        # What was built until here stays: the collector needn't look at it again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
        try:
            yield
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)


def application(settings: Settings) -> Starlette:
    """The whole server as one ASGI application. Nothing is opened before its lifespan starts."""
    return Starlette(
        routes=[
            WebSocketRoute("/ws", socket.endpoint),
            *http.routes(),
            *probes.routes(),
            *public.routes(),
            *leaderboards.routes(),
            *players.routes(),
            *personal.routes(),
            *described.routes(),
            *embedding.routes(),
            Mount("/", AnyOrigin(StaticFiles(directory=WEB, html=True))),
        ],
        middleware=[Middleware(Headers)],
        exception_handlers=dict(http.PROBLEMS),
        lifespan=partial(_lifespan, settings),
    )
