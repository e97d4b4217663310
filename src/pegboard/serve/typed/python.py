"""A module in Python. It needs nothing but the standard library of Python 3.11."""

import builtins
from collections.abc import Sequence
from pathlib import Path

from pegboard.model.items import Item
from pegboard.serve.typed.naming import KEYWORDS, Names, pascal, several, snake
from pegboard.serve.typed.planning import Function, Plan, Planner, Style, Type
from pegboard.serve.typed.prose import about_tool
from pegboard.serve.typed.python_types import (
    Writer,
    arguments_doc,
    as_keywords,
    docstring,
    literal,
    value_of,
)
from pegboard.serve.typed.sampling import sample
from pegboard.serve.typed.shapes import ANY, Named, Record, Shape

CLIENT = Path(__file__).parent / "clients" / "client.py.txt"
PLACE = '"@GATEWAY@"'
END_OF_IMPORTS = "\n\n\n"
EMPTY = "    pass\n"

STYLE = Style(
    member=snake,
    joined=lambda name, more: f"{name}_{snake(more)}",
    unfit=KEYWORDS,
    taken=several(
        "annotations Any ApprovalNeeded Callable CallResult Literal Mapping Never NotRequired"
        " ToolError Tools TypeAlias TypedDict Unpack cast configure call_tool http json os tools"
        " urllib"
    )
    | frozenset(dir(builtins)),
)


def python_module(items: Sequence[Item], gateway: str, *, note: str = "") -> str:
    """The module for these tools; `note` says what else there is to know about it."""
    types = Names(STYLE.taken)
    planner = Planner(STYLE, types)
    plan = planner.plan
    writer = Writer(plan.by_key, types)
    declared: list[tuple[str, str]] = []
    for item in items:
        function, defined = planner.add(item)
        own = [
            each for each in (function.takes, function.gives) if each and not _is_short(each.shape)
        ]
        declared += [line for each in [*own, *defined] for line in writer.declare(each)]
    shown = "\n\n".join(text for _, text in sorted(declared))
    groups = plan.groups()
    classes = {name: types.take(name, f"{pascal(name)}Tools") for name in groups}
    client = CLIENT.read_text("utf-8").replace(PLACE, literal(gateway), 1)
    imports, _, rest = client.partition(END_OF_IMPORTS)
    parts = [
        f"{_header(len(items), note)}{imports}\n",
        *(_group(classes[name], found, plan) for name, found in groups.items()),
        _tools(classes),
        shown,
        rest.lstrip(),
    ]
    return "\n\n".join(filter(None, parts))


def python_calls(items: Sequence[Item]) -> list[str]:
    """A call of each tool with the module for all of them: with what it cannot do without."""
    planner = Planner(STYLE, Names(STYLE.taken))
    functions = [planner.add(item)[0] for item in items]
    return [_called(each, planner.plan) for each in functions]


def python_usage(items: Sequence[Item]) -> str:
    """How the first of these tools is called with the module for all of them."""
    return f"from tools import tools\n\nresult = {python_calls(items)[0]}\nprint(result)\n"


def _called(function: Function, plan: Plan) -> str:
    takes, passed = function.takes, ""
    if takes is not None and not function.optional:
        found = sample(takes.shape, "", plan.resolved)
        passed = value_of(found)
        if isinstance(found, dict) and as_keywords(plan.resolved(takes.shape)):
            passed = ", ".join(f"{name}={value_of(each)}" for name, each in found.items())
    return f"tools.{function.group}.{function.name}({passed})"


def _header(count: int, note: str) -> str:
    what = "1 tool" if count == 1 else f"{count:,} tools"
    said = f"Made by Pegboard: {what}. A change made here is lost when it is made again."
    return docstring(f"{said}\n\n{note}", "    ").lstrip()


def _is_short(shape: Shape) -> bool:
    """Whether it needs no name of its own. Names of types hide no function of the same name."""
    return shape is ANY or isinstance(shape, Named)


def _group(name: str, functions: Sequence[Function], plan: Plan) -> str:
    return f"class {name}:\n" + "\n".join(_function(each, plan) for each in functions)


def _function(function: Function, plan: Plan) -> str:
    given, takes = _shown(function.gives, plan), function.takes
    said, passed = "self", "{}"
    if takes is not None:
        shown = _shown(takes, plan)
        passed = "arguments"
        if as_keywords(plan.resolved(takes.shape)):
            said = f"self, /, **arguments: Unpack[{shown}]"
        else:
            said = f"self, arguments: {shown}{' = {}' if function.optional else ''}, /"
    whole = plan.resolved(takes.shape) if takes else None
    fields = whole.fields if isinstance(whole, Record) else ()
    doc = docstring(about_tool(function.item, arguments_doc(fields)), "        ")
    value = f"_call({literal(function.path)}, {passed}, {function.unwraps})"
    shown_value = value if given == "Any" else f"cast({given}, {value})"
    return f"    def {function.name}({said}) -> {given}:\n{doc}        return {shown_value}\n"


def _shown(found: Type, plan: Plan) -> str:
    if found.shape is ANY:
        return "Any"
    return plan.by_key[found.shape.key] if isinstance(found.shape, Named) else found.name


def _tools(classes: dict[str, str]) -> str:
    lines = "".join(f"    {group} = {name}()\n" for group, name in classes.items())
    return f"class Tools:\n{lines or EMPTY}\n\ntools = Tools()\n"
