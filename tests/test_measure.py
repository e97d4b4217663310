"""Measuring search on a board of its own, and on one as it is."""

import json

import pytest

from making import make_item
from pegboard import Pegboard
from pegboard.app.measure import evaluate, evaluate_as_is, evaluation_board
from pegboard.errors import UsageError
from pegboard.model.items import ItemId

QUERIES = [
    {"id": "1", "query": "write a letter", "gold": ["mail:send"]},
    {"id": "2", "query": "draw a picture", "gold": ["mcptools:art:draw"]},
]
TIMING = ("latency_ms",)


@pytest.fixture
def board(tmp_path):
    path = str(tmp_path / "board.db")
    with Pegboard.open(path, create=True, embed__provider="test") as found:
        items = [
            make_item("send", description="Write a letter."),
            make_item("draw", category="art", description="Draw a picture.", origin="art/draw.py"),
            make_item("sing", category="art", description="Sing aloud.", origin="art/sing.py"),
        ]
        found.store.items.put(items, found.target)
        found.backfill()
        yield found


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "set"
    made.mkdir()
    lines = "\n".join(json.dumps(query) for query in QUERIES)
    (made / "queries.jsonl").write_text(lines, "utf-8")
    return made


def test_a_board_as_it_is_is_asked_by_whole_ids_and_by_ids_without_their_source(board, folder):
    found, notices = evaluate_as_is(board, folder, mode="hybrid", limit=10)
    assert (found["hit@1"], found["queries"], found["tools"]) == (1.0, 2, 3)
    assert notices == []


def test_it_needs_no_catalogue_but_does_need_queries(board, folder):
    (folder / "queries.jsonl").unlink()
    with pytest.raises(UsageError, match=r"queries\.jsonl is not there"):
        evaluate_as_is(board, folder, mode="hybrid", limit=10)


def test_asking_changes_nothing_on_the_board(board, folder):
    before = [entry.item.id for entry in board.store.items.page(0, 10)]
    evaluate_as_is(board, folder, mode="bm25", limit=10)
    assert [entry.item.id for entry in board.store.items.page(0, 10)] == before
    assert board.sources() == []


def test_the_same_tools_measure_the_same_from_a_file_and_as_they_hang(board, folder):
    tools = [
        {
            "id": f"{entry.item.category}:{entry.item.name}",
            "name": entry.item.name,
            "category": entry.item.category,
            "description": entry.item.description,
        }
        for entry in board.store.items.page(0, 10)
    ]
    (folder / "tools.jsonl").write_text("\n".join(map(json.dumps, tools)), "utf-8")
    queries = [
        query | {"gold": [ItemId(query["gold"][0]).removeprefix("mcptools:")]} for query in QUERIES
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
    as_is, _ = evaluate_as_is(board, folder, mode="hybrid", limit=10)
    with evaluation_board(None, board.settings) as other:
        from_file, _ = evaluate(other, folder, mode="hybrid", limit=10)
    for name in TIMING:
        as_is.pop(name), from_file.pop(name)
    assert as_is == from_file
