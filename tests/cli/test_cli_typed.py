"""`pegboard search --output types|python`: how sure each hit is, and code to call them with."""

import ast
import re

import pytest


def parts(text: str) -> tuple[list[str], list[str]]:
    """The rows of the table, and the blocks of code."""
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return rows, re.findall(r"(?ms)^(`{3,})\w+\n(.*?)^\1$", text)


def test_types_are_a_table_a_module_and_an_example(pegboard, board):
    told = pegboard("search", "send", "a", "message", "--output", "types", "--limit", "2")
    rows, blocks = parts(told.out)
    hits = pegboard("search", "send", "a", "message", "--json", "--limit", "2").json["hits"]
    assert [row.split(" | ")[0] for row in rows] == [f"| {hit['id']}" for hit in hits]
    assert all(re.search(r"\| \d\.\d\d \| \S", row) for row in rows)
    module, example = (code for _, code in blocks)
    assert 'const GATEWAY = "http://127.0.0.1:8420";' in module
    for hit in hits:
        assert f"public%2F{hit['id'].replace(':', '%3A')}" in module
    assert 'import { tools } from "./tools.ts";' in example
    assert "await tools.chat.postMessage()" in example
    assert "```typescript\n" in told.out


def test_python_is_the_same_in_python(pegboard, board):
    told = pegboard("search", "send", "a", "message", "--output", "python", "--limit", "2")
    rows, blocks = parts(told.out)
    assert len(rows) == 2
    module, example = (code for _, code in blocks)
    ast.parse(module)
    assert "_GATEWAY = 'http://127.0.0.1:8420'" in module
    assert "result = tools.chat.post_message()\n" in example


def test_calls_go_to_where_the_gateway_is_to_be(pegboard, board, monkeypatch):
    search = ("search", "message", "--output", "types")
    monkeypatch.setenv("PEGBOARD_SERVE_HOST", "::")
    monkeypatch.setenv("PEGBOARD_SERVE_PORT", "99")
    assert 'GATEWAY = "http://[::1]:99"' in pegboard(*search).out
    monkeypatch.setenv("PEGBOARD_SERVE_PUBLIC_URL", "https://tools.example.com/")
    assert 'GATEWAY = "https://tools.example.com"' in pegboard(*search).out


def test_a_table_is_what_is_printed_unless_something_else_is_asked_for(pegboard, board):
    search = ("search", "message")
    assert pegboard(*search, "--output", "table").out == pegboard(*search).out


def test_code_is_for_tools_alone(pegboard, board, tools, desk):
    knowledge = desk / ".ai" / "knowledge" / "messages.md"
    knowledge.parent.mkdir(parents=True)
    knowledge.write_text("---\nid: messages\ntitle: Messages\n---\n\nHow to send a message.\n")
    assert pegboard("add", "folder", ".ai").code == 0
    assert "messages" in pegboard("search", "messages").out
    rows, _ = parts(pegboard("search", "messages", "--output", "types").out)
    assert rows
    assert not any("knowledge" in row for row in rows)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (["--json", "--output", "types"], "--json and --output types do not go together"),
        (["--kind", "skill", "--output", "types"], "--kind skill and --output types"),
        (["--compact", "--output", "python"], "--compact and --output python"),
        (["--explain", "--output", "types"], "--explain and --output types"),
        (["--nearest", "--output", "types"], "--nearest and --output types"),
        (["--budget-tokens", "9", "--output", "types"], "--budget-tokens and --output types"),
    ],
)
def test_what_does_not_go_together_is_told(pegboard, board, said, complaint):
    told = pegboard("search", "message", *said)
    assert told.code == 2
    assert complaint in told.err


def test_nothing_that_fits_is_no_code(pegboard, board):
    told = pegboard("search", "message", "--threshold", "1", "--output", "types")
    assert (told.code, told.out) == (1, "")
    assert "no tool fits" in told.err


def test_hostile_descriptions_end_neither_the_table_nor_the_block(pegboard, tools, desk):
    tools.write("chat/post|x", "Post | a message.\n\n    ````\n    code\n    ````\n    */")
    for command in (("init",), ("add", "folder", "tools")):
        assert pegboard(*command).code == 0
    told = pegboard("search", "post", "a", "message", "--output", "types", "--limit", "3")
    _, blocks = parts(told.out)
    assert [mark for mark, _ in blocks] == ["`````", "```"]
    assert "post\\|x" in told.out.partition("`````")[0]
    assert "*\\/" in blocks[0][1]
