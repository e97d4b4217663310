"""OpenAPI 3 and Swagger 2.0 as a source: one tool for each operation."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pegboard.errors import SourceError
from pegboard.formats.shapes import mapping, text
from pegboard.model.items import (
    DEFAULT_NAMESPACE,
    Candidate,
    Finding,
    LeftOut,
    Rejection,
    Unchanged,
)
from pegboard.sources.documents.faults import Unreadable
from pegboard.sources.documents.fetching import MAX_BYTES, SECONDS, Fetcher
from pegboard.sources.documents.references import Library, Node
from pegboard.sources.openapi import naming
from pegboard.sources.openapi.cleaning import cleaned
from pegboard.sources.openapi.operations import METHODS, Operation, Service
from pegboard.sources.unfit import Unfit

MAX_OPERATIONS = 50_000


class OpenApiSource:
    """Reads the document, and what it refers to, at each scan."""

    def __init__(
        self,
        name: str,
        location: str,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        max_bytes: int = MAX_BYTES,
        seconds: float = SECONDS,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        self._location = location
        self._namespace = namespace
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._environ = environ

    def scan(self, known: Mapping[str, str], under: Sequence[str] = ()) -> Iterator[Finding]:
        library = Library(
            Fetcher(
                self._location,
                max_bytes=self._max_bytes,
                seconds=self._seconds,
                environ=self._environ,
            )
        )
        for repair in library.repairs:
            yield LeftOut(f"line {repair.line}", repair.what)
        document, old = _checked(library)
        service = Service(library, document, old=old)
        found = list(islice(_operations(library, document), MAX_OPERATIONS + 1))
        if len(found) > MAX_OPERATIONS:
            raise SourceError(
                f"{library.place} has more than {MAX_OPERATIONS:,} operations",
                "split the document",
            )
        names = naming.unique(
            (each.method, each.path, each.name) for each in found if isinstance(each, Operation)
        )
        for each in found:
            if isinstance(each, Operation):
                named = each._replace(name=names[each.method, each.path])
                yield self._finding(service, named, known)
            else:
                yield from self._rejections(each, known)

    def _rejections(self, found: Rejection, known: Mapping[str, str]) -> Iterator[Rejection]:
        """Of a path that cannot be read now, also its operations as they were known."""
        yield found._replace(source=self._name)
        if found.code == Unreadable.code:
            for origin in known:
                if origin.partition(" ")[2] == found.origin:
                    yield found._replace(source=self._name, origin=origin)

    def _finding(self, service: Service, operation: Operation, known: Mapping[str, str]) -> Finding:
        origin = operation.endpoint
        try:
            fields = service.fields(operation)
        except Unfit as unfit:
            return _refused(origin, unfit)._replace(source=self._name)
        fields["id"] = f"{self._name}:{fields['category']}:{operation.name}"
        fields["namespace"] = self._namespace
        digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
        if known.get(origin) == digest:
            return Unchanged(origin)
        return Candidate(self._name, origin, digest, fields)


def _checked(library: Library) -> tuple[Mapping[str, object], bool]:
    """The document, and whether it is Swagger 2.0."""
    document = library.data
    if not isinstance(document, dict):
        raise SourceError(f"{library.place} holds no object", "name an OpenAPI document")
    version = str(document.get("openapi", document.get("swagger", "")))
    if not version:
        raise SourceError(
            f"{library.place} is no OpenAPI document: it has neither 'openapi' nor 'swagger'",
            "name a document of version 2.0 or 3.x",
        )
    if not version.startswith("3.") and version not in ("2.0", "2", "3"):
        raise SourceError(
            f"{library.place} is of version {version[:40]!a}, which is not known here",
            "convert it to OpenAPI 3.0 or 3.1",
        )
    if not isinstance(document.get("paths", {}), dict):
        raise SourceError(f"'paths' of {library.place} is no object", "mend the document")
    return document, version.startswith("2")


def _operations(
    library: Library, document: Mapping[str, object]
) -> Iterator[Operation | Rejection]:
    """In the order of the document; for what is none, why. Names are what the document says."""
    seen: set[str] = set()
    for written, item in mapping(document.get("paths")).items():
        path = cleaned(str(written))
        if not path.startswith("/") or item is None:
            continue
        if path in seen:
            again = Unfit("duplicate_id", "another path is the same, but for what nobody sees")
            yield _refused(f"{path} (again)", again)
            continue
        seen.add(path)
        try:
            node = library.followed(item, library.place, f"the path {path[:200]}")
        except Unfit as unfit:
            yield _refused(path, unfit)
            continue
        for method in METHODS:
            if method in node.value:
                yield _operation(method, path, node)


def _operation(method: str, path: str, item: Node) -> Operation | Rejection:
    value = item.value[method]
    if not isinstance(value, dict):
        fault = Unfit("bad_type", "the operation is no object")
        return _refused(f"{method.upper()} {path}", fault)
    name = text(value.get("operationId"))
    return Operation(method, path, name, Node(value, item.place), item)


def _refused(origin: str, fault: Unfit) -> Rejection:
    return Rejection("", origin, "", fault.code, f"{fault.reason}; mend the document")
