"""One operation becomes the fields of a candidate."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegboard.formats.shapes import listed, mapping, text
from pegboard.model.items import Kind, ToolType
from pegboard.sources.documents.references import Library, Node
from pegboard.sources.openapi import (
    bodies,
    metadata,
    naming,
    parameters,
    security,
    servers,
    swagger,
)
from pegboard.sources.openapi.arguments import arranged
from pegboard.sources.openapi.bundling import bundled
from pegboard.sources.openapi.cleaning import one_line
from pegboard.sources.openapi.graph import Schema
from pegboard.sources.openapi.schemas import Schemas
from pegboard.sources.unfit import Unfit

PROTOCOL = "openapi"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
MAX_INPUT = 200_000
MAX_OUTPUT = 20_000
"""Characters of a schema with its definitions; more is shortened, the farthest first."""


class Operation(NamedTuple):
    method: str
    path: str
    name: str
    node: Node
    path_item: Node

    @property
    def endpoint(self) -> str:
        return f"{self.method.upper()} {self.path}"


class Service:
    """What the operations of one document have in common."""

    def __init__(self, library: Library, document: Mapping[str, object], *, old: bool) -> None:
        self.library = library
        self.document = document
        self.old = old
        """Whether it is Swagger 2.0."""
        self.requests = Schemas(library, requests=True)
        self.answers = Schemas(library, requests=False)
        components = mapping(document.get("components"))
        self.schemes = mapping(components.get("securitySchemes"))
        if old:
            self.schemes = swagger.security_schemes(document)

    def fields(self, operation: Operation) -> dict[str, object]:
        """Raises `Unfit`."""
        value = operation.node.value
        tags = metadata.tags(value)
        made: dict[str, object] = {
            "name": operation.name,
            "kind": Kind.TOOL.value,
            "category": naming.category(tags, operation.path),
            "description": metadata.description(
                value, operation.path_item.value, operation.endpoint
            ),
            "tags": tags,
            "tool_type": ToolType.API.value,
            "source_protocol": PROTOCOL,
            "endpoint": one_line(operation.endpoint, 500),
            "deprecated": value.get("deprecated") is True,
            **metadata.for_search(value),
            **self._request(operation),
        }
        if (title := metadata.title(value, operation.path_item.value)) not in ("", operation.name):
            made["title"] = title
        if (alias := one_line(text(value.get("operationId")))) not in ("", operation.name):
            made["aliases"] = [alias]
        if output := self._output(operation):
            made["output_schema"] = output
        return made

    def _request(self, operation: Operation) -> dict[str, object]:
        value, place = operation.node
        levels = [
            (operation.path_item.value.get("parameters"), operation.path_item.place),
            (value.get("parameters"), place),
        ]
        nodes = parameters.merged(self.library, levels)
        content: Node | None = None
        if self.old:
            nodes, content = swagger.request(nodes, value, self.document)
        elif value.get("requestBody") is not None:
            content = self.library.followed(value["requestBody"], place, "the request body")
        body = bodies.read(content, self.requests) if content else None
        found = arranged(parameters.read(nodes, operation.path, self.requests), body)
        executor: dict[str, object] = {
            "operation_id": one_line(text(value.get("operationId"))),
            "method": operation.method.upper(),
            "path": operation.path,
            "servers": self._servers(operation),
            "parameters": found.parameters,
            "security": self._security(value),
        }
        if found.body is not None:
            executor["body"] = found.body
        if media_types := self._accepted(operation):
            executor["responses"] = {"media_types": media_types}
        return {
            "input_schema": bundled(found.schema, self.requests, MAX_INPUT),
            "executor": executor,
        }

    def _servers(self, operation: Operation) -> list[dict[str, object]]:
        value, item = operation.node.value, operation.path_item.value
        if self.old:
            said: object = swagger.servers(self.document, value)
        else:
            levels = (each.get("servers") for each in (value, item, self.document))
            said = next((each for each in levels if each), [{"url": "/"}])
        return servers.addresses(listed(said), self.library.place)

    def _security(self, value: Mapping[str, object]) -> list[list[dict[str, object]]]:
        said = value.get("security")
        wanted = self.document.get("security") if said is None else said
        return security.alternatives(wanted, self.schemes, self.library)

    def _responses(self, operation: Operation) -> Iterator[tuple[str, object, str]]:
        """Media type, schema and place of each form that a good answer may have.

        An answer that is described wrongly is as good as one that is not described: it takes
        nothing away from what can be asked.
        """
        value, place = operation.node
        said = mapping(value.get("responses"))
        found = {str(code).upper(): each for code, each in said.items()}
        good = sorted(code for code in found if code[:1] == "2") or ["DEFAULT"]
        for code in good:
            try:
                node = self.library.followed(found.get(code), place, f"response {code}")
            except Unfit:
                continue
            content = node.value.get("content")
            if self.old:
                content = swagger.content(node.value, value, self.document)
            for media_type, each in mapping(content).items():
                yield str(media_type), mapping(each).get("schema"), node.place

    def _accepted(self, operation: Operation) -> list[str]:
        found = [one_line(media_type) for media_type, _, _ in self._responses(operation)]
        return sorted(dict.fromkeys(found), key=bodies.rank)

    def _output(self, operation: Operation) -> Schema | None:
        for media_type, schema, place in self._responses(operation):
            if not bodies.is_json(media_type) or not schema:
                continue
            try:
                made = self.answers.opened(self.answers.convert(schema, place))
                return bundled(made, self.answers, MAX_OUTPUT) if isinstance(made, dict) else None
            except Unfit:
                return None
        return None
