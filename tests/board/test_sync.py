"""From a source to the board: what is put, refused, left out, retired, and never lost."""

import gzip
import json
import shutil
import tempfile
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegboard.app.pegboard import Pegboard
from pegboard.board.sync.one_source import BATCH, Sync
from pegboard.config.settings import Settings, SyncSettings
from pegboard.errors import SourceError, UsageError
from pegboard.gate.admission import admit
from pegboard.model.items import SourceRecord
from pegboard.sources.jsonl import JsonlSource
from pegboard.sources.pytools import PytoolsSource
from pegboard.store.sqlite.store import SqliteStore

STORES = ("sqlite", "postgres")
in_a_file = pytest.mark.parametrize("place", ["sqlite"], indirect=True)
"""For what is the same on any store, because it is decided before."""
BROKEN = b"def run(:\n"


def found(board, query="refund", mode="bm25"):
    return [hit.name for hit in board.search(query, mode=mode).hits]


def refused(board):
    return {(each.source, each.origin): each.code for each in board.rejections()}


def report(board, **options):
    [only] = board.sync(**options).sources
    return only


def test_a_source_that_cannot_be_read_leaves_everything_as_it_is(board, folder, sql):
    before = sql("SELECT * FROM items ORDER BY key")
    folder.root.rename(folder.root.with_name("moved"))
    outcome = board.sync()
    assert str(folder.root) in outcome.sources[0].error
    assert sql("SELECT * FROM items ORDER BY key") == before
    assert found(board) == ["refund_payment"]
    assert board.check() == []


@in_a_file
def test_a_source_that_comes_back_goes_on_where_it_was(board, folder):
    moved = folder.root.rename(folder.root.with_name("moved"))
    board.sync()
    moved.rename(folder.root)
    outcome = board.sync()
    assert (outcome.sources[0].unchanged, outcome.work.embedded) == (6, 0)


@pytest.fixture
def catalogue(opened, tmp_path):
    """A board over one long file of tools, and a way to write that file."""
    board, path = opened(), tmp_path / "tools.jsonl.gz"

    def write(numbers, description):
        rows = [{"id": f"t{n}", "name": f"tool {n}", "description": description} for n in numbers]
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode(), 0))
        return path

    write(range(3 * BATCH), "old")
    board.store.ledger.add_source(SourceRecord("file", "jsonl", str(path)))
    assert report(board, embed=False).added == 3 * BATCH
    return board, write


def test_a_source_that_breaks_off_half_way_retires_nothing(catalogue):
    board, write = catalogue
    path = write(range(3 * BATCH), "new")
    path.write_bytes(path.read_bytes()[:-5000])
    assert "cannot be read" in report(board, embed=False).error
    assert board.status().embeddings.total == 3 * BATCH
    assert board.check() == []


def test_a_pass_that_is_stopped_keeps_what_it_has_and_retires_nothing(catalogue):
    board, write = catalogue
    write(range(2 * BATCH), "new")
    stop = threading.Event()
    got = report(board, embed=False, stop=stop, progress=lambda *_: stop.set())
    assert (0 < got.changed < 2 * BATCH, got.retired) == (True, 0)
    assert board.status().embeddings.total == 3 * BATCH
    rest = report(board, embed=False)
    assert (got.changed + rest.changed, rest.retired) == (2 * BATCH, BATCH)
    assert board.check() == []


def test_a_file_that_becomes_invalid_is_retired_and_its_rejection_kept(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    got = report(board)
    assert (got.retired, dict(got.rejected)) == (1, {"syntax_error": 1})
    assert found(board) == []
    assert found(board, mode="vector").count("refund_payment") == 0
    assert refused(board) == {("tools", "mcptools/payments/refund_payment.py"): "syntax_error"}
    assert board.check() == []


@in_a_file
def test_a_file_that_stays_invalid_stays_retired_and_refused(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    again = report(board)
    assert (again.retired, again.unchanged, dict(again.rejected)) == (0, 5, {"syntax_error": 1})
    assert len(refused(board)) == 1
    assert found(board) == []


def test_a_rejection_is_forgotten_once_the_file_is_valid(board, folder):
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    folder.write("payments/refund_payment", "Refund the customer.")
    board.sync()
    assert refused(board) == {}
    assert found(board) == ["refund_payment"]


def test_a_rejection_is_forgotten_once_the_file_is_what_it_was_before(board, folder):
    content = folder.path("payments/refund_payment").read_bytes()
    folder.raw("payments/refund_payment", BROKEN)
    board.sync()
    folder.raw("payments/refund_payment", content)
    outcome = board.sync()
    assert (refused(board), outcome.work.embedded) == ({}, 0)
    assert found(board) == ["refund_payment"]


def test_a_rejection_is_forgotten_once_the_file_is_gone(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    assert len(refused(board)) == 1
    folder.path("chat/broken").unlink()
    board.sync()
    assert refused(board) == {}


@in_a_file
def test_the_reason_changes_with_the_fault(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    folder.raw("chat/broken", b"\xff")
    board.sync()
    assert list(refused(board).values()) == ["not_utf8"]


@in_a_file
def test_hidden_characters_do_not_pass_the_gate(board, folder):
    folder.write("chat/sly", "Send\u200b a message.")
    assert dict(report(board).rejected) == {"hidden_characters": 1}
    assert found(board, "sly") == []


@in_a_file
def test_private_files_are_left_out_and_counted_but_not_refused(board, folder):
    folder.write("chat/_private", "Private.")
    got = report(board)
    assert (got.left_out.total(), got.rejected.total()) == (1, 0)
    assert refused(board) == {}


@in_a_file
def test_a_tool_that_becomes_private_is_retired(board, folder):
    folder.path("chat/post_message").rename(folder.path("chat/_post_message"))
    got = report(board)
    assert (got.retired, got.left_out.total()) == (1, 1)
    assert found(board, "post") == []


def test_a_tool_that_moves_to_another_category_hangs_there(board, folder):
    folder.path("money/refund_payment").parent.mkdir()
    folder.path("payments/refund_payment").rename(folder.path("money/refund_payment"))
    got = report(board)
    assert (got.added, got.retired) == (1, 1)
    assert board.show("refund_payment").item.id == "mcptools:money:refund_payment"


@pytest.fixture
def rival(board, other):
    """Another source with a tool under an id that is already taken."""
    other.write("payments/refund_payment", "Refund from the rival.")
    board.add_folder(other.root)
    board.sync()
    return other


def test_an_id_that_another_source_holds_is_refused_and_the_holder_stays(board, rival):
    assert refused(board) == {("other", "mcptools/payments/refund_payment.py"): "id_taken"}
    assert board.show("refund_payment").item.source == "tools"
    assert "rival" not in board.show("refund_payment").item.description
    [reason] = [each.reason for each in board.rejections()]
    assert "'tools'" in reason
    assert "--namespace" in reason


def test_an_id_is_free_once_the_other_source_no_longer_has_it(board, rival, folder):
    folder.path("payments/refund_payment").unlink()
    board.sync(["tools"])
    board.sync(["other"])
    assert refused(board) == {}
    assert board.show("refund_payment").item.source == "other"


def test_an_id_is_free_once_the_other_source_is_removed(board, rival):
    board.remove_source("tools")
    board.sync()
    assert refused(board) == {}
    assert board.show("refund_payment").item.source == "other"


def test_the_same_id_may_hang_in_two_namespaces(board, other):
    other.write("payments/refund_payment", "Refund from the rival.")
    board.add_folder(other.root, namespace="rival")
    board.sync()
    assert refused(board) == {}
    assert found(board) == ["refund_payment", "refund_payment"]


def test_unchanged_files_are_neither_written_nor_embedded_again(board, sql):
    statements = "SELECT key, updated_at FROM items ORDER BY 1", "SELECT * FROM vectors ORDER BY 1"
    before = list(map(sql, statements))
    outcome = board.sync()
    assert (outcome.sources[0].unchanged, outcome.work.embedded) == (6, 0)
    assert list(map(sql, statements)) == before


def test_a_change_outside_the_text_costs_no_embedding(board, folder):
    path = folder.path("payments/refund_payment")
    path.write_bytes(path.read_bytes() + b"    return None\n")
    outcome = board.sync()
    assert (outcome.sources[0].changed, outcome.work.embedded) == (1, 0)
    assert b"return None" in board.show("refund_payment").item.version.files[0].content


def test_a_full_pass_repairs_a_damaged_text_index_and_embeds_nothing(board, sql):
    sql("DELETE FROM item_terms")
    assert found(board) == []
    assert any("cannot be found by" in rule for rule in board.check())
    assert board.sync().work.embedded == 0
    assert found(board) == []
    assert board.sync(full=True).work.embedded == 0
    assert found(board) == ["refund_payment"]
    assert board.check() == []


@in_a_file
def test_a_full_pass_keeps_what_is_refused_refused(board, folder):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    assert dict(report(board, full=True).rejected) == {"syntax_error": 1}
    assert len(refused(board)) == 1


@pytest.fixture
def a_month_passes(sql):
    """For what is missing."""
    month = "UPDATE items SET drift_at = drift_at - {} WHERE drift = 'missing'"
    return lambda: sql(month.format("86400 * 31"), month.format("interval '31 days'"))


def test_what_is_missing_for_longer_than_the_settings_allow_is_removed(
    board, folder, sql, a_month_passes
):
    folder.path("payments/refund_payment").unlink()
    assert (report(board).retired, report(board).purged) == (1, 0)
    assert sql("SELECT active FROM items WHERE name = 'refund_payment'") == [(0,)]
    a_month_passes()
    assert report(board).purged == 1
    assert sql("SELECT active FROM items WHERE name = 'refund_payment'") == []
    assert board.check() == []


@in_a_file
def test_a_larger_limit_admits_what_was_too_large(board, folder):
    small = Pegboard(board.store, Settings(embed=board.settings.embed))
    folder.raw("chat/large", b'def run():\n    """Large."""\n' + b"#" * (1 << 20))
    assert dict(report(small).rejected) == {"too_large": 1}
    large = Pegboard(
        board.store, Settings(embed=board.settings.embed, sync=SyncSettings(max_file_bytes=1 << 22))
    )
    assert report(large).added == 1
    assert refused(board) == {}


@in_a_file
def test_only_the_named_sources_are_read(board, other, folder):
    other.write("maps/locate", "Locate.")
    board.add_folder(other.root)
    folder.path("payments/refund_payment").unlink()
    assert [each.source for each in board.sync(["other"]).sources] == ["other"]
    assert found(board) == ["refund_payment"]
    with pytest.raises(UsageError, match="no source 'third'"):
        board.sync(["third"])


@in_a_file
def test_progress_is_told_and_ends_with_the_total(board):
    told = []
    board.sync(full=True, progress=lambda *step: told.append(step))
    assert told[0] == ("reading", 0, None)
    assert ("reading", 6, 6) in told


def test_a_missing_file_of_tools_is_a_source_error(tmp_path):
    with pytest.raises(SourceError, match="cannot be read"):
        list(JsonlSource("file", tmp_path / "none.jsonl").scan({}))


def partial(board, *under, **options):
    return report(board, embed=False, under=under, **options)


def test_a_save_is_taken_up_by_a_pass_over_its_path(board, folder):
    folder.write("payments/refund_payment", "Refund the customer.")
    folder.write("chat/unseen", "Never looked at.")
    got = partial(board, "mcptools/payments/refund_payment.py")
    assert (got.changed, got.added, got.unchanged, got.retired) == (1, 0, 0, 0)
    assert board.show("refund_payment").item.description == "Refund the customer."
    assert found(board, "unseen") == []


def test_a_partial_pass_retires_nothing_but_what_is_gone_from_there(board, folder):
    folder.path("payments/refund_payment").unlink()
    folder.path("chat/pin_message").unlink()
    assert partial(board, "mcptools/payments/refund_payment.py").retired == 1
    assert found(board) == []
    assert found(board, "pin") == ["pin_message"]
    assert board.check() == []


def test_a_folder_that_is_gone_takes_everything_under_it_along(board, folder):
    folder.write("chat2/keep", "Keep this.")
    folder.raw("chat/broken", BROKEN)
    board.sync()
    shutil.rmtree(folder.path("chat/post_message").parent)
    assert partial(board, "mcptools/chat").retired == 2
    assert refused(board) == {}
    assert found(board, "message") == []
    assert found(board, "keep") == ["keep"]


def test_a_generated_tool_goes_with_any_folder_above_it(board, folder):
    tool = folder.root / "gentools/images/resize"
    for gone in ("gentools", "gentools/images", "gentools/images/resize"):
        tool.mkdir(parents=True)
        (tool / "api.py").write_text('def run():\n    """Resize an image."""\n')
        got = partial(board, "gentools/images/resize/api.py")
        assert (got.added + got.changed, found(board, "resize")) == (1, ["resize"])
        shutil.rmtree(folder.root / gone)
        assert (partial(board, gone).retired, found(board, "resize")) == (1, [])


def test_a_rename_hangs_under_its_new_id_at_once(board, folder):
    folder.path("chat/pin_message").rename(folder.path("chat/stick_message"))
    got = partial(board, "mcptools/chat/pin_message.py", "mcptools/chat/stick_message.py")
    assert (got.added, got.retired) == (1, 1)
    assert board.show("stick_message").item.id == "mcptools:chat:stick_message"
    assert found(board, "pin") == ["stick_message"]


def test_a_partial_pass_refuses_settles_and_takes_back(board, folder):
    path = "mcptools/payments/refund_payment.py"
    content = folder.path("payments/refund_payment").read_bytes()
    folder.raw("chat/broken", BROKEN)
    folder.raw("payments/refund_payment", BROKEN)
    got = partial(board, path)
    assert (got.retired, dict(got.rejected)) == (1, {"syntax_error": 1})
    assert refused(board) == {("tools", path): "syntax_error"}
    assert dict(partial(board, path).rejected) == {"syntax_error": 1}
    folder.raw("payments/refund_payment", content)
    partial(board, path)
    assert (refused(board), found(board)) == ({}, ["refund_payment"])


def test_a_partial_pass_leaves_rejections_elsewhere_alone(board, folder, rival):
    folder.raw("chat/broken", BROKEN)
    board.sync()
    before = refused(board)
    assert sorted(before.values()) == ["id_taken", "syntax_error"]
    board.sync(["other"], under=["mcptools/maps"])
    board.sync(["tools"], under=["mcptools/maps/measure_distance.py"])
    assert refused(board) == before


@in_a_file
def test_what_cannot_be_read_now_is_not_retired_by_a_partial_pass(board, folder):
    chat = folder.path("chat/post_message").parent
    moved = chat.rename(folder.root / "moved")
    chat.symlink_to("x" * 300)
    got = partial(board, "mcptools/chat", "mcptools/chat/post_message.py")
    assert (got.retired, dict(got.rejected)) == (0, {"unreadable": 1})
    chat.unlink()
    moved.rename(chat)
    assert partial(board, "mcptools/chat").unchanged == 2
    assert refused(board) == {}


def test_only_a_whole_pass_counts_as_a_sync_and_removes_what_is_long_gone(
    board, folder, a_month_passes
):
    folder.path("payments/refund_payment").unlink()
    board.sync()
    a_month_passes()
    synced = board.sources()
    folder.path("chat/pin_message").unlink()
    got = partial(board, "mcptools/chat/pin_message.py")
    assert (got.retired, got.purged, board.sources()) == (1, 0, synced)
    assert report(board).purged == 1


@in_a_file
@pytest.mark.parametrize(("tools", "taken"), [(3, 0), (BATCH, 1)])
def test_a_census_is_taken_only_if_many_have_come(board, folder, monkeypatch, tools, taken):
    calls = []
    monkeypatch.setattr(type(board.store.items), "take_census", lambda self: calls.append(self))
    for number in range(tools):
        folder.write(f"new/tool{number}", "New.")
    assert partial(board, "mcptools/new").added == tools
    assert len(calls) == taken


def test_a_partial_pass_over_a_file_of_tools_retires_nothing_else(catalogue):
    board, write = catalogue
    write(range(BATCH), "new")
    assert partial(board, "t1").changed == BATCH
    assert board.status().embeddings.total == 3 * BATCH


NAMES = st.sampled_from(["a", "b", "_p", "c:d"])
TOOLS = st.sampled_from(["x.py", "y.py", "_z.py", "n.txt"])
WRITTEN = st.tuples(st.just("mcptools"), NAMES, TOOLS)
GENERATED = st.tuples(st.just("gentools"), NAMES, NAMES, st.sampled_from(["api.py", "help.py"]))
PLACES = st.one_of(WRITTEN, GENERATED)
ANYWHERE = st.tuples(PLACES, st.integers(1, 4)).map(lambda drawn: drawn[0][: drawn[1]])
TEXTS = st.sampled_from(
    ['def run():\n    """One."""\n', 'def run():\n    """Two."""\n', "def (", ""]
)
OUTSIDE = "outside"
EDITS = st.one_of(
    st.tuples(st.just("write"), PLACES, TEXTS),
    st.tuples(st.just("write"), PLACES, TEXTS),
    st.tuples(st.just("write"), ANYWHERE, TEXTS),
    st.tuples(st.just("remove"), ANYWHERE, st.none()),
    st.tuples(st.just("rename"), ANYWHERE, ANYWHERE),
    st.tuples(st.just("link"), ANYWHERE, st.sampled_from([OUTSIDE, "nowhere", "x" * 300])),
)


def edit(root, how, place, more):
    """Does it, as far as it can be done, and says which paths changed."""
    path = root.joinpath(*place)
    changed = {"/".join(place)}
    with suppress(OSError, shutil.Error):
        above = [each for each in path.parents if each.is_relative_to(root) and not each.exists()]
        if how in ("write", "link"):
            path.parent.mkdir(parents=True, exist_ok=True)
            changed |= {each.relative_to(root).as_posix() for each in above}
        if how == "write":
            if path.is_symlink():  # else something would change elsewhere
                path.unlink()
            path.write_text(more)
        elif how == "link":
            path.symlink_to(root.parent / OUTSIDE if more == OUTSIDE else more)
        elif how == "rename":
            changed.add("/".join(more))
            path.rename(root.joinpath(*more))
        elif path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return changed


def state(store):
    """What a reader of the board could tell apart."""
    items = [entry for entry in store.items.page(0, 1000) if entry.active]
    return (
        sorted((e.item.id, e.item.origin, e.item.origin_hash, e.item.description) for e in items),
        sorted((each.origin, each.code, each.origin_hash) for each in store.ledger.rejections()),
    )


ROUNDS = st.lists(st.lists(EDITS, min_size=1, max_size=4), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(ROUNDS)
def test_passes_over_what_changed_end_where_a_whole_pass_ends(rounds):
    with tempfile.TemporaryDirectory() as scratch:
        store = SqliteStore(Path(scratch) / "one.db", create=True)
        ends_where_a_whole_pass_ends(store, rounds)
        store.close()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ROUNDS)
def test_passes_over_what_changed_end_where_a_whole_pass_on_the_other_store_ends(
    postgres_store, rounds
):
    ends_where_a_whole_pass_ends(postgres_store, rounds)
    postgres_store.ledger.remove_source("tools")


def ends_where_a_whole_pass_ends(store, rounds):
    """The passes are on this store, the whole ones on a new board in a file."""
    with ExitStack() as after:
        scratch = Path(after.enter_context(tempfile.TemporaryDirectory()))
        root = scratch / "root"
        (root / "mcptools").mkdir(parents=True)
        (scratch / OUTSIDE).mkdir()
        stores = [store, SqliteStore(scratch / "two.db", create=True)]
        after.callback(stores[1].close)
        waiting = set()
        for edits in rounds:
            for how, place, more in edits:
                waiting |= edit(root, how, place, more)
            outcomes = [one_pass(stores[0], root, sorted(waiting)), one_pass(stores[1], root, ())]
            assert outcomes[0] == outcomes[1]
            if outcomes[0]:
                waiting = set()
            assert state(stores[0]) == state(stores[1])


def one_pass(store, root, under):
    """Whether the source could be read."""
    source = PytoolsSource("tools", root, namespace="public")
    sync = Sync(store, admit, SourceRecord("tools", "pytools", str(root)), None, lambda *_: None)
    try:
        sync.run(source, under=under, keep_missing_days=30, stop=threading.Event())
    except SourceError:
        return False
    return True


def test_a_partial_pass_leaves_items_of_an_older_text_version_alone(board, folder, sql):
    sql("UPDATE items SET text_version = text_version - 1 WHERE name <> 'pin_message'")
    folder.path("chat/pin_message").unlink()
    [got] = board.sync(embed=False, under=["mcptools/chat/pin_message.py"]).sources
    assert got.retired == 1
    assert sql("SELECT count(*) FROM items WHERE active") == [(5,)]
