import json
import re

import jsonschema
import pytest
import yaml
from click.testing import CliRunner
from gate_parts import DOCS, admitted, example_in, make_document, refused
from hypothesis import given
from hypothesis import strategies as st

from making import clean_text, make_file
from pegboard.cli.main import cli
from pegboard.formats import semver
from pegboard.gate.admission import Limits, admit
from pegboard.gate.tool_schema import schema_text
from pegboard.model.content import Access, Link, Permission, Resource
from pegboard.model.items import Form, Item, Rejection, ToolType, Visibility

SCHEMA = json.loads(schema_text())
BARE = "tool_id: release\ntool_type: python\n"
CONFIGS = {
    "python": {},
    "bash": {"entrypoint": "run.sh"},
    "api": {"url": "https://example.com/{id}"},
    "docker": {"image": "alpine:3.20"},
    "mcp": {"mcp_server": "github", "mcp_tool": "create_issue"},
}
FILES = ("main.py", "run.sh", "lib/part.py")


def tool(text, **fields):
    return admitted(Form.MANIFEST, text, files=FILES, **fields)


def fault(text, **fields):
    return refused(Form.MANIFEST, text, **{"files": FILES, **fields})


def manifest(**fields):
    said = {"tool_id": "release", "tool_type": "python"} | fields
    return yaml.safe_dump({key: value for key, value in said.items() if value is not None})


def test_the_example_of_the_documentation_is_admitted():
    found = tool(example_in("manifest.md", "yaml"))
    assert (found.id, found.name) == ("tools:ops:release", "release")
    assert (found.tool_type, found.category) == (ToolType.PYTHON, "ops")
    assert found.description.startswith("Publish a release")
    assert found.input_schema == {
        "type": "object",
        "properties": {
            "project": {"type": "string", "description": "Name of the project."},
            "channel": {"type": "string", "enum": ["stable", "beta"], "default": "stable"},
        },
        "required": ["project"],
        "additionalProperties": False,
    }
    assert found.executor == {
        "entrypoint": "main.py",
        "dependencies": ["httpx"],
        "timeout": 120,
        "destructive": True,
        "estimated_cost_usd": 0.002,
    }
    assert found.permissions == (
        Permission(Access.READ, Resource.FILESYSTEM, "dist/**"),
        Permission(Access.CONNECT, Resource.NETWORK, "api.github.com:443"),
        Permission(Access.READ, Resource.SECRET, "GITHUB_TOKEN"),
    )
    assert found.version is not None
    assert found.version.version == "1.2.0"


@pytest.mark.parametrize("tool_type", CONFIGS)
def test_every_type_of_tool_has_a_manifest(tool_type):
    found = tool(manifest(tool_type=tool_type, executor_config=CONFIGS[tool_type] or None))
    assert found.tool_type == tool_type
    assert found.version is not None
    assert found.version.manifest["tool_type"] == tool_type


def test_defaults_of_the_executor_are_filled_in():
    assert tool(BARE).executor == {"entrypoint": "main.py"}
    api = tool(manifest(tool_type="api", executor_config=CONFIGS["api"]))
    assert api.executor == {"method": "GET", "url": "https://example.com/{id}"}
    mcp = tool(manifest(tool_type="mcp", executor_config=CONFIGS["mcp"]))
    assert mcp.executor == {"server": "github", "tool": "create_issue"}


@pytest.mark.parametrize(
    "number",
    [
        *("1.2.3", "0.0.0", "1.2.3-rc.1", "1.2.3-0a+b.01", f"{'9' * 18}.0.0"),
        *("01.2.3", "1.2", "1.2.3-01", "1.2.3-a..b", "1.2.3-", "1.2.3+", "v1.2.3"),
        f"{'9' * 19}.0.0",
    ],
)
def test_the_schema_takes_the_versions_that_the_gate_takes(number):
    pattern = SCHEMA["properties"]["version"]["pattern"]
    assert bool(re.search(pattern, number)) == (semver.parse(number) is not None)


def test_every_key_of_the_schema_arrives_somewhere():
    said = {
        "name": "Release it",
        "title": "Publish a release",
        "version": "2.0.0-rc.1",
        "description": "Does it.",
        "category": "ops",
        "subcategory": "deploy",
        "tags": ["a", "b"],
        "aliases": ["publish"],
        "keywords": ["ship"],
        "tech_stack": ["python"],
        "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "output_schema": {"type": "array"},
        "executor_config": {"entrypoint": "lib/part.py", "function": "run"},
        "examples": ["in words", {"arguments": {"x": 1}}, {"description": "told", "result": 3}],
        "permissions": [{"access": "execute", "resource": "tool", "scope": "tools:*"}],
        "visibility": "unlisted",
        "author": "me",
        "routing_domain": "ops",
        "semantic_namespace": "release",
        "sensitivity_tier": "high",
        "target_personas": ["developer"],
        "semantic_weight": 2,
        "skills": ["release-notes"],
        "requires": ["tools:ops:build"],
        "dependencies": ["httpx"],
        "timeout": 5,
        "destructive": False,
        "estimated_cost_usd": 0,
        "deprecated": True,
        "replacement": "tools:ops:release",
        "changelog": "- new",
    }
    assert {*said, "tool_id", "tool_type", "parameters"} == SCHEMA["properties"].keys()
    found = tool(manifest(**said), subcategory="deploy")
    same = ("title", "description", "category", "subcategory", "author", "routing_domain")
    same += (
        "semantic_namespace",
        "sensitivity_tier",
        "semantic_weight",
        "deprecated",
        "replacement",
    )
    assert {name: getattr(found, name) for name in same} == {name: said[name] for name in same}
    assert found.aliases == ("Release it", "publish")
    assert (found.tags, found.keywords, found.tech_stack) == (("a", "b"), ("ship",), ("python",))
    assert found.examples == ("in words", '{"x": 1}', "told")
    assert found.visibility is Visibility.UNLISTED
    assert found.links == (Link("uses", "tools:ops:build"),)
    assert (found.target_personas, found.skills) == (("developer",), ("release-notes",))
    assert found.input_schema == said["input_schema"]
    assert found.output_schema == said["output_schema"]
    assert found.executor == {
        "entrypoint": "lib/part.py",
        "function": "run",
        "dependencies": ["httpx"],
        "timeout": 5,
        "destructive": False,
        "estimated_cost_usd": 0,
    }
    version = found.version
    assert version is not None
    assert (version.version, version.changelog) == ("2.0.0-rc.1", "- new")
    assert version.manifest == {"tool_id": "release", "tool_type": "python", **said}


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        BARE.replace("\n", "\r\n"),
        f"# a comment\n\n---\n{BARE}\n\n# and one more   \n",
        f"{BARE}description:    'odd   spacing'   # kept\n\n\n",
        f"{BARE}description: größer, 日本語, 👩\u200d💻",
        '{"tool_id": "release",   "tool_type": "python"}',
        f"{BARE}tags: &t [a]\nkeywords: *t",
        BARE.replace("\n", "\n  \n"),
    ],
    ids=ascii,
)
def test_a_manifest_comes_back_byte_for_byte(store, text):
    found = tool(text)
    store.items.put([found], None)
    kept = store.items.get(found.id, found.namespace)
    assert kept is not None
    assert kept.item.version is not None
    assert kept.item.version.manifest_text is not None
    assert kept.item.version.manifest_text.encode() == text.encode()


@given(clean_text)
def test_whatever_a_comment_says_is_kept(comment):
    line = "".join(c for c in comment if c.isprintable())
    text = f"{BARE}# {line}"
    verdict = admit(make_document(Form.MANIFEST, text, files=FILES))
    if isinstance(verdict, Item):
        assert verdict.version is not None
        assert verdict.version.manifest_text == text
    else:
        assert verdict.code in ("hidden_characters", "bad_yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (manifest(executor_config={"entrypoint": 3}), "executor_config.entrypoint is 3; it must"),
        (manifest(tool_type="pyton"), "tool_type is 'pyton'; it must be one of"),
        (manifest(tool_type="pyton"), "did you mean 'python'?"),
        (manifest(desciption="x"), "desciption is not known; did you mean 'description'?"),
        (manifest(tool_type=None), "it has no tool_type; add tool_type"),
        (manifest(tool_type=None, tooltype="python"), "tooltype is not known; did you mean"),
        (manifest(tool_id="größe"), "of A to Z, a to z, 0 to 9"),
        (
            manifest(tool_type="bash"),
            "it has no executor_config; add executor_config, with entrypoint",
        ),
        (
            manifest(tool_type="api", url="https://example.com"),
            "url belongs into executor_config; put it there",
        ),
        (manifest(parameters={"a": {"type": "string"}}), "or else a JSON Schema under input_sc"),
        (
            manifest(tool_type="mcp", executor_config={"mcp_server": "x"}),
            "executor_config has no mcp_tool; add executor_config.mcp_tool",
        ),
        (
            manifest(tool_type="bash", executor_config={"entrypoint": "run.sh", "image": "x"}),
            "executor_config.image is not known; it takes entrypoint, args, env",
        ),
        (manifest(tags="one"), "tags is 'one'; it must be a list"),
        (manifest(tags=["a", 3]), "tags[1] is 3; it must be text, so put it in quotes"),
        (manifest(version=1.5), "version is 1.5; it must be text, so put it in quotes"),
        (manifest(version="1.5"), "version is '1.5'; that is not how it is written. A semantic"),
        (manifest(timeout=0), "timeout is 0; it must be more than 0"),
        (manifest(estimated_cost_usd=-1), "estimated_cost_usd is -1; it must be at least 0"),
        (manifest(semantic_weight=11), "semantic_weight is 11; it must be at most 10"),
        (manifest(tags=["x"] * 101), "tags has 101 entries; at most 100 are allowed"),
        (manifest(name=""), "name is empty"),
        (manifest(parameters=[{"type": "string"}]), "parameters[0] has no name"),
        (
            manifest(parameters=[{"name": "a", "type": "text"}]),
            "parameters[0].type is 'text'; it must be one of string,",
        ),
        (manifest(parameters=[{"name": "a"}, {"name": "a"}]), "parameters has 'a' twice"),
        (manifest(parameters=[], input_schema={}), "both parameters and input_schema"),
        (manifest(official=True), "official is not known"),
        (
            manifest(tool_type="api", executor_config={"url": "file:///etc/passwd"}),
            "executor_config.url is 'file:///etc/passwd'",
        ),
        (
            manifest(tool_type="docker", executor_config={"image": "alpine\n"}),
            "executor_config.image is 'alpine\\n'",
        ),
        (
            manifest(tool_type="docker", executor_config={"image": "a", "workdir": "/a\n"}),
            "executor_config.workdir is '/a\\n'",
        ),
        (
            manifest(tool_type="api", executor_config={"url": "https://a.com\n"}),
            "executor_config.url is 'https://a.com\\n'",
        ),
        (
            manifest(tool_type="api", executor_config={"url": "http://a", "headers": {"A": "\r"}}),
            "executor_config.headers.A is '\\r'",
        ),
        (manifest(requires=["a" * 513]), "requires[0] has 513 characters; at most 512"),
        ("- a list\n", "line 1: it holds list; write keys with their values"),
        ("", "it has no tool_id"),
    ],
    ids=lambda value: value[:50],
)
def test_what_is_wrong_is_told_with_its_place_its_value_and_what_is_expected(text, said):
    found = fault(text)
    assert said in found.reason
    assert found.code == ("bad_yaml" if text.startswith("-") else "bad_manifest")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{BARE}tags: [a\n", "line 4, column 1:"),
        (f"{BARE}  name: x\n", "line 3, column 7:"),
        (f"{BARE}tool_id: again\n", "line 3, column 10: the key 'tool_id' stands here twice"),
        (f"{BARE}---\nmore: 1\n", "line 3, column 1: a second document"),
        (f"{BARE}tags: !!python/object/apply:os.system [ls]\n", "line 3, column 7: the tag"),
        (f"{BARE}tags: *nothing\n", "line 3, column 7: the alias *nothing"),
    ],
)
def test_an_error_in_yaml_tells_line_and_column(text, where):
    found = fault(text)
    assert found.code == "bad_yaml"
    assert found.reason.startswith(where)


def test_the_folder_and_the_id_have_to_be_one_name():
    found = fault(BARE.replace("release", "relase"))
    assert found.code == "wrong_name"
    assert found.reason == (
        "tool_id is 'relase', and its folder is called 'release'; rename one of them"
    )


@pytest.mark.parametrize(
    ("said", "folder", "taken"),
    [
        ({}, ("ops", "deploy"), ("ops", "deploy")),
        ({"category": "ops"}, ("ops", "deploy"), ("ops", "deploy")),
        ({"category": "ops/deploy"}, ("ops", "deploy"), ("ops", "deploy")),
        ({"category": "ops", "subcategory": "deploy"}, ("ops", "deploy"), ("ops", "deploy")),
        ({"category": "ops/deploy"}, ("", ""), ("ops", "deploy")),
        ({"category": "ops"}, ("", ""), ("ops", "")),
    ],
)
def test_a_category_that_agrees_with_the_folder_is_fine(said, folder, taken):
    category, subcategory = folder
    found = tool(manifest(**said), category=category, subcategory=subcategory)
    assert (found.category, found.subcategory) == taken


@pytest.mark.parametrize(
    "said", [{"category": "sales"}, {"category": "ops", "subcategory": "build"}]
)
def test_a_category_that_is_not_that_of_the_folder_is_refused(said):
    found = fault(manifest(**said), subcategory="deploy")
    assert found.code == "wrong_category"
    assert "'ops/deploy'; change one of them" in found.reason


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../main.py",
        "lib/../../main.py",
        "..",
        "lib\\..\\main.py",
        "\\\\host\\share",
        "C:/main.py",
        "main.py\0.txt",
        "./../main.py",
    ],
)
@pytest.mark.parametrize("tool_type", ["python", "bash"])
def test_an_entry_point_cannot_leave_the_folder(tool_type, path):
    text = json.dumps(
        {"tool_id": "release", "tool_type": tool_type, "executor_config": {"entrypoint": path}}
    )
    found = fault(text)
    assert found.code == "bad_path"
    assert "leaves the tool's folder" in found.reason


def test_an_entry_point_has_to_be_there():
    found = fault(manifest(executor_config={"entrypoint": "man.py"}))
    assert found.code == "missing_file"
    assert "'man.py'" in found.reason
    assert fault(BARE, files=()).code == "missing_file"


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"\xef\xbb\xbf" + BARE.encode(), "hidden_characters", "byte order mark"),
        (BARE.encode() + b"name: \xff\n", "not_utf8", "line 3"),
        (BARE.encode("utf-16"), "not_utf8", "line 1"),
        (f"{BARE}name: a\u200bb".encode(), "hidden_characters", "line 3 contains U+200B"),
        (f"{BARE}# a\u202eb".encode(), "hidden_characters", "line 3 contains U+202E"),
        (f"{BARE}\n\nname: a\0b".encode(), "hidden_characters", "line 5 contains U+0000"),
        (f'{BARE}name: "a\\u202eb"'.encode(), "hidden_characters", "U+202E"),
        (f'{BARE}name: "a\\u0007b"'.encode(), "hidden_characters", "U+0007"),
        (BARE.encode() + b"#" * 1_000_000, "too_large", "at most 1,000,000 are allowed"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_bytes_that_a_reader_cannot_see_are_refused(content, code, said):
    found = fault(content)
    assert (found.code, said in found.reason) == (code, True), found


def test_an_alias_bomb_costs_nothing():
    """Ten lists of ten, each of the one before: ten thousand million entries if written out."""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    found = fault(f"{BARE}{bomb}")
    assert found.code == "bad_yaml"
    assert "counting what aliases repeat" in found.reason


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_deep_nesting_costs_nothing(opened):
    assert fault(f"{BARE}tags: {opened * 50_000}").code == "bad_yaml"
    assert fault(f"{BARE}input_schema: {'{a: ' * 60 + '}' * 60}").code == "too_deep"


def test_a_schema_that_is_none_is_refused_with_its_place():
    found = fault(manifest(input_schema={"properties": {"a": {"type": "strng"}}}))
    assert found.code == "bad_schema"
    assert found.reason.startswith("input_schema.properties.a.type is 'strng'; it must be one of")


def test_a_manifest_may_be_as_long_as_the_limits_say():
    candidate = make_document(Form.MANIFEST, BARE, files=FILES)
    assert isinstance(admit(candidate, Limits(document_bytes=10)), Rejection)


def test_too_many_or_too_large_files_are_refused_with_the_limit():
    many = make_document(Form.MANIFEST, BARE, files=["main.py", *(f"f{n}" for n in range(200))])
    verdict = admit(many)
    assert isinstance(verdict, Rejection)
    assert (verdict.code, "at most 200" in verdict.reason) == ("too_many", True)
    large = many._replace(files=(make_file("main.py", b"x" * 20_000_001),))
    verdict = admit(large)
    assert isinstance(verdict, Rejection)
    assert (verdict.code, "20,000,000" in verdict.reason) == ("too_large", True)


def test_the_schema_is_a_schema_and_every_key_in_it_is_explained():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for name, part in SCHEMA["properties"].items():
        assert part["title"], name
        assert part["description"], name
    for name, part in SCHEMA["$defs"].items():
        for key, each in part["properties"].items():
            assert each["description"], f"{name}.{key}"


def test_pegboard_schema_prints_it():
    ran = CliRunner().invoke(cli, ["schema"])
    assert ran.exit_code == 0
    assert json.loads(ran.stdout) == SCHEMA


@pytest.mark.parametrize("tool_type", CONFIGS)
def test_the_documentation_names_what_each_type_takes(tool_type):
    lines = (DOCS / "reference" / "manifest.md").read_text("utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{tool_type}` |"))
    for key in SCHEMA["$defs"][tool_type]["properties"]:
        assert f"`{key}`" in row


def test_editors_refuse_parameters_beside_an_input_schema():
    said = {"tool_id": "a", "tool_type": "python", "parameters": []}
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert validator.is_valid(said)
    assert not validator.is_valid(said | {"input_schema": {}})


def test_a_name_has_room_beside_as_many_aliases_as_there_may_be():
    aliases = [str(number) for number in range(SCHEMA["properties"]["aliases"]["maxItems"])]
    assert len(tool(manifest(name="Release", aliases=aliases)).aliases) == 100


@given(
    st.dictionaries(
        st.sampled_from(sorted(SCHEMA["properties"])),
        st.none() | st.booleans() | st.integers() | clean_text | st.lists(clean_text, max_size=3),
    )
)
def test_whatever_stands_at_the_keys_it_is_an_item_or_a_rejection(said):
    text = json.dumps({"tool_id": "release", "tool_type": "python", **said})
    verdict = admit(make_document(Form.MANIFEST, text, files=FILES))
    assert isinstance(verdict, Item | Rejection)
    valid = jsonschema.Draft202012Validator(SCHEMA).is_valid(json.loads(text))
    assert valid or isinstance(verdict, Rejection)
