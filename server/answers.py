"""JSON answers that can be kept and asked for again: an ETag from their content, and 304 where nothing changed."""

import re
from collections.abc import Mapping
from hashlib import sha256

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from server.http import ANY_ORIGIN

MEDIA_TYPE = "application/json"
_TAGS = re.compile(r'"[^"]*"')


def public(request: Request, body: object) -> Response:
    """For anybody, from any origin."""
    return tagged(request, body, {**ANY_ORIGIN, "access-control-expose-headers": "ETag"})


def tagged(request: Request, body: object, headers: Mapping[str, str]) -> Response:
    # From the content, not from a position: a name may change while nothing is folded.
    content = msgspec.json.encode(body)
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    given = {**headers, "etag": tag}
    # Compared weakly (RFC 9110 section 13.1.2): something in between may have weakened it.
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or tag in _TAGS.findall(known):
        return Response(status_code=304, headers=given)
    return Response(content, media_type=MEDIA_TYPE, headers=given)
