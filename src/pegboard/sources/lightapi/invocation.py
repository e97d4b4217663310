"""How an operation is called: what an executor needs to make the request from its arguments.

The places of the arguments are written as the specification has them, `${input.NAME}`, also where
the document leaves them out. `${input}` stands for all arguments together.
"""

import re
from collections.abc import Callable, Mapping

from pegboard.model.content import Json
from pegboard.sources.lightapi.context import (
    Context,
    refuse_secret,
    refuse_secrets,
    refuse_secrets_within,
    server,
)
from pegboard.sources.lightapi.parts import Part, Refused, shown_key
from pegboard.sources.openapi import operations

METHODS = tuple(map(str.upper, operations.METHODS))
PLACES = ("path", "query", "header", "cookie", "body")
_WITH_BODY = ("POST", "PUT", "PATCH")
_SECTION = {"header": "headers", "cookie": "cookies"}
"""Where the request has the arguments of a place, if it is not called like the place."""
_MAPPED = ("headers", "query", "path", "cookies")
_PLACEHOLDER = re.compile(r"(?<!\$)\{([^{}]+)\}")
_ALL = "${input}"


def executor(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    """`inputs` are the properties of the input schema."""
    protocol = operation.required("protocol", tuple(_PROTOCOLS))
    refuse_secret(operation, "endpoint")
    made: dict[str, object] = {"protocol": protocol}
    made |= _PROTOCOLS[protocol](operation, inputs, context)
    if proof := context.authentication(operation):
        made["authentication"] = proof
    if environments := context.environments(made):
        made["environments"] = environments
    return made


def address(operation: Part) -> str:
    """What the operation is called by on the wire, for people to read and to search by."""
    text = operation.text
    match operation.text("protocol"):
        case "http":
            path = re.sub(r"^\s*\$\{[^}]*\}", "", text("endpoint")) or text("operationId")
            return f"{text('method')} {path}".strip()
        case "grpc":
            return f"{text('service')}/{text('method')}"
        case "mcp":
            return text("uri") or text("name")
    return text("method")


def _http(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    method = operation.text("method", METHODS)
    endpoint = operation.text("endpoint")
    if not (method and endpoint) and not operation.has("operationId", "source"):
        reason = f"{operation.place()} has neither method and endpoint nor source and operationId"
        raise Refused("incomplete", reason, operation.path)
    transport = operation.text("transport", ("http", "https", "websocket"))
    made = _said(method=method, endpoint=endpoint, transport=transport)
    made |= _said(operation_id=operation.text("operationId"), server=operation.text("server"))
    if operation.has("source"):
        made["source"] = context.source(operation.required("source"))
    request = _request(operation)
    if endpoint:
        request = _placed(operation, request, inputs, method, endpoint)
    return made | _said(request=request)


def _placed(
    operation: Part, request: dict[str, object], inputs: Json, method: str, endpoint: str
) -> dict[str, object]:
    """The request with a place for each argument that the document gives none.

    What is in braces in the endpoint goes there. If there is no mapping at all, the rest goes where
    `metadata.routing.parameters` says, or into the body of a method that has one, or the query.
    """
    told = operation.part("metadata").part("routing").part("parameters")
    in_path = set(_PLACEHOLDER.findall(endpoint))
    mapped = operation.has("request")
    usual = "body" if method in _WITH_BODY else "query"
    sections = {key: dict(value) for key, value in request.items() if isinstance(value, Mapping)}
    for name in inputs:
        place = "path" if name in in_path else told.text(name, PLACES) or usual
        if place == "path" or not mapped:
            section = sections.setdefault(_SECTION.get(place, place), {})
            section.setdefault(name, f"${{input.{name}}}")
    return {**request, **sections}


def _jsonrpc(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    made = _rpc(operation)
    if not operation.has("endpoint") and not operation.has("source"):
        raise operation.lacks("endpoint")
    if operation.has("source"):
        made["source"] = context.source(operation.required("source"))
    return made | _said(endpoint=operation.text("endpoint"))


def _openrpc(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    made = _rpc(operation) | {"source": context.source(operation.required("source"))}
    if isinstance(operation.value.get("server"), Mapping):
        return made | {"server": server(operation.part("server"))}
    return made | _said(server=operation.text("server"))


def _rpc(operation: Part) -> dict[str, object]:
    made: dict[str, object] = {
        "method": operation.required("method"),
        "transport": operation.text("transport", ("http", "websocket")) or "http",
        "request": {"params": _ALL} | _request(operation),
    }
    if operation.flag("notification"):
        made["notification"] = True
    return made


def _grpc(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    made: dict[str, object] = {
        "service": operation.required("service"),
        "method": operation.required("method"),
        "transport": operation.text("transport", ("grpc", "websocket")) or "grpc",
        "request": {"message": _ALL} | _request(operation),
    }
    if operation.has("source"):
        made["source"] = context.source(operation.required("source"))
    if isinstance(operation.value.get("endpoint"), Mapping):
        endpoint = operation.part("endpoint")
        endpoint.required("host")
        return made | {"endpoint": endpoint.kept("host", "port")}
    return made | _said(endpoint=operation.text("endpoint"))


def _mcp(operation: Part, inputs: Json, context: Context) -> dict[str, object]:
    kind = operation.required("kind", ("tool", "resource", "prompt"))
    key = "uri" if kind == "resource" else "name"
    made: dict[str, object] = {
        "kind": kind,
        kind if key == "name" else key: operation.required(key),
    }
    if named := operation.text("server") or operation.text("source"):
        made["source"] = source = context.source(named)
        if source.get("type", "mcp") != "mcp":
            reason = f"{shown_key(named)} is a source of type {source['type']}, and no MCP server"
            raise Refused("bad_source", reason, operation.path)
    usual = {} if kind == "resource" else {"arguments": _ALL}
    return made | {"request": usual | _request(operation)}


def _request(operation: Part) -> dict[str, object]:
    """As it is written, and with no secret in it."""
    request = operation.part("request")
    refuse_secrets_within(request)
    for section in _MAPPED:
        part = request.part(section)
        refuse_secrets(part)
        for name, value in part.value.items():
            if isinstance(value, Mapping | list):
                raise part.misfit(name, "text, a number, true, false or null")
    return dict(request.value)


def _said(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value}


_PROTOCOLS: Mapping[str, Callable[[Part, Json, Context], dict[str, object]]] = {
    "http": _http,
    "jsonrpc": _jsonrpc,
    "openrpc": _openrpc,
    "grpc": _grpc,
    "mcp": _mcp,
}
