"""A board that is served hears of what other processes do to it."""

import threading

from making import make_item
from pegboard.app.live import kept
from pegboard.app.pegboard import Pegboard
from pegboard.board.trust.tokens import BoardTokens
from pegboard.config.settings import EmbedSettings, Settings
from pegboard.model.calls import Role
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore
from waiting import until

BOUND = 20.0


def another(store):
    """The same board, as another process has it."""
    if isinstance(store, SqliteStore):
        return SqliteStore(store.database.path)
    return PostgresStore(store.database.url)


def test_what_another_process_puts_is_told_to_whoever_serves_the_board(store):
    told = threading.Event()
    board = Pegboard(store, Settings(embed=EmbedSettings(provider="disabled")))
    other = another(store)
    with kept(board, sync=False, watch=False, on_change=told.set):
        while told.wait(1.0):  # its own beginning is news as well
            told.clear()
        other.items.put([make_item()], None)
        assert told.wait(BOUND)
    other.close()


def test_a_change_is_told_once(store):
    stop = threading.Event()
    store.await_change(stop, 0.0)
    until(lambda: not (isinstance(store, PostgresStore) and store.listening.deaf))
    while store.await_change(stop, 0.0):
        pass  # whatever was before
    store.items.put([make_item()], None)
    assert store.await_change(stop, BOUND)
    assert not store.await_change(stop, 0.3)


def test_a_token_that_is_revoked_elsewhere_is_news(store):
    """For answers that go on, and have to end then."""
    stop, other = threading.Event(), another(store)
    made = BoardTokens(other).make(Role.READER)
    store.await_change(stop, 0.0)
    until(lambda: not (isinstance(store, PostgresStore) and store.listening.deaf))
    while store.await_change(stop, 0.0):
        pass  # whatever was before
    BoardTokens(other).revoke(made.token.id)
    assert store.await_change(stop, BOUND)
    other.close()


def test_whoever_waits_for_a_change_can_be_told_to_stop(store):
    stop = threading.Event()
    stop.set()
    while store.await_change(stop, 600.0):
        pass  # whatever was before
