"""JSON Schema of everything that travels, made from its types: the one place that fills in what a type leaves open."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, get_args

import msgspec

from rules import fifty_states, war
from rules.catalogue import FACTS
from rules.game import Reason, Table
from server import wire
from server.wire import Trouble

Schema = dict[str, Any]
REF = "#/components/schemas/{name}"

POSITIONS: Mapping[str, type] = {"StatesPosition": fifty_states.Position, "WarPosition": war.Position}
"""What `Table.position` may be, by the name it has in a description. A further game is one line here."""
BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
"""RFC 4648 section 4: `contentEncoding` alone is a remark, which nothing checks."""
ROWS = (wire.OpenSeat, wire.LiveGame, wire.BoardState, wire.BoardPlace, wire.MyGame, wire.Offer)
"""Of the feeds `lobby`, `board/…` and `me`. A further kind of row is one word here."""


def ref(name: str) -> Schema:
    return {"$ref": REF.format(name=name)}


def any_of(names: Sequence[str]) -> Schema:
    return {"anyOf": [ref(name) for name in names]}


def messages() -> dict[str, Schema]:
    """Components for every message of the socket in its JSON form, with all they refer to."""
    types = [*get_args(wire.FromClient), *get_args(wire.ToClient), Table]
    components = schemas([*types, *wire.COMMANDS.values()])
    for name, position in POSITIONS.items():
        components |= _renamed(schemas([position]), {position.__name__: name})
    for name, fact in FACTS.items():
        components |= {f"{name}Fact": _tagged(schemas([fact])[name], name)}
    components["Event"] = {
        "title": "Event",
        "description": "A stored event: its bytes, and what they say.",
        "type": "object",
        "properties": {
            "body": {"type": "string", "contentEncoding": "base64", "pattern": BASE64},
            "at_ms": {"type": "integer"},
            "fact": any_of([f"{name}Fact" for name in FACTS]),
        },
        "required": ["body", "at_ms", "fact"],
        "additionalProperties": False,
    }
    components["Events"]["properties"]["events"]["items"] = ref("Event")
    components["Do"]["properties"]["command"] = any_of(list(wire.COMMANDS))
    rows = [*map(ref, schemas(ROWS)), {"type": "string"}]
    components |= {name: {**schema, "additionalProperties": False} for name, schema in schemas(ROWS).items()}
    components["Snapshot"]["properties"]["state"]["additionalProperties"]["items"] = {"anyOf": rows}
    components["Delta"]["properties"]["put"]["additionalProperties"]["items"] = {"anyOf": rows}
    components["NotDone"]["properties"]["reason"] = {"enum": [*Reason, *Trouble]}
    components["NotSubscribed"]["properties"]["reason"] = {"enum": list(Trouble)}
    components["Table"]["properties"]["position"] = {"anyOf": [*map(ref, POSITIONS), {"type": "null"}]}
    return components


def schemas(types: Sequence[type]) -> dict[str, Schema]:
    """Components for these types and all they refer to, by name."""
    _, components = msgspec.json.schema_components(types, ref_template=REF)
    whole = {type_.__name__ for type_ in (*types, *FACTS.values()) if is_dataclass(type_)}
    return {name: _closed(plain(schema)) if name in whole else plain(schema) for name, schema in components.items()}


def plain(value: Any) -> Any:
    r"""Python's `\Z` is `$` in the dialect of JSON Schema (ECMA-262)."""
    if isinstance(value, dict) and value.get("contentEncoding") == "base64":
        return {**value, "pattern": BASE64}
    if isinstance(value, dict):
        return {
            key: each.replace(r"\Z", "$") if key == "pattern" and isinstance(each, str) else plain(each)
            for key, each in value.items()
        }
    return [plain(each) for each in value] if isinstance(value, list) else value


def _closed(schema: Schema) -> Schema:
    """A record of ours is always sent whole."""
    return {**schema, "required": list(schema["properties"]), "additionalProperties": False}


def _tagged(schema: Schema, name: str) -> Schema:
    properties = {"type": {"const": name}, **schema["properties"]}
    return {**schema, "properties": properties, "required": list(properties)}


def _renamed(components: dict[str, Schema], names: Mapping[str, str]) -> dict[str, Schema]:
    return {names.get(name, name): schema for name, schema in components.items()}
