"""One operation of a document as the fields of a candidate."""

from pegboard.formats.shapes import mapping
from pegboard.model.content import EMPTY, Json
from pegboard.model.items import Kind, ToolType
from pegboard.sources.lightapi import invocation
from pegboard.sources.lightapi.backing import Backing
from pegboard.sources.lightapi.context import Context
from pegboard.sources.lightapi.document import Document
from pegboard.sources.lightapi.parts import Part, Refused
from pegboard.sources.lightapi.schemas import Schemas
from pegboard.sources.openapi.cleaning import one_line

PROTOCOL = "lightapi"
LIFECYCLES = ("draft", "active", "deprecated", "retired")
VISIBILITIES = ("public", "internal", "restricted")
_ENDPOINT_ID = r"[a-zA-Z0-9._-]+/[a-zA-Z0-9._-]+"


class Operations:
    """Reads the operations of one document into the fields of items of one source."""

    def __init__(
        self,
        document: Document,
        schemas: Schemas,
        backing: Backing,
        source: str,
        namespace: str,
    ) -> None:
        self._document = document
        self._schemas = schemas
        self._backing = backing
        self._source = source
        self._namespace = namespace
        self._context = Context(document)

    def fields(self, name: str) -> dict[str, object]:
        """Raises `Refused`."""
        operation = self._document.operations.part(name)
        capability = operation.part("capability")
        for key in ("group", "action") if capability.value else ():
            capability.required(key)
        routing = operation.part("metadata").part("routing")
        category = capability.text("group") or routing.text("category")
        backed = self._backed(operation)
        schema = self._input_schema(operation, backed)
        fields: dict[str, object] = {
            "id": f"{self._source}:{category}:{name}",
            "kind": Kind.TOOL.value,
            "namespace": self._namespace,
            "name": name,
            "title": _title(operation, name) or backed.get("title", ""),
            "description": _description(operation) or backed.get("description", ""),
            "category": category,
            "subcategory": capability.text("resource"),
            "tags": operation.texts("tags") or backed.get("tags", []),
            "aliases": _aliases(operation, name),
            "tool_type": _tool_type(operation).value,
            "input_schema": schema,
            "output_schema": self._output_schema(operation) or backed.get("output_schema", {}),
            "executor": {
                **mapping(backed.get("executor")),
                **self._executor(operation, name, schema),
            },
            "examples": self._examples(operation),
            "author": self._document.owner,
            "source_protocol": PROTOCOL,
            "endpoint": backed.get("endpoint", "") or invocation.address(operation),
            "deprecated": lifecycle(operation) == "deprecated" or backed.get("deprecated") is True,
        }
        return fields | self._routing(operation, routing, capability)

    def endpoint_id(self, name: str) -> str:
        return self._document.operations.part(name).text("endpointId", pattern=_ENDPOINT_ID)

    def _backed(self, operation: Part) -> Json:
        """What an OpenAPI document says of it, if it does not say itself how it is called."""
        if operation.text("protocol") != "http" or operation.has("method", "endpoint"):
            return EMPTY
        if not operation.has("source", "operationId"):
            return EMPTY
        return self._backing.fields(operation, self._context.source(operation.required("source")))

    def _routing(self, operation: Part, routing: Part, capability: Part) -> dict[str, object]:
        """What only search and its filters look at; the description is not changed by it."""
        visibility = operation.text("visibility", VISIBILITIES) or "internal"
        told = " ".join(routing.text("semanticDescription").split())
        done = f"{capability.text('action')} {capability.text('resource')}".strip()
        weight = routing.value.get("semanticWeight")
        if weight is not None and (isinstance(weight, bool) or not isinstance(weight, int | float)):
            raise routing.misfit("semanticWeight", "a number")
        return {
            "keywords": [*routing.texts("semanticKeywords"), *filter(None, (done, told))],
            "routing_domain": routing.text("domain") or capability.text("group"),
            "semantic_namespace": routing.text("semanticNamespace") or self._document.namespace,
            "sensitivity_tier": routing.text("sensitivityTier") or visibility,
            "target_personas": routing.texts("targetPersonas"),
            "semantic_weight": 1.0 if weight is None else weight,
        }

    def _input_schema(self, operation: Part, backed: Json) -> dict[str, object]:
        said = operation.part("input")
        schema = self._schemas.read(said, "schema") or dict(mapping(backed.get("input_schema")))
        if schema.setdefault("type", "object") != "object":
            reason = f"{said.place('schema')} describes no object; arguments are given by name"
            raise Refused("bad_schema", reason, (*said.path, "schema"))
        if told := said.text("description"):
            schema.setdefault("description", told)
        if needed := said.texts("required"):
            listed = schema.get("required")
            known = listed if isinstance(listed, list) else []
            schema["required"] = list(dict.fromkeys([*known, *needed]))
        return schema

    def _output_schema(self, operation: Part) -> dict[str, object]:
        result = operation.part("result")
        success = result.part("success")
        owners = (result, success.part("body"), success.part("content"))
        return next(
            (self._schemas.read(each, "schema") for each in owners if each.has("schema")), {}
        )

    def _executor(self, operation: Part, name: str, schema: Json) -> dict[str, object]:
        made = invocation.executor(operation, mapping(schema.get("properties")), self._context)
        if made["protocol"] == "mcp":
            # No server that was added to the board has such a name: a document does not get to
            # call what somebody else has set up.
            made["server"] = f"{self._source}/{operation.text('server') or name}"
        safety, idempotency = operation.part("safety"), operation.part("idempotency")
        cautions = {
            key: True
            for key in ("destructive", "requiresConfirmation", "privileged")
            if safety.flag(key)
        }
        if name in self._document.destructive:
            cautions["destructive"] = True
        if cautions:
            made["safety"] = cautions
        if idempotency.flag("safeToRetry") is not None:
            made["idempotency"] = idempotency.kept("safeToRetry", "key", "strategy")
        if endpoint_id := self.endpoint_id(name):
            made["endpoint_id"] = endpoint_id
        return made

    def _examples(self, operation: Part) -> list[str]:
        """What the examples of its behaviour say they show."""
        said = operation.value.get("examples")
        if isinstance(said, list):
            names = operation.texts("examples")
            root = self._document.root
            places = (root.part("examples"), root.part("components").part("examples"))
            found = [place.part(name) for name in names for place in places if place.has(name)]
        else:
            found = [part for _, part in operation.part("examples").parts()]
        told = (each.text("summary") or each.text("description") for each in found)
        return [" ".join(text.split()) for text in told if text]


def lifecycle(operation: Part) -> str:
    return operation.text("lifecycle", LIFECYCLES) or "active"


def _tool_type(operation: Part) -> ToolType:
    return ToolType.MCP if operation.text("protocol") == "mcp" else ToolType.API


def _description(operation: Part) -> str:
    summary, description = operation.text("summary"), operation.text("description")
    if not summary or description.startswith(summary):
        return description
    return f"{summary}\n\n{description}" if description else summary


def _title(operation: Part, name: str) -> str:
    """Return `title`, or else `summary`, on one line."""
    title = one_line(operation.text("title") or operation.text("summary"))
    return "" if title == name else title


def _aliases(operation: Part, name: str) -> list[str]:
    """What else it is called, by its protocol or by the document that describes it in full."""
    rpc = operation.text("protocol") != "http"
    named = (
        operation.text("name"),
        operation.text("operationId"),
        operation.text("method") if rpc else "",
    )
    return [each for each in dict.fromkeys(named) if each and each != name]
