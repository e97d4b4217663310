"""Versions that stay when the next one comes."""

import hashlib
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import apsw
import psycopg
import pytest
from blobs_parts import LARGE, content_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rights_parts import ALICE, AMOS, ANON, BOB, CAROL

from making import SOURCE, by_hand, entry_of, make_file, make_item, purge, retire
from pegboard.errors import BoardCorrupt, BoardError
from pegboard.model.calls import OnChange
from pegboard.model.content import Signature, Version
from pegboard.model.items import PutReport, Visibility
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.opening import open_store
from pegboard.store.postgres.opening import upgrade
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore
from pegboard.store.versioning import MOST_VERSIONS, version_exists

NOW = -60.0
"""An age that everything has."""


def version(number, content=None):
    """Of one file, with a hash as the gate makes it; without a number, named after its content."""
    said = f"the code of {number}".encode() if content is None else content
    digest = hashlib.sha256(said).hexdigest()
    named = number or f"0.0.0+{digest[:12]}"
    files = (make_file("main.py", said),)
    return Version(named, digest, {"a": len(said)}, changelog=f"What {named} is.", files=files)


def item_of(number, content=None, name="send", **fields):
    return make_item(name, version=version(number, content), **fields)


SEND = make_item("send")


def numbers(store, item=SEND):
    return [line.number for line in store.items.versions(item.id, item.namespace)]


def kept(store, number, item=SEND):
    return store.items.version(item.id, item.namespace, number)


def latest(store, item=SEND):
    found = entry_of(store, item).item.version
    return found and found.version


# Which stay.


def test_versions_of_other_numbers_stay_with_their_files(store):
    made = {number: item_of(number) for number in ("1.0.0", "1.1.0", "2.0.0-rc.1")}
    for item in made.values():
        store.items.put([item], None)
    assert numbers(store) == ["2.0.0-rc.1", "1.1.0", "1.0.0"]
    assert {number: kept(store, number) for number in made} == {
        number: item.version for number, item in made.items()
    }
    assert entry_of(store, SEND).item == made["2.0.0-rc.1"]
    assert store.check() == []


def test_a_list_says_of_each_what_it_is_and_when_it_came(store):
    for number in ("1.0.0", "1.1.0"):
        store.items.put([item_of(number)], None)
    newer, older = store.items.versions(SEND.id, SEND.namespace)
    assert (older.number, older.changelog) == ("1.0.0", "What 1.0.0 is.")
    assert older.content_hash == version("1.0.0").content_hash
    assert older.created_at < newer.created_at <= store.now()


def test_what_has_no_versions_says_so(store):
    store.items.put([make_item("send"), item_of("1.0.0", name="post")], None)
    assert numbers(store) == numbers(store, make_item("nothing")) == []
    assert kept(store, "1.0.0") is None
    assert kept(store, "1.0.1", make_item("post")) is None
    assert kept(store, "1.0.0", make_item("post", namespace="team")) is None


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_nothing_can_have_has_no_versions(store, name):
    store.items.put([item_of("1.0.0")], None)
    assert store.items.versions(name, "public") == []
    assert store.items.versions(SEND.id, name) == []
    for asked in ((name, "public", "1.0.0"), (SEND.id, name, "1.0.0"), (SEND.id, "public", name)):
        assert store.items.version(*asked) is None


def test_the_same_number_is_replaced_and_the_others_are_not(store):
    for number in ("1.0.0", "1.1.0"):
        store.items.put([item_of(number)], None)
    edited = item_of("1.1.0", b"edited")
    assert store.items.put([edited], None) == PutReport(changed=1)
    assert numbers(store) == ["1.1.0", "1.0.0"]
    assert kept(store, "1.1.0") == edited.version
    assert kept(store, "1.0.0") == version("1.0.0")


def test_a_version_that_is_signed_anew_has_the_new_signature(store):
    plain = item_of("1.0.0")
    signed = plain.version._replace(side_file="signed")
    key = Signature("ed25519:alice", "ed25519", "sig", "2026-01-01T00:00:00Z")
    store.items.put([item_of("0.9.0")], None)
    store.items.put([plain], None)
    store.items.put([plain._replace(version=signed, signature=key)], None)
    assert kept(store, "1.0.0") == entry_of(store, SEND).item.version == signed
    assert numbers(store) == ["1.0.0", "0.9.0"]
    assert store.check() == []


def test_what_is_named_after_its_content_does_not_pile_up(store):
    store.items.put([item_of("1.0.0")], None)
    for content in (b"one", b"two", b"three"):
        store.items.put([item_of("", content)], None)
        assert numbers(store) == [version("", content).version, "1.0.0"]
    store.items.put([item_of("1.1.0")], None)
    assert numbers(store) == ["1.1.0", "1.0.0"]


def test_a_number_that_only_looks_like_one_named_after_content_stays(store):
    store.items.put([item_of("0.0.0+latest")], None)
    store.items.put([item_of("1.0.0")], None)
    assert numbers(store) == ["1.0.0", "0.0.0+latest"]


def test_an_item_that_has_no_version_any_more_keeps_those_with_numbers(store):
    store.items.put([item_of("1.0.0")], None)
    store.items.put([item_of("")], None)
    store.items.put([make_item("send")], None)
    assert (latest(store), numbers(store)) == (None, ["1.0.0"])
    assert kept(store, "1.0.0") == version("1.0.0")
    assert store.check() == []


def test_the_latest_is_the_one_that_was_put_last_whatever_its_number(store):
    for number in ("1.0.0", "2.0.0", "1.0.1"):
        store.items.put([item_of(number)], None)
    assert latest(store) == "1.0.1"
    store.items.put([item_of("1.0.0")], None)
    assert latest(store) == "1.0.0"
    assert numbers(store) == ["1.0.1", "2.0.0", "1.0.0"]
    assert store.check() == []


@pytest.mark.parametrize("rewrite", [True, False])
def test_when_a_version_came_is_not_forgotten_when_its_item_is_written_again(store, rewrite):
    store.items.put([item_of("1.0.0")], None)
    before = store.items.versions(SEND.id, SEND.namespace)
    store.items.put([item_of("1.0.0", description="Better said.")], None, rewrite=rewrite)
    store.items.put([item_of("1.0.0", description="Better said.")], None, rewrite=rewrite)
    assert store.items.versions(SEND.id, SEND.namespace) == before


def test_at_most_a_hundred_stay_and_the_oldest_go(store):
    assert MOST_VERSIONS == 100
    put = [f"1.0.{n}" for n in range(104)]
    for number in put:
        store.items.put([item_of(number)], None)
    assert numbers(store) == put[:3:-1]
    store.items.put([item_of(put[4])], None)  # the oldest of them
    store.items.put([item_of(put[4], description="Better said.")], None)
    store.items.put([item_of("2.0.0")], None)
    assert len(numbers(store)) == 100
    assert put[4] not in numbers(store)  # it is the oldest, and no longer the latest
    assert store.check() == []


def test_the_latest_stays_however_old_it_is(store, monkeypatch):
    monkeypatch.setattr(f"pegboard.store.{kind(store)}.versions.MOST_VERSIONS", 2)
    for number in ("1.0.0", "1.1.0"):
        store.items.put([item_of(number)], None)
    monkeypatch.setattr(f"pegboard.store.{kind(store)}.versions.MOST_VERSIONS", 1)
    store.items.put([item_of("1.0.0")], None)
    assert numbers(store) == [latest(store)] == ["1.0.0"]
    assert store.check() == []


def kind(store):
    return "sqlite" if isinstance(store, SqliteStore) else "postgres"


def test_the_versions_of_another_source_go_when_it_loses_the_id(store):
    """Who asks for a version of what hangs here now must not get what somebody else wrote."""
    store.items.put([item_of("1.0.0", source="theirs"), item_of("1.0.0", name="post")], None)
    store.items.put([item_of("1.1.0", source="theirs")], None)
    retire(store, source="theirs")
    store.items.put([item_of("2.0.0")], None)
    assert numbers(store) == ["2.0.0"]
    yielding = frozenset({SOURCE})
    store.items.put([item_of("1.0.0", source="first", name="post")], None, yielding=yielding)
    post = make_item("post")
    assert entry_of(store, post).item.source == "first"
    assert (numbers(store, post), kept(store, "1.0.0", post)) == (["1.0.0"], version("1.0.0"))
    assert store.check() == []


def test_versions_go_with_their_item(store):
    for number in ("1.0.0", "1.1.0"):
        store.items.put([item_of(number)], None)
    retire(store)
    assert numbers(store) == ["1.1.0", "1.0.0"]
    assert purge(store) == (0, 1)
    for table in ("item_versions", "version_files"):
        assert by_hand(store, f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_persons_description_and_approval_leave_versions_alone(store):
    store.items.put([item_of("1.0.0")], None, on_change=OnChange.HOLD)
    store.items.put([item_of("1.1.0", description="Else.")], None, on_change=OnChange.HOLD)
    store.curation.describe(entry_of(store, SEND), "Mine.", "mia", None)
    store.items.approve([change.entry for change in store.items.changed()], None)
    assert (latest(store), numbers(store)) == ("1.1.0", ["1.1.0", "1.0.0"])
    assert store.check() == []


def test_many_items_with_versions_are_put_at_once(store):
    for number in ("1.0.0", "1.1.0"):
        store.items.put([item_of(number, name=f"tool{n}") for n in range(30)], None)
    twice = [item_of(number, name="twice") for number in ("1.0.0", "1.1.0")]
    store.items.put([*twice, item_of("", name="tool7"), make_item("tool8")], None)
    assert numbers(store, make_item("twice")) == ["1.1.0", "1.0.0"]
    assert numbers(store, make_item("tool3")) == ["1.1.0", "1.0.0"]
    assert numbers(store, make_item("tool7"))[1:] == ["1.1.0", "1.0.0"]
    assert numbers(store, make_item("tool8")) == ["1.1.0", "1.0.0"]
    assert kept(store, "1.0.0", make_item("tool3")) == version("1.0.0")
    assert store.check() == []


steps = st.lists(
    st.tuples(st.sampled_from(["", "1.0.0", "1.1.0", "2.0.0"]), st.binary(max_size=3)), max_size=8
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=steps)
def test_whatever_is_put_in_whatever_order_each_number_is_what_it_was_last(store, steps):
    store.ledger.remove_source(SOURCE)
    expected = {}
    for number, content in steps:
        made = version(number, content)
        expected = {n: v for n, v in expected.items() if not n.startswith("0.0.0+")}
        store.items.put([make_item("send", version=made)], None)
        expected[made.version] = made
        assert latest(store) == made.version
    assert {number: kept(store, number) for number in numbers(store)} == expected
    assert store.check() == []


# Versions that never change.


def test_a_fixed_version_with_other_content_is_refused_and_nothing_is_changed(store):
    store.items.put([item_of("1.0.0")], None, fixed=True)
    before = entry_of(store, SEND)
    other = item_of("1.0.0", b"other", origin="moved.py", origin_hash="h", description="Else.")
    report = store.items.put([other, item_of("1.0.0", name="post")], None, fixed=True)
    [refused] = report.refused
    assert report._replace(refused=()) == PutReport(added=1)
    assert (refused.code, refused.source, refused.origin) == ("version_exists", SOURCE, "moved.py")
    assert refused.reason == (
        "mcptools:mail:send has a version 1.0.0 already, and what a version is never changes;"
        " give this one a number that is free, such as 1.0.1"
    )
    assert entry_of(store, SEND) == before
    assert numbers(store) == ["1.0.0"]


def test_a_fixed_version_may_be_put_again_as_it_is_and_under_another_number(store):
    for _ in range(2):
        report = store.items.put([item_of("1.0.0")], None, fixed=True)
        assert report.refused == ()
    assert report == PutReport(unchanged=1)
    assert store.items.put([item_of("1.0.1")], None, fixed=True) == PutReport(changed=1)
    assert store.items.put([make_item("send")], None, fixed=True) == PutReport(changed=1)
    assert numbers(store) == ["1.0.1", "1.0.0"]


def test_also_a_version_that_is_not_the_latest_is_fixed(store):
    for number in ("1.0.0", "1.0.1", "1.0.2"):
        store.items.put([item_of(number)], None, fixed=True)
    [refused] = store.items.put([item_of("1.0.0", b"other")], None, fixed=True).refused
    assert "such as 1.0.3" in refused.reason
    assert kept(store, "1.0.0") == version("1.0.0")


def test_within_one_put_the_second_of_two_that_differ_is_refused(store):
    items = [item_of("1.0.0", b"one"), item_of("1.0.0", b"two"), item_of("1.0.1", b"two")]
    report = store.items.put(items, None, fixed=True)
    assert [each.code for each in report.refused] == ["version_exists"]
    assert kept(store, "1.0.0") == items[0].version
    assert latest(store) == "1.0.1"


def test_an_id_that_another_has_is_refused_for_that_and_not_for_its_version(store):
    store.items.put([item_of("1.0.0", source="theirs")], None)
    report = store.items.put([item_of("1.0.0", b"other")], None, fixed=True)
    assert [each.code for each in report.refused] == ["id_taken"]


@pytest.mark.parametrize(
    ("number", "taken", "told"),
    [
        ("1.2.3-rc.1", (), "such as 1.2.4"),
        ("1.2.3", ("1.2.4", "1.2.5"), "such as 1.2.6"),
        ("odd", (), "give this one another number"),
        ("1.2." + "9" * 5000, (), "such as 1.2.1" + "0" * 18),
    ],
)
def test_the_refusal_names_a_number_that_is_free(number, taken, told):
    known = dict.fromkeys((number, *taken), "another hash")
    refused = version_exists(make_item(version=Version(number, "hash")), known)
    assert refused
    assert refused.reason.endswith(told)


def test_of_many_who_make_the_same_version_at_once_one_wins(store):
    """Some of them find no item yet, and all of them find no such version."""
    for attempt in range(5):
        name = f"tool{attempt}"
        start, reports = threading.Barrier(4), {}

        def make(n, name=name, start=start, reports=reports):
            item = item_of("1.0.0", f"content {n}".encode(), name=name)
            start.wait(30)
            reports[n] = store.items.put([item], None, fixed=True)

        threads = [threading.Thread(target=make, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        [winner] = [n for n, report in reports.items() if report == PutReport(added=1)]
        lost = [report.refused[0].code for n, report in reports.items() if n != winner]
        assert lost == ["version_exists"] * 3
        found = entry_of(store, make_item(name)).item.version
        assert found.files[0].content == f"content {winner}".encode()
    assert store.check() == []


ROOT = Path(__file__).parents[2]
FOLDERS = [str(ROOT / folder) for folder in ("src", "scripts", "tests", "tests/store")]


def where(store):
    return str(store.database.path if isinstance(store, SqliteStore) else store.database.url)


def elsewhere(code, *arguments):
    """Another process that runs this code."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(FOLDERS)},
        text=True,
    )


MAKES_VERSIONS = """
import sys
from test_versions import item_of
from pegboard.store.opening import open_store

store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for n in range(20):
    item = item_of(f"1.0.{n}", sys.argv[2].encode())
    refused = store.items.put([item], None, fixed=True).refused
    print("lost" if refused else "won", flush=True)
store.close()
"""


@pytest.mark.program
def test_of_two_processes_that_make_the_same_versions_each_is_made_by_one(store):
    makers = [elsewhere(MAKES_VERSIONS, where(store), who) for who in ("one", "two")]
    for maker in makers:
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        maker.stdin.write("go\n")
        maker.stdin.flush()
    said = [maker.communicate(timeout=100)[0].split() for maker in makers]
    assert [maker.returncode for maker in makers] == [0, 0]
    assert len(numbers(store)) == 20
    for n, ends in enumerate(zip(*said, strict=True)):
        assert sorted(ends) == ["lost", "won"]
        content = kept(store, f"1.0.{n}").files[0].content
        assert content == (b"one" if ends[0] == "won" else b"two")
    assert store.check() == []


# Files.


@pytest.fixture
def place(tmp_path):
    return FolderBlobs(tmp_path / "files")


@pytest.fixture(params=["sqlite", "postgres"])
def board(request, tmp_path, place):
    """Each kind of store, with large files in a folder."""
    where = str(tmp_path / "board.db")
    if request.param == "postgres":
        where = request.getfixturevalue("postgres_url")
    with closing(open_store(where, create=True, blobs=place)) as made:
        yield made


def stored(board, place):
    return [blob.key for blob in place.listed(board.files._records.board())]


def test_large_files_of_versions_that_stay_are_in_use_and_can_be_read(board, place):
    contents = {f"1.0.{n}": content_of(LARGE, n) for n in range(3)}
    for number, content in contents.items():
        board.items.put([item_of(number, content)], None)
    assert len(stored(board, place)) == 3
    assert board.unused_files(NOW, remove=True) == []
    for number, content in contents.items():
        assert kept(board, number).files[0].content == content
    assert board.check() == []


def test_the_same_large_file_in_several_versions_is_stored_once(board, place):
    for number in ("1.0.0", "1.0.1"):
        board.items.put([item_of(number, content_of(LARGE))], None)
    assert len(stored(board, place)) == 1
    board.items.put([item_of("1.0.1", b"small")], None)
    assert board.unused_files(NOW, remove=True) == []
    assert kept(board, "1.0.0").files[0].content == content_of(LARGE)


def test_large_files_of_versions_that_go_are_not_in_use(board, place):
    board.items.put([item_of("1.0.0", content_of(LARGE, 1))], None)
    board.items.put([item_of("", content_of(LARGE, 2))], None)
    board.items.put([item_of("1.0.0", content_of(LARGE, 3))], None)
    assert len(board.unused_files(NOW, remove=True)) == 2
    assert kept(board, "1.0.0").files[0].content == content_of(LARGE, 3)
    purge(board)
    purge(board)
    assert len(board.unused_files(NOW, remove=True)) == 1
    assert stored(board, place) == []


def test_a_fixed_version_that_is_refused_leaves_no_large_file_behind(board, place):
    board.items.put([item_of("1.0.0", content_of(LARGE, 1))], None, fixed=True)
    board.items.put([item_of("1.0.0", content_of(LARGE, 2))], None, fixed=True)
    assert len(stored(board, place)) == 1


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_damaged_file_of_an_older_version_is_found_and_told(board, place, size):
    for number in ("1.0.0", "1.0.1"):
        content = content_of(size, int(number[-1]))
        board.items.put([item_of(number, content)], None)
    first = "(SELECT min(key) FROM item_versions)"
    by_hand(board, f"UPDATE version_files SET sha256 = 'x' WHERE version_key = {first}")
    with pytest.raises(BoardCorrupt, match=r"main\.py of mcptools:mail:send@1\.0\.0") as told:
        kept(board, "1.0.0")
    assert "backup" in told.value.hint
    assert kept(board, "1.0.1").files[0].content == content_of(size, 1)
    [said] = board.check()
    assert said.startswith("version 1.0.0 of mcptools:mail:send cannot be read")


PUTS_AND_WAITS = """
import sys
from pathlib import Path
from test_versions import item_of
from blobs_parts import LARGE, content_of
from pegboard.store.blobs.folder import FolderBlobs
from pegboard.store.opening import open_store

class Slow(FolderBlobs):
    def put(self, key, content):
        super().put(key, content)
        print("uploaded", flush=True)
        sys.stdin.read()

store = open_store(sys.argv[1], blobs=Slow(Path(sys.argv[2])))
store.items.put([item_of("1.0.1", content_of(LARGE, 2))], None)
"""


@pytest.mark.program
def test_a_put_that_is_killed_leaves_the_versions_that_were_there(board, tmp_path):
    board.items.put([item_of("1.0.0", content_of(LARGE, 1))], None)
    with elsewhere(PUTS_AND_WAITS, where(board), str(tmp_path / "files")) as victim:
        assert victim.stdout.readline() == "uploaded\n"
        victim.kill()
    assert (numbers(board), latest(board)) == (["1.0.0"], "1.0.0")
    assert len(board.unused_files(NOW, remove=True)) == 1
    assert kept(board, "1.0.0").files[0].content == content_of(LARGE, 1)
    assert board.check() == []


def test_a_put_that_fails_leaves_the_versions_that_were_there(store):
    store.items.put([item_of("1.0.0")], None)
    twice = Version("1.0.0", "aaa", files=(make_file("a.py"), make_file("a.py")))
    with pytest.raises((apsw.ConstraintError, BoardError)):
        store.items.put([make_item("send", version=twice)], None)
    assert kept(store, "1.0.0") == version("1.0.0")
    assert store.check() == []


# Boards of before, and tenants.


def test_a_version_of_before_stays_on_a_server_that_is_brought_up_to_date(empty_database):
    upgrade(empty_database, "here", through=7)
    with psycopg.connect(empty_database) as connection:
        connection.execute(
            "INSERT INTO items (namespace, id, name, source, latest_version)"
            " VALUES ('public', %s, 'send', %s, '1.0.0')",
            [SEND.id, SOURCE],
        )
        connection.execute(
            "INSERT INTO item_versions (namespace, item_key, version, manifest, content_hash)"
            " SELECT namespace, key, '1.0.0', '{}', 'old' FROM items"
        )
    upgrade(empty_database, "here")
    with closing(PostgresStore(empty_database)) as store:
        store.items.put([item_of("1.0.1")], None)
        assert numbers(store) == ["1.0.1", "1.0.0"]
        assert kept(store, "1.0.0") == Version("1.0.0", "old")
        assert store.check() == []


@pytest.fixture
def tenants_of(postgres_url):
    made = []

    def of(caller):
        made.append(PostgresStore(postgres_url, caller=caller))
        return made[-1]

    yield of
    for each in made:
        each.close()


def test_versions_are_seen_by_those_who_see_the_item_and_kept_for_its_author(tenants_of):
    alice = tenants_of(ALICE)
    shared = {"namespace": "a", "author": "alice", "source": ""}
    private = shared | {"visibility": Visibility.PRIVATE}
    ours, mine = make_item("ours", **shared), make_item("mine", **private)
    for number in ("1.0.0", "1.1.0"):
        for name, fields in (("ours", shared), ("mine", private)):
            report = alice.items.put([item_of(number, name=name, **fields)], None, fixed=True)
            assert report.refused == ()
    other = item_of("1.0.0", b"other", name="ours", **shared)
    assert alice.items.put([other], None, fixed=True).refused[0].code == "version_exists"
    assert alice.check() == []
    for caller, seen in ((ALICE, {"ours", "mine"}), (AMOS, {"ours"}), (BOB, ()), (CAROL, ())):
        store = tenants_of(caller)
        for item in (ours, mine):
            there = item.name in seen
            assert numbers(store, item) == (["1.1.0", "1.0.0"] if there else [])
            assert kept(store, "1.0.0", item) == (version("1.0.0") if there else None)
    assert numbers(tenants_of(ANON), ours) == []


def test_what_is_public_has_its_versions_for_everybody(tenants_of):
    service = tenants_of(None)
    for number in ("1.0.0", "1.1.0"):
        service.items.put([item_of(number)], None)
    for caller in (ANON, BOB):
        store = tenants_of(caller)
        assert numbers(store) == ["1.1.0", "1.0.0"]
        assert kept(store, "1.0.0") == version("1.0.0")
