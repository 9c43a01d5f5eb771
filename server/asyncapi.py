"""The socket described for machines: AsyncAPI 3.0, made from the message types of server/wire.py."""

from typing import Any, get_args

from server import schemas, wire
from server.schemas import ref

ABOUT = (
    "Commands, subscriptions and answers of one WebSocket. This is the JSON form, subprotocol `statecraft.v1.json`; "
    "`statecraft.v1.msgpack` has the same messages with bytes as bin, and as events their stored bytes alone. "
    "docs/protocol.md says all of it in words."
)


def document() -> dict[str, Any]:
    """The whole description."""
    from_client = [type_.__name__ for type_ in get_args(wire.FromClient)]
    to_client = [type_.__name__ for type_ in get_args(wire.ToClient)]
    components = schemas.messages()
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "Statecraft, the socket", "version": "1", "description": ABOUT},
        "defaultContentType": "application/json",
        "channels": {
            "socket": {
                "address": "/ws",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in (*from_client, *to_client)},
            }
        },
        "operations": {
            "ask": _operation("receive", "What a client sends.", from_client),
            "tell": _operation("send", "What the server sends.", to_client),
        },
        "components": {
            "messages": {name: _message(name, components[name]) for name in (*from_client, *to_client)},
            "schemas": components,
        },
    }


def _operation(action: str, what: str, names: list[str]) -> dict[str, Any]:
    """In AsyncAPI an operation is the application's own: the server receives what clients send."""
    return {
        "action": action,
        "summary": what,
        "channel": {"$ref": "#/channels/socket"},
        "messages": [{"$ref": f"#/channels/socket/messages/{name}"} for name in names],
    }


def _message(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    (tag,) = schema["properties"]["type"]["enum"]
    said = {"summary": schema["description"]} if "description" in schema else {}
    return {"name": tag, **said, "payload": ref(name)}
