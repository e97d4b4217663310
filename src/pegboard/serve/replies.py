"""Answers to a tool call, as MCP sends them."""

import json
from collections.abc import Mapping, Sequence

from mcp_types import CallToolResult, ContentBlock, TextContent

from pegboard.errors import PegboardError


def text_block(text: str) -> TextContent:
    """What cannot be written as UTF-8, such as an odd file name in an error, must not end us."""
    return TextContent(text=text.encode("utf-8", "replace").decode())


def reply(text: str, structured: Mapping[str, object] | None = None) -> CallToolResult:
    return CallToolResult(content=[text_block(text)], structured_content=structured)


def failure(content: Sequence[ContentBlock], structured: object = None) -> CallToolResult:
    return CallToolResult(content=list(content), structured_content=structured, is_error=True)


def refusal(error: PegboardError) -> CallToolResult:
    """An error that an agent can act on: what is wrong, and the next step."""
    return failure([text_block(str(error))])


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
