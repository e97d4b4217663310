"""Swagger 2.0 in the words of OpenAPI 3: servers, parameters, bodies, answers, security."""

from collections.abc import Iterable, Mapping

from pegboard.formats.shapes import mapping, text, texts
from pegboard.sources.documents.references import Node

_COLLECTIONS = {
    "csv": ("", False),
    "ssv": ("spaceDelimited", False),
    "tsv": ("tabDelimited", False),
    "pipes": ("pipeDelimited", False),
    "multi": ("form", True),
}
_FLOWS = {
    "implicit": "implicit",
    "password": "password",
    "application": "clientCredentials",
    "accessCode": "authorizationCode",
}
_NOT_SCHEMA = frozenset({"name", "in", "description", "required", "collectionFormat", "schema"})
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
JSON = "application/json"

Object = Mapping[str, object]


def servers(document: Object, operation: Object) -> list[dict[str, object]]:
    schemes = operation.get("schemes") or document.get("schemes")
    host, base = text(document.get("host")), text(document.get("basePath")).rstrip("/")
    if not host:
        return [{"url": base or "/"}]
    return [{"url": f"{scheme}://{host}{base}"} for scheme in texts(schemes) or ["https"]]


def request(
    nodes: Iterable[Node], operation: Object, document: Object
) -> tuple[list[Node], Node | None]:
    """Parameters as 3.x has them, and the body that 2.0 hides among them."""
    plain: list[Node] = []
    form: list[Node] = []
    body: Node | None = None
    for node in nodes:
        if node.value["in"] == "body":
            body = node
        elif node.value["in"] == "formData":
            form.append(node)
        else:
            plain.append(Node(_parameter(node.value), node.place))
    consumes = _media_types(operation, document, "consumes")
    if body is not None:
        return plain, _body(body, consumes)
    return plain, _form(form, consumes) if form else None


def _parameter(value: Object) -> dict[str, object]:
    made = {key: value[key] for key in ("name", "in", "description", "required") if key in value}
    made["schema"] = value.get("schema", _schema(value))
    style, explode = _COLLECTIONS.get(text(value.get("collectionFormat")), ("", False))
    if style:
        made["style"] = style
    made["explode"] = explode
    return made


def _schema(value: Object) -> dict[str, object]:
    """What 3.x has under `schema` stands in the parameter itself."""
    return {key: each for key, each in value.items() if key not in _NOT_SCHEMA}


def _body(node: Node, consumes: list[str]) -> Node:
    schema = node.value.get("schema", {})
    content = {each: {"schema": schema} for each in consumes or [JSON]}
    return Node({**node.value, "content": content}, node.place)


def _form(nodes: list[Node], consumes: list[str]) -> Node:
    files = any(node.value.get("type") == "file" for node in nodes)
    kinds = [each for each in consumes if each in (FORM, MULTIPART)]
    kind = MULTIPART if files else (kinds or [FORM])[0]
    properties = {
        str(node.value["name"]): {**_schema(node.value), **_described(node.value)} for node in nodes
    }
    required = [str(node.value["name"]) for node in nodes if node.value.get("required") is True]
    encoding = {
        name: {"style": style or "form", "explode": explode}
        for name, (style, explode) in _collected(nodes).items()
    }
    schema = {"type": "object", "properties": properties, "required": required}
    content = {kind: {"schema": schema, "encoding": encoding}}
    return Node({"content": content, "required": bool(required)}, nodes[0].place)


def _described(value: Object) -> dict[str, object]:
    return {"description": value["description"]} if "description" in value else {}


def _collected(nodes: list[Node]) -> dict[str, tuple[str, bool]]:
    return {
        str(node.value["name"]): _COLLECTIONS.get(
            text(node.value.get("collectionFormat")), ("", False)
        )
        for node in nodes
        if node.value.get("type") == "array"
    }


def content(response: Object, operation: Object, document: Object) -> dict[str, object]:
    produces = _media_types(operation, document, "produces") or [JSON]
    return {each: {"schema": response.get("schema")} for each in produces}


def security_schemes(document: Object) -> dict[str, object]:
    found = mapping(document.get("securityDefinitions"))
    return {name: _scheme(mapping(each)) for name, each in found.items()}


def _scheme(value: Object) -> Object:
    if value.get("type") == "basic":
        return {**value, "type": "http", "scheme": "basic"}
    if value.get("type") != "oauth2":
        return value
    flow = _FLOWS.get(text(value.get("flow")), "implicit")
    kept = ("authorizationUrl", "tokenUrl", "scopes")
    return {"type": "oauth2", "flows": {flow: {key: value[key] for key in kept if key in value}}}


def _media_types(operation: Object, document: Object, key: str) -> list[str]:
    """An operation's own list counts, even if it is empty."""
    return texts(operation[key] if key in operation else document.get(key))
