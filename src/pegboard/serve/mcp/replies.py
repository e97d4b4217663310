"""Answers to a tool call, as MCP sends them."""

import json
from collections.abc import Mapping

from mcp_types import CallToolResult, TextContent

from pegboard.errors import ItemNotFound, PegboardError
from pegboard.serve.outward import Said, outward


def text_block(text: str) -> TextContent:
    """What cannot be written as UTF-8, such as an odd file name in an error, must not end us."""
    return TextContent(text=text.encode("utf-8", "replace").decode())


def reply(text: str, structured: Mapping[str, object] | None = None) -> CallToolResult:
    return CallToolResult(content=[text_block(text)], structured_content=structured)


def failure(text: str) -> CallToolResult:
    return CallToolResult(content=[text_block(text)], is_error=True)


def failed(error: PegboardError, *, outside: bool = False) -> CallToolResult:
    """In words for the agent; what every face says of an error is beside them, for programs.

    Not as structured content: that has to be what the tool's output schema says.
    """
    told = outward(error) if outside else Said(error.message, error.hint)
    meta = {"pegboard": {"error": {"code": error.code, **told._asdict()}}}
    shown = PegboardError(*told) if outside and type(error) is not ItemNotFound else error
    return CallToolResult(content=[text_block(in_words(shown))], is_error=True, _meta=meta)


def in_words(error: PegboardError) -> str:
    """What is wrong, and the next step; an agent has tools where a person has commands."""
    if isinstance(error, ItemNotFound):
        return f"{error.message}\n  look for it with search_tools"
    return str(error)


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
