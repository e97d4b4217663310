"""Parameters without description: nested ones, required ones first, and hostile schemas."""

from hypothesis import given
from hypothesis import strategies as st

from pegboard.search.undescribed import MOST_PATHS, undescribed


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


SAID = {"type": "string", "description": "What it is."}
UNSAID = {"type": "string"}


def test_only_those_that_nobody_described():
    assert undescribed(schema(a=SAID, b=UNSAID, c={"description": "  "})) == ("b", "c")
    assert undescribed({}) == ()
    assert undescribed(schema(a=SAID)) == ()


def test_required_ones_stand_first():
    assert undescribed(schema(["c", "b"], a=UNSAID, b=UNSAID, c=UNSAID)) == ("b", "c", "a")


def test_what_is_required_only_inside_something_optional_is_not_required():
    inner = schema(["x"], x=UNSAID) | {"description": "A filter."}
    assert undescribed(schema(["z"], inner=inner, z=UNSAID)) == ("z", "inner.x")
    assert undescribed(schema(["inner"], z=UNSAID, inner=inner)) == ("inner.x", "z")


def test_paths_lead_into_objects_lists_and_maps():
    entry = schema(name=UNSAID)
    found = undescribed(
        schema(
            tags={"type": "array", "description": "All.", "items": entry},
            by_key={"description": "More.", "additionalProperties": entry},
            odd={"description": "Odd.", "patternProperties": {"^x": entry}},
        )
    )
    assert found == ("tags[].name", "by_key[].name", "odd[].name")


def test_one_of_several_forms_is_looked_into_and_may_describe_the_whole():
    either = {"anyOf": [{"type": "null"}, schema(["x"], x=UNSAID)]}
    assert undescribed(schema(["a"], a=either)) == ("a", "a.x")
    told = {"anyOf": [{"type": "null"}, {"type": "string", "description": "A name."}]}
    assert undescribed(schema(a=told)) == ()
    both = {"allOf": [{"description": "Both."}, schema(["x"], x=UNSAID)]}
    assert undescribed(schema(["a"], a=both)) == ("a.x",)


def test_references_are_followed_and_their_target_may_describe():
    definitions = {"$defs": {"Told": SAID, "Untold": schema(["x"], x=UNSAID)}}
    told, untold = {"$ref": "#/$defs/Told"}, {"$ref": "#/$defs/Untold"}
    assert undescribed(schema(a=told, b=untold) | definitions) == ("b", "b.x")
    own = untold | {"description": "Mine."}
    assert undescribed(schema(["a"], a=own) | definitions) == ("a.x",)


def test_a_schema_that_refers_to_itself_comes_to_an_end():
    node = schema(["child"], child={"$ref": "#/$defs/Node"}, other={"$ref": "#/$defs/Node"})
    found = undescribed({"$ref": "#/$defs/Node", "$defs": {"Node": node}})
    assert found[:2] == ("child", "other")
    circle = {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    assert undescribed(schema(x={"$ref": "#/$defs/A"}) | circle) == ("x",)
    assert undescribed(schema(x={"$ref": "#"})) == ("x", "x.x")
    assert undescribed(schema(x={"$ref": "http://example.com/x"}, y={"$ref": 7})) == ("x", "y")


def test_deep_wide_and_branching_schemas_are_bounded():
    deep = UNSAID
    for _ in range(500):
        deep = schema(["a"], a=deep)
    assert undescribed(deep)[0] == "a"
    assert len(undescribed(schema(**{f"p{n}": UNSAID for n in range(20_000)}))) == MOST_PATHS
    twice = {"$defs": {str(n): _twice(n + 1) for n in range(60)}}
    assert undescribed(_twice(0) | twice)[:2] == ("a", "b")


def _twice(number):
    return schema(a={"$ref": f"#/$defs/{number}"}, b={"$ref": f"#/$defs/{number}"})


def test_other_scripts_and_strange_names_are_paths_too():
    assert undescribed(schema(**{"名前": UNSAID, "": UNSAID, "a.b": UNSAID})) == ("名前", "a.b")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("properties", "required", "items", "anyOf", "allOf", "$ref", "$defs", "a"),
                    *("description", "additionalProperties", "patternProperties", "#/a"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=40,
)


@given(st.dictionaries(st.sampled_from(["properties", "items", "anyOf", "$ref"]), anything))
def test_whatever_stands_in_a_schema_it_answers(found):
    paths = undescribed(found)
    assert len(paths) == len({*paths}) <= MOST_PATHS
