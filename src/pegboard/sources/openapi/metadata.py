"""What an operation says about itself in words: description, tags, and hints for search."""

from collections.abc import Iterable, Mapping, Sequence

from pegboard.formats.shapes import mapping, text, texts
from pegboard.sources.openapi.cleaning import one_line, prose

MAX_ENTRIES = 50
MAX_ENTRY = 500

Object = Mapping[str, object]


def description(operation: Object, path_item: Object, endpoint: str) -> str:
    """Summary and description; what the path says if there is neither."""
    for said in (operation, path_item):
        summary, told = (prose(text(said.get(key))) for key in ("summary", "description"))
        if told and summary and told.casefold().startswith(summary.rstrip(".").casefold()):
            return told
        if told and summary:
            stop = "" if summary[-1] in ".!?:" else "."
            return f"{summary}{stop}\n\n{told}"
        if told or summary:
            return told or summary
    return endpoint


def title(operation: Object, path_item: Object) -> str:
    """Return the summary of the operation, or else that of the path, on one line."""
    found = (one_line(prose(text(said.get("summary")))) for said in (operation, path_item))
    return next(filter(None, found), "")


def tags(operation: Object) -> list[str]:
    return _lines(operation.get("tags"))


def for_search(operation: Object) -> dict[str, object]:
    """What `x-` extensions add to how an operation is found; nothing of it is ever shown.

    `x-tool-metadata` has it under `routing` and beside it; single ones may stand by themselves.
    """
    told = mapping(operation.get("x-tool-metadata"))
    routing = mapping(told.get("routing"))
    levels = (operation, told, routing)
    found = {
        "keywords": _first(levels, ("x-semantic-keywords", "semanticKeywords", "x-keywords")),
        "target_personas": _first(levels, ("x-personas", "personas", "targetPersonas")),
    }
    lines = {
        "routing_domain": _first(levels, ("x-routing-domain", "routingDomain", "domain")),
        "semantic_namespace": _first(levels, ("x-semantic-namespace", "semanticNamespace")),
        "sensitivity_tier": _first(levels, ("x-sensitivity-tier", "sensitivityTier")),
    }
    return {
        **{name: said for name, said in found.items() if said},
        **{name: said[0] for name, said in lines.items() if said},
    }


def _first(levels: Sequence[Object], keys: Iterable[str]) -> list[str]:
    """The operation itself is only asked for names that begin with `x-`."""
    for key in keys:
        for level in levels if key.startswith("x-") else levels[1:]:
            if found := _lines(level.get(key)):
                return found
    return []


def _lines(value: object) -> list[str]:
    lines = [one_line(each, MAX_ENTRY) for each in texts(value) or [text(value)]]
    return list(dict.fromkeys(filter(None, lines)))[:MAX_ENTRIES]
