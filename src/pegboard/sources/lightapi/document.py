"""The head of a document: what it says of itself, before any of its operations is looked at."""

from collections.abc import Mapping
from typing import NamedTuple

from pegboard.sources.lightapi.parts import Part, Refused, shown

VERSION = "0.1.0"
PROFILES = ("catalog", "endpoint", "bundle", "api")
"""The specification has the first three; an older design of the portal calls a catalog `api`."""
INHERITED = ("authentications", "environments", "secrets", "sources")
MAX_OPERATIONS = 10_000
MAX_ENVIRONMENTS = 100


class Document(NamedTuple):
    root: Part
    namespace: str
    owner: str
    operations: Part
    destructive: frozenset[str]
    """Operations that the document's `agent` calls so."""
    catalog: str
    """Where the document says that the rest of its context is."""
    inherits: frozenset[str]


def read(data: object) -> Document:
    """Raises `Refused` if it is no LightAPI description."""
    if not isinstance(data, Mapping):
        raise Refused("no_description", f"the document is {shown(data)}; it must be a mapping")
    root = Part(data)
    _refuse_version(root)
    info = root.part("info")
    for key in ("title", "version"):
        info.required(key)
    for section in ("sources", "environments", "authentications", "examples"):
        root.part(section)
    for section in ("schemas", "examples"):
        root.part("components").part(section)
    context = root.part("context")
    return Document(
        root=root,
        namespace=info.required("namespace"),
        owner=info.text("owner"),
        operations=_operations(root),
        destructive=frozenset(root.part("agent").texts("destructiveOperations")),
        catalog=context.text("catalog"),
        inherits=frozenset(context.texts("inherits")).intersection(INHERITED),
    )


def _refuse_version(root: Part) -> None:
    version = root.value.get("lightapi")
    if version is None:
        reason = f"there is no lightapi in it; a LightAPI description says lightapi: {VERSION}"
        raise Refused("no_description", reason)
    if version != VERSION:
        reason = f"lightapi is {shown(version)}; only version {VERSION} is known"
        raise Refused("bad_version", reason, ("lightapi",))


def _operations(root: Part) -> Part:
    operations = root.part("operations")
    count = len(operations.value)
    if not count:
        raise root.lacks("operations")
    if root.text("profile", PROFILES) == "endpoint" and count > 1:
        reason = f"there are {count:,} operations; with the profile endpoint there is one"
        raise Refused("bad_profile", reason, ("profile",))
    for part, most in ((operations, MAX_OPERATIONS), (root.part("environments"), MAX_ENVIRONMENTS)):
        if len(part.value) > most:
            reason = f"{part.place()} has {len(part.value):,} entries; at most {most:,} are read"
            raise Refused("too_many", reason, part.path)
    return operations
