"""Shapes as Python. A record has to have a name there, so those inside of others are lifted out."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from pegboard.serve.typed.naming import Names, fits_python, pascal
from pegboard.serve.typed.planning import Type
from pegboard.serve.typed.prose import is_seen, lines_of
from pegboard.serve.typed.shapes import (
    ANY,
    Choice,
    Exactly,
    Field,
    Listed,
    Named,
    Plain,
    Record,
    Row,
    Shape,
    either,
    within,
)

_PLAIN = {
    Plain.ANY: "Any",
    Plain.NEVER: "Never",
    Plain.NULL: "None",
    Plain.BOOLEAN: "bool",
    Plain.INTEGER: "int",
    Plain.NUMBER: "float",
    Plain.STRING: "str",
}
LONGEST_NAME = 120
_WORD = re.compile(r"[^\W\d]\w*")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Writer:
    """Writes types as declarations, and all that has to be declared for them."""

    def __init__(self, names: Mapping[str, str], types: Names) -> None:
        self._names = names
        self._types = types
        self._declared: list[tuple[str, str]] = []

    def declare(self, found: Type) -> list[tuple[str, str]]:
        """Names and declarations, in no order: everything may refer to what comes later."""
        self._declared = []
        if isinstance(found.shape, Record) and found.shape.fields:
            self._declare(found.name, found.shape, found.doc, told=not found.root)
        else:
            shown = self._text(found.shape, found.name)
            doc = docstring(found.doc, "    ")
            alias = f"{found.name}: TypeAlias = {shown!r}\n"
            self._declared.append((found.name, f"{alias}{doc.lstrip()}" if doc else alias))
        return self._declared

    def _declare(self, name: str, record: Record, doc: str, *, told: bool = True) -> None:
        shown = {each.name: self._annotation(each, name) for each in record.fields}
        whole = docstring(doc, "    ")
        if _fits_a_class(shown):
            docs = {f.name: docstring(f.doc, "    ") if told else "" for f in record.fields}
            body = "".join(f"    {each}: {text}\n{docs[each]}" for each, text in shown.items())
            text = f"class {name}(TypedDict):\n{whole}{body}"
        else:
            body = "".join(f"        {literal(k)}: {v!r},\n" for k, v in shown.items())
            text = f'{name} = TypedDict(\n    "{name}",\n    {{\n{body}    }},\n)\n'
            fields = "\n".join(_listed(f) for f in record.fields if told and f.doc)
            text += docstring("\n\n".join(filter(None, (doc, fields))), "    ").lstrip()
        self._declared.append((name, text))

    def _annotation(self, field: Field, owner: str) -> str:
        shown = self._text(field.shape, f"{owner}{pascal(field.name, 'Value')}")
        return shown if field.required else f"NotRequired[{shown}]"

    def _text(self, shape: Shape, path: str) -> str:
        """`path` is what a record is called after that has no name."""
        match shape:
            case Plain():
                return _PLAIN[shape]
            case Exactly(value):
                return _exactly(json.loads(value))
            case Named(key):
                return self._names[key]
            case Listed(each):
                return f"list[{self._text(each, f'{path}Item')}]"
            case Row(first, _, rest):
                return f"list[{self._text(either((*first, rest)), f'{path}Item')}]"
            case Choice(shapes):
                return self._choice(shapes, path)
            case Record():
                return self._record(shape, path)

    def _choice(self, shapes: tuple[Shape, ...], path: str) -> str:
        literals, others = list[str](), list[str]()
        records = [each for each in shapes if isinstance(each, Record) and each.fields]
        for each in _merged(shapes):
            number = records.index(each) + 1 if len(records) > 1 and each in records else None
            text = self._text(each, f"{path}Option{number}" if number else path)
            exact = isinstance(each, Exactly) and text.startswith("Literal[")
            literals += [text[len("Literal[") : -1]] if exact else []
            others += [] if exact else [text]
        shown = [f"Literal[{', '.join(literals)}]"] if literals else []
        return " | ".join(dict.fromkeys([*shown, *others]))

    def _record(self, record: Record, path: str) -> str:
        if not record.fields:
            return f"dict[str, {self._text(_values(record), f'{path}Value')}]"
        name = self._types.take(path, _shortened(path))
        self._declare(name, record, "")
        return name


def _merged(shapes: tuple[Shape, ...]) -> list[Shape]:
    """With one list and one map at most: mypy does not see which of several a literal is."""
    lists = [each for each in shapes if isinstance(each, Listed | Row)]
    maps = [each for each in shapes if isinstance(each, Record) and not each.fields]
    found = [each for each in shapes if each not in lists and each not in maps]
    if lists:
        found.append(Listed(either(part for each in lists for part in within(each))))
    if maps:
        found.append(Record((), either(_values(each) for each in maps)))
    return found


def _values(record: Record) -> Shape:
    return ANY if record.others is None else record.others


def docstring(text: str, indent: str) -> str:
    """With its line end, or nothing. No line begins at the margin, where mypy reads orders."""
    lines = [_uncoded(line) for line in lines_of(text)]
    if not lines:
        return ""
    if len(lines) == 1 and len(lines[0]) + len(indent) < 90:
        return f'{indent}"""{lines[0]}"""\n'
    body = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)
    return f'{indent}"""{body.lstrip()}{indent}"""\n'


def _uncoded(line: str) -> str:
    """Nothing in it ends the string, alone or with the quotes around it."""
    line = line.replace("\\", "\\\\")
    ends = '"""' in line or line.endswith('"')
    return line.replace('"', '\\"') if ends else line


def literal(text: str) -> str:
    """A string literal in which everything that a reader cannot see is written out."""
    shown = repr(text)
    return shown if shown.isascii() else "".join(_written(c) for c in shown)


def _written(character: str) -> str:
    return character if is_seen(character) else ascii(character)[1:-1]


def value_of(value: object) -> str:
    """A value as it is written in code."""
    match value:
        case str():
            return literal(value)
        case list():
            return f"[{', '.join(map(value_of, value))}]"
        case dict():
            parts = [f"{literal(name)}: {value_of(each)}" for name, each in value.items()]
            return f"{{{', '.join(parts)}}}"
    return repr(value)


def arguments_doc(fields: Iterator[Field] | tuple[Field, ...]) -> str:
    """The parameters of a function, one after another."""
    told = "\n".join(_listed(each) for each in fields if each.doc)
    return f"Args:\n{told}" if told else ""


def as_keywords(shape: Shape) -> bool:
    """Whether all that it has can be given by name in a call."""
    fields = shape.fields if isinstance(shape, Record) else ()
    return bool(fields) and all(fits_python(each.name) for each in fields)


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[:LONGEST_NAME]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _listed(field: Field) -> str:
    return f"    {field.name}: " + "\n        ".join(lines_of(field.doc))


def _exactly(value: object) -> str:
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "str" if _SURROGATE.search(value) else f"Literal[{literal(value)}]"
    return f"Literal[{value!r}]"


def _fits_a_class(fields: Mapping[str, str]) -> bool:
    """Whether the names can stand in a class, and none hides what another field is made of."""
    used = {word for text in fields.values() for word in _WORD.findall(text)}
    return all(fits_python(name) and name not in used for name in fields)
