"""The page that other sites show in a frame, and the leave that every file of ours may be read from anywhere."""

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http import ANY_ORIGIN
from server.settings import ROOT

PAGE = ROOT / "server" / "web" / "embed" / "board.html"
FRAMED = {
    # The one page that any site may frame. It stands in a sandbox there, so it has no origin, no cookie and no storage.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors *; sandbox allow-scripts allow-popups "
    "allow-popups-to-escape-sandbox; require-trusted-types-for 'script'; trusted-types lit-html",
    "cross-origin-opener-policy": "unsafe-none",
}


async def board(request: Request) -> Response:
    return FileResponse(PAGE, headers=FRAMED)


class AnyOrigin:
    """Lets pages of any origin read what this serves: a frame without an origin loads modules only so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in ANY_ORIGIN.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, sending if scope["type"] == "http" else send)


def routes() -> list[Route]:
    return [Route("/embed/board.html", board)]
