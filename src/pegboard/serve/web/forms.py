"""A form made from a tool's schema, and the arguments that come back with it."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from pegboard.errors import UsageError
from pegboard.model.content import Json
from pegboard.serve.web.schemas import kind_of, resolved
from pegboard.serve.web.visits import Form

PREFIX = "arg:"
"""Before the names of arguments, so that they cannot be taken for fields of the page's own."""
WHOLE = "arguments"
"""The field for all of them at once, as JSON."""
MOST_FIELDS = 60
MOST_OPTIONS = 500
LONGEST_LINE = 100
"""A text that may be no longer needs only one line."""


class Option(NamedTuple):
    value: str
    label: str
    chosen: bool


class Field(NamedTuple):
    name: str
    label: str
    about: str
    kind: str
    """In words, for whoever fills it in."""
    input: str
    """What it is filled in with: text, line, number, choice, lines or json."""
    required: bool
    value: str = ""
    options: tuple[Option, ...] = ()
    wrong: str = ""


class Sheet(NamedTuple):
    """All there is to fill in."""

    fields: tuple[Field, ...]
    whole: str = ""
    """All arguments as JSON, if they were given so."""
    only_whole: bool = False
    wrong: str = ""


class Unreadable(Exception):
    """Fields that cannot be read as what they have to be, by name with the reason."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        super().__init__("; ".join(wrong.values()))
        self.wrong = wrong


def sheet(schema: Json, given: Form | None = None, wrong: Mapping[str, str] | None = None) -> Sheet:
    """The form, filled in with what was given, or with the schema's defaults."""
    problems = wrong or {}
    parts = _parts(schema)
    fields = [
        _field(name, part, schema, required, given, problems.get(name, ""))
        for name, (part, required) in parts.items()
    ]
    whole = given.text(WHOLE) if given else ""
    return Sheet(tuple(fields), whole, _needs_whole(schema, parts), problems.get(WHOLE, ""))


def _parts(schema: Json) -> dict[str, tuple[Json, bool]]:
    """The arguments with their schemas; what is required comes first."""
    top, _ = resolved(schema, schema)
    properties = top.get("properties")
    needed = top.get("required")
    required = needed if isinstance(needed, list) else []
    if not isinstance(properties, Mapping) or len(properties) > MOST_FIELDS:
        return {}
    found = {
        str(name): (_plain(part, schema), name in required) for name, part in properties.items()
    }
    return dict(sorted(found.items(), key=lambda each: not each[1][1]))


def _needs_whole(schema: Json, parts: Mapping[str, object]) -> bool:
    """Whether there are arguments that no field stands for."""
    top, _ = resolved(schema, schema)
    return bool(schema) and not parts and top.get("additionalProperties") is not False


def _plain(part: object, root: Json) -> Json:
    """A schema that allows one thing or nothing, as that thing."""
    schema, _ = resolved(part, root)
    for key in ("anyOf", "oneOf"):
        either = schema.get(key)
        if isinstance(either, list | tuple):
            left = [each for each in either if resolved(each, root)[0].get("type") != "null"]
            if len(left) == 1:
                beside = {name: value for name, value in schema.items() if name != key}
                return {**resolved(left[0], root)[0], **beside}
    return schema


def _field(
    name: str, part: Json, root: Json, required: bool, given: Form | None, wrong: str
) -> Field:
    shape = _input(part, root)
    said = given.get(f"{PREFIX}{name}") if given else None
    value = said if said is not None else _default(part, shape)
    about = part.get("description")
    return Field(
        name=f"{PREFIX}{name}",
        label=name,
        about=about.strip() if isinstance(about, str) else "",
        kind=kind_of(part, root),
        input=shape,
        required=required,
        value=value,
        options=_options(part, required, value) if shape == "choice" else (),
        wrong=wrong,
    )


def _type(part: Json) -> str:
    said = part.get("type")
    names = [each for each in said if each != "null"] if isinstance(said, list) else [said]
    return str(names[0]) if len(names) == 1 else ""


def _input(part: Json, root: Json) -> str:
    values = part.get("enum")
    if isinstance(values, list) and 0 < len(values) <= MOST_OPTIONS:
        return "choice"
    kind = _type(part)
    if kind == "string":
        longest = part.get("maxLength")
        short = isinstance(longest, int) and longest <= LONGEST_LINE
        return "line" if short or "format" in part or "pattern" in part else "text"
    if kind in ("integer", "number"):
        return "number"
    if kind == "boolean":
        return "choice"
    if kind == "array" and _of_texts(part, root):
        return "lines"
    return "json"


def _of_texts(part: Json, root: Json) -> bool:
    items, _ = resolved(part.get("items"), root)
    return _type(items) == "string"


def _default(part: Json, shape: str) -> str:
    if "default" not in part or part["default"] is None:
        return ""
    value = part["default"]
    if shape in ("text", "line") and isinstance(value, str):
        return value
    if shape == "lines" and isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, indent=2 if shape == "json" else None)


def _options(part: Json, required: bool, value: str) -> tuple[Option, ...]:
    """Values are written as JSON, so that each comes back as what it is."""
    values = part.get("enum")
    choices = values if isinstance(values, list) else [True, False]
    found = [
        Option(text := json.dumps(each, ensure_ascii=False), _choice(each), text == value)
        for each in choices
    ]
    if not required or not any(each.chosen for each in found):
        found.insert(0, Option("", "", not value))
    return tuple(found)


def _choice(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def arguments(schema: Json, form: Form) -> dict[str, object]:
    """What was filled in. Raises `Unreadable` with every field that cannot be read."""
    if form.text(WHOLE).strip():
        return _whole(form.text(WHOLE))
    found: dict[str, object] = {}
    wrong: dict[str, str] = {}
    for name, (part, required) in _parts(schema).items():
        text = form.get(f"{PREFIX}{name}")
        shape = _input(part, schema)
        if text is None or (text == "" and not (required and shape in ("text", "line"))):
            continue
        try:
            found[name] = _value(text, shape)
        except UsageError as error:
            wrong[name] = error.message
    if wrong:
        raise Unreadable(wrong)
    return found


def _whole(text: str) -> dict[str, object]:
    try:
        found = _json(text)
    except UsageError as error:
        raise Unreadable({WHOLE: error.message}) from error
    if not isinstance(found, dict):
        raise Unreadable({WHOLE: 'this must be an object, such as {"name": "value"}'})
    return found


def _value(text: str, shape: str) -> object:
    if shape in ("text", "line"):
        return text
    if shape == "lines":
        return [line for line in text.split("\n") if line.strip()]
    if shape == "number":
        return _number(text)
    return _json(text)


def _number(text: str) -> object:
    try:
        found = _json(text.strip())
    except UsageError:
        found = None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise UsageError(f"{text.strip()[:40]!r} is no number")
    return found


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"this is not JSON: {error}") from error


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number in JSON")
