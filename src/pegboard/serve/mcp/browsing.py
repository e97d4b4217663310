"""`list_categories` and `list_tools`: the board without a question."""

from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult

from pegboard.app.pegboard import Pegboard
from pegboard.model.items import qualified
from pegboard.serve.mcp.census import EMPTY, NONE, categories_of, label
from pegboard.serve.mcp.replies import one_line, reply
from pegboard.text import clipped, first_sentence

MOST_CATEGORIES = 300
MOST_LISTED = 200
LISTED = 50
LONGEST_SENTENCE = 120

CATEGORIES_DESCRIPTION = (
    "The categories of each source on the board, with how many tools they have."
)

CATEGORIES_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}

CATEGORIES_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sources": {
            "type": "object",
            "description": "By source and category, how many tools there are.",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
            },
        },
        "total": {"type": "integer"},
        "left_out": {"type": "integer", "description": "Smaller categories that are not shown."},
    },
    "required": ["sources", "total"],
}

TOOLS_DESCRIPTION = """\
The tools of some categories, each with what it does. search_tools is quicker for a purpose."""

_NAME = {"type": "string", "maxLength": 200}

TOOLS_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "category": {
            "anyOf": [_NAME, {"type": "array", "items": _NAME, "maxItems": 100}],
            "description": "As list_categories names them. Default: all.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_LISTED, "default": LISTED},
        "after": {
            "type": "string",
            "maxLength": 600,
            "description": "To go on: what the answer before gave as next.",
        },
    },
    "additionalProperties": False,
}

TOOLS_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {
            "type": "object",
            "description": "By id, what each does.",
            "additionalProperties": {"type": "string"},
        },
        "next": {"type": "string", "description": "There are more: give this as after."},
    },
    "required": ["tools"],
}


def list_categories(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    lines = board.census()
    shown = sorted(lines, key=lambda line: -line.items)[:MOST_CATEGORIES]
    sources: dict[str, dict[str, int]] = {}
    for line in sorted(shown):
        sources.setdefault(line.source, {})[line.category] = line.items
    total, left_out = sum(line.items for line in lines), len(lines) - len(shown)
    told = [
        f"{label(source)}: {', '.join(f'{label(name)} {n:,}' for name, n in categories.items())}"
        for source, categories in sources.items()
    ]
    if left_out:
        told.append(f"note: {left_out:,} smaller categories are not shown; search_tools finds all")
    structured = {"sources": sources, "total": total}
    return reply(
        "\n".join(told) or EMPTY, structured | ({"left_out": left_out} if left_out else {})
    )


def list_tools(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    categories = categories_of(arguments.get("category", ()))
    limit = int(arguments.get("limit", LISTED))
    after = board.show(arguments["after"]) if "after" in arguments else None
    found = board.listed(categories, limit=limit + 1, after=after)
    tools = {
        qualified(each.item.namespace, each.item.id): clipped(
            first_sentence(each.item.description), LONGEST_SENTENCE
        )
        for each in found[:limit]
    }
    told = [f"{one_line(name)}: {sentence}" for name, sentence in tools.items()]
    structured: dict[str, object] = {"tools": tools}
    if len(found) > limit:
        structured["next"] = list(tools)[-1]
        told.append(f"note: there are more; go on with after: {one_line(list(tools)[-1])}")
    if not found:
        told.append(_nothing(board, categories))
    return reply("\n".join(told), structured)


def _nothing(board: Pegboard, categories: Sequence[str]) -> str:
    known = sorted({line.category for line in board.census()})
    if not known:
        return EMPTY
    names = ", ".join(label(name) for name in known[:50])
    asked = ", ".join(one_line(name)[:60] or NONE for name in categories[:10])
    return f"There is nothing more in {asked or 'any category'}. There are: {names}."
