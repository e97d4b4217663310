"""OpenAPI's schemas become JSON Schema 2020-12."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_parts import OK, document, json_body, only, operation, refused, scan, schema_of

from pegboard.gate.admission import admit
from pegboard.model.items import Candidate, Item


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 1},
        ),
        ({"maximum": 5, "exclusiveMaximum": False}, {"maximum": 5}),
        ({"exclusiveMinimum": 0}, {"exclusiveMinimum": 0}),
        ({"type": "file"}, {"type": "string", "format": "binary"}),
        ({"type": "Int32"}, {"type": "integer"}),
        ({"type": "anything"}, {}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"example": 3}, {"examples": [3]}),
        ({"example": "x" * 500}, {}),
        ({"examples": ["a", "b"]}, {"examples": ["a", "b"]}),
        ({"default": {"a": 1}}, {"default": {"a": 1}}),
        ({"pattern": "^a+$"}, {"pattern": "^a+$"}),
        ({"pattern": r"^\p{L}+$"}, {}),
        ({"maxLength": 3.0, "minLength": -1, "maxItems": "4"}, {"maxLength": 3}),
        ({"maximum": 10**400, "multipleOf": 10**400, "maxLength": 10**400}, {}),
        ({"enum": []}, {}),
        ({"required": True, "properties": []}, {}),
        ({"xml": {"name": "x"}, "externalDocs": {}, "x-internal": 1}, {}),
        (
            {"oneOf": [{"type": "string"}], "discriminator": {"propertyName": "kind"}},
            {"oneOf": [{"type": "string"}], "x-discriminator": "kind"},
        ),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": False},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"allOf": [{"type": "object"}], "nullable": True, "description": "It."},
            {"anyOf": [{"allOf": [{"type": "object"}]}, {"type": "null"}], "description": "It."},
        ),
        ({"description": "<p>Bold &amp; <b>new</b></p>"}, {"description": "Bold & new"}),
        ({"title": "zero\u200bwidth"}, {"title": "zerowidth"}),
    ],
)
def test_keywords_are_translated(tmp_path, said, made):
    found = schema_of(tmp_path, said)
    assert found.pop("$defs") == {}
    assert found == made


def test_3_1_keywords_stay(tmp_path):
    said = {
        "type": ["object", "null"],
        "const": {"a": 1},
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "dependentRequired": {"a": ["b"]},
        "patternProperties": {"^x-": True, "(": False},
        "propertyNames": {"maxLength": 3},
        "unevaluatedProperties": False,
        "contentMediaType": "text/plain",
    }
    found = schema_of(tmp_path, said, version="3.1.0")
    assert found.pop("$defs") == {}
    assert found == {**said, "patternProperties": {"^x-": True}}


def test_siblings_of_a_reference_are_kept(tmp_path):
    said = {"$ref": "#/components/schemas/Pet", "description": "Mine.", "nullable": True}
    found = schema_of(tmp_path, said, Pet={"type": "object"})
    assert found == {
        "description": "Mine.",
        "anyOf": [{"$ref": "#/$defs/Pet"}, {"type": "null"}],
        "$defs": {"Pet": {"type": "object"}},
    }


def test_what_a_schema_reaches_is_defined_once(tmp_path):
    found = schema_of(
        tmp_path,
        {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
        Pet={
            "properties": {
                "owner": {"$ref": "#/components/schemas/Owner"},
                "vet": {"$ref": "#/components/schemas/Owner"},
            }
        },
        Owner={"properties": {"pets": {"items": {"$ref": "#/components/schemas/Pet"}}}},
        Unused={"type": "string"},
    )
    assert found["items"] == {"$ref": "#/$defs/Pet"}
    assert set(found["$defs"]) == {"Pet", "Owner"}
    validator = Draft202012Validator(found)
    assert validator.is_valid([{"owner": {"pets": [{"owner": {}}]}}])


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"$ref": "#/components/schemas/A"}},
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {"A": {"allOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]}},
        {
            "A": {"anyOf": [{"not": {"oneOf": [{"$ref": "#/components/schemas/B"}]}}]},
            "B": {"if": {"$ref": "#/components/schemas/A"}},
        },
        {"A": {"dependentSchemas": {"a": {"$ref": "#/components/schemas/A"}}}},
    ],
)
def test_a_schema_that_only_leads_back_to_itself_can_be_checked_all_the_same(tmp_path, schemas):
    found = schema_of(tmp_path, {"$ref": "#/components/schemas/A"}, **schemas)
    Draft202012Validator(found).is_valid({"a": 1})


def test_what_can_only_be_read_is_left_out_of_requests_and_not_required_there(tmp_path):
    pet = {
        "type": "object",
        "required": ["id", "name", "made"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string"},
            "made": {"$ref": "#/components/schemas/Made"},
            "secret": {"type": "string", "writeOnly": True},
        },
    }
    said = operation(
        requestBody=json_body({"$ref": "#/components/schemas/Pet"}, required=True),
        responses={"201": json_body({"$ref": "#/components/schemas/Pet"})},
        components={"schemas": {"Pet": pet, "Made": {"type": "string", "readOnly": True}}},
    )
    found = only(tmp_path, said)
    assert set(found["input_schema"]["properties"]) == {"id", "name", "secret"}
    assert found["input_schema"]["required"] == ["id", "name"]  # the id of the path
    assert set(found["output_schema"]["properties"]) == {"id", "name", "made"}
    assert found["output_schema"]["required"] == ["id", "name", "made"]


def test_no_branch_of_an_allof_requires_what_another_leaves_out(tmp_path):
    found = schema_of(
        tmp_path,
        {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["id", "name"]}]},
        Base={"properties": {"id": {"readOnly": True}}},
    )
    assert found["allOf"][1] == {"required": ["name"]}


def test_names_that_clash_get_definitions_of_their_own(tmp_path):
    said = {
        "properties": {
            "a": {"$ref": "#/components/schemas/Pet"},
            "b": {"$ref": "#/components/schemas/Other/properties/Pet"},
            "c": {"$ref": "#/components/schemas/with~1slash and space"},
        }
    }
    found = schema_of(
        tmp_path,
        said,
        Pet={"type": "string"},
        Other={"properties": {"Pet": {"type": "integer"}}},
        **{"with/slash and space": {"type": "boolean"}},
    )
    kinds = {
        name: found["$defs"][part["$ref"].removeprefix("#/$defs/")]["type"]
        for name, part in found["properties"].items()
    }
    assert kinds == {"a": "string", "b": "integer", "c": "boolean"}


def deep(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"x": schema}, "default": {"a": {"b": {"c": 1}}}, "nullable": True}
    return schema


def test_a_deep_schema_ends_where_the_gate_would_refuse_it(tmp_path):
    found = schema_of(tmp_path, deep(40))
    assert "nested deeper than is kept" in json.dumps(found)
    wrapped = {"type": "string"}
    for _ in range(40):
        wrapped = {"allOf": [{"properties": {"x": wrapped}}], "nullable": True}
    assert "nested deeper than is kept" in json.dumps(schema_of(tmp_path, wrapped))


def test_a_schema_that_is_too_long_is_shortened_where_it_is_farthest(tmp_path):
    text = "words " * 1_000
    schemas = {
        f"S{n}": {
            "type": "object",
            "description": f"Number {n}. {text}",
            "properties": {"next": {"$ref": f"#/components/schemas/S{n + 1}"}},
        }
        for n in range(100)
    } | {"S100": {"type": "string"}}
    found = schema_of(tmp_path, {"$ref": "#/components/schemas/S0"}, **schemas)
    definitions = found["$defs"]
    assert 20 < len(definitions) < 60
    last = definitions[f"S{len(definitions) - 1}"]
    assert last["type"] == "object"
    assert last["description"].startswith("Number")
    assert "Left out here" in last["description"]
    assert "properties" not in last


def test_a_body_that_is_too_long_in_itself_keeps_its_names(tmp_path):
    properties = {
        f"p{n}": {"type": "string", "enum": [f"{n} {x} {'y' * 900}" for x in range(100)]}
        for n in range(50)
    }
    found = only(tmp_path, operation(requestBody=json_body({"properties": properties})))
    assert found["input_schema"]["properties"]["p49"] == {
        "type": "string",
        "description": "(Left out here, because the whole schema is too long.)",
    }


def test_a_long_output_schema_takes_nothing_from_the_operation(tmp_path):
    properties = {f"p{n}": {"enum": ["x" * 9_000]} for n in range(200)}
    found = only(tmp_path, operation(responses={"200": json_body({"properties": properties})}))
    assert len(json.dumps(found["output_schema"])) < 100_000


@pytest.mark.parametrize(
    "reference", ["#/components/schemas/None", "#anchor", 7, None, "#/components/schemas/~2"]
)
def test_a_reference_that_leads_nowhere_refuses_the_operation_and_names_it(tmp_path, reference):
    said = operation(requestBody=json_body({"properties": {"a": {"$ref": reference}}}))
    found = refused(tmp_path, said)
    assert found.code == "bad_reference"
    assert ascii(reference) in found.reason


def test_a_reference_that_leads_nowhere_in_an_answer_costs_only_its_schema(tmp_path):
    said = operation(responses={"200": json_body({"$ref": "#/nowhere"})})
    assert "output_schema" not in only(tmp_path, said)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYWORDS = (
    *("type", "format", "enum", "const", "default", "example", "examples", "nullable", "required"),
    *("minimum", "exclusiveMinimum", "maxLength", "minItems", "multipleOf", "pattern", "title"),
    *("properties", "patternProperties", "additionalProperties", "items", "prefixItems", "allOf"),
    *("anyOf", "oneOf", "not", "if", "contains", "propertyNames", "dependentSchemas", "$ref"),
    *("dependentRequired", "readOnly", "discriminator", "description", "uniqueItems", "$defs"),
)
odd_schemas = st.recursive(
    st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=4)
    | st.fixed_dictionaries({"$ref": st.sampled_from(["#/components/schemas/A", "#/x", "A"])}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", ["null", "integer"], "odd"]),
            "properties": st.dictionaries(st.text(max_size=2), inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "items": inner | st.lists(inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "not": inner,
            "nullable": st.booleans(),
            "required": st.lists(st.text(max_size=2), max_size=2) | st.booleans(),
        },
    ),
    max_leaves=8,
)


@given(odd_schemas, odd_schemas)
def test_whatever_a_schema_says_what_is_made_of_it_is_valid(tmp_path_factory, schema, other):
    said = document(
        {"/x": {"get": {**OK, "parameters": [{"name": "v", "in": "query", "schema": schema}]}}},
        components={"schemas": {"A": other}},
    )
    for found in scan(tmp_path_factory.getbasetemp(), said):
        if isinstance(found, Candidate):
            Draft202012Validator.check_schema(found.fields["input_schema"])
            assert isinstance(admit(found), Item)
            Draft202012Validator(found.fields["input_schema"]).is_valid({"v": {"a": [1]}})
        else:
            inside = found.reason.startswith("the $ref '#")
            assert found.code == "bad_reference" or (found.code == "unreadable" and not inside)
