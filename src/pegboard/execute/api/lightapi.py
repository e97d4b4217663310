"""An operation of a LightAPI description and its arguments, made into a request."""

import re
from collections.abc import Mapping

from pegboard.execute.api.bodies import JSON, Body, written
from pegboard.execute.api.expressions import Operation, Speech
from pegboard.execute.api.faults import invalid, unavailable
from pegboard.execute.api.headers import Headers, checked, value_of, with_cookies
from pegboard.execute.api.requests import Request, built, method_of, with_query
from pegboard.execute.api.servers import base_of
from pegboard.execute.api.styles import COOKIE, compact, pairs, percent, scalar
from pegboard.execute.api.templates import LEFT_OUT, PLACE
from pegboard.formats.shapes import mapping, text
from pegboard.model.content import Json

RPC = ("jsonrpc", "openrpc")


def request_of(operation: Operation) -> Request:
    """Raises `Refused` and `SecretMissing`."""
    executor, speech = operation.executor, Speech(operation)
    protocol = text(executor.get("protocol"))
    if protocol not in ("http", *RPC) or executor.get("transport") == "websocket":
        kind = "WebSocket" if protocol in ("http", *RPC) else protocol
        raise unavailable(f"it is called by {kind[:40]}, which Pegboard does not speak")
    if protocol in RPC:
        return _rpc(operation, speech)
    if "endpoint" not in executor and "path" in executor and not executor.get("request"):
        base = _server(operation, speech) or base_of(executor, operation.source, operation.secrets)
        return built(executor, operation.arguments, operation.schema, base)
    return _http(operation, speech)


def _http(operation: Operation, speech: Speech) -> Request:
    request = mapping(operation.executor.get("request"))
    query = [
        pair
        for name, value in _given(request.get("query"), speech).items()
        for pair in pairs(name, _flat(value), "form", True, percent)
    ]
    cookies = [
        (percent(name), percent(scalar(value), COOKIE))
        for name, value in _given(request.get("cookies"), speech).items()
    ]
    said = _given(request.get("headers"), speech)
    headers: Headers = tuple(checked(name, scalar(value)) for name, value in said.items())
    body = _body(request, headers, speech)
    if body is not None:
        kept = tuple(each for each in headers if each[0].lower() != "content-type")
        headers = (*kept, ("Content-Type", body.media_type))
    url = _address(operation, speech, _given(request.get("path"), speech))
    return Request(
        method_of(operation.executor),
        with_query(url, query),
        with_cookies(headers, cookies),
        None if body is None else body.content,
    )


def _rpc(operation: Operation, speech: Speech) -> Request:
    executor = operation.executor
    request = mapping(executor.get("request"))
    asked: dict[str, object] = {"jsonrpc": "2.0", "method": text(executor.get("method"))}
    params = speech.value(request.get("params"))
    if params is not LEFT_OUT and params:
        asked["params"] = params
    if executor.get("notification") is not True:
        asked["id"] = 1
    said = _given(request.get("headers"), speech)
    headers = tuple(checked(name, scalar(value)) for name, value in said.items())
    headers = (*headers, ("Content-Type", JSON), ("Accept", JSON))
    return Request("POST", _address(operation, speech, {}), headers, written(asked, JSON).content)


def _given(section: object, speech: Speech) -> Json:
    found = mapping(speech.value(mapping(section)))
    return {name: value for name, value in found.items() if value is not None}


def _flat(value: object) -> object:
    return compact(value) if isinstance(value, Mapping) else value


def _body(request: Json, headers: Headers, speech: Speech) -> Body | None:
    if "body" not in request:
        return None
    value = speech.value(request["body"])
    if value is LEFT_OUT:
        return None
    return written(value, value_of(headers, "content-type") or JSON)


def _address(operation: Operation, speech: Speech, path: Json) -> str:
    executor = operation.executor
    template = text(executor.get("endpoint")) or text(executor.get("path"))

    def fill(place: re.Match[str]) -> str:
        if place[1] not in path:
            raise invalid(f"{place[1]} is missing: it is a part of the address {template}")
        value = scalar(path[place[1]])
        if value in ("", ".", ".."):
            raise invalid(f"{place[1]} cannot be {value!a}, which would name another path")
        return percent(value)

    # First these: what expressions bring may have braces of its own.
    found = speech.text(PLACE.sub(fill, template), percent)
    if found is LEFT_OUT:
        raise invalid(f"an argument is missing: it is a part of the address {template}")
    url = str(found)
    if url.lower().startswith(("http://", "https://")):
        return url
    base = _server(operation, speech)
    if not base and "servers" in executor:
        base = base_of(executor, operation.source, operation.secrets)
    if not base:
        raise unavailable(
            f"the document of {operation.source} names no server with a whole address for"
            f" {template or 'it'}; write the whole address as its endpoint"
        )
    return base + url


def _server(operation: Operation, speech: Speech) -> str:
    """That which the operation names, or else the first of its source."""
    said, source = operation.executor.get("server"), mapping(operation.executor.get("source"))
    servers = mapping(source.get("servers"))
    server = mapping(said) or mapping(servers.get(text(said)))
    if not server and not text(said):
        server = mapping(next(iter(servers.values()), None))
    variables = mapping(server.get("variables"))

    def fill(place: re.Match[str]) -> str:
        value = variables.get(place[1])
        return scalar(mapping(value).get("default", "") if isinstance(value, Mapping) else value)

    endpoint = PLACE.sub(fill, text(server.get("endpoint")))
    return str(speech.text(endpoint)).rstrip("/")
