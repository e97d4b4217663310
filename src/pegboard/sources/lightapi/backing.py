"""Operations that an OpenAPI document describes, to which a LightAPI document only points."""

from collections.abc import Callable

from pegboard.errors import SourceError
from pegboard.model.content import EMPTY, Json
from pegboard.model.items import Candidate
from pegboard.sources.documents.faults import BadReference, Unreadable
from pegboard.sources.documents.fetching import Fetcher
from pegboard.sources.lightapi.parts import Part, Refused, shown
from pegboard.sources.openapi.source import OpenApiSource

_Found = dict[str, Json] | Refused


class Backing:
    """Each document is read once. It has to lie beside the one that names it, or at its origin."""

    def __init__(
        self, fetcher: Fetcher, place: str, opened: Callable[[str], OpenApiSource]
    ) -> None:
        self._fetcher = fetcher
        self._place = place
        self._opened = opened
        self._documents: dict[str, _Found] = {}

    def fields(self, operation: Part, source: Json) -> Json:
        """What the OpenAPI source makes of it; nothing if there is no document to look into."""
        named = source.get("document")
        if source.get("type") != "openapi" or not isinstance(named, str):
            return EMPTY
        found = self._read(named, operation.path)
        if isinstance(found, Refused):
            raise Refused(found.code, found.reason, operation.path)
        wanted = operation.required("operationId")
        if wanted not in found:
            reason = f"{shown(named)} has no operation with the operationId {shown(wanted)}"
            raise Refused("unknown_operation", reason, operation.path)
        return found[wanted]

    def _read(self, named: str, path: tuple[str, ...]) -> _Found:
        try:
            place = self._fetcher.place_of(named, self._place)
        except BadReference as bad:
            raise Refused("bad_source", f"the OpenAPI document {bad.reason}", path) from bad
        if place not in self._documents:
            try:
                self._documents[place] = _by_operation_id(self._opened(place))
            except SourceError as error:
                self._documents[place] = Refused(Unreadable.code, error.message)
        return self._documents[place]


def _by_operation_id(source: OpenApiSource) -> dict[str, Json]:
    """The name of an operation is its operationId, or that is what it is also called."""
    found: dict[str, Json] = {}
    for finding in source.scan({}):
        if isinstance(finding, Candidate):
            aliases = finding.fields.get("aliases")
            said = aliases[0] if isinstance(aliases, list) and aliases else finding.fields["name"]
            found.setdefault(str(said), finding.fields)
    return found
