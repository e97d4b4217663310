"""The types say what the schemas say: what is wrong does not compile, and what is right does."""

import re

import pytest
from typed_parts import GATEWAY, checked, compiled, tool

from pegboard.model.items import ToolType
from pegboard.serve.typed.python import python_module
from pegboard.serve.typed.typescript import typescript_module

TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "kids": {"items": {"$ref": "#/$defs/Tree"}}},
    "required": ["name"],
}
ISSUE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "state": {"enum": ["open", "closed", None]},
        "labels": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "integer", "default": 3},
        "tree": {"$ref": "#/$defs/Tree"},
        "point": {"prefixItems": [{"type": "number"}, {"type": "string"}], "minItems": 1},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "closed": False,
        "extra": {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": ["number", "null"]}}},
            ]
        },
    },
    "required": ["title", "size"],
    "$defs": {"Tree": TREE},
    "additionalProperties": False,
}
EITHER = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
}
ITEMS = [
    tool(ISSUE, {"type": "object", "properties": {"number": {"type": "integer"}}}, "create issue"),
    tool(EITHER, {"type": "array", "items": {"type": "string"}}, "find"),
    tool({"type": "object", "properties": {}}, {"type": "string"}, "ping"),
    tool({"type": "object", "properties": {"per-page": {"type": "integer"}}}, name="list"),
    tool({"type": "object", "properties": {"a": {"default": 1}}, "required": ["a"]}, name="remote",
         tool_type=ToolType.MCP),
    tool(None, name="anything"),
]  # fmt: skip

TYPESCRIPT = """
import { tools } from "./tools.ts";

export async function used(): Promise<void> {
  await tools.mail.createIssue({ title: "a" });
  await tools.mail.createIssue({ title: "a", state: "open", labels: ["x"], size: 4 });
  await tools.mail.createIssue({ title: "a", state: null, point: [1.5] });
  await tools.mail.createIssue({ title: "a", tree: { name: "x", kids: [{ name: "y" }] } });
  await tools.mail.createIssue({ title: "a", counts: { any: 1 }, extra: { a: "x", b: null } });
  await tools.mail.createIssue(); // wrong
  await tools.mail.createIssue({}); // wrong
  await tools.mail.createIssue({ title: 1 }); // wrong
  await tools.mail.createIssue({ title: "a", state: "ajar" }); // wrong
  await tools.mail.createIssue({ title: "a", labels: "x" }); // wrong
  await tools.mail.createIssue({ title: "a", labels: [1] }); // wrong
  await tools.mail.createIssue({ title: "a", size: "large" }); // wrong
  await tools.mail.createIssue({ title: "a", titel: "b" }); // wrong
  await tools.mail.createIssue({ title: "a", tree: { kids: [] } }); // wrong
  await tools.mail.createIssue({ title: "a", tree: { name: "x", kids: [{}] } }); // wrong
  await tools.mail.createIssue({ title: "a", point: ["x"] }); // wrong
  await tools.mail.createIssue({ title: "a", point: [] }); // wrong
  await tools.mail.createIssue({ title: "a", counts: { any: "x" } }); // wrong
  await tools.mail.createIssue({ title: "a", closed: 1 }); // wrong
  await tools.mail.createIssue({ title: "a", extra: { b: 1 } }); // wrong
  await tools.mail.createIssue({ title: "a", extra: { a: "x", b: "y" } }); // wrong
  const { number } = await tools.mail.createIssue({ title: "a" });
  const whole: number | undefined = number;
  const text: string = number; // wrong
  await tools.mail.find({ id: 1 });
  await tools.mail.find({ id: 1, name: "a" });
  await tools.mail.find({}); // wrong
  const found: string[] = await tools.mail.find({ name: "a" });
  const other: number[] = await tools.mail.find({ name: "a" }); // wrong
  const pong: string = await tools.mail.ping();
  await tools.mail.ping({ a: 1 }); // wrong
  await tools.mail.list();
  await tools.mail.list({ "per-page": 2 });
  await tools.mail.list({ perPage: 2 }); // wrong
  await tools.mail.remote({ a: 1 });
  await tools.mail.remote(); // wrong
  const unknown: unknown = await tools.mail.anything({ whatever: [1] });
  const known: string = await tools.mail.anything(); // wrong
  await tools.mail.nothing(); // wrong
  console.log(whole, text, found, other, pong, unknown, known);
}
declare const console: { log(...texts: unknown[]): void };
"""

PYTHON = """
from made import MailCreateIssueOutput, tools


def used() -> None:
    tools.mail.create_issue(title="a")
    tools.mail.create_issue(title="a", state="open", labels=["x"], size=4)
    tools.mail.create_issue(title="a", state=None, point=[1.5])
    tools.mail.create_issue(title="a", tree={"name": "x", "kids": [{"name": "y", "kids": []}]})
    tools.mail.create_issue(title="a", counts={"any": 1}, extra={"a": "x", "b": None})
    tools.mail.create_issue()  # wrong
    tools.mail.create_issue({"title": "a"})  # wrong
    tools.mail.create_issue(title=1)  # wrong
    tools.mail.create_issue(title="a", state="ajar")  # wrong
    tools.mail.create_issue(title="a", labels="x")  # wrong
    tools.mail.create_issue(title="a", labels=[1])  # wrong
    tools.mail.create_issue(title="a", size="large")  # wrong
    tools.mail.create_issue(title="a", titel="b")  # wrong
    tools.mail.create_issue(title="a", tree={"kids": []})  # wrong
    tools.mail.create_issue(title="a", tree={"name": "x", "kids": [{}]})  # wrong
    tools.mail.create_issue(title="a", counts={"any": "x"})  # wrong
    tools.mail.create_issue(title="a", closed=1)  # wrong
    tools.mail.create_issue(title="a", extra={"b": 1})  # wrong
    tools.mail.create_issue(title="a", extra={"a": "x", "b": "y"})  # wrong
    made: MailCreateIssueOutput = tools.mail.create_issue(title="a")
    whole: int | None = made.get("number")
    text: str = made["number"]  # wrong
    tools.mail.find({"id": 1})
    tools.mail.find({"id": 1, "name": "a"})
    tools.mail.find({})  # wrong
    found: list[str] = tools.mail.find({"name": "a"})
    other: list[int] = tools.mail.find({"name": "a"})  # wrong
    pong: str = tools.mail.ping()
    tools.mail.ping(a=1)  # wrong
    tools.mail.list()
    tools.mail.list({"per-page": 2})
    tools.mail.list({"per_page": 2})  # wrong
    tools.mail.remote(a=1)
    tools.mail.remote()  # wrong
    anything: int = tools.mail.anything({"whatever": [1]})
    tools.mail.nothing()  # wrong
    print(whole, text, found, other, pong, anything)
"""


def lines_marked(text: str) -> set[int]:
    return {n for n, line in enumerate(text.splitlines(), 1) if line.endswith(" wrong")}


@pytest.mark.program
def test_in_typescript(tmp_path):
    said = compiled(
        tmp_path, {"tools.ts": typescript_module(ITEMS, GATEWAY), "used.ts": TYPESCRIPT}
    )
    found = [re.match(r"(\w+)\.ts\((\d+),", line) for line in said]
    places = {(place[1], int(place[2])) for place in found if place}
    assert places == {("used", line) for line in lines_marked(TYPESCRIPT)}


@pytest.mark.program
def test_in_python(tmp_path):
    said = checked(tmp_path, {"made.py": python_module(ITEMS, GATEWAY), "used.py": PYTHON})
    places = {tuple(line.split(":")[:2]) for line in said}
    assert places == {("used.py", str(line)) for line in lines_marked(PYTHON)}


SHAPES = [
    ({}, "unknown", "Any"),
    ({"type": "string"}, "string", "str"),
    ({"type": ["integer", "null"]}, "number | null", "int | None"),
    ({"type": "string", "nullable": True}, "string | null", "str | None"),
    ({"enum": ["a", 1, True, None]}, '"a" | 1 | true | null', "Literal['a', 1, True] | None"),
    ({"const": "don't"}, '"don\'t"', '''Literal["don't"]'''),
    ({"enum": [1.5, 2.0]}, "1.5 | 2", "Literal[2] | float"),
    ({"enum": [10**20]}, "number", "int"),
    ({"type": "string", "enum": ["a", None, 1]}, '"a"', "Literal['a']"),
    ({"type": "array"}, "unknown[]", "list[Any]"),
    ({"items": {"type": ["string", "number"]}}, "(string | number)[]", "list[str | float]"),
    ({"prefixItems": [{"type": "string"}]}, "[string?, ...unknown[]]", "list[Any]"),
    ({"prefixItems": [{"type": "string"}], "items": False, "minItems": 1}, "[string]", "list[str]"),
    ({"type": "object"}, "{ [key: string]: unknown }", "dict[str, Any]"),
    ({"additionalProperties": False}, "{ [key: string]: never }", "dict[str, Never]"),
    ({"additionalProperties": {"type": "integer"}}, "{ [key: string]: number }", "dict[str, int]"),
    ({"patternProperties": {"^x": {"type": "null"}}}, "{ [key: string]: null }", "dict[str, None]"),
    ({"anyOf": [{"type": "string"}, True]}, "unknown", "Any"),
    ({"anyOf": [{"type": "string"}, {"enum": ["a"]}]}, 'string | "a"', "Literal['a'] | str"),
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "number", "float"),
    ({"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, "string", "str"),
    ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "number", "int"),
    ({"allOf": [{"type": "string"}, {"type": "object"}]}, "unknown", "Any"),
    ({"not": {"type": "string"}}, "unknown", "Any"),
    ({"$ref": "#/nowhere"}, "unknown", "Any"),
    ({"$ref": "https://elsewhere.example/schema"}, "unknown", "Any"),
    (False, "never", "Never"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "typescript", "python"), SHAPES)
def test_a_schema_as_a_type(schema, typescript, python):
    item = tool({"properties": {"it": schema}, "required": ["it"]})
    assert f"  it: {typescript};\n" in typescript_module([item], GATEWAY)
    assert f"    it: {python}\n" in python_module([item], GATEWAY)


def test_a_schema_of_the_older_drafts_is_read_by_their_words():
    older = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"Id": {"type": "string"}},
        "properties": {
            "pair": {"items": [{"type": "string"}], "additionalItems": {"type": "number"}},
            "id": {"$ref": "#/definitions/Id"},
        },
    }
    made = typescript_module([tool(older)], GATEWAY)
    assert "  pair?: [string?, ...number[]];\n  id?: Id;\n" in made
    assert "export type Id = string;" in made


def test_references_lead_by_pointer_by_anchor_and_to_the_whole():
    schema = {
        "properties": {
            "a": {"type": "string", "$anchor": "here"},
            "b": {"$ref": "#here"},
            "c": {"$ref": "#/properties/a"},
            "d": {"$ref": "#"},
        }
    }
    made = typescript_module([tool(schema)], GATEWAY)
    assert "  b?: Here;\n  c?: A;\n  d?: MailSend;\n" in made
    assert "export type Here = string;" in made


def test_what_is_deprecated_says_so():
    item = tool(None, deprecated=True)
    assert "     * Deprecated.\n     */\n    send: (" in typescript_module([item], GATEWAY)
    assert "        Deprecated.\n" in python_module([item], GATEWAY)
    item = tool(None, deprecated=True, replacement="tools:mail:Post")
    told = "        Deprecated; use tools:mail:Post instead.\n"
    assert told in python_module([item], GATEWAY)
