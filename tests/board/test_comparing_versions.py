"""What two versions have different, and that no two versions take long to compare."""

from hypothesis import given
from hypothesis import strategies as st

from making import make_file
from pegboard.board.describe.comparing_versions import (
    LONGEST_LINE,
    MOST_LINES,
    MOST_TEXT,
    differing,
)
from pegboard.model.content import Version


def version(**files: bytes) -> Version:
    made = tuple(make_file(path, content) for path, content in files.items())
    return Version("1.0.0", "hash", files=made)


def test_files_are_added_removed_changed_and_made_to_be_run():
    old = version(a=b"one\ntwo\n", gone=b"x\n", same=b"same\n", run=b"#!\n")
    new = version(a=b"one\n2\n", new=b"y\n", same=b"same\n", run=b"#!\n")
    new = new._replace(
        files=tuple(f._replace(executable=True) if f.path == "run" else f for f in new.files)
    )
    found = {each.path: each for each in differing(old, new)}
    assert {path: each.state for path, each in found.items()} == {
        "a": "changed",
        "gone": "removed",
        "new": "added",
        "run": "mode",
    }
    assert found["a"].lines == ("@@ -1,2 +1,2 @@", " one", "-two", "+2")
    assert found["gone"].lines[1:] == ("-x",)
    assert found["new"].lines[1:] == ("+y",)


def test_what_is_no_text_is_only_named():
    found = differing(version(a=b"\xff\xfe", b=b"a\0b"), version(a=b"text", b=b"text"))
    assert [(each.path, each.binary, each.lines) for each in found] == [
        ("a", True, ()),
        ("b", True, ()),
    ]


def test_a_version_is_not_different_from_itself():
    same = version(a=b"one", b=b"\xff")
    assert differing(same, same) == []


def test_large_files_are_cut():
    old = version(a=b"".join(b"%d\n" % n for n in range(100_000)))
    new = version(a=b"".join(b"%d\n" % (n * 7) for n in range(100_000)))
    [found] = differing(old, new)
    assert found.cut
    assert len(found.lines) <= 2 * MOST_LINES + 1
    [long] = differing(version(a=b"x" * 10_000_000), version(a=b"y" * 10_000_000))
    assert max(map(len, long.lines)) <= LONGEST_LINE + 1


def test_many_files_are_cut_together():
    line = b"z" * 1_500 + b"\n"
    files = {f"f{n}": line * 1_000 for n in range(50)}
    found = differing(version(), version(**files))
    assert len(found) == 50
    assert sum(len(line) for each in found for line in each.lines) <= MOST_TEXT
    assert found[-1].cut


texts = st.lists(st.sampled_from(["a", "b", "c", "d\r"]), max_size=12).map(
    lambda lines: "\n".join(lines).encode()
)


@given(old=texts, new=texts)
def test_what_is_told_leads_from_one_to_the_other(old, new):
    for each in differing(version(a=old), version(a=new)):
        gone = [line[1:] for line in each.lines if line[0] == "-"]
        come = [line[1:] for line in each.lines if line[0] == "+"]
        assert set(gone) <= {line.removesuffix("\r") for line in old.decode().split("\n")}
        assert set(come) <= {line.removesuffix("\r") for line in new.decode().split("\n")}
