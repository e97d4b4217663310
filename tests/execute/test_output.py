from hypothesis import given
from hypothesis import strategies as st

from pegboard.execute.output import EDGE, Output

SECRET = "s3cret-" * 20


def hide(text: str) -> str:
    return text.replace(SECRET, "***")


def written(text: bytes, most: int, piece: int = 65_536) -> Output:
    output = Output(most)
    for start in range(0, len(text), piece):
        output.add(text[start : start + piece])
    return output


def test_what_is_short_is_kept_as_it_is():
    assert written("grüße\n".encode(), 100, piece=1).text(hide) == "grüße\n"


def test_what_is_long_is_cut_in_the_middle_and_says_so():
    text = written(b"a" * 100_000 + b"z" * 100_000, 10).text(hide)
    assert text == "aaaaa\n... 199,990 characters left out ...\nzzzzz"
    text = written(b"a" * 10 + b"z" * 10, 10).text(hide)
    assert text == "aaaaa\n... 10 characters left out ...\nzzzzz"


def test_little_is_kept_of_very_much():
    output = written(b"x" * (50 << 20), 1_000)
    assert output.size == 50 << 20
    assert len(output._head) + len(output._tail) < 5 * EDGE


@given(
    before=st.integers(0, 3 * EDGE),
    after=st.integers(0, 3 * EDGE),
    most=st.integers(0, 2_000),
    piece=st.integers(1, 70_000),
)
def test_no_cut_ever_shows_a_part_of_a_secret(before, after, most, piece):
    text = "." * before + SECRET + "." * after
    shown = written(text.encode(), most, piece).text(hide)
    assert "s3" not in shown
    assert "cret" not in shown
    assert len(shown) <= most + 60


def test_bytes_that_are_no_text_are_replaced():
    assert written(b"\xff\xfeok", 100).text(hide) == "��ok"
