import math
import subprocess
import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.embed.hashed import HashedEmbedder
from pegboard.errors import ConfigError
from pegboard.model.items import Fingerprint, Vector
from pegboard.text import TEXT_VERSION

embedder = HashedEmbedder()


def cosine(left: Vector, right: Vector) -> float:
    return math.fsum(a * b for a, b in zip(array("f", left), array("f", right), strict=True))


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("kubernets", "kubernetes", "spreadsheet"),
        ("creat isue", "create_issue", "delete_branch"),
        ("wether forcast", "Weather forecast for a city", "Send a message to a channel"),
        ("createIssue", "create issue", "list invoices"),
        ("CAFE", "café", "tea"),
        ("天气预报查询", "天气预报", "发送邮件给同事"),
    ],
)
def test_a_misspelt_or_differently_written_name_is_nearer_than_an_unrelated_one(query, near, far):
    asked = embedder.embed_query(query)
    assert (
        cosine(asked, embedder.embed_query(near)) > cosine(asked, embedder.embed_query(far)) + 0.2
    )


def test_the_same_word_is_nearer_than_a_longer_word_that_holds_it():
    asked, same, longer = embedder.embed(["issue", "issue", "reissued"])
    assert cosine(asked, same) > cosine(asked, longer) > 0


def test_a_repeated_word_counts_for_less_each_time():
    once, twice, often = embedder.embed(["git cloud", "git git cloud", "git " * 50 + "cloud"])
    assert cosine(once, twice) > cosine(once, often) > 0.5


def test_a_vector_does_not_depend_on_its_neighbours():
    texts = ["one", "two words", ""]
    assert embedder.embed(texts) == [embedder.embed_query(text) for text in texts]
    assert embedder.embed([]) == []


@pytest.mark.program
def test_vectors_are_the_same_in_another_process_with_another_hash_seed():
    program = (
        "from pegboard.embed.hashed import HashedEmbedder;"
        "print(HashedEmbedder().embed_query('create an issue').hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONHASHSEED": "7"}
    )
    assert done.stdout.strip() == embedder.embed_query("create an issue").hex(), done.stderr


@pytest.mark.parametrize("blank", ["", " \n", "?!", "\ud800"])
def test_a_text_without_words_gets_one_fixed_unit_vector(blank):
    assert array("f", embedder.embed_query(blank)).tolist() == [1.0] + [0.0] * 255


@given(st.text(st.characters()), st.integers(1, 600))
def test_any_text_gets_a_unit_vector_of_the_dimension_asked_for(text, dimension):
    vector = HashedEmbedder(dimension).embed_query(text)
    assert len(vector) == 4 * dimension
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)


def test_the_fingerprint_tells_dimensions_apart():
    assert HashedEmbedder(64).fingerprint == Fingerprint("test", "hashed-ngrams", 64, TEXT_VERSION)
    assert HashedEmbedder(64).fingerprint.key != embedder.fingerprint.key


def test_a_dimension_below_one_is_refused():
    with pytest.raises(ConfigError, match="-3"):
        HashedEmbedder(-3)
