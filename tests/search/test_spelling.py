import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.search.spelling import LONG, SHORTEST, distance, endings, nearest
from pegboard.text import variants

relaxed = settings(max_examples=300, deadline=None)
few_letters = st.text("abc", max_size=7)


def plain_distance(a, b):
    """Optimal string alignment, by the book."""
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i, j in itertools.product(range(1, len(a) + 1), range(1, len(b) + 1)):
        table[i, j] = min(
            table[i - 1, j] + 1,
            table[i, j - 1] + 1,
            table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
        )
        if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
            table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@relaxed
@given(a=few_letters, b=few_letters, most=st.integers(0, 3))
def test_the_distance_is_that_of_the_book_up_to_its_bound(a, b, most):
    found, true = distance(a, b, most), plain_distance(a, b)
    assert found == true if true <= most else found > most


@relaxed
@given(a=few_letters, b=few_letters)
def test_the_distance_is_the_same_both_ways_and_nothing_only_between_equals(a, b):
    assert distance(a, b, 9) == distance(b, a, 9)
    assert (distance(a, b, 9) == 0) == (a == b)


@relaxed
@given(a=few_letters, b=few_letters)
def test_words_that_are_one_error_apart_always_have_a_variant_in_common(a, b):
    if distance(a, b, 1) == 1:
        assert set(variants(a)) & set(variants(b))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("isue", "issue"),
        ("isssue", "issue"),
        ("issur", "issue"),
        ("isseu", "issue"),
        ("xssue", "issue"),
        ("ssue", "issue"),
        ("repositroy", "repository"),
        ("задача", "задачи"),
    ],
)
def test_a_typing_error_is_read_as_the_word_that_was_meant(said, meant):
    assert nearest(said, [meant, "unrelated"]) == (meant,)


def test_only_the_nearest_are_taken():
    long = "x" * LONG
    assert nearest(f"{long}ab", [f"{long}ba", f"{long}b", f"{long}"]) == (f"{long}b", f"{long}ba")


def test_a_short_word_may_be_one_error_away_and_a_long_one_two():
    assert nearest("isue", ["tissue"]) == ()
    assert nearest("repsitry", ["repository"]) == ("repository",)


def test_a_word_with_the_same_first_letter_comes_first():
    assert nearest("fole", ["role", "file", "sole", "fold"])[:2] == ("file", "fold")


def test_a_word_is_no_misspelling_of_itself_and_words_of_two_letters_of_nothing():
    assert nearest("file", ["file"]) == ()
    assert nearest("file", ["fi"]) == ()


def test_a_very_short_word_is_unfinished_rather_than_misspelled():
    assert nearest("x" * SHORTEST, ["x" * SHORTEST + "y", "y" + "x" * SHORTEST]) == ()
    assert endings("fil", ["file", "fill"]) == ("file", "fill")


def test_an_unfinished_word_is_read_as_the_shortest_that_begin_like_it():
    assert endings("conv", ["conversation", "converts", "convert"]) == (
        "convert",
        "converts",
        "conversation",
    )


def test_a_finished_word_has_no_ending():
    assert endings("convert", ["convert"]) == ()


@relaxed
@given(word=st.text(min_size=1, max_size=12), near=st.lists(st.text(min_size=1, max_size=12)))
def test_no_words_upset_the_reading_and_the_order_of_what_is_near_does_not_matter(word, near):
    assert nearest(word, near) == nearest(word, sorted(near, reverse=True))
    assert endings(word, near) == endings(word, sorted(near, reverse=True))
    assert word not in (*nearest(word, near), *endings(word, near))
