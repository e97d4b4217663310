"""Small documents, what the source makes of them, and requests built from that and undone again."""

import json
import re
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Finding, Item, Rejection
from pegboard.sources.openapi.source import OpenApiSource

OK = {"responses": {"200": {"description": "Fine."}}}


def document(paths: dict[str, Any], version: str = "3.0.3", **parts: Any) -> dict[str, Any]:
    head = {"swagger": version} if version == "2.0" else {"openapi": version}
    return {**head, "info": {"title": "Test", "version": "1"}, "paths": paths, **parts}


def written(folder, content, name="api.json"):
    """The file, from a document, a text or bytes."""
    if isinstance(content, dict):
        content = json.dumps(content)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def scan(folder, content, known=None, **options: Any) -> list[Finding]:
    path = written(folder, content)
    return list(OpenApiSource("shop", str(path), **options).scan(known or {}))


def only(folder, content) -> dict[str, Any]:
    """The fields of the one candidate that the gate admits too."""
    [found] = scan(folder, content)
    assert isinstance(found, Candidate), found
    admitted = admit(found)
    assert isinstance(admitted, Item), admitted
    return dict(found.fields)


def refused(folder, content) -> Rejection:
    [found] = scan(folder, content)
    assert isinstance(found, Rejection), found
    return found


def operation(**parts: Any) -> dict[str, Any]:
    """A document with one operation, `POST /things/{id}`."""
    components = parts.pop("components", {})
    path_item = {"post": {"operationId": "change", **OK, **parts}}
    return document({"/things/{id}": path_item}, components=components)


def json_body(schema: Any, **parts: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}, **parts}


def schema_of(folder, schema: Any, version: str = "3.0.3", **components: Any) -> dict[str, Any]:
    """What becomes of a schema: that of the parameter `value`, and its definitions."""
    parameter = {"name": "value", "in": "query", "schema": schema}
    found = only(
        folder,
        document(
            {"/x": {"get": {**OK, "parameters": [parameter]}}},
            version=version,
            components={"schemas": components},
        ),
    )["input_schema"]
    return {**found["properties"]["value"], "$defs": found.get("$defs", {})}


class Request(NamedTuple):
    method: str
    path: str
    sent: dict[tuple[str, str], Any]
    body: Any


def build(executor: dict[str, Any], arguments: dict[str, Any]) -> Request:
    """As an executor would: by nothing but what is written there."""
    rest = dict(arguments)
    path, sent = executor["path"], {}
    for each in executor["parameters"]:
        if each["name"] not in rest:
            continue
        value = rest.pop(each["name"])
        if each["in"] == "path":
            filled = quote(json.dumps(value), safe="")
            path = path.replace("{" + each["wire_name"] + "}", filled)
        else:
            sent[each["in"], each["wire_name"]] = value
    body = executor.get("body")
    if body is None:
        content = None
    elif "property" in body:
        content = rest.pop(body["property"], None)
    else:
        names = {each["name"]: each["wire_name"] for each in body["spread"]}
        content = {names[name]: rest.pop(name) for name in list(rest) if name in names}
        if body.get("further"):
            content |= {name: rest.pop(name) for name in list(rest)}
        content = content if content or body["required"] else None
    assert not rest, f"{rest} has no place"
    return Request(executor["method"], path, sent, content)


def undo(executor: dict[str, Any], request: Request) -> dict[str, Any]:
    """The arguments that a request was built from."""
    pattern = re.sub(r"\\\{(.+?)\\\}", "([^/]+)", re.escape(executor["path"]))
    in_path = re.findall(r"\{(.+?)\}", executor["path"])
    filled = re.fullmatch(pattern, request.path)
    assert filled is not None
    placed = {
        ("path", name): json.loads(unquote(text))
        for name, text in zip(in_path, filled.groups(), strict=True)
    } | request.sent
    found = {
        each["name"]: placed[each["in"], each["wire_name"]]
        for each in executor["parameters"]
        if (each["in"], each["wire_name"]) in placed
    }
    body = executor.get("body")
    if body is None or request.body is None:
        return found
    if "property" in body:
        return found | {body["property"]: request.body}
    names = {each["wire_name"]: each["name"] for each in body["spread"]}
    return found | {names.get(wire, wire): value for wire, value in request.body.items()}
