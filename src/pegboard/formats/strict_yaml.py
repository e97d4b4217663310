"""YAML as data: the core schema of YAML 1.2, built from the parser's events, one after another.

No tags, no dates, no `yes` for true, no key twice. Nothing here recurses, so that no depth can do
harm, and what an alias repeats is counted as if it were written out.
"""

import math
import re
from typing import Any

import yaml

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
LONGEST_NUMBER = 400
MAX_DEPTH = 100
MAX_NODES = 5_000_000
"""Nodes of a document, with those that aliases repeat."""


class YamlError(ValueError):
    """Why a text is no YAML, and where."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.problem = problem
        self.line = line
        self.column = column


def load(text: str, *, max_nodes: int = MAX_NODES) -> object:
    """The one document in a text, made of dicts with text keys, lists, text, numbers and None.

    Raises `YamlError`.
    """
    builder = _Builder(max_nodes)
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise YamlError(said or "it is no YAML", *_place(mark)) from error
    except yaml.reader.ReaderError as error:
        code = error.character
        raise _unreadable(text, code if isinstance(code, str) else chr(code)) from error
    except UnicodeEncodeError as error:
        raise _unreadable(text, text[error.start]) from error
    return builder.root


def _unreadable(text: str, character: str) -> YamlError:
    before = text.partition(character)[0]
    problem = f"the character U+{ord(character):04X} may not stand in YAML"
    return YamlError(problem, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _place(mark: Any) -> tuple[int, int]:  # noqa: ANN401 (the C parser has a mark of its own)
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


class _Open:
    """A list or mapping that has begun and not ended."""

    __slots__ = ("anchor", "before", "key", "merged", "value")

    def __init__(self, value: Any, anchor: str | None, before: int) -> None:  # noqa: ANN401 (either)
        self.value = value
        self.anchor = anchor
        self.before = before
        """How many nodes came before it."""
        self.key: str | None = None
        """Of a mapping: the one that waits for its value."""
        self.merged: set[str] = set()
        """Keys that `<<` brought, which may be written over."""


class _Builder:
    def __init__(self, max_nodes: int) -> None:
        self.root: object = None
        self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[object, int]] = {}
        self._nodes = 0
        self._max_nodes = max_nodes

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._count(event, 1)
            self._add(_scalar(event), event, event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            ended = self._open.pop()
            self._add(ended.value, event, ended.anchor, self._nodes - ended.before)
        elif isinstance(event, yaml.AliasEvent):
            self._repeat(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlError("a second document begins here", *_place(event.start_mark))

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        self._count(event, 1)
        _refuse_tag(event.tag, event)
        if len(self._open) >= MAX_DEPTH:
            problem = f"nested deeper than {MAX_DEPTH} levels"
            raise YamlError(problem, *_place(event.start_mark))
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append(_Open(value, event.anchor, self._nodes - 1))

    def _repeat(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            problem = f"the alias *{event.anchor} stands for nothing that came before it"
            raise YamlError(problem, *_place(event.start_mark))
        value, size = self._anchors[event.anchor]
        self._count(event, size)
        self._add(value, event, None, size)

    def _count(self, event: yaml.Event, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > self._max_nodes:
            problem = f"more than {self._max_nodes:,} values, counting what aliases repeat"
            raise YamlError(problem, *_place(event.start_mark))

    def _add(self, value: object, event: yaml.Event, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = value, size
        if not self._open:
            self.root = value
            return
        within = self._open[-1]
        if isinstance(within.value, list):
            within.value.append(value)
        elif within.key is None:
            within.key = _key(value, event)
        else:
            key, within.key = within.key, None
            _put(within, key, value, event)


def _key(value: object, event: yaml.Event) -> str:
    """JSON has only text for keys: `200:` becomes "200"."""
    if isinstance(value, dict | list):
        raise YamlError("a key must be text, not a list or mapping", *_place(event.start_mark))
    if isinstance(value, str):
        return value
    return str(event.value) if isinstance(event, yaml.ScalarEvent) else str(value)


def _put(within: _Open, key: str, value: object, event: yaml.Event) -> None:
    if key == "<<" and isinstance(value, dict | list):
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            inherited = part if isinstance(part, dict) else {}
            new = {name: each for name, each in inherited.items() if name not in within.value}
            within.value.update(new)
            within.merged.update(new)
        return
    if key in within.value and key not in within.merged:
        raise YamlError(f"the key {key!a} stands here twice", *_place(event.start_mark))
    within.merged.discard(key)
    within.value[key] = value


def _scalar(event: yaml.ScalarEvent) -> object:
    text: str = event.value
    _refuse_tag(event.tag, event)
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789" or len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


_KNOWN_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")
)


def _refuse_tag(tag: str | None, event: yaml.Event) -> None:
    if tag is not None and tag != "!" and tag not in _KNOWN_TAGS:
        raise YamlError(f"the tag {tag!a} is not known here", *_place(event.start_mark))
