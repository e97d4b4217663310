"""Names: legal, telling, different from one another, and the same tomorrow."""

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_parts import GATEWAY, tool
from typed_strategies import HOSTILE

from making import make_item
from pegboard.model.items import ItemId
from pegboard.serve.typed.naming import Names, camel, pascal, snake
from pegboard.serve.typed.python import python_module
from pegboard.serve.typed.typescript import typescript_module

NAMES = [
    ("create_issue", "createIssue", "CreateIssue", "create_issue"),
    ("createIssue", "createIssue", "CreateIssue", "create_issue"),
    ("Create Issue", "createIssue", "CreateIssue", "create_issue"),
    ("repos/get-latest-pages-build", "reposGetLatestPagesBuild", "ReposGetLatestPagesBuild",
     "repos_get_latest_pages_build"),
    ("GET_users", "getUsers", "GETUsers", "get_users"),
    ("listURLs", "listURLs", "ListURLs", "list_urls"),
    ("HTTPGet", "httpGet", "HTTPGet", "http_get"),
    ("3d-print", "_3dPrint", "_3dPrint", "_3d_print"),
    ("名前", "名前", "名前", "名前"),
    ("Füße", "füße", "Füße", "füße"),
    ("a\u202eb\ufe0fc\u3164d", "aBCD", "ABCD", "a_b_c_d"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "in_camel", "in_pascal", "in_snake"), NAMES)
def test_a_name_in_each_style(text, in_camel, in_pascal, in_snake):
    assert (camel(text), pascal(text), snake(text)) == (in_camel, in_pascal, in_snake)


@given(st.text() | st.sampled_from(HOSTILE))
def test_whatever_a_tool_is_called_its_name_is_legal(text):
    for name in (camel(text), pascal(text, "Value"), snake(text)):
        assert name.isidentifier()
        assert len(name) <= 81


@given(st.lists(st.sampled_from(["send", "Send", "SEND", "ſend", "send_x"]), min_size=2))
def test_no_two_names_differ_by_case_alone(wanted):
    names = Names(["reserved"])
    given_out = [names.take(str(n), each) for n, each in enumerate(wanted)]
    assert len({each.casefold() for each in given_out}) == len(wanted)


def functions(text: str) -> dict[str, str]:
    """By their address, in TypeScript or Python: how they are called."""
    if "export const tools" in text:
        body = text.partition("export const tools")[2]
        groups = re.split(r"(?m)^  (\S+): \{$", body)[1:]
        pairs = zip(groups[::2], groups[1::2], strict=True)
        called = re.compile(r'(?m)^    (\S+): \(.*\n +call\("([^"]+)"')
        return {path: f"{g}.{name}" for g, part in pairs for name, path in called.findall(part)}
    tree = ast.parse(text)
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    found = {}
    for line in classes["Tools"].body:
        assert isinstance(line, ast.Assign)
        group, owner = line.targets[0].id, classes[line.value.func.id]
        for each in owner.body:
            path = re.search(r"_call\('([^']+)'", ast.unparse(each))
            found[path[1]] = f"{group}.{each.name}"
    return found


def path_of(item) -> str:
    return re.sub(r"[:/]", lambda m: {":": "%3A", "/": "%2F"}[m[0]], f"{item.namespace}/{item.id}")


TAKEN = [
    make_item("create", id=ItemId("github:issues:create"), category="issues"),
    make_item("create", id=ItemId("gitlab:issues:create"), category="issues"),
    make_item("Create", id=ItemId("jira:Issues:Create"), category="Issues"),
    make_item("create", id=ItemId("github:issues:create"), category="issues", namespace="team"),
    make_item("issues/close", id=ItemId("github:issues:close"), category="issues"),
    make_item("constructor", id=ItemId("x:then:constructor"), category="then"),
    make_item("import", id=ItemId("x:class:import"), category="class"),
    make_item("list", id=ItemId("x:class:list"), category="class"),
    make_item("🚀", id=ItemId("x::🚀"), category=""),
    make_item("🛸", id=ItemId("x::🛸"), category=""),
]


def test_tools_that_would_have_the_same_name_are_told_apart_by_where_they_are_from():
    found = list(functions(typescript_module(TAKEN, GATEWAY)).values())
    assert sorted(found) == sorted(
        [
            *("issues.create", "issues.createGitlab", "issues.createJira", "issues.createGithub"),
            *("issues.close", "then_.constructor_", "class.import", "class.list"),
            *("x.tool", "x.toolX"),
        ]
    )
    found = list(functions(python_module(TAKEN, GATEWAY)).values())
    assert sorted(found) == sorted(
        [
            *("issues.create", "issues.create_gitlab", "issues.create_jira"),
            *("issues.create_github", "issues.close", "then.constructor", "class_.import_"),
            *("class_.list", "x.tool", "x.tool_x"),
        ]
    )


@settings(max_examples=30)
@given(st.permutations(TAKEN), st.integers(1, len(TAKEN)))
def test_tools_that_are_added_rename_none_of_those_before_them(items, count):
    for make in (typescript_module, python_module):
        before, after = (functions(make(each, GATEWAY)) for each in (items[:count], items))
        assert after.items() >= before.items()
        assert len({name.casefold() for name in after.values()}) == len(items)


def types(text: str) -> dict[str, str]:
    return dict(re.findall(r"(?ms)^export type (\S+) = (.*?;)$", text))


def test_definitions_that_are_the_same_are_written_once_and_others_keep_apart():
    def refers(name, definition, inner="string"):
        return tool(
            {
                "properties": {"it": {"$ref": "#/$defs/Thing"}},
                "$defs": {"Thing": definition, "Inner": {"type": inner}},
            },
            name=name,
            id=ItemId(f"shop:mail:{name}"),
        )

    thing = {"type": "object", "properties": {"inner": {"$ref": "#/$defs/Inner"}}}
    items = [refers("a", thing), refers("b", thing), refers("c", thing, "integer")]
    found = types(typescript_module(items, GATEWAY))
    assert sorted(name for name in found if not name.endswith("Input")) == [
        *("Inner", "ShopInner", "ShopThing", "Thing")
    ]
    assert found["MailAInput"] == found["MailBInput"]
    assert "inner?: Inner;" in found["Thing"]
    assert "inner?: ShopInner;" in found["ShopThing"]
    assert found["ShopInner"] == "number;"
    assert types(typescript_module(items[:2], GATEWAY)).items() <= found.items()
