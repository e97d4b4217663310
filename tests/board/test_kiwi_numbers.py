"""What versions of an old registry are called: always something, and never two the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_candidate
from pegboard.board.migrate.numbers import numbers_of
from pegboard.formats.semver import parse
from pegboard.gate.admission import admit
from pegboard.model.items import Item

PARTS = ["", "0", "1", "12", ".", "-", "+", "v", "V", "rc", " ", "\n", "_", "é", "最新", "9" * 45]
texts = st.lists(st.sampled_from(PARTS), max_size=8).map("".join) | st.text(max_size=150)


@pytest.mark.parametrize(
    ("old", "numbers"),
    [
        (["1.2.3", "1.2.3-rc.1+b"], ["1.2.3", "1.2.3-rc.1+b"]),
        (["1.0"], ["1.0.0"]),
        (["v3"], ["3.0.0"]),
        (["01.02.00", "1.2.0"], ["1.2.0+01-02-00", "1.2.0"]),
        (["1.0.0-01"], ["0.0.0+1-0-0-01"]),
        (["V1.2.3"], ["1.2.3"]),
        ([" 1.0.0\n"], ["1.0.0"]),
        (["1.0-beta"], ["1.0.0-beta"]),
        (["2024-01-05"], ["2024.0.0-01-05"]),
        (["1.2.3.4"], ["0.0.0+1-2-3-4"]),
        (["latest"], ["0.0.0+latest"]),
        ([""], ["0.0.0+old"]),
        (["最新", "安定"], ["0.0.0+old", "0.0.0+old.2"]),
        (["1.0", "1.0.0"], ["1.0.0+1-0", "1.0.0"]),
        (["1.0.0", "1.0"], ["1.0.0", "1.0.0+1-0"]),
        (["1.0", "v1", "1"], ["1.0.0", "1.0.0+v1", "1.0.0+1"]),
        (["1.0.0", "1.0.0", "1.0.0+1-0-0"], ["1.0.0", "1.0.0+1-0-0.2", "1.0.0+1-0-0"]),
        (["1" * 101], ["0.0.0+" + "1" * 40]),
    ],
)
def test_each_old_text_has_its_number(old, numbers):
    assert numbers_of(old) == numbers


@given(st.lists(texts, max_size=6))
def test_the_gate_takes_them_all_and_no_two_are_the_same(old):
    found = numbers_of(old)
    assert len(set(found)) == len(found) == len(old)
    for number in found:
        admitted = admit(make_candidate(version=number, manifest={"a": 1}))
        assert isinstance(admitted, Item) and admitted.version.version == number
    for text, number in zip(old, found, strict=True):
        if parse(text):
            assert text in found
            assert number == text or old.count(text) > 1
