import ast
import json
import threading
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sources.python.docstring import Docstring
from pegboard.sources.python.signature import (
    MAX_DEPTH,
    input_schema,
    output_schema,
    top_level_names,
)
from pegboard.sources.python.syntax import json_value, parse_quietly


def schemas(source, described=None):
    """Input and output schema of the last function in the source."""
    module = parse_quietly(source)
    function = module.body[-1]
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    names = top_level_names(module)
    described = described or Docstring()
    return input_schema(function, described, names), output_schema(function, described, names)


def annotated(annotation, before=""):
    schema, _ = schemas(f"{before}\ndef run(x: {annotation}): ...")
    return schema["properties"]["x"]


def definitions(before, annotation="X"):
    schema, _ = schemas(f"{before}\ndef run(x: {annotation}): ...")
    return schema.get("$defs")


STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
PAIR = {"type": "array", "minItems": 2, "maxItems": 2}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("str", STRING),
        ("int", INTEGER),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("None", NULL),
        ("list", {"type": "array"}),
        ("list[int]", {"type": "array", "items": INTEGER}),
        ("typing.List[str]", {"type": "array", "items": STRING}),
        ("Sequence[Any]", {"type": "array"}),
        ("set[str]", {"type": "array", "items": STRING, "uniqueItems": True}),
        ("tuple[int, ...]", {"type": "array", "items": INTEGER}),
        ("tuple[int, str]", {**PAIR, "prefixItems": [INTEGER, STRING]}),
        ("tuple[()]", {"type": "array"}),
        ("dict", {"type": "object"}),
        ("dict[str, int]", {"type": "object", "additionalProperties": INTEGER}),
        ("Mapping[str, object]", {"type": "object"}),
        ("Literal['a', 'b', 'a']", {"type": "string", "enum": ["a", "b"]}),
        ("t.Literal[1, -2]", {"type": "integer", "enum": [1, -2]}),
        ("Literal['a', 1, None, True]", {"enum": ["a", 1, None, True]}),
        ("Literal[Color.RED]", {}),
        ("Optional[str]", {"anyOf": [STRING, NULL]}),
        ("str | None", {"anyOf": [STRING, NULL]}),
        ("Union[str, int, None]", {"anyOf": [STRING, INTEGER, NULL]}),
        ("Optional[str | int]", {"anyOf": [STRING, INTEGER, NULL]}),
        ("str | str", STRING),
        ("str | Unknown", {}),
        ("Any", {}),
        ("object", {}),
        ("pandas.DataFrame", {}),
        ("'list[int] | None'", {"anyOf": [{"type": "array", "items": INTEGER}, NULL]}),
        ("list['str']", {"type": "array", "items": STRING}),
        ("datetime.datetime", {"type": "string", "format": "date-time"}),
        ("date", {"type": "string", "format": "date"}),
        ("UUID", {"type": "string", "format": "uuid"}),
        ("Path", STRING),
        ("Annotated[int, 'How many.']", {**INTEGER, "description": "How many."}),
        (
            "Annotated[int, Ge(1), Field(ge=0, description='Why.')]",
            {**INTEGER, "description": "Why."},
        ),
        ("Annotated", {}),
        ("'not python ('", {}),
        ("lambda: 3", {}),
        ("x[1:2, ...]", {}),
        ("3", {}),
    ],
)
def test_annotations_become_schemas(annotation, schema):
    assert annotated(annotation) == schema


def test_every_parameter_is_named_in_order_and_described():
    source = "def run(self, a, /, b: int, c: str = 'x', *args, d: bool, e=None, **rest): ..."
    schema, _ = schemas(source, Docstring({"b": "The b.", "self": "no"}))
    assert schema == {
        "type": "object",
        "properties": {
            "a": {},
            "b": {"type": "integer", "description": "The b."},
            "c": {"type": "string", "default": "x"},
            "d": {"type": "boolean"},
            "e": {"default": None},
        },
        "required": ["a", "b", "d"],
        "additionalProperties": True,
    }


def test_without_keyword_rest_nothing_else_is_allowed():
    assert schemas("async def run(): ...")[0] == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


def test_a_default_of_none_makes_the_type_nullable():
    [schema] = schemas("def run(x: Annotated[str, 'Why.'] = None): ...")[0]["properties"].values()
    assert schema == {"anyOf": [STRING, NULL], "description": "Why.", "default": None}


@pytest.mark.parametrize(
    "default",
    ["f()", "{1, 2}", "b'x'", "1e999", "{1: 2}", "...", "'\\ud800'", "0x" + "f" * 9000, "'x' * 9"],
)
def test_a_default_that_json_cannot_say_is_left_out_but_makes_the_parameter_optional(default):
    schema, _ = schemas(f"def run(x={default}): ...")
    assert schema["properties"] == {"x": {}}
    assert schema["required"] == []


def test_pydantic_fields_say_what_is_required():
    source = "def run(a: int = Field(..., description='An a.'), b: int = Field(3)): ..."
    schema, _ = schemas(source)
    assert schema["properties"]["a"] == {"type": "integer", "description": "An a."}
    assert schema["properties"]["b"] == {"type": "integer", "default": 3}
    assert schema["required"] == ["a"]


def test_models_become_definitions_with_inherited_fields():
    source = """
class Base(pydantic.BaseModel):
    name: str
    kind: str

class X(Base):
    '''A thing.'''
    count: int = 1
    kind: Literal["x"]
    tags: list[str] = Field(default_factory=list, description="Marks.")
    limit: ClassVar[int] = 5
    _hidden: int
"""
    assert annotated("list[X]", source) == {"type": "array", "items": {"$ref": "#/$defs/X"}}
    assert definitions(source) == {
        "X": {
            "type": "object",
            "description": "A thing.",
            "properties": {
                "name": STRING,
                "kind": {"type": "string", "enum": ["x"]},
                "count": {"type": "integer", "default": 1},
                "tags": {"type": "array", "items": STRING, "description": "Marks."},
            },
            "required": ["name", "kind"],
        }
    }


def test_dataclasses_and_typed_dicts_become_definitions():
    source = """
@dataclass(frozen=True)
class Point:
    x: float
    y: float = field(default=0.0)
    size: float = field(init=False)

class X(TypedDict, total=False):
    at: Required[Point]
    note: str
"""
    assert definitions(source) == {
        "X": {
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/Point"}, "note": STRING},
            "required": ["at"],
        },
        "Point": {
            "type": "object",
            "properties": {"x": {"type": "number"}, "y": {"type": "number", "default": 0.0}},
            "required": ["x"],
        },
    }


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        ("class X(Enum):\n A = 'a'\n B = 'b'", {"type": "string", "enum": ["a", "b"]}),
        ("class X(str, enum.Enum):\n A = 'a'", {"type": "string", "enum": ["a"]}),
        ("class X(StrEnum):\n RED = auto()", {"type": "string", "enum": ["red"]}),
        ("class X(Enum):\n RED = auto()", {}),
        ("class X(Enum):\n PAIR = (1, 2)", {}),
    ],
)
def test_enumerations_become_their_values(body, schema):
    assert definitions(body) == {"X": schema}


def test_an_ordinary_class_accepts_anything():
    assert annotated("X", "class X:\n a: int") == {}


def test_aliases_are_followed():
    assert annotated("Level", "Level = Literal['low', 'high']")["enum"] == ["low", "high"]
    assert annotated("Level", "Level: TypeAlias = 'int'") == INTEGER


def test_recursive_types_end():
    assert annotated("A", "A = 'A'") == {}
    assert annotated("A", "A = Optional['B']\nB = Optional['A']") == {}
    node = "class X(TypedDict):\n next: 'X | None'"
    assert definitions(node)["X"]["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/X"}, NULL]}
    assert len(definitions("class X(X, BaseModel):\n a: int")) == 1


def test_the_result_is_described():
    _, output = schemas("def run() -> list[int]: ...", Docstring({}, "The numbers."))
    assert output == {"type": "array", "items": INTEGER, "description": "The numbers."}
    assert schemas("def run(): ...", Docstring({}, "The numbers."))[1] == {}
    _, output = schemas("class X(BaseModel):\n a: int\ndef run() -> X: ...")
    assert output["$ref"] == "#/$defs/X"
    assert "X" in output["$defs"]


def test_deep_annotations_are_cut():
    schema = annotated("list[" * 150 + "int" + "]" * 150)
    assert json.dumps(schema).count("array") == MAX_DEPTH + 1


@pytest.mark.parametrize(
    "source",
    [
        "def run(x: " + "|".join(["a"] * 2000) + "): ...",
        "def run(x: a" + ".a" * 2000 + "): ...",
        "def run(x=" + "[" * 190 + "]" * 190 + "): ...",
        "".join(f"A{i} = tuple[{','.join([f'A{i + 1}'] * 60)}]\n" for i in range(30))
        + "def run(x: A0): ...",
        "A = Literal["
        + ",".join(map(str, range(20_000)))
        + "]\ndef run("
        + ",".join(f"a{i}: A" for i in range(2_000))
        + "): ...",
        "".join(f"class C{i}(BaseModel):\n a: 'C{i + 1}'\n" for i in range(3_000))
        + "def run(x: C0): ...",
    ],
)
def test_a_hostile_signature_gives_a_schema_of_bounded_size(source):
    schema, _ = schemas(source)
    assert len(json.dumps(schema)) < 1 << 20


def test_a_repeated_parameter_is_required_once():
    assert schemas("def run(a, a): ...")[0]["required"] == ["a"]


def test_parsing_warns_nobody_and_leaves_the_filters_as_they_were():
    before = list(warnings.filters)
    threads = [
        threading.Thread(target=parse_quietly, args=("'\\d', 1if x else 2",)) for _ in "1234"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parse_quietly("x = '\\d'").body
    assert list(warnings.filters) == before


def test_a_long_literal_is_left_out():
    [statement] = parse_quietly(f"'{'x' * 5000}'").body
    assert isinstance(statement, ast.Expr)
    assert json_value(statement.value) == ()


@given(st.text(alphabet="abX[]|.,'\"() 1:{}*-intstrLiteralOptional\\", max_size=60))
def test_any_annotation_has_a_schema(annotation):
    schema = annotated(repr(annotation))
    assert json.dumps(schema)
