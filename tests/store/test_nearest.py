"""Search by meaning through sign bits: it finds what an exact scan finds, whoever writes."""

import random
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nearest_parts import (
    BLOCK,
    DIMENSION,
    MODEL,
    ask,
    assert_sound,
    crowd,
    drop,
    exactly,
    gauss,
    hang,
    key_of,
    names,
    near,
    one,
    opened,
    recall,
    unit,
)

from making import later
from pegboard.model.items import Filters, Fingerprint, Vector, Visibility
from pegboard.store.queries import load
from pegboard.store.sqlite import database, opening

# What is found.


def test_the_nearest_are_those_of_an_exact_scan(board):
    hang(board, vectors := crowd(1500))
    queries = [near(vectors[f"t{n}"], n, 0.8) for n in range(40)]
    assert recall(board, queries, 10) > 0.95


@pytest.mark.parametrize("dimension", [64, 72, 128, 200, 256, 1536])
def test_any_length_that_is_a_multiple_of_8_has_codes(board, dimension):
    target = Fingerprint("test", "gauss", dimension, 1)
    hang(board, vectors := crowd(120, dimension), target)
    assert one(board, "SELECT count(*) FROM code_blocks") == 120 // BLOCK
    for name, vector in vectors.items():
        assert names(ask(board, vector, 3, target))[0] == name
    assert board.check() == []


@pytest.mark.parametrize("dimension", [1, 2, 8, 63, 65, 100, 300])
def test_vectors_of_other_lengths_are_compared_exactly(board, dimension):
    target = Fingerprint("test", "gauss", dimension, 1)
    hang(board, vectors := crowd(60, dimension), target)
    assert one(board, "SELECT count(*) FROM code_blocks") == 0
    for vector in vectors.values():
        assert ask(board, vector, 5, target) == exactly(board, vector, 5, target)


def test_where_signs_tell_nothing_all_vectors_are_compared(board):
    rng = np.random.default_rng(1)
    positive = {f"t{n}": unit(rng.random(DIMENSION) + 0.01) for n in range(900)}
    hang(board, positive)
    for n in range(10):
        query = positive[f"t{n}"]
        assert ask(board, query) == exactly(board, query)


def test_items_with_the_same_vector_are_ordered_by_id(board):
    same = gauss("same")
    hang(board, crowd(200) | dict.fromkeys([f"same{n:02}" for n in range(25)], same))
    assert names(ask(board, same, 5)) == ["same00", "same01", "same02", "same03", "same04"]


def test_a_limit_near_the_size_of_the_board_gives_the_whole_order(board):
    hang(board, vectors := crowd(100))
    assert ask(board, vectors["t1"], 90) == exactly(board, vectors["t1"], 90)
    assert len(ask(board, vectors["t1"], 500)) == 100


def test_two_models_are_searched_apart(board):
    second = Fingerprint("test", "other", 128, 1)
    first, others = crowd(90), crowd(90, 128)
    for n in range(0, 90, 9):  # in turns, so that their numbers interleave
        chosen = [f"t{m}" for m in range(n, n + 9)]
        hang(board, {name: first[name] for name in chosen})
        hang(board, {name: others[name] for name in chosen}, second)
    for name in first:
        assert names(ask(board, first[name]))[0] == name
        assert names(ask(board, others[name], target=second))[0] == name
    assert board.check() == []


# Filters.


@pytest.fixture(scope="module")
def shelves(tmp_path_factory):
    """900 items, and their vectors: of each dozen 4 are in the box; one item in 45 is blue."""
    board = opened(tmp_path_factory.mktemp("shelves") / "board.db", create=True)
    vectors = crowd(900)
    for source, rounds in (("box", range(0, 12, 3)), ("shelf", (1, 2, 4, 5, 7, 8, 10, 11))):
        some = [75 * each + centre for each in rounds for centre in range(75)]
        for tag, chosen in (("blue", some[::45]), ("red", set(some) - set(some[::45]))):
            hang(board, {f"t{n}": vectors[f"t{n}"] for n in chosen}, tags=(tag,), source=source)
    yield board, vectors
    board.close()


@pytest.mark.parametrize(
    "filters",
    [
        {"tags": ("blue",)},
        {"sources": ("box",)},
        {"kinds": ("skill",)},
        {"kinds": ("tool",)},
        {"sources": ("box",), "tags": ("blue",)},
        {"categories": ("mail",)},
    ],
)
def test_filters_leave_what_they_leave_an_exact_scan(shelves, filters):
    board, vectors = shelves
    queries = [near(vectors[f"t{n}"], n) for n in range(30)]
    for query in queries:
        hits = ask(board, query, 8, **filters)
        assert len(hits) == len(exactly(board, query, 8, **filters))
    assert recall(board, queries, 3, **filters) > 0.95


def test_a_filter_that_leaves_few_is_exact(shelves):
    board, vectors = shelves
    for n in range(30):
        query = near(vectors[f"t{n}"], n)
        assert ask(board, query, 8, tags=("blue",)) == exactly(board, query, 8, tags=("blue",))


def test_a_filter_that_only_leaves_what_is_far_still_fills_the_limit(board):
    hang(board, {f"near{n}": near(gauss("here"), n, 0.2) for n in range(600)})
    hang(board, far := {f"far{n}": gauss(n) for n in range(300)}, source="elsewhere")
    hits = ask(board, gauss("here"), 10, sources=("elsewhere",))
    assert len(hits) == 10
    assert set(names(hits)) <= far.keys()


def test_retired_and_hidden_items_do_not_crowd_out_the_others(board):
    hang(board, {f"gone{n}": near(gauss("here"), n, 0.2) for n in range(300)}, source="gone")
    hidden = {f"hidden{n}": near(gauss("here"), n, 0.2) for n in range(300)}
    hang(board, hidden, visibility=Visibility.PRIVATE)
    hang(board, seen := {f"seen{n}": near(gauss("here"), n, 0.6) for n in range(50)})
    board.items.retire("gone", [], later(), 0.0)
    hits = ask(board, gauss("here"), 10)
    assert len(hits) == 10
    assert set(names(hits)) <= seen.keys()


# Changes.


def test_what_another_process_commits_is_found_at_once(board, other):
    hang(board, crowd(100))
    assert len(ask(other, gauss("x"))) == 5
    for n in range(40):
        hang(board, {f"late{n}": gauss(("late", n))})
        assert names(ask(other, gauss(("late", n)), 1)) == [f"late{n}"]


def test_what_was_rolled_back_is_not_found_and_not_in_the_way(board, other):
    hang(board, crowd(100))
    with pytest.raises(apsw.ConstraintError):
        hang(board, {"good": gauss("good"), "bad": None})
    for store in (board, other):
        assert "good" not in names(ask(store, gauss("good")))
    hang(board, {"good": gauss("good"), "bad": gauss("bad")})
    for store in (board, other):
        assert names(ask(store, gauss("good"), 1)) == ["good"]
    assert board.check() == []


def test_a_vector_that_was_replaced_is_found_where_it_is_now(board, other):
    hang(board, vectors := crowd(100))
    ask(other, gauss("x"))
    moved = {name: gauss(("moved", name)) for name in list(vectors)[::3]}
    hang(board, moved)
    for store in (board, other):
        assert_sound(store, vectors | moved)


def test_an_item_hung_again_and_again_does_not_crowd_out_the_others(board, other):
    hang(board, crowd(400) | {"busy": gauss("busy")})
    ask(other, gauss("busy"))
    for n in range(300):
        hang(board, {"busy": near(gauss("busy"), n, 0.1)})
        assert names(ask(other, gauss("busy"), 1)) == ["busy"]
    for store in (board, other):
        hits = ask(store, gauss("busy"), 10)
        assert len({hit.key for hit in hits}) == len(hits) == 10
        assert names(hits)[0] == "busy"


def test_however_often_all_is_hung_again_the_codes_in_memory_stay_few(board, other):
    for _ in range(8):
        hang(board, vectors := crowd(100))
        ask(other, gauss("x"))
    [codes] = other.index.nearest._codes.values()
    assert codes.used <= 200
    assert_sound(other, vectors)


def test_after_most_vectors_are_deleted_the_rest_are_all_found(board, other):
    hang(board, vectors := crowd(400))
    ask(other, gauss("x"))
    drop(board, *[name for n, name in enumerate(vectors) if n % 10])
    rest = {name: vector for n, (name, vector) in enumerate(vectors.items()) if n % 10 == 0}
    for store in (board, other):
        assert_sound(store, rest)


def test_an_item_that_takes_the_key_of_a_deleted_one_is_found_by_its_own_vector(board, other):
    hang(board, crowd(100) | {"last": gauss("last")})
    ask(other, gauss("x"))
    key = key_of(board, "last")
    drop(board, "last")
    hang(board, {"next": gauss("next")})
    assert key_of(board, "next") == key
    for store in (board, other):
        assert names(ask(store, gauss("next"), 1)) == ["next"]
        assert "next" not in names(ask(store, gauss("last"), 1))


OPERATIONS = st.tuples(
    st.sampled_from(["add", "replace", "delete", "seal", "reopen", "look"]),
    st.integers(1, 30),
    st.integers(0, 2**32),
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(OPERATIONS, min_size=5, max_size=25))
def test_whatever_happened_to_a_board_every_process_finds_what_is_there(tmp_path, operations):
    path = Path(tempfile.mkdtemp(dir=tmp_path)) / "board.db"
    stores = [opened(path, create=True), opened(path)]
    there: dict[str, Vector] = {}
    for step, (what, count, seed) in enumerate(operations):
        rng = random.Random(seed)
        store = rng.choice(stores)
        some = rng.sample(sorted(there), min(count, len(there)))
        if what == "add":
            fresh = {f"t{step}x{n}": gauss((step, seed, n)) for n in range(count)}
            hang(store, fresh)
            there |= fresh
        elif what == "replace" and some:
            fresh = {name: gauss((step, seed, name)) for name in some}
            hang(store, fresh)
            there |= fresh
        elif what == "delete" and some:
            drop(store, *some)
            there = {name: there[name] for name in there if name not in some}
        elif what == "seal":
            store.tasks.adopt(MODEL)
        elif what == "reopen":
            stores[0].close()
            stores[0] = opened(path)
        else:
            assert len(ask(store, gauss(seed), 3)) == min(3, len(there))
    for store in stores:
        assert_sound(store, there)
        assert store.check() == []
        store.close()


def test_threads_find_what_stays_while_others_hang_replace_and_delete(board, path, share):
    """Also while codes are tidied: half of what is hung here is replaced at once."""
    stays = {f"stays{n}": gauss(("stays", n)) for n in range(60)}
    hang(board, stays)
    stop = threading.Event()

    def search(seed):
        rng, looks = random.Random(seed), 0
        while not stop.is_set() or looks < 50:
            name = rng.choice(list(stays))
            hits = ask(board, stays[name], 3)
            assert names(hits)[0] == name
            assert hits[0].score == pytest.approx(1.0, abs=1e-6)
            looks += 1
        return looks

    with ThreadPoolExecutor(3) as pool:
        searches = [pool.submit(search, seed) for seed in range(3)]
        writer = opened(path)
        try:
            for step in range(int(share * 60)):
                hang(writer, stays)
                hang(
                    writer, {f"passes{n}": near(stays["stays1"], step * 20 + n) for n in range(20)}
                )
                drop(writer, *[f"passes{n}" for n in range(20)])
        finally:
            stop.set()
        assert all(search.result(60) >= 50 for search in searches)
    assert board.check() == []
    writer.close()


# When there is no need for codes, or no way to have them.

ALONE = """
import sys
from pathlib import Path
from pegboard.model.items import Filters
from pegboard.model.vectors import Fingerprint
from pegboard.store.sqlite.index import SqliteIndex
from pegboard.store.sqlite.nearest import Reach
from pegboard.store.sqlite.store import SqliteStore

path, few = Path(sys.argv[1]), int(sys.argv[2])
index = SqliteIndex(SqliteStore(path).database, Reach(few=few, least=10))
query = path.with_suffix(".query").read_bytes()
[hit] = index.vector(query, Fingerprint("test", "gauss", 256, 1), Filters(), 1)
print(hit.id.rpartition(":")[2], "numpy" in sys.modules)
"""


@pytest.mark.program
@pytest.mark.parametrize(("few", "imported"), [(100, False), (99, True)])
def test_numpy_is_imported_only_when_a_large_board_is_searched(path, board, few, imported):
    vectors = crowd(100)
    hang(board, vectors)
    path.with_suffix(".query").write_bytes(vectors["t7"])
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), str(few)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout.split() == ["t7", str(imported)]


def test_an_old_numpy_that_cannot_count_bits_is_done_without(board, monkeypatch):
    monkeypatch.delattr(np, "bitwise_count")
    hang(board, vectors := crowd(100))
    assert ask(board, vectors["t7"]) == exactly(board, vectors["t7"])


def test_a_board_that_cannot_be_written_is_searched_by_its_codes(board, path, monkeypatch):
    hang(board, vectors := crowd(100))
    board.close()

    def as_it_stands(path, busy_seconds, *, create):
        monkeypatch.setattr(opening.apsw, "SQLITE_OPEN_READWRITE", apsw.SQLITE_OPEN_READONLY)
        return opening.open_connection(path, busy_seconds, create=create)

    monkeypatch.setattr(database, "open_connection", as_it_stands)
    store = opened(path)
    assert store.database.read_only
    assert_sound(store, vectors)
    assert store.check() == []


PARAMS = dict.fromkeys((*Filters()._fields, "query", "keys", "through", "before", "few"))
NUMBERS = {"fingerprint": 1, "dimension": 256, "limit": 5}


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("scored", "SEARCH i USING COVERING INDEX items_seen (key=?)"),
        ("scored", "SEARCH v USING INDEX sqlite_autoindex_vectors_1 (item_key=? AND"),
        ("scored", "SEARCH f USING COVERING INDEX items_seen_further (key=?)"),
        ("exact", "SCAN i USING COVERING INDEX items_seen"),
        ("exact", "SEARCH f USING COVERING INDEX items_seen_further (key=?)"),
        ("allowed", "SCAN i USING COVERING INDEX items_seen"),
        ("allowed", "SEARCH f USING COVERING INDEX items_seen_further (key=?)"),
        ("allowed", "SEARCH v USING COVERING INDEX sqlite_autoindex_vectors_1"),
        ("unsealed", "SEARCH vectors USING INDEX vectors_fingerprint (fingerprint=? AND rowid>?"),
        ("more_than", "SEARCH vectors USING COVERING INDEX vectors_fingerprint (fingerprint=?)"),
        ("live_among", "SEARCH vectors USING COVERING INDEX sqlite_autoindex_vectors_1"),
        ("exact_best", "SCAN i USING COVERING INDEX items_seen"),
        ("has_passages", "SEARCH vectors USING INDEX vectors_passages (fingerprint=?)"),
        ("passage_scores", "SEARCH vectors USING INDEX sqlite_autoindex_vectors_1 (item_key=? AND"),
        ("block_counts", "SEARCH v USING COVERING INDEX vectors_fingerprint (fingerprint=? AND"),
    ],
)
def test_nothing_but_candidates_is_read_from_the_wide_tables(board, query, step):
    sql = load("sqlite", "nearest")[query]
    steps = [
        row[3] for row in board.database.rows(f"EXPLAIN QUERY PLAN {sql}", {**PARAMS, **NUMBERS})
    ]
    assert any(each.startswith(step) for each in steps), steps


def test_vectors_are_gathered_by_item_as_they_are_read(board):
    sql = load("sqlite", "nearest")["exact_best"]
    plan = board.database.rows(f"EXPLAIN QUERY PLAN {sql}", {**PARAMS, **NUMBERS})
    assert "USE TEMP B-TREE FOR GROUP BY" not in [row[3] for row in plan]


@pytest.mark.parametrize("share", [2, 5, 25, 60])
def test_filters_that_few_searches_have_bound_what_the_codes_name(board, share):
    vectors = crowd(300)
    some = {name: vector for n, (name, vector) in enumerate(vectors.items()) if n % share == 0}
    hang(board, vectors)
    hang(board, some, author="Mia", skills=("letters",))
    for query in (vectors["t0"], vectors["t7"], gauss("afar")):
        for filters in ({"authors": ("Mia",)}, {"skills": ("letters",), "personas": ()}):
            hits = ask(board, query, 5, **filters)
            assert hits == exactly(board, query, 5, **filters)
            assert {hit.id.rpartition(":")[2] for hit in hits} <= some.keys()
            assert len(hits) == min(5, len(some))
