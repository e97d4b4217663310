"""A module in TypeScript. It needs nothing but `fetch`, and is JavaScript without its types."""

from collections.abc import Sequence
from pathlib import Path

from pegboard.model.items import Item
from pegboard.serve.typed.naming import OF_OBJECTS, Names, camel, pascal, several
from pegboard.serve.typed.planning import Function, Plan, Planner, Style, Type
from pegboard.serve.typed.prose import about_tool
from pegboard.serve.typed.sampling import sample
from pegboard.serve.typed.shapes import Named, Plain
from pegboard.serve.typed.typescript_types import (
    comment,
    literal,
    property_name,
    quoted,
    text_of,
)

CLIENT = Path(__file__).parent / "clients" / "client.ts"
PLACE = '"@GATEWAY@"'

STYLE = Style(
    member=camel,
    joined=lambda name, more: f"{name}{pascal(more)}",
    unfit=OF_OBJECTS,
    taken=several(
        "Any Answer ApprovalNeeded Array ArrayBuffer Awaited BigInt Boolean CallResult"
        " Configuration Date Error Exclude Extract Function Map Never Null Number Object Omit"
        " Partial Pick Platform Promise PromiseLike Readonly Record RegExp Request Required"
        " Response Set String Symbol ToolError Undefined Unknown Void"
    ),
)


def typescript_module(items: Sequence[Item], gateway: str, *, note: str = "") -> str:
    """The module for these tools; `note` says what else there is to know about it."""
    planner = Planner(STYLE, Names(STYLE.taken))
    types: list[Type] = []
    for item in items:
        function, defined = planner.add(item)
        types += [*_own_types(function), *defined]
    plan = planner.plan
    shown = "\n".join(_type(each, plan.by_key) for each in sorted(types))
    groups = "".join(_group(name, found, plan.by_key) for name, found in plan.groups().items())
    client = CLIENT.read_text("utf-8").replace(PLACE, quoted(gateway), 1)
    tools = f"export const tools = {{\n{groups}}};\n"
    return "\n".join(filter(None, (_header(len(items), note), tools, shown, client)))


def typescript_calls(items: Sequence[Item]) -> list[str]:
    """A call of each tool with the module for all of them: with what it cannot do without."""
    planner = Planner(STYLE, Names(STYLE.taken))
    functions = [planner.add(item)[0] for item in items]
    return [_called(each, planner.plan) for each in functions]


def typescript_usage(items: Sequence[Item]) -> str:
    """How the first of these tools is called with the module for all of them."""
    called = typescript_calls(items)[0]
    return (
        'import { tools } from "./tools.ts";\n\n'
        f"const result = await {called};\nconsole.log(result);\n"
    )


def _called(function: Function, plan: Plan) -> str:
    takes, passed = function.takes, ""
    if takes is not None and not function.optional:
        passed = literal(sample(takes.shape, "", plan.resolved))
    return f"tools{_member(function.group)}{_member(function.name)}({passed})"


def _header(count: int, note: str) -> str:
    what = "1 tool" if count == 1 else f"{count:,} tools"
    said = f"Made by Pegboard: {what}. A change made here is lost when it is made again.\n{note}"
    return f"/* eslint-disable */\n{comment(said)}"


def _member(name: str) -> str:
    shown = property_name(name)
    return f".{name}" if shown == name else f"[{shown}]"


def _own_types(function: Function) -> list[Type]:
    found = [] if function.takes is None else [function.takes]
    return found if _is_short(function.gives) else [*found, function.gives]


def _is_short(found: Type) -> bool:
    """Whether it needs no name of its own."""
    return isinstance(found.shape, Plain | Named)


def _type(found: Type, names: dict[str, str]) -> str:
    return f"{comment(found.doc)}export type {found.name} = {text_of(found.shape, names)};\n"


def _group(name: str, functions: Sequence[Function], names: dict[str, str]) -> str:
    shown = "".join(_function(each, names) for each in functions)
    return f"  {property_name(name)}: {{\n{shown}  }},\n"


def _function(function: Function, names: dict[str, str]) -> str:
    gives = function.gives
    given = text_of(gives.shape, names) if _is_short(gives) else gives.name
    said, passed = "", "{}"
    if function.takes is not None:
        said = f"args: {function.takes.name}{' = {}' if function.optional else ''}"
        passed = "args"
    unwraps = "true" if function.unwraps else "false"
    return (
        f"{comment(about_tool(function.item), '    ')}"
        f"    {property_name(function.name)}: ({said}): Promise<{given}> =>\n"
        f"      call({quoted(function.path)}, {passed}, {unwraps}),\n"
    )
