"""Bundles of releases: one way to write them, and a reason for each that is refused."""

import hashlib
import io
import stat
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.gate.refusal import Refused
from pegboard.gate.releases import (
    RECORD,
    Need,
    Record,
    id_of,
    pack,
    read_record,
    record_hash,
    split_reference,
    unpack,
)
from pegboard.model.content import ItemFile

GREET = Record(
    id="tools:paper:greet",
    kind="tool",
    namespace="team-a",
    version="1.2.0",
    path="tools/paper/greet",
    folder=True,
    changelog="Greets in Greek: γειά",
    requires=(Need("tools:paper:print", "^1.2"),),
)


def file(path: str, content: bytes = b"x", *, executable: bool = False) -> ItemFile:
    return ItemFile(path, content, hashlib.sha256(content).hexdigest(), executable=executable)


FILES = (
    file("tool.yaml", b"tool_id: greet\n"),
    file("run.sh", b"echo hello\n", executable=True),
    file("données/ü.bin", bytes(range(256))),
)


def test_what_is_packed_is_unpacked():
    record, files = unpack(pack(GREET, FILES))
    assert record == GREET
    assert {(f.path, f.content, f.sha256, f.executable) for f in files} == {
        (f.path, f.content, f.sha256, f.executable) for f in FILES
    }


def test_the_same_content_makes_the_same_bytes_everywhere():
    """On any machine, with any version of Python, in any order of files, at any time."""
    bundle = pack(GREET, FILES)
    assert bundle == pack(GREET, FILES[::-1])
    assert hashlib.sha256(bundle).hexdigest() == (
        "d6220d25a9d5dcdb6631ff2a4f98be358eb44dc976ee1cd71c769be325cdfae6"
    )
    assert record_hash(GREET.text) == (
        "df084eb25aeb883ac8d1099d6137b0714223b10b2e892740cd6935dca18c984f"
    )


def archive(*entries: tuple[str, bytes], mode: int = 0o100644, compressed: bool = False) -> bytes:
    made = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", how) as file:
        for name, content in ((RECORD, GREET.text.encode()), *entries):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = mode << 16
            info.compress_type = how
            file.writestr(info, content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("bundle", "code", "reason"),
    [
        (b"", "bad_bundle", "no ZIP archive"),
        (b"PK\5\6" + b"\0" * 18, "bad_bundle", "has no pegboard.json"),
        (b"x" * 30_000_000, "too_large", "30,000,000 bytes"),
        (pack(GREET, FILES) + b"x", "bad_bundle", "behind its end"),
        (b"x" + pack(GREET, FILES), "bad_bundle", "not written as Pegboard"),
        (pack(GREET, FILES)[:-30], "bad_bundle", "no ZIP archive"),
        (archive(("files/../up.py", b"x")), "bad_path", "leads out"),
        (archive(("../up.py", b"x")), "bad_path", "leads out"),
        (archive(("/etc/passwd", b"x")), "bad_path", "leads out"),
        (archive(("files/C:/x", b"x")), "bad_path", "character no path"),
        (archive(("C:/x", b"x")), "bad_path", "leads out"),
        (archive(("files/a\\b", b"x")), "bad_path", "leads out"),
        (archive(("files/./a", b"x")), "bad_path", "leads out"),
        (archive(("files//a", b"x")), "bad_path", "leads out"),
        (archive(("files/nul.txt", b"x")), "bad_path", "no name everywhere"),
        (archive(("files/a.", b"x")), "bad_path", "no name everywhere"),
        (archive(("files/a\nb", b"x")), "bad_path", "character no path"),
        (archive(("files/a\u202eb", b"x")), "bad_path", "character no path"),
        (archive(("files/u\u0308", b"x")), "bad_path", "form NFC"),
        (archive(("files/a", b"x"), ("files/A", b"y")), "bad_path", "one file on some systems"),
        (archive(("files/ß", b"x"), ("files/SS", b"y")), "bad_path", "one file on some systems"),
        (archive(("files/a", b"x"), ("files/a/b", b"y")), "bad_path", "is a file, and"),
        (archive(("other/a", b"x")), "bad_bundle", "neither pegboard.json nor"),
        (archive(("files/a/", b"")), "bad_path", "is no file"),
        (archive(("files/a", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), "bad_path", "link"),
        (archive(("files/a", b""), mode=stat.S_IFIFO | 0o644), "bad_path", "is no file"),
        (archive(("files/a", b"\0" * 10_000_000), compressed=True), "compressed", "10,000,2"),
        (archive(("files/a", b"x"), mode=0o100600), "bad_bundle", "not written as Pegboard"),
        (archive(("files/" + "d/" * 20 + "a", b"x")), "bad_path", "too deep"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_every_other_archive_is_refused_with_its_reason(bundle, code, reason):
    with pytest.raises(Refused) as raised:
        unpack(bundle)
    assert raised.value.code == code
    assert reason in raised.value.reason


def test_a_hundred_thousand_files_are_refused_before_they_are_read():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for number in range(50_000):
            file.writestr(f"files/{number}", b"")
    with pytest.raises(Refused, match="49,999 files or more"):
        unpack(made.getvalue())
    many = bytearray(archive())
    struct.pack_into("<2H", many, len(many) - 14, 60_000, 60_000)
    with pytest.raises(Refused, match="59,999 files or more"):
        unpack(bytes(many))


def test_an_archive_that_says_there_are_few_is_counted_all_the_same():
    entries = [(f"files/{number}", b"") for number in range(300)]
    bundle = bytearray(archive(*entries))
    struct.pack_into("<2H", bundle, len(bundle) - 14, 2, 2)
    with pytest.raises(Refused, match=r"301 entries|no ZIP archive|not written"):
        unpack(bytes(bundle))


def test_a_bundle_is_changed_by_no_byte():
    bundle = pack(GREET, FILES)
    for place in range(0, len(bundle), 7):
        changed = bytearray(bundle)
        changed[place] ^= 0xFF
        try:
            found = unpack(bytes(changed))
        except Refused:
            continue
        assert pack(*found) == bytes(changed)  # it is another release, and not this one
        assert found != unpack(bundle)


@settings(max_examples=300)
@given(st.binary(max_size=400), st.integers(0, 3))
def test_whatever_comes_is_refused_and_nothing_else(noise, how):
    good = pack(GREET, FILES)
    made = [noise, good[: len(noise)] + noise, noise + good, good[:-22] + noise + good[-22:]][how]
    try:
        found = unpack(made)
    except Refused:
        return
    assert pack(*found) == made


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": "1.2"}, "cannot be published"),
        ({"version": "1.2.0+linux"}, "cannot be published"),
        ({"version": "01.2.0"}, "cannot be published"),
        ({"namespace": "Team A"}, "no namespace"),
        ({"path": "tools/../greet"}, "leads out"),
        ({"path": "elsewhere/paper/greet"}, "lies in none of"),
        ({"path": "tools"}, "lies in none of"),
        ({"kind": "skill"}, "is no 'skill'"),
        ({"id": "tools:paper:other"}, "its id is"),
        ({"folder": False}, "its id is"),
        ({"requires": (Need("tools:a:x", "latest"),)}, "no range"),
        ({"requires": (Need("x", "^1"),)}, "whole id"),
        ({"requires": (Need("other/tools:a:x", "^1"),)}, "whole id"),
        ({"requires": (Need("tools:a:\x1b", "^1"),)}, "U\\+001B"),
        ({"changelog": "fine\u202e"}, "U\\+202E"),
        ({"changelog": "x" * 10_001}, "more than 10,000"),
        ({"path": "tools/.hidden/greet", "id": "tools:.hidden:greet"}, "no folder offers"),
        ({"path": "tools/_own/greet", "id": "tools:_own:greet"}, "no folder offers"),
    ],
)
def test_a_record_that_does_not_agree_with_itself_is_refused(change, reason):
    with pytest.raises(Refused, match=reason):
        read_record(GREET._replace(**change).text.encode())


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100000,
        b'{"pegboard":2}',
        GREET.text.encode() + b"\n",
        GREET.text.replace('"1.2.0"', "1").encode(),
        GREET.text.replace("paper", "\\u0070aper").encode(),
        GREET.text.replace('"folder":true', '"folder":true,"more":1').encode(),
        b"x" * 300000,
    ],
)
def test_what_is_no_record_is_refused(text):
    with pytest.raises(Refused):
        read_record(text)


@pytest.mark.parametrize(
    ("path", "folder", "item_id"),
    [
        ("tools/paper/greet", True, "tools:paper:greet"),
        ("tools/paper/greet.py", False, "tools:paper:greet"),
        ("scripts/a/b/c.py", False, "scripts:a/b:c"),
        ("knowledge/v1.2.md", False, "knowledge::v1.2"),
        ("skills/pdf", True, "skills::pdf"),
    ],
)
def test_an_id_says_where_an_item_hangs(path, folder, item_id):
    assert id_of(path, folder) == item_id


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("tools:a:b", ("", "tools:a:b")),
        ("team/tools:a:b", ("team", "tools:a:b")),
        ("user/team/tools:a/c:b", ("user/team", "tools:a/c:b")),
        ("a__b", ("", "a__b")),
    ],
)
def test_a_reference_is_a_namespace_and_an_id(name, parts):
    assert split_reference(name) == parts
