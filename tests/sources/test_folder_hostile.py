"""Folders that want to harm: links, pipes, huge files, endless trees, odd names."""

import os
import socket

import pytest

from pegboard.errors import SourceError
from pegboard.model.items import Candidate, LeftOut, Rejection
from pegboard.sources.folder import bundle as folder_bundle
from pegboard.sources.folder import source as folder_source
from pegboard.sources.folder.source import DEEPEST, FolderSource

TOOL = 'def run():\n    """Send a letter."""\n'


def write(root, origin, content=TOOL):
    path = root / origin
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def scan(root, **options):
    source = FolderSource("ai", root, namespace="team", **options)
    return {each.origin: each for each in source.scan({})}


def codes(found):
    return {origin: each.code for origin, each in found.items() if isinstance(each, Rejection)}


def candidates(found):
    return [origin for origin, each in found.items() if isinstance(each, Candidate)]


@pytest.fixture
def secret(tmp_path):
    """Something outside the root that must not be read."""
    write(tmp_path, "elsewhere/secret.md", "secret")
    write(tmp_path, "elsewhere/secret.py")
    return tmp_path / "elsewhere"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/tools").mkdir(parents=True)
    return tmp_path / "root"


def test_links_may_not_lead_outside(root, secret):
    write(root, "tools/send.py")
    write(root, "tools/lint/tool.yaml")
    write(root, "skills/pdf/SKILL.md")
    (root / "tools/leak.py").symlink_to(secret / "secret.py")
    (root / "tools/leak").symlink_to(secret)
    (root / "tools/lint/leak.txt").symlink_to(secret / "secret.md")
    (root / "skills/pdf/data").symlink_to(secret)
    (root / "knowledge").symlink_to(secret)
    found = scan(root)
    assert codes(found) == dict.fromkeys(
        ["knowledge", "skills/pdf", "tools/leak", "tools/leak.py", "tools/lint"], "outside"
    )
    assert "leak.txt" in found["tools/lint"].reason
    assert candidates(found) == ["tools/send.py"]


def test_a_side_file_may_not_lead_outside_either(root, secret):
    write(root, "tools/send.py")
    (root / "tools/send.py.sig").symlink_to(secret / "secret.md")
    assert codes(scan(root)) == {"tools/send.py": "outside"}


def test_links_inside_the_root_are_followed(root):
    write(root, "tools/ops/send.py")
    (root / "tools/twin.py").symlink_to("ops/send.py")
    (root / "tools/other").symlink_to("ops")
    write(root, "tools/lint/tool.yaml")
    (root / "tools/lint/send.py").symlink_to("../ops/send.py")
    found = scan(root)
    assert candidates(found) == [
        "tools/lint",
        "tools/ops/send.py",
        "tools/other/send.py",
        "tools/twin.py",
    ]
    assert [each.path for each in found["tools/lint"].files] == ["send.py", "tool.yaml"]


def test_a_link_that_leads_back_is_refused(root):
    write(root, "tools/ops/send.py")
    write(root, "tools/lint/tool.yaml")
    (root / "tools/ops/up").symlink_to(root / "tools")
    (root / "tools/ops/self").symlink_to(".")
    (root / "tools/lint/up").symlink_to(root)
    found = scan(root)
    expected = dict.fromkeys(["tools/lint", "tools/ops/self", "tools/ops/up"], "loop")
    assert codes(found) == expected


def test_folders_that_link_to_one_another_do_not_multiply(root):
    names = [f"c{number}" for number in range(8)]
    for name in names:
        write(root, f"tools/{name}/send.py")
        for other in names:
            (root / f"tools/{name}/to_{other}").symlink_to(f"../{other}")
    found = scan(root)
    assert len(candidates(found)) == 8 + 8 * 7
    assert {each.code for each in found.values() if isinstance(each, Rejection)} == {"loop"}


def test_pipes_sockets_and_dangling_links_are_never_opened(root):
    write(root, "tools/lint/tool.yaml")
    write(root, "tools/mixed/tool.yaml")
    os.mkfifo(root / "tools/pipe.py")
    os.mkfifo(root / "tools/lint/pipe")
    (root / "tools/gone.py").symlink_to("nowhere")
    (root / "tools/mixed/gone").symlink_to("nowhere")
    (root / "tools/folder/tool.yaml").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(root / "tools", os.O_RDONLY)
        try:  # the path itself may be too long for a socket
            listening.bind(f"/proc/self/fd/{here}/socket.py")
        except OSError:
            write(root, "tools/socket.py", "def (")
        finally:
            os.close(here)
        found = codes(scan(root))
    assert found.pop("tools/socket.py") in ("not_a_file", "syntax_error")
    assert found == dict.fromkeys(
        ["tools/folder", "tools/gone.py", "tools/lint", "tools/mixed", "tools/pipe.py"],
        "not_a_file",
    )


@pytest.mark.parametrize(
    ("file", "origin"),
    [
        ("tools/big.py", "tools/big.py"),
        ("knowledge/big.md", "knowledge/big.md"),
        ("tools/lint/data.bin", "tools/lint"),
        ("tools/lint/tool.yaml", "tools/lint"),
        ("tools/lint/tool.yaml.sig", "tools/lint"),
        ("skills/pdf/model.bin", "skills/pdf"),
    ],
)
def test_a_file_of_a_gigabyte_is_refused_and_not_read(root, file, origin, monkeypatch):
    write(root, "tools/lint/tool.yaml")
    write(root, "skills/pdf/SKILL.md")
    path = write(root, file, "")
    os.truncate(path, 1 << 30)
    opened = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: opened.append(path) or real(path, *rest))
    assert codes(scan(root)) == {origin: "too_large"}
    assert path not in opened


def test_files_of_a_tool_may_be_larger_than_a_document_may(root):
    write(root, "tools/lint/tool.yaml", "x")
    write(root, "tools/lint/words.txt", "word\n" * 100)
    assert candidates(scan(root, max_file_bytes=100)) == ["tools/lint"]


def test_files_that_are_too_many_or_too_large_together_are_refused(root, monkeypatch):
    monkeypatch.setattr(folder_bundle, "MOST_FILES", 3)
    monkeypatch.setattr(folder_bundle, "MOST_BYTES", 1000)
    for number in range(4):
        write(root, f"tools/many/{number}.txt", "x")
        write(root, f"tools/large/{number % 2}.txt", "x" * 501)
    write(root, "tools/many/tool.yaml", "x")
    write(root, "tools/large/tool.yaml", "x")
    found = scan(root)
    assert codes(found) == {"tools/large": "too_large", "tools/many": "too_many"}
    assert "1,000" in found["tools/large"].reason


def test_depth_is_bounded(root):
    deep = "/".join(str(number) for number in range(DEEPEST))
    write(root, f"tools/{deep}/send.py")
    write(root, f"tools/{deep}/more/send.py")
    write(root, "tools/lint/tool.yaml")
    write(root, "tools/lint/" + "d/" * 30 + "x")
    found = scan(root)
    assert codes(found) == {f"tools/{deep}/more": "too_deep", "tools/lint": "too_deep"}
    assert candidates(found) == [f"tools/{deep}/send.py"]


def test_a_folder_with_too_many_entries_is_refused_and_the_others_are_read(root, monkeypatch):
    monkeypatch.setattr(folder_bundle, "MOST_ENTRIES", 10)
    for number in range(11):
        write(root, f"knowledge/{number}.md", "x")
    write(root, "tools/send.py")
    found = scan(root)
    assert codes(found) == {"knowledge": "too_many"}
    assert candidates(found) == ["tools/send.py"]


def test_a_tree_without_end_is_an_error_of_the_source(root, monkeypatch):
    monkeypatch.setattr(folder_source, "MOST_IN_ALL", 10)
    for number in range(11):
        write(root, f"knowledge/{number}.md", "x")
    with pytest.raises(SourceError, match="more than 10 entries"):
        scan(root)


def test_what_cannot_be_read_now_is_told_apart_from_what_is_wrong(root):
    write(root, "tools/lint/tool.yaml")
    (root / "tools/dark").symlink_to("x" * 300)
    (root / "tools/lint/dark").symlink_to("x" * 300)
    found = scan(root)
    assert codes(found) == {"tools/dark": "unreadable", "tools/lint": "unreadable"}
    assert found["tools/lint"].reason.startswith("dark cannot be read")


@pytest.mark.parametrize("layout", ["tools", "knowledge", "skills"])
def test_names_that_would_make_no_id_are_refused(root, layout):
    write(root, f"{layout}/a:b/x.py")
    try:
        (root / layout / os.fsdecode(b"\xff")).mkdir()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert codes(scan(root)) == {f"{layout}/a:b": "bad_name", f"{layout}/\\xff": "bad_name"}


def test_a_name_with_a_line_break_cannot_pass_for_two_lines(root):
    write(root, "knowledge/a\nai  trusted.md")
    write(root, "tools/lint/tool.yaml")
    write(root, "tools/lint/a\x1b[31m.txt")
    found = scan(root)
    assert codes(found) == {
        "knowledge/a\\nai  trusted.md": "bad_name",
        "tools/lint": "bad_name",
    }
    assert "a\\x1b[31m.txt" in found["tools/lint"].reason


def test_a_name_in_a_tool_that_is_not_utf8_is_refused_with_it(root):
    write(root, "tools/lint/tool.yaml")
    try:
        os.close(os.open(os.fsencode(root / "tools/lint") + b"/\xff", os.O_CREAT))
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    found = scan(root)
    assert codes(found) == {"tools/lint": "bad_name"}
    assert "\\xff" in found["tools/lint"].reason


def test_private_folders_are_not_entered(root):
    write(root, "tools/.git/send.py")
    write(root, "tools/__pycache__/send.py")
    found = scan(root)
    assert all(isinstance(each, LeftOut) for each in found.values())
    assert sorted(found) == ["tools/.git", "tools/__pycache__"]
