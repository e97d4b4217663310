from pathlib import Path

import pytest

from pegboard.embed.known import KNOWN, known_model


def test_every_name_and_alias_stands_for_one_model():
    names = [name.casefold() for each in KNOWN for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))
    for each in KNOWN:
        for name in (each.name, *each.aliases):
            assert known_model(name) is each


@pytest.mark.parametrize(
    "name",
    [
        "nomic-embed-text-v1.5",
        "nomic-ai/nomic-embed-text-v1.5",
        "Nomic-Embed-Text-V1.5",
        "nomic-embed-text",
        "nomic-embed-text:latest",
    ],
)
def test_a_model_is_known_by_the_names_that_services_give_it(name):
    found = known_model(name)
    assert found.dimension == 768
    assert (found.query, found.document) == ("search_query: ", "search_document: ")


def test_the_facts_are_possible():
    for each in KNOWN:
        assert 64 <= each.dimension <= 16_384
        assert each.max_tokens >= 256
        for prefix in (each.query, each.document):
            assert not prefix or prefix.endswith((": ", ":"))


def test_the_usual_facts_are_right():
    assert known_model("text-embedding-3-large").dimension == 3072
    assert known_model("intfloat/multilingual-e5-base").document == "passage: "
    assert known_model("BAAI/bge-small-en-v1.5").dimension == 384
    assert known_model("BAAI/bge-small-en-v1.5").document == ""


def test_an_unknown_model_is_none():
    assert known_model("unheard-of") is None


def test_the_table_in_the_documents_is_this_one():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "models.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and line.count("|") >= 8]
    shown = [row.replace("\\|", "/").split(" | ") for row in rows]
    assert [(row[0], row[1], row[2]) for row in shown] == [
        (f"| `{each.name}`", str(each.dimension), str(each.max_tokens)) for each in KNOWN
    ]
    for row, each in zip(shown, KNOWN, strict=True):
        for cell, prefix in ((row[4], each.query), (row[5], each.document)):
            told = prefix.replace("\n", "\\n").replace("|", "/")
            assert cell.strip() == (f"`{told}`" if told else "")
