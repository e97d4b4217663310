"""Searches that other processes make: the same answers, and none is lost when one of them ends."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hiding import HIDDEN, STRANGERS, hide
from making import make_item
from pegboard.app.pegboard import Pegboard
from pegboard.board.find.answering import Ask
from pegboard.board.find.patience import Patience
from pegboard.errors import UsageError
from pegboard.model.calls import OWNER, Caller
from pegboard.model.items import Filters, Kind
from pegboard.serve import searchers
from pegboard.serve.searchers import Searcher, Searchers
from waiting import until

pytestmark = pytest.mark.server

BOUND = 60.0
QUERIES = (
    "send mail",
    "pay the invoice",
    "book a room",
    "sned mial",
    "nothing of the kind",
    "send mail, then book a room",
)
HERE = object()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    return str(tmp_path / "board.db")


@pytest.fixture
def board(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEGBOARD_EMBED_PROVIDER", "test")
    monkeypatch.setenv("PEGBOARD_SEARCH_THRESHOLD", "0")
    monkeypatch.setenv("PEGBOARD_SEARCH_FLOOR", "0")
    with Pegboard.open(place, create=True) as found:
        names = ("send_mail", "read_mail", "pay_invoice", "book_room")
        found.store.items.put([make_item(name) for name in names], found.target)
        found.backfill()
        yield found


@pytest.fixture
def shared(board):
    """With one further process, which is asked whenever it can be."""
    found = Searchers(board.place, 1)
    with crowd(found):
        until(lambda: found._free, BOUND)
        yield found
    found.close()


@contextmanager
def crowd(shared, size=searchers.CROWD):
    """As many searches as make another process worth while, for as long as this lasts."""
    over = threading.Event()
    with ThreadPoolExecutor(size) as threads:
        try:
            for _ in range(size):
                threads.submit(shared.find, OWNER, Ask("x"), None, None, lambda: over.wait(BOUND))
            yield
        finally:
            over.set()


def handed_on(shared, ask, caller=OWNER, model=None, patience=None):
    """What the other process answers; `HERE` if it does not."""
    return shared.find(caller, ask, model, patience, lambda: HERE)


def told(answer):
    requests = tuple(each._replace(answer=told(each.answer)) for each in answer.requests)
    return answer._replace(embed_seconds=0.0, search_seconds=0.0, requests=requests)


def pid_of(shared):
    return next(iter(shared._all))._process.pid


def gone(pid):
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector", "fuzzy"])
def test_another_process_answers_the_same(board, shared, mode):
    for query in QUERIES:
        for ask in (
            Ask(query, mode, explain=True),
            Ask(query, mode, Filters(kinds=(Kind.TOOL,), categories=("mail",)), limit=2),
            Ask(query, mode, diverse=True, threshold=0.3),
        ):
            assert told(handed_on(shared, ask)) == told(board.find(ask))


def test_it_sees_what_was_written_just_now(board, shared, place):
    for number in range(20):
        name = f"water_plant_{number}"
        board.store.items.put([make_item(name, origin=f"{name}.py")], board.target)

        def found(name=name):
            hits = handed_on(shared, Ask(name, "bm25", limit=1)).hits
            return bool(hits) and hits[0].name == name

        if "postgresql" in place:
            until(found, BOUND)  # another process hears of it, soon
        else:
            assert found()


@pytest.mark.parametrize("caller", STRANGERS.values(), ids=STRANGERS)
def test_it_keeps_to_the_rights_of_whoever_asks(board, shared, caller):
    hide(board)
    ask = Ask("a secret thing", limit=50)
    assert HIDDEN in [hit.id for hit in handed_on(shared, ask).hits]
    assert HIDDEN in [hit.id for hit in handed_on(shared, ask, Caller("mia", ("team",))).hits]
    answer = handed_on(shared, ask, caller)
    assert HIDDEN not in str(answer)
    assert told(answer) == told(board.seen_by(caller).find(ask))


def test_alone_one_needs_no_other_process(board):
    shared = Searchers(board.place)
    for _ in range(20):
        assert handed_on(shared, Ask("x")) is HERE
    with crowd(shared, searchers.CROWD - 1):
        pass
    assert not shared._all
    shared.close()


def test_who_wants_none_has_none(board):
    for each in (Searchers(board.place, 0), Searchers(None)):
        with crowd(each):
            assert handed_on(each, Ask("x")) is HERE
        assert not each._all
        each.close()


def test_a_process_that_is_killed_is_replaced_and_nobody_notices(board, shared):
    before = pid_of(shared)
    os.kill(before, signal.SIGKILL)
    assert handed_on(shared, Ask("send mail")) is HERE
    until(lambda: shared._free or handed_on(shared, Ask("x")) is not HERE, BOUND)
    assert pid_of(shared) != before
    assert told(handed_on(shared, Ask("send mail"))) == told(board.find(Ask("send mail")))
    assert gone(before)


def test_a_process_that_hangs_is_not_waited_for_beyond_the_time_of_the_search(shared):
    stuck = pid_of(shared)
    os.kill(stuck, signal.SIGSTOP)
    assert handed_on(shared, Ask("send mail"), patience=Patience(0.3)) is HERE
    assert gone(stuck)


def test_what_fails_there_is_done_again_here(shared):
    """So that whoever asked is told why, as always."""

    def here():
        raise UsageError("that is why")

    with pytest.raises(UsageError, match="that is why"):
        shared.find(OWNER, Ask("x", filters=Filters(kinds=("nonsense",))), None, None, here)
    assert handed_on(shared, Ask("send mail")) is not HERE, "the process goes on"


def test_closing_ends_them_also_one_that_is_just_starting(board):
    shared = Searchers(board.place, 1)
    with crowd(shared):
        until(lambda: shared._all, BOUND)
        pid = pid_of(shared)
        shared.close()
        assert gone(pid)
        assert handed_on(shared, Ask("x")) is HERE
    assert shared._starting is None


def test_when_the_gateway_is_killed_they_end(board):
    """It cannot tell them; the pipe does."""
    searcher = Searcher(board.place)
    assert searcher.ready()
    searcher._pipe.close()
    assert searcher._process.wait(BOUND) == 0


def test_files_of_the_working_folder_are_no_modules_of_it(board, tmp_path):
    for name in ("logging", "pegboard", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was let in')")
    searcher = Searcher(board.place)
    assert searcher.ready()
    searcher.close()


def test_a_board_that_cannot_be_opened_there_is_searched_here(board, caplog):
    shared = Searchers(replace(board.place, board=Path("/nonexistent/board.db")), 1)
    with crowd(shared):
        until(lambda: shared._starting is None, BOUND)
        assert "it ended before it was ready" in caplog.text
        assert handed_on(shared, Ask("x")) is HERE
        assert shared._starting is None, "it is not tried again at once"
    shared.close()


def test_one_that_cannot_be_started_is_not_tried_again_at_once(board, monkeypatch, caplog):
    monkeypatch.setattr(searchers.sys, "executable", "/nonexistent/python")
    shared = Searchers(board.place, 1)
    with crowd(shared):
        until(lambda: shared._starting is None, BOUND)
        assert "no further process could be started" in caplog.text
        caplog.clear()
        assert handed_on(shared, Ask("x")) is HERE
        assert shared._starting is None
    shared.close()
    assert not caplog.text
