"""A board that follows its sources while it is served."""

import threading
from concurrent.futures import Future

import pytest

from pegboard import Pegboard
from pegboard.app.live import kept
from pegboard.board.sync.keeping import EVERYTHING, Keeping
from pegboard.board.sync.one_source import SyncReport
from pegboard.errors import BoardBusy, ServerUnavailable
from pegboard.model.calls import Listing, ServerConfig, Transport
from pegboard.model.items import SourceRecord

STORES = ("sqlite", "postgres")
BOUND = 20.0
TOOLS = SourceRecord("tools", "pytools", "/nowhere/at/all")
CLOCK = SourceRecord("clock", "mcp", "clock")
TOOL = '''def run(x: int) -> int:
    """{}"""
'''


class Board:
    """What a board is asked to do, and what it says to that."""

    def __init__(self, *records):
        self.records = list(records)
        self.servers = {}
        self.refreshed = 0
        self.synced = []
        self.fetched = []
        self.listing: Future[Listing] = Future()
        self.answers = []
        self.changes = 0
        self.news = threading.Condition()

    def sync(self, name, under, stop):
        with self.news:
            self.synced.append((name, list(under)))
            answer = self.answers.pop(0) if self.answers else SyncReport(name)
            self.news.notify_all()
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, list) else [answer]

    def fetch(self, names):
        with self.news:
            self.fetched += names
            self.news.notify_all()
        return dict.fromkeys(names, self.listing)

    def refresh(self):
        with self.news:
            self.refreshed += 1
            self.news.notify_all()

    def changed(self):
        with self.news:
            self.changes += 1
            self.news.notify_all()

    def wait(self, condition):
        with self.news:
            assert self.news.wait_for(condition, BOUND)


@pytest.fixture
def keep():
    made = []

    def keeping(board, **options):
        found = Keeping(
            sources=lambda: board.records,
            servers=lambda: board.servers,
            sync=board.sync,
            fetch=board.fetch,
            refresh=board.refresh,
            work=options.pop("work", None),
            on_change=board.changed,
            watch=False,
            **options,
        )
        made.append(found)
        found.start()
        return found

    yield keeping
    for each in made:
        each.close()


def test_every_source_is_synced_at_the_start(keep):
    board = Board(TOOLS)
    keep(board)
    board.wait(lambda: board.synced == [("tools", [])])


def test_without_a_sync_at_the_start_only_changes_are_followed(keep):
    board = Board(TOOLS)
    keeping = keep(board, follow=False)
    keeping.want("tools", frozenset({"mcptools/a/b.py"}))
    board.wait(lambda: board.synced == [("tools", ["mcptools/a/b.py"])])


def test_an_mcp_server_is_asked_first_and_synced_when_it_has_answered(keep):
    board = Board(CLOCK)
    keep(board)
    board.wait(lambda: board.fetched == ["clock"])
    assert board.synced == []
    board.listing.set_result(Listing(()))
    board.wait(lambda: board.synced == [("clock", [])])


def test_a_server_that_does_not_answer_keeps_nobody_else_waiting(keep):
    board = Board(CLOCK, TOOLS)
    keep(board)
    board.wait(lambda: board.fetched == ["clock"])
    board.wait(lambda: board.synced == [("tools", [])])


def test_wishes_that_come_while_a_sync_runs_become_one(keep):
    board = Board(TOOLS)
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 1)
    with board.news:  # the next sync cannot begin to report before this is left
        for number in range(100):
            keeping.want("tools", frozenset({f"mcptools/a/{number % 10}.py"}))
    board.wait(lambda: {path for _, paths in board.synced for path in paths} == TEN)
    assert len(board.synced) <= 4


TEN = {f"mcptools/a/{number}.py" for number in range(10)}


def test_a_wish_for_everything_takes_in_all_others():
    board = Board()
    keeping = Keeping(
        sources=lambda: board.records,
        servers=lambda: board.servers,
        sync=board.sync,
        fetch=board.fetch,
        refresh=board.refresh,
        work=None,
        on_change=board.changed,
        watch=False,
    )
    for paths in (frozenset({"a"}), EVERYTHING, frozenset({"b"})):
        keeping.want("tools", paths)
    assert keeping._wanted == {"tools": EVERYTHING}
    keeping.want("other", frozenset(map(str, range(2_000))))
    assert len(keeping._wanted["other"]) == 2_000
    keeping.want("other", frozenset({"one more"}))
    assert keeping._wanted["other"] == EVERYTHING


def test_a_source_that_is_added_later_is_taken_up(keep, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    board = Board()
    keep(board)
    board.records.append(TOOLS)
    board.wait(lambda: board.synced == [("tools", [])])


def test_a_source_that_was_removed_is_not_synced(keep):
    board = Board(TOOLS)
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 1)
    keeping.want("ghost")
    keeping.want("tools")
    board.wait(lambda: len(board.synced) == 2)
    assert {name for name, _ in board.synced} == {"tools"}


def test_a_sync_that_fails_is_counted_and_tried_again(keep, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    board = Board(TOOLS)
    board.answers = [BoardBusy("busy"), SyncReport("tools", added=1)]
    keeping = keep(board)
    board.wait(lambda: board.changes == 1)
    assert keeping.errors == 1
    assert board.synced == [("tools", [])] * 2


def test_a_source_that_cannot_be_read_is_counted_and_the_others_go_on(keep):
    other = TOOLS._replace(name="other")
    board = Board(TOOLS, other)
    board.answers = [SyncReport("tools", error="no such folder")]
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 2)
    assert keeping.errors == 1


def test_faces_hear_only_of_syncs_that_changed_something(keep):
    board = Board(TOOLS)
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 1)
    board.answers = [SyncReport("tools", retired=1)]
    keeping.want("tools")
    board.wait(lambda: board.changes == 1)


def test_a_server_that_cannot_be_asked_does_not_end_the_keeping(keep, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    board = Board(CLOCK, TOOLS)
    asked = []

    def fetch(names):
        asked.append(names)
        raise ServerUnavailable("no")

    board.fetch = fetch
    keep(board)
    board.wait(lambda: board.synced == [("tools", [])])


def test_an_error_that_nobody_foresaw_is_logged_and_it_goes_on(keep, monkeypatch, caplog):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    board = Board(TOOLS)
    board.answers = [ValueError("what is this?")]
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 1)
    keeping.want("tools")
    board.wait(lambda: len(board.synced) == 2)
    assert "what is this?" in caplog.text


def test_what_is_out_of_date_can_be_asked_and_is_forgotten_when_it_is_mended(keep):
    board = Board(TOOLS)
    board.answers = [SyncReport("tools", error="no such folder")]
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 1)
    board.answers = [SyncReport("tools", added=1)]
    keeping.want("tools")
    board.wait(lambda: board.changes == 1)
    assert keeping.errors == 1
    assert keeping.trouble() == []


def test_a_folder_that_cannot_be_read_is_told_and_a_server_is_not(keep):
    board = Board(TOOLS, CLOCK)
    board.listing.set_result(Listing(()))
    board.answers = [SyncReport(name, error="gone") for name in ("tools", "clock")]
    keeping = keep(board)
    board.wait(lambda: len(board.synced) == 2)
    keeping.close()
    assert keeping.errors == 2
    assert keeping.trouble() == ["tools is not up to date: gone"]


def test_trouble_is_told_of_the_source_that_has_it_and_not_of_the_one_it_was_read_with(keep):
    notes = SourceRecord("notes", "folder", "/nowhere/either")
    board = Board(TOOLS, notes)
    keeping = keep(board, follow=False)
    board.answers = [[SyncReport("tools", retired=1), SyncReport("notes", error="gone")]]
    keeping.want("tools", frozenset({"mcptools/a/b.py"}))
    board.wait(lambda: board.changes == 1)
    keeping.close()
    assert keeping.trouble() == ["notes is not up to date: gone"]


def test_a_server_that_did_not_list_its_tools_is_asked_again(keep, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("pegboard.board.sync.keeping.AGAIN_SECONDS", 0.01)
    board = Board(CLOCK)
    board.servers = {"clock": ServerConfig("clock", Transport.STDIO)}
    board.answers = [SyncReport("clock", error="down")]
    board.listing.set_result(Listing(()))
    keep(board)
    board.wait(lambda: board.fetched == ["clock", "clock"] and len(board.synced) == 2)


def test_a_server_that_is_set_up_otherwise_or_removed_is_let_go(keep, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    board = Board(CLOCK)
    board.servers = {"clock": ServerConfig("clock", Transport.STDIO)}
    keep(board)
    board.wait(lambda: board.refreshed == 1)
    board.servers = {"clock": ServerConfig("clock", Transport.STDIO, env={"A": "b"})}
    board.wait(lambda: board.refreshed == 2)
    board.servers = {}
    board.wait(lambda: board.refreshed == 3)
    board.records.clear()
    board.wait(lambda: board.refreshed == 4)


def test_other_sources_are_read_also_where_files_are_watched():
    board = Board(TOOLS._replace(kind="jsonl"))
    keeping = Keeping(
        sources=lambda: board.records,
        servers=dict,
        sync=board.sync,
        fetch=board.fetch,
        refresh=board.refresh,
        work=None,
        on_change=board.changed,
    )
    keeping.start()
    board.wait(lambda: board.synced == [("tools", [])])
    keeping.close()


def test_one_sync_that_fails_does_not_end_the_keeping_of_a_real_board(tmp_path, place, monkeypatch):
    monkeypatch.setattr("pegboard.board.sync.keeping.LOOK_SECONDS", 0.05)
    folder = tmp_path / "tools" / "mcptools" / "greenhouse"
    folder.mkdir(parents=True)
    with Pegboard.open(str(place), create=True, embed__provider="test") as board:
        board.add_folder(tmp_path / "tools")
        put, failed = board.store.items.put, threading.Event()

        def busy_once(*args, **options):
            if not failed.is_set():
                failed.set()
                raise BoardBusy("busy")
            return put(*args, **options)

        monkeypatch.setattr(board.store.items, "put", busy_once)
        news = threading.Condition()

        def on_change():
            with news:
                news.notify_all()

        with kept(board, on_change=on_change):
            (folder / "water.py").write_text(TOOL.format("Water the tomatoes."), "utf-8")
            assert failed.wait(BOUND)
            with news:
                assert news.wait_for(lambda: board.search("tomatoes", mode="bm25").hits, BOUND)


def test_it_ends_when_it_is_told_to_also_in_the_middle_of_work(keep):
    began, ended = threading.Event(), threading.Event()

    def work(stop):
        began.set()
        stop.wait(BOUND)
        ended.set()

    keeping = keep(Board(), work=work)
    assert began.wait(BOUND)
    keeping.close()
    assert ended.is_set()
    assert not any(thread.is_alive() for thread in keeping._threads)


def test_a_file_that_is_saved_can_be_found_by_words_and_then_by_meaning(tmp_path, place):
    """The real parts: files, watcher, sync, worker."""
    folder = tmp_path / "tools" / "mcptools" / "greenhouse"
    folder.mkdir(parents=True)
    news, seen = threading.Condition(), []

    def on_change():
        with news:
            seen.append(1)
            news.notify_all()

    with Pegboard.open(str(place), create=True, embed__provider="test") as board:
        board.add_folder(tmp_path / "tools")
        with kept(board, on_change=on_change):
            (folder / "water.py").write_text(TOOL.format("Water the tomatoes."), "utf-8")
            with news:
                assert news.wait_for(lambda: board.search("tomatoes", mode="bm25").hits, BOUND)
            (folder / "water.py").rename(folder / "soak.py")
            with news:
                assert news.wait_for(
                    lambda: (
                        [h.name for h in board.search("tomatoes", mode="bm25").hits] == ["soak"]
                    ),
                    BOUND,
                )
        assert board.check() == []
