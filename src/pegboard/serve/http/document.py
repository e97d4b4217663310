"""The OpenAPI document, made from the table of routes: it cannot say anything else."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard import __version__
from pegboard.serve.http.problems import MEDIA_TYPE, OTHERS, STATUS
from pegboard.serve.http.shapes import PLACE, Schema, Shapes
from pegboard.serve.http.table import Route, Wanted
from pegboard.serve.http.telling import INSTEAD

PROBLEM = "Problem"
ABOUT = """\
A board of tools, skills, directives and knowledge: find them, read them, call them.

Errors are problem details (RFC 9457) with a `code` that stays the same. An id stands in a path \
percent-encoded, a slash in it as `%2F`."""
_REASONS = {
    200: "Done.",
    201: "Made.",
    202: "Taken on; it is done in the background.",
    204: "Done; there is nothing to say.",
    304: "It is as it was.",
    400: "What was sent cannot be read or used.",
    401: "A token is needed.",
    403: "It is not allowed.",
    404: "There is no such thing, for whoever asks.",
    405: "The path takes other methods.",
    409: "It cannot be done as things stand.",
    412: "It is no longer what was expected.",
    413: "The request is too large.",
    415: "It is not JSON.",
    422: "It was understood, and refused.",
    429: "There were too many requests.",
    503: "The board cannot be reached, or is busy.",
    504: "It took too long.",
}
_HEADERS: Mapping[str, str] = {
    "If-Match": "Only if the item still has this ETag.",
    "If-None-Match": "Only if the item has another ETag than this.",
}
_PATH = {
    "id": "An id, `namespace/id`, `category__name`, or a name that only one item has.",
    "name": "What the source is called.",
    "version": "The number of a version, such as `1.2.0`; to read it, `latest` as well.",
}


def document(routes: Sequence[Route]) -> Schema:
    shapes = Shapes(INSTEAD)
    bodies: dict[str, Schema] = {}
    paths: dict[str, Schema] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, shapes, bodies)
    groups = dict.fromkeys(route.group for route in routes)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Pegboard", "version": __version__, "description": ABOUT},
        "tags": [{"name": group} for group in groups],
        "paths": paths,
        "components": {
            "schemas": {PROBLEM: _problem(), **shapes.parts, **bodies},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route, shapes: Shapes, bodies: dict[str, Schema]) -> Schema:
    found: Schema = {
        "operationId": route.name,
        "summary": route.about,
        "tags": [route.group],
        "parameters": [*_parameters(route)],
        "responses": _responses(route, shapes),
        "security": [{"bearer": []}] if route.role is not None else [],
    }
    if route.role is not None:
        found["description"] = f"For whoever is at least {route.role}."
    if route.body is not None:
        schema, parts = _model(route.body)
        bodies |= parts
        bodies[route.body.__name__] = schema
        content = {"application/json": {"schema": {"$ref": PLACE + route.body.__name__}}}
        needed = any(field.is_required() for field in route.body.model_fields.values())
        found["requestBody"] = {"content": content, "required": needed}
    return found


def _parameters(route: Route) -> Iterator[Schema]:
    for name in re.findall(r"\{(\w+)\}", route.path):
        text: Schema = {"type": "string", "minLength": 1}
        said = {"required": True, "schema": text, "description": _PATH[name]}
        yield {"name": name, "in": "path"} | said
    for header in route.headers:
        said = {"schema": {"type": "string"}, "description": _HEADERS[header]}
        yield {"name": header, "in": "header"} | said
    if route.query is not None:
        schema, _ = _model(route.query)
        required = schema.get("required", ())
        for name, field in schema["properties"].items():
            said = {"description": field.pop("description")} if "description" in field else {}
            yield {
                "name": name,
                "in": "query",
                "required": name in required,
                "schema": field,
            } | said


def _model(model: type[Wanted]) -> tuple[Schema, dict[str, Schema]]:
    """The schema of what is asked, and of the parts that it refers to."""
    schema = model.model_json_schema(ref_template=PLACE + "{model}")
    parts: dict[str, Schema] = schema.pop("$defs", {})
    for each in (schema, *parts.values()):
        each.pop("title", None)
        for field in each.get("properties", {}).values():
            field.pop("title", None)
    return schema, parts


def _responses(route: Route, shapes: Shapes) -> Schema:
    found = {str(status): _good(route, status, shapes) for status in route.statuses}
    for status in sorted({*_own_problems(route), *route.problems}):
        found[str(status)] = _bad(status)
    return found | {"default": _bad(500)}


def _own_problems(route: Route) -> Iterator[int]:
    if route.role is not None:
        yield from (400, 401, 403, 429)
    if "{" in route.path:
        yield 404
    if route.body is not None:
        yield from (413, 415)


def _good(route: Route, status: int, shapes: Shapes) -> Schema:
    found: Schema = {"description": _REASONS[status]}
    if status in (204, 304) or route.answer is None:
        return found
    schema = route.answer if isinstance(route.answer, Mapping) else shapes.of(route.answer)
    return found | {"content": {route.media_type: {"schema": schema}}}


def _bad(status: int) -> Schema:
    said = _REASONS.get(status, "It did not go well.")
    content = {MEDIA_TYPE: {"schema": {"$ref": PLACE + PROBLEM}}}
    return {"description": said, "content": content}


def _problem() -> Schema:
    text: dict[str, Any] = {"type": "string"}
    codes = {*STATUS.values(), *OTHERS.values()}
    return {
        "type": "object",
        "properties": {
            "type": {"const": "about:blank"},
            "title": text,
            "status": {"type": "integer", "enum": sorted(codes)},
            "code": text | {"pattern": "^[a-z_]+$"},
            "detail": text,
            "hint": text | {"description": "The next step."},
        },
        "required": ["type", "title", "status", "code", "detail"],
    }
