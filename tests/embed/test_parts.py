import math
from array import array
from operator import mul

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making import make_vector
from pegboard.embed.hashed import HashedEmbedder
from pegboard.embed.parts import WEIGHTS, PartsEmbedder
from pegboard.errors import EmbeddingError
from pegboard.text import PART_MARK

relaxed = settings(max_examples=100, deadline=None)
lines = st.text(st.characters(exclude_characters=PART_MARK, exclude_categories=["Cs"]), max_size=40)
PLAIN = HashedEmbedder()
PLAIN_PARTS = PartsEmbedder(PLAIN)


class Watched(HashedEmbedder):
    """Remembers what it was asked, and may give something else back."""

    def __init__(self, answer=None):
        super().__init__()
        self.asked = []
        self.closed = False
        self.answer = answer

    def embed(self, texts):
        self.asked.append(list(texts))
        return super().embed(texts) if self.answer is None else self.answer(texts)

    def close(self):
        self.closed = True


def numbers(vector):
    return array("f", vector)


@relaxed
@given(texts=st.lists(lines, max_size=5))
def test_a_text_of_one_part_has_the_plain_vector(texts):
    assert PartsEmbedder(PLAIN).embed(texts) == PLAIN.embed(texts)


@relaxed
@given(parts=st.lists(lines.filter(bool), min_size=2, max_size=len(WEIGHTS)))
def test_a_text_of_several_parts_has_their_weighted_sum_at_unit_length(parts):
    [found] = PartsEmbedder(PLAIN).embed([PART_MARK.join(parts)])
    vectors = [numbers(each) for each in PLAIN.embed(parts)]
    total = [sum(map(mul, WEIGHTS, row)) for row in zip(*vectors, strict=True)]
    length = math.hypot(*total)
    assert list(numbers(found)) == pytest.approx([value / length for value in total], abs=1e-6)
    assert math.hypot(*numbers(found)) == pytest.approx(1.0, abs=1e-6)


def test_a_part_that_is_empty_adds_nothing():
    made = PartsEmbedder(PLAIN)
    assert made.embed(["send\nA letter\n\n"]) == made.embed(["send\nA letter"])
    assert made.embed(["\nA letter"]) == PLAIN.embed(["A letter"])
    assert made.embed(["send\nA letter\n\nto: Whom"]) != made.embed(["send\nA letter\nto: Whom"])


@relaxed
@given(texts=st.lists(st.tuples(lines, lines).map(PART_MARK.join) | lines, max_size=5))
def test_a_texts_vector_does_not_depend_on_its_neighbours(texts):
    made = PartsEmbedder(PLAIN)
    assert made.embed(texts) == [made.embed([text])[0] for text in texts]


def test_marks_beyond_the_last_part_do_not_divide():
    inner = Watched()
    PartsEmbedder(inner).embed([PART_MARK.join("abcde")])
    assert inner.asked == [["a", "b", "c", PART_MARK.join("de")]]


def test_what_occurs_twice_is_embedded_once():
    inner = Watched()
    found = PartsEmbedder(inner).embed(
        ["send\nA letter", "send\nA parcel", "send", "send\nA letter"]
    )
    assert inner.asked == [["send", "A letter", "A parcel"]]
    assert len(found) == 4
    assert found[0] == found[3] != found[1]


@pytest.mark.parametrize("fewer", [0, 1])
def test_an_answer_that_is_too_short_is_an_error(fewer):
    inner = Watched(lambda texts: PLAIN.embed(texts[:fewer]))
    with pytest.raises(EmbeddingError, match=f"{fewer} vectors came back for 2 texts"):
        PartsEmbedder(inner).embed(["send\nA letter"])


def test_an_answer_that_is_too_long_is_an_error():
    inner = Watched(lambda texts: PLAIN.embed([*texts, "more"]))
    with pytest.raises(EmbeddingError, match="3 vectors came back for 2 texts"):
        PartsEmbedder(inner).embed(["send\nA letter"])


def test_vectors_of_two_lengths_are_an_error():
    inner = Watched(lambda texts: [make_vector(1.0), make_vector(1.0, 0.0)])
    with pytest.raises(EmbeddingError, match="1 and 2 numbers"):
        PartsEmbedder(inner).embed(["send\nA letter"])


@pytest.mark.parametrize("label", [(-2.0, 0.0), (math.nan, 0.0), (math.inf, 0.0)])
def test_where_the_sum_has_no_direction_the_body_stands_alone(label):
    inner = Watched(lambda texts: [make_vector(*label), make_vector(1.0, 0.0)])
    assert PartsEmbedder(inner).embed(["send\nA letter"]) == [make_vector(1.0, 0.0)]


def test_queries_the_fingerprint_and_the_end_are_those_of_the_inner_embedder():
    inner = Watched()
    made = PartsEmbedder(inner)
    assert made.fingerprint == inner.fingerprint
    assert made.embed_query("a letter\nby post") == inner.embed_query("a letter\nby post")
    made.close()
    assert inner.closed


def test_no_texts_are_no_vectors():
    assert PartsEmbedder(PLAIN).embed([]) == []


def latin(text):
    """A model that knows ASCII only."""
    return " ".join("".join(each if each.isascii() else " " for each in text).split())


def test_parameters_stand_in_for_a_description_that_the_model_does_not_know():
    made = PartsEmbedder(PLAIN, latin)
    foreign = made.embed(["create event\n新建日程\n新建\nstart: 开始"])
    assert foreign == PLAIN_PARTS.embed(["create event\nstart:"])
    assert made.embed(["新建\n新建 PDF"]) == PLAIN.embed(["PDF"])


def test_a_text_that_the_model_knows_keeps_its_weights():
    text = "create\nMake an event.\nMake\nstart"
    assert PartsEmbedder(PLAIN, latin).embed([text]) == PLAIN_PARTS.embed([text])


def test_a_text_of_which_the_model_knows_nothing_is_embedded_whole():
    whole = f"新建{PART_MARK}新建日程"
    assert PartsEmbedder(PLAIN, latin).embed([whole]) == PLAIN_PARTS.embed([whole])
