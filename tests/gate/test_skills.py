import pytest
from gate_parts import admitted, example_in, refused

from pegboard.model.content import Link
from pegboard.model.items import Form, Kind

NAME = "release-notes"
BARE = f"name: {NAME}\ndescription: Write release notes."


def item(text, name=NAME, **fields):
    return admitted(Form.SKILL, text, name, **fields)


def fault(text, name=NAME, **fields):
    return refused(Form.SKILL, text, name, **fields)


def skill(front=BARE, body="# Release notes\n\nWrite them.\n"):
    return f"---\n{front}\n---\n\n{body}"


def test_the_example_of_the_documentation_is_admitted():
    text = example_in("skills.md", "markdown")
    found = item(text, files=["scripts/collect.py", "LICENSE"])
    assert (found.id, found.kind, found.name) == (f"skills:ops:{NAME}", Kind.SKILL, NAME)
    assert found.description.startswith("Write release notes from the commits")
    assert (found.author, found.category) == ("platform", "ops")
    assert found.links == (
        Link("uses", "Bash"),
        Link("uses", "Read"),
        Link("uses", "tools:ops:release"),
    )
    assert found.body.startswith("# Release notes")
    version = found.version
    assert version is not None
    assert (version.version, version.manifest_text) == ("1.2.0", text)
    assert version.manifest["files"] == ["scripts/collect.py", "LICENSE"]
    assert version.manifest["license"] == "Apache-2.0"
    assert [file.path for file in version.files] == ["SKILL.md", "scripts/collect.py", "LICENSE"]


@pytest.mark.parametrize(
    ("front", "tools"),
    [
        ("allowed-tools: Bash(git commit:*) Read, Write", ["Bash", "Read", "Write"]),
        ("allowed-tools: [Bash(git:*), Bash(jq:*)]", ["Bash"]),
        ("allowed-tools:\n  - Read\n  - tools:a:b", ["Read", "tools:a:b"]),
        ("tools: [deploy]", ["deploy"]),
        ("tools: deploy", ["deploy"]),
        ("allowed-tools:", []),
    ],
)
def test_tools_are_named_in_many_ways(front, tools):
    assert item(skill(f"{BARE}\n{front}")).links == tuple(Link("uses", each) for each in tools)


def test_only_ids_in_backticks_are_tools():
    body = "Use `tools:ops:deploy`, `mcp:github:create_issue`, tools:a:b, `a:b` and `http://x:80`."
    links = item(skill(body=body)).links
    assert links == (Link("uses", "tools:ops:deploy"), Link("uses", "mcp:github:create_issue"))


@pytest.mark.parametrize(
    ("front", "code", "said"),
    [
        ("description: x", "no_name", "SKILL.md has no name; begin it with --- and name: "),
        ("Name: x\ndescription: x", "no_name", "did you mean 'name'?"),
        (f"name: {NAME}", "no_description", "what the skill does and when to use it"),
        (f"name: {NAME}\ndescription: ' '", "bad_type", "description"),
        (f"name: {NAME}\ndescription: 3", "bad_type", "description is 3"),
        (f"name: {NAME}\ndescription: {'x' * 1025}", "too_long", "1,025 characters; at most 1,024"),
        ("name: Release-Notes\ndescription: x", "bad_name", "'Release-Notes'"),
        ("name: -release\ndescription: x", "bad_name", "hyphens"),
        ("name: release--notes\ndescription: x", "bad_name", "hyphens"),
        ("name: release_notes\ndescription: x", "bad_name", "hyphens"),
        ("name: Ärger\ndescription: x", "bad_name", "lower-case"),
        ("name: 3\ndescription: x", "bad_name", "name is 3"),
        (f"name: {'a' * 65}\ndescription: x", "too_long", "at most 64"),
        ("name: other\ndescription: x", "wrong_name", "rename one of them"),
        (f"{BARE}\ncompatibility: {'x' * 501}", "too_long", "at most 500"),
        (f"{BARE}\nlicense: [a]", "bad_type", "license is list"),
        (f"{BARE}\nmetadata: a", "bad_type", "metadata is 'a'"),
        (f"{BARE}\nallowed-tools: [3]", "bad_type", "allowed-tools has 3"),
        (f"{BARE}\nversion: soon", "bad_version", "'soon'"),
        (f"{BARE}\ncategory: sales", "wrong_category", "'sales'"),
        ("name: [", "bad_yaml", "line 3, column 1"),
    ],
    ids=lambda value: value[:40],
)
def test_each_fault_is_refused_under_its_own_code(front, code, said):
    found = fault(skill(front))
    assert (found.code, said in found.reason) == (code, True), found


def test_a_skill_without_front_matter_is_refused():
    assert fault("# Release notes\n").code == "no_name"


def test_metadata_is_free_and_other_keys_are_kept():
    front = f"{BARE}\nmetadata:\n  version: whenever\n  tags: [a]\nuser-invocable: true"
    found = item(skill(front))
    assert found.tags == ("a",)
    assert found.version is not None
    assert found.version.version.startswith("0.0.0+")
    assert found.version.manifest["user-invocable"] is True


def test_brackets_without_end_take_no_time():
    assert item(skill(f"{BARE}\ntools: {'a( ' * 200}")).links == (Link("uses", "a"),)
    assert item(skill(f"{BARE}\nallowed-tools: {'a(' * 200_000}")).links == (Link("uses", "a"),)


@pytest.mark.parametrize(
    ("front", "body", "title"),
    [
        ("", "# Release notes\n\nWrite them.", ""),
        ("", "# Writing good\t notes #\n\nWrite them.", "Writing good notes"),
        ("title: Notes for people", "# Writing notes", "Notes for people"),
        ("title: [no, text]", "# Writing notes", "Writing notes"),
        ("", "No heading.", ""),
        ("", f"# {'x' * 400}", f"{'x' * 299}…"),
    ],
)
def test_the_title_is_that_of_the_document_if_it_says_more_than_the_name(front, body, title):
    assert item(skill(f"{BARE}\n{front}", body)).title == title
