"""Watch a game from a program, until it is over. Every event is chained here, so none can be left out unseen.

    python examples/watch.py ws://127.0.0.1:8000/ws GAME

docs/protocol.md explains the messages, docs/audit.md the hashes.
"""

import asyncio
import sys
from hashlib import sha256

import msgpack
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol


async def watch(url: str, game: str) -> None:
    topic = f"game/{game}"
    # What we hold: how many events, and the hash that chains them all.
    version, chained = 0, sha256(b"statecraft game v1\0" + bytes.fromhex(game)).digest()
    # Connects again, for ever and ever slower, when the connection is lost.
    async for socket in connect(url, subprotocols=[Subprotocol("statecraft.v1.msgpack")]):
        try:
            # Whatever happened meanwhile comes now: we say what we hold.
            await socket.send(msgpack.packb({"type": "subscribe", "topic": topic, "after": [version, chained]}))
            async for frame in socket:
                assert isinstance(frame, bytes)
                message = msgpack.unpackb(frame)
                if message["type"] == "not_subscribed":
                    sys.exit(f"not watched: {message['reason']}")
                if message["type"] == "forked" or (message["type"] == "subscribed" and not message["recovered"]):
                    sys.exit(f"the server now tells another history than the {version} events seen so far")
                if message["type"] != "events":
                    continue
                for body in message["events"]:
                    chained = sha256(b"statecraft event v1\0" + chained + body).digest()
                    version += 1
                    # The stored form is an array: format, type, time in ms, cause, and the fact's own fields.
                    _, type_, _, _, *fields = msgpack.unpackb(body)
                    print(version, type_, *(field.hex() if isinstance(field, bytes) else field for field in fields))
                if (version, chained[:8]) != (message["version"], message["hash8"]):
                    sys.exit(f"what came doesn't chain up to event {message['version']}")
                # The table is missing where more follows at once.
                if message["table"] and message["table"]["finished"]:
                    print("over:", message["table"]["finished"])
                    return
        except ConnectionClosed:
            continue


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: watch.py ws://HOST:PORT/ws GAME")
    asyncio.run(watch(*sys.argv[1:]))
