import gzip
import hashlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.errors import SourceError
from pegboard.model.items import Candidate, Rejection, Unchanged
from pegboard.sources.jsonl import MAX_LINE, JsonlSource

MAIL = {
    "id": "mail.send",
    "name": "send",
    "category": "mail",
    "description": "Send a letter.",
    "parameters": [
        {"name": "to", "description": "Who receives it.", "type": "str", "required": True},
        {"name": "copies", "description": "", "type": "array of strings", "required": False},
    ],
    "service": "ignored",
}


def write(tmp_path, *lines):
    path = tmp_path / "tools.jsonl"
    path.write_bytes(
        b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines)
    )
    return path


def scan(path, known=None):
    return list(JsonlSource("shop", path).scan(known or {}))


def test_a_record_becomes_a_candidate_with_a_schema(tmp_path):
    [found] = scan(write(tmp_path, MAIL))
    assert found == Candidate(
        source="shop",
        origin="mail.send",
        origin_hash=hashlib.sha256(json.dumps(MAIL).encode()).hexdigest(),
        fields={
            "id": "shop:mail.send",
            "kind": "tool",
            "namespace": "public",
            "name": "send",
            "category": "mail",
            "description": "Send a letter.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "Who receives it."},
                    "copies": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["to"],
            },
        },
    )


def test_a_compressed_file_reads_the_same(tmp_path):
    plain = write(tmp_path, MAIL)
    packed = tmp_path / "tools.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert scan(packed) == scan(plain)


def test_a_line_with_the_known_hash_is_unchanged(tmp_path):
    path = write(tmp_path, MAIL, b"{", b"")
    known = {finding.origin: finding.origin_hash for finding in scan(path)}
    assert scan(path, known) == [Unchanged("mail.send"), Unchanged("line 2")]


def test_line_endings_and_a_byte_order_mark_do_not_matter(tmp_path):
    line = json.dumps(MAIL).encode()
    [found] = scan(write(tmp_path, line + b"\r"))
    assert found == scan(write(tmp_path, line))[0]
    assert isinstance(scan(write(tmp_path, b"\xef\xbb\xbf" + line))[0], Candidate)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "bad_json"),
        (b'{"id": "\xff", "name": "x"}', "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b"[1]", "bad_record"),
        (b'{"name": "x"}', "bad_record"),
        (b'{"id": 7, "name": "x"}', "bad_record"),
        (b'{"id": "a"}', "bad_record"),
        (b'{"id": "a", "name": " "}', "bad_record"),
        (rb'{"id": "\ud800", "name": "x"}', "bad_record"),
    ],
)
def test_a_bad_line_is_rejected_by_its_number_and_the_rest_is_read(tmp_path, line, code):
    bad, good = scan(write(tmp_path, b"", line, MAIL))
    assert isinstance(bad, Rejection)
    assert (bad.origin, bad.code, bad.source) == ("line 2", code, "shop")
    assert "; " in bad.reason
    assert isinstance(good, Candidate)


def test_the_second_record_with_an_id_is_rejected(tmp_path):
    first, second = scan(write(tmp_path, MAIL, {**MAIL, "name": "other"}))
    assert isinstance(first, Candidate)
    assert (second.origin, second.code) == ("line 2", "duplicate_id")


def test_a_line_that_is_too_long_is_rejected_and_the_next_one_read(tmp_path):
    content = b'"' + b"x" * (2 * MAX_LINE + 5) + b'"'
    long, good = scan(write(tmp_path, content, MAIL))
    assert (long.origin, long.code) == ("line 1", "too_large")
    assert long.origin_hash == hashlib.sha256(content).hexdigest()
    assert isinstance(good, Candidate)


def test_a_line_of_just_the_limit_is_read(tmp_path):
    record = json.dumps({**MAIL, "description": ""}).encode()
    padded = record[:-1] + b" " * (MAX_LINE - len(record)) + b"}"
    assert all(isinstance(found, Candidate) for found in scan(write(tmp_path, padded)))
    assert isinstance(scan(write(tmp_path, padded, b""))[0], Candidate)


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("str", {"type": "string"}),
        ("String", {"type": "string"}),
        ("integer", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("list", {"type": "array"}),
        ("dict", {"type": "object"}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("array<string>", {"type": "array", "items": {"type": "string"}}),
        ("list of booleans", {"type": "array", "items": {"type": "boolean"}}),
        ("timestamp", {"type": "string", "format": "date-time"}),
        ("int, optional", {"type": "integer"}),
        ("widget", {}),
        ("", {}),
        (None, {}),
        (["string"], {}),
    ],
)
def test_types_are_read_leniently(tmp_path, written, schema):
    record = {"id": "a", "name": "a", "parameters": [{"name": "p", "type": written}]}
    [found] = scan(write(tmp_path, record))
    assert found.fields["input_schema"]["properties"] == {"p": schema}


def test_parameters_that_make_no_sense_are_passed_over(tmp_path):
    record = {"id": "a", "name": "a", "parameters": [1, {}, {"name": 3}, {"name": "p"}]}
    other = {"id": "b", "name": "b", "parameters": "none", "description": 5}
    first, second = scan(write(tmp_path, record, other))
    assert list(first.fields["input_schema"]["properties"]) == ["p"]
    assert second.fields["input_schema"]["properties"] == {}
    assert second.fields["description"] == ""


@pytest.mark.parametrize("name", ["tags", "skills"])
def test_tags_and_skills_are_taken_if_all_are_text(tmp_path, name):
    first, second = scan(
        write(
            tmp_path,
            {"id": "a", "name": "a", name: ["x", "y"]},
            {"id": "b", "name": "b", name: ["x", 1]},
        )
    )
    assert first.fields[name] == ["x", "y"]
    assert name not in second.fields


def test_a_missing_file_is_an_error_of_the_source(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere\.jsonl") as caught:
        scan(tmp_path / "nowhere.jsonl")
    assert caught.value.hint


@pytest.mark.parametrize("damage", ["cut", "flipped", "plain"])
def test_a_corrupt_archive_is_an_error_that_names_the_file(tmp_path, damage):
    packed = bytearray(gzip.compress(json.dumps(MAIL).encode() * 50))
    if damage == "cut":
        del packed[-12:]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    else:
        packed = bytearray(b"not gzip")
    path = tmp_path / "tools.jsonl.gz"
    path.write_bytes(packed)
    with pytest.raises(SourceError, match=r"tools\.jsonl\.gz"):
        scan(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
KEYS = ("id", "name", "category", "description", "parameters", "tags", "skills")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary() | st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON))))
def test_any_file_can_be_read(tmp_path, lines):
    for finding in scan(write(tmp_path, *lines)):
        assert isinstance(finding, Candidate | Rejection)


@pytest.mark.parametrize(
    ("said", "title"), [("Send \n it", "Send it"), ("", None), (5, None), (None, None)]
)
def test_a_line_can_have_a_title(tmp_path, said, title):
    [found] = scan(write(tmp_path, {**MAIL, "title": said}))
    assert found.fields.get("title") == title
