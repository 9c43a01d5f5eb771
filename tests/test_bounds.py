"""The way past uvicorn where a peer goes in the middle of its handshake."""

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.utils import ClientDisconnected

from server.bounds import DIRECT, socket_class
from tests.running import wait_seconds_max

pytestmark = pytest.mark.anyio

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


async def accepted(goes: bool) -> bool:
    """Whether an application accepts a peer, who may go in the moment before: uvicorn doesn't know of it yet."""
    told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        if goes:
            # As when the loop has read the end of what a peer sends: the next thing it does is to tell of it.
            scope["extensions"][DIRECT].transport.close()
        try:
            await send({"type": "websocket.accept"})
        except ClientDisconnected:
            told.set_result(False)
            raise
        told.set_result(True)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(application, ws=socket_class(wait_seconds_max, True), lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(HANDSHAKE)
        async with asyncio.timeout(wait_seconds_max):
            result = await told
        writer.close()
        server.should_exit = True
        await serving
    return result


async def test_who_is_gone_when_his_handshake_is_accepted_is_not_accepted() -> None:
    assert not await accepted(goes=True)
    assert await accepted(goes=False)
