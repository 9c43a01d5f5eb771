"""Both descriptions at their addresses, for any origin. A page to read them is at `/api/`."""

from functools import cache

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from server import asyncapi, openapi
from server.http import ANY_ORIGIN


@cache
def _written(which: str) -> bytes:
    """Made when first asked for: nothing of it changes while the server runs."""
    return msgspec.json.encode({"openapi": openapi.document, "asyncapi": asyncapi.document}[which]())


async def http_described(request: Request) -> Response:
    return Response(_written("openapi"), media_type="application/json", headers=ANY_ORIGIN)


async def socket_described(request: Request) -> Response:
    return Response(_written("asyncapi"), media_type="application/json", headers=ANY_ORIGIN)


def routes() -> list[Route]:
    return [Route("/api/openapi.json", http_described), Route("/api/asyncapi.json", socket_described)]
