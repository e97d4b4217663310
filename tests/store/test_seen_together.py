"""Several callers at a time, and a board that changes while they look, on either store."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from seen_parts import ALICE, ANON, BOB, PEGS, ROOT, SETTINGS, items_of, sees

from making import make_item, work
from pegboard.app.pegboard import Pegboard
from pegboard.embed.hashed import HashedEmbedder
from pegboard.model.calls import Caller, ServerConfig, Transport
from pegboard.model.items import Model, ModelSpec, Visibility
from pegboard.store.postgres.store import PostgresStore
from pegboard.store.sqlite.store import SqliteStore

EMBEDDER = HashedEmbedder()
TARGET = EMBEDDER.fingerprint


@pytest.fixture
def board(store):
    store.models.want(Model(TARGET, ModelSpec("test")), chosen=False)
    store.items.put([items_of(peg)[0] for peg in PEGS], TARGET)
    work(store, EMBEDDER)
    with Pegboard(store, SETTINGS) as made:
        yield made


@pytest.fixture
def other(board):
    """The same board, as another process has it."""
    store = board.store
    again = (
        PostgresStore(store.database.url)
        if isinstance(store, PostgresStore)
        else SqliteStore(store.database.path)
    )
    yield again
    again.close()


def found(view, text="send a letter", **named):
    hits = view.search(text, limit=50, threshold=0.0, **named).hits
    return {(hit.namespace, hit.id) for hit in hits}


def open_to(caller):
    return {(p.namespace, p.id) for p in PEGS if p.visibility == "public" and sees(caller, p)}


def test_many_callers_at_once_each_get_what_is_theirs(board):
    people = [ALICE, BOB, ANON, Caller("both", ("a", "b"))] * 3
    start = threading.Barrier(len(people))

    def ask(caller):
        view = board.seen_by(caller)
        start.wait(60)
        told = []
        for mode in ("hybrid", "bm25", "vector") * 2:
            told.append(found(view, mode=mode))
            told.append({(e.item.namespace, e.item.id) for e in view.listed()})
            counts = view.store.tasks.counts(TARGET).total
            assert counts == len([peg for peg in PEGS if sees(caller, peg)])
        return told

    with ThreadPoolExecutor(len(people)) as threads:
        answers = list(threads.map(ask, people))
    for caller, told in zip(people, answers, strict=True):
        for each in told:
            assert each <= open_to(caller)
        assert told[1] == open_to(caller)


def test_views_of_one_thread_do_not_mix_what_they_have_looked_up(board):
    views = {caller: board.seen_by(caller) for caller in (ALICE, BOB, ANON)}
    for _ in range(3):
        known = {
            caller: view.store.index.frequencies(["telegram", "postcard"])
            for caller, view in views.items()
        }
        assert known == {ALICE: {"postcard": 0}, BOB: {"telegram": 0, "postcard": 0}, ANON: {}}
        for caller, view in views.items():
            assert found(view, "telegram postcard letter") <= open_to(caller)


def test_what_the_owner_changes_is_seen_at_once(board, other):
    view = board.seen_by(ALICE)
    for number, store in enumerate((board.store, other, board.store)):
        item = make_item(f"quokka{number}", namespace="a", tags=("marsupial",))
        assert not view.search(item.name, mode="bm25").hits
        store.items.put([item], TARGET)
        assert [hit.name for hit in view.search(item.name, mode="bm25").hits] == [item.name]
        assert view.show(item.id).item.name == item.name
        assert [h.name for h in view.search(item.name[:5], mode="fuzzy").hits] == [item.name]
        store.items.put([item._replace(visibility=Visibility.PRIVATE, author="amos")], TARGET)
        assert not view.search(item.name, mode="bm25").hits
        assert view.store.items.get(item.id, "a") is None
        store.items.put([item], TARGET)
        work(store, EMBEDDER)
        assert found(view, item.name, mode="vector") >= {("a", item.id)}
        store.ledger.remove_source(item.source)
        assert not found(view, item.name, mode="bm25")
        assert view.census() == board.seen_by(ALICE).census()


def test_a_view_is_not_closed_by_itself_and_goes_with_the_board(board):
    view = board.seen_by(ALICE)
    with view:
        assert found(view)
    view.close()
    view.store.close()
    assert found(view)
    assert found(board)


def test_a_thousand_views_cost_no_connection(board):
    views = [board.seen_by(Caller(f"p{n}", ("a", f"n{n}"))) for n in range(1000)]
    told = {frozenset(found(view, mode="bm25")) for view in views[::200]}
    assert told == {frozenset(found(board.seen_by(ALICE), mode="bm25"))}
    if isinstance(board.store, PostgresStore):
        assert board.store.database.pool.get_stats()["pool_size"] <= 4


@pytest.mark.program
def test_nobody_hears_of_servers_and_trouble_that_are_not_his(board):
    store = board.store
    for namespace in ("public", "a", "b"):
        config = ServerConfig(f"of_{namespace}", Transport.STDIO, "/no/such", namespace=namespace)
        store.ledger.put_server(config, "nowhere")
    board.trouble = lambda: ["the folder is gone"]
    told = {
        caller: " ".join(board.seen_by(caller).search("letter", executable=True).notices)
        for caller in (ANON, ALICE, BOB, ROOT)
    }
    assert told[ANON] == ""
    assert "of_a" in told[ALICE]
    assert "of_b" in told[BOB]
    assert not [each for each in ("of_b", "of_public", "folder") if each in told[ALICE]]
    assert all(each in told[ROOT] for each in ("of_a", "of_b", "of_public", "folder"))
