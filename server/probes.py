"""What machines ask that look after this one: `/healthz`, `/readyz`, `/metrics`."""

import asyncio
import hmac
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from events.log import Unknown
from server import metrics, readiness
from server.http import Problem, parts_of
from server.parts import Parts
from server.readiness import TROUBLES

FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


async def health(request: Request) -> Response:
    """The process runs and its event loop turns: nothing else, or a store's trouble would get every server killed."""
    return JSONResponse({"ok": True})


async def ready(request: Request) -> Response:
    found = await readiness.troubles(parts_of(request))
    stopped = any(trouble.stops for trouble in found)
    body = {
        "ready": not stopped,
        "troubles": [{"trouble": each.name, "stops": each.stops, "why": each.why} for each in found],
    }
    return JSONResponse(body, 503 if stopped else 200)


async def measured(request: Request) -> Response:
    parts = parts_of(request)
    _may_measure(request, parts.settings.metrics_token)
    found = {trouble.name for trouble in await readiness.troubles(parts)}
    signed = parts.publisher.signed
    ledger = metrics.Ledger(await _leaves(parts), signed.size if signed else 0)
    told = metrics.exposition(parts, ledger, {name: name in found for name in TROUBLES})
    return Response(told, media_type=metrics.CONTENT_TYPE)


async def _leaves(parts: Parts) -> int | None:
    try:
        async with asyncio.timeout(readiness.STORE_SECONDS_MAX):
            return (await parts.ledger.head()).size
    except (TimeoutError, Unknown):
        return None


def _may_measure(request: Request, token: str | None) -> None:
    """With the token from anywhere; where there is none, from this machine and not passed on. Raises Problem."""
    if token is not None:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise Problem(401, "wrong_token", "Metrics are for who has STATECRAFT_METRICS_TOKEN.")
        return
    # A balancer on this machine would make everybody in the world a neighbour.
    passed_on = any(name in request.headers for name in FORWARDED)
    if passed_on or request.client is None or not _is_here(request.client.host):
        raise Problem(403, "not_from_here", "Metrics are told on this machine only, or with STATECRAFT_METRICS_TOKEN.")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def routes() -> list[Route]:
    return [Route("/healthz", health), Route("/readyz", ready), Route("/metrics", measured)]
