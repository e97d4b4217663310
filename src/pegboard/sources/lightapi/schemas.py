"""Schemas that stand by themselves: what they refer to comes along under `$defs`."""

import re
from collections.abc import Mapping

from pegboard.sources.documents.references import Library, Target
from pegboard.sources.lightapi.parts import Part, Refused
from pegboard.sources.unfit import Unfit

SHARED = ("components", "schemas")
MAX_NODES = 2_000_000
"""Parts of all schemas of a document, with those that references repeat."""


class Schemas:
    """Reads the schemas of one document; together they may not grow without bound."""

    def __init__(self, library: Library, root: Part) -> None:
        self._library = library
        shared = root.part(SHARED[0]).part(SHARED[1])
        self._names = frozenset(shared.value)
        self._left = MAX_NODES

    def read(self, owner: Part, key: str) -> dict[str, object]:
        """Written out, a reference to a document, or the name of one under components.schemas."""
        said = owner.value.get(key)
        if said is None:
            return {}
        if isinstance(said, str):
            named = "#/" + "/".join((*SHARED, said.replace("~", "~0").replace("/", "~1")))
            said = {"$ref": named if said in self._names else said}
        elif not isinstance(said, Mapping):
            raise owner.misfit(key, "a JSON Schema, or a reference to one")
        path = (*owner.path, key)
        try:
            node = self._library.followed(said, self._library.place, owner.place(key))
            own = node.value.get("$defs") if node.place == self._library.place else None
            return _Bundle(self, own if isinstance(own, Mapping) else {}).made(
                node.value, node.place
            )
        except Unfit as bad:
            raise Refused(bad.code, f"{owner.place(key)}: {bad.reason}", path) from bad

    def target(self, reference: str, base: str) -> Target:
        return self._library.target(reference, base)

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            reason = f"the schemas of the document have more than {MAX_NODES:,} parts"
            raise Refused("too_long", reason, SHARED)


class _Bundle:
    """One schema and its definitions."""

    def __init__(self, schemas: Schemas, own: Mapping[str, object]) -> None:
        self._schemas = schemas
        self._own = own
        """Definitions that the schema brings with it."""
        self._targets: dict[str, Target] = {}
        self._called: dict[tuple[str, str], str] = {}

    def made(self, schema: Mapping[str, object], place: str) -> dict[str, object]:
        made = self._mapping(schema, place)
        definitions: dict[str, object] = {}
        while waiting := self._targets.keys() - definitions.keys():
            for name in sorted(waiting):
                target = self._targets[name]
                definitions[name] = self._copied(target.value, target.place)
        if definitions:
            mine = {key: self._copied(each, place) for key, each in self._own.items()}
            made["$defs"] = {**mine, **definitions}
        return made

    def _copied(self, node: object, place: str) -> object:
        if isinstance(node, list):
            self._schemas.spend()
            return [self._copied(each, place) for each in node]
        if isinstance(node, Mapping):
            return self._mapping(node, place)
        self._schemas.spend()
        return node

    def _mapping(self, node: Mapping[str, object], place: str) -> dict[str, object]:
        self._schemas.spend()
        made = {key: self._copied(each, place) for key, each in node.items()}
        reference = node.get("$ref")
        if isinstance(reference, str) and not self._is_own(reference):
            made["$ref"] = f"#/$defs/{self._name(self._schemas.target(reference, place))}"
        return made

    def _is_own(self, reference: str) -> bool:
        return bool(self._own) and (reference == "#" or reference.startswith("#/$defs/"))

    def _name(self, target: Target) -> str:
        key = (target.place, target.pointer)
        if key not in self._called:
            last = (target.pointer or target.place).rpartition("/")[2]
            name = re.sub(r"[^A-Za-z0-9_.-]+", "_", last) or "schema"
            while name in self._targets or name in self._own:
                name += "_"
            self._called[key] = name
            self._targets[name] = target
        return self._called[key]
