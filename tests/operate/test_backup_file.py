"""A board in a file is copied while others write it, and brought back somewhere else."""

import shutil
import stat
from pathlib import Path

import apsw
import pytest
from operate_parts import at_work, furnish, pairs_on, pegboard, told

from pegboard.errors import BoardCorrupt, BoardError, BoardTooNew
from pegboard.store.queries import migrations
from pegboard.store.sqlite import copying
from pegboard.store.sqlite.copying import copy_board
from pegboard.store.sqlite.opening import APPLICATION_ID


@pytest.fixture(autouse=True)
def quick_model(monkeypatch):
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Made once; every test takes a copy of its own."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("PEGBOARD_EMBED_PROVIDER", "test")
        environ.setenv("PEGBOARD_DATA_DIR", str(folder / "own"))
        furnish(str(folder / "board.db"), folder)
    return folder


@pytest.fixture
def board(made, tmp_path):
    shutil.copytree(made / "board.db-files", tmp_path / "here" / "board.db-files")
    return Path(shutil.copy(made / "board.db", tmp_path / "here" / "board.db"))


def sql(path, statement):
    connection = apsw.Connection(str(path))
    try:
        return list(connection.execute(statement))
    finally:
        connection.close()


def test_what_was_backed_up_and_brought_back_says_what_the_board_said(board, tmp_path):
    before = told(board)
    assert before["show"]["item"]["version"]["files"], "the large tool has its file"
    assert [line["name"] for line in before["tokens"]["tokens"]] == ["ci"]
    assert "yank" in str(before["audit"])

    saved = tmp_path / "saved.db"
    done = pegboard("db", "backup", saved, "--board", board)
    assert done.code == 0, done.err
    assert f"copied {board} to {saved}" in done.out
    assert "3 large files" in done.out
    shutil.rmtree(board.parent)

    again = tmp_path / "there" / "board.db"
    again.parent.mkdir()
    assert pegboard("db", "backup", again, "--board", saved).code == 0
    assert told(again) == before
    well = pegboard("doctor", "--board", again)
    assert (well.code, "is well" in well.out) == (0, True), well.out + well.err


def test_a_copy_that_is_made_while_others_write_is_whole(board, tmp_path):
    with at_work(str(board)) as writer:
        before = writer.await_more(5)
        done = pegboard("db", "backup", tmp_path / "copy.db", "--board", board)
        writer.await_more(5)
    assert done.code == 0, done.err
    there = pairs_on(str(tmp_path / "copy.db"))
    assert before <= there < pairs_on(str(board))
    assert pegboard("worker", "--once", "--board", tmp_path / "copy.db").code == 0
    counted = pegboard("status", "--board", tmp_path / "copy.db", "--json").json
    assert counted["embeddings"]["pending"] == 0, "what was in hand elsewhere is embedded here"


def test_a_copy_is_as_private_as_its_board(board, tmp_path):
    board.chmod(0o640)
    copy_board(board, tmp_path / "copy.db", with_files=True)
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o640
    assert sorted(each.name for each in tmp_path.glob("copy*")) == ["copy.db", "copy.db-files"]


def test_of_two_copies_to_one_name_the_first_stays_whole(board, tmp_path, monkeypatch):
    saved = tmp_path / "saved.db"
    copied = copying.FolderBlobs.put

    def overtaken(blobs, key, content):
        monkeypatch.setattr(copying.FolderBlobs, "put", copied)
        copy_board(board, saved, with_files=True)
        copied(blobs, key, content)

    monkeypatch.setattr(copying.FolderBlobs, "put", overtaken)
    with pytest.raises(BoardError, match="is there already"):
        copy_board(board, saved, with_files=True)
    assert told(saved) == told(board)
    assert pegboard("doctor", "--board", saved).code == 0
    assert not list(tmp_path.glob("*.part*"))


@pytest.mark.parametrize("ending", ["", "-wal", "-files"])
def test_nothing_that_is_there_is_written_over(board, tmp_path, ending):
    (tmp_path / f"copy.db{ending}").write_text("mine")
    with pytest.raises(BoardError, match="is there already"):
        copy_board(board, tmp_path / "copy.db", with_files=True)
    assert [each.name for each in tmp_path.glob("copy*")] == [f"copy.db{ending}"]
    assert (tmp_path / f"copy.db{ending}").read_text() == "mine"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_backup_that_was_cut_off_is_refused_and_says_so(board, tmp_path, share):
    whole = board.read_bytes()
    cut = tmp_path / "cut.db"
    cut.write_bytes(whole[: int(len(whole) * share)])
    for command in (("search", "x"), ("doctor",), ("db", "backup", tmp_path / "again.db")):
        done = pegboard(*command, "--board", cut)
        assert done.code == 4, done.out
        assert str(cut) in done.err
        assert "damaged" in done.err or "is empty" in done.err
        assert "Traceback" not in done.err
    assert not list(tmp_path.glob("again*"))


def test_a_board_with_a_damaged_page_is_not_passed_off_as_a_backup(board, tmp_path):
    content = bytearray(board.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096
    board.write_bytes(content)
    with pytest.raises(BoardCorrupt, match="damaged") as told:
        copy_board(board, tmp_path / "copy.db", with_files=True)
    assert not list(tmp_path.glob("copy*"))
    assert told.value.message.startswith(f"{board} is damaged, and so its copy would be")


def test_a_board_that_is_too_damaged_to_be_looked_at_is_named_and_not_its_copy(board, tmp_path):
    root = "SELECT rootpage FROM sqlite_schema WHERE name = 'item_terms_config'"
    [(page,)] = sql(board, root)
    content = bytearray(board.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = bytes(4096)
    board.write_bytes(content)
    with pytest.raises(BoardCorrupt) as told:
        copy_board(board, tmp_path / "copy.db", with_files=True)
    assert told.value.message.startswith(f"{board} is damaged")
    assert "copy.db" not in told.value.message
    assert not list(tmp_path.glob("copy*"))


def test_a_large_file_that_was_lost_before_is_told_and_stops_nothing(board, tmp_path):
    [first, *others] = (p for p in board.with_name("board.db-files").rglob("*") if p.is_file())
    first.unlink()
    done = pegboard("db", "backup", tmp_path / "copy.db", "--board", board, "--json")
    assert done.code == 0
    assert (done.json["files"], len(done.json["lost"])) == (len(others), 1)
    assert done.json["lost"][0].endswith(first.name)
    assert first.name in done.err


def test_large_files_that_lie_elsewhere_stay_there(board, tmp_path):
    large = board.with_name("board.db-files").rename(tmp_path / "large")
    done = pegboard(
        "db", "backup", tmp_path / "copy.db", "--board", board, PEGBOARD_BLOBS_PLACE=str(large)
    )
    assert done.code == 0
    assert "3 large files stay at blobs.place" in done.err
    assert [each.name for each in tmp_path.glob("copy*")] == ["copy.db"]


def test_a_backup_keeps_the_schema_that_an_older_pegboard_knows(tmp_path):
    """Else there would be no way back once a newer one has looked at the board."""
    old = tmp_path / "old.db"
    number, name, text = migrations("sqlite")[0]
    connection = apsw.Connection(str(old))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE migrations"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at REAL NOT NULL) STRICT"
    )
    connection.execute(text)
    connection.execute("INSERT INTO migrations VALUES (?, ?, 0)", (number, name))
    connection.close()

    assert copy_board(old, tmp_path / "copy.db", with_files=True).schema == 1
    numbers = "SELECT max(number) FROM migrations"
    assert sql(old, numbers) == sql(tmp_path / "copy.db", numbers) == [(1,)]

    assert pegboard("status", "--board", tmp_path / "copy.db").code == 0
    assert sql(tmp_path / "copy.db", numbers) == [(migrations("sqlite")[-1][0],)]


def test_an_older_pegboard_says_what_to_do_with_a_newer_board(board, tmp_path):
    sql(board, "INSERT INTO migrations VALUES (9999, '9999_future', 0)")
    done = pegboard("search", "x", "--board", board)
    assert done.code == 4
    assert "has schema 9999, this Pegboard knows" in done.err
    assert "upgrade Pegboard, as it was installed" in done.err
    assert "go back to the backup that was made before" in done.err
    with pytest.raises(BoardTooNew):
        copy_board(board, tmp_path / "copy.db", with_files=True)


def test_a_board_in_postgresql_is_told_its_own_way(tmp_path):
    done = pegboard("db", "backup", tmp_path / "x.dump", "--board", "postgresql://nobody@db/tools")
    assert done.code == 2
    assert f"pg_dump --format=custom --file={tmp_path / 'x.dump'}" in done.err
