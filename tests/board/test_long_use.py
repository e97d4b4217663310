"""What shows only in a process that lives long, on a board that lives longer, or beside others."""

import shutil
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.app.measure import evaluate
from pegboard.embed.local import WEIGHTS, LocalEmbedder
from pegboard.gate.characters import visible_rejections
from pegboard.store import checking, planning
from pegboard.store.reading import items
from pegboard.store.sqlite import putting


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    for name in ("send", "read", "move"):
        write(folder / f"mcptools/mail/{name}.py", f"{name.title()} a letter.")
    return folder


def write(path: Path, description: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'def run():\n    """{description}"""\n', encoding="utf-8")


@pytest.fixture
def board(tmp_path: Path, tools: Path):
    with Pegboard.open(str(tmp_path / "board.db"), create=True, embed__provider="test") as found:
        found.add_folder(tools)
        yield found


def test_syncing_again_and_again_keeps_no_connection_open(board):
    for _ in range(5):
        board.sync()
    assert len(board.store.database._connections) == 1


def test_a_lost_model_card_does_not_keep_tools_from_being_stored(board, tmp_path):
    weights = tmp_path / "weights"
    shutil.copytree(WEIGHTS, weights)
    (weights / "model.json").unlink()
    board.embedder = LocalEmbedder(weights)
    outcome = board.sync()
    assert outcome.sources[0].added == 3
    assert "model.json" in outcome.notices[0]
    assert board.search("letter").hits
    shutil.copyfile(WEIGHTS / "model.json", weights / "model.json")
    board.embedder = LocalEmbedder(weights)
    assert board.sync().work.embedded == 3
    assert board.check() == []


def test_a_name_that_would_make_an_id_ambiguous_is_refused(board, tools):
    write(tools / "mcptools/mail/a:b.py", "Is ambiguous.")
    assert board.sync().sources[0].rejected == {"bad_name": 1}
    assert board.check() == []


def test_words_in_any_section_of_a_docstring_are_found(board, tools):
    write(
        tools / "mcptools/mail/post.py",
        "Post it.\n\n    Note:\n        Uses carrier pigeons.\n    ",
    )
    board.sync()
    assert board.search("pigeons", mode="bm25").hits[0].name == "post"


def test_a_new_way_to_make_text_is_applied_by_the_next_sync(board, monkeypatch):
    board.sync()
    for module in (planning, items, putting, checking):
        monkeypatch.setattr(module, "TEXT_VERSION", 999)
    report = board.sync().sources[0]
    assert (report.changed, report.unchanged) == (3, 0)
    assert board.sync().sources[0].unchanged == 3


def test_an_origin_is_shown_without_what_a_terminal_would_obey(board, tools):
    (tools / "mcptools/mail/e\x1b[31mvil.py").write_text("x = 1\n", encoding="utf-8")
    board.sync()
    [shown] = visible_rejections(board.rejections())
    assert shown.origin == "mcptools/mail/e\\x1b[31mvil.py"


def test_the_same_id_in_two_namespaces_is_told_apart_in_the_hits(board, tools):
    board.add_folder(tools, name="again", namespace="blue")
    board.sync()
    hits = board.search("send a letter", mode="bm25", limit=2).hits
    assert {(hit.name, hit.namespace) for hit in hits} == {("send", "public"), ("send", "blue")}
    assert board.show(f"blue/{hits[0].id}").item.namespace == "blue"


def test_a_source_that_was_removed_leaves_nothing_that_cannot_be_removed(board):
    board.sync()
    board.store.database.rows("DELETE FROM sources")
    board.remove_source("tools")
    assert board.search("letter", threshold=0.0).hits == ()


def test_an_evaluation_does_not_take_the_place_of_a_source_with_its_name(board, tools, tmp_path):
    shutil.copytree(tools, tmp_path / "eval")
    board.add_folder(tmp_path / "eval", namespace="blue")
    data = tmp_path / "data"
    data.mkdir()
    (data / "tools.jsonl").write_text('{"id": "a", "name": "a"}\n', encoding="utf-8")
    (data / "queries.jsonl").write_text('{"id": "1", "query": "a", "gold": ["a"]}\n')
    with pytest.raises(Exception, match="'eval' of its own"):
        evaluate(board, data, mode="bm25", limit=10)
