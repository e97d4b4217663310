import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.execute.arguments import (
    LARGEST_EXACT,
    MAX_SCHEMA,
    check,
    complaints,
    explain,
    filled,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["fast", "slow"]},
        "to": {"type": "array", "items": {"type": "object", "required": ["a/b"]}},
    },
    "required": ["limit"],
    "additionalProperties": False,
}
SLOW = "(a+)+$"
VICTIM = "a" * 60 + "!"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


def test_arguments_that_fit_have_no_violation():
    assert check({"limit": 3, "mode": "fast", "to": []}, SCHEMA) == []
    assert complaints({"limit": 3}, SCHEMA) == ""


def test_each_violation_says_where_and_carries_the_part_of_the_schema():
    found = check({"limit": "x", "mode": "quick", "to": [{}, {"a/b": 1}]}, SCHEMA)
    assert [(each.path, each.keyword) for each in found] == [
        ("/limit", "type"),
        ("/mode", "enum"),
        ("/to/0", "required"),
    ]
    assert found[0].schema == {"type": "integer", "minimum": 1}
    assert "'x' is not of type 'integer'" in found[0].message


def test_the_explanation_is_enough_to_repair_the_call():
    said = complaints({"mode": "quick", "colour": 1}, SCHEMA)
    assert "- /mode: 'quick' is not one of ['fast', 'slow']" in said
    assert '{"enum":["fast","slow"]}' in said
    assert "'limit' is a required property" in said
    assert "'colour' was unexpected" in said


def test_a_part_of_the_schema_that_is_broken_twice_is_shown_once():
    schema = {"properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
    said = complaints({"b": 1}, schema)
    assert "'a' is a required property" in said
    assert "'b' was unexpected" in said
    assert said.count("it must fit") == 1
    assert said.endswith(json.dumps(schema, separators=(",", ":")))


def test_of_alternatives_the_nearest_is_explained():
    schema = {
        "properties": {
            "q": {"anyOf": [{"type": "null"}, {"properties": {"v": {"type": "string"}}}]}
        }
    }
    [found] = check({"q": {"v": 1}}, schema)
    assert (found.path, found.keyword) == ("/q/v", "type")


def test_a_schema_that_refers_to_itself_works():
    tree = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer"},
                    "next": {"$ref": "#/$defs/node"},
                },
            }
        },
        "$ref": "#/$defs/node",
    }
    assert check({"value": 1, "next": {"value": 2}}, tree) == []
    assert check({"value": 1, "next": {"value": "2"}}, tree)[0].path == "/next/value"


def test_the_draft_that_the_schema_names_is_used():
    old = {"$schema": "http://json-schema.org/draft-04/schema#"}
    bound = {"properties": {"n": {"minimum": 1, "exclusiveMinimum": True}}}
    assert check({"n": 1}, old | bound)[0].keyword == "minimum"
    assert check({"n": 1}, bound) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"s": {"pattern": SLOW}}},
        {"patternProperties": {SLOW: {"type": "integer"}}},
        {"patternProperties": {SLOW: {}}, "additionalProperties": False},
        {"allOf": [{"patternProperties": {SLOW: {}}}], "unevaluatedProperties": False},
        {"propertyNames": {"pattern": SLOW}},
        {"dependentSchemas": {"s": {"properties": {"s": {"pattern": SLOW}}}}},
    ],
)
def test_no_regular_expression_of_a_stranger_is_tried(schema):
    assert check({"s": VICTIM, VICTIM: VICTIM}, schema) == []


def test_a_property_that_is_called_pattern_is_checked_like_any_other():
    schema = {"properties": {"pattern": {"type": "string"}}}
    assert check({"pattern": 1}, schema)[0].path == "/pattern"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": 5},
        {"properties": {"x": {"minimum": "low"}}},
        {"$ref": "https://example.invalid/schema.json"},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"$schema": 5},
        {"properties": {"x": {"multipleOf": 0}}},
    ],
)
def test_what_is_no_usable_schema_checks_nothing(schema):
    assert check({"x": 1}, schema) == []


@pytest.mark.parametrize(("combine", "leaf"), [("allOf", "object"), ("anyOf", "string")])
def test_a_schema_that_would_take_for_ever_is_given_up(combine, leaf):
    layers = {f"d{n}": {combine: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {"$defs": layers | {"d40": {"type": leaf}}, "$ref": "#/$defs/d0"}
    assert check({"x": 1}, schema) == []


def test_arguments_beyond_all_measure_are_violations():
    deep: dict = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert "nested deeper than" in check(deep, {})[0].message
    assert "have more than" in check({"a": [0] * 200_000}, {})[0].message


def test_what_is_shown_is_short_however_long_the_schema_and_the_value_are():
    wide = {f"p{n}": {"type": "string", "description": "d" * 80} for n in range(100)}
    schema = {"properties": wide | {"name": {"type": "string"}}, "required": ["name"]}
    [missing] = check({}, schema)
    assert missing.schema == {"required": ["name"], "properties": {"name": {"type": "string"}}}
    [extra] = check({"name": "", "z": 1}, schema | {"additionalProperties": False})
    assert len(json.dumps(extra.schema)) < 2 * MAX_SCHEMA
    [long] = check({"p1": "x" * 1_000_000}, {"properties": {"p1": {"maxLength": 3}}})
    assert len(long.message) < 1_000
    assert long.message.endswith("is too long")
    [choice] = check({"c": 0}, {"properties": {"c": {"enum": [f"value {n}" for n in range(999)]}}})
    assert len(explain([choice])) < 2_000


@given(st.dictionaries(st.text(), VALUES), st.dictionaries(st.text(), VALUES))
def test_nothing_makes_it_fail(arguments, schema):
    assert isinstance(complaints(arguments, schema), str)


@given(st.dictionaries(st.sampled_from(["limit", "mode", "to", "x"]), VALUES))
def test_whatever_is_complained_about_names_its_place(arguments):
    for each in check(arguments, SCHEMA):
        assert each.path == "" or each.path.startswith("/")
        assert each.message


@pytest.mark.parametrize(
    "part",
    [
        {"type": "integer"},
        {"type": ["integer", "null"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    ],
)
def test_a_number_without_fraction_is_handed_on_as_the_integer_that_is_asked_for(part):
    schema = {"properties": {"n": part}}
    found = filled({"n": 3.0}, schema)
    assert (found, type(found["n"])) == ({"n": 3}, int)
    assert type(filled({"n": -0.0}, schema)["n"]) is int


def test_integers_are_handed_on_as_such_inside_of_lists_and_objects():
    row = {"type": "object", "properties": {"n": {"type": "integer"}, "x": {"type": "number"}}}
    schema = {
        "properties": {
            "rows": {"type": "array", "items": row},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        }
    }
    said = {"rows": [{"n": 1.0, "x": 1.0, "y": 1.0}, {}], "counts": {"a": 2.0}}
    assert repr(filled(said, schema)) == repr(
        {"rows": [{"n": 1, "x": 1.0, "y": 1.0}, {}], "counts": {"a": 2}}
    )


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (3.0, {"type": "number"}),
        (3.0, {"type": ["integer", "number"]}),
        (3.0, {}),
        (3.0, True),
        (3.5, {"type": "integer"}),
        (1e300, {"type": "integer"}),
        (-1e300, {"type": "integer"}),
        (2.0 * LARGEST_EXACT, {"type": "integer"}),
        (float("inf"), {"type": "integer"}),
        (True, {"type": "integer"}),
        ("3.0", {"type": "integer"}),
    ],
)
def test_every_other_value_is_handed_on_as_it_is(value, part):
    found = filled({"n": value}, {"properties": {"n": part}})["n"]
    assert found is value


WORDS = st.sampled_from(
    ["n", "properties", "items", "type", "anyOf", "oneOf", "default", "additionalProperties"]
)
LOOKS_LIKE_A_SCHEMA = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(["integer", "number"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
)


@given(st.dictionaries(WORDS, VALUES), st.dictionaries(WORDS, LOOKS_LIKE_A_SCHEMA))
def test_filling_in_takes_any_arguments_and_any_schema(arguments, schema):
    assert filled(arguments, schema).keys() >= arguments.keys()
