"""Bytes become data, or an error that says where and why."""

import json

import pytest

from pegboard.errors import SourceError
from pegboard.gate.characters import visible
from pegboard.sources.documents.parsing import parsed
from pegboard.sources.openapi import cleaning


def read(text):
    return parsed(text if isinstance(text, bytes) else text.encode(), "api.yaml")


def complaint(text) -> str:
    with pytest.raises(SourceError) as raised:
        read(text)
    assert raised.value.hint
    return raised.value.message


def test_json_and_yaml_are_told_apart_by_their_content():
    assert read('{"a": 1}') == read("a: 1") == read("{a: 1}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_usual_encodings_are_read(encoding):
    assert read("a: Straße".encode(encoding)).data == {"a": "Straße"}


def test_numbers_as_keys_become_text():
    assert read("200: fine").data == {"200": "fine"}


def test_json_errors_name_line_column_and_cause():
    said = complaint('{"a": 1,\n "b" 2}')
    assert said == "api.yaml, line 2, column 6: Expecting ':' delimiter"


def test_yaml_errors_name_line_column_and_cause():
    said = complaint("a: 1\nb: [1, 2\nc: 3\n")
    assert said.startswith("api.yaml, line 3, column")
    assert "flow sequence" in said


def test_a_key_that_stands_twice_is_an_error():
    assert "line 3" in complaint("a:\n  b: 1\n  b: 2\n")


def test_bytes_that_are_no_utf8_are_told_by_their_place():
    assert "line 2, column 4" in complaint(b"a: 1\nb: \xff\n")


def test_a_web_page_is_told_from_a_document():
    assert "web page" in complaint("<!doctype html><html></html>")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000])
def test_json_beyond_measure_is_an_error_with_its_place(text):
    assert "line 1, column" in complaint(text)


def test_what_is_no_number_in_json_is_a_text():
    assert read('{"a": NaN}').data == {"a": "NaN"}


def test_yaml_nested_too_deeply_is_an_error():
    assert "nested deeper" in complaint("a: " + "[" * 1_000)


def test_aliases_that_multiply_are_an_error():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "aliases" in complaint("\n".join(lines))


def test_control_characters_are_removed_and_told_of():
    found = read("a: it\u0099s\nb: 2\n")
    assert found.data == {"a": "its", "b": 2}
    assert [(each.line, each.what) for each in found.repairs] == [(1, "control character, removed")]


def test_line_separators_inside_a_text_do_not_end_the_line():
    found = read("a: |\n  one\u2028two\nb: 2\n")
    assert found.data == {"a": "one two\n", "b": 2}
    assert [each.line for each in found.repairs] == [2]


def test_a_tab_on_a_blank_line_of_a_block_is_removed():
    found = read("a: |-\n    \t\n    text\nb: 2\n")
    assert found.data == {"a": "\ntext", "b": 2}
    assert [each.line for each in found.repairs] == [2]


def test_tabs_as_indentation_become_spaces():
    found = read("a:\n\tb: 1\n\tc:\n\t\t- d: 2\n\t\t\te: 3\n")
    assert found.data == {"a": {"b": 1, "c": [{"d": 2, "e": 3}]}}
    assert len(found.repairs) == 4


def test_what_can_be_read_as_it_is_is_not_touched():
    found = read("a: |\n  one\n  \ttwo\n")
    assert found.data == {"a": "one\n\ttwo\n"}
    assert found.repairs == ()


def test_an_error_beside_repairs_still_names_its_line():
    assert "line 4" in complaint("a: it\u0099s\nb: x\u2028y\nc: 3\n  d: 4\n")


def test_only_so_many_repairs_are_told_of():
    assert len(read("a: " + "\u0099" * 5_000).repairs) == 1_000


# Texts


def test_hidden_characters_are_those_that_the_gate_refuses():
    every = "".join(map(chr, (*range(0x30000), *range(0xE0000, 0xE2000))))
    assert set(every) - set(cleaning.cleaned(every)) == set(every) - set(visible(every))


def test_html_goes_and_commonmark_stays():
    said = "<p>Creates a <b>new</b> <a href='/x'>charge</a>.</p>\n<ul><li>one</li><li>two</li></ul>"
    assert cleaning.prose(said) == "Creates a new charge.\n\n- one\n- two"
    assert cleaning.prose("Use **bold**, `<b>` and <owner>/<repo>.") == (
        "Use **bold**, `<b>` and <owner>/<repo>."
    )
    assert cleaning.prose("one <!-- two --> three") == "one  three"
    assert cleaning.prose("<code>id</code> &lt; 3 &amp; more<br/>") == "`id` < 3 & more"


def test_an_entity_cannot_bring_a_hidden_character_back():
    assert cleaning.prose("a&#8203;b") == "ab"


@pytest.mark.parametrize("part", ["<", "<!--", "<p ", "`", "<a href=", "&#", "< p"])
def test_markup_that_never_ends_takes_no_time(part):
    cleaning.prose(part * 200_000)


def test_json_values_are_copied_clean_or_not_at_all():
    assert cleaning.json_value({"a": ["x\u200b", 1, None]}, 3) == {"a": ["x", 1, None]}
    for value in ([[[[1]]]], {"a": float("inf")}, object()):
        with pytest.raises(cleaning.NoJson):
            cleaning.json_value(value, 3)


def test_a_lone_surrogate_in_json_can_be_written_afterwards():
    found = read(json.dumps({"a": "x\ud800y"}))
    assert cleaning.json_value(found.data, 2) == {"a": "xy"}
