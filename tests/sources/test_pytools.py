import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.model.content import ItemFile
from pegboard.model.items import Candidate, LeftOut, Rejection, Unchanged
from pegboard.sources.pytools import PytoolsSource

TOOL = '''def run(to: str, copies: int = 1) -> bool:
    """Send a letter.

    Args:
        to: Who receives it.
    """
'''


def write(root, origin, content=TOOL):
    path = root / origin
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def scan(root, known=None, **options):
    return list(PytoolsSource("tools", root, namespace="team", **options).scan(known or {}))


def only(root, content):
    write(root, "mcptools/mail/send.py", content)
    [found] = scan(root)
    return found


def code(finding):
    assert isinstance(finding, Rejection)
    assert finding.source == "tools"
    assert "; " in finding.reason
    return finding.code


def test_a_file_becomes_a_candidate(tmp_path):
    found = only(tmp_path, TOOL)
    digest = hashlib.sha256(TOOL.encode()).hexdigest()
    assert found == Candidate(
        source="tools",
        origin="mcptools/mail/send.py",
        origin_hash=digest,
        fields={
            "id": "mcptools:mail:send",
            "kind": "tool",
            "namespace": "team",
            "name": "send",
            "category": "mail",
            "description": "Send a letter.\n\nArgs:\n    to: Who receives it.",
            "tool_type": "python",
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
            "source_protocol": "mcptools",
        },
        files=(ItemFile("send.py", TOOL.encode(), digest, media_type="text/x-python"),),
    )


def test_a_generated_tool_is_named_after_its_folder(tmp_path):
    write(tmp_path, "gentools/mail/send/api.py")
    [found] = scan(tmp_path)
    assert found.origin == "gentools/mail/send/api.py"
    assert found.fields["id"] == "gentools:mail:send"
    assert found.fields["source_protocol"] == "gentools"
    assert found.fields["executor"] == {"entrypoint": "api.py", "function": "run"}
    assert found.files[0].path == "api.py"


def test_run_parsed_stands_in_for_a_missing_run_or_docstring(tmp_path):
    parsed = 'async def run_parsed(y):\n    """Parsed."""\n'
    found = only(tmp_path, parsed)
    assert found.fields["description"] == "Parsed."
    assert found.fields["executor"]["function"] == "run_parsed"
    found = only(tmp_path, "def run(x): ...\n" + parsed)
    assert found.fields["description"] == "Parsed."
    assert found.fields["executor"]["function"] == "run"
    assert list(found.fields["input_schema"]["properties"]) == ["x"]


def test_tags_come_from_a_literal_list_of_texts(tmp_path):
    assert only(tmp_path, '__tags__ = ["a", "b"]\n' + TOOL).fields["tags"] == ["a", "b"]
    assert "tags" not in only(tmp_path, "__tags__ = [1]\n" + TOOL).fields
    asks = '__permissions__ = ["connect network *"]\n'
    assert only(tmp_path, asks + TOOL).fields["permissions"] == ["connect network *"]
    assert "tags" not in only(tmp_path, "__tags__ = list(open('x'))\n" + TOOL).fields


def test_known_content_is_unchanged_even_if_it_was_rejected(tmp_path):
    write(tmp_path, "mcptools/mail/good.py")
    write(tmp_path, "mcptools/mail/bad.py", "def (")
    write(tmp_path, "mcptools/mail/long.py", "#" * 500)
    known = {found.origin: found.origin_hash for found in scan(tmp_path, max_file_bytes=400)}
    again = scan(tmp_path, known, max_file_bytes=400)
    assert again == [Unchanged(origin) for origin in known]
    write(tmp_path, "mcptools/mail/good.py", TOOL + "# more")
    assert [type(found) for found in scan(tmp_path, known, max_file_bytes=400)] == [
        Unchanged,
        Candidate,
        Unchanged,
    ]


def test_findings_come_in_sorted_order(tmp_path):
    origins = [
        "gentools/b/x/api.py",
        "mcptools/a/x.py",
        "mcptools/a/y.py",
        "mcptools/größe/maß.py",
    ]
    for origin in reversed(origins):
        write(tmp_path, origin)
    assert [found.origin for found in scan(tmp_path)] == origins


def test_private_and_stray_things_are_left_out(tmp_path):
    left_out = [
        "gentools/mail/README.md",
        "gentools/mail/_draft",
        "gentools/mail/empty",
        "mcptools/.git",
        "mcptools/_old",
        "mcptools/mail/.hidden.py",
        "mcptools/mail/_shared.py",
        "mcptools/mail/deeper",
        "mcptools/mail/notes.txt",
        "mcptools/stray.py",
    ]
    write(tmp_path, "gentools/mail/_draft/api.py")
    write(tmp_path, "gentools/mail/empty/other.py")
    write(tmp_path, "mcptools/.git/x.py")
    write(tmp_path, "mcptools/_old/x.py")
    write(tmp_path, "mcptools/mail/deeper/x.py")
    for origin in left_out:
        if not (tmp_path / origin).exists():
            write(tmp_path, origin)
    found = scan(tmp_path)
    assert all(isinstance(finding, LeftOut) and finding.reason for finding in found)
    assert [finding.origin for finding in found] == left_out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe", "not_utf8"),
        ("x = 1\0", "null_bytes"),
        ("x = 1\ndef (", "syntax_error"),
        ("x = " + "-" * 100_000 + "1", "too_deep"),
        ("x = " + "+".join("1" * 100_000), "too_deep"),
        ("", "no_run"),
        ("class A:\n    def run(self):\n        'Doc.'", "no_run"),
        ("run = print", "no_run"),
        ("def run(): ...", "no_docstring"),
        ("def run():\n    '  '\n", "no_docstring"),
    ],
)
def test_a_file_that_cannot_be_a_tool_is_rejected(tmp_path, content, expected):
    found = only(tmp_path, content)
    assert code(found) == expected
    data = content if isinstance(content, bytes) else content.encode()
    assert found.origin_hash == hashlib.sha256(data).hexdigest()


def test_a_syntax_error_names_its_line(tmp_path):
    assert "line 2 " in only(tmp_path, "x = 1\ndef (").reason


def test_a_byte_order_mark_and_odd_escapes_do_no_harm(tmp_path):
    found = only(tmp_path, b"\xef\xbb\xbfX = '\\d'\n" + TOOL.encode())
    assert isinstance(found, Candidate)


def test_the_size_limit_is_exact(tmp_path):
    path = write(tmp_path, "mcptools/mail/send.py")
    size = len(TOOL)
    assert isinstance(scan(tmp_path, max_file_bytes=size)[0], Candidate)
    [found] = scan(tmp_path, max_file_bytes=size - 1)
    assert code(found) == "too_large"
    assert found.origin_hash == f"stat:{size}:{path.stat().st_mtime_ns}"


def test_what_cannot_be_read_is_rejected_and_the_rest_goes_on(tmp_path):
    write(tmp_path, "mcptools/mail/send.py")
    write(tmp_path, "gentools/mail/folder/api.py/x")
    (tmp_path / "mcptools/mail/folder.py").mkdir()
    (tmp_path / "mcptools/mail/dangling.py").symlink_to("nowhere")
    (tmp_path / "mcptools/mail/loop.py").symlink_to("loop.py")
    (tmp_path / "mcptools/gone").symlink_to("nowhere")
    os.mkfifo(tmp_path / "mcptools/mail/pipe.py")
    *found, last = scan(tmp_path)
    assert {finding.origin: code(finding) for finding in found} == dict.fromkeys(
        [
            "gentools/mail/folder/api.py",
            "mcptools/gone",
            "mcptools/mail/dangling.py",
            "mcptools/mail/folder.py",
            "mcptools/mail/loop.py",
            "mcptools/mail/pipe.py",
        ],
        "not_a_file",
    )
    assert isinstance(last, Candidate)


def test_links_may_not_lead_outside(tmp_path):
    outside = write(tmp_path, "elsewhere/secret.py")
    root = tmp_path / "root"
    write(root, "mcptools/mail/send.py")
    (root / "mcptools/mail/leak.py").symlink_to(outside)
    (root / "mcptools/leak").symlink_to(outside.parent)
    (root / "gentools").symlink_to(tmp_path / "elsewhere")
    (root / "mcptools/mail/twin.py").symlink_to("send.py")
    (root / "mcptools/up").symlink_to(root)
    found = {finding.origin: finding for finding in scan(root)}
    for origin in ("gentools", "mcptools/leak", "mcptools/mail/leak.py"):
        assert code(found[origin]) == "outside"
    assert isinstance(found["mcptools/mail/twin.py"], Candidate)
    assert isinstance(found["mcptools/up/mcptools"], LeftOut)


def test_a_root_that_is_itself_a_link_is_fine(tmp_path):
    write(tmp_path, "real/mcptools/mail/send.py")
    (tmp_path / "real/mcptools/mail/twin.py").symlink_to("send.py")
    (tmp_path / "link").symlink_to("real")
    assert [type(found) for found in scan(tmp_path / "link")] == [Candidate, Candidate]


def test_names_that_are_not_utf8_are_rejected_with_a_printable_origin(tmp_path):
    (tmp_path / "mcptools/mail").mkdir(parents=True)
    folder = os.fsencode(tmp_path / "mcptools/mail")
    for name in (b"\xff.py", b"_\xfe.py"):
        try:
            os.close(os.open(folder + b"/" + name, os.O_CREAT))
        except OSError:
            pytest.skip("this file system takes only UTF-8 names")
    found = scan(tmp_path)
    assert [finding.origin for finding in found] == [
        "mcptools/mail/_\\xfe.py",
        "mcptools/mail/\\xff.py",
    ]
    assert {code(finding) for finding in found} == {"bad_name"}


@pytest.mark.parametrize("case", ["missing", "file", "empty", "wrong"])
def test_a_root_that_cannot_hold_tools_is_an_error_of_the_source(tmp_path, case):
    root = tmp_path / case
    if case == "file":
        root.write_text("")
    elif case != "missing":
        root.mkdir()
    if case == "wrong":
        (root / "mcptools").write_text("not a folder")
    with pytest.raises(SourceError, match=case) as caught:
        scan(root)
    assert "mcptools" in caught.value.hint


def test_who_gives_the_tools_themselves_is_told_to_give_the_folder_above(tmp_path):
    write(tmp_path, "mcptools/mail/send.py")
    with pytest.raises(SourceError) as caught:
        scan(tmp_path / "mcptools")
    assert caught.value.hint == "give the folder that mcptools/ stands in"


def test_a_layout_that_cannot_be_read_does_not_hide_the_other(tmp_path):
    write(tmp_path, "mcptools/mail/send.py")
    (tmp_path / "gentools").symlink_to("nowhere")
    first, second = scan(tmp_path)
    assert code(first) == "not_a_file"
    assert isinstance(second, Candidate)


@pytest.fixture
def tree(tmp_path):
    """A root with something of everything that a scan can come across."""
    for origin in (
        "gentools/images/resize/api.py",
        "gentools/images/resize/helper.py",
        "gentools/images/crop/api.py",
        "gentools/images-old/crop/api.py",
        "gentools/stray.py",
        "mcptools/chat/post.py",
        "mcptools/chat/_private.py",
        "mcptools/chat/a:b.py",
        "mcptools/chat.py/tool.py",
        "mcptools/_old/x.py",
        "outside/x.py",
    ):
        write(tmp_path / "root", origin)
    write(tmp_path / "root", "mcptools/chat/broken.py", "def (")
    (tmp_path / "root/mcptools/leak").symlink_to(tmp_path)
    (tmp_path / "root/mcptools/dark").symlink_to("x" * 300)
    return tmp_path / "root"


def related(origin, path):
    """One of the two leads to the other."""
    return f"{origin}/".startswith(f"{path}/") or f"{path}/".startswith(f"{origin}/")


def test_a_partial_scan_finds_what_a_whole_one_finds_there(tree):
    whole = scan(tree)
    paths = {path.relative_to(tree).as_posix() for path in tree.rglob("*")}
    for path in paths | {"mcptools/dark/x.py", "mcptools/gone", "gentools/images/resize/gone"}:
        tool = path.rpartition("/")[0] + "/api.py"  # which stands for its folder
        expected = [each for each in whole if related(each.origin, path) or each.origin == tool]
        source = PytoolsSource("tools", tree, namespace="team")
        assert list(source.scan({}, [path])) == expected, path


def test_several_paths_are_looked_at_once_each_and_in_order(tree):
    source = PytoolsSource("tools", tree, namespace="team")
    paths = ["mcptools/chat/post.py", "mcptools/chat", "gentools/images/crop", "mcptools/chat/"]
    assert [found.origin for found in source.scan({}, paths)] == [
        "gentools/images/crop/api.py",
        "mcptools/chat/_private.py",
        "mcptools/chat/a:b.py",
        "mcptools/chat/broken.py",
        "mcptools/chat/post.py",
    ]


@pytest.mark.parametrize("path", ["..", "mcptools/../outside", "outside/x.py", "MCPTOOLS", "x"])
def test_a_path_that_holds_no_tools_finds_nothing(tree, path):
    assert list(PytoolsSource("tools", tree, namespace="team").scan({}, [path])) == []


def test_a_partial_scan_opens_nothing_but_what_it_was_asked_for(tree, monkeypatch):
    opened = []
    stat = PytoolsSource._stat
    monkeypatch.setattr(
        PytoolsSource,
        "_stat",
        lambda self, origin, path: opened.append(origin) or stat(self, origin, path),
    )
    source = PytoolsSource("tools", tree, namespace="team")
    assert len(list(source.scan({}, ["gentools/images/resize/helper.py"]))) == 1
    assert opened == [
        "gentools",
        "gentools/images",
        "gentools/images/resize",
        "gentools/images/resize/api.py",
    ]


def test_known_content_is_unchanged_in_a_partial_scan_too(tree):
    known = {found.origin: found.origin_hash for found in scan(tree) if hasattr(found, "fields")}
    source = PytoolsSource("tools", tree, namespace="team")
    path = "mcptools/chat/post.py"
    assert list(source.scan(known, [path])) == [Unchanged(path)]


def test_a_root_that_cannot_hold_tools_is_an_error_of_a_partial_scan_too(tmp_path):
    with pytest.raises(SourceError):
        PytoolsSource("tools", tmp_path, namespace="team").scan({}, ["mcptools/chat"])


PIECES = st.sampled_from(
    ["def run(", "x: int", "=", "):", "\n", "    ", '"""', "Doc.", "Args:\n", "[", "]", "'", "\\"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.lists(PIECES).map("".join) | st.binary())
def test_any_file_is_a_candidate_or_a_rejection(tmp_path: Path, content):
    assert isinstance(only(tmp_path, content), Candidate | Rejection)
