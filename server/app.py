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
from events.log import Unknown
from events.sqlite import SCHEMA
from server import (
    described,
    embedding,
    folds,
    http,
    leaderboards,
    personal,
    players,
    probes,
    public,
    ratings,
    shared_keys,
    socket,
    sqlite_meetings,
)
from server.archive import archive
from server.archived import ArchivedLog
from server.audience import Audience
from server.barring import is_barred
from server.board_feeds import BoardFeeds
from server.clock import Beats, Sweep, now_ms
from server.doors import Doors
from server.embedding import AnyOrigin
from server.folded import projected, ranks
from server.games import Games
from server.hall import hall
from server.joins import Joins, JoinsEverywhere, JoinsHere
from server.letting_go import LettingGo
from server.meetings import Meetings
from server.others import Nobody, Others
from server.parts import Parts
from server.projector import Projector
from server.recent import RecentLog
from server.redis_meetings import RedisMeetings
from server.redis_others import RedisOthers
from server.replaying import Recordings
from server.sequencer import Sequencer
from server.sessions import Sessions
from server.settings import ROOT, Settings
from server.signed import SignedPrefix, size_of
from server.signer import Publisher
from server.sqlite_meetings import SqliteMeetings
from server.stores import Stores, pen_of, people_in, stores
from server.tally import Tally

log_line = structlog.get_logger()

SCHEMAS = (SCHEMA, sqlite_ledger.SCHEMA, sqlite_meetings.SCHEMA)
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
        except Unknown as error:
            log_line.warning("a loop waits for the store", why=repr(error))
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


def _joins(found: Stores, burst: int) -> Joins:
    return JoinsEverywhere(burst, found.redis) if found.redis is not None else JoinsHere(burst)


def _others(found: Stores) -> Others:
    return RedisOthers(found.redis) if found.redis is not None else Nobody()


@contextlib.asynccontextmanager
async def _parts(settings: Settings) -> AsyncIterator[Parts]:
    """All parts, built and joined; what was opened is closed in reverse order."""
    settings.data.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    async with contextlib.AsyncExitStack() as opened:
        found = await opened.enter_async_context(stores(settings, SCHEMAS))
        keys = await shared_keys.keys(settings, found.redis)
        people = await opened.enter_async_context(people_in(found, settings, move=True))
        sessions = Sessions()
        people.listen(sessions.end)
        folded = await opened.enter_async_context(projected(settings, found))

        ledger, kept = found.ledger, archive(settings.archive)
        recent = RecentLog(found.log, tally) if found.redis is not None else None
        log = ArchivedLog(found.log if recent is None else recent, kept)
        sequencer = Sequencer(found.log, ledger)
        pen = pen_of(settings, found.redis)
        publisher = Publisher(ledger, found.log, kept, keys.ledger, settings.keys, pen)
        signed = SignedPrefix(ledger, size_of(publisher))
        projector = Projector(folded, signed)
        publisher.listen(projector.wake)
        await projector.begin()
        boards = ranks(found, folded, projector)

        games = Games(log, keys.operator, now_ms, sequencer.closed, partial(is_barred, ledger), tally)
        audience = Audience(games, log, recent.common if recent is not None else None)
        if recent is not None and found.redis is not None:
            recent.on_fork(games.lose)
            found.redis.on_join(recent.suspect)
        rating = partial(ratings.rating, projector)
        doors = Doors()
        meeting = hall(
            *(games, audience, _meetings(found), rating, people.called, now_ms, keys.newest, _others(found)),
            emptying=lambda: doors.emptying,
        )
        opened.push_async_callback(meeting.end)
        yield Parts(
            settings=settings,
            clock=now_ms,
            log=log,
            games=games,
            audience=audience,
            recordings=Recordings(log),
            people=people,
            ledger=ledger,
            sequencer=sequencer,
            publisher=publisher,
            letting_go=LettingGo(found.log, ledger, publisher, kept, now_ms, settings.keep_seconds),
            archive=kept,
            signed=signed,
            projector=projector,
            boards=boards,
            projected=folded,
            hall=meeting,
            board_feeds=BoardFeeds(boards, projector, people.called, now_ms),
            joins=_joins(found, settings.joins_max),
            beats=Beats(log),
            sweep=Sweep(games, log, now_ms, tally),
            tally=tally,
            doors=doors,
            sessions=sessions,
        )


def _works(parts: Parts) -> tuple[Callable[[], Awaitable[None]], ...]:
    """What runs for ever, each in a loop of its own."""
    return (
        parts.beats.for_ever,
        partial(parts.sweep.for_ever, parts.settings.sweep_seconds),
        *parts.hall.loops,
        parts.audience.heal,
        partial(parts.sessions.run, parts.people),
        parts.board_feeds.run,
        parts.sequencer.run,
        parts.publisher.run,
        parts.letting_go.run,
        partial(folds.run, parts.publisher, parts.projector, parts.projected, parts.signed),
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
