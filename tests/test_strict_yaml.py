"""YAML as data, and what becomes of YAML that is something else."""

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.formats.strict_yaml import MAX_DEPTH, YamlError, load

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=20),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(st.characters(categories=["L", "Nd"]), max_size=8), inner),
    ),
    max_leaves=20,
)


@given(DATA)
def test_json_is_yaml_with_the_same_meaning(data):
    assert load(json.dumps(data, ensure_ascii=False)) == data


@given(st.dictionaries(st.text(st.characters(categories=["L"]), min_size=1), SCALARS))
def test_what_another_writer_quoted_stays_text(data):
    texts = {key: str(value) for key, value in data.items()}
    assert load(yaml.safe_dump(texts, allow_unicode=True, default_style='"')) == texts


@settings(max_examples=300)
@given(st.text())
def test_any_text_gives_data_or_an_error_with_its_place(text):
    try:
        load(text)
    except YamlError as error:
        assert error.line >= 1
        assert error.column >= 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("2020-01-01", "2020-01-01"),
        ("12:30:45", "12:30:45"),
        ("0o17", 15),
        ("017", 17),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1_000", "1_000"),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("9" * 5_000, "9" * 5_000),
        ("|\n  a\n  b\n", "a\nb\n"),
    ],
)
def test_scalars_mean_what_version_1_2_says(text, value):
    assert load(text) == value


def test_keys_become_text_as_they_are_written():
    assert load("200: a\nyes: b\n1.0: c\nnull: d\n") == {
        "200": "a",
        "yes": "b",
        "1.0": "c",
        "null": "d",
    }


def test_a_merge_brings_what_is_not_written_here():
    text = "base: &base {a: 1, b: 2}\nhere:\n  <<: *base\n  b: 3\n"
    assert load(text) == {"base": {"a": 1, "b": 2}, "here": {"a": 1, "b": 3}}


def test_an_alias_repeats_what_its_anchor_holds():
    assert load("[&a [1], *a]") == [[1], [1]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\na: 2\n", "line 2, column 4: the key 'a' stands here twice"),
        ("a: &x [*x]", "line 1, column 8: the alias *x stands for nothing"),
        ("[a]: b", "line 1, column 3: a key must be text"),
        ("!!python/object:os.system x", "line 1, column 1: the tag"),
        ("!local x", "line 1, column 1: the tag '!local'"),
        ("a\n---\nb\n", "line 2, column 1: a second document"),
        ("a: b: c", "line 1, column 5:"),
        ("a:\n\t- b", "line 2, column 1:"),
        ("a: '", "line 1, column"),
        ("a\nb\x00", "line 2, column 2: the character U+0000"),
        ("日本\nü: \x80", "line 2, column 4: the character U+0080"),
        ("a\n\ud800", "line 2, column 1: the character U+D800"),
    ],
)
def test_what_is_no_data_is_refused_with_line_and_column(text, problem):
    with pytest.raises(YamlError) as caught:
        load(text)
    assert str(caught.value).startswith(problem)


def test_depth_is_bounded_and_does_no_harm():
    assert load("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for text in ("[" * 200_000, "{a: " * 200_000, "- " * 200_000, "? " * 200_000):
        with pytest.raises(YamlError, match=f"deeper than {MAX_DEPTH} levels"):
            load(text)


def test_what_aliases_repeat_is_counted_before_it_grows():
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    with pytest.raises(YamlError, match="counting what aliases repeat"):
        load("\n".join(lines))
