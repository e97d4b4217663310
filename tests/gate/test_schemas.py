import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from making import make_candidate
from pegboard.gate.admission import admit
from pegboard.gate.keywords import TYPES, dialect
from pegboard.gate.patterns import fault_of_pattern
from pegboard.gate.refusal import Refused
from pegboard.gate.schemas import check_schema
from pegboard.model.items import Item, Rejection

DRAFTS = {
    "04": "http://json-schema.org/draft-04/schema#",
    "06": "http://json-schema.org/draft-06/schema#",
    "07": "http://json-schema.org/draft-07/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def fault(schema, **more):
    try:
        check_schema("input_schema", schema, **more)
    except Refused as refused:
        assert refused.code == "bad_schema"
        return refused.reason
    return ""


def accepted_elsewhere(schema):
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
    except jsonschema.SchemaError:
        return False
    return True


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "strng"}, "input_schema.type is 'strng'; it must be one of array, boolean"),
        ({"type": "strng"}, "did you mean 'string'?"),
        ({"type": []}, "input_schema.type is an empty list"),
        ({"type": ["object", "object"]}, "names one type twice"),
        ({"properties": {"a": {"type": 3}}}, "input_schema.properties.a.type is 3"),
        ({"properties": {"a b": 3}}, "input_schema.properties['a b'] is 3; it must be a schema"),
        ({"properties": []}, "input_schema.properties is list; it must be an object of schemas"),
        ({"anyOf": []}, "input_schema.anyOf is list; it must be a list of schemas, at least one"),
        ({"anyOf": [{"type": 3}]}, "input_schema.anyOf[0].type is 3"),
        ({"required": "a"}, "input_schema.required is 'a'; it must be a list of names"),
        ({"required": ["a", "a"]}, "input_schema.required names one property twice"),
        ({"items": [{}]}, "input_schema.items is a list; write prefixItems"),
        ({"exclusiveMinimum": True}, "input_schema.exclusiveMinimum is True; it must be a number"),
        ({"minLength": -1}, "input_schema.minLength is -1; it must be a whole number from 0"),
        ({"multipleOf": 0}, "input_schema.multipleOf is 0; it must be more than 0"),
        ({"enum": "a"}, "input_schema.enum is 'a'; it must be a list"),
        ({"pattern": "("}, "input_schema.pattern is '(', which is no regular expression: a ( is"),
        ({"patternProperties": {"[": {}}}, "a [ is not closed"),
        ({"description": 3}, "input_schema.description is 3; it must be text"),
        ({"uniqueItems": "yes"}, "it must be true or false"),
        ({"dependencies": {"a": ["b", "b"]}}, "names one property twice"),
        ({"dependentRequired": {"a": "b"}}, "it must be a list of names"),
        ({"$defs": {"a": {"not": 1}}}, "input_schema.$defs.a.not is 1; it must be a schema"),
        ({"$anchor": "a b"}, "input_schema.$anchor is 'a b'"),
        ({"$id": "a#b"}, "input_schema.$id is 'a#b'"),
        ({"$ref": 3}, "input_schema.$ref is 3; it must be text"),
        ({"$ref": "https://example.com/x"}, "only parts of the same schema can be referred to"),
        ({"$ref": "other.json#/a"}, "only parts of the same schema can be referred to"),
        ({"$ref": "file:///etc/passwd"}, "only parts of the same schema can be referred to"),
        ({"$ref": "#/$defs/a"}, "input_schema.$ref is '#/$defs/a', and there is nothing at that"),
        ({"$ref": "#named"}, "there is nothing at that place"),
        ({"$ref": "#/x", "x": 3}, "input_schema.$ref is 3; it must be a schema"),
        ({"$ref": "#/x", "x": {"type": 3}}, "input_schema.$ref.type is 3"),
        ({"$ref": "#"}, "input_schema.$ref leads back to itself"),
        ({"properties": {"x": {"$ref": "#/properties/x"}}}, "leads back to itself"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_fault_is_told_with_its_place(schema, said):
    assert said in fault(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"]}}},
        {"properties": {"$ref": {"type": "string"}, "type": {"enum": [1]}, "enum": {}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}},
        {"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": {}}},
        {"properties": {"x": {"$ref": "#"}}},
        {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}},
        {"anyOf": [{"type": "object"}, {"$ref": "#/anyOf/0"}]},
        {"definitions": {"a": {}}, "properties": {"x": {"$ref": "#/definitions/a"}}},
        {
            "$defs": {"a": {"$id": "urn:a", "$ref": "#/$defs/b", "$defs": {"b": {}}}},
            "$ref": "#/$defs/a",
        },
        {"x-own": {"type": 3}, "nullable": True, "example": {"type": 3}, "default": {"type": 3}},
        {"examples": [{"type": 3}], "const": {"$ref": 3}, "enum": [{"$ref": "gone"}]},
        {"minimum": 1.5, "maxLength": 2.0, "multipleOf": 0.01},
        {"type": "object", "additionalProperties": False, "required": []},
        {"pattern": r"^\p{L}+(?<name>a)[^\]]*\/$"},
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_schema_is_one(schema):
    assert fault(schema) == ""
    assert accepted_elsewhere(schema)


@pytest.mark.parametrize(
    ("drafts", "schema"),
    [
        ("04", {"exclusiveMinimum": True, "minimum": 3}),
        ("06 07 2019-09 2020-12", {"exclusiveMinimum": 3}),
        ("04 06 07 2019-09", {"items": [{}, {}]}),
        ("06 07 2019-09 2020-12", {"properties": {"a": True}}),
        ("04 06 07 2019-09 2020-12", {"additionalProperties": False}),
        ("04 06 07 2019-09 2020-12", {"dependencies": {"a": ["b"], "c": {}}}),
        ("07 2019-09 2020-12", {"if": {}, "then": {}, "else": {}}),
    ],
)
@pytest.mark.parametrize("draft", DRAFTS)
def test_older_drafts_have_their_own_rules(draft, drafts, schema):
    said = {"$schema": DRAFTS[draft], **schema}
    expected = draft in drafts.split() or "if" in schema
    assert (fault(said) == "") is expected
    assert accepted_elsewhere(said) is expected


def test_names_of_draft_07_can_be_referred_to():
    schema = {"definitions": {"a": {"$id": "#a"}}, "$ref": "#a", "$schema": DRAFTS["07"]}
    assert fault(schema) == ""


@pytest.mark.parametrize("kind", ["string", "array", ["string", "null"]])
def test_arguments_are_an_object(kind):
    assert "arguments are an object" in fault({"type": kind}, arguments=True)
    assert fault({"type": kind}) == ""
    for fine in ({}, {"type": "object"}, {"type": ["object", "null"]}, {"properties": {}}):
        assert fault(fine, arguments=True) == ""


def test_every_source_is_held_to_it():
    for field in ("input_schema", "output_schema"):
        verdict = admit(make_candidate(**{field: {"properties": {"a": {"type": "int"}}}}))
        assert isinstance(verdict, Rejection)
        assert verdict.code == "bad_schema"
        assert verdict.reason.startswith(f"{field}.properties.a.type is 'int'")
    assert isinstance(admit(make_candidate(output_schema={"type": "array"})), Item)
    assert isinstance(admit(make_candidate(input_schema={"type": "array"})), Rejection)


def test_a_place_deep_inside_is_written_short():
    deep: object = 3
    for n in range(30):
        deep = {"properties": {f"{'long' * 20}{n}": deep}}
    reason = fault(deep)
    assert len(reason) < 300
    assert "..." in reason


def test_long_chains_of_references_are_followed_once():
    count = 20_000
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(count)}
    assert fault({"$defs": chain | {f"d{count}": {}}}) == ""
    assert "leads back to itself" in fault({"$defs": chain | {f"d{count}": {"$ref": "#/$defs/d0"}}})


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "a", "^a*$", r"\(", "[(]", "[^]]", "[]", "a|b", "(a|b)+?", r"\d{2,3}", r"\p{L}"),
        *("(?:a)", "(?=a)", "(?<!a)b", "(?<n>a)", "(?P<n>a)", "(?i)a", r"[\]\\]", "a{2", "}", "]"),
    ],
)
def test_regular_expressions_of_any_dialect_pass(pattern):
    assert fault_of_pattern(pattern) == ""


@pytest.mark.parametrize(
    "pattern",
    ["(", "(a", ")", "a)", "[", "[a", r"[a\]", "\\", "*", "+a", "(*a)", "a|?", "x" * 10_001],
)
def test_what_no_dialect_takes_is_refused(pattern):
    assert fault_of_pattern(pattern)


values = st.deferred(lambda: leaves | st.lists(parts, max_size=3) | parts)
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from([0.5, 2.0, "", "a", "#", "a#b", "a b", *TYPES])
    | st.lists(st.sampled_from([*TYPES, "a", 1]), max_size=3)
)
keywords = st.sampled_from(
    sorted({key for d in DRAFTS.values() for key in dialect(d)[0]} - {"$schema"})
)
parts = st.deferred(lambda: st.dictionaries(keywords, values, max_size=3) | named)
named = st.dictionaries(st.sampled_from(["a", "b", "type"]), values, max_size=2)


@settings(max_examples=1000)
@given(schema=st.dictionaries(keywords, values, max_size=4))
def test_the_table_says_what_the_metaschema_says(schema):
    """But for references, which no metaschema looks at."""
    ours = fault(schema)
    if "$ref" in ours or "$dynamicRef" in ours or "regular expression" in ours:
        return
    assert (ours == "") is accepted_elsewhere(schema), ours


@settings(max_examples=500)
@given(
    schema=st.dictionaries(keywords, values, max_size=3),
    draft=st.sampled_from(["04", "06", "07", "2019-09"]),
)
def test_no_older_draft_is_read_more_strictly_than_its_metaschema(schema, draft):
    said = {"$schema": DRAFTS[draft], **schema}
    ours = fault(said)
    if accepted_elsewhere(said):
        assert not ours or "$ref" in ours or "regular expression" in ours, ours
