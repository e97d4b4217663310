"""`describe_tool`: everything a caller needs to know about one tool, or about a few."""

from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult

from pegboard.app.pegboard import Pegboard
from pegboard.errors import ItemAmbiguous, ItemNotFound
from pegboard.model.calls import Health
from pegboard.model.items import CREATED, Drift, Entry, Item, qualified
from pegboard.serve.mcp.abridging import abridged
from pegboard.serve.mcp.replies import compact_json, for_agents, in_words, one_line, reply
from pegboard.text import clipped

MOST_NAMES = 10
LONGEST_NAME = 600
MOST_LETTERS = 60_000
"""Of descriptions, texts and schemas in one answer; the tools share it."""
MOST_TAGS = 20
MOST_FILES = 50
LONGEST_TAG = 60
LONGEST_REASON = 300

DESCRIPTION = """\
All about a tool before you call it: parameters as JSON Schema, whole description, type, tags, \
and whether something is the matter with it; of what is only read, the whole text."""

_NAME = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}

INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {
            "anyOf": [
                _NAME,
                {"type": "array", "items": _NAME, "minItems": 1, "maxItems": MOST_NAMES},
            ],
            "description": "An id as search_tools gives it, or a name; or several.",
        }
    },
    "required": ["name"],
    "additionalProperties": False,
}

_TEXTS = {"type": "array", "items": {"type": "string"}}

OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"type": "string"},
                    "tool_type": {"type": "string"},
                    "title": {"type": "string"},
                    "description": {"type": "string"},
                    "tags": _TEXTS,
                    "input_schema": {"type": "object"},
                    "output_schema": {"type": "object"},
                    "text": {"type": "string"},
                    "files": _TEXTS,
                    "notes": _TEXTS,
                },
                "required": ["id", "kind", "description", "input_schema"],
            },
        },
        "errors": _TEXTS,
    },
    "required": ["tools"],
}


def describe_tool(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    asked = arguments["name"]
    names = [asked] if isinstance(asked, str) else list(dict.fromkeys(asked))
    down = {
        server.config.name: server.state.error
        for server in board.servers()
        if server.state.health is Health.DOWN
    }
    tools, missing = list[dict[str, Any]](), list[ItemNotFound | ItemAmbiguous]()
    for name in names:
        try:
            tools.append(_told(board.show(name), down, MOST_LETTERS // len(names)))
        except (ItemNotFound, ItemAmbiguous) as error:
            missing.append(error)
    if not tools:
        first = missing[0]
        raise type(first)("; ".join(each.message for each in missing), first.hint)
    errors = [in_words(for_agents(each)) for each in missing]
    text = "\n".join([*map(_text, tools), *errors])
    return reply(text, {"tools": tools} | ({"errors": errors} if errors else {}))


def _told(entry: Entry, down: Mapping[str, str], room: int) -> dict[str, Any]:
    item = entry.item
    said = item.description.strip()
    description = clipped(said, room // 4)
    text = clipped(item.document, room // 2)
    asks = abridged(item.input_schema, room // (4 if text else 2))
    gives = abridged(item.output_schema, room // 4)
    notes = _state(entry, down)
    if description != said:
        notes.append("the description is cut short")
    if text != item.document:
        notes.append("the text is cut short")
    if asks is not item.input_schema:
        notes.append("the input schema is shown in part; call_tool checks against the whole of it")
    if gives is not item.output_schema:
        notes.append("the output schema is shown in part")
    told = {
        "id": qualified(item.namespace, item.id),
        "kind": item.kind.value,
        "tool_type": item.tool_type.value if item.tool_type else "",
        "title": "" if _repeats(said, item.title) else item.title,
        "description": description,
        "tags": [clipped(tag, LONGEST_TAG) for tag in item.tags[:MOST_TAGS]],
        "input_schema": asks,
        "output_schema": gives,
        "text": text,
        "files": _files(item),
        "notes": notes,
    }
    always = OUTPUT_SCHEMA["properties"]["tools"]["items"]["required"]
    return {name: value for name, value in told.items() if value or name in always}


def _repeats(description: str, title: str) -> bool:
    """Whether a description begins with the title, as that of an OpenAPI operation does."""
    return description.casefold().startswith(title.rstrip(".").casefold())


def _files(item: Item) -> list[str]:
    """What lies beside the text of a skill, for whoever can read the folder."""
    if not item.document or item.version is None:
        return []
    paths = [each.path for each in item.version.files]
    return paths[:MOST_FILES] if len(paths) > 1 else []


def _state(entry: Entry, down: Mapping[str, str]) -> list[str]:
    """What to know before calling it."""
    notes = []
    if not entry.active:
        notes.append("it is not on the board at present")
    if entry.drift is not Drift.NONE:
        notes.append(
            "it changed since it was approved"
            if entry.drift is Drift.CHANGED
            else "its source no longer has it"
        )
    if (signature := entry.item.signature) is not None and signature.doubtful:
        notes.append(f"its signature is not trusted: {one_line(signature.state)}")
    if entry.item.source == CREATED and entry.item.signature is None:
        notes.append("an agent made it, and nobody signed it")
    if (why := down.get(entry.item.source)) is not None:
        reason = clipped(one_line(why), LONGEST_REASON)
        notes.append(f"its server {entry.item.source} is down: {reason}".rstrip(": "))
    return notes


def _text(told: Mapping[str, Any]) -> str:
    """Only the id stands at the margin, so that no description can be taken for another tool."""
    kind = " ".join(filter(None, (told.get("tool_type"), told["kind"])))
    head = f"{one_line(told['id'])} ({kind})"
    lines = [f"note: {note}" for note in told.get("notes", ())]
    if "title" in told:
        lines.append(f"title: {one_line(told['title'])}")
    lines += [line.rstrip() for line in told["description"].splitlines()]
    if "tags" in told:
        lines.append(f"tags: {one_line(', '.join(told['tags']))}")
    if told["input_schema"] or "text" not in told:
        lines.append(f"input schema: {compact_json(told['input_schema'])}")
    if "output_schema" in told:
        lines.append(f"output schema: {compact_json(told['output_schema'])}")
    if "files" in told:
        lines.append(f"files: {one_line(', '.join(told['files']))}")
    lines = [f"  {line}" for line in lines if line]
    if "text" in told:
        lines += ["  text:", *(f"  {line}".rstrip() for line in told["text"].splitlines())]
    return "\n".join([head, *lines])
