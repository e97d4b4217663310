"""`search_tools`: a question in words, the answer as short text and as structure."""

import logging
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

from mcp_types import CallToolResult

from pegboard.app.pegboard import Pegboard
from pegboard.errors import PegboardError, UsageError
from pegboard.model.answers import Answer, Hit, as_score
from pegboard.model.content import Json
from pegboard.model.items import Filters, Kind, Mode, ToolType, qualified
from pegboard.search.budget import (
    LONGEST_SENTENCE,
    LONGEST_SIGNATURE,
    Detail,
    Told,
    compact,
    fit,
    grouped,
    heading,
    title_of,
    together,
    tokens,
)
from pegboard.serve.mcp.census import NONE, categories_of, census, label
from pegboard.serve.mcp.replies import compact_json, one_line, reply
from pegboard.text import clipped, first_sentence

log = logging.getLogger(__name__)

MOST_HITS = 50
MOST_ALIKE = 5
"""Each id costs context."""
LONGEST_QUERY = 2_000
FILTERS = {
    "category": ("categories", "Only in these."),
    "tag": ("tags", "Only with one of these."),
    "kind": ("kinds", f"Only {', '.join(Kind)}."),
    "type": ("tool_types", f"Only {', '.join(ToolType)}."),
    "source": ("sources", "Only from these."),
    "namespace": ("namespaces", "Only in these."),
    "skill": ("skills", "Only tools that these use."),
    "linked": ("linked", "Only what links to these, or they to it."),
}
"""Of the filters, those that an agent can know the values of: each costs it context."""

DESCRIPTION = """\
Find tools by what they do, in your own words. A query may ask for several things at once; its \
hits are then grouped by request. Each hit has the id to call it by, a score from 0 to 1, its \
signature (? marks what is optional) and what it does. Skills, directives and knowledge are marked \
so, and read with describe_tool."""


def _texts(description: str) -> Json:
    one = {"type": "string"}
    return {"anyOf": [one, {"type": "array", "items": one}], "description": description}


def input_schema(board: Pegboard) -> dict[str, Any]:
    found = board.settings.search
    return {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_QUERY,
                "description": "What the tool should do.",
            },
            "mode": {
                "type": "string",
                "enum": [mode.value for mode in Mode],
                "default": found.mode,
                "description": "hybrid: words and meaning; bm25: exact words; vector: meaning; "
                "fuzzy: words with typing errors.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_HITS,
                "default": found.limit,
            },
            **{name: _texts(only) for name, (_, only) in FILTERS.items()},
            "threshold": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "Least fit of the best hit, 0 to 1; below it, no tool fits. "
                "0 shows everything.",
            },
            "budget_tokens": {
                "type": "integer",
                "minimum": 1,
                "description": "Tokens the answer may cost; shows fewer hits if need be.",
            },
            "executable": {
                "type": "boolean",
                "default": False,
                "description": "Only what call_tool can run now.",
            },
            "diverse": {
                "type": "boolean",
                "default": False,
                "description": "One of several that are much alike.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }


_HIT = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "score": {"type": "number"},
        "signature": {"type": "string"},
        "title": {"type": "string"},
        "description": {"type": "string"},
        "kind": {"type": "string"},
        "tier": {"type": "string"},
        "passage": {"type": "string"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "like_it": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["id", "score"],
}

_REQUEST = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "hits": {"type": "array", "items": {"type": "string"}},
        "nearest": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query", "hits"],
}
"""One request of a query that has several. Its hits are ids of those in `hits`."""

OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "hits": {"type": "array", "items": _HIT},
        "nearest": {"type": "array", "items": _HIT},
        "notices": {"type": "array", "items": {"type": "string"}},
        "requests": {"type": "array", "items": _REQUEST},
    },
    "required": ["hits"],
}


def description(board: Pegboard) -> str:
    try:
        return f"{DESCRIPTION}\n\n{census(board.census())}"
    except PegboardError as error:
        log.warning("there is no census of the board: %s", error)
        return DESCRIPTION


def search_tools(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    answer = board.search(
        arguments["query"],
        mode=arguments.get("mode"),
        limit=int(arguments["limit"]) if "limit" in arguments else None,
        filters=_filters(arguments),
        threshold=arguments.get("threshold"),
        diverse=arguments.get("diverse", False),
        executable=arguments.get("executable", False),
    )
    notices = [*answer.notices, *([] if answer.hits else _advice(board, arguments, answer))]
    told = telling(answer, notices, arguments.get("budget_tokens"))
    return reply(told.text, told.structured)


def _filters(arguments: dict[str, Any]) -> Filters:
    chosen = {field: _listed(arguments.get(name, ())) for name, (field, _) in FILTERS.items()}
    chosen["categories"] = categories_of(chosen["categories"])
    for name, known in (("kind", Kind), ("type", ToolType)):
        for each in chosen[FILTERS[name][0]]:
            if each not in set(known):
                raise UsageError(f"{name} is {each[:60]!r}; it must be one of {', '.join(known)}")
    return Filters(active=True, **chosen)


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _advice(board: Pegboard, arguments: dict[str, Any], answer: Answer) -> list[str]:
    """What to try when nothing was found."""
    lines = board.census()
    if not lines:
        return ["the board is empty: no tools have been added to it yet"]
    filters = _filters(arguments)
    sources, categories = {line.source for line in lines}, {line.category for line in lines}
    if unknown := _unknown_sources(board, filters.sources, sources):
        return [_there_is_no("source", unknown, sources)]
    if unknown := [name for name in filters.categories if name not in categories]:
        return [_there_is_no("category", unknown, categories)]
    if filters != Filters() or arguments.get("executable"):
        return ["the filters may leave out what you need; try without them"]
    if answer.nearest:
        return ["try other words, or one capability at a time; threshold 0 shows everything"]
    return ["try other words; mode hybrid goes by meaning as well as by words"]


def _unknown_sources(board: Pegboard, wanted: Sequence[str], firsts: Set[str]) -> list[str]:
    """Those that are neither the first part of an id nor a source that the caller may see."""
    if not (left := [name for name in wanted if name not in firsts]):
        return []
    namespaces = board.within.namespaces if board.within else ()
    seen = {s.name for s in board.sources() if not namespaces or s.namespace in namespaces}
    # Where things come from is only told to members, but what is there can be found by all.
    return [
        name
        for name in left
        if name not in seen and not board.filtered(Filters(sources=(name,)), limit=1)
    ]


def _there_is_no(what: str, unknown: Sequence[str], known: Set[str]) -> str:
    names = ", ".join(label(name) for name in sorted(known)[:20])
    return f"there is no {what} {', '.join(repr(n or NONE) for n in unknown)}; there are: {names}"


class Telling(NamedTuple):
    text: str
    structured: dict[str, object]

    @property
    def cost(self) -> int:
        """Clients may put both into the context, so both count."""
        return tokens(self.text) + tokens(compact_json(self.structured))


def telling(answer: Answer, notices: Sequence[str], budget: int | None) -> Telling:
    """As many hits as the budget allows for, text and structure together; always the first."""
    found = answer.hits or answer.nearest
    if budget is None:
        return _written(answer, compact(found), notices)
    for count in range(len(found), 0, -1):
        base = _written(answer, compact(found[:count]), notices)
        told = fit(found[:count], tokens(together(compact(found[:count]))) + budget - base.cost)
        written = _written(answer, told, notices)
        if len(told) == count and written.cost <= budget:
            return written
    return _written(answer, fit(found[:1], 0), notices)


def _written(answer: Answer, told: Sequence[Told], notices: Sequence[str]) -> Telling:
    nothing = "No tool fits. Nearest, though none of them fits:" if told else "No tool fits."
    lines = [] if answer.hits else [nothing]
    if answer.hits and answer.requests:
        lines.append(grouped(answer, told))
    else:
        lines += [each.text for each in told]
    lines += [f"note: {one_line(notice)}" for notice in notices]
    hits = [_structured(each) for each in told]
    structured: dict[str, object] = {"hits": hits if answer.hits else []}
    if hits and not answer.hits:
        structured["nearest"] = hits
    if answer.requests:
        structured["requests"] = _requests(answer, told)
    if notices:
        structured["notices"] = list(notices)
    return Telling("\n".join(lines), structured)


def _requests(answer: Answer, told: Sequence[Told]) -> list[dict[str, object]]:
    """Each request with the ids of those of its hits that are told."""
    known = {_name(each.hit) for each in told}
    found: list[dict[str, object]] = []
    for request in answer.requests:
        own = request.answer
        hits = [name for name in map(_name, own.hits) if name in known]
        found.append({"query": heading(request.text), "hits": hits})
        if own.nearest:
            found[-1]["nearest"] = [_name(hit) for hit in own.nearest]
    return found


def _name(hit: Hit) -> str:
    return qualified(hit.namespace, hit.id)


def _structured(told: Told) -> dict[str, object]:
    """What is needed to choose and to call. Source, category and name are the parts of the id."""
    hit = told.hit
    found: dict[str, object] = {
        "id": _name(hit),
        "score": float(as_score(hit.score)),
    }
    if told.detail is Detail.NAME:
        return found
    if hit.signature:
        found["signature"] = clipped(one_line(hit.signature), LONGEST_SIGNATURE)
    if title := title_of(hit):
        found["title"] = clipped(title, LONGEST_SENTENCE)
    found["description"] = clipped(first_sentence(hit.description), LONGEST_SENTENCE)
    return found | _remarks(hit)


def _remarks(hit: Hit) -> dict[str, object]:
    found: dict[str, object] = {}
    if hit.kind is not Kind.TOOL:
        found["kind"] = hit.kind.value
    if hit.tier:
        found["tier"] = hit.tier
    if hit.passage:
        found["passage"] = hit.passage
    if hit.notes:
        found["notes"] = list(hit.notes)
    if hit.like_it:
        found["like_it"] = list(hit.like_it[:MOST_ALIKE])
    return found
