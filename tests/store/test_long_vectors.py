"""Vectors longer than pgvector's index takes: up to 4,000 by halves of numbers, above that all."""

import json
import threading
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from nearest_parts import crowd, gauss, near, unit

from making import make_item
from pegboard.errors import BoardError, BoardUnreachable
from pegboard.model.items import Filters, Fingerprint, LegHit, Vector
from pegboard.store.postgres import inspecting, nearest
from pegboard.store.postgres.inspecting import NOT_POSSIBLE, inspect
from pegboard.store.postgres.store import PostgresStore
from pegboard.text import TEXT_VERSION
from postgres_server import fresh

COUNT = 1_100
LONG = 3_072
LONGER = 4_096
CLOSE = 30
PLACE = gauss("close", LONG)
"""So many are so near to one place that halves of numbers cannot tell them apart."""
BY_INDEX = "&options=-crandom_page_cost%3D0.01"
"""With so few, the planner would rather compare all; from a few thousand on it does not."""
ONLY_RED = Filters(tags=("red",))


def fingerprint(dimension: int) -> Fingerprint:
    return Fingerprint("test", "gauss", dimension, TEXT_VERSION)


def close_by(dimension: int) -> dict[str, Vector]:
    """Each a little further from the place than the one before."""
    centre = np.frombuffer(PLACE, "<f4").astype(np.float64)
    rows = [np.frombuffer(gauss(("off", n), dimension), "<f4") for n in range(CLOSE)]
    return {f"close{n}": unit(centre + row * (4e-6 * n) ** 0.5) for n, row in enumerate(rows)}


def hang(store: PostgresStore, vectors: dict[str, Vector], dimension: int) -> None:
    """Each with its vector, every third of them red."""
    target = fingerprint(dimension)
    tags = [("blue",), ("blue",), ("red",)]
    store.items.put([make_item(name, tags=tags[n % 3]) for n, name in enumerate(vectors)], target)
    tasks = store.tasks.claim(target, "me", len(vectors), 600)
    named = store.index.entries([task.item_key for task in tasks])
    done = [(task, vectors[named[task.item_key].item.name]) for task in tasks]
    assert store.tasks.finish(target, done) == len(vectors)


def ask(
    store: PostgresStore, query: Vector, limit: int = 10, filters: Filters | None = None
) -> list[LegHit]:
    dimension = len(query) // 4
    return store.index.vector(query, fingerprint(dimension), filters or Filters(), limit)


def names(hits: list[LegHit]) -> list[str]:
    return [hit.id.rpartition(":")[2] for hit in hits]


def said(vector: Vector) -> str:
    return json.dumps(memoryview(vector).cast("f").tolist())


def best(vectors: dict[str, Vector], query: Vector, limit: int = 10) -> list[str]:
    """What a comparison of all vectors, with all of their digits, finds."""
    rows = np.array([np.frombuffer(each, "<f4") for each in vectors.values()], np.float64)
    order = np.argsort(-(rows @ np.frombuffer(query, "<f4").astype(np.float64)), kind="stable")
    return [list(vectors)[place] for place in order[:limit]]


VECTORS = crowd(COUNT - CLOSE, LONG) | close_by(LONG)
RED = {name: vector for n, (name, vector) in enumerate(VECTORS.items()) if n % 3 == 2}


@pytest.fixture(scope="module")
def board(postgres_server) -> Iterator[PostgresStore]:
    """Vectors of 3,072 numbers, and the index that a worker makes when it rests."""
    with fresh(postgres_server, postgres_server.template) as url:
        store = PostgresStore(url + BY_INDEX)
        hang(store, VECTORS, LONG)
        store.tasks.rest(fingerprint(LONG), threading.Event())
        yield store
        store.close()


@pytest.fixture
def sql(board) -> Iterator[psycopg.Connection]:
    with psycopg.connect(board.database.url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def told(sql) -> list[str]:
    """The plans of what this connection asks, also within functions."""
    plans: list[str] = []
    sql.add_notice_handler(lambda notice: plans.append(notice.message_primary))
    for line in (
        "LOAD 'auto_explain'",
        "SET auto_explain.log_min_duration = 0",
        "SET auto_explain.log_nested_statements = on",
        "SET client_min_messages = log",
    ):
        sql.execute(line)
    return plans


def test_long_vectors_get_an_index_of_halves(board, sql):
    [(definition,)] = sql.execute(
        "SELECT indexdef FROM pg_indexes WHERE indexname = 'tool_vectors_hnsw_1'"
    ).fetchall()
    assert f"halfvec({LONG})" in definition
    [found] = inspect(board.database.url, "here").vectors
    assert found.indexed == "made"
    assert board.check() == []
    assert board.nearest.build(fingerprint(LONG)) == []


def test_the_index_finds_what_comparing_all_finds(board):
    found = wanted = 0
    for n in range(20):
        query = near(VECTORS[f"t{n}"], n)
        expected = best(VECTORS, query)
        wanted += len(expected)
        found += len(set(expected) & set(names(ask(board, query))))
    assert found / wanted > 0.95


def test_what_halves_of_numbers_cannot_tell_apart_is_ordered_by_the_whole(board, sql):
    by_halves = sql.execute(
        f"SELECT i.name FROM vectors v JOIN items i ON i.key = v.item_key"
        f" ORDER BY v.embedding::halfvec({LONG}) <#> %s::halfvec({LONG}) LIMIT 10",
        [said(PLACE)],
    ).fetchall()
    in_order = [f"close{n}" for n in range(10)]
    assert best(VECTORS, PLACE) == in_order != [row[0] for row in by_halves]
    hits = ask(board, PLACE)
    assert names(hits) == in_order
    assert hits[0].score == pytest.approx(1.0, abs=1e-6)


def test_filters_are_kept_by_the_index_of_halves(board, monkeypatch):
    monkeypatch.setattr(nearest, "FEW", 0)
    for query in list(RED.values())[:10]:
        assert names(ask(board, query, 5, ONLY_RED)) == best(RED, query, 5)


def test_the_statement_that_is_run_is_prepared_and_goes_by_the_index(board, monkeypatch):
    run = []
    rows = board.database.rows

    def noted(*asked, **how):
        run.append((asked, how))
        return rows(*asked, **how)

    monkeypatch.setattr(board.database, "rows", noted)
    ask(board, PLACE)
    [(statement, params), how] = run[-1]
    assert how == {"prepare": True}
    plan = rows(f"EXPLAIN {statement}", params)
    assert any("Index Scan using tool_vectors_hnsw_1" in line for (line,) in plan)


@pytest.fixture
def crowded(sql) -> Iterator[None]:
    """So many more items, without vectors, that the functions use the index."""
    sql.execute(
        "INSERT INTO items (id, name, source_hash)"
        " SELECT 'more:' || n, 'more' || n, 'more' FROM generate_series(1, 1000) AS n"
    )
    sql.execute("ANALYZE")
    yield
    sql.execute("DELETE FROM items WHERE source_hash = 'more'")


@pytest.mark.parametrize("many", [False, True])
def test_the_functions_for_sql_clients_find_the_same(board, sql, told, many, request):
    if many:
        request.getfixturevalue("crowded")
    for query in (PLACE, VECTORS["t7"]):
        ask_for = "SELECT name FROM search_tools_hybrid(NULL, %s::vector, 5)"
        found = [row[0] for row in sql.execute(ask_for, [said(query)]).fetchall()]
        assert found == best(VECTORS, query, 5)
    assert ("tool_vectors_hnsw_1" in "\n".join(told)) == many


# Above 4,000.


@pytest.fixture
def longer(postgres_store, monkeypatch) -> PostgresStore:
    """A few vectors of 4,096 numbers, which are as many as need an index elsewhere."""
    for module in (nearest, inspecting):
        monkeypatch.setattr(module, "INDEXED_FROM", 5)
    hang(postgres_store, crowd(24, LONGER), LONGER)
    return postgres_store


def test_no_index_is_made_above_4000_and_all_are_compared(longer):
    assert longer.nearest.build(fingerprint(LONGER)) == []
    for n in range(5):
        query = near(gauss(n, LONGER), n)
        assert names(ask(longer, query, 5)) == best(crowd(24, LONGER), query, 5)
    [found] = inspect(longer.database.url, "here").vectors
    assert (
        found.indexed == NOT_POSSIBLE == "not possible above 4,000 dimensions, so all are compared"
    )
    assert longer.check() == []


def test_the_functions_for_sql_clients_compare_all_above_4000(longer, postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as sql:
        sql.execute(
            "INSERT INTO items (id, name, source_hash)"
            " SELECT 'more:' || n, 'more' || n, 'more' FROM generate_series(1, 2000) AS n"
        )
        query = near(gauss(1, LONGER), 1)
        rows = sql.execute(
            "SELECT name FROM search_tools_hybrid(NULL, %s::vector, 5)", [said(query)]
        ).fetchall()
    assert [row[0] for row in rows] == best(crowd(24, LONGER), query, 5)


@pytest.mark.parametrize(
    ("dimension", "index"), [(2_000, "vector"), (2_001, "halfvec"), (4_000, "halfvec")]
)
def test_at_the_bounds_there_is_an_index(postgres_store, monkeypatch, dimension, index):
    monkeypatch.setattr(nearest, "INDEXED_FROM", 5)
    hang(postgres_store, vectors := crowd(24, dimension), dimension)
    [made] = postgres_store.nearest.build(fingerprint(dimension))
    [(found,)] = postgres_store.database.rows(
        "SELECT indexdef FROM pg_indexes WHERE indexname = %(made)s", {"made": made}
    )
    assert f"::{index}({dimension})" in found.replace("public.", "")
    assert names(ask(postgres_store, vectors["t3"], 5)) == best(vectors, vectors["t3"], 5)


def test_a_vector_that_is_too_long_for_pgvector_is_told_as_that(postgres_store):
    with pytest.raises(BoardError, match="cannot have more than 16000 dimensions") as refused:
        hang(postgres_store, {"send": gauss(1, 16_001)}, 16_001)
    assert not isinstance(refused.value, BoardUnreachable)
    assert "16,000" in refused.value.hint
