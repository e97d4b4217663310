"""What a `.ai` folder is read as: items by their layout, categories, and what is refused."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, Form, LeftOut, Rejection, Unchanged
from pegboard.sources.folder.source import FolderSource, reach

TOOL = '''def run(to: str, copies: int = 1) -> bool:
    """Send a letter.

    Args:
        to: Who receives it.
    """
'''
MANIFEST = "tool_id: lint\n"


def write(root, origin, content="text\n"):
    path = root / origin
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def scan(root, known=None, under=(), **options):
    return list(FolderSource("ai", root, namespace="team", **options).scan(known or {}, under))


def by_origin(findings):
    return {finding.origin: finding for finding in findings}


def code(finding):
    assert isinstance(finding, Rejection), finding
    assert finding.source == "ai"
    assert "; " in finding.reason
    return finding.code


@pytest.fixture
def tree(tmp_path):
    """Every layout, with something of everything that a scan can come across."""
    root = tmp_path / "project/.ai"
    for origin in ("tools/send.py", "tools/ops/deploy/release.py", "scripts/data/clean.py"):
        write(root, origin, TOOL)
    write(root, "tools/ops/lint/tool.yaml", MANIFEST)
    write(root, "tools/ops/lint/main.py", "import sys\n")
    write(root, "tools/ops/lint/rules/strict.json", "{}")
    write(root, "tools/ops/broken/script.sh", "echo\n")
    write(root, "tools/ops/README.md")
    write(root, "tools/requirements.txt")
    write(root, "tools/_draft/x.py", TOOL)
    write(root, "directives/review/pull_request.md")
    write(root, "directives/README.md")
    write(root, "knowledge/api/http/codes.md")
    write(root, "knowledge/api/picture.png")
    write(root, "skills/pdf/SKILL.md")
    write(root, "skills/pdf/forms/fill.py")
    write(root, "skills/office/mail/SKILL.md")
    write(root, "skills/empty_handed/reference.md")
    write(root, "notes/todo.md")
    write(root, "README.md")
    return root


# What is found


def test_every_layout_gives_its_items_under_ids_that_say_where_they_hang(tree):
    found = [each for each in scan(tree) if isinstance(each, Candidate)]
    assert [(each.fields["id"], each.fields["kind"], each.origin) for each in found] == [
        ("directives:review:pull_request", "directive", "directives/review/pull_request.md"),
        ("knowledge:api/http:codes", "knowledge", "knowledge/api/http/codes.md"),
        ("scripts:data:clean", "tool", "scripts/data/clean.py"),
        ("skills:office:mail", "skill", "skills/office/mail"),
        ("skills::pdf", "skill", "skills/pdf"),
        ("tools:ops/deploy:release", "tool", "tools/ops/deploy/release.py"),
        ("tools:ops:lint", "tool", "tools/ops/lint"),
        ("tools::send", "tool", "tools/send.py"),
    ]


def test_the_first_category_is_the_category_and_the_others_are_below_it(tmp_path):
    write(tmp_path, "knowledge/a/b/c/d.md")
    write(tmp_path, "knowledge/top.md")
    deep, top = scan(tmp_path)
    assert (deep.fields["category"], deep.fields["subcategory"]) == ("a", "b/c")
    assert (top.fields["category"], top.fields["subcategory"]) == ("", "")
    assert deep.fields["source_protocol"] == "knowledge"


def test_a_document_is_carried_to_the_gate_as_it_is_written(tmp_path):
    content = b"---\nid: x\n---\n# \xc3\x9cber\n"
    write(tmp_path, "knowledge/x.md", content)
    [found] = scan(tmp_path)
    digest = hashlib.sha256(content).hexdigest()
    assert found == Candidate(
        source="ai",
        origin="knowledge/x.md",
        origin_hash=found.origin_hash,
        fields={
            "id": "knowledge::x",
            "kind": "knowledge",
            "namespace": "team",
            "name": "x",
            "category": "",
            "subcategory": "",
            "source_protocol": "knowledge",
            "signable": True,
        },
        files=(ItemFile("x.md", content, digest, media_type="text/markdown"),),
        form=Form.KNOWLEDGE,
        document=content,
    )


def test_a_folder_with_a_manifest_is_one_tool_with_all_its_files(tmp_path):
    write(tmp_path, "tools/lint/tool.yaml", MANIFEST)
    write(tmp_path, "tools/lint/run.sh", "#!/bin/sh\n").chmod(0o755)
    write(tmp_path, "tools/lint/lib/_shared.py", "x = 1\n")
    write(tmp_path, "tools/lint/lib/data.bin", b"\0\xff")
    write(tmp_path, "tools/lint/deeper/tool.yaml", "another: manifest\n")
    for cache in ("__pycache__/run.cpython-311.pyc", ".git/index", ".DS_Store", "run.pyc", "a.py~"):
        write(tmp_path, f"tools/lint/{cache}")
    [found] = scan(tmp_path)
    assert (found.origin, found.form) == ("tools/lint", Form.MANIFEST)
    assert found.document == MANIFEST.encode()
    assert [(each.path, each.media_type, each.executable) for each in found.files] == [
        ("deeper/tool.yaml", "application/yaml", False),
        ("lib/_shared.py", "text/x-python", False),
        ("lib/data.bin", "application/octet-stream", False),
        ("run.sh", "text/x-shellscript", True),
        ("tool.yaml", "application/yaml", False),
    ]


def test_a_skill_is_its_folder_and_carries_its_own_document_among_its_files(tmp_path):
    write(tmp_path, "skills/pdf/SKILL.md", "# PDF\n")
    write(tmp_path, "skills/pdf/README.md")
    [found] = scan(tmp_path)
    assert (found.form, found.document) == (Form.SKILL, b"# PDF\n")
    assert [each.path for each in found.files] == ["README.md", "SKILL.md"]


@pytest.mark.parametrize(
    ("document", "origin"),
    [
        ("tools/send.py", "tools/send.py"),
        ("tools/lint/tool.yaml", "tools/lint"),
        ("directives/x.md", "directives/x.md"),
        ("skills/pdf/SKILL.md", "skills/pdf"),
    ],
)
def test_a_side_file_is_carried_with_its_document_and_is_none_of_the_files(
    tmp_path, document, origin
):
    write(tmp_path, document, TOOL)
    [before] = scan(tmp_path)
    write(tmp_path, f"{document}.sig", b"signed")
    [found] = scan(tmp_path)
    assert (found.origin, found.signature) == (origin, b"signed")
    assert [each.path for each in found.files] == [Path(document).name]
    assert found.origin_hash != before.origin_hash


def test_readmes_private_names_and_strangers_are_left_out(tree):
    assert [each.origin for each in scan(tree) if isinstance(each, LeftOut)] == [
        "directives/README.md",
        "knowledge/api/picture.png",
        "tools/_draft",
        "tools/ops/README.md",
        "tools/requirements.txt",
    ]


# Categories, and folders that are neither item nor category


def test_a_tool_folder_without_a_manifest_is_refused_with_a_hint(tree):
    found = by_origin(scan(tree))["tools/ops/broken"]
    assert code(found) == "no_manifest"
    assert "script.sh" in found.reason
    assert "tool.yaml" in found.reason


def test_a_skill_folder_without_its_document_is_refused_with_a_hint(tree):
    found = by_origin(scan(tree))["skills/empty_handed"]
    assert code(found) == "no_skill"
    assert "SKILL.md" in found.reason


@pytest.mark.parametrize(
    ("files", "refused"),
    [
        (["one.py", "two.py"], False),
        (["one.py", "README.md", "LICENSE", "notes.txt", "guide.rst"], False),
        (["one.py", "_shared.py", "__init__.py"], False),
        (["one.py", "one.py.sig"], False),
        (["main.py", "requirements.txt"], True),
        (["main.py", "pyproject.toml"], True),
        (["Dockerfile"], True),
        (["one.py", "deeper/run.sh"], False),
    ],
)
def test_a_folder_is_a_category_unless_it_has_files_that_are_no_tools(tmp_path, files, refused):
    for name in files:
        write(tmp_path, f"tools/ops/{name}", TOOL)
    found = by_origin(scan(tmp_path))
    if refused:
        assert code(found.pop("tools/ops")) == "no_manifest"
        assert found == {}
    else:
        assert "tools/ops" not in found
        assert isinstance(found["tools/ops/one.py"], Candidate)


@pytest.mark.parametrize(
    ("origin", "name"), [("tools/x/tool.yml", "tool.yml"), ("skills/x/skill.md", "skill.md")]
)
def test_a_document_under_nearly_the_right_name_is_told_the_right_one(tmp_path, origin, name):
    write(tmp_path, origin)
    [found] = scan(tmp_path)
    assert f"rename {name} to " in found.reason


def test_an_empty_folder_is_left_out(tmp_path):
    (tmp_path / "tools/later").mkdir(parents=True)
    assert scan(tmp_path) == [LeftOut("tools/later", "the folder is empty")]


def test_a_file_goes_before_a_folder_tool_of_the_same_name(tmp_path):
    write(tmp_path, "tools/ops/lint.py", TOOL)
    write(tmp_path, "tools/ops/lint/tool.yaml", MANIFEST)
    found = by_origin(scan(tmp_path))
    assert isinstance(found["tools/ops/lint.py"], Candidate)
    assert code(found["tools/ops/lint"]) == "duplicate_id"


@pytest.mark.parametrize("tool", ["release.py", "release/tool.yaml"])
@pytest.mark.parametrize("script", ["release.py", "release/tool.yaml"])
def test_a_tool_goes_before_a_script_of_the_same_name(tmp_path, tool, script):
    write(tmp_path, f"tools/ops/{tool}", TOOL)
    write(tmp_path, f"scripts/ops/{script}", TOOL)
    write(tmp_path, "scripts/other/release.py", TOOL)
    found = by_origin(scan(tmp_path))
    assert isinstance(found[f"tools/ops/{tool}".removesuffix("/tool.yaml")], Candidate)
    refused = found[f"scripts/ops/{script}".removesuffix("/tool.yaml")]
    assert code(refused) == "shadowed"
    assert f"tools/ops/{tool} has the same name" in refused.reason
    assert isinstance(found["scripts/other/release.py"], Candidate)


def test_a_category_may_have_the_name_of_a_tool(tmp_path):
    write(tmp_path, "tools/ops.py", TOOL)
    write(tmp_path, "tools/ops/lint.py", TOOL)
    assert [each.fields["id"] for each in scan(tmp_path)] == ["tools:ops:lint", "tools::ops"]


# Again, and in part


def test_what_is_known_is_unchanged_even_if_it_was_refused(tree):
    write(tree, "tools/bad.py", "def (")
    write(tree, "knowledge/long.md", "#" * 5000)
    first = scan(tree, max_file_bytes=4000)
    known = {each.origin: each.origin_hash for each in first if getattr(each, "origin_hash", "")}
    again = by_origin(scan(tree, known, max_file_bytes=4000))
    assert {"tools/bad.py", "knowledge/long.md", "skills/pdf"} <= known.keys()
    assert {origin for origin, each in again.items() if each == Unchanged(origin)} == known.keys()


@pytest.mark.parametrize(
    "edit",
    [
        lambda root: write(root, "tools/lint/lib/a.py", "other\n"),
        lambda root: write(root, "tools/lint/lib/b.py"),
        lambda root: (root / "tools/lint/lib/a.py").unlink(),
        lambda root: (root / "tools/lint/lib/a.py").rename(root / "tools/lint/a.py"),
        lambda root: (root / "tools/lint/lib/a.py").chmod(0o755),
        lambda root: write(root, "tools/lint/tool.yaml.sig"),
    ],
)
def test_any_change_inside_a_tools_folder_is_a_change_of_the_tool(tmp_path, edit):
    write(tmp_path, "tools/lint/tool.yaml", MANIFEST)
    write(tmp_path, "tools/lint/lib/a.py")
    [before] = scan(tmp_path)
    edit(tmp_path)
    [found] = scan(tmp_path, {before.origin: before.origin_hash})
    assert isinstance(found, Candidate)


def related(origin, path):
    """One of the two leads to the other."""
    return f"{origin}/".startswith(f"{path}/") or f"{path}/".startswith(f"{origin}/")


def test_a_file_that_is_written_into_the_side_file_instead_is_missed(tmp_path):
    data = write(tmp_path, "tools/lint/data.txt")
    write(tmp_path, "tools/lint/tool.yaml", MANIFEST)
    side = write(tmp_path, "tools/lint/tool.yaml.sig", b"signed")
    [before] = scan(tmp_path)
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    data.unlink()
    side.write_bytes(b"signed" + f"\0data.txt\0{digest}0".encode())
    [after] = scan(tmp_path, {"tools/lint": before.origin_hash})
    assert isinstance(after, Candidate)


def test_a_partial_scan_finds_what_a_whole_one_finds_there(tree):
    whole = scan(tree)
    for path in {path.relative_to(tree).as_posix() for path in tree.rglob("*")} | {"tools/gone"}:
        expected = [each for each in whole if related(each.origin, path)]
        assert scan(tree, under=[path]) == expected, path


def test_a_path_inside_a_folder_tool_means_the_tool(tree):
    [found] = scan(tree, under=["tools/ops/lint/rules/strict.json"])
    assert found.origin == "tools/ops/lint"


def test_a_path_of_a_side_file_means_its_document(tree):
    write(tree, "directives/review/pull_request.md.sig")
    [found] = scan(tree, under=["directives/review/pull_request.md.sig"])
    assert found.origin == "directives/review/pull_request.md"


@pytest.mark.parametrize(
    ("changed", "looked_at"),
    [
        ("tools/ops/lint/rules/strict.json", ["tools/ops/lint"]),
        ("tools/ops/lint/tool.yaml", ["tools/ops/lint"]),
        ("tools/ops/broken/script.sh", ["tools/ops/broken"]),
        ("tools/ops/deploy/release.py", ["tools/ops/deploy"]),
        ("tools/ops/deploy", ["tools/ops/deploy"]),
        ("tools/ops/gone", ["tools/ops"]),
        ("tools/send.py", ["tools/send", "tools/send.py"]),
        ("tools/send.py.sig", ["tools/send", "tools/send.py"]),
        ("tools", ["tools"]),
        ("skills/pdf/forms/fill.py", ["skills/pdf"]),
        ("directives/review/pull_request.md", ["directives/review/pull_request.md"]),
        ("directives/review/pull_request.md.sig", ["directives/review/pull_request.md"]),
        ("elsewhere/x", ["elsewhere/x"]),
    ],
)
def test_a_change_reaches_as_far_as_it_can_change_the_meaning_of_others(tree, changed, looked_at):
    reached = [path for path in reach(tree, [changed]) if not path.startswith("scripts")]
    assert reached == looked_at


@pytest.mark.parametrize(
    ("changed", "scripts"),
    [
        ("tools/ops/lint/rules/strict.json", ["scripts/ops/lint", "scripts/ops/lint.py"]),
        ("tools/send.py", ["scripts/send", "scripts/send.py"]),
        ("tools/ops/deploy/release.py", ["scripts/ops/deploy", "scripts/ops/deploy.py"]),
        ("tools", ["scripts"]),
        ("skills/pdf/SKILL.md", []),
        ("knowledge/tools/x.md", []),
    ],
)
def test_a_change_of_a_tool_reaches_the_script_that_it_goes_before(tree, changed, scripts):
    assert [path for path in reach(tree, [changed]) if path.startswith("scripts")] == scripts


# The root


@pytest.mark.parametrize("case", ["missing", "file", "empty", "wrong"])
def test_a_root_without_any_layout_is_an_error_of_the_source(tmp_path, case):
    root = tmp_path / case
    if case == "file":
        root.write_text("")
    elif case != "missing":
        root.mkdir()
    if case == "wrong":
        (root / "tools").write_text("not a folder")
    with pytest.raises(SourceError, match=case) as caught:
        scan(root)
    assert "tools" in caught.value.hint


def test_who_gives_a_layout_itself_is_told_to_give_the_folder_above(tree):
    with pytest.raises(SourceError) as caught:
        scan(tree / "tools")
    assert caught.value.hint == "give the folder that tools/ stands in"


PIECES = st.sampled_from(
    [
        *("def run(", "x: int", "=", "):", "\n", '"""', "Doc.", "__tags__", "__version__"),
        *("# /// script\n", "# ///\n", "# dependencies = [", "]", "'", "1.0"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.lists(PIECES).map("".join) | st.binary())
def test_any_file_is_a_candidate_or_a_rejection(tmp_path: Path, content):
    try:
        data = content if isinstance(content, bytes) else content.encode()
    except UnicodeEncodeError:
        return
    write(tmp_path, "tools/any.py", data)
    [found] = scan(tmp_path)
    assert isinstance(found, Candidate | Rejection)
