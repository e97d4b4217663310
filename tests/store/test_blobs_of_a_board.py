"""A board and its blob storage agree, whatever fails between them."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from blobs_parts import LARGE, LASTING, content_of, everything, in_bucket, with_file

from making import by_hand, entry_of, make_file, make_item, purge
from pegboard.app.upkeep import LEFT_BEHIND
from pegboard.board.curate.editing import Curating
from pegboard.board.describe.bounds import bounded
from pegboard.errors import BoardBusy, BoardCorrupt, BoardError
from pegboard.model.content import Version
from pegboard.model.items import Filters
from pegboard.store.blobs import large_files
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.blobs.large_files import LargeFiles
from pegboard.store.opening import is_address, open_store
from pegboard.store.postgres.database import run
from pegboard.store.postgres.files import PostgresFiles
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.queries import load
from pegboard.store.sqlite.files import SqliteFiles
from pegboard.store.sqlite.store import SqliteStore

BOUND = 30.0
NOW = -60.0
"""An age that everything has, whatever a clock says: S3 tells whole seconds."""


KINDS = ("sqlite folder", "sqlite bucket", "postgres bucket")
BY_BUCKET = pytest.mark.parametrize("kinds", KINDS[1:], indirect=True)
BY_STORE = pytest.mark.parametrize("kinds", KINDS[::2], indirect=True)


@pytest.fixture(params=KINDS)
def kinds(request):
    """Each kind of store and each kind of blob storage, in as few pairs as that takes."""
    return request.param.split()


@pytest.fixture
def where(request, kinds, tmp_path):
    """A place for a board."""
    if kinds[0] == "postgres":
        return request.getfixturevalue("postgres_url")
    return str(tmp_path / "board.db")


@pytest.fixture
def blobs(request, kinds, tmp_path):
    if kinds[1] == "folder":
        return FolderBlobs(tmp_path / "kept" / "files")
    s3, bucket = request.getfixturevalue("s3"), request.getfixturevalue("bucket")
    return in_bucket(s3, bucket, LASTING)


@pytest.fixture
def elsewhere(request, where, tmp_path):
    """A place for another board on the same kind of store."""
    if is_address(where):
        return request.getfixturevalue("empty_database")
    return str(tmp_path / "second.db")


@pytest.fixture
def open_board(where, blobs):
    """Opens the board once more, as another process has it."""
    with ExitStack() as stack:

        def make(blobs=blobs, where=where):
            return stack.enter_context(closing(open_store(where, create=True, blobs=blobs)))

        yield make


@pytest.fixture
def board(open_board):
    return open_board()


@pytest.fixture
def other(board, open_board):
    """The same board, as another process has it."""
    return open_board()


@pytest.fixture
def impatient(board, where, blobs):
    """The same board, for somebody who waits for no lock."""
    if is_address(where):
        made = PostgresStore(f"{where}&options=-clock_timeout%3D50ms", blobs=blobs)
    else:
        made = SqliteStore(Path(where), busy_seconds=0.2, blobs=blobs)
    with closing(made):
        yield made


@contextmanager
def locked(board):
    """Nobody else can write to the board."""
    if isinstance(board, SqliteStore):
        with board.database.write():
            yield
        return
    with psycopg.connect(board.database.url) as connection:
        connection.execute("LOCK TABLE items, version_files IN EXCLUSIVE MODE")
        yield


def records_of(board):
    kind = SqliteFiles if isinstance(board, SqliteStore) else PostgresFiles
    return kind(board.database)


def lying(board) -> dict[str, tuple[int | None, str | None]]:
    """Of each file, how many bytes are in the database, and where the others are."""
    rows = board.database.rows("SELECT path, length(content), storage_key FROM version_files")
    return {path: (size, key) for path, size, key in rows}


def key_of(board, name: str) -> str:
    key = lying(board)[f"{name}.bin"][1]
    assert key
    return key


def stored(board, blobs) -> list[str]:
    return [blob.key for blob in blobs.listed(board_name(board))]


def board_name(board) -> str:
    return str(board.database.rows("SELECT id FROM board")[0][0])


def content(board, item) -> bytes:
    return entry_of(board, item).item.version.files[0].content


class Watched:
    """Blob storage that lets a test do something in the middle."""

    def __init__(self, blobs):
        self.blobs = blobs
        self.place = blobs.place
        self.after_put = self.after_list = self.before_delete = lambda: None

    def put(self, key, content):
        self.blobs.put(key, content)
        self.after_put()

    def get(self, key):
        return self.blobs.get(key)

    def has(self, key):
        return self.blobs.has(key)

    def delete(self, key):
        self.before_delete()
        self.blobs.delete(key)

    def listed(self, under):
        yield from list(self.blobs.listed(under))
        self.after_list()


@pytest.fixture
def watched(blobs):
    return Watched(blobs)


@pytest.fixture
def watched_board(board, open_board, watched):
    return open_board(watched)


@pytest.mark.parametrize(
    ("size", "large"), [(0, False), (LARGE - 1, False), (LARGE, True), (LARGE + 1, True)]
)
def test_a_file_of_64_kb_is_the_first_that_lies_outside(board, blobs, size, large):
    item = with_file("send", content_of(size))
    board.items.put([item], None)
    in_database, key = lying(board)["send.bin"]
    assert (in_database, bool(key)) == ((None, True) if large else (size, False))
    assert stored(board, blobs) == ([key] if large else [])
    assert entry_of(board, item).item == item


def test_the_same_content_is_stored_once(board, blobs):
    items = [with_file(name, content_of(LARGE)) for name in ("a", "b", "c")]
    board.items.put(items[:2], None)
    board.items.put(items[2:], None)
    assert len({key_of(board, name) for name in "abc"}) == len(stored(board, blobs)) == 1
    assert [content(board, item) for item in items] == [content_of(LARGE)] * 3


def test_a_file_may_be_there_twice_in_one_version(board, blobs):
    files = (make_file("a", content_of(LARGE)), make_file("b", content_of(LARGE)))
    item = make_item(version=Version("1.0.0", "x", files=files))
    board.items.put([item], None)
    assert entry_of(board, item).item == item
    assert len(stored(board, blobs)) == 1


def test_what_has_not_changed_is_not_uploaded_again(board, blobs, watched, watched_board):
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    uploads = []
    watched.after_put = lambda: uploads.append(1)
    watched_board.items.put([item], None)
    watched_board.items.put([item], None, rewrite=True)
    assert uploads == []


def test_puts_at_the_same_time_share_what_they_store(board, other, blobs):
    """Each may have uploaded it: what the other did not need is gone again."""
    items = [with_file(name, content_of(LARGE)) for name in ("a", "b", "c", "d")]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda item: board.items.put([item], None), items))
    assert [content(other, item) for item in items] == [content_of(LARGE)] * 4
    keys = {key_of(board, name) for name in "abcd"}
    assert sorted(stored(board, blobs)) == sorted(keys)
    if isinstance(board, SqliteStore):  # whose puts wait for one another
        assert len(keys) == 1


def test_an_item_that_is_refused_leaves_nothing_behind(board, blobs):
    board.items.put([make_item("send")], None)
    report = board.items.put([with_file("send", content_of(LARGE), source="others")], None)
    assert [each.code for each in report.refused] == ["id_taken"]
    assert stored(board, blobs) == []


def test_a_transaction_that_fails_takes_its_uploads_with_it(board, impatient, blobs):
    with locked(board), pytest.raises(BoardBusy):
        impatient.items.put([with_file("send", content_of(LARGE))], None)
    assert stored(board, blobs) == []
    assert board.items.page(0, 10) == []


def test_the_board_can_be_written_while_another_process_uploads(
    watched, watched_board, board, other
):
    watched.after_put = lambda: other.items.put([make_item("meanwhile")], None)
    watched_board.items.put([with_file("send", content_of(LARGE))], None)
    assert {entry.item.name for entry in board.items.page(0, 10)} == {"meanwhile", "send"}


def test_content_that_is_not_what_its_hash_says_is_never_stored(board, blobs):
    file = make_file("a", content_of(LARGE))._replace(content=content_of(LARGE, 2))
    with pytest.raises(BoardError, match="the file a of mcptools:mail:send does not have the hash"):
        board.items.put([make_item(version=Version("1.0.0", "x", files=(file,)))], None)
    assert stored(board, blobs) == []


# Damage


def damaged(blobs, key: str, how: str) -> None:
    if how == "missing":
        blobs.delete(key)
    else:
        whole = blobs.get(key)
        blobs.put(key, {"truncated": whole[:-1], "changed": whole[:-1] + b"\x00"}[how])


DAMAGE = pytest.mark.parametrize("how", ["missing", "truncated", "changed"])


@DAMAGE
def test_a_damaged_file_is_told_with_its_item_its_path_and_the_remedy(board, blobs, how):
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    damaged(blobs, key_of(board, "send"), how)
    with pytest.raises(BoardCorrupt, match=r"the file send\.bin of mcptools:mail:send") as caught:
        board.items.get(item.id, item.namespace)
    assert blobs.place in caught.value.message
    assert "pegboard sync --full" in caught.value.hint
    assert any("send.bin" in said for said in board.check())


@DAMAGE
def test_writing_everything_again_heals_it_for_all_who_share_it(board, blobs, how):
    items = [with_file(name, content_of(LARGE)) for name in ("a", "b")]
    board.items.put(items, None)
    damaged(blobs, key_of(board, "a"), how)
    for item in items:
        board.items.put([item], None, rewrite=True)
    assert board.check() == []
    assert key_of(board, "a") == key_of(board, "b")
    board.unused_files(NOW, remove=True)
    assert stored(board, blobs) == [key_of(board, "a")]


@pytest.mark.parametrize("key", ["../../etc/passwd", "/etc/passwd", "", "no such/key"])
def test_a_key_that_was_tampered_with_leads_nowhere(board, key):
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    by_hand(board, "UPDATE version_files SET storage_key = :key", key=key)
    with pytest.raises(BoardCorrupt, match=r"send\.bin .* is missing"):
        board.items.get(item.id, item.namespace)


@BY_STORE
def test_an_item_whose_files_are_lost_can_still_be_decided_about(board, blobs):
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    damaged(blobs, key_of(board, "send"), "missing")
    people = Curating(board, lambda: None)
    assert people.describe("send", "Mine.", "mia").item.description == "Mine."
    assert not people.deactivate("send", "mia", "It is broken.").active
    assert people.activate(item.id, "mia").active
    assert len(people.history("send")) == 3
    asked = bounded(board, Filters(linked=("send",)), None)
    assert asked.linked == (item.id,)


def test_a_small_file_is_checked_as_well(board):
    item = with_file("send", b"small")
    board.items.put([item], None)
    by_hand(board, "UPDATE version_files SET content = :content", content=b"\0")
    with pytest.raises(BoardCorrupt, match=r"send\.bin .* is not what was put"):
        board.items.get(item.id, item.namespace)


def test_a_large_file_that_an_older_release_put_into_the_database_is_read(board, blobs):
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    by_hand(
        board,
        "UPDATE version_files SET storage_key = NULL, content = :content",
        content=content_of(LARGE),
    )
    assert entry_of(board, item).item == item
    board.items.put([item], None, rewrite=True)
    assert key_of(board, "send") in stored(board, blobs)
    assert entry_of(board, item).item == item


# Blob storage that is down


@BY_BUCKET
def test_while_the_bucket_is_down_a_put_fails_as_a_whole_and_loses_nothing(
    board, open_board, bucket
):
    kept, item = with_file("kept", content_of(LARGE)), with_file("send", content_of(LARGE, 2))
    board.items.put([kept], None)
    cut_off = open_board(in_bucket("http://127.0.0.1:9", bucket))
    with pytest.raises(BoardError, match="cannot be reached"):
        cut_off.items.put([make_item("small"), item], None)
    assert [entry.item.name for entry in board.items.page(0, 10)] == ["kept"]
    with pytest.raises(BoardError, match="cannot be reached") as caught:
        cut_off.items.get(kept.id, kept.namespace)
    assert not isinstance(caught.value, BoardCorrupt)
    cut_off.items.put([make_item("small")], None)  # needs no bucket
    board.items.put([item], None)
    assert board.check() == []


# What is left behind

UPLOADS_AND_WAITS = """
import sys
from pathlib import Path
from blobs_parts import LARGE, LASTING, content_of, with_file
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.opening import open_store

class Slow(FolderBlobs):
    def put(self, key, content):
        super().put(key, content)
        print("uploaded", flush=True)
        sys.stdin.read()

store = open_store(sys.argv[1], blobs=Slow(Path(sys.argv[2])))
store.items.put([with_file("send", content_of(LARGE))], None)
"""


@pytest.fixture
def left_behind(where, tmp_path):
    """An empty board, and the upload of a process that was killed before it committed."""
    blobs = FolderBlobs(tmp_path / "files")
    board = open_store(where, create=True, blobs=blobs)
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    with subprocess.Popen(
        [sys.executable, "-c", UPLOADS_AND_WAITS, where, str(tmp_path / "files")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(folders)},
    ) as victim:
        assert victim.stdout.readline() == b"uploaded\n"
        victim.kill()
    yield board
    board.close()


@pytest.mark.program
@BY_STORE
def test_what_a_killed_put_uploaded_is_found_and_removed(left_behind):
    assert left_behind.items.page(0, 10) == []
    [found] = left_behind.unused_files(NOW)
    assert found.size == LARGE
    assert left_behind.unused_files(NOW, remove=True) == [found]
    assert left_behind.unused_files(NOW) == []


@pytest.mark.program
@BY_STORE
def test_what_is_younger_than_an_hour_is_left_alone(left_behind):
    assert left_behind.unused_files(LEFT_BEHIND, remove=True) == []
    assert len(left_behind.unused_files(NOW)) == 1


@pytest.mark.program
@BY_STORE
def test_after_a_kill_the_same_put_succeeds(left_behind):
    item = with_file("send", content_of(LARGE))
    left_behind.items.put([item], None)
    assert len(left_behind.unused_files(NOW, remove=True)) == 1
    assert entry_of(left_behind, item).item == item


def test_what_an_item_no_longer_has_is_found_and_removed(board, blobs):
    board.items.put([with_file(name, content_of(LARGE, n)) for n, name in enumerate("ab")], None)
    old = {name: key_of(board, name) for name in "ab"}
    board.items.put([with_file("a", content_of(LARGE, 7))], None)
    found = board.unused_files(NOW, remove=True)
    assert [blob.key for blob in found] == [old["a"]]
    assert sorted(stored(board, blobs)) == sorted([key_of(board, "a"), old["b"]])
    purge(board)
    purge(board)
    assert len(board.unused_files(NOW, remove=True)) == 2
    assert stored(board, blobs) == []


@pytest.mark.parametrize("moment", ["after_list", "before_delete"])
def test_what_is_put_again_while_it_is_being_removed_is_not_lost(
    board, other, watched, watched_board, moment
):
    """The put finds nothing on the board to share, so it uploads under a key of its own."""
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    purge(board)
    purge(board)
    setattr(watched, moment, lambda: other.items.put([item], None))
    [removed] = watched_board.unused_files(NOW, remove=True)
    assert key_of(board, "send") != removed.key
    assert content(board, item) == content_of(LARGE)


def test_what_is_committed_after_it_was_listed_is_not_removed(
    board, open_board, watched, watched_board
):
    item = with_file("send", content_of(LARGE))
    uploading = Watched(watched.blobs)
    uploaded, listed = threading.Event(), threading.Event()
    uploading.after_put = lambda: (uploaded.set(), listed.wait(BOUND))
    slow = open_board(uploading)
    with ThreadPoolExecutor(1) as pool:
        putting = pool.submit(slow.items.put, [item], None)
        assert uploaded.wait(BOUND)
        watched.after_list = lambda: (listed.set(), putting.result(BOUND))
        assert watched_board.unused_files(NOW, remove=True) == []
    assert content(board, item) == content_of(LARGE)


def test_what_was_to_be_shared_and_is_removed_meanwhile_goes_into_the_database(
    board, watched, watched_board
):
    first, second = with_file("a", content_of(LARGE)), with_file("b", content_of(LARGE))
    another = with_file("c", content_of(LARGE, 2))
    board.items.put([first], None)

    def take_away():
        purge(board)
        purge(board)
        board.unused_files(NOW, remove=True)

    watched.after_put = take_away  # of `another`, when it is settled that `second` shares
    watched_board.items.put([second, another], None)
    assert lying(board)["b.bin"] == (LARGE, None)
    assert content(board, second) == content_of(LARGE)


def test_an_upload_that_took_too_long_to_be_told_from_one_left_behind_is_not_used(
    board, blobs, monkeypatch
):
    monkeypatch.setattr(large_files, "COMMIT_SECONDS", 0.0)
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    assert lying(board)["send.bin"] == (LARGE, None)
    assert stored(board, blobs) == []
    assert entry_of(board, item).item == item


def test_boards_that_share_a_place_leave_one_another_alone(board, open_board, elsewhere, blobs):
    second = open_board(where=elsewhere)
    item = with_file("send", content_of(LARGE))
    board.items.put([item], None)
    assert second.unused_files(NOW, remove=True) == []
    second.items.put([item], None)
    purge(second)
    purge(second)
    assert len(second.unused_files(NOW, remove=True)) == 1
    assert entry_of(board, item).item == item
    assert everything(blobs, board_name(second)) == []


def test_a_put_whose_end_is_not_known_keeps_its_uploads(board, blobs):
    """As when the connection to a server is lost during a commit."""
    with (
        pytest.raises(ConnectionError),
        board.files.uploaded([with_file("send", content_of(LARGE))], unsure=(ConnectionError,)),
    ):
        raise ConnectionError
    assert len(stored(board, blobs)) == 1


def test_a_database_that_keeps_everything_uploads_nothing_and_says_what_it_cannot_find(board):
    files = LargeFiles(None, records_of(board))
    item = with_file("send", content_of(LARGE))
    with files.uploaded([item]) as uploads:
        assert uploads.keys(records_of(board).known) == {}
    assert files.unused(NOW, remove=True) == []
    [file] = item.version.files
    row = {"path": file.path, "sha256": file.sha256, "content": file.content, "storage_key": None}
    assert files.content(item.id, row) == file.content
    with pytest.raises(BoardCorrupt, match=r"send\.bin .* blobs\.place is empty"):
        files.content(item.id, row | {"content": None, "storage_key": "a/b"})


def test_without_settings_large_files_lie_beside_the_board(path):
    store = SqliteStore(path, create=True)
    assert not path.with_name("board.db-files").exists()
    store.items.put([with_file("send", content_of(LARGE))], None)
    assert path.with_name("board.db-files").is_dir()
    assert store.facts()["files"] == str(path.with_name("board.db-files"))
    store.close()


def test_without_settings_large_files_stay_in_the_database_of_a_server(postgres_store):
    item = with_file("send", content_of(LARGE))
    postgres_store.items.put([item], None)
    assert lying(postgres_store)["send.bin"] == (LARGE, None)
    assert entry_of(postgres_store, item).item == item
    assert postgres_store.facts()["files"] == "in the database"


LOOKUPS = pytest.mark.parametrize(
    ("name", "column"), [("known", "sha256"), ("in_use", "storage_key")]
)


@LOOKUPS
def test_the_lookups_in_a_file_use_their_indexes(sqlite_store, name, column):
    sql = load("sqlite", "files")[name]
    plan = sqlite_store.database.rows(f"EXPLAIN QUERY PLAN {sql}", {"hashes": "[]", "keys": "[]"})
    assert any(f"version_files_{column}" in str(row) for row in plan), plan


@LOOKUPS
def test_the_lookups_of_a_server_use_their_indexes(postgres_store, name, column):
    def explain(tx):
        tx.execute("SET LOCAL enable_seqscan TO off")  # there is nothing yet to scan
        return run(tx, f"EXPLAIN {sql}", {"hashes": ["a", "b"], "keys": ["a", "b"]})

    sql = load("postgres", "files")[name]
    plan = postgres_store.database.write(explain)
    assert any(f"Index Cond: ({column} = ANY" in str(row) for row in plan), plan
