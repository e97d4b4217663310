"""Ids that a document chooses itself, and so can change, share and give away."""

import json

import pytest

STORES = ("sqlite", "postgres")


class Notes:
    """Entries of knowledge in a `.ai` folder."""

    def __init__(self, root):
        self.root = root / ".ai"
        (self.root / "knowledge").mkdir(parents=True)

    def write(self, name, own_id, text):
        path = self.root / f"knowledge/{name}.md"
        path.write_text(f"---\nid: {own_id}\n---\n{text}\n")
        return path


@pytest.fixture
def notes(tmp_path):
    return Notes(tmp_path / "project")


@pytest.fixture
def empty(opened, notes):
    board = opened()
    notes.write("other", "other", "Something else about cheese.")
    board.add_folder(notes.root)
    board.sync()
    return board


def found(board, query="cheese"):
    return {hit.id: hit.description for hit in board.search(query, mode="bm25").hits}


def refused(board):
    return {each.origin: each.code for each in board.rejections()}


def changes(outcome):
    return [(each.added, each.changed, each.retired) for each in outcome.sources]


def test_an_item_under_a_new_id_no_longer_hangs_under_the_old_one(empty, notes):
    notes.write("other", "renamed", "Something else about cheese.")
    assert changes(empty.sync()) == [(1, 0, 1)]
    assert found(empty) == {"knowledge::renamed": "Something else about cheese."}
    notes.write("other", "other", "Something else about cheese.")
    assert changes(empty.sync(under=["knowledge/other.md"])) == [(0, 1, 1)]
    assert found(empty) == {"knowledge::other": "Something else about cheese."}
    assert empty.check() == []


@pytest.mark.parametrize("name", ["a", "z"])
@pytest.mark.parametrize("under", [False, True])
def test_a_second_file_with_an_id_is_refused_at_every_sync(empty, notes, name, under):
    notes.write(name, "other", "Of cheese there is more.")
    for part in ([f"knowledge/{name}.md"] if under else [], [], []):
        assert changes(empty.sync(under=part)) == [(0, 0, 0)]
        assert found(empty) == {"knowledge::other": "Something else about cheese."}
        assert refused(empty) == {f"knowledge/{name}.md": "id_taken"}
    empty.sync(full=True)
    assert list(refused(empty).values()) == ["id_taken"]


@pytest.mark.parametrize("under", [False, True])
def test_it_comes_in_when_the_first_gives_the_id_up(empty, notes, under):
    notes.write("a", "other", "Of cheese there is more.")
    empty.sync()
    path = notes.write("other", "given-up", "Something else about cheese.")
    empty.sync(under=["knowledge/other.md"] if under else [])
    assert found(empty) == {
        "knowledge::other": "Of cheese there is more.",
        "knowledge::given-up": "Something else about cheese.",
    }
    assert refused(empty) == {}
    path.unlink()
    empty.sync()
    assert found(empty) == {"knowledge::other": "Of cheese there is more."}


def test_of_two_new_files_with_one_id_the_second_waits_for_the_first(empty, notes):
    first = notes.write("a", "milk", "Milk from a cow.")
    notes.write("b", "milk", "Milk from a goat.")
    empty.sync()
    assert found(empty, "milk") == {"knowledge::milk": "Milk from a cow."}
    assert refused(empty) == {"knowledge/b.md": "id_taken"}
    first.unlink()
    empty.sync()
    assert found(empty, "milk") == {"knowledge::milk": "Milk from a goat."}
    assert refused(empty) == {}


def test_a_file_keeps_its_item_when_it_is_renamed(empty, notes):
    (notes.root / "knowledge/other.md").rename(notes.root / "knowledge/moved.md")
    assert changes(empty.sync())[0][::2] == (0, 0)
    assert found(empty) == {"knowledge::other": "Something else about cheese."}


def test_two_files_can_swap_their_ids(empty, notes):
    notes.write("b", "milk", "Milk and cheese.")
    empty.sync()
    notes.write("b", "other", "Milk and cheese.")
    notes.write("other", "milk", "Something else about cheese.")
    empty.sync()
    assert found(empty) == {
        "knowledge::milk": "Something else about cheese.",
        "knowledge::other": "Milk and cheese.",
    }
    assert refused(empty) == {}


def test_an_operation_that_is_renamed_no_longer_hangs_under_its_old_name(empty, tmp_path):
    path = tmp_path / "shop.json"
    for name in ("listGoods", "allGoods"):
        operation = {"operationId": name, "summary": "List all goods.", "responses": {}}
        about = {"title": "Shop", "version": "1"}
        document = {"openapi": "3.1.0", "info": about, "paths": {"/goods": {"get": operation}}}
        path.write_text(json.dumps(document))
        if name == "listGoods":
            empty.add_source("openapi", str(path), name="shop")
        empty.sync(["shop"])
        assert [hit.name for hit in empty.search("goods", mode="bm25").hits] == [name]
