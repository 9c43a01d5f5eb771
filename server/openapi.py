"""The HTTP addresses described for machines: OpenAPI 3.1, made from the table in server/endpoints.py."""

import re
from collections import defaultdict
from typing import Any

import msgspec

from server import schemas
from server.endpoints import ENDPOINTS, PROBLEMS, Endpoint
from server.identity import COOKIE
from server.responses import Problem
from server.schemas import REF, Schema

ABOUT = "The few HTTP addresses of Statecraft. The games themselves are played over the socket: `/api/asyncapi.json`."


def document() -> dict[str, Any]:
    """The whole description."""
    paths: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for endpoint in ENDPOINTS:
        paths[endpoint.open_path][endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Statecraft, HTTP", "version": "1", "description": ABOUT},
        "paths": dict(paths),
        "components": {
            "schemas": _components(),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


def _components() -> dict[str, Schema]:
    types: list[Any] = [Problem]
    for endpoint in ENDPOINTS:
        types += [each for is_ in (*endpoint.answers.values(), endpoint.body) for each in _one_of(is_)]
    components = schemas.schemas(list(dict.fromkeys(types)))
    components["Problem"]["properties"]["error"] = {"enum": list(PROBLEMS)}
    return components


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    described: dict[str, Any] = {"summary": endpoint.what, "parameters": _parameters(endpoint)}
    if endpoint.body is not None:
        described["requestBody"] = {"required": True, "content": _content(endpoint.body)}
    if endpoint.session:
        described["security"] = [{}, {"bearer": []}, {"cookie": []}]
    described["responses"] = {
        **{
            str(status): {"description": "As asked.", "content": _content(is_)}
            for status, is_ in endpoint.answers.items()
        },
        **(
            {"304": {"description": "Nothing has changed since the `If-None-Match` that came."}}
            if endpoint.tagged
            else {}
        ),
        **_problems(endpoint),
    }
    return described


def _one_of(is_: Any) -> list[type[msgspec.Struct]]:
    """The types of ours that a body may be."""
    several = is_ if isinstance(is_, tuple) else (is_,)
    return [each for each in several if isinstance(each, type) and issubclass(each, msgspec.Struct)]


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    game: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
    within = [
        {"name": name, "in": "path", "required": True, "schema": game if name == "game" else {"type": "string"}}
        for name in re.findall(r"{(\w+)}", endpoint.open_path)
    ]
    return [
        *within,
        *(
            {"name": name, "in": "query", "required": name in endpoint.needed, "schema": _schema(type_)}
            for name, type_ in endpoint.query.items()
        ),
    ]


def _problems(endpoint: Endpoint) -> dict[str, Any]:
    """By status: which codes, and what to do about each."""
    codes: defaultdict[str, list[str]] = defaultdict(list)
    for problem in endpoint.problems:
        status, _, code = problem.partition(" ")
        codes[status].append(code)
    return {
        status: {
            "description": " ".join(f"`{code}`: {PROBLEMS[code]}" for code in each),
            "content": {
                "application/json": {
                    "schema": {
                        "allOf": [
                            schemas.ref("Problem"),
                            {"properties": {"error": {"enum": each}}, "required": ["error"]},
                        ]
                    }
                }
            },
        }
        for status, each in sorted(codes.items())
    }


def _content(is_: Any) -> dict[str, Any]:
    if isinstance(is_, str):
        return {is_: {"schema": {"type": "string"}}}
    if isinstance(is_, tuple):
        return {"application/json": {"schema": {"anyOf": [_schema(each) for each in is_]}}}
    return {"application/json": {"schema": _schema(is_)}}


def _schema(type_: Any) -> Schema:
    (schema,), _ = msgspec.json.schema_components([type_], ref_template=REF)
    described: Schema = schemas.plain(schema)
    return described
