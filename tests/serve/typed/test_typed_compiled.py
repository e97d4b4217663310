"""What is made passes the compilers, whatever tools are called and whatever they take."""

import ast
import json
import re

import jsonschema
import pytest
from hypothesis import Phase, assume, given, settings
from typed_parts import GATEWAY, checked, compiled, tool
from typed_strategies import arguments, names, pairs

from pegboard.gate.characters import first_forbidden
from pegboard.gate.schemas import check_schema
from pegboard.serve.typed.python import python_module, python_usage
from pegboard.serve.typed.typescript import typescript_module, typescript_usage

pytestmark = pytest.mark.server

MADE = 150


@pytest.fixture(scope="module")
def made():
    """Schemas that the gate lets in, each with a value that fits it."""
    found = []

    @settings(max_examples=MADE, phases=[Phase.generate], database=None)
    @given(pairs)
    def collect(pair):
        schema = arguments(pair[0])
        check_schema("input_schema", schema, arguments=True)
        # The one is no word of JSON Schema, and in the other the validator would run for ever.
        if not {"nullable", "circle"} & set(re.findall(r"\w+", json.dumps(pair[0]))):
            assume(jsonschema.Draft202012Validator(schema).is_valid({"value": pair[1]}))
        found.append((schema, pair[1]))

    collect()
    return found


@pytest.fixture(scope="module")
def hostile():
    """Tools of which everything that can be a text is one that nobody would like."""
    found = []

    @settings(max_examples=MADE, phases=[Phase.generate], database=None)
    @given(names, names, names, pairs)
    def collect(name, category, said, pair):
        found.append(
            tool(
                {"type": "object", "properties": {said: pair[0], name: {"description": said}}},
                {"type": "object", "properties": {category: {"enum": [said, name]}}},
                name or "x",
                id=f"{category}:{said}:{name}:{len(found)}",
                category=category,
                description=f"{said}\n{name}\n{category}",
            )
        )

    collect()
    return found


def test_every_value_that_fits_a_schema_fits_its_type_in_typescript(made, tmp_path):
    items = [tool(schema, name=f"t{n}") for n, (schema, _) in enumerate(made)]
    calls = [f"  tools.mail.t{n}({{ value: {json.dumps(v)} }});" for n, (_, v) in enumerate(made)]
    used = "\n".join(
        ['import { tools } from "./tools.ts";', "export const used = () => {", *calls, "};"]
    )
    files = {"tools.ts": typescript_module(items, GATEWAY), "used.ts": used}
    assert compiled(tmp_path, files) == []


def test_every_value_that_fits_a_schema_fits_its_type_in_python(made, tmp_path):
    items = [tool(schema, name=f"t{n}") for n, (schema, _) in enumerate(made)]
    calls = [f"    tools.mail.t{n}(value={v!r})" for n, (_, v) in enumerate(made)]
    used = "\n".join(["from made import tools", "def used() -> None:", *calls])
    assert checked(tmp_path, {"made.py": python_module(items, GATEWAY), "used.py": used}) == []


def test_hostile_names_and_descriptions_stay_text_in_typescript(hostile, tmp_path):
    """Whatever got out of a comment or a string would be a name that the compiler does not know."""
    assert compiled(tmp_path, {"tools.ts": typescript_module(hostile, GATEWAY)}) == []


def test_hostile_names_and_descriptions_stay_text_in_python(hostile, tmp_path):
    text = python_module(hostile, GATEWAY)
    assert checked(tmp_path, {"made.py": text}) == []
    called = {
        n.func.id
        for n in ast.walk(ast.parse(text))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    assert "PWNED" not in called
    assert not re.search(r"^# mypy", text, re.MULTILINE)


def test_what_a_reader_cannot_see_is_written_out(hostile):
    for text in (typescript_module(hostile, GATEWAY), python_module(hostile, GATEWAY)):
        assert not first_forbidden(text)
        assert "\r" not in text


def test_the_example_of_a_call_compiles_too(made, tmp_path):
    """Whatever a tool cannot do without is there, and of the right type."""
    files, scripts = {}, {}
    for n, (schema, _) in enumerate(made[:40]):
        item = tool(schema, name=f"t{n}")
        files[f"tools{n}.ts"] = typescript_module([item], GATEWAY)
        files[f"used{n}.ts"] = typescript_usage([item]).replace("./tools", f"./tools{n}")
        scripts[f"tools{n}.py"] = python_module([item], GATEWAY)
        scripts[f"used{n}.py"] = python_usage([item]).replace("from tools", f"from tools{n}")
    files["console.d.ts"] = "declare const console: { log(value: unknown): void };"
    assert compiled(tmp_path, files) == []
    assert checked(tmp_path, scripts) == []
