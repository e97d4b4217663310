"""`create_tool`: an agent that lacks a tool makes one, and every agent on the board has it."""

from functools import partial
from typing import Any

from mcp_types import CallToolResult

from pegboard.app.pegboard import Pegboard
from pegboard.board.create.drafts import draft_of
from pegboard.board.create.making import Created
from pegboard.model.calls import CallResult
from pegboard.serve.mcp.replies import failure, one_line, reply
from pegboard.serve.mcp.table import Asked
from pegboard.serve.outward import Said
from pegboard.text import clipped

LONGEST_TEXT = 1_000_000
MOST_FILES = 200
LONGEST_SHOWN = 2_000
UNTRIED = "without try_with it is kept untried"
CODES = {"refused": "refused", "failed": "trial_failed"}
"""The states of a tool that was not made which are errors, by the code that every face has."""

DESCRIPTION = """\
Hang a new tool on the board when search_tools found none; others find it at once. It runs in a \
sandbox, without network or files unless a person allows its permissions. Sent again with \
changes, it is a new version."""

INPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "manifest": {
            "type": "object",
            "description": "tool_id, tool_type, description, category, "
            "parameters [{name, type, description, required}], permissions "
            "[connect network HOST, read filesystem data/**, read secret KEY], executor_config: "
            "python {dependencies}, main.py has run(a, b); bash {entrypoint}, a is $ARG_A; "
            "api {url, method, query, headers, body} with {a} for a.",
        },
        "files": {
            "type": "object",
            "description": "Text by path, such as main.py.",
            "additionalProperties": {"type": "string", "maxLength": LONGEST_TEXT},
            "maxProperties": MOST_FILES,
        },
        "try_with": {
            "type": "object",
            "description": "Arguments to try it with first, without permissions or packages; "
            "if that fails, it is not kept.",
        },
        "anyway": {"type": "boolean", "description": "Also if a tool for the same is there."},
    },
    "required": ["manifest"],
    "additionalProperties": False,
}

OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {"type": "string"},
        "id": {"type": "string"},
        "version": {"type": "string"},
        "reason": {"type": "string"},
        "alike": {"type": "array", "items": {"type": "object"}},
        "trial": {"type": "object"},
    },
    "required": ["state", "id"],
}


async def create_tool(asked: Asked) -> CallToolResult:
    # To the end: half a creation would be none, and nobody would know.
    work = partial(_create, asked.board, asked.arguments)
    if asked.arguments.get("try_with") is None:
        return await asked.threads.run_to_end(work)
    return await asked.threads.run_trial(asked.board.caller, work)


def _create(board: Pegboard, arguments: dict[str, Any]) -> CallToolResult:
    made = board.create(
        draft_of(arguments["manifest"], arguments.get("files", {})),
        anyway=arguments.get("anyway", False),
        try_with=arguments.get("try_with"),
    )
    text, told = "\n".join(in_words(made)), _structured(made)
    if (code := CODES.get(made.state)) is not None:
        return failure(code, _declined(made), text, told)
    return reply(text, told)


def _declined(made: Created) -> Said:
    if made.state == "failed":
        return Said(f"{_name(made)} was not kept: trying it failed", UNTRIED)
    return Said(f"{_name(made)} was refused: {made.reason}", "")


def _name(made: Created) -> str:
    return f"{made.id}@{made.version}" if made.version else made.id


def in_words(made: Created) -> list[str]:
    name = _name(made)
    match made.state:
        case "created" | "updated":
            lines = [f"{made.state} {name}: it can be found and called now"]
        case "unchanged":
            lines = [f"{name} is on the board already, just so"]
        case "alike":
            lines = ["nothing was made: look at what is there first, and use it if it serves"]
            lines += [
                f"- {hit.id} ({hit.score:.2f}): {_first(hit.description)}" for hit in made.alike
            ]
            lines.append("if none does, make it with anyway: true")
        case _:
            lines = ["; ".join(filter(None, _declined(made)))]
    if made.trial is not None:
        said = (made.trial.error, made.trial.logs, *made.trial.texts)
        lines += [f"tried it: {made.trial.outcome}", *filter(None, said)]
    return [clipped(line, LONGEST_SHOWN) for line in lines]


def _first(description: str) -> str:
    return clipped(one_line(description), 200)


def _structured(made: Created) -> dict[str, Any]:
    alike = [{"id": hit.id, "score": hit.score} for hit in made.alike]
    trial = made.trial and _tried(made.trial)
    said = {"version": made.version, "reason": made.reason, "alike": alike, "trial": trial}
    return {"state": made.state, "id": made.id} | {k: v for k, v in said.items() if v}


def _tried(trial: CallResult) -> dict[str, Any]:
    said = {"error": trial.error, "logs": trial.logs}
    told = {name: clipped(text, LONGEST_SHOWN) for name, text in said.items() if text}
    return {"outcome": trial.outcome, "structured": trial.structured, **told}
