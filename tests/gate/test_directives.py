import tracemalloc

import pytest
from gate_parts import admitted, example_in, refused

from pegboard.model.content import Access, Link, Permission, Resource
from pegboard.model.items import Form, Kind

NAME = "deploy_staging"


def directive(inner, name=NAME, version="1.0.0", around="Says what it does.\n\n{}\n"):
    element = f'<directive name="{name}" version="{version}">\n{inner}\n</directive>'
    return around.format(element)


def item(text, **fields):
    return admitted(Form.DIRECTIVE, text, NAME, **fields)


def fault(text, **fields):
    return refused(Form.DIRECTIVE, text, NAME, **fields)


def test_the_example_of_the_documentation_is_admitted():
    text = example_in("directives.md", "markdown")
    found = item(text)
    assert (found.id, found.kind) == (f"directives:ops:{NAME}", Kind.DIRECTIVE)
    assert found.name == NAME
    assert found.description.startswith("Build the project and deploy it to staging")
    assert (found.author, found.tags, found.category) == ("platform", ("deploy", "staging"), "ops")
    assert found.input_schema == {
        "type": "object",
        "properties": {
            "branch": {"type": "string", "description": "Branch to deploy."},
            "replicas": {"type": "integer", "default": 2, "description": "How many servers."},
        },
        "required": ["branch"],
    }
    assert found.permissions == (
        Permission(Access.READ, Resource.FILESYSTEM, "src/**"),
        Permission(Access.WRITE, Resource.FILESYSTEM, "dist/**"),
        Permission(Access.EXECUTE, Resource.SHELL, "make build"),
        Permission(Access.EXECUTE, Resource.TOOL, "tools:ops:release"),
    )
    assert set(found.links) == {Link("uses", "tools:ops:release"), Link("requires", "run_tests")}
    version = found.version
    assert version is not None
    assert version.version == "1.0.0"
    assert version.manifest_text == text
    assert version.manifest.keys() == {
        *("name", "version", "metadata", "permissions", "inputs", "steps", "outputs")
    }
    assert version.manifest["steps"] == [
        {
            "name": "build",
            "description": "Build the project",
            "action": "Run `make build && make check`.",
        },
        {"name": "publish", "description": "", "action": "Release {branch} to staging."},
    ]
    assert version.manifest["outputs"][0] == {
        "name": "success",
        "description": "The address of the staging site.",
    }
    assert version.manifest["metadata"]["model"] == {
        "tag": "model",
        "attributes": {"tier": "general"},
    }


def test_the_body_is_readable_steps_first_and_the_markdown_last():
    body = item(example_in("directives.md", "markdown")).body
    assert body.startswith(
        "1. build: Build the project\nRun `make build && make check`.\n\n2. publi"
    )
    assert body.index("success: The address") < body.index("# Deploy to staging")
    assert "<" not in body
    assert "```" not in body


def test_it_may_stand_bare_in_the_markdown_or_alone():
    inner = "<metadata><description>What it does.</description></metadata>"
    for around in ("{}", "# Title\n\n{}\n\nAfter.\n", "~~~xml\n{}\n~~~\n", "````\n  {}\n````"):
        found = item(directive(inner, around=around))
        assert found.description == "What it does."
        assert "~~~" not in found.body + found.body
    assert "After." in item(directive(inner, around="x\n\n{}\n\nAfter.")).body


def test_line_ends_of_windows_do_no_harm():
    text = example_in("directives.md", "markdown").replace("\n", "\r\n")
    found = item(text)
    assert found.version is not None
    assert found.version.manifest_text == text
    assert "```" not in found.body


def test_code_in_a_step_does_not_end_the_block():
    code = "```python\nif a < b and c:\n    pass\n```"
    inner = f"<process><step name='one'><action><![CDATA[\n{code}\n]]></action></step></process>"
    found = item(directive(inner, around="Does it.\n\n```xml\n{}\n```\n\nAfter.\n"))
    assert code in found.body
    assert found.body.endswith("After.")


def test_without_a_description_the_first_paragraph_is_taken():
    assert item(directive("<process/>")).description == "Says what it does."
    assert fault(directive("<process/>", around="{}")).code == "no_description"


def test_comments_of_the_markdown_are_not_part_of_the_body():
    mark = "<!-- kiwi-mcp:validated:2026-01-24T05:44:46Z:96440106d21b -->"
    found = item(directive("<process/>", around=f"{mark}\n\nDoes it.\n\n{{}}"))
    assert (found.description, found.body) == ("Does it.", "Does it.")


def test_steps_may_stand_in_groups_and_hold_other_elements():
    found = item(
        directive(
            """
            <steps>
              <wave number="1"><step name="one">Do it.</step></wave>
              <step id="two" description="Second" action="Go on."/>
              <step><verify>Look at the log.</verify></step>
            </steps>
            <context><tech_stack>any</tech_stack></context>
            """
        )
    )
    assert found.version is not None
    assert found.version.manifest["steps"] == [
        {"name": "one", "description": "", "action": "Do it."},
        {"name": "two", "description": "Second", "action": "Go on."},
        {"name": "3", "description": "", "action": "verify: Look at the log."},
    ]
    assert found.version.manifest["elements"] == [
        {"tag": "context", "elements": [{"tag": "tech_stack", "text": "any"}]}
    ]
    assert "context: tech_stack: any" in found.body


def test_links_are_found_in_every_shape_in_which_tools_are_named():
    found = item(
        directive(
            """
            <metadata>
              <permissions>
                <execute resource="tool" id="by_permission"/>
                <execute><tool>tools.*</tool><directive>test/check</directive></execute>
              </permissions>
              <relationships>
                <requires directive="build"/><suggests>tidy</suggests><extends></extends>
              </relationships>
            </metadata>
            <requires><tool>by_element</tool><tool name="by_name"/></requires>
            <process>
              <step name="a" tool="by_step"/>
              <step name="b"><execute item_type="tool" item_id="fs/write"/></step>
              <step name="c"><tool_call><mcp>github</mcp><tool>search</tool></tool_call></step>
              <step name="d"><tool>{placeholder}</tool><tool>some words</tool></step>
            </process>
            """
        )
    )
    uses = ("by_element", "by_name", "by_step", "fs/write", "mcp:github:search")
    uses += ("by_permission", "directives:test/check")
    expected = {Link("uses", target) for target in uses}
    assert set(found.links) == expected | {Link("requires", "build"), Link("suggests", "tidy")}


@pytest.mark.parametrize(
    ("attributes", "schema"),
    [
        ("type='int' default='30'", {"type": "integer", "default": 30}),
        ("type='float' default='0.5'", {"type": "number", "default": 0.5}),
        ("type='boolean' default='True'", {"type": "boolean", "default": True}),
        ("type='list' default='[1, 2]'", {"type": "array", "default": [1, 2]}),
        ("type='object' default='{}'", {"type": "object", "default": {}}),
        ("type='path' default='a b'", {"type": "string", "default": "a b"}),
        ("enum='a, b'", {"type": "string", "enum": ["a", "b"]}),
        ("description='Told.'", {"type": "string", "description": "Told."}),
    ],
)
def test_inputs_become_schemas(attributes, schema):
    found = item(directive(f"<inputs><input name='x' {attributes}/></inputs>"))
    assert found.input_schema["properties"] == {"x": schema}
    assert found.input_schema["required"] == []


@pytest.mark.parametrize(
    ("inner", "code", "said"),
    [
        ("<inputs><input/></inputs>", "bad_input", "line 4: <input> has no name"),
        ("<inputs>\n<input name='x' type='strng'/></inputs>", "bad_input", "line 5: the input 'x'"),
        ("<inputs><input name='x' type='strng'/></inputs>", "bad_input", "did you mean 'string'?"),
        ("<inputs><input name='x' type='int' default='a'/></inputs>", "bad_input", "no integer"),
        ("<inputs><input name='x' required='maybe'/></inputs>", "bad_input", "true or false"),
        ("<inputs><input name='x'/><input name='x'/></inputs>", "bad_input", "again"),
        ("<inputs><put name='x'/></inputs>", "bad_input", "<put> is no input"),
        ("<inputs/>\n<outputs/>\n<inputs/>", "bad_xml", "line 6: a second <inputs> begins here"),
        (
            "<metadata><permissions/>\n<permissions/></metadata>",
            "bad_xml",
            "line 5: a second <permissions> begins here; put all into one",
        ),
        (
            "<permissions><read resource='shell' xmlns:x='y' x:resource='tool'/></permissions>",
            "bad_xml",
            "line 4: an attribute stands here twice",
        ),
        ("<metadata><category>sales</category></metadata>", "wrong_category", "'sales'"),
        ("<permissions><reed resource='shell'/></permissions>", "bad_permission", "did you mean"),
        ("<permissions><read resource='disk'/></permissions>", "bad_permission", "known are"),
        ("<permissions><read/></permissions>", "bad_permission", "line 4: <read>"),
        ("<permissions>*</permissions>", "bad_permission", "line 4: permissions has the text '*'"),
        (
            "<permissions><read resource='filesystem' path='a' mode='b'/></permissions>",
            "bad_permission",
            "'mode', which is not known",
        ),
        (
            "<permissions><execute><gadget>x</gadget></execute></permissions>",
            "bad_permission",
            "it takes tool, directive, knowledge, skill",
        ),
    ],
    ids=lambda value: value[:60],
)
def test_each_fault_is_told_with_its_line(inner, code, said):
    found = fault(directive(inner))
    assert (found.code, said in found.reason) == (code, True), found


def test_name_and_version_are_checked():
    wrong = fault(directive("<process/>", name="other"))
    assert wrong.code == "wrong_name"
    assert "line 3: the directive is called 'other'" in wrong.reason
    assert fault(directive("<process/>", version="1.0")).code == "bad_version"
    assert fault(directive("<process/>", version="")).code == "bad_version"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (
            "# T\n\n```xml\n<directive name='x'>\n  <a>b & c</a>\n</directive>\n```",
            "line 5, column 9",
        ),
        ("# T\n\n  <directive name='x' name='y'>a</directive>", "line 3, column 23"),
        ("T\n<directive>\n<a>\n</b></directive>", "line 4, column 3: mismatched tag"),
        ("T\n<directive>\n<a>\n\n\n", "line 6, column 1: no element found"),
        ("T\n<directive><a></a>\n", "line 3, column 1: no element found"),
        ("T\n\n<directive/>", "line 3, column 1: the element <directive> is empty"),
        ("<directive>a</directive>\n<directive>b</directive>", "line 2, column 1: a second"),
    ],
)
def test_broken_xml_is_told_with_line_and_column_in_the_markdown(text, where):
    found = fault(text)
    assert found.code == "bad_xml"
    assert found.reason.startswith(where)


def test_a_file_without_the_element_is_refused():
    for text in ("", "# Only Markdown\n", "in `<directive name='x'>` a line"):
        assert fault(text).code == "no_directive"


LAUGHS = "".join(
    f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' if n else '<!ENTITY lol0 "lol">' for n in range(10)
)


@pytest.mark.parametrize(
    "text",
    [
        f"<!DOCTYPE lolz [{LAUGHS}]>\n<directive>&lol9;</directive>",
        f"```xml\n<?xml version='1.0'?>\n<!DOCTYPE lolz [{LAUGHS}]>\n<directive>a</directive>\n```",
        "<directive>&lol9;</directive>",
        '<directive><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;</directive>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">\n<directive>a</directive>',
        '<!doctype x [<!entity a "b">]>\n<directive>a</directive>',
    ],
    ids=["laughs", "unused laughs", "undeclared", "external", "external dtd", "lower"],
)
def test_entities_and_document_types_are_refused(text):
    assert fault(text).code == "bad_xml"


def test_an_inclusion_is_kept_as_an_element_and_nothing_is_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    space = 'xmlns:xi="http://www.w3.org/2001/XInclude"'
    found = item(directive(f'<xi:include {space} href="{secret.as_uri()}" parse="text"/>'))
    assert found.version is not None
    assert "the secret" not in str(found)
    assert found.version.manifest["elements"][0]["tag"] == "include"


def test_depth_and_number_of_elements_are_bounded():
    assert fault(directive("<a>" * 100_000)).code == "too_deep"
    assert fault(directive("<a/>" * 20_000)).code == "too_many"
    assert fault(directive("<a>" * 16 + "</a>" * 16)).code == "too_deep"
    deepest = item(directive("<a>" * 15 + "</a>" * 15))
    assert deepest.version is not None
    assert deepest.version.manifest["elements"][0]["tag"] == "a"


def test_a_long_name_of_a_server_is_not_repeated_for_each_of_its_tools():
    text = directive(f"<x><mcp>{'a ' * 200_000}</mcp>{'<tool/>' * 300}</x>")
    tracemalloc.start()
    try:
        assert item(text).links == ()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 30 * len(text)


def test_what_the_element_describes_beside_its_metadata_is_kept():
    told = "<metadata><description>Short.</description></metadata>"
    found = item(directive(f"{told}<description>At length.</description>"))
    assert found.description == "Short."
    assert "At length." in found.body


def test_hidden_characters_are_refused_also_when_xml_writes_them():
    assert fault(directive("<a>x\u202ey</a>")).code == "hidden_characters"
    assert "line 4 contains U+202E" in fault(directive("<a>x\u202ey</a>")).reason
    assert fault(directive("<a>x&#x202e;y</a>")).code == "hidden_characters"
    assert fault(directive("<context>&#x200b;</context>")).code == "hidden_characters"


@pytest.mark.parametrize(
    ("inner", "around", "title"),
    [
        ("", "# Roll out to staging\n\nText.\n\n{}\n", "Roll out to staging"),
        ("", "# Deploy staging\n\nText.\n\n{}\n", ""),
        ("<metadata><title>Ship it</title></metadata>", "# Roll out\n\nText.\n\n{}\n", "Ship it"),
        ("", "Text.\n\n{}\n", ""),
    ],
)
def test_the_title_is_that_of_the_document_if_it_says_more_than_the_name(inner, around, title):
    assert item(directive(inner, around=around)).title == title
