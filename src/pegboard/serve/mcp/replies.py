"""Answers to a tool call, as MCP sends them."""

import json
from collections.abc import Mapping

from mcp_types import CallToolResult, TextContent

from pegboard.errors import ItemNotFound, PegboardError
from pegboard.serve.outward import Said, outward

LOOK = "look for it with search_tools"
COMMAND = "pegboard "
"""A hint with this in it is for a command line, which an agent can only pass on to a person."""
FOR_A_PERSON = "a person can "


def text_block(text: str) -> TextContent:
    """What cannot be written as UTF-8, such as an odd file name in an error, must not end us."""
    return TextContent(text=text.encode("utf-8", "replace").decode())


def reply(text: str, structured: Mapping[str, object] | None = None) -> CallToolResult:
    return CallToolResult(content=[text_block(text)], structured_content=structured)


def failure(
    code: str, said: Said, text: str, structured: Mapping[str, object] | None = None
) -> CallToolResult:
    """In words for the agent; what every face says of an error is beside them, for programs.

    The structured content is no place for that: it has to be what the output schema says.
    """
    return CallToolResult(
        content=[text_block(text)],
        structured_content=structured,
        is_error=True,
        _meta={"pegboard": {"error": {"code": code, **said._asdict()}}},
    )


def failed(error: PegboardError, *, outside: bool = False) -> CallToolResult:
    said = for_agents(error, outside=outside)
    return failure(error.code, said, in_words(said))


def for_agents(error: PegboardError, *, outside: bool = False) -> Said:
    """What is wrong, and the next step; an agent has tools where a person has commands."""
    said = outward(error) if outside else Said(error.message, error.hint)
    of_a_shell = COMMAND in said.hint and not said.hint.startswith(FOR_A_PERSON)
    if isinstance(error, ItemNotFound) and (not said.hint or of_a_shell):
        return said._replace(hint=LOOK)
    return said


def in_words(said: Said) -> str:
    return f"{said.message}\n  {said.hint}" if said.hint else said.message


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
