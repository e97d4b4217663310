"""Schemas of strangers as tables, forms and examples."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.serve.web.examples import examples, sample
from pegboard.serve.web.forms import PREFIX, WHOLE, Unreadable, arguments, sheet
from pegboard.serve.web.schemas import MOST_ROWS, table
from pegboard.serve.web.visits import Form


def of(**properties):
    return {"type": "object", "properties": properties}


def filled(schema, **values):
    return arguments(
        schema, Form(tuple((f"{PREFIX}{name}", text) for name, text in values.items()))
    )


def test_each_type_is_filled_in_with_what_suits_it():
    schema = of(
        text={"type": "string"},
        short={"type": "string", "maxLength": 20},
        day={"type": "string", "format": "date"},
        count={"type": "integer"},
        yes={"type": "boolean"},
        one={"enum": ["a", 1, None]},
        many={"type": "array", "items": {"type": "string"}},
        rows={"type": "array", "items": {"type": "object"}},
        maybe={"anyOf": [{"type": "number"}, {"type": "null"}]},
        listed={"type": ["string", "null"]},
        either={"anyOf": [{"type": "string"}, {"type": "integer"}]},
        anything={},
    )
    assert {each.label: each.input for each in sheet(schema).fields} == {
        "text": "text",
        "short": "line",
        "day": "line",
        "count": "number",
        "yes": "choice",
        "one": "choice",
        "many": "lines",
        "rows": "json",
        "maybe": "number",
        "listed": "text",
        "either": "json",
        "anything": "json",
    }


def test_what_is_filled_in_comes_back_as_what_it_is():
    schema = of(
        text={"type": "string"},
        count={"type": "integer"},
        part={"type": "number"},
        yes={"type": "boolean"},
        one={"enum": ["a", 1, None]},
        many={"type": "array", "items": {"type": "string"}},
        rows={"type": "array"},
    )
    found = filled(
        schema,
        text=" a \n b ",
        count="12",
        part="-0.5e3",
        yes="false",
        one="1",
        many="x y\n\nz",
        rows='[{"a": null}]',
    )
    assert found == {
        "text": " a \n b ",
        "count": 12,
        "part": -500.0,
        "yes": False,
        "one": 1,
        "many": ["x y", "z"],
        "rows": [{"a": None}],
    }


def test_what_is_left_empty_is_not_given_unless_it_is_a_text_that_must_be():
    schema = of(a={"type": "string"}, b={"type": "string"}, c={"type": "integer"})
    assert filled({**schema, "required": ["a"]}, a="", b="", c="") == {"a": ""}


def test_every_field_that_cannot_be_read_is_named():
    schema = of(count={"type": "integer"}, rows={"type": "array"}, text={"type": "string"})
    for text in ("one", "true", "NaN", "1 2"):
        with pytest.raises(Unreadable) as raised:
            filled(schema, count=text, rows="[1,", text="fine")
        assert set(raised.value.wrong) == {"count", "rows"}


def test_all_arguments_at_once_win_over_the_fields():
    schema = of(a={"type": "integer"})
    form = Form(((f"{PREFIX}a", "1"), (WHOLE, '{"a": 2, "b": 3}')))
    assert arguments(schema, form) == {"a": 2, "b": 3}
    for text in ("[1]", "{", '"text"', "[" * 100_000):
        with pytest.raises(Unreadable):
            arguments(schema, Form(((WHOLE, text),)))


def test_a_form_is_filled_in_again_with_what_was_given():
    schema = of(a={"type": "string", "default": "x"}, b={"enum": ["p", "q"], "default": "p"})
    first = sheet(schema)
    assert [each.value for each in first.fields] == ["x", '"p"']
    again = sheet(schema, Form(((f"{PREFIX}a", "y"), (f"{PREFIX}b", '"q"'))), {"a": "no"})
    assert [each.value for each in again.fields] == ["y", '"q"']
    assert [option.label for option in again.fields[1].options if option.chosen] == ["q"]
    assert again.fields[0].wrong == "no"


def test_what_no_field_can_stand_for_is_written_as_json():
    assert sheet({"type": "object", "additionalProperties": True}).only_whole
    assert not sheet({"type": "object", "properties": {}, "additionalProperties": False}).only_whole
    assert not sheet({}).only_whole


def test_a_table_tells_names_types_bounds_and_what_is_inside():
    schema = {
        "type": "object",
        "properties": {
            "who": {"type": "string", "minLength": 2, "description": "A name."},
            "tree": {"$ref": "#/$defs/node"},
            "size": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": 3},
        },
        "required": ["who"],
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/node"}, "tag": {"enum": ["a", "b"]}},
            }
        },
    }
    rows = {(row.depth, row.name): row for row in table(schema).rows}
    assert rows[0, "who"].required and rows[0, "who"].bounds == ("at least 2 characters",)
    assert rows[0, "size"].kind == "whole number or nothing" and rows[0, "size"].default == "3"
    assert rows[1, "left"].kind == "node, as above"
    assert rows[1, "tag"].choices == ('"a"', '"b"')


def test_schemas_that_go_on_for_ever_are_cut_and_that_is_told():
    wide = of(**{f"p{n}": {"type": "string"} for n in range(MOST_ROWS + 50)})
    assert len(table(wide).rows) == MOST_ROWS and table(wide).cut
    deep: dict[str, object] = {"type": "string"}
    for _ in range(30):
        deep = of(inside=deep)
    assert table(deep).cut
    knot = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert table(knot).rows == ()
    every = {f"q{n}": {"$ref": "#/$defs/all"} for n in range(200)}
    tangle = {**of(**every), "$defs": {"all": {**of(**every), "required": [*every]}}}
    assert len(table({**tangle, "required": [*every]}).rows) <= MOST_ROWS
    assert sample({**tangle, "required": [*every]})


def test_an_example_gives_what_is_required_in_words_that_shells_and_python_take():
    schema = {
        **of(
            text={"type": "string", "examples": ["it's $HOME"]},
            n={"type": "integer"},
            o={"type": "string"},
        ),
        "required": ["text", "n"],
    }
    curl, python, command = examples("team/a b", schema, "https://tools.example")
    assert "https://tools.example/tools/team%2Fa%20b/call" in curl.text
    assert """{"arguments": {"text": "it'"'"'s $HOME", "n": 1}}'""" in curl.text
    assert compile(python.text, "example", "exec")
    assert "'https://tools.example/tools/team%2Fa%20b/call'" in python.text
    assert command.text.endswith("--gateway https://tools.example")
    assert command.text.startswith("pegboard run 'team/a b' --arguments ")


STRUCTURE = ["type", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref"]
DETAILS = ["enum", "default", "const", "description", "examples", "minLength", "format", "pattern"]
NAMES = ["$defs", "required", "additionalProperties", "patternProperties", "a", "b"]
KEYWORDS = [*STRUCTURE, *DETAILS, *NAMES]
WORDS = [
    "type",
    "properties",
    "items",
    "enum",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$defs",
    "required",
    "default",
    "const",
    "description",
    "additionalProperties",
    "prefixItems",
    "patternProperties",
    "examples",
    "minLength",
    "format",
    "pattern",
    "a",
    "b",
]
WORDS = ["string", "array", "object", "#", "#/$defs/a", "#/properties/a"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS), inner | st.sampled_from(WORDS), max_size=5)
    ),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["properties", "$defs", "type", "required"]), JSON))
def test_no_schema_is_too_odd(schema):
    schema = json.loads(json.dumps(schema))
    assert len(table(schema).rows) <= MOST_ROWS
    made = sheet(schema)
    form = Form(tuple((each.name, each.value) for each in made.fields))
    try:
        arguments(schema, form)
    except Unreadable as error:
        assert error.wrong
    assert isinstance(sample(schema), dict)
    examples("x", schema, "http://here")
