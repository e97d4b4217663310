"""Small promises of the search, each with the packaged model or in the order of hits."""

import json

import pytest

from pegboard.board.find.answering import Ask, FindSettings, find
from pegboard.model.items import Mode
from pegboard.search.fusion import FusionSettings, Method

TOOLS = [
    (
        "convert_time",
        "Convert time between timezones",
        "Target IANA timezone name (e.g., 'Asia/Tokyo', 'America/San_Francisco')",
    ),
    (
        "get_current_time",
        "Get current time in a specific timezone",
        "IANA timezone name (e.g., 'America/New_York', 'Europe/London')",
    ),
    ("list_pullrequests", "Return all that are open.", "Slug of the repository"),
    ("list_pushes", "Return all pushes.", "Slug of the repository"),
    ("x_17", "Archive a repository.", "Its slug"),
    ("git_status", "Shows the working tree status", "Path of the repository"),
]
FREEACT = FusionSettings(Method.RRF, bm25_weight=0.3, vector_weight=2.5)
"""As `PYTOOLS_BM25_WEIGHT` and `PYTOOLS_VEC_WEIGHT` set them."""


@pytest.fixture
def packaged(opened, tmp_path):
    """A board with these tools and the packaged model."""
    catalogue = tmp_path / "tools.jsonl"
    rows = [
        {
            "id": name,
            "name": name,
            "category": "tools",
            "description": description,
            "parameters": [{"name": "value", "description": parameter, "type": "string"}],
        }
        for name, description, parameter in TOOLS
    ]
    catalogue.write_text("".join(json.dumps(row) + "\n" for row in rows))
    board = opened(provider="local")
    board.add_source("jsonl", str(catalogue), name="some")
    board.sync()
    return board


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("what time is it in Tokyo", "get_current_time"),
        ("convert 3pm New York time to Tokyo", "convert_time"),
        ("pull request", "list_pullrequests"),
        ("list the pull requests", "list_pullrequests"),
    ],
)
def test_the_right_tool_comes_first(packaged, text, first):
    assert packaged.search(text, threshold=0.0).hits[0].name == first


def test_a_typing_error_in_a_description_is_forgiven_without_a_model(packaged):
    found = packaged.search("archive a repsitory", mode="fuzzy").hits
    assert found[0].name == "x_17"
    assert {hit.name for hit in packaged.search("repsitory", mode="fuzzy").hits} >= {"x_17"}


@pytest.mark.parametrize("fusion", [FusionSettings(Method.RRF), FREEACT], ids=["rrf", "freeact"])
@pytest.mark.parametrize("text", ["time", "open requests of a repository", "status of the tree"])
def test_hits_of_rrf_are_in_the_order_of_their_scores(packaged, fusion, text):
    settings = FindSettings(fusion=fusion)
    ask = Ask(text, Mode.HYBRID, limit=10, threshold=0.0)
    scores = [hit.score for hit in find(packaged.store, packaged.embedder, ask, settings).hits]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
