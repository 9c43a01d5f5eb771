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
            "body": {"type": "string", "contentEncoding": "base64"},
            "at_ms": {"type": "integer"},
            "fact": any_of([f"{name}Fact" for name in FACTS]),
        },
        "required": ["body", "at_ms", "fact"],
        "additionalProperties": False,
    }
    components["Events"]["properties"]["events"]["items"] = ref("Event")
    components["Do"]["properties"]["command"] = any_of(list(wire.COMMANDS))
    components["NotDone"]["properties"]["reason"] = {"enum": [*Reason, *Trouble]}
    components["NotSubscribed"]["properties"]["reason"] = {"enum": list(Trouble)}
    components["Table"]["properties"]["position"] = {"anyOf": [*map(ref, POSITIONS), {"type": "null"}]}
    return components


def schemas(types: Sequence[type]) -> dict[str, Schema]:
    """Components for these types and all they refer to, by name."""
    _, components = msgspec.json.schema_components(types, ref_template=REF)
    whole = {type_.__name__ for type_ in (*types, *FACTS.values()) if is_dataclass(type_)}
    return {name: _closed(_plain(schema)) if name in whole else _plain(schema) for name, schema in components.items()}


def _plain(value: Any) -> Any:
    r"""Python's `\Z` is `$` in the dialect of JSON Schema (ECMA-262)."""
    if isinstance(value, dict):
        return {
            key: each.replace(r"\Z", "$") if key == "pattern" and isinstance(each, str) else _plain(each)
            for key, each in value.items()
        }
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _closed(schema: Schema) -> Schema:
    """A record of ours is always sent whole."""
    return {**schema, "required": list(schema["properties"]), "additionalProperties": False}


def _tagged(schema: Schema, name: str) -> Schema:
    properties = {"type": {"const": name}, **schema["properties"]}
    return {**schema, "properties": properties, "required": list(properties)}


def _renamed(components: dict[str, Schema], names: Mapping[str, str]) -> dict[str, Schema]:
    return {names.get(name, name): schema for name, schema in components.items()}
