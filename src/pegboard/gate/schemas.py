"""Whether an object is a JSON Schema: what the metaschemas ask for, and references that hold.

Checked against a table of keywords, a schema takes a fraction of the time that a validator takes
with the metaschema, and thousands come with one OpenAPI document. Nothing recurses, nothing is
fetched, and no regular expression of a stranger is tried.
"""

from typing import Any, NamedTuple
from urllib.parse import unquote

from pegboard.formats.plain import pointed
from pegboard.gate.keywords import Fault, dialect
from pegboard.gate.refusal import Refused, shown
from pegboard.model.content import Json

_LONGEST_PATH = 200
_REFERRING = frozenset(("$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"))

Path = tuple[Any, str | int] | None
"""Where something stands: the place that it stands in, and its key there."""


class _Place(NamedTuple):
    schema: object
    path: Path
    root: dict[str, object]
    """What `#` means here: the whole, or the nearest part with an `$id` of its own."""


class _Misplaced(Exception):
    def __init__(self, path: Path, fault: object) -> None:
        super().__init__(str(fault))
        self.path = path


def check_schema(name: str, schema: Json, *, arguments: bool = False) -> None:
    """Raises `Refused` with the place of the first fault. `arguments`: it must fit an object."""
    if not schema:
        return
    try:
        _Check(dict(schema)).run()
    except _Misplaced as error:
        raise Refused("bad_schema", f"{_written(name, error.path)} {error}") from error
    kind = schema.get("type", "object")
    if arguments and kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise Refused(
            "bad_schema", f'{name}.type is {shown(kind)}; arguments are an object: write "object"'
        )


class _Check:
    def __init__(self, schema: dict[str, object]) -> None:
        self._table, self._booleans = dialect(schema.get("$schema"))
        self._schema = schema
        self._ahead: list[_Place] = [_Place(schema, None, schema)]
        self._seen: set[int] = set()
        self._references: list[tuple[_Place, str]] = []
        self._anchors: dict[tuple[int, str], object] = {}
        self._leads: dict[int, _Place] = {}
        """By schemas that refer: where they lead, and where that is said."""

    def run(self) -> None:
        self._walk()
        while self._references:
            waiting, self._references = self._references, []
            for place, reference in waiting:
                target = place._replace(
                    schema=self._resolved(place, reference), path=(place.path, "$ref")
                )
                self._leads[id(place.schema)] = target
                if id(target.schema) not in self._seen:
                    self._ahead.append(target)
            self._walk()
        self._refuse_circles()

    def _walk(self) -> None:
        while self._ahead:
            place = self._ahead.pop()
            if isinstance(place.schema, dict):
                self._visit(place, place.schema)
            elif not isinstance(place.schema, bool) or not self._booleans:
                raise _Misplaced(place.path, f"is {shown(place.schema)}; it must be a schema")

    def _visit(self, place: _Place, schema: dict[str, object]) -> None:
        self._seen.add(id(schema))
        own = schema.get("$id")
        if isinstance(own, str) and own and not own.startswith("#"):
            place = place._replace(root=schema)
        for keyword, value in schema.items():
            check = self._table.get(keyword)
            if check is None:
                continue
            try:
                within = check(value)
            except Fault as fault:
                raise _Misplaced((place.path, keyword), fault) from fault
            if within:
                path = (place.path, keyword)
                self._ahead += [
                    _Place(part, path if key is None else (path, key), place.root)
                    for key, part in within
                ]
        if not _REFERRING.isdisjoint(schema):
            self._note(place, schema)

    def _note(self, place: _Place, schema: dict[str, object]) -> None:
        """What others can refer to, and what it refers to."""
        for keyword in ("$anchor", "$dynamicAnchor", "$id"):
            found = schema.get(keyword)
            if isinstance(found, str) and (keyword != "$id" or found.startswith("#")):
                self._anchors[id(place.root), found.lstrip("#")] = schema
        for keyword in ("$ref", "$dynamicRef"):
            found = schema.get(keyword)
            if isinstance(found, str) and keyword in self._table:
                self._references.append((place, found))

    def _resolved(self, place: _Place, reference: str) -> object:
        if not reference.startswith("#"):
            raise _Misplaced(
                (place.path, "$ref"),
                f"is {shown(reference)}; only parts of the same schema can be referred to:"
                " write it as #/$defs/NAME and put the definition there",
            )
        fragment = unquote(reference[1:])
        if not fragment or fragment.startswith("/"):
            found = pointed(place.root, fragment)
        else:
            roots = (id(place.root), id(self._schema))
            found = next(filter(None, (self._anchors.get((r, fragment)) for r in roots)), None)
        if found is None:
            raise _Misplaced(
                (place.path, "$ref"), f"is {shown(reference)}, and there is nothing at that place"
            )
        return found

    def _refuse_circles(self) -> None:
        """A reference to a reference and so on, back to the first, says nothing at all."""
        ending: set[int] = set()
        for start in self._leads:
            passed: set[int] = set()
            at = start
            while at in self._leads and at not in ending:
                if at in passed:
                    raise _Misplaced(self._leads[at].path, "leads back to itself")
                passed.add(at)
                at = id(self._leads[at].schema)
            ending |= passed


def _written(name: str, path: Path) -> str:
    steps: list[str] = []
    while path is not None:
        path, key = path
        plain = isinstance(key, str) and key.replace("$", "").isidentifier()
        steps.append(f".{key}" if plain else f"[{shown(key)}]")
    text = name + "".join(reversed(steps))
    if len(text) <= _LONGEST_PATH:
        return text
    return f"{text[: _LONGEST_PATH // 2]}...{text[-_LONGEST_PATH // 2 :]}"
