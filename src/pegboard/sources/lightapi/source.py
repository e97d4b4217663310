"""The operations of a LightAPI description, each a candidate."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from pegboard.errors import SourceError
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    Candidate,
    Finding,
    LeftOut,
    Rejection,
    Unchanged,
)
from pegboard.sources.documents.fetching import MAX_BYTES, Fetched, Fetcher, is_address
from pegboard.sources.documents.references import Library
from pegboard.sources.lightapi import document as documents
from pegboard.sources.lightapi.backing import Backing
from pegboard.sources.lightapi.lines import lines_of
from pegboard.sources.lightapi.operations import Operations, lifecycle
from pegboard.sources.lightapi.parts import Part, Refused, shown_key
from pegboard.sources.lightapi.schemas import Schemas
from pegboard.sources.openapi.source import OpenApiSource

MAX_NAME = 200
_NOT_IN_USE = ("draft", "retired")
_USUAL = "a LightAPI description has the keys lightapi, info and operations"
_OTHERS = {
    "openapi": "this is an OpenAPI document: pegboard add openapi",
    "swagger": "this is a Swagger document: pegboard add openapi",
    "mcpServers": "this is a configuration of MCP servers: pegboard add mcp --from",
}


class _Fault(NamedTuple):
    origin: str
    name: str
    refused: Refused


class _Fetcher(Fetcher):
    """Keeps the document as it is written, so that faults can be told by their lines."""

    content = b""

    def first(self) -> Fetched:
        found = super().first()
        self.content = found.content
        return found


class LightApiSource:
    """Reads the file or address at each scan."""

    def __init__(
        self,
        name: str,
        location: str,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        max_bytes: int = MAX_BYTES,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        self._location = location
        self._namespace = namespace
        self._max_bytes = max_bytes
        self._environ = environ

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        fetcher = _Fetcher(self._location, max_bytes=self._max_bytes, environ=self._environ)
        library = Library(fetcher)
        document = _document(library, fetcher.content)
        for repair in library.repairs:
            yield LeftOut(f"line {repair.line}", repair.what)
        faults: list[_Fault] = []
        operations = Operations(
            document,
            Schemas(library, document.root),
            Backing(fetcher, library.place, self._beside),
            self._name,
            self._namespace,
        )
        for finding in self._found(document, operations):
            if isinstance(finding, _Fault):
                faults.append(finding)
            else:
                yield _seen(finding, known)
        lines = lines_of(fetcher.content, [fault.refused.path for fault in faults])
        for fault in faults:
            line = lines[fault.refused.path]
            yield _seen(self._rejected(fault, document.operations.value[fault.name], line), known)

    def _beside(self, place: str) -> OpenApiSource:
        """An OpenAPI document that operations point to; headers go where they were meant to."""
        given = urlsplit(self._location)
        meant = is_address(place) and urlsplit(place)[:2] == given[:2]
        location = f"{place}#{given.fragment}" if meant else place
        return OpenApiSource(self._name, location, max_bytes=self._max_bytes, environ=self._environ)

    def _found(
        self, document: documents.Document, operations: Operations
    ) -> Iterator[Candidate | LeftOut | _Fault]:
        first: dict[str, str] = {}
        for number, name in enumerate(document.operations.value, 1):
            origin = _origin(name, number, document.operations)
            try:
                state = lifecycle(document.operations.part(name))
                if state in _NOT_IN_USE:
                    yield LeftOut(origin, f"lifecycle {state}")
                    continue
                _refuse_second(operations.endpoint_id(name), name, first)
                fields = operations.fields(name)
                yield Candidate(self._name, origin, _hash(fields), fields)
            except Refused as refused:
                yield _Fault(origin, name, refused)
            except RecursionError:
                path = (*document.operations.path, name)
                yield _Fault(origin, name, Refused("too_deep", "it is nested too deeply", path))

    def _rejected(self, fault: _Fault, operation: object, line: int) -> Rejection:
        reason = f"line {line}: {fault.refused.reason}"
        digest = _hash([reason, operation])
        return Rejection(self._name, fault.origin, digest, fault.refused.code, reason)


def _document(library: Library, content: bytes) -> documents.Document:
    try:
        return documents.read(library.data)
    except Refused as refused:
        [line] = lines_of(content, [refused.path]).values()
        keys = library.data if isinstance(library.data, Mapping) else {}
        hint = next((hint for key, hint in _OTHERS.items() if key in keys), _USUAL)
        raise SourceError(f"{library.place}, line {line}: {refused.reason}", hint) from None


def _origin(name: str, number: int, operations: Part) -> str:
    """The name, or if it is none to list an operation by, which one it is."""
    if name.isprintable() and 0 < len(name) <= MAX_NAME:
        return name
    origin = f"operation {number}"
    while origin in operations.value:
        origin += "'"
    return origin


def _refuse_second(endpoint_id: str, name: str, first: dict[str, str]) -> None:
    """`endpointId` is what a permission is granted for, so two may not share it."""
    if endpoint_id and first.setdefault(endpoint_id, name) != name:
        other = shown_key(first[endpoint_id])
        reason = f"{other} has the endpointId {endpoint_id} too; change one of them"
        raise Refused("duplicate_id", reason, ("operations", name, "endpointId"))


def _hash(value: object) -> str:
    """Of everything that an item is made from, wherever in the document it stands."""
    try:
        text = json.dumps(value, sort_keys=True)
    except RecursionError:
        text = "nested too deeply"
    return hashlib.sha256(text.encode()).hexdigest()


def _seen(finding: Candidate | LeftOut | Rejection, known: Mapping[str, str]) -> Finding:
    if isinstance(finding, LeftOut) or known.get(finding.origin) != finding.origin_hash:
        return finding
    return Unchanged(finding.origin)
