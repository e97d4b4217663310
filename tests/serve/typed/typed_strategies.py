"""Schemas that hypothesis makes, each with a value that fits it, and names that nobody likes."""

from typing import Any

from hypothesis import strategies as st

HOSTILE = (
    *("class", "import", "def", "None", "self", "type", "list", "str", "dict", "int", "Any"),
    *("constructor", "__proto__", "toString", "then", "prototype", "await", "new", "delete"),
    *(
        "",
        " ",
        "1st",
        "a-b",
        "a b",
        "a.b",
        "$ref",
        "*/",
        '"""',
        "'''",
        "\\",
        "`${1}`",
        "🚀",
        "名前",
    ),
    *(
        "ﬁ",
        "ŉ",
        "ß",
        "İ",
        "_",
        "__",
        "__x",
        "Ünïcödé",
        "a\u202eb",
        "\u2028",
        "\r\n",
        "\x00",
        "@ts-ignore",
    ),
    *(
        "*/ PWNED() /*",
        '"""\nPWNED()\n"""',
        "'); PWNED('",
        '"); PWNED("',
        "\n# mypy: ignore-errors",
    ),
    *("*/ alert(1) /*", '"""\nimport os\n"""', "# type: ignore", "${process.exit()}", "</script>"),
)
names = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)

DEFINITIONS: dict[str, Any] = {
    "tree": {
        "type": "object",
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
        "required": ["value"],
        "additionalProperties": False,
    },
    "nested list": {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/nested list"}}]
    },
    "circle/one": {"anyOf": [{"$ref": "#/$defs/circle~1two"}, {"type": "string"}]},
    "circle/two": {"anyOf": [{"$ref": "#/$defs/circle~1one"}, {"type": "null"}]},
    "even": {
        "type": "object",
        "properties": {"odd": {"$ref": "#/$defs/odd"}},
        "additionalProperties": {"type": "integer"},
    },
    "odd": {"type": "object", "properties": {"even": {"$ref": "#/$defs/even"}, "list": {}}},
    "itself": {"allOf": [{"$ref": "#/$defs/itself"}, {"type": "string"}]},
    "any*/": True,
    "map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/map"}},
}
_REFERRED: list[tuple[Any, Any]] = [
    ({"$ref": "#/$defs/tree"}, {"value": 1, "children": [{"value": 2, "children": []}]}),
    ({"$ref": "#/$defs/nested%20list"}, ["a", ["b", []]]),
    ({"$ref": "#/$defs/circle~1one"}, None),
    ({"$ref": "#/$defs/circle~1two"}, "text"),
    ({"$ref": "#/$defs/even"}, {"odd": {"even": {}}}),
    ({"$ref": "#/$defs/any*~1"}, [1]),
    ({"$ref": "#/$defs/map"}, {"a": {"b": {}}}),
    ({"allOf": [{"$ref": "#/$defs/tree"}], "description": '*/ It\'s a tree. """'}, {"value": 3}),
    ({"allOf": [{"$ref": "#/$defs/odd"}, {"properties": {"more": {}}}]}, {"list": 1, "more": 2}),
]

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | _text
_numbers = st.integers(-9, 9) | st.floats(-9, 9)


def _with_value(schema: Any, values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, Any]]:
    return values.map(lambda value: (schema, value))


def _said(pair: tuple[Any, Any], said: str) -> tuple[Any, Any]:
    schema, value = pair
    return (
        ({**schema, "description": said, "default": value}, value)
        if isinstance(schema, dict)
        else pair
    )


_plain = st.one_of(
    _with_value({"type": "string", "format": "date-time"}, _text),
    _with_value({"type": "integer"}, st.integers(-9, 9)),
    _with_value({"type": "number"}, _numbers),
    _with_value({"type": "boolean"}, st.booleans()),
    _with_value({"type": ["string", "null"]}, st.none() | _text),
    _with_value({"type": "string", "nullable": True}, st.none() | _text),
    _with_value({}, _scalars),
    _with_value(True, _scalars),
    _with_value({"type": "object"}, st.just({"anything": 1})),
    _with_value({"type": "array"}, st.just([1, "a"])),
    _with_value({"type": "object", "required": ["needed"]}, st.just({"needed": 1})),
    _scalars.map(lambda value: ({"const": value}, value)),
    st.lists(_scalars, min_size=1, max_size=3).map(lambda values: ({"enum": values}, values[-1])),
    st.sampled_from(_REFERRED),
)


def _composed(inner: st.SearchStrategy[tuple[Any, Any]]) -> st.SearchStrategy[tuple[Any, Any]]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.builds(_said, inner, names),
        inner.map(lambda p: ({"type": "array", "items": p[0]}, [p[1]])),
        inner.map(lambda p: ({"type": "array", "items": p[0]}, [])),
        inner.map(lambda p: ({"type": "object", "additionalProperties": p[0]}, {"a-b": p[1]})),
        inner.map(lambda p: ({"type": "object", "patternProperties": {"^x": p[0]}}, {"x": p[1]})),
        two.map(lambda t: ({"type": "array", "prefixItems": [t[0][0], t[1][0]]}, [t[0][1]])),
        two.map(lambda t: ({"anyOf": [t[0][0], t[1][0]]}, t[1][1])),
        two.map(lambda t: ({"oneOf": [t[0][0], t[1][0]]}, t[0][1])),
        inner.map(lambda p: ({"allOf": [p[0], {}]}, p[1])),
        st.dictionaries(names, st.tuples(inner, st.booleans()), max_size=3).map(_object),
    )


def _object(parts: dict[str, tuple[tuple[Any, Any], bool]]) -> tuple[Any, Any]:
    schema = {
        "type": "object",
        "properties": {name: pair[0] for name, (pair, _) in parts.items()},
        "required": [name for name, (_, needed) in parts.items() if needed],
    }
    return schema, {name: pair[1] for name, (pair, needed) in parts.items() if needed}


pairs = st.recursive(_plain, _composed, max_leaves=8)
"""A schema that may refer to the definitions, and a value that fits it."""


def arguments(schema: Any) -> dict[str, Any]:
    """As the one argument of a tool."""
    return {
        "type": "object",
        "properties": {"value": schema},
        "required": ["value"],
        "additionalProperties": False,
        "$defs": DEFINITIONS,
    }
