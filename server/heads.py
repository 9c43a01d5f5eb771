"""uvicorn's HTTP with the bounds that it leaves open: how large a request's head may be, and how long it may take."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX = 64 << 10
"""Of a request's first line and headers."""
HEAD_SECONDS_MAX = 15
"""From a connection, or from a request's first byte, to the end of its head."""


class Http(HttpToolsProtocol):
    """The parser would gather a head for ever."""

    _head_bytes: int | None = 0
    """Received of a head that isn't whole yet; None after it."""
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS_MAX, self.transport.abort)

    def _head_came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
                self.send_400_response(f"A request's head has at most {HEAD_BYTES_MAX} bytes.")

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_bytes = None
        self._head_came()
        super().on_headers_complete()
