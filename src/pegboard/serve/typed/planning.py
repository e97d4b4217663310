"""Tools as functions with names and types: all that both languages have in common.

Tools are named in the order in which they are given. Whoever appends to a set renames nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from pegboard.execute.policy import is_service
from pegboard.model.items import Item
from pegboard.serve.typed.naming import Names, pascal
from pegboard.serve.typed.prose import about
from pegboard.serve.typed.reading import Definitions, Reader
from pegboard.serve.typed.shapes import (
    ANY,
    NEVER,
    Choice,
    Field,
    Named,
    Record,
    Shape,
    alternatives,
    either,
)

RESULT = "result"
"""What a result that is no object is wrapped as."""


class Style(NamedTuple):
    """How a language writes names."""

    member: Callable[[str], str]
    """Of groups and functions."""
    joined: Callable[[str, str], str]
    """A member's name, and what tells it from another."""
    unfit: frozenset[str]
    """Names that no member may have."""
    taken: frozenset[str]
    """Names of types that the module has already."""


class Type(NamedTuple):
    name: str
    shape: Shape
    doc: str = ""
    root: bool = False
    """Whether it is all that a tool takes, told with the tool itself."""


class Function(NamedTuple):
    item: Item
    group: str
    name: str
    path: str
    """What its gateway calls it, in an address."""
    takes: Type | None
    """None if it takes nothing."""
    gives: Type
    optional: bool
    """Whether it can be called without any arguments."""
    unwraps: bool
    """Whether a result of the form `{"result": ...}` is only wrapped."""


@dataclass(slots=True)
class Plan:
    functions: list[Function] = field(default_factory=list)
    by_key: dict[str, str] = field(default_factory=dict)
    """The names of definitions."""
    shapes: dict[str, Shape] = field(default_factory=dict)

    def resolved(self, shape: Shape) -> Shape:
        while isinstance(shape, Named):
            shape = self.shapes[shape.key]
        return shape

    def groups(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for each in sorted(self.functions, key=lambda f: (f.group, f.name)):
            found.setdefault(each.group, []).append(each)
        return found


class Planner:
    def __init__(self, style: Style, types: Names) -> None:
        self.plan = Plan()
        self._style = style
        self._types = types
        self._groups: dict[str, tuple[str, Names]] = {}
        self._kept = Definitions()

    def add(self, item: Item) -> tuple[Function, list[Type]]:
        """The function that calls a tool, and the types that nobody needed before."""
        group, name = self._named(item)
        stem = pascal(f"{item.category or item.scope} {_own_name(item)}", "Tool")
        seed = item.reference
        scoped = f"{pascal(item.scope)}{stem}"
        takes = self._types.take(seed, f"{stem}Input", f"{scoped}Input")
        gives = self._types.take(seed, f"{stem}Output", f"{scoped}Output")
        asked, met = self._read(item.input_schema)
        given, more = self._read(item.output_schema)
        found = self._defined(item, [*met, *more], stem)
        shape = self._arguments(item, asked)
        given, unwraps = self._answer(given)
        function = Function(
            item,
            group,
            name,
            quote(seed, safe=""),
            None if _nothing(item, shape) else Type(takes, shape, root=True),
            Type(gives, given, about(item.output_schema)),
            isinstance(shape, Record) and not any(each.required for each in shape.fields),
            unwraps,
        )
        self.plan.functions.append(function)
        return function, found

    def _named(self, item: Item) -> tuple[str, str]:
        style = self._style
        group = self._fit(style.member(item.category or item.scope))
        group, members = self._groups.setdefault(group.casefold(), (group, Names()))
        plain = self._fit(style.member(_own_name(item)))
        seed = item.reference
        wanted = [plain, style.joined(plain, item.scope), style.joined(plain, item.namespace)]
        return group, members.take(seed, *wanted)

    def _fit(self, name: str) -> str:
        return f"{name}_" if name in self._style.unfit else name

    def _read(self, schema: Mapping[str, object]) -> tuple[Shape, list[str]]:
        if not schema:
            return ANY, []
        reader = Reader(schema, self._kept)
        return reader.read(), reader.met

    def _defined(self, item: Item, keys: Sequence[str], stem: str) -> list[Type]:
        """What has no name of its own is all that a tool takes or gives, and called after it."""
        plan, found = self.plan, []
        for key in keys:
            definition = self._kept.by_key[key]
            shape = plan.shapes[key] = definition.shape or ANY
            if isinstance(shape, Named):
                continue  # only another word for something that has a name
            base = pascal(definition.name) or stem
            plan.by_key[key] = self._types.take(key, base, f"{pascal(item.scope)}{base}")
            found.append(Type(plan.by_key[key], shape, definition.doc))
        for key in keys:
            plan.by_key.setdefault(key, plan.by_key[self._kept.end(key)])
        return found

    def _arguments(self, item: Item, asked: Shape) -> Shape:
        """Arguments are an object. What is not given and has a default is filled in by Pegboard."""
        objects = [
            each
            for each in alternatives(asked)
            if isinstance(self.plan.resolved(each), Record | Choice)
        ]
        shape = either(objects) if objects else Record()
        properties = item.input_schema.get("properties")
        if not isinstance(shape, Record) or not isinstance(properties, Mapping):
            return shape
        filled = set() if is_service(item) else {n for n, p in properties.items() if _default(p)}
        fields = [
            Field(f.name, f.shape, f.required and f.name not in filled, f.doc) for f in shape.fields
        ]
        return Record(tuple(fields), shape.others)

    def _answer(self, given: Shape) -> tuple[Shape, bool]:
        """A server that wraps what it gives says so in its schema; then it is what is inside."""
        whole = self.plan.resolved(given)
        if isinstance(whole, Record) and [each.name for each in whole.fields] == [RESULT]:
            return whole.fields[0].shape, True
        ends = [self.plan.resolved(each) for each in alternatives(whole)]
        records = [each for each in ends if isinstance(each, Record)]
        has_result = any(field.name == RESULT for each in records for field in each.fields)
        return given, not has_result


def _own_name(item: Item) -> str:
    """Without the category, where that is its first part: `issues/create` of `issues`."""
    for mark in "/.:":
        if item.category and item.name.startswith(f"{item.category}{mark}"):
            return item.name[len(item.category) + 1 :] or item.name
    return item.name


def _nothing(item: Item, shape: Shape) -> bool:
    if not isinstance(shape, Record) or shape.fields:
        return False
    return shape.others is NEVER or (shape.others is None and "properties" in item.input_schema)


def _default(part: object) -> bool:
    return isinstance(part, Mapping) and "default" in part
