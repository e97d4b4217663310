"""Shapes as TypeScript."""

import json
import re
from collections.abc import Mapping

from pegboard.serve.typed.naming import OF_OBJECTS
from pegboard.serve.typed.prose import is_seen, lines_of
from pegboard.serve.typed.shapes import (
    ANY,
    NEVER,
    Choice,
    Exactly,
    Field,
    Listed,
    Named,
    Plain,
    Record,
    Row,
    Shape,
)

_PLAIN = {
    Plain.ANY: "unknown",
    Plain.NEVER: "never",
    Plain.NULL: "null",
    Plain.BOOLEAN: "boolean",
    Plain.INTEGER: "number",
    Plain.NUMBER: "number",
    Plain.STRING: "string",
}
_SIMPLE = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def text_of(shape: Shape, names: Mapping[str, str], indent: str = "") -> str:
    match shape:
        case Plain():
            return _PLAIN[shape]
        case Exactly(value):
            return quoted(json.loads(value)) if value.startswith('"') else value
        case Named(key):
            return names[key]
        case Listed(each):
            return f"{_grouped(each, names, indent)}[]"
        case Choice(shapes):
            return " | ".join(dict.fromkeys(text_of(each, names, indent) for each in shapes))
        case Row():
            return _row(shape, names, indent)
        case Record():
            return _record(shape, names, indent)


def comment(text: str, indent: str = "") -> str:
    """A doc comment with its line end, or nothing."""
    lines = [_uncoded(line) for line in lines_of(text)]
    if not lines:
        return ""
    if len(lines) == 1 and len(lines[0]) + len(indent) < 90:
        return f"{indent}/** {lines[0]} */\n"
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
    return f"{indent}/**\n{body}{indent} */\n"


def quoted(text: str) -> str:
    """A string literal in which everything that a reader cannot see is written out."""
    shown = json.dumps(text, ensure_ascii=False)
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(c if is_seen(c) else json.dumps(c)[1:-1] for c in shown)


def literal(value: object) -> str:
    """A value as it is written in code."""
    match value:
        case str():
            return quoted(value)
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            parts = [f"{property_name(name)}: {literal(each)}" for name, each in value.items()]
            return f"{{ {', '.join(parts)} }}" if parts else "{}"
    return json.dumps(value)


def property_name(name: str) -> str:
    return name if _SIMPLE.fullmatch(name) and name != "__proto__" else quoted(name)


def _uncoded(line: str) -> str:
    """Nothing in it ends the comment, and no line begins with what compilers take as an order."""
    line = line.replace("*/", "*\\/")
    return re.sub(r"^([\s/*]*)@", r"\1\\@", line)


def _grouped(shape: Shape, names: Mapping[str, str], indent: str) -> str:
    text = text_of(shape, names, indent)
    return f"({text})" if isinstance(shape, Choice) and " | " in text else text


def _row(row: Row, names: Mapping[str, str], indent: str) -> str:
    parts = [
        text_of(each, names, indent) if place < row.least else f"{_grouped(each, names, indent)}?"
        for place, each in enumerate(row.first)
    ]
    if row.rest is not NEVER:
        parts.append(f"...{_grouped(row.rest, names, indent)}[]")
    return f"[{', '.join(parts)}]"


def _record(record: Record, names: Mapping[str, str], indent: str) -> str:
    if not record.fields:
        others = ANY if record.others is None else record.others
        return f"{{ [key: string]: {text_of(others, names, indent)} }}"
    deeper = f"{indent}  "
    lines = [_field(each, names, deeper) for each in record.fields]
    if record.others not in (None, NEVER):
        # Every field has to be of the type that the others have, so it can only be a wide one.
        lines.append(f"{deeper}[key: string]: unknown;\n")
    return f"{{\n{''.join(lines)}{indent}}}"


def _field(field: Field, names: Mapping[str, str], indent: str) -> str:
    mark = "" if field.required else "?"
    # An object without a property of its own has what all objects have by that name.
    inherited = field.name in OF_OBJECTS and not field.required
    shown = "unknown" if inherited else text_of(field.shape, names, indent)
    return f"{comment(field.doc, indent)}{indent}{property_name(field.name)}{mark}: {shown};\n"
