"""The manifest that a single Python file of a `.ai` folder makes unnecessary."""

import json

import pytest
from jsonschema import Draft202012Validator

from pegboard.gate.manifests import schema_text
from pegboard.sources.folder.python_tool import python_fields
from pegboard.sources.unfit import Unfit

TOOL = '''def run(to: str, copies: int = 1) -> bool:
    """Send a letter.

    Args:
        to: Who receives it.
    """
'''


def read(content, *folder):
    return python_fields(content.encode(), "send.py", folder)


def code(content):
    with pytest.raises(Unfit) as caught:
        read(content)
    assert "; " in caught.value.reason
    return caught.value.code


def test_signature_and_docstring_say_what_a_manifest_would_have_said():
    assert read(TOOL) == {
        "description": "Send a letter.\n\nArgs:\n    to: Who receives it.",
        "input_schema": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "description": "Who receives it."},
                "copies": {"type": "integer", "default": 1},
            },
            "required": ["to"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "boolean"},
        "executor": {"entrypoint": "send.py", "function": "run"},
        "tool_type": "python",
        "manifest": {
            "tool_id": "send",
            "tool_type": "python",
            "description": "Send a letter.\n\nArgs:\n    to: Who receives it.",
            "executor_config": {"entrypoint": "send.py", "function": "run"},
        },
    }


def test_headers_say_the_rest():
    fields = read(
        '__tool_id__ = "send"\n__version__ = "1.2.3"\n__description__ = "Posts letters."\n'
        '__category__ = "mail"\n__tags__ = ["post", "paper"]\n__author__ = "Ada"\n'
        '__tool_type__ = "python"\n__tech_stack__ = ["smtp"]\n__dependencies__ = ["httpx>=0.27"]\n'
        '__aliases__ = ["post"]\n__permissions__ = ["connect network mail.example.com:25"]\n' + TOOL
    )
    executor = {"entrypoint": "send.py", "function": "run", "dependencies": ["httpx>=0.27"]}
    said = {
        "tool_type": "python",
        "version": "1.2.3",
        "description": "Posts letters.",
        "category": "mail",
        "tags": ["post", "paper"],
        "aliases": ["post"],
        "author": "Ada",
        "tech_stack": ["smtp"],
        "permissions": ["connect network mail.example.com:25"],
    }
    assert fields["manifest"] == said | {"tool_id": "send", "executor_config": executor}
    assert {key: fields[key] for key in said} == said
    assert fields["executor"] == executor


def test_what_people_call_the_tool_is_an_alias_of_it():
    fields = read('__name__ = "Letter writer"\n__aliases__ = ["post"]\n' + TOOL)
    assert fields["aliases"] == ["Letter writer", "post"]
    assert "name" not in fields
    assert fields["manifest"]["name"] == "Letter writer"
    assert "aliases" not in read('__name__ = "send"\n' + TOOL)


def test_such_a_manifest_could_stand_in_a_file():
    head = '__version__ = "1.0"\n__tags__ = ["a"]\n__dependencies__ = ["b"]\n__author__ = "c"\n'
    Draft202012Validator(json.loads(schema_text())).validate(read(head + TOOL)["manifest"])


def test_a_tool_is_called_as_its_file_is_and_stands_where_its_file_lies():
    with pytest.raises(Unfit, match="'post', and the file is send") as caught:
        read('__tool_id__ = "post"\n' + TOOL)
    assert caught.value.code == "wrong_name"
    head = '__category__ = "mail"\n'
    with pytest.raises(Unfit, match="'mail', and its folder is 'chat'") as caught:
        read(head + TOOL, "chat")
    assert caught.value.code == "wrong_category"
    assert read(head + TOOL, "mail", "out")["category"] == "mail"
    assert read(head + TOOL)["category"] == "mail"


def test_the_description_is_the_first_that_is_there():
    module, main = '"""Module."""\n', 'def main():\n    """Main."""\n'
    assert read(main)["description"] == "Main."
    assert read(module + main)["description"] == "Module."
    assert read(module + main + 'def run():\n    """Run."""\n')["description"] == "Run."
    assert read('__description__ = "Said."\n' + module + main)["description"] == "Said."
    assert read(module + "def run(): ...\n")["description"] == "Module."


def test_a_script_without_run_takes_what_a_command_line_gives_it():
    fields = read('"""Clean up."""\nimport argparse\ndef main(): ...\n')
    assert fields["executor"] == {"entrypoint": "send.py"}
    assert fields["input_schema"]["properties"]["arguments"]["type"] == "array"
    assert "output_schema" not in fields


def test_a_file_that_says_nothing_about_itself_is_refused():
    assert code("def run(x): ...\n") == "no_docstring"
    assert code('"""  """\nprint()\n') == "no_docstring"


def test_a_version_of_two_numbers_is_completed():
    assert read('__version__ = "1.0"\n' + TOOL)["version"] == "1.0.0"


def test_what_would_have_to_be_computed_is_not_known():
    fields = read("__version__ = version('x')\n__tags__ = list(open('x'))\n" + TOOL)
    assert not {"version", "tags"} & fields.keys()


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("__version__ = 1", "bad_header"),
        ("__tags__ = 'a, b'", "bad_header"),
        ("__dependencies__ = {'a': 'b'}", "bad_header"),
        ("__tool_type__ = 'bash'", "bad_tool_type"),
        ("# /// script\n# dependencies = [", "bad_metadata"),
        ("# /// script\n# dependencies = 3\n# ///", "bad_metadata"),
        ("# /// script\n# a = " + "[" * 5000 + "\n# ///", "bad_metadata"),
        ("# /// script\n# x = '" + "y" * 70_000 + "'\n# ///", "bad_metadata"),
        ("# /// script\n# ///\n\n# /// script\n# ///", "bad_metadata"),
    ],
)
def test_headers_that_cannot_be_meant_are_refused_with_what_to_write(head, expected):
    assert code(f"{head}\n{TOOL}") == expected


def test_inline_script_metadata_says_what_a_script_needs():
    head = """#!/usr/bin/env python
# /// script
# requires-python = ">=3.12"
# dependencies = [
#     "rich",
#
#     "httpx<1",
# ]
# ///
__dependencies__ = ["numpy", "rich"]
"""
    assert read(head + TOOL)["executor"] == {
        "entrypoint": "send.py",
        "function": "run",
        "dependencies": ["numpy", "rich", "httpx<1"],
        "requires_python": ">=3.12",
    }


def test_other_comment_blocks_are_no_metadata():
    assert "dependencies" not in read("# /// pyproject\n# dependencies = 3\n# ///\n" + TOOL)
